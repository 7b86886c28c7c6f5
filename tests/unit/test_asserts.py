"""What assertions let pass and what they refuse: nothing passes that was not checked."""

import dataclasses
import gc
import pickle
import warnings

import pytest

from pytest_medfaith import (
    Chunk,
    Response,
    assert_cited,
    assert_claim_recall,
    assert_context_precision,
    assert_context_utilization,
    assert_faithfulness,
    assert_no_hallucination,
    assert_no_safety_errors,
    check_answer,
)
from pytest_medfaith.records import Report, SliceReport
from pytest_medfaith.testing import containment_checker
from pytest_medfaith.unread import UncheckedReport

IRON = "Iron tablets treat iron deficiency."
GOUT = "Allopurinol lowers uric acid in gout."
FOREIGN = "Железо нужно принимать натощак каждый день."
REFUSAL = "I could not find this in the documents provided."
CHECKER = dataclasses.replace(containment_checker(), latin_only=True)
ASSERTIONS = {
    "faithfulness": lambda answer, **said: assert_faithfulness(answer, checker=CHECKER, **said),
    "hallucination": lambda answer, **said: assert_no_hallucination(answer, checker=CHECKER, **said),
    "claim_recall": lambda answer, **said: assert_claim_recall(
        answer, checker=CHECKER, gold_claims=[IRON], **said
    ),
    "context_precision": lambda answer, **said: assert_context_precision(
        answer, at_least=0.5, checker=CHECKER, gold_claims=[IRON], **said
    ),
    "context_utilization": lambda answer, **said: assert_context_utilization(
        answer, at_least=0.5, checker=CHECKER, **said
    ),
    "citation_coverage": lambda answer, **said: assert_cited(answer, checker=CHECKER, **said),
}


def checked(answer, contexts=(IRON, GOUT), **said):
    return check_answer(answer, contexts=list(contexts), checker=CHECKER, **said)


def slice_of(*reports, missing=()):
    rows = tuple(report.with_(case=report.case.with_(id=f"case-{i}")) for i, report in enumerate(reports))
    return SliceReport(slice="s", retriever="r", checker="c", k=1, reports=rows, missing=missing)


@pytest.mark.parametrize("name", ASSERTIONS)
class TestEveryAssertion:
    def test_passes_where_its_evidence_was_read(self, name):
        ASSERTIONS[name](f"{IRON[:-1]} [1].", contexts=[IRON])

    def test_needs_contexts(self, name):
        with pytest.raises(ValueError, match="contexts is missing"):
            ASSERTIONS[name](IRON)

    @pytest.mark.parametrize("answer", [IRON, Response(answer=IRON)], ids=["text", "response"])
    def test_fails_without_contexts(self, name, answer):
        with pytest.raises(
            AssertionError,
            match=f"{name} could not be measured: there are no contexts, so nothing was checked",
        ):
            ASSERTIONS[name](answer, contexts=[])

    def test_fails_for_an_exhausted_generator(self, name):
        contexts = (text for text in [IRON])
        list(contexts)
        with pytest.raises(AssertionError, match="there are no contexts"):
            ASSERTIONS[name](IRON, contexts=contexts)

    @pytest.mark.parametrize("answer", ["", "  \n", "...", "Hello!"])
    def test_fails_for_an_answer_that_says_nothing(self, name, answer):
        with pytest.raises(
            AssertionError, match=r"could not be measured: the answer (is empty|makes no checkable claim)"
        ):
            ASSERTIONS[name](answer, contexts=[IRON])

    @pytest.mark.parametrize("answer", [None, b"Iron helps.", 5, ["Iron helps."], {"answer": IRON}, object()])
    def test_says_in_a_line_what_an_answer_may_be(self, name, answer):
        with pytest.raises(
            ValueError,
            match=r"^the answer is [^\n]+; expected its text, or a Response with text and contexts$",
        ):
            ASSERTIONS[name](answer, contexts=[IRON])

    def test_refuses_contexts_beside_a_report(self, name):
        """They would be ignored: the report was checked against others."""
        with pytest.raises(ValueError, match=r"(contexts|checker) was given beside a report"):
            ASSERTIONS[name](checked(IRON), contexts=[GOUT])


def test_none_says_on_purpose_that_there_are_no_contexts():
    assert_no_hallucination(IRON, contexts=None, checker=CHECKER)
    with pytest.raises(AssertionError, match=r"faithfulness is 0\.000"):
        assert_faithfulness(IRON, contexts=None, checker=CHECKER)
    report = check_answer(IRON, contexts=None, checker=CHECKER)
    assert (report.contexts_optional, report.faithfulness) == (True, 0.0)
    report = check_answer(
        Response(answer=IRON, contexts=(Chunk(id="a", text=IRON),)), contexts=None, checker=CHECKER
    )
    assert (report.contexts_optional, report.faithfulness) == (False, 1.0)


def test_a_refusal_passes_without_contexts():
    assert_faithfulness(REFUSAL, contexts=[], checker=CHECKER)


class TestUnscored:
    ANSWER = f"{IRON} {FOREIGN}"

    @pytest.mark.parametrize("name", ["faithfulness", "hallucination", "context_utilization"])
    def test_a_claim_that_nobody_could_judge_is_not_supported(self, name):
        with pytest.raises(
            AssertionError, match=f"{name} could not be measured: 1 of 2 claims could not be scored"
        ):
            ASSERTIONS[name](self.ANSWER, contexts=[IRON])
        ASSERTIONS[name](self.ANSWER, contexts=[IRON], unscored_at_most=0.5)
        with pytest.raises(AssertionError, match="could not be scored"):
            ASSERTIONS[name](self.ANSWER, contexts=[IRON], unscored_at_most=0.4)

    @pytest.mark.parametrize(
        "claim",
        [
            "Aspirin helps " + "very " * 900 + "much.",
            FOREIGN,
            "阿司匹林可以每天服用八克。",
            "パラセタモールは安全です。",
        ],
    )
    def test_whatever_the_reason(self, claim):
        with pytest.raises(AssertionError, match="could not be scored"):
            assert_faithfulness(f"{IRON} {claim}", [IRON], checker=CHECKER)

    def test_in_a_report_and_in_a_slice(self):
        report = checked(self.ANSWER)
        for one in (report, slice_of(report, checked(IRON))):
            with pytest.raises(AssertionError, match="could not be scored"):
                assert_faithfulness(one)
            assert_faithfulness(one, unscored_at_most=0.5)

    def test_nor_is_it_safe_where_the_rules_cannot_read_it(self):
        with pytest.raises(
            AssertionError, match="safety could not be measured: 1 of 2 claims could not be scored"
        ):
            assert_no_safety_errors(self.ANSWER)
        assert_no_safety_errors(self.ANSWER, unscored_at_most=0.5)
        with pytest.raises(AssertionError, match="could not be scored"):
            assert_no_safety_errors(checked(self.ANSWER))

    @pytest.mark.parametrize("share", [-0.1, 1.5, float("nan")])
    def test_a_share_that_is_none_is_refused(self, share):
        with pytest.raises(ValueError, match="unscored_at_most is"):
            assert_faithfulness(IRON, [IRON], unscored_at_most=share, checker=CHECKER)


class TestSlices:
    @pytest.mark.parametrize("bad", ["", "Hello!"])
    def test_one_case_without_an_answer_fails_a_slice(self, bad):
        with pytest.raises(AssertionError, match="1 of 3 cases failed: case-2"):
            assert_faithfulness(slice_of(checked(IRON), checked(GOUT), checked(bad)))
        with pytest.raises(AssertionError, match="safety could not be measured: 1 of 2 cases failed"):
            assert_no_safety_errors(slice_of(checked(IRON), checked(bad)))

    def test_a_case_without_contexts_fails_a_slice(self):
        with pytest.raises(AssertionError, match=r"1 of 2 cases failed: case-1 \(there are no contexts"):
            assert_no_hallucination(slice_of(checked(IRON), checked(GOUT, contexts=())))
        assert_no_safety_errors(slice_of(checked(IRON), checked(GOUT, contexts=())))

    def test_a_slice_of_refusals_says_nothing(self):
        assert_faithfulness(slice_of(checked(IRON), checked(REFUSAL)))
        with pytest.raises(AssertionError, match="2 of 3 answers are refusals"):
            assert_faithfulness(slice_of(checked(IRON), checked(REFUSAL), checked(REFUSAL)))
        with pytest.raises(AssertionError, match="2 of 2 answers are refusals"):
            assert_no_safety_errors(slice_of(checked(REFUSAL), checked(REFUSAL)))

    def test_missing_cases_fail_a_slice(self):
        with pytest.raises(AssertionError, match="1 of 2 cases did not finish: iron"):
            assert_faithfulness(slice_of(checked(IRON), missing=("iron",)))

    def test_an_empty_slice_fails(self):
        with pytest.raises(AssertionError, match="there is no report"):
            assert_no_safety_errors(slice_of())


class TestBounds:
    def test_contexts_stand_second_and_threshold_is_a_name_of_the_bound(self):
        answer = f"{IRON} Moonlight sets off asthma."
        assert_faithfulness(answer, [IRON], threshold=0.5, checker=CHECKER)
        with pytest.raises(AssertionError, match=r"faithfulness is 0\.500, expected at least 0\.6"):
            assert_faithfulness(answer, [IRON], threshold=0.6, checker=CHECKER)
        with pytest.raises(ValueError, match="two names of one bound"):
            assert_faithfulness(answer, [IRON], threshold=0.6, at_least=0.6, checker=CHECKER)

    @pytest.mark.parametrize("bound", [0, 0.0, -1, 1.5, float("nan"), True, "0.8"])
    def test_a_bound_that_asserts_nothing_is_refused(self, bound):
        with pytest.raises(ValueError, match="the bound on faithfulness is"):
            assert_faithfulness(IRON, [IRON], at_least=bound, checker=CHECKER)

    def test_a_bound_of_nought_leaves_it_to_the_second(self):
        assert_faithfulness(
            f"{IRON} Moonlight sets off asthma.",
            [IRON],
            at_least=0,
            hallucination_at_most=0.1,
            checker=CHECKER,
        )
        with pytest.raises(ValueError, match="the bound on hallucination is 1"):
            assert_faithfulness(IRON, [IRON], hallucination_at_most=1.0, checker=CHECKER)
        assert_cited(f"{IRON[:-1]} [1].", [IRON], coverage_at_least=0, checker=CHECKER)
        with pytest.raises(ValueError, match="the bound on citation_coverage is 0"):
            assert_cited(
                f"{IRON[:-1]} [1].", [IRON], coverage_at_least=0, support_at_least=0, checker=CHECKER
            )


class TestReportsThatNobodyReads:
    def test_a_report_thrown_away_warns_at_its_line(self):
        with pytest.warns(
            UncheckedReport, match="check_answer made a report that nobody read, so nothing was asserted"
        ) as caught:
            checked(IRON)
        assert caught[0].filename == __file__

    def test_a_report_kept_and_not_read_warns(self):
        def check():
            report = checked(IRON)
            del report

        with pytest.warns(UncheckedReport):
            check()

    @pytest.mark.parametrize(
        "look",
        [
            assert_faithfulness,
            assert_no_safety_errors,
            lambda report: report.verdicts,
            lambda report: report.metrics["faithfulness"],
            lambda report: report.faithfulness,
            lambda report: report.to_dict(),
            lambda report: report.with_(k=3),
            repr,
            lambda report: report == 5,
            lambda report: pickle.loads(pickle.dumps(report)),  # noqa: S301 - it was pickled here
            slice_of,
        ],
    )
    def test_a_report_that_was_read_does_not(self, look):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            look(checked(IRON))
            gc.collect()
        assert not [one for one in caught if one.category is UncheckedReport]

    def test_it_is_a_report_like_any(self):
        report = checked(IRON)
        assert isinstance(report, Report)
        assert report == checked(IRON)
        assert type(report) is Report
        assert Report.from_dict(report.to_dict()) == report

    def test_a_test_that_fails_has_something_better_to_say(self):
        def check():
            report = checked(IRON)
            raise LookupError(report.case.id)

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with pytest.raises(LookupError):
                check()
            gc.collect()
        assert len(caught) <= 1


def test_faithfulness_of_a_report_is_an_attribute_and_none_for_a_refusal():
    assert checked(f"{IRON} Moonlight sets off asthma.").faithfulness == 0.5
    assert checked(REFUSAL).faithfulness is None
    assert checked(FOREIGN).faithfulness is None
