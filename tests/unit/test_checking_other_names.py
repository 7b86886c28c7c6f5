"""A fact in other names counts once, and a clash is never smoothed over.

A guideline says a claim in the guideline's names.
"""

import dataclasses

import pytest

from pytest_medfaith.checking.judge import as_checker
from pytest_medfaith.errors import DataError
from pytest_medfaith.evaluation import evaluate_case, retrieval_report
from pytest_medfaith.metrics.aggregate import case_metrics
from pytest_medfaith.metrics.facts import fact_counts, fact_states
from pytest_medfaith.records import Case, Chunk, GoldClaim, Hit, Report, Response, Verdict
from pytest_medfaith.testing import scripted_checker


def says(evidence, claim):
    """A model without synonyms: a text entails its words, and denies "X harms" where it says "X is safe"."""
    said = claim.rstrip(".").lower()
    if said in evidence.lower():
        return "entail"
    return "contradict" if said.replace("harms", "is safe") in evidence.lower() else "neutral"


CHECKER = scripted_checker(says)
WITHOUT = dataclasses.replace(CHECKER, linker="none")


def gold(*texts, **more):
    return tuple(GoldClaim(id=f"g{i}", text=text, **more) for i, text in enumerate(texts))


def judged(answer, *chunks, golds=(), checker=CHECKER):
    case = Case(id="case", question="What helps?", gold_claims=golds)
    contexts = tuple(
        Chunk(id=f"c{i}", text=text, authority=authority) for i, (text, authority) in enumerate(chunks)
    )
    return evaluate_case(case, Response(case_id="case", answer=answer, contexts=contexts), checker=checker)


FEVER = gold("Acetaminophen lowers fever.", "Paracetamol lowers fever.", "Zinc shortens colds.")


def test_a_gold_claim_in_other_names_counts_once():
    report = judged("Paracetamol lowers fever.", ("Paracetamol lowers fever.", None), golds=FEVER)
    assert report.entailments.same_gold == (0, 0, 2)
    assert fact_states(report) == ("present", "present", "absent")
    assert fact_counts([report]) == {"present": 1, "absent": 1}
    assert report.metrics["claim_recall"] == report.metrics["context_recall"] == 0.5
    assert report.metrics["omission"] == report.metrics["ragchecker.recall"] == 0.5
    again = judged(
        "Paracetamol lowers fever.", ("Paracetamol lowers fever.", None), golds=FEVER, checker=WITHOUT
    )
    assert again.entailments.same_gold == ()
    assert fact_states(again) == ("absent", "present", "absent")
    assert again.metrics["claim_recall"] == pytest.approx(1 / 3)


def test_a_fact_left_out_stays_left_out_beside_another_fact_on_a_similar_name():
    golds = gold("Prednisone treats asthma.", "Prednisolone treats asthma.")
    report = judged("Prednisone treats asthma.", ("Prednisone treats asthma.", None), golds=golds)
    assert report.metrics["claim_recall"] == 0.5
    assert "same_gold" not in report.to_dict()["entailments"]


def test_a_fact_that_one_wording_of_it_denies_is_contradicted():
    golds = gold("Tylenol harms the liver.", "Paracetamol harms the liver.")
    answer = "Tylenol harms the liver. Paracetamol is safe the liver."
    report = judged(answer, ("Tylenol harms the liver.", None), golds=golds)
    assert [one.label for one in report.gold_verdicts] == ["supported", "refuted"]
    assert fact_states(report) == ("contradicted", "contradicted")
    assert report.metrics["gold_contradiction"] == 1


def test_a_fact_is_key_and_major_where_any_wording_of_it_is():
    golds = (
        GoldClaim(id="a", text="Tylenol lowers fever.", key=False),
        GoldClaim(id="b", text="Paracetamol lowers fever.", severity="major"),
    )
    report = judged("Zinc helps.", ("Zinc helps.", None), golds=golds)
    assert (report.metrics["claim_recall"], report.metrics["omission.major"]) == (0, 1)
    assert fact_counts([report]) == {"absent": 1, "major omitted": 1}


def test_contexts_that_state_the_same_count_once():
    chunks = [
        ("Tylenol lowers fever.", None),
        ("Paracetamol lowers fever.", None),
        ("Zinc is a metal.", None),
    ]
    golds = gold("Tylenol lowers fever.", "Paracetamol lowers fever.")
    assert judged("Zinc helps.", *chunks, golds=golds).metrics["context_precision"] == 0.5
    without = judged("Zinc helps.", *chunks, golds=golds, checker=WITHOUT)
    assert without.metrics["context_precision"] == pytest.approx(2 / 3)


def test_a_hit_entails_a_fact_once():
    chunk = Chunk(id="c", text="Tylenol lowers fever. Paracetamol lowers fever.")
    case = Case(
        id="case", question="Fever?", gold_claims=gold("Tylenol lowers fever.", "Paracetamol lowers fever.")
    )
    report = retrieval_report(case, [Hit(chunk=chunk, rank=1, score=1.0)], checker=CHECKER)
    assert report.entailments.same_gold == (0, 0)
    assert retrieval_report(case, [], checker=WITHOUT).entailments.same_gold == ()


GUIDELINE, SITE = "guideline", "site"


def adherence(answer, *chunks, checker=CHECKER):
    report = judged(answer, *chunks, checker=checker)
    return [verdict.label for verdict in report.verdicts], report.metrics["guideline_adherence"]


@pytest.mark.parametrize(
    ("answer", "guideline", "is_recognised"),
    [
        ("Augmentin is first-line.", "Amoxicillin-clavulanate is first-line.", True),
        ("Tylenol lowers fever.", "Acetaminophen lowers fever.", True),
        ("Heart attack needs aspirin.", "MI needs aspirin.", True),
        ("Prednisone treats asthma.", "Prednisolone treats asthma.", False),
        ("Hydroxyzine relieves itching.", "Hydralazine relieves itching.", False),
        ("Type 1 diabetes needs insulin.", "Type 2 diabetes needs insulin.", False),
        ("Levothyroxine is taken daily.", "Liothyronine is taken daily.", False),
        ("MS is treated early.", "Multiple sclerosis is treated early.", False),
        ("Tylenol harms the liver.", "Acetaminophen is safe the liver.", False),
    ],
)
def test_a_recommendation_is_recognised_by_a_synonym_and_by_no_similar_name(answer, guideline, is_recognised):
    labels, value = adherence(answer, (guideline, GUIDELINE))
    assert labels == ["unsupported"]  # the verdict is that of the model
    assert value == float(is_recognised)
    assert adherence(answer, (guideline, GUIDELINE), checker=WITHOUT) == (labels, 0.0)


def test_letters_that_the_answer_defines_are_recognised():
    answer = "Polycystic ovary syndrome (PCOS) is common. PCOS is treated with metformin."
    chunks = ("Polycystic ovary syndrome is treated with metformin.", GUIDELINE)
    labels, value = adherence(answer, chunks)
    assert (labels, value) == (["unsupported", "unsupported"], 0.5)


def test_a_guideline_counts_for_more_than_the_site_that_supports_a_claim_by_its_brand():
    chunks = [("Tylenol lowers fever.", SITE), ("Acetaminophen lowers fever.", GUIDELINE)]
    assert adherence("Tylenol lowers fever.", *chunks) == (["supported"], 1.0)
    assert adherence("Tylenol lowers fever.", *chunks, checker=WITHOUT) == (["supported"], 0.4)


def test_what_the_evidence_denies_is_recognised_by_no_guideline():
    chunks = [("Tylenol is safe the liver.", SITE), ("Acetaminophen harms the liver.", GUIDELINE)]
    assert adherence("Tylenol harms the liver.", *chunks) == (["refuted"], 0.0)


def test_a_claim_that_a_rule_weakened_is_recognised_by_no_guideline():
    chunks = [("Tylenol is given at 500 mg.", GUIDELINE), ("Acetaminophen is given at 5,000 mg.", GUIDELINE)]
    checker = dataclasses.replace(CHECKER, rules=frozenset({"numbers"}))
    labels, value = adherence("Tylenol is given at 5,000 mg.", *chunks, checker=checker)
    assert labels != ["supported"]
    assert value == 0


def test_a_callable_is_asked_nothing_more():
    asked = []

    def judge(claim, _chunks):
        asked.append(claim.text)
        return Verdict(claim=claim, label="unsupported")

    judged(
        "Tylenol lowers fever.",
        ("Acetaminophen lowers fever.", GUIDELINE),
        checker=as_checker(judge, name="mine"),
    )
    assert set(asked) == {"Tylenol lowers fever."}


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"same_gold": (0, 0)}, r"entailments.same_gold is \[0, 0\], expected 3 places"),
        ({"same_gold": (0, 2, 2)}, r"entailments.same_gold is \[0, 2, 2\], expected 3 places"),
        ({"same_chunks": (0, 0)}, r"entailments.same_chunks is \[0, 0\], expected 1 places"),
        ({"renamed_claims": ((True, False),)}, "entailments.renamed_claims is 1 rows"),
    ],
)
def test_a_report_whose_places_do_not_fit_is_refused(told, message):
    report = judged("Paracetamol lowers fever.", ("Paracetamol lowers fever.", GUIDELINE), golds=FEVER)
    broken = report.with_(entailments=report.entailments.with_(**told))
    with pytest.raises(DataError, match=message):
        case_metrics(broken)


def test_a_report_keeps_what_counts_once_as_json():
    report = judged("Paracetamol lowers fever.", ("Paracetamol lowers fever.", None), golds=FEVER)
    again = Report.from_dict(report.to_dict())
    assert case_metrics(again) == report.metrics
