"""Gate expressions such as `faithfulness >= 0.8 at 95%` or `hallucination no worse than baseline by 0.02`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NoReturn

from pytest_medfaith.metrics.audit import AUDIT_METRICS
from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.registry import METRICS, parse_metric

_SHAPES = "METRIC <= NUMBER, METRIC >= NUMBER (at 95%), or METRIC no worse than baseline (by NUMBER)"
_LONGEST_TIME = 86_400_000.0  # ms, a day: a bound above it bounds nothing
_DECIMALS = 10  # 5% is 0.05, not 0.05000000000000001


@dataclass(frozen=True, kw_only=True)
class BoundGate:
    """A bound: `metric` must be at least (`at_least`), or at most (not `at_least`), `bound`, which passes.

    With `sure` ("at 95%") not its value but the far end of its 95 % interval must be. `expression` is what
    the user wrote, such as "faithfulness >= 0.9".
    """

    expression: str
    metric: str
    at_least: bool
    bound: float
    sure: bool = False


@dataclass(frozen=True, kw_only=True)
class BaselineGate:
    """`metric` must not be worse than the baseline by more than `margin`, 0 or more, in its unit."""

    expression: str
    metric: str
    margin: float = 0.0


Gate = BoundGate | BaselineGate


@dataclass
class _Scanner:
    """Reads an expression from left to right; `place` is where it stopped."""

    text: str
    place: int = 0

    def take(self, pattern: str) -> re.Match[str] | None:
        """Returns the match of `pattern` at the next word and moves behind it; None for no match."""
        self.place = len(self.text) - len(self.text[self.place :].lstrip())
        match = re.compile(pattern).match(self.text, self.place)
        if match:
            self.place = match.end()
        return match

    def expect(self, pattern: str, expected: str) -> re.Match[str]:
        """Returns the match at the next word.

        Raises:
            ValueError: the word does not match; the message points at it.
        """
        match = self.take(pattern)
        if match is None:
            example = "for example: hallucination <= 0.05"
            self.refuse(f"expected {expected}; a gate is {_SHAPES}, {example}", at=self.place)
        return match

    def refuse(self, why: str, *, at: int) -> NoReturn:
        """Raises the ValueError that points at the character `at`."""
        raise ValueError(f"this gate does not parse:\n  {self.text}\n  {' ' * at}^\n{why}")


def parse_gate(expression: str, declared: Mapping[str, Metric] = METRICS) -> Gate:
    """Returns the gate that `expression` writes.

    The forms are "METRIC <= NUMBER", "METRIC >= NUMBER", both perhaps with "at 95%" behind, and "METRIC no
    worse than baseline", perhaps with "by NUMBER" behind.

    NUMBER is a share such as 0.05 or 5%, or for a latency milliseconds such as 200, 200ms or 0.2s.

    Args:
        expression: the gate as a user writes it.
        declared: the metrics by name, see `parse_metric`.

    Raises:
        ValueError: `expression` does not parse; the message points at the place and says what would parse.
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
        right = f"{metric.name} {'<=' if at_least else '>='} NUMBER"
        better = f"{metric.direction} {metric.name} is better"
        scanner.refuse(f"{better}, so this gate points the wrong way; expected {right}", at=sign.start())
    if bound == metric.range[0 if at_least else 1]:
        scanner.refuse(
            f"no value of {metric.name} fails this gate, so it says nothing; "
            "expected a bound that a value can miss",
            at=place,
        )
    sure = scanner.take(r"at\b") is not None
    if sure:
        scanner.expect(r"95\s*%", "95%, the level of the intervals")
    return BoundGate(
        expression=scanner.text.strip(), metric=metric.name, at_least=at_least, bound=bound, sure=sure
    )


def _check_bound(scanner: _Scanner, metric: Metric, bound: float, *, at: int) -> None:
    """Refuses a bound outside the range of the metric, such as faithfulness >= 2."""
    low, high = metric.range
    if not low <= bound <= high or math.isinf(bound):
        scanner.refuse(f"{metric.name} ranges from {low:g} to {high:g}, so this bound says nothing", at=at)
    if metric.family == "latency" and bound > _LONGEST_TIME:
        scanner.refuse(f"{bound:g} ms are more than a day, so this bound says nothing", at=at)


def _baseline_gate(scanner: _Scanner, metric: Metric) -> BaselineGate:
    if metric.family == "audit":
        scanner.refuse(
            f"{metric.name} has no cases to pair with a baseline's; "
            f"expected a bound, such as {metric.name} >= 0.9",
            at=0,
        )
    for word in ("worse", "than", "baseline"):
        scanner.expect(rf"{word}\b", f"{word!r}, as in 'no worse than baseline'")
    margin = 0.0
    if scanner.take(r"by\b"):
        place, margin = _number(scanner, metric)
        low, high = metric.range
        if margin >= high - low:
            allows = f"{metric.name} ranges from {low:g} to {high:g}, so this allows everything"
            scanner.refuse(allows, at=place)
        _check_bound(scanner, metric, margin + low, at=place)
    return BaselineGate(expression=scanner.text.strip(), metric=metric.name, margin=margin)


def _number(scanner: _Scanner, metric: Metric) -> tuple[int, float]:
    """Returns the place of the next number and its value in the unit of the metric."""
    is_time = metric.family == "latency"
    digits = scanner.expect(
        r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?(?![0-9.])",
        "a time such as 200ms" if is_time else "a number such as 0.05 or 5%",
    )
    unit = scanner.take(r"%|ms\b|s\b")
    scale = {"ms": 1.0, "s": 1000.0} if is_time else {"%": 0.01}
    if unit and unit[0] not in scale:
        expected = "a time, in ms or s" if is_time else "a share, such as 0.05 or 5%"
        scanner.refuse(f"{metric.name} is {expected}", at=unit.start())
    return digits.start(), round(float(digits[0]) * scale[unit[0]], _DECIMALS) if unit else float(digits[0])


def compared_metrics(gates: Iterable[Gate]) -> set[str]:
    """Returns the names of the metrics that `gates` compare with the baseline."""
    return {gate.metric for gate in gates if isinstance(gate, BaselineGate)}


def unscored_allowed(gates: Iterable[Gate]) -> float:
    """Returns the share of claims that may be unscored: of `unscored <= X` the smallest X, else 0."""
    return _strictest(gates, "unscored")


def uncertain_allowed(gates: Iterable[Gate]) -> float:
    """Returns the share of claims that may be uncertain: of `uncertain <= X` the smallest X, else 0."""
    return _strictest(gates, "uncertain")


def _strictest(gates: Iterable[Gate], metric: str) -> float:
    return min(
        (gate.bound for gate in gates if isinstance(gate, BoundGate) and gate.metric == metric), default=0.0
    )


def gates_without_answer(gates: Iterable[str], declared: Mapping[str, Metric] = METRICS) -> tuple[str, ...]:
    """Returns the gates that need no answer: those on what a retriever found, such as `recall@10 >= 0.8`."""
    return tuple(
        gate for gate in gates if not parse_metric(parse_gate(gate, declared).metric, declared).needs_answer
    )


def asks_for_audit(gates: Iterable[str], declared: Mapping[str, Metric] = METRICS) -> bool:
    """Returns whether any gate is on a metric that only an audit measures, such as `audit.recall`."""
    return any(parse_gate(gate, declared).metric in AUDIT_METRICS for gate in gates)
