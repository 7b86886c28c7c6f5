"""What became of a case, and which key facts its answer states, as a user meets both."""

import json

import jsonschema
import pytest

from pytest_medfaith import (
    Case,
    Chunk,
    GoldClaim,
    Response,
    assert_abstains,
    assert_no_major_omission,
    check_answer,
)
from pytest_medfaith.cards.csv_claims import claims_csv
from pytest_medfaith.cards.facts_told import explain_facts, explain_outcomes
from pytest_medfaith.cards.json_card import json_card, report_schema
from pytest_medfaith.cards.junit import junit_card
from pytest_medfaith.cards.run_folder import write_run
from pytest_medfaith.cards.run_reading import read_run
from pytest_medfaith.cards.summary import card_header, count_lines
from pytest_medfaith.english.words import content_words
from pytest_medfaith.errors import DataError
from pytest_medfaith.evaluation import evaluate_case, slice_report
from pytest_medfaith.gates.judging import judge_gates
from pytest_medfaith.records import SliceRun
from pytest_medfaith.testing import scripted_checker

IRON, TEA = "Iron tablets raise haemoglobin.", "Tea lowers absorption."
REFUSAL = "I don't have enough information to answer. Please contact your pharmacist."


def label_of(evidence, claim):
    if content_words(claim) <= content_words(evidence):
        return "contradict" if "never" in evidence and "Milk" in claim else "entail"
    return "neutral"


CHECKER = scripted_checker(label_of)


ONE = (GoldClaim(id="g1", text=IRON),)


def report_of(answer, *, contexts=(IRON,), gold=ONE, case_id="iron", **case):
    chunks = tuple(Chunk(id=f"c{i}", text=text) for i, text in enumerate(contexts))
    asked = Case(id=case_id, question="", gold_claims=gold, **case)
    return evaluate_case(asked, Response(answer=answer, contexts=chunks, case_id=case_id), checker=CHECKER)


def slice_of(*reports):
    named = [one.with_(case=one.case.with_(id=f"case-{i}")) for i, one in enumerate(reports)]
    run = SliceRun(slice="s", retriever="r", checker="scripted", k=1)
    return slice_report(run, named)


TWO = (GoldClaim(id="g1", text=IRON), GoldClaim(id="g2", text=TEA))
URGENT = (GoldClaim(id="g1", text="Call 999 now."),)
OUTCOMES = {
    "an answer that the contexts allow": ({"answer": IRON}, "answered"),
    "a refusal where they hold nothing": ({"answer": REFUSAL, "contexts": [TEA]}, "abstained"),
    "an answer where they hold nothing": ({"answer": TEA, "contexts": [TEA]}, "should_have_abstained"),
    "an answer without contexts": ({"answer": IRON, "contexts": []}, "should_have_abstained"),
    "a refusal where they hold all": ({"answer": REFUSAL}, "should_have_answered"),
    "a refusal where they hold a part": ({"answer": REFUSAL, "gold": TWO}, "abstained"),
    "an answer where they hold a part": ({"answer": IRON, "gold": TWO}, "answered"),
    "an answer without key facts": ({"answer": IRON, "gold": (), "contexts": [TEA]}, "answered"),
    "a refusal without key facts": ({"answer": REFUSAL, "gold": ()}, "abstained"),
    "an optional fact alone": (
        {"answer": IRON, "gold": (GoldClaim(id="g1", text=TEA, key=False),)},
        "answered",
    ),
    "an urgent answer that the gold asks for": ({"answer": "Call 999 now.", "gold": URGENT}, "escalated"),
    "no urgent answer where the gold asks for it": (
        {"answer": IRON, "gold": URGENT},
        "should_have_escalated",
    ),
    "a refusal where the gold asks for an urgent answer": (
        {"answer": REFUSAL, "gold": URGENT},
        "should_have_escalated",
    ),
    "a case that expects a refusal": ({"answer": IRON, "expects": "abstain"}, "should_have_abstained"),
    "a case that expects an answer": (
        {"answer": REFUSAL, "contexts": [TEA], "expects": "answer"},
        "should_have_answered",
    ),
    "a case that expects urgency": (
        {"answer": "Go to A&E now.", "gold": (), "expects": "escalate"},
        "escalated",
    ),
    "an empty answer": ({"answer": ""}, None),
    "an answer without a claim": ({"answer": "Hello!"}, None),
}


@pytest.mark.parametrize(("said", "expected"), OUTCOMES.values(), ids=OUTCOMES)
def test_a_case_has_its_outcome(said, expected):
    assert report_of(**said).outcome == expected


def test_rates_are_of_the_cases_where_they_could_go_wrong():
    metrics = slice_of(
        report_of(IRON), report_of(REFUSAL), report_of(TEA, contexts=[TEA]), report_of(IRON, gold=URGENT)
    ).metrics
    assert (metrics["should_have_answered"].value, metrics["should_have_answered"].n) == (0.5, 2)
    assert (metrics["should_have_abstained"].value, metrics["should_have_abstained"].n) == (1.0, 1)
    assert (metrics["escalated"].value, metrics["escalated"].n) == (0.0, 1)


@pytest.mark.parametrize(
    ("gate", "outcome"),
    [
        ("should_have_answered <= 0.1", "fail"),
        ("should_have_answered <= 0.9", "pass"),
        ("omission.major <= 0.1", "fail"),
        ("escalated >= 0.9", "fail"),  # nothing was measured
    ],
)
def test_gates_read_them(gate, outcome):
    major = (GoldClaim(id="g1", text=IRON, severity="major"),)
    report = slice_of(
        report_of(IRON, gold=major), report_of(REFUSAL, gold=major), report_of(IRON, gold=major)
    )
    (result, *_) = judge_gates([gate], report).gates
    assert result.outcome == outcome


def test_a_case_that_expects_something_unknown_is_refused():
    with pytest.raises(
        DataError, match="field 'expects' is 'silence', expected one of answer, abstain, escalate"
    ):
        Case.from_dict({"id": "a", "question": "?", "expects": "silence"})
    with pytest.raises(DataError, match="field 'severity' is 'fatal', expected one of major, minor"):
        GoldClaim.from_dict({"id": "a", "text": "x", "severity": "fatal"})


FACTS = (
    GoldClaim(id="g1", text=IRON, severity="major"),
    GoldClaim(id="g2", text=TEA, severity="major"),
    GoldClaim(id="g3", text="Milk cures gout.", key=False),
    GoldClaim(id="g4", text="Zinc shortens colds.", severity="minor"),
)
ANSWER = f"{IRON} Milk never cures gout."


def test_facts_are_present_absent_or_contradicted():
    metrics = report_of(ANSWER, gold=FACTS).metrics
    assert metrics["claim_recall"] == metrics["claim_recall.key"] == pytest.approx(1 / 3)
    assert metrics["claim_recall.major"] == 1 / 2
    assert metrics["omission"] == 1 / 2
    assert metrics["omission.key"] == pytest.approx(2 / 3)
    assert metrics["omission.major"] == 1 / 2
    assert metrics["gold_contradiction"] == 1 / 4
    assert metrics["gold_contradiction.key"] == metrics["gold_contradiction.major"] == 0


def test_a_refusal_omits_every_fact():
    metrics = report_of(REFUSAL, gold=FACTS).metrics
    assert (metrics["omission"], metrics["omission.major"], metrics["gold_contradiction"]) == (1, 1, 0)


def test_without_major_facts_nothing_is_measured():
    assert "omission.major" not in report_of(IRON).metrics


class TestAssertNoMajorOmission:
    def asserted(self, answer, *facts):
        rows = [{"text": text, "severity": "major"} for text in facts]
        assert_no_major_omission(answer, contexts=[IRON], gold_claims=rows, checker=CHECKER)

    def test_passes_where_each_major_fact_is_stated(self):
        self.asserted(IRON, IRON)

    @pytest.mark.parametrize(
        ("answer", "fact", "said"),
        [
            (
                IRON,
                TEA,
                (
                    r"1 of 1 major gold claim not in the answer\n\nABSENT        Tea lowers absorption\. "
                    r"\(major, key\)"
                ),
            ),
            (REFUSAL, TEA, "ABSENT"),
            ("Milk never cures gout.", "Milk cures gout.", "CONTRADICTED"),
            ("Hello!", TEA, "ABSENT"),
        ],
    )
    def test_fails_where_it_is_not(self, answer, fact, said):
        with pytest.raises(AssertionError, match=said):
            self.asserted(answer, fact)

    def test_fails_without_a_major_fact(self):
        with pytest.raises(AssertionError, match='no gold claim has severity = "major"'):
            assert_no_major_omission(IRON, contexts=[IRON], gold_claims=[IRON], checker=CHECKER)

    def test_fails_for_a_slice_with_missing_cases(self):
        report = slice_of(report_of(IRON, gold=FACTS[:1])).with_(missing=("gone",))
        with pytest.raises(AssertionError, match="did not finish: gone"):
            assert_no_major_omission(report)


class TestAssertAbstains:
    def test_passes_for_a_refusal(self):
        assert_abstains(REFUSAL)
        assert_abstains(REFUSAL, contexts=[IRON])
        assert_abstains(slice_of(report_of(REFUSAL), report_of(REFUSAL)))

    @pytest.mark.parametrize(
        ("answer", "said"),
        [
            (IRON, "expected a refusal, but it states 'Iron tablets raise haemoglobin.'"),
            ("", "it neither declines nor states anything"),
            (f"{REFUSAL} Take 5 mg.", "it states 'Take 5 mg.'"),
        ],
    )
    def test_fails_for_an_answer(self, answer, said):
        with pytest.raises(AssertionError, match=said):
            assert_abstains(answer)

    def test_fails_for_a_slice_with_an_answer_or_a_missing_case(self):
        with pytest.raises(AssertionError, match="case case-1: expected a refusal"):
            assert_abstains(slice_of(report_of(REFUSAL), report_of(IRON)))
        with pytest.raises(AssertionError, match="did not finish"):
            assert_abstains(slice_of(report_of(REFUSAL)).with_(missing=("gone",)))


def test_cards_tell_outcomes_and_facts(tmp_path):
    report = slice_of(report_of(ANSWER, gold=FACTS), report_of(REFUSAL))
    lines = "\n".join(count_lines(report))
    assert "outcomes: 1 answered, 1 should have answered" in lines
    assert "key facts: 1 present, 3 absent, 1 contradicted, 1 major omitted" in lines
    document = json.loads(json_card([report]))
    jsonschema.validate(document, report_schema())
    assert document["slices"][0]["cases"][0]["facts"] == ["present", "absent", "contradicted", "absent"]
    assert document["slices"][0]["counts"]["outcomes"] == {"answered": 1, "should_have_answered": 1}
    assert claims_csv([report]).splitlines()[0].endswith(",outcome")
    assert 'name="medfaith.outcome" value="should_have_answered"' in junit_card([report])
    assert not {"Omit", "Omit-Maj", "Gold-Contra"} & set(card_header([report]))
    assert {"Omit", "Omit-Maj", "Gold-Contra"} <= set(card_header([report], verbose=True))
    assert "SHOULD HAVE ANSWERED: I don't have enough" in explain_outcomes(report.reports)
    assert explain_facts(report.reports).index("Tea lowers") < explain_facts(report.reports).index(
        "Milk cures"
    )
    write_run(tmp_path / "run", [report], signature={})
    (read,), _ = read_run(tmp_path / "run")
    assert [(one.outcome, one.answerable, one.metrics) for one in read.reports] == [
        (one.outcome, one.answerable, one.metrics) for one in report.reports
    ]


def test_an_unscored_fact_is_no_fact_that_is_stated():
    report = check_answer(
        IRON, contexts=[IRON], gold_claims=[{"text": IRON, "severity": "major"}], checker=CHECKER
    )
    lost = report.with_(gold_verdicts=(report.gold_verdicts[0].with_(label="unscored"),))
    with pytest.raises(AssertionError, match="UNSCORED"):
        assert_no_major_omission(lost)
