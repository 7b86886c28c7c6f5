"""A plain callable in a checker's place: what it is called, what it is asked, and what it may return."""

from functools import partial

import numpy as np
import pytest

from pytest_medfaith.calibration.fit import fit_calibration
from pytest_medfaith.calibration.rows import LabelledRow
from pytest_medfaith.checking.judge import as_checker
from pytest_medfaith.checking.loading import load_checker
from pytest_medfaith.errors import DataError
from pytest_medfaith.evaluation import evaluate_case
from pytest_medfaith.records import Case, Chunk, Claim, GoldClaim, Response, Verdict
from pytest_medfaith.testing import containment_checker

CLAIM = Claim(id="c", text="Iron helps.")
CHUNKS = [
    Chunk(id="a", text="Iron helps."),
    Chunk(id="b", text="Zinc helps."),
    Chunk(id="c", text="Iron helps."),
]


class Judge:
    """Says that a claim is supported where a chunk holds it, and keeps what it was asked."""

    def __init__(self):
        self.asked = []

    def __call__(self, claim, chunks):
        self.asked.append((claim.id, [chunk.id for chunk in chunks]))
        return "supported" if any(claim.text in chunk.text for chunk in chunks) else "unsupported"


def judge(claim, chunks):
    return Judge()(claim, chunks)


@pytest.mark.parametrize(
    ("called", "name"),
    [
        (judge, "judge"),
        (Judge(), "Judge"),
        (partial(judge), "judge"),
        (lambda _claim, _chunks: "supported", "lambda"),
    ],
)
def test_the_card_calls_it_by_its_name(called, name):
    checker = as_checker(called)
    assert checker.name == name
    assert checker.signature.startswith(f"{__name__}:")
    assert "@" in checker.signature


def test_a_checker_stays_what_it_is_and_a_name_may_be_given():
    checker = containment_checker()
    assert as_checker(checker) is checker
    assert as_checker(judge, name="mine").name == "mine"


@pytest.mark.parametrize("given", ["default", None, 3, Judge])
def test_anything_else_is_refused(given):
    with pytest.raises(
        DataError, match=r"the checker is .*; expected a Checker, .* or a callable \(claim, chunks\)"
    ):
        as_checker(given)


def test_of_a_supported_claim_each_chunk_is_asked_alone_and_of_another_none():
    called = Judge()
    checker = as_checker(called)
    verdict = checker(CLAIM, CHUNKS)
    assert (verdict.label, verdict.supporting, verdict.chunk_id, verdict.score) == (
        "supported",
        ("a", "c"),
        "a",
        1.0,
    )
    assert [chunks for _, chunks in called.asked] == [["a", "b", "c"], ["a"], ["b"], ["c"]]
    called.asked.clear()
    assert checker("Zebras run.", CHUNKS).label == "unsupported"
    assert checker(CLAIM, CHUNKS[:1]).supporting == ("a",)
    assert len(called.asked) == 2


def test_a_verdict_that_names_its_chunks_is_taken_as_it_is():
    given = Verdict(
        claim=Claim(id="other", text="x"), label="supported", score=0.7, chunk_id="b", supporting=("b", "c")
    )
    verdict = as_checker(lambda _claim, _chunks: given)(CLAIM, CHUNKS)
    assert verdict == given.with_(claim=CLAIM)


def test_numbers_of_numpy_are_plain_numbers_in_the_verdict():
    verdict = as_checker(lambda _claim, _chunks: ("refuted", np.float32(0.25)))(CLAIM, CHUNKS)
    assert (verdict.label, verdict.score, type(verdict.score)) == ("refuted", 0.25, float)


def test_without_chunks_nobody_is_asked_and_nothing_is_supported():
    called = Judge()
    verdict = as_checker(called)(CLAIM, [])
    assert (verdict.label, verdict.reason, called.asked) == (
        "unsupported",
        "the answer came with no evidence",
        [],
    )


def test_a_claim_without_a_word_is_unscored():
    assert as_checker(judge)("...", CHUNKS).label == "unscored"


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ("entail", "returned 'entail', which is no verdict; expected a Verdict, one of supported, refuted"),
        (["supported"], "returned a list of 1, which is no verdict"),
        (("supported", 0.5, 1), "returned a list of 3, which is no verdict"),
        (("supported", "sure"), "has the score 'sure'; expected a number from 0 to 1"),
        (("supported", float("nan")), "has the score nan"),
        (("supported", True), "has the score True"),
        (
            Verdict(claim=CLAIM, label="supported", chunk_id="zz"),
            "names the chunk 'zz'; expected ids of the chunks",
        ),
    ],
)
def test_a_result_without_sense_names_the_checker_and_the_result(result, message):
    with pytest.raises(DataError, match="the checker 'odd'") as raised:
        as_checker(lambda _claim, _chunks: result, name="odd")(CLAIM, CHUNKS)
    assert message in str(raised.value)


def test_a_case_has_entailments_and_no_pairs():
    case = Case(
        id="c",
        question="What helps?",
        gold_claims=(GoldClaim(id="g", text="Iron helps."),),
        reference_answer="Iron helps. Zinc helps.",
    )
    response = Response(answer="Iron helps. Zinc hurts.", contexts=tuple(CHUNKS))
    report = evaluate_case(case, response, checker=as_checker(judge))
    assert report.pairs == ()
    assert report.checker == "judge"
    assert report.entailments.chunk_claims == ((True, False, True), (False, False, False))
    assert report.entailments.chunk_gold == ((True, False, True),)
    assert report.entailments.answer_gold == (True,)
    assert report.entailments.reference_claims == (True, False)


def test_a_dotted_name_leads_to_it_and_is_its_name(monkeypatch):
    monkeypatch.syspath_prepend(str(__import__("pathlib").Path(__file__).parent))
    checker = load_checker("test_checking_judge:judge")
    assert checker.name == "test_checking_judge:judge"
    assert checker(CLAIM, CHUNKS).label == "supported"


def test_it_cannot_be_calibrated_since_it_gives_no_scores():
    with pytest.raises(DataError, match="the checker 'judge' is a plain callable and gives no scores"):
        fit_calibration([LabelledRow("a", ("b",), "entail")], as_checker(judge))
