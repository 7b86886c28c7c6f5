"""Gate expressions: `faithfulness >= 0.80`, `hallucination <= 0.05`, `faithfulness >= 0.8 at 95%`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_medfaith.metrics.registry import parse_metric
from pytest_medfaith.records import GateResult, MetricValue, SliceReport

_NUMBER = r"[0-9]*\.?[0-9]+"
_BOUND = re.compile(rf"\s*(?P<metric>[^\s<>=]+)\s*(?P<sign><=|>=)\s*(?P<bound>{_NUMBER})(?P<unit>ms|%)?(?P<sure>\s+at\s+95\s*%)?\s*")


@dataclass(frozen=True, kw_only=True)
class Gate:
    """`metric` must be at least, or at most, `bound`; where `sure`, the far end of its 95 % interval must be."""

    expression: str
    metric: str
    at_least: bool
    bound: float
    sure: bool = False


def parse_gate(expression: str) -> Gate:
    """Returns the gate that `expression` writes.

    Raises:
        ValueError: it does not parse; the message points at the place and shows what would.
    """
    match = _BOUND.fullmatch(expression)
    if match is None:
        place = _where_it_stops(expression)
        raise ValueError(
            f"this gate does not parse:\n  {expression}\n  {' ' * place}^\nexpected METRIC >= NUMBER or METRIC <= NUMBER, optionally followed by "
            "'at 95%', for example: hallucination <= 0.05"
        )
    try:
        parse_metric(match["metric"])
    except ValueError as error:
        raise ValueError(f"this gate does not parse:\n  {expression}\n  ^\n{error}") from None
    bound = float(match["bound"]) / (100 if match["unit"] == "%" else 1)
    return Gate(
        expression=expression.strip(), metric=match["metric"], at_least=match["sign"] == ">=", bound=bound, sure=bool(match["sure"])
    )


def _where_it_stops(expression: str) -> int:
    parts = (r"\s*[^\s<>=]+", r"\s*(<=|>=)", rf"\s*{_NUMBER}(ms|%)?", r"(\s+at\s+95\s*%)?\s*")
    place = 0
    for part in parts:
        match = re.compile(part).match(expression, place)
        if match is None:
            break
        place = match.end()
    return place


def judge_gate(gate: Gate, report: SliceReport) -> GateResult:
    """Returns whether `report` passes `gate`. A metric that has no value, or a slice cut short, never passes."""
    value = report.metrics.get(gate.metric)
    if value is None or value.value is None:
        return GateResult(
            expression=gate.expression,
            outcome="fail",
            message=f"{gate.metric} could not be measured on this slice, so nothing says that it passes",
        )
    measured = _measured(gate, value)
    if measured is None:
        message = f"{gate.metric} has no interval over {value.n} case(s); expected at least 2"
        return GateResult(expression=gate.expression, outcome="inconclusive", value=value.value, message=message)
    clears = measured >= gate.bound if gate.at_least else measured <= gate.bound
    if clears and report.missing:
        message = (
            f"{len(report.missing)} of {len(report.reports) + len(report.missing)} cases did not finish: {', '.join(report.missing[:5])}"
        )
        return GateResult(expression=gate.expression, outcome="fail", value=value.value, message=message)
    return GateResult(expression=gate.expression, outcome="pass" if clears else "fail", value=value.value, message=_told(gate, value))


def _measured(gate: Gate, value: MetricValue) -> float | None:
    if not gate.sure:
        return value.value
    return value.low if gate.at_least else value.high


def _told(gate: Gate, value: MetricValue) -> str:
    interval = "" if value.low is None or value.high is None else f", 95 % interval [{value.low:.3f}, {value.high:.3f}]"
    return f"{gate.metric} is {value.value:.3f}{interval} over {value.n} cases; wanted {'at least' if gate.at_least else 'at most'} {gate.bound:g}"


def judge_gates(expressions: Sequence[str], report: SliceReport) -> SliceReport:
    """Returns `report` with the results of all gate `expressions`."""
    return report.with_(gates=tuple(judge_gate(parse_gate(expression), report) for expression in expressions))
