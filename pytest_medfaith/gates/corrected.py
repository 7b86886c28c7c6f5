"""Gates that compare a rate corrected by people's labels with that of the baseline.

Such a rate belongs to a slice, so there are no cases to pair. The interval of the difference comes from the
intervals of both rates (MOVER: Zou & Donner 2008, Stat Med 27(10), without a covariance, which makes it
rather too wide: both runs answer the same questions and share labels). It shows a worsening, or rules one
out, at 2.5 % on each side.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from pytest_medfaith.gates.entry import SliceBaseline, require_metrics
from pytest_medfaith.gates.expressions import BaselineGate
from pytest_medfaith.gates.paired import Outcome
from pytest_medfaith.gates.regressions import same_claims
from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.records import GateResult, MetricValue, SliceReport

_DECIMALS = 10  # as the metrics round


class CorrectedDifference(NamedTuple):
    """How much worse a corrected rate is than the baseline's, positive for worse, with its 95 % interval."""

    worse_by: float
    low: float
    high: float


def corrected_difference(
    before: MetricValue, after: MetricValue, *, sign: float
) -> CorrectedDifference | None:
    """Returns the worsening of a rate, None where a run has no value or no interval.

    Args:
        before: of the baseline.
        after: of this run.
        sign: 1 where a lower rate is better, else -1.
    """
    values = [one for rate in (before, after) for one in (rate.value, rate.low, rate.high)]
    if any(one is None for one in values):
        return None
    old, old_low, old_high, new, new_low, new_high = (float(one) for one in values if one is not None)
    below = math.hypot(new - new_low, old_high - old)
    above = math.hypot(new_high - new, old - old_low)
    if sign < 0:
        below, above = above, below
    worse_by = sign * (new - old)
    return CorrectedDifference(
        *(round(one, _DECIMALS) for one in (worse_by, worse_by - below, worse_by + above))
    )


def judge_corrected(
    gate: BaselineGate, metric: Metric, report: SliceReport, baseline: SliceBaseline, *, tolerated: float
) -> GateResult | None:
    """Returns the result of a gate on a corrected rate; None where this run has no such rate.

    It passes where a worsening above `tolerated` is ruled out, or where claims and verdicts are those of the
    baseline and no label was lost. It fails where a worsening is shown and the estimate is above the margin.
    Otherwise it is inconclusive.

    Args:
        gate: on a corrected rate.
        metric: of the gate.
        report: of the slice.
        baseline: its entry.
        tolerated: the worsening that must be ruled out.

    Raises:
        MissingBaseline: the baseline holds no value of the rate.
    """
    require_metrics(baseline, [metric.name])
    before, after = baseline.metrics[metric.name], report.metrics.get(metric.name)
    found = (
        corrected_difference(before, after, sign=1.0 if metric.direction == "lower" else -1.0)
        if after
        else None
    )
    if after is None or found is None:
        return None
    outcome: Outcome = "pass"
    why = "nothing differs from the baseline: the same claims and verdicts"
    said = f"{metric.name} is {_shown(after)}, was {_shown(before)}"
    if not (same_claims(report, baseline) and after.n >= before.n):
        outcome = _outcome(found, margin=gate.margin, tolerated=tolerated)
        why = _why(outcome, found, before, after, margin=gate.margin, tolerated=tolerated)
    return GateResult(
        expression=gate.expression, outcome=outcome, value=after.value, message=f"{said}; {why}"
    )


def _outcome(found: CorrectedDifference, *, margin: float, tolerated: float) -> Outcome:
    if found.low > 0 and found.worse_by > margin:
        return "fail"
    return "pass" if found.high <= tolerated else "inconclusive"


def _why(
    outcome: Outcome,
    found: CorrectedDifference,
    before: MetricValue,
    after: MetricValue,
    *,
    margin: float,
    tolerated: float,
) -> str:
    """Returns in words why a comparison came to `outcome`: the change, its interval, what is allowed."""
    change = "better" if found.worse_by < 0 else "worse"
    allowed = f"{margin:.3f} is allowed" if margin else "no worsening is allowed"
    said = (
        f"{change} by {abs(found.worse_by):.3f} (worsening within [{found.low:.3f}, {found.high:.3f}], 95 % "
        f"interval of both runs' labels and cases); {allowed}"
    )
    if outcome == "fail":
        return f"{said}, and chance does not explain this worsening"
    if outcome == "pass":
        return f"{said}; a worsening above {tolerated:.3f} is ruled out"
    needed = _labels_needed(found, max(before.n, after.n), tolerated=tolerated)
    more = (
        f"about {needed} labels of each run would settle it, if the difference stays"
        if needed
        else "no number of labels can be named that would settle it"
    )
    return f"{said}; too few labels to say more: a worsening above {tolerated:.3f} is not ruled out; {more}"


def _labels_needed(found: CorrectedDifference, labels: int, *, tolerated: float) -> int | None:
    """Returns how many labels of each run would settle an inconclusive gate; None for no number.

    Widths fall with the square root of the number of labels.
    """
    if found.worse_by < tolerated:
        ratio = (found.high - found.worse_by) / (tolerated - found.worse_by)
    elif found.worse_by > tolerated:
        ratio = (found.worse_by - found.low) / found.worse_by
    else:
        return None
    return max(labels + 1, math.ceil(round(labels * ratio**2, 3)))


def _shown(rate: MetricValue) -> str:
    return f"{rate.value:.3f} [{rate.low:.3f}, {rate.high:.3f}] over {rate.n} labels"
