"""Gates that compare a corrected rate with the baseline's."""

import numpy as np
import pytest
from unit.gate_samples import RUN, SIGNATURE, slice_of

from pytest_medfaith.errors import MissingBaseline
from pytest_medfaith.gates.baseline import read_baseline, write_baseline
from pytest_medfaith.gates.corrected import corrected_difference
from pytest_medfaith.gates.judging import judge_gates
from pytest_medfaith.gates.matching import slice_baseline
from pytest_medfaith.labels.correction import Labelled, stratified_rate
from pytest_medfaith.records import MetricValue

NAME = "hallucination.corrected"
CASES = {f"c{i}": "ssrs" for i in range(10)}
OTHERS = {f"c{i}": "sssr" for i in range(10)}


def rate(value, low, high, *, n=120, name=NAME):
    return MetricValue(name=name, value=value, low=low, high=high, n=n)


def with_rate(cases, found):
    report = slice_of(cases)
    return report.with_(metrics={**report.metrics, found.name: found})


def judged(tmp_path, gate, *, before, after, cases=OTHERS):
    path = tmp_path / "baseline.json"
    write_baseline(path, [with_rate(CASES, before)], signature=SIGNATURE)
    entry = slice_baseline(read_baseline(path), RUN, signature=SIGNATURE, case_ids=CASES)
    return judge_gates([gate], with_rate(cases, after), baseline=entry).gates[0]


GATE = f"{NAME} no worse than baseline by 0.02"


def test_a_worsening_that_is_ruled_out_passes(tmp_path):
    found = judged(tmp_path, GATE, before=rate(0.05, 0.045, 0.056), after=rate(0.05, 0.044, 0.057))
    assert found.outcome == "pass"
    assert (
        "is 0.050 [0.044, 0.057] over 120 labels, was 0.050 [0.045, 0.056] over 120 labels" in found.message
    )
    assert "a worsening above 0.020 is ruled out" in found.message


def test_a_worsening_that_is_shown_fails(tmp_path):
    found = judged(tmp_path, GATE, before=rate(0.03, 0.02, 0.04), after=rate(0.09, 0.07, 0.11))
    assert found.outcome == "fail"
    assert "worse by 0.060 (worsening within [0.038, 0.082]" in found.message


def test_few_labels_are_inconclusive_and_say_how_many_are_needed(tmp_path):
    found = judged(tmp_path, GATE, before=rate(0.05, 0.03, 0.08), after=rate(0.05, 0.03, 0.08))
    assert found.outcome == "inconclusive"
    assert (
        "too few labels to say more: a worsening above 0.020 is not ruled out; about 390 labels of each run"
        in (found.message)
    )


def test_a_rate_for_which_more_is_better_is_turned_round(tmp_path):
    name = "faithfulness.corrected"
    gate = f"{name} no worse than baseline by 0.02"
    worse = judged(
        tmp_path, gate, before=rate(0.9, 0.89, 0.91, name=name), after=rate(0.8, 0.79, 0.81, name=name)
    )
    better = judged(
        tmp_path, gate, before=rate(0.8, 0.79, 0.81, name=name), after=rate(0.9, 0.89, 0.91, name=name)
    )
    assert (worse.outcome, better.outcome) == ("fail", "pass")


def test_the_same_claims_and_verdicts_are_unchanged(tmp_path):
    wide = rate(0.05, 0.01, 0.12)
    same = judged(tmp_path, GATE, before=wide, after=wide, cases=CASES)
    assert (same.outcome, "nothing differs from the baseline" in same.message) == ("pass", True)
    lost = judged(tmp_path, GATE, before=wide, after=rate(0.05, 0.01, 0.12, n=60), cases=CASES)
    assert lost.outcome == "inconclusive"


def test_a_run_without_a_rate_fails(tmp_path):
    found = judged(
        tmp_path, GATE, before=rate(0.05, 0.03, 0.08), after=MetricValue(name=NAME, value=None), cases=CASES
    )
    assert (found.outcome, "could not be measured on this slice" in found.message) == ("fail", True)


def test_a_baseline_without_a_rate_is_an_error(tmp_path):
    with pytest.raises(MissingBaseline, match=f"holds no value of {NAME}; store one"):
        judged(tmp_path, GATE, before=MetricValue(name=NAME, value=None), after=rate(0.05, 0.03, 0.08))


def test_no_baseline_is_an_error():
    with pytest.raises(MissingBaseline, match="there is none"):
        judge_gates([GATE], with_rate(CASES, rate(0.05, 0.03, 0.08)))


def test_unscored_claims_still_fail(tmp_path):
    found = judged(
        tmp_path,
        GATE,
        before=rate(0.05, 0.045, 0.056),
        after=rate(0.05, 0.045, 0.056),
        cases={**OTHERS, "c0": "ss?s"},
    )
    assert (found.outcome, "could not be scored" in found.message) == ("fail", True)


def simulated_rate(rng, share, *, claims=1200, labels=240):
    """Returns the corrected rate of a slice, its checker finding four of five errors."""
    errors = rng.random(claims) < share
    strata = np.where(errors, rng.random(claims) < 0.8, rng.random(claims) < 0.04).astype(int)
    chosen = np.concatenate(
        [
            rng.choice(members, min(len(members), labels // 2), replace=False)
            for members in (np.flatnonzero(strata == 0), np.flatnonzero(strata == 1))
        ]
    )
    found = stratified_rate(
        Labelled(cases=np.arange(claims) // 4, strata=strata, chosen=chosen, truth=errors[chosen])
    )
    return rate(*found)


def test_a_run_that_is_worse_by_the_margin_seldom_passes():
    """At the margin itself at most 2.5 % may pass, and 3 of 80 would be within chance."""
    rng = np.random.default_rng(1)
    highs = [
        corrected_difference(simulated_rate(rng, 0.05), simulated_rate(rng, 0.10), sign=1).high
        for _ in range(80)
    ]
    assert sum(high <= 0.05 for high in highs) <= 4
