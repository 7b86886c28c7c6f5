import pytest
from gate_samples import case, report_of, slice_of, stored

from pytest_medfaith.gates.regressions import bad_labels, find_regressions, mcnemar, same_claims


def told(regressions):
    return [
        (one.report.case.id, one.verdict.claim.text, one.before, one.verdict.label) for one in regressions
    ]


def test_regressions_come_worst_first(tmp_path):
    baseline = stored(tmp_path, slice_of({"a": "ssus", "b": "sr"}))
    now = report_of(
        [
            case("a", "usrr"),  # thing 0 lost its support, 2 and 3 are refuted now
            case("b", "sru", texts=["b says thing 0.", "b says thing 1.", "b says something new."]),
        ]
    )
    assert told(find_regressions(now, baseline)) == [
        ("a", "a says thing 3.", "supported", "refuted"),
        ("a", "a says thing 2.", "unsupported", "refuted"),
        ("a", "a says thing 0.", "supported", "unsupported"),
        ("b", "b says something new.", None, "unsupported"),
    ]


def test_the_surest_refutation_comes_before_another_of_its_kind(tmp_path):
    baseline = stored(tmp_path, slice_of({"a": "sss", "b": "sss"}))
    regressions = find_regressions(slice_of({"a": "srs", "b": "rss"}), baseline)
    assert [(one.report.case.id, one.verdict.score) for one in regressions] == [("b", 0.9), ("a", 0.8)]


def test_a_gate_on_hallucination_shows_what_turned_refuted(tmp_path):
    baseline = stored(tmp_path, slice_of({"a": "sss"}))
    regressions = find_regressions(slice_of({"a": "rus"}), baseline, bad=bad_labels("hallucination"))
    assert told(regressions) == [("a", "a says thing 0.", "supported", "refuted")]


def test_a_refuted_claim_that_is_only_unsupported_now_did_not_turn(tmp_path):
    assert find_regressions(slice_of({"a": "us"}), stored(tmp_path, slice_of({"a": "rs"}))) == []


@pytest.mark.parametrize(
    ("metric", "labels"),
    [("faithfulness", ("refuted", "unsupported")), ("unsupported", ("unsupported",)), ("recall@k", None)],
)
def test_the_verdicts_that_worsen_a_metric(metric, labels):
    assert bad_labels(metric) == labels


def test_mcnemar_counts_the_claims_of_both_runs_that_were_scored(tmp_path):
    baseline = stored(tmp_path, slice_of({"a": "ssssss?s", "b": "rs"}))
    now = report_of(
        [case("a", "rrrrsr?s"), case("b", "sr", texts=["b  says thing 0.", "b says something else."])]
    )
    test = mcnemar(now, baseline, bad=("refuted",))
    # 7 claims of a and one of b in both; 5 worse, 1 better: P(5 or more of 6) = 7/64
    assert (test.matched, test.worse, test.better) == (8, 5, 1)
    assert test.p == pytest.approx(7 / 64)


def test_mcnemar_without_a_claim_that_turned_shows_nothing(tmp_path):
    report = slice_of({"a": "sr"})
    assert mcnemar(report, stored(tmp_path, report), bad=("refuted",)).p == 1.0


def test_a_text_that_stands_twice_is_matched_in_order(tmp_path):
    texts = ["The same.", "The same."]
    baseline = stored(tmp_path, report_of([case("a", "sr", texts=texts)]))
    assert find_regressions(report_of([case("a", "sr", texts=texts)]), baseline) == []
    assert told(find_regressions(report_of([case("a", "rr", texts=texts)]), baseline)) == [
        ("a", "The same.", "supported", "refuted")
    ]


@pytest.mark.parametrize(
    ("now", "same"),
    [
        ({"a": "sr", "b": "s"}, True),
        ({"a": "sr"}, True),
        ({"a": "ss", "b": "s"}, False),
        ({"a": "s", "b": "s"}, False),
    ],
)
def test_same_claims(tmp_path, now, same):
    assert same_claims(slice_of(now), stored(tmp_path, slice_of({"a": "sr", "b": "s"}))) is same


def test_another_wording_is_another_claim(tmp_path):
    baseline = stored(tmp_path, report_of([case("a", "s", texts=["Iron is stored."])]))
    assert same_claims(report_of([case("a", "s", texts=["Iron  is\nstored."])]), baseline)
    assert not same_claims(report_of([case("a", "s", texts=["Iron is lost."])]), baseline)


class TestClaimsInOtherWords:
    BEFORE = (
        "Letrozole is started at 2.5 mg once a day for five days.",
        "Metformin lowers insulin levels in women with PCOS.",
    )
    WRONG = "Letrozole is started at 25 mg once a day for five days."

    def test_a_claim_with_another_dose_has_its_predecessor(self, tmp_path):
        baseline = stored(tmp_path, report_of([case("a", "ss", texts=list(self.BEFORE))]))
        now = report_of([case("a", "rs", texts=[self.WRONG, self.BEFORE[1]])])
        (regression,) = find_regressions(now, baseline)
        assert (regression.before, regression.text_before) == ("supported", self.BEFORE[0])
        test = mcnemar(now, baseline, bad=("refuted",))
        assert (test.matched, test.reworded, test.worse, test.new_bad) == (2, 1, 1, 0)

    def test_a_bad_claim_that_stays_bad_in_other_words_did_not_turn(self, tmp_path):
        baseline = stored(tmp_path, report_of([case("a", "r", texts=[self.BEFORE[0]])]))
        assert find_regressions(report_of([case("a", "r", texts=[self.WRONG])]), baseline) == []

    def test_another_statement_is_no_successor(self, tmp_path):
        baseline = stored(tmp_path, report_of([case("a", "s", texts=[self.BEFORE[1]])]))
        (regression,) = find_regressions(report_of([case("a", "r", texts=[self.WRONG])]), baseline)
        assert (regression.before, regression.text_before) == (None, None)
        assert (
            mcnemar(report_of([case("a", "r", texts=[self.WRONG])]), baseline, bad=("refuted",)).new_bad == 1
        )

    def test_the_likest_are_paired_and_equal_texts_first(self, tmp_path):
        texts = ["Take 1 tablet in the morning with food.", "Take 2 tablets in the evening with food."]
        baseline = stored(tmp_path, report_of([case("a", "su", texts=texts)]))
        now = report_of(
            [case("a", "rss", texts=["Take 3 tablets in the evening with food.", texts[0], "Drink water."])]
        )
        assert told(find_regressions(now, baseline)) == [
            ("a", "Take 3 tablets in the evening with food.", "unsupported", "refuted")
        ]

    def test_a_predecessor_has_one_successor(self, tmp_path):
        baseline = stored(tmp_path, report_of([case("a", "s", texts=[self.BEFORE[0]])]))
        regressions = find_regressions(
            report_of([case("a", "rr", texts=[self.WRONG, self.WRONG.replace("25", "50")])]), baseline
        )
        assert sorted(one.before or "new" for one in regressions) == ["new", "supported"]

    def test_nor_is_it_sought_in_another_case(self, tmp_path):
        baseline = stored(tmp_path, report_of([case("a", "s", texts=[self.BEFORE[0]]), case("b", "s")]))
        now = report_of([case("a", "s"), case("b", "r", texts=[self.WRONG])])
        assert [one.before for one in find_regressions(now, baseline)] == [None]
