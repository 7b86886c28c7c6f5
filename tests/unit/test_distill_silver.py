"""Silver rows: the labels that a verdict gives, nothing twice, a balance, an order, and parts kept apart."""

import itertools
import json
from collections import Counter

import pytest

from pytest_medfaith.distill.agreement import agree, agree_on_spans, agreement_card
from pytest_medfaith.distill.files import read_answers, read_pairs, silver_lines, write_silver
from pytest_medfaith.distill.gathering import Gathered, gather, normal
from pytest_medfaith.distill.records import PARTS, Provenance, SilverAnswer, SilverClaim, SilverPair
from pytest_medfaith.distill.relabelling import DISAGREED, relabelled
from pytest_medfaith.distill.splitting import in_order_of_learning, make_silver
from pytest_medfaith.entities.linker import link
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Case, Chunk, Claim, PairScore, Report, Response, SliceReport, Verdict
from pytest_medfaith.testing import scripted_checker

FROM = Provenance(run="r", checker="teacher", model="judge-7b")


def pair(number, *, case=None, claim=None, evidence=None, label="entail", overlap=0.5, passage=None):
    return SilverPair(
        id=f"p{number}",
        case_id=case or f"case-{number}",
        claim=claim or f"Claim number {number} holds.",
        evidence=evidence or f"Evidence number {number} says so.",
        label=label,
        overlap=overlap,
        passage=passage or f"passage-{number}",
        provenance=FROM,
    )


def answer(case, text, question=""):
    claims = (SilverClaim(text=text, start=0, end=len(text)),)
    return SilverAnswer(
        id=case,
        case_id=case,
        question=question or f"What of {case}?",
        answer=text,
        claims=claims,
        provenance=FROM,
    )


LONG = " ".join(f"Filler sentence {n} says nothing of note here." for n in range(60))
CHUNKS = (
    Chunk(id="iron", text="Iron tablets treat anaemia."),
    Chunk(id="zinc", text="Zinc is a metal."),
    Chunk(id="long", text=f"{LONG} Aspirin thins the blood. {LONG}"),
)


def report(*verdicts, case="a", chunks=CHUNKS, **more):
    text = " ".join(verdict.claim.text for verdict in verdicts)
    response = Response(answer=text, case_id=case, contexts=chunks, model="rag-1")
    return Report(
        case=Case(id=case, question="What helps?"),
        response=response,
        verdicts=verdicts,
        checker="teacher",
        **more,
    )


def verdict(id_, text, label, **more):
    return Verdict(claim=Claim(id=id_, text=text, start=0, end=len(text)), label=label, **more)


def gathered(*reports):
    one = SliceReport(slice="s", retriever="rrf", checker="teacher", k=3, reports=reports)
    return gather("run-1", [one], linker=link)


def test_a_supported_claim_is_entailed_by_the_passages_that_its_verdict_names_and_by_no_other():
    found = gathered(
        report(verdict("c1", "Iron treats anaemia.", "supported", chunk_id="iron", supporting=("iron",)))
    )
    (row,) = found.pairs
    assert (row.evidence, row.label, row.claim) == (CHUNKS[0].text, "entail", "Iron treats anaemia.")
    assert row.overlap == 1.0
    assert row.entity_overlap == 0.5  # both name anaemia, the passage also a drug
    assert (row.provenance.run, row.provenance.chunk_id, row.provenance.answered_by) == (
        "run-1",
        "iron",
        "rag-1",
    )
    assert found.answers[0].claims[0].text == "Iron treats anaemia."


def test_an_unsupported_claim_is_left_open_by_every_passage_and_a_refuted_one_decided_by_its_own():
    start = CHUNKS[2].text.index("Aspirin")
    found = gathered(
        report(
            verdict("c1", "Copper treats anaemia.", "unsupported"),
            verdict("c2", "Aspirin clots the blood.", "refuted", chunk_id="long", span=(start, start + 24)),
        )
    )
    by_claim = {
        key: list(rows) for key, rows in itertools.groupby(found.pairs, lambda row: row.provenance.claim_id)
    }
    assert [(row.provenance.chunk_id, row.label) for row in by_claim["c1"]] == [
        (c.id, "neutral") for c in CHUNKS
    ]
    (refuted,) = by_claim["c2"]
    assert (
        "Aspirin thins the blood." in refuted.evidence
    )  # the deciding words, which are in the middle of a long passage
    assert len(refuted.evidence.split()) <= 150


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"label": "unscored"}, "claims that were not scored"),
        (
            {"label": "supported", "chunk_id": "iron", "conflict": True},
            "claims that passages entail and contradict",
        ),
        ({"label": "supported", "joint": True}, "claims that only several passages together decide"),
        ({"label": "supported", "chunk_id": "gone"}, "claims without a passage that decides"),
        ({"label": "supported", "chunk_id": "long"}, "long passages whose deciding words are not known"),
    ],
)
def test_what_says_nothing_of_a_single_passage_is_no_row_and_is_counted(more, reason):
    found = gathered(report(verdict("c1", "Iron treats anaemia.", **more)))
    assert found.pairs == []
    assert found.left_out[reason] == 1


def test_votes_and_scores_become_probabilities_unless_a_rule_turned_the_verdict():
    votes = {"chunk_id": "iron", "reason": "of 5 samples 4 entail, 1 neutral"}
    score = PairScore(
        claim_id="c2", chunk_id="iron", probs=(0.9, 0.06, 0.04), label="entail", logits=(3.0, 0.0, -0.4)
    )
    found = gathered(
        report(
            verdict("c1", "Iron treats anaemia.", "supported", **votes),
            verdict(
                "c2", "Iron treats anaemia in 5 days.", "refuted", chunk_id="iron"
            ),  # entailed, said the model
            verdict("c3", "Iron is good.", "refuted", **votes),
            pairs=(score,),
        )
    )
    assert [row.probs for row in found.pairs] == [(0.8, 0.2, 0.0), None, None]


def test_no_case_claim_question_answer_or_passage_is_in_two_parts():
    """Cases share in every way that there is: nothing of what is measured may have been learned."""
    rows = [pair(n, case=f"case-{n // 3}", passage=f"passage-{n % 17}") for n in range(120)]
    rows += [
        pair(500 + n, case=f"case-{n}", claim="The same CLAIM, in two cases.", evidence=f"e{n}")
        for n in (3, 31)
    ]
    answers = [answer(f"case-{n}", f"Answer {n} of many.") for n in range(40)]
    answers += [answer("case-7", "One answer."), answer("case-22", "one answer")]
    answers += [answer("case-9", "x y.", "How long?"), answer("case-14", "z.", "how long")]
    silver = make_silver(Gathered(rows, answers), kept_out=0.15, balance=None)
    assert all(silver.pairs[part] and silver.answers[part] for part in PARTS)
    for one, other in itertools.combinations(PARTS, 2):
        for name, texts in {
            "case": lambda part: [row.case_id for row in (*silver.pairs[part], *silver.answers[part])],
            "claim": lambda part: [row.claim for row in silver.pairs[part]],
            "answer": lambda part: [row.answer for row in silver.answers[part]],
            "question": lambda part: [row.question for row in silver.answers[part]],
        }.items():
            assert not {normal(t) for t in texts(one)} & {normal(t) for t in texts(other)}, (name, one, other)
        assert not {row.passage for row in silver.pairs[one]} & {row.passage for row in silver.pairs[other]}
    assert silver.left_out["pairs of train whose claim or passage is measured on elsewhere"] > 0


def test_parts_share_passages_only_where_that_was_asked_for_and_the_summary_says_it(tmp_path):
    rows = [pair(n, passage="the one") for n in range(30)]
    silver = make_silver(Gathered(rows, []), passages_shared=True)
    assert sum(map(len, silver.pairs.values())) == 30
    lines = silver_lines(write_silver(tmp_path, silver))
    assert "WARNING: parts may share passages; what is measured is better than on passages not seen" in lines


def test_the_parts_stay_when_the_rows_come_in_another_order():
    rows = [pair(n) for n in range(40)]
    first, second = (make_silver(Gathered(order, []), balance=None) for order in (rows, rows[::-1]))
    assert {part: {row.id for row in first.pairs[part]} for part in PARTS} == {
        part: {row.id for row in second.pairs[part]} for part in PARTS
    }


def test_a_pair_is_taken_once_and_texts_of_two_labels_never():
    rows = [pair(n) for n in range(9)]
    again = pair(20, case="case-1", claim="CLAIM number 1 holds", evidence=rows[1].evidence)
    clash = pair(21, case="case-2", claim=rows[2].claim, evidence=rows[2].evidence, label="contradict")
    silver = make_silver(Gathered([*rows, again, clash], []), balance=None)
    ids = {row.id for part in PARTS for row in silver.pairs[part]}
    assert ids == {row.id for row in rows} - {"p2"}
    assert (silver.left_out["repeated pairs"], silver.left_out["pairs of two labels"]) == (2, 1)


def test_the_balance_holds_for_training_alone_and_is_counted():
    labels = ["neutral"] * 80 + ["entail"] * 10 + ["contradict"] * 10
    rows = [pair(n, label=label) for n, label in enumerate(labels)]
    silver = make_silver(Gathered(rows, []), balance=2.0)
    counts = {label: sum(row.label == label for row in silver.pairs["train"]) for label in set(labels)}
    assert counts["neutral"] <= 2 * min(counts.values())
    assert len(silver.pairs["test"]) == len(silver.pairs["dev"]) == 10  # as they came
    assert silver.left_out["pairs of frequent labels, for the balance"] > 0


def test_rows_go_from_copies_to_paraphrases_with_the_labels_mixed():
    rows = [
        pair(n, label=label, overlap=n / 30)
        for n, label in enumerate(["entail", "neutral", "contradict"] * 10)
    ]
    ordered = in_order_of_learning(rows)
    for label in ("entail", "neutral", "contradict"):
        overlaps = [row.overlap for row in ordered if row.label == label]
        assert overlaps == sorted(overlaps, reverse=True)
    for start in range(0, 30, 3):
        assert len({row.label for row in ordered[start : start + 3]}) == 3


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "no pair of a claim and a passage has a label"),
        ([pair(1, case="a"), pair(2, case="b")], r"the cases form 2 group\(s\), linked by questions"),
        (
            [pair(n, passage="the one") for n in range(9)],
            "no pair is left in dev: each has a claim or passage that",
        ),
    ],
)
def test_rows_that_cannot_be_split_are_one_message(rows, message):
    with pytest.raises(DataError, match=message):
        make_silver(Gathered(rows, []))


def test_a_folder_of_rows_is_read_back_and_says_what_is_missing(tmp_path):
    rows = [pair(n, label="entail" if n % 2 else "neutral") for n in range(20)]
    silver = make_silver(Gathered(rows, [answer(f"case-{n}", f"Answer {n}.") for n in range(20)]))
    summary = write_silver(tmp_path, silver)
    assert read_pairs(tmp_path, "train") == silver.pairs["train"]
    assert read_answers(tmp_path, "dev") == silver.answers["dev"]
    assert summary == json.loads((tmp_path / "silver.json").read_text())
    lines = silver_lines(summary)
    assert lines[0] == "labelled by teacher judge-7b (20 pairs)"
    assert "WARNING: no pair to train on is contradict; a student of these rows never says it" in lines


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": "yes"}, r"nli.train.jsonl:1: .*label.*'yes'"),
        ({"claim": " "}, r"nli.train.jsonl: row 1 \('p1'\) has no claim"),
        ({"probs": [0.5, 0.1, 0.1]}, r"row 1 \('p1'\): probs are \(0.5, 0.1, 0.1\), expected shares of 1"),
        ({"provenance": None}, r"nli.train.jsonl:1: .*provenance"),
    ],
)
def test_a_malformed_silver_row_is_named(tmp_path, change, message):
    (tmp_path / "nli.train.jsonl").write_text(json.dumps({**pair(1).to_dict(), **change}) + "\n")
    with pytest.raises(DataError, match=message):
        read_pairs(tmp_path, "train")


def test_only_claims_on_which_the_local_checkers_agree_teach():
    def judging(name, *refuted):
        return scripted_checker(
            lambda _, claim: "contradict" if claim.startswith(refuted) else "entail", name=name
        )

    verdicts = (verdict("c1", "Iron helps.", "unsupported"), verdict("c2", "Zinc helps.", "unsupported"))
    one = SliceReport(
        slice="s", retriever="rrf", checker="x", k=3, reports=(report(*verdicts, chunks=CHUNKS[:2]),)
    )
    left_out = Counter()
    (again,) = relabelled([one], [judging("one", "none"), judging("two", "Zinc")], left_out)
    assert [(v.claim.id, v.label) for v in again.reports[0].verdicts] == [("c1", "supported")]
    assert again.reports[0].checker == "one and two"
    assert left_out[DISAGREED] == 1
    assert gather("r", [again], linker=link).pairs[0].probs is not None  # the first checker's


def test_agreement_counts_what_the_student_cannot_score_as_disagreement():
    rows = [pair(n, label="entail", claim=f"Claim {n}." if n else "?!") for n in range(4)]
    student = scripted_checker(lambda _, claim: "contradict" if "3" in claim else "entail", name="student")
    found = agree(rows, student, part="test")
    assert found.labels == ("unscored", "entail", "entail", "contradict")
    assert found.metrics["accuracy"].value == 0.5
    card = agreement_card(found)
    assert "Teacher: teacher judge-7b. Part: test, 4 pairs of 4 cases." in card
    assert "* entail, student unscored: ?! (p0)" in card
    assert found.counts["entail"] == {"entail": 2, "neutral": 0, "contradict": 1, "unscored": 1}


def test_spans_match_without_their_marks():
    text = "Iron helps. Zinc does not."
    row = SilverAnswer(
        id="a",
        case_id="a",
        question="",
        answer=text,
        provenance=FROM,
        claims=(
            SilverClaim(text="Iron helps.", start=0, end=11),
            SilverClaim(text="Zinc does not.", start=12, end=26),
        ),
    )
    found = agree_on_spans([row], lambda _: [(0, 10), (12, 16)])
    assert (found.equal, found.taught, found.found, found.f1) == (1, 2, 2, 0.5)
