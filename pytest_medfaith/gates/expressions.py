"""Gate expressions: `hallucination <= 0.05`, `faithfulness >= 0.8 at 95%`, `hallucination no worse than baseline by 0.02`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NoReturn

from pytest_medfaith import defaults
from pytest_medfaith.errors import DataError, MissingBaseline
from pytest_medfaith.gates.comparison import Comparison, compare_metrics, judge_comparison
from pytest_medfaith.gates.completeness import implied_gate, unless_incomplete
from pytest_medfaith.gates.entry import UPDATE, SliceBaseline
from pytest_medfaith.gates.paired import Outcome, cases_beyond, holm
from pytest_medfaith.metrics.aggregate import aggregate
from pytest_medfaith.metrics.audit import AUDIT_METRICS
from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.registry import METRICS, parse_metric
from pytest_medfaith.records import GateResult, MetricValue, SliceReport

Inconclusive = Literal["warn", "fail", "pass"]
# An unchanged system is inconclusive on a small slice in most runs. To stop those runs would teach people to ignore the gate, to hide
# them would let a slice that can show nothing look like one that shows no harm.
INCONCLUSIVE: Inconclusive = "warn"
_SHAPES = "METRIC <= NUMBER, METRIC >= NUMBER (at 95%), or METRIC no worse than baseline (by NUMBER)"
_TAIL = 0.025  # of a 95 % interval
_FEWEST_CASES = 10  # below, a percentile bootstrap of a share covers far less than it says
_LONGEST_TIME = 86_400_000.0  # ms, a day: a bound on a time above it bounds nothing
_DECIMALS = 10  # 5% is 0.05, not 0.05000000000000001


@dataclass(frozen=True, kw_only=True)
class BoundGate:
    """`metric` must be at least, or at most, `bound`; where `sure`, the far end of its 95 % interval must be."""

    expression: str
    metric: str
    at_least: bool
    bound: float
    sure: bool = False


@dataclass(frozen=True, kw_only=True)
class BaselineGate:
    """`metric` must be no worse than in the baseline by more than `margin`, in its own unit (share, ms), 0 or more."""

    expression: str
    metric: str
    margin: float = 0.0


Gate = BoundGate | BaselineGate


@dataclass
class _Scanner:
    """Reads an expression from left to right, and knows the place where it stopped."""

    text: str
    place: int = 0

    def take(self, pattern: str) -> re.Match[str] | None:
        """Returns the match at the next word, and goes behind it; None where it does not match."""
        self.place = len(self.text) - len(self.text[self.place :].lstrip())
        match = re.compile(pattern).match(self.text, self.place)
        if match:
            self.place = match.end()
        return match

    def expect(self, pattern: str, expected: str) -> re.Match[str]:
        """Returns the match at the next word.

        Raises:
            ValueError: it does not match; the message points there.
        """
        match = self.take(pattern)
        if match is None:
            self.refuse(
                f"expected {expected}; a gate is {_SHAPES}, for example: hallucination <= 0.05", at=self.place
            )
        return match

    def refuse(self, why: str, *, at: int) -> NoReturn:
        """Raises the ValueError that points at the character `at`."""
        raise ValueError(f"this gate does not parse:\n  {self.text}\n  {' ' * at}^\n{why}")


def parse_gate(expression: str, declared: Mapping[str, Metric] = METRICS) -> Gate:
    """Returns the gate that `expression` writes.

    NUMBER is a share such as 0.05 or 5%, or for a latency milliseconds such as 200, 200ms or 0.2s.

    Args:
        expression: the gate as a user writes it.
        declared: the metrics by name, see `parse_metric`.

    Raises:
        ValueError: it does not parse; the message points at the place and says what would.
    """
    scanner = _Scanner(expression)
    word = scanner.expect(r"[^\s<>=]+", "the name of a metric")
    try:
        metric = parse_metric(word[0], declared)
    except ValueError as error:
        scanner.refuse(str(error), at=word.start())
    gate = _baseline_gate(scanner, metric) if scanner.take(r"no\b") else _bound_gate(scanner, metric)
    scanner.expect(r"$", "the end, or 'at 95%' behind a bound" if isinstance(gate, BoundGate) else "the end")
    return gate


def _bound_gate(scanner: _Scanner, metric: Metric) -> BoundGate:
    sign = scanner.expect(r"(<=|>=)(?![<>=])", "<=, >= or 'no worse than baseline'")
    place, bound = _number(scanner, metric)
    at_least = sign[0] == ">="
    _check_bound(scanner, metric, bound, at=place)
    if not metric.either_way and at_least != (metric.direction == "higher"):
        right = "<=" if at_least else ">="
        scanner.refuse(
            f"{metric.direction} {metric.name} is better, so this gate points the wrong way; expected {metric.name} {right} NUMBER",
            at=sign.start(),
        )
    if bound == metric.range[0 if at_least else 1]:
        scanner.refuse(
            f"no value of {metric.name} fails this gate, so it says nothing; expected a bound that a value can miss",
            at=place,
        )
    sure = scanner.take(r"at\b") is not None
    if sure:
        scanner.expect(r"95\s*%", "95%, the level of the intervals")
    return BoundGate(
        expression=scanner.text.strip(), metric=metric.name, at_least=at_least, bound=bound, sure=sure
    )


def _check_bound(scanner: _Scanner, metric: Metric, bound: float, *, at: int) -> None:
    """Refuses a bound that no value can have."""
    low, high = metric.range
    if not low <= bound <= high or math.isinf(bound):
        scanner.refuse(f"{metric.name} ranges from {low:g} to {high:g}, so this bound says nothing", at=at)
    if metric.family == "latency" and bound > _LONGEST_TIME:
        scanner.refuse(f"{bound:g} ms are more than a day, so this bound says nothing", at=at)


def _baseline_gate(scanner: _Scanner, metric: Metric) -> BaselineGate:
    if metric.family == "audit":
        scanner.refuse(
            f"{metric.name} has no cases to pair with a baseline's; expected a bound, such as {metric.name} >= 0.9",
            at=0,
        )
    for word in ("worse", "than", "baseline"):
        scanner.expect(rf"{word}\b", f"{word!r}, as in 'no worse than baseline'")
    margin = 0.0
    if scanner.take(r"by\b"):
        place, margin = _number(scanner, metric)
        if margin >= metric.range[1] - metric.range[0]:
            scanner.refuse(
                f"{metric.name} ranges from {metric.range[0]:g} to {metric.range[1]:g}, so this allows everything",
                at=place,
            )
        _check_bound(scanner, metric, margin + metric.range[0], at=place)
    return BaselineGate(expression=scanner.text.strip(), metric=metric.name, margin=margin)


def _number(scanner: _Scanner, metric: Metric) -> tuple[int, float]:
    """Returns the place of the next number and what it says in the metric's unit."""
    is_time = metric.family == "latency"
    digits = scanner.expect(
        r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?(?![0-9.])",
        "a time such as 200ms" if is_time else "a number such as 0.05 or 5%",
    )
    unit = scanner.take(r"%|ms\b|s\b")
    scale = {"ms": 1.0, "s": 1000.0} if is_time else {"%": 0.01}
    if unit and unit[0] not in scale:
        scanner.refuse(
            f"{metric.name} is {'a time, in ms or s' if is_time else 'a share, such as 0.05 or 5%'}",
            at=unit.start(),
        )
    return digits.start(), round(float(digits[0]) * scale[unit[0]], _DECIMALS) if unit else float(digits[0])


def judge_gates(
    expressions: Sequence[str],
    report: SliceReport,
    *,
    declared: Mapping[str, Metric] = METRICS,
    baseline: SliceBaseline | None = None,
    seed: int = defaults.SEED,
) -> SliceReport:
    """Returns `report` with the results of all gate `expressions`, in their order.

    Where several metrics are compared with the baseline their p values are Holm-corrected; two gates on one metric are one look at it.
    A slice that answers nothing fails by a gate that stands in every slice (`completeness.implied_gate`).

    Args:
        expressions: as `parse_gate` reads them.
        report: of the slice.
        declared: the metrics by name, see `parse_metric`.
        baseline: the slice's entry, see `matching.slice_baseline`; needed where `compared_metrics` names any.
        seed: of resamples.

    Raises:
        ValueError: an expression does not parse.
        MissingBaseline: a gate needs a baseline and there is none, or it lacks the metric.
        DataError: a metric of `report` is NaN or infinite.
    """
    gates = [parse_gate(expression, declared) for expression in expressions]
    compared = _compare(compared_metrics(gates), report, baseline, declared=declared, seed=seed)
    p_values = holm({name: comparison.p for name, comparison in compared.items()})
    allowed = unscored_allowed(gates)
    results = [
        judge_bound(gate, report, declared=declared, seed=seed, unscored_at_most=allowed)
        if isinstance(gate, BoundGate)
        else _judge_against(gate, report, compared, p_values, declared=declared, unscored_at_most=allowed)
        for gate in gates
    ]
    if not any(isinstance(gate, BoundGate) and gate.metric == "abstention" for gate in gates):
        implied = implied_gate(report, has_gates=bool(gates))
        results += [implied] if implied else []
    return report.with_(gates=tuple(results))


def unscored_allowed(gates: Iterable[Gate]) -> float:
    """Returns the share of claims that may be unscored: what the strictest gate on it says, 0 without such a gate."""
    return min(
        (gate.bound for gate in gates if isinstance(gate, BoundGate) and gate.metric == "unscored"),
        default=0.0,
    )


def asks_for_audit(gates: Iterable[str], declared: Mapping[str, Metric] = METRICS) -> bool:
    """Returns whether one of the gate expressions reads what only an audit measures."""
    return any(parse_gate(gate, declared).metric in AUDIT_METRICS for gate in gates)


def compared_metrics(gates: Iterable[Gate]) -> set[str]:
    """Returns the names of the metrics that `gates` compare with the baseline."""
    return {gate.metric for gate in gates if isinstance(gate, BaselineGate)}


def stops_run(result: GateResult, *, inconclusive: Inconclusive = INCONCLUSIVE) -> bool:
    """Returns whether a gate's `result` fails the run: a failure does, and an inconclusive one where `inconclusive` is "fail"."""
    return result.outcome == "fail" or (result.outcome == "inconclusive" and inconclusive == "fail")


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
            f"a gate compares {', '.join(sorted(names))} of slice {report.slice!r} with a baseline, and there is none; write one with "
            f"pytest {UPDATE}, or name one with --medfaith-baseline FILE"
        )
    return compare_metrics(names, report, baseline, declared=declared, seed=seed)


def _judge_against(
    gate: BaselineGate,
    report: SliceReport,
    compared: Mapping[str, Comparison],
    p_values: Mapping[str, float],
    *,
    declared: Mapping[str, Metric],
    unscored_at_most: float,
) -> GateResult:
    metric = parse_metric(gate.metric, declared)
    if gate.metric not in compared:
        return _unmeasured(gate, metric)
    comparison = compared[gate.metric]
    result = judge_comparison(
        comparison,
        expression=gate.expression,
        margin=gate.margin,
        p=p_values[gate.metric],
        tests=len(compared),
    )
    return unless_incomplete(result, metric, report, unscored_at_most=unscored_at_most)


def judge_bound(
    gate: BoundGate,
    report: SliceReport,
    *,
    declared: Mapping[str, Metric] = METRICS,
    seed: int = defaults.SEED,
    unscored_at_most: float = 0.0,
) -> GateResult:
    """Returns whether `report` passes `gate`. A metric that has no value, or a slice cut short, never passes.

    Nor does a slice with a failed case, nor one with more unscored claims than the share `unscored_at_most`.

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
                f"{gate.metric} of slice {report.slice!r} is {measured!r}, expected finite numbers; mend where it is made"
            )
    outcome, why = _bound_outcome(gate, metric, measured)
    interval = (
        ""
        if measured.low is None or measured.high is None
        else f", 95 % interval [{measured.low:.3f}, {measured.high:.3f}]"
    )
    wanted = f"wanted {'at least' if gate.at_least else 'at most'} {gate.bound:g}"
    message = (
        f"{gate.metric} is {measured.value:.3f}{interval} over {measured.n} {_counted(metric)}; {wanted}{why}"
    )
    result = GateResult(expression=gate.expression, outcome=outcome, value=measured.value, message=message)
    return unless_incomplete(result, metric, report, unscored_at_most=unscored_at_most)


def _counted(metric: Metric) -> str:
    """Returns what a metric is a share of: an audit has claims, and no cases."""
    return "claims" if metric.family == "audit" else "cases"


def _unmeasured(gate: Gate, metric: Metric) -> GateResult:
    message = f"{gate.metric} could not be measured on this slice, so nothing says that it passes"
    if metric.family == "latency":
        message += "; a response carries its time as latency_ms, as in Response(answer=..., latency_ms=...)"
    return GateResult(expression=gate.expression, outcome="fail", message=message)


def _bound_outcome(gate: BoundGate, metric: Metric, measured: MetricValue) -> tuple[Outcome, str]:
    """Returns what `gate` answers and, where more cases could change it, how many."""
    value, far = measured.value, measured.low if gate.at_least else measured.high
    if value is None or not _clears(gate, value):
        return "fail", ""
    if not gate.sure:
        return "pass", ""
    if far is None:
        return "inconclusive", "; one case has no interval, expected at least 2"
    if not _clears(gate, far):
        needed = (
            round(measured.n * ((far - value) / (gate.bound - value)) ** 2) if value != gate.bound else None
        )
        return (
            "fail",
            f" for sure; if the value stays, about {needed} {_counted(metric)} would show it"
            if needed
            else " for sure",
        )
    alike = measured.low == measured.high
    needed = _fewest_cases(gate, metric, value, alike=alike)
    if needed is None or measured.n < needed:
        why = "all cases came out alike, which shows" if alike else "so few cases show"
        return (
            "inconclusive",
            f" for sure; {why} nothing below {needed or 'any number of'} {_counted(metric)}",
        )
    return "pass", ""


def _clears(gate: BoundGate, value: float) -> bool:
    return value >= gate.bound if gate.at_least else value <= gate.bound


def _fewest_cases(gate: BoundGate, metric: Metric, value: float, *, alike: bool) -> int | None:
    """Returns below how many cases an interval that clears the bound still shows nothing, None where no number is enough.

    A percentile bootstrap never leaves the range of the values seen. So a quantile is bounded only by cases enough that one beyond it
    would have been among them (1 - q^n), and a share by ten at least. Audits, counted in claims, have Wilson's intervals, which know.
    """
    if metric.quantile is not None:
        return cases_beyond(1 - metric.quantile if gate.at_least else metric.quantile, tail=_TAIL)
    if alike:
        return _cases_without_spread(gate, metric, value)
    return 0 if _counted(metric) == "claims" else _FEWEST_CASES


def _cases_without_spread(gate: BoundGate, metric: Metric, value: float) -> int | None:
    """Returns how many cases that all came out alike rule out a value beyond the bound, None where none do.

    The bootstrap has no interval there. What could spoil the value unseen is a kind of case that misses the metric by its whole range;
    a share `gap` of such cases escapes n draws with probability (1 - gap)^n (Hanley & Lippman-Hand 1983, JAMA 249(13)).
    """
    low, high = metric.range
    gap = abs(value - gate.bound) / (high - low)
    if gap == 0:
        return 0 if math.isinf(high - low) else None
    return 1 if gap == 1 else math.ceil(math.log(_TAIL) / math.log1p(-gap))
