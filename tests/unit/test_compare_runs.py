import pytest
from gate_samples import SIGNATURE, case, report_of, slice_of

from pytest_medfaith.compare.runs import compare_runs, compare_slices
from pytest_medfaith.records import GateResult, SliceRun


def test_metrics_are_paired_by_case_with_a_two_sided_p():
    names = [f"c{i:02}" for i in range(12)]
    worse = {name: "sr" if i < 8 else "ss" for i, name in enumerate(names)}
    down = {
        one.name: one for one in compare_slices(slice_of(dict.fromkeys(names, "ss")), slice_of(worse)).metrics
    }
    up = {
        one.name: one for one in compare_slices(slice_of(worse), slice_of(dict.fromkeys(names, "ss"))).metrics
    }
    hallucination = down["hallucination"]
    assert (hallucination.before.value, hallucination.after.value) == (0.0, pytest.approx(1 / 3))
    assert [hallucination.comparison.worse_by, up["hallucination"].comparison.worse_by] == pytest.approx(
        [1 / 3, -1 / 3]
    )
    assert None not in (hallucination.before.low, hallucination.after.high)
    # 8 cases differ, all the same way: of their 2^8 swaps one is as bad, and one as good; Holm corrects
    tested = [one for one in down.values() if one.p is not None]
    assert {one.name for one in tested} >= {"faithfulness", "hallucination"}
    assert hallucination.p == pytest.approx(len(tested) * 2 / 2**8)
    assert up["hallucination"].p == hallucination.p


def test_metrics_that_gates_ask_for_are_compared_too_and_one_that_a_run_lacks_has_no_comparison():
    gate = GateResult(expression="latency_p95 <= 200ms", outcome="pass")
    timed = report_of([case(name, "s", latency=5.0) for name in "ab"]).with_(gates=(gate,))
    untimed = report_of([case(name, "s") for name in "ab"])
    both = {one.name: one for one in compare_slices(timed, timed).metrics}
    assert (both["latency_p95"].after.value, both["latency_p95"].comparison.worse_by) == (5.0, 0.0)
    alone = {one.name: one for one in compare_slices(timed, untimed).metrics}
    assert (
        alone["latency_p95"].before.value,
        alone["latency_p95"].after.value,
        alone["latency_p95"].comparison,
    ) == (5.0, None, None)


def test_only_cases_of_both_runs_count():
    change = compare_slices(slice_of({"a": "ss", "b": "rr"}), slice_of({"a": "ss", "c": "rr"}))
    assert (change.only_before, change.only_after) == (("b",), ("c",))
    assert [one.before.value for one in change.metrics if one.name == "hallucination"] == [0.0]
    assert (change.worse, change.cases) == ((), ())


def test_cases_that_changed_stand_worst_first():
    change = compare_slices(
        slice_of({"a": "sss", "b": "sss", "c": "rss", "d": "sss", "e": "sss"}),
        slice_of({"a": "sus", "b": "rrs", "c": "sss", "d": "sss", "e": "uus"}),
    )
    assert [case.after.case.id for case in change.cases] == ["b", "e", "a", "c"]
    assert [case.worse_by for case in change.cases] == [
        (2, 0, 0, 0),
        (0, 2, 0, 0),
        (0, 1, 0, 0),
        (-1, 0, 0, 0),
    ]  # refuted, unsupported, uncertain, unscored
    assert [(one.report.case.id, one.verdict.label, one.before) for one in change.worse[:2]] == [
        ("b", "refuted", "supported"),
        ("b", "refuted", "supported"),
    ]
    assert [(one.report.case.id, one.verdict.label, one.before) for one in change.better] == [
        ("c", "refuted", "supported")
    ]


def test_a_reworded_answer_with_the_same_counts_is_counted_apart():
    change = compare_slices(
        report_of([case("a", "s", texts=["Iron helps."])]),
        report_of([case("a", "s", texts=["Iron is of help."])]),
    )
    assert (change.cases, change.reworded) == ((), 1)


def test_the_same_run_twice_differs_in_nothing():
    change = compare_runs(([slice_of({"a": "sr"})], SIGNATURE), ([slice_of({"a": "sr"})], SIGNATURE))
    (one,) = change.slices
    assert (change.signature, one.cases, one.worse, one.better, one.reworded) == ((), (), (), (), 0)
    assert all(metric.comparison.worse_by == 0 and metric.p is None for metric in one.metrics)


def test_differences_of_the_set_ups_are_named():
    after = {**SIGNATURE, "seed": 7, "corpora": {"iron": "c9", "sleep": "c2"}}
    change = compare_runs(([], SIGNATURE), ([], after))
    assert change.signature == ('corpora.iron was "c1", is "c9"', "seed was 0, is 7")


def test_slices_are_matched_by_key_then_by_name():
    def of(slice_name, retriever):
        return report_of(
            [case("a", "s")], run=SliceRun(slice=slice_name, retriever=retriever, checker="student", k=3)
        )

    before = [of("iron", "bm25"), of("iron", "dense"), of("sleep", "bm25"), of("gone", "bm25")]
    after = [of("iron", "bm25"), of("iron", "rrf"), of("sleep", "rrf"), of("new", "bm25")]
    change = compare_runs((before, {}), (after, {}))
    assert [(one.before.slice, one.before.retriever, one.after.retriever) for one in change.slices] == [
        ("iron", "bm25", "bm25"),
        ("iron", "dense", "rrf"),
        ("sleep", "bm25", "rrf"),
    ]
    assert [report.slice for report in change.only_before] == ["gone"]
    assert [report.slice for report in change.only_after] == ["new"]


def test_two_rows_of_one_slice_that_fit_no_other_are_not_guessed():
    def of(retriever):
        return report_of(
            [case("a", "s")], run=SliceRun(slice="iron", retriever=retriever, checker="student", k=3)
        )

    change = compare_runs(([of("bm25"), of("dense")], {}), ([of("rrf")], {}))
    assert (change.slices, len(change.only_before), len(change.only_after)) == ((), 2, 1)


class TestClaimsInOtherWords:
    RIGHT, WRONG = "Letrozole is started at 2.5 mg once a day.", "Letrozole is started at 25 mg once a day."

    def changed(self, before, after):
        (was, text), (becomes, now) = before, after
        return compare_slices(
            report_of([case("a", was, texts=[text])]), report_of([case("a", becomes, texts=[now])])
        )

    @pytest.mark.parametrize("becomes", ["r", "u"])
    def test_a_false_refutation_replaced_by_a_wrong_dose_is_not_better(self, becomes):
        change = self.changed(("r", self.RIGHT), (becomes, self.WRONG))
        assert (change.better, change.gone) == ((), ())

    def test_nor_is_a_bad_claim_that_is_only_gone(self):
        change = self.changed(("r", self.RIGHT), ("r", "Something else altogether."))
        assert change.better == ()
        assert [one.verdict.claim.text for one in change.gone] == [self.RIGHT]
        assert [one.before for one in change.worse] == [None]

    def test_one_that_is_supported_in_other_words_is(self):
        change = self.changed(("r", self.WRONG), ("s", self.RIGHT))
        assert [(one.before, one.text_before) for one in change.better] == [("supported", self.RIGHT)]

    def test_one_that_lost_its_support_in_other_words_turned(self):
        change = self.changed(("s", self.RIGHT), ("r", self.WRONG))
        assert [(one.before, one.text_before) for one in change.worse] == [("supported", self.RIGHT)]
