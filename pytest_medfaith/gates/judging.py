"""How a gate is judged, and which results stop a run.

`judge_gates` gives each gate of a slice one of three outcomes.

* A bound, `hallucination <= 0.05`, passes or fails by the value. With `at 95%` the far end of the 95 %
  interval must clear the bound, and the gate is inconclusive where so few cases show nothing (`judge_bound`).
* A comparison, `hallucination no worse than baseline by M`, fails where a worsening is shown (p <= 0.05,
  Holm-corrected) and the best estimate of it is above M. It passes where a worsening above M is ruled out, as
  a non-inferiority trial does (Piaggio et al. 2012, JAMA 308(24)). Everything else is inconclusive
  (`judge_comparison`). So a gate that stops a run on failures alone stops at most one unchanged run in 20. A
  gate that stops it on inconclusive results too lets about one in 20 through that is worse by M. Without M
  nothing can be ruled out for certain, and `UNSTATED_MARGIN` takes its place.
* A comparison of a corrected rate has no cases to pair: the intervals of both rates decide (`corrected`).
* What was not measured whole fails: missing or failed cases, unscored claims, uncertain claims that no
  gate allows, a slice of refusals (`completeness`).
* Uncertain claims are in no average. A gate passes only where it passes with them as they lean, too, so that
  no claim turns a gate green by leaving the average (`leaning`).

`stops_run` says which results stop the run. `run.finish` adds what else makes a run fail, and decides the
exit status.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal

from pytest_medfaith import defaults
from pytest_medfaith.errors import DataError, MissingBaseline
from pytest_medfaith.gates.comparison import (
    Comparison,
    compare_metrics,
    describe_comparison,
    shown_cases,
    shown_value,
)
from pytest_medfaith.gates.completeness import implied_gate, unless_incomplete
from pytest_medfaith.gates.corrected import judge_corrected
from pytest_medfaith.gates.entry import UPDATE, SliceBaseline
from pytest_medfaith.gates.expressions import (
    BaselineGate,
    BoundGate,
    Gate,
    compared_metrics,
    parse_gate,
    uncertain_allowed,
    unscored_allowed,
)
from pytest_medfaith.gates.leaning import as_strict, has_uncertain, leaning_report
from pytest_medfaith.gates.paired import ALPHA, Outcome, cases_beyond, cases_to_settle, decide, holm
from pytest_medfaith.metrics.aggregate import aggregate
from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.registry import METRICS, parse_metric
from pytest_medfaith.records import GateResult, MetricValue, SliceReport

Inconclusive = Literal["warn", "fail", "pass"]
# An unchanged system is inconclusive on a small slice in most runs. To stop those runs would teach people to
# ignore the gate. To hide them would let a slice that can show nothing look like a slice that shows no harm.
INCONCLUSIVE: Inconclusive = "warn"
# A gate without "by M" passes where a worsening by this share of the range of the metric (of the value
# before, where the range has no end) is ruled out: hallucination from 4 % to 9 % is the change that the gates
# of this project must not miss.
UNSTATED_MARGIN = 0.05
_TAIL = 0.025  # of a 95 % interval
_FEWEST_CASES = 10  # below, a percentile bootstrap of a share covers far less than it says
_DECIMALS = 10  # as the metrics round


def judge_gates(
    expressions: Sequence[str],
    report: SliceReport,
    *,
    declared: Mapping[str, Metric] = METRICS,
    baseline: SliceBaseline | None = None,
    seed: int = defaults.SEED,
) -> SliceReport:
    """Returns `report` with the results of all gate `expressions`, in their order.

    Where several metrics are compared with the baseline, their p values are Holm-corrected; two gates on a
    metric are a single look at it. A slice that answers nothing fails by a gate that every slice has
    (`completeness.implied_gate`).

    Args:
        expressions: as `parse_gate` reads them.
        report: of the slice.
        declared: the metrics by name, see `parse_metric`.
        baseline: the entry of the slice, see `matching.slice_baseline`; needed where `compared_metrics` names
            any.
        seed: of resamples.

    Raises:
        ValueError: an expression does not parse.
        MissingBaseline: a gate needs a baseline and there is none, or it lacks the metric.
        DataError: a metric of `report` is NaN or infinite.
    """
    gates = [parse_gate(expression, declared) for expression in expressions]
    judge = partial(_results, gates, baseline=baseline, declared=declared, seed=seed)
    results = judge(report)
    if has_uncertain(report):
        leaning = judge(leaning_report(report, declared))
        results = [as_strict(*pair) for pair in zip(results, leaning, strict=True)]
    if not any(isinstance(gate, BoundGate) and gate.metric == "abstention" for gate in gates):
        implied = implied_gate(report, has_gates=bool(gates))
        results += [implied] if implied else []
    return report.with_(gates=tuple(results))


def _results(
    gates: Sequence[Gate],
    report: SliceReport,
    *,
    baseline: SliceBaseline | None,
    declared: Mapping[str, Metric],
    seed: int,
) -> list[GateResult]:
    """Returns the result of each gate, in order, with completeness of the slice taken into account."""
    compared = _compare(compared_metrics(gates), report, baseline, declared=declared, seed=seed)
    p_values = holm({name: comparison.p for name, comparison in compared.items()})
    allowed = {
        "unscored_at_most": unscored_allowed(gates),
        "uncertain_at_most": uncertain_allowed(gates),
    }
    results = []
    for gate in gates:
        if isinstance(gate, BoundGate):
            result = judge_bound(gate, report, declared=declared, seed=seed, **allowed)
        else:
            metric = parse_metric(gate.metric, declared)
            if metric.family == "corrected" and baseline is not None:
                result = _judge_corrected_gate(gate, metric, report, baseline)
            else:
                result = _judge_baseline_gate(gate, metric, compared, p_values)
            result = unless_incomplete(result, metric, report, **allowed)
        results.append(result)
    return results


def stops_run(result: GateResult, *, inconclusive: Inconclusive = INCONCLUSIVE) -> bool:
    """Returns whether a result fails the run: "fail" always, "inconclusive" where the setting says "fail"."""
    return result.outcome == "fail" or (result.outcome == "inconclusive" and inconclusive == "fail")


def judge_bound(
    gate: BoundGate,
    report: SliceReport,
    *,
    declared: Mapping[str, Metric] = METRICS,
    seed: int = defaults.SEED,
    unscored_at_most: float = 0.0,
    uncertain_at_most: float = 0.0,
) -> GateResult:
    """Returns the result of a bound on `report`.

    A metric without a value never passes, nor does a slice with a case that is missing or failed, nor a slice
    with more unscored or uncertain claims than the shares `unscored_at_most` and `uncertain_at_most`.

    Raises:
        DataError: the metric is NaN or infinite.
    """
    metric = parse_metric(gate.metric, declared)
    measured = report.metrics.get(gate.metric) or aggregate(metric, report.reports, seed=seed)[0]
    if measured.value is None:
        return _unmeasured(gate, metric)
    for number in (measured.value, measured.low, measured.high):
        if number is not None and not math.isfinite(number):
            raise DataError(
                f"{gate.metric} of slice {report.slice!r} is {measured!r}, expected finite numbers; "
                "mend where it is made"
            )
    outcome, why = _bound_outcome(gate, metric, measured)
    interval = ""
    if measured.low is not None and measured.high is not None:
        interval = f", 95 % interval [{measured.low:.3f}, {measured.high:.3f}]"
    over = f"over {measured.n} {_unit(metric)}"
    wanted = f"wanted {'at least' if gate.at_least else 'at most'} {gate.bound:g}"
    message = f"{gate.metric} is {measured.value:.3f}{interval} {over}; {wanted}{why}"
    result = GateResult(expression=gate.expression, outcome=outcome, value=measured.value, message=message)
    return unless_incomplete(
        result, metric, report, unscored_at_most=unscored_at_most, uncertain_at_most=uncertain_at_most
    )


def _unit(metric: Metric) -> str:
    """Returns what a metric is counted in: an audit has claims and a corrected rate labels, and no cases."""
    return {"audit": "claims", "corrected": "labels"}.get(metric.family, "cases")


def _unmeasured(gate: Gate, metric: Metric) -> GateResult:
    message = f"{gate.metric} could not be measured on this slice, so nothing says that it passes"
    if metric.family == "latency" and metric.needs_answer:
        message += "; a response carries its time as latency_ms, as in Response(answer=..., latency_ms=...)"
    if metric.family == "relevancy":
        message += (
            '; the setting relevancy asks for it: relevancy = "offline", or "teacher" for that of an LLM'
        )
    if metric.family == "corrected":
        message += (
            "; labels of its claims are wanted: medfaith review draws them, the setting labels names them"
        )
    return GateResult(expression=gate.expression, outcome="fail", message=message)


def _bound_outcome(gate: BoundGate, metric: Metric, measured: MetricValue) -> tuple[Outcome, str]:
    """Returns the outcome of a bound, and how many cases would settle it; "" where more change nothing."""
    value, far = measured.value, measured.low if gate.at_least else measured.high
    if value is None or not _clears(gate, value):
        return "fail", ""
    if not gate.sure:
        return "pass", ""
    if far is None:
        return "inconclusive", "; one case has no interval, expected at least 2"
    if not _clears(gate, far):
        why = " for sure"
        if value != gate.bound:
            needed = round(measured.n * ((far - value) / (gate.bound - value)) ** 2)
            why += f"; if the value stays, about {needed} {_unit(metric)} would show it"
        return "fail", why
    alike = measured.low == measured.high
    fewest = _fewest_cases(gate, metric, value, alike=alike)
    if fewest is None or measured.n < fewest:
        why = "all cases came out alike, which shows" if alike else "so few cases show"
        below = f"nothing below {fewest or 'any number of'} {_unit(metric)}"
        return "inconclusive", f" for sure; {why} {below}"
    return "pass", ""


def _clears(gate: BoundGate, value: float) -> bool:
    return value >= gate.bound if gate.at_least else value <= gate.bound


def _fewest_cases(gate: BoundGate, metric: Metric, value: float, *, alike: bool) -> int | None:
    """Returns how many cases an interval that clears the bound needs to show anything, None for any number.

    A percentile bootstrap never leaves the range of the values seen. So a quantile needs so many cases that
    one beyond it would have been among them (1 - q^n), and a share at least ten. Audits, counted in claims,
    have Wilson intervals, which need no such bound; nor do corrected rates, counted in labels.

    Cases that all came out alike give the bootstrap no interval. What could spoil the value unseen is a kind
    of case that misses the metric by its whole range; a share `gap` of such cases escapes n draws with
    probability (1 - gap)^n (Hanley & Lippman-Hand 1983, JAMA 249(13)).
    """
    if metric.quantile is not None:
        return cases_beyond(1 - metric.quantile if gate.at_least else metric.quantile, tail=_TAIL)
    if not alike:
        return _FEWEST_CASES if _unit(metric) == "cases" else 0
    low, high = metric.range
    gap = abs(value - gate.bound) / (high - low)
    if gap == 0:
        return 0 if math.isinf(high - low) else None
    return 1 if gap == 1 else math.ceil(math.log(_TAIL) / math.log1p(-gap))


def _compare(
    names: set[str],
    report: SliceReport,
    baseline: SliceBaseline | None,
    *,
    declared: Mapping[str, Metric],
    seed: int,
) -> dict[str, Comparison]:
    if not names:
        return {}
    if baseline is None:
        raise MissingBaseline(
            f"a gate compares {', '.join(sorted(names))} of slice {report.slice!r} with a baseline, "
            f"and there is none; write one with pytest {UPDATE}, or name one with --medfaith-baseline FILE"
        )
    paired = {name for name in names if parse_metric(name, declared).family != "corrected"}
    return compare_metrics(paired, report, baseline, declared=declared, seed=seed)


def _judge_corrected_gate(
    gate: BaselineGate, metric: Metric, report: SliceReport, baseline: SliceBaseline
) -> GateResult:
    tolerated = gate.margin or UNSTATED_MARGIN
    return judge_corrected(gate, metric, report, baseline, tolerated=tolerated) or _unmeasured(gate, metric)


def _judge_baseline_gate(
    gate: BaselineGate, metric: Metric, compared: Mapping[str, Comparison], p_values: Mapping[str, float]
) -> GateResult:
    if gate.metric not in compared:
        return _unmeasured(gate, metric)
    return judge_comparison(
        compared[gate.metric],
        expression=gate.expression,
        margin=gate.margin,
        p=p_values[gate.metric],
        tests=len(compared),
    )


def judge_comparison(
    comparison: Comparison, *, expression: str, margin: float, p: float, tests: int = 1
) -> GateResult:
    """Returns the result of a gate that compares with the baseline: pass, fail or inconclusive.

    Args:
        comparison: of the metric of the gate.
        expression: as the user wrote it, for the result.
        margin: the worsening that the gate allows, in the unit of the metric, 0 or more.
        p: of the comparison, Holm-corrected where `tests` is above 1.
        tests: how many metrics of this slice are compared with the baseline.
    """
    tolerated = tolerated_worsening(comparison, margin)
    if comparison.unchanged:
        outcome: Outcome = "pass"
        cases = f"{shown_cases(comparison.cases)} with the same claims, verdicts and numbers"
        said = f"nothing differs from the baseline: {cases}"
    else:
        outcome = decide(
            worse_by=comparison.worse_by, high=comparison.high, p=p, margin=margin, tolerated=tolerated
        )
        allowed = f"{shown_value(comparison, margin)} is allowed" if margin else "no worsening is allowed"
        why = _why(outcome, comparison, margin=margin, tolerated=tolerated, alpha=ALPHA / tests)
        said = f"{describe_comparison(comparison, p=p, tests=tests)}; {allowed}{why}"
    after, before = (shown_value(comparison, value) for value in (comparison.after, comparison.before))
    return GateResult(
        expression=expression,
        outcome=outcome,
        value=round(comparison.after, _DECIMALS),
        message=f"{comparison.metric.name} is {after}, was {before}; {said}",
    )


def tolerated_worsening(comparison: Comparison, margin: float) -> float:
    """Returns the worsening that a pass must rule out: `margin`, where that is above 0.

    For a margin of 0 it is a share of the metric's range, or of its value where the range has no end.
    """
    low, high = comparison.metric.range
    return margin or UNSTATED_MARGIN * (high - low if math.isfinite(high - low) else abs(comparison.before))


def _why(outcome: Outcome, comparison: Comparison, *, margin: float, tolerated: float, alpha: float) -> str:
    """Returns why a comparison came to `outcome`, and how many cases would settle an inconclusive one."""
    if outcome == "fail":
        return ", and chance does not explain this one"
    above = f"a worsening above {shown_value(comparison, tolerated)}"
    if outcome == "pass":
        return f"; {above} is ruled out"
    needed = cases_to_settle(
        worse_by=comparison.worse_by,
        spread=comparison.spread,
        margin=margin,
        tolerated=tolerated,
        alpha=alpha,
    )
    settled = "no number of cases can be named that would settle it"
    if needed is not None:
        true = "the one measured" if comparison.worse_by > 0 else "none"
        settled = (
            f"about {max(needed, comparison.cases + 1)} cases like these would settle it in 9 of 10 runs, "
            f"if the true difference is {true}"
        )
    return f"; too few cases to say more: {above} is not ruled out; {settled}"
