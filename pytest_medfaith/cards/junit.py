"""JUnit properties: the scores of a case and of a slice as names and values, for the plugin to record."""

from __future__ import annotations

from collections import Counter

from pytest_medfaith.cards.summary import count_slice
from pytest_medfaith.records import VERDICTS, Report, SliceReport

Property = tuple[str, str]
PREFIX = "medfaith"


def case_properties(report: Report) -> list[Property]:
    """Returns what one case scored: its slice's settings, its claims by verdict, whether it abstained, each metric that applies."""
    labels: Counter[str] = Counter(verdict.label for verdict in report.verdicts)
    rows = {
        "slice": report.case.slice,
        "retriever": report.retriever,
        "checker": report.checker,
        "k": "" if report.k is None else str(report.k),
        "claims": str(len(report.verdicts)),
        **{label: str(labels[label]) for label in VERDICTS},
        "abstained": _yes_no(report.abstained),
        **{name: _number(value) for name, value in sorted(report.metrics.items())},
    }
    return [(f"{PREFIX}.{name}", text) for name, text in rows.items() if text]


def slice_properties(report: SliceReport) -> list[Property]:
    """Returns what one slice scored: counts, metrics with their intervals, and gates. A metric without a value is left out.

    Names begin with slice, retriever, checker and k, so that the rows of an ablation stand apart.
    """
    place = ".".join([PREFIX, report.slice, report.retriever, report.checker, f"k{report.k}"])
    counts = count_slice(report)
    numbers = ("cases", "claims", "supported", "refuted", "unsupported", "unscored", "conflicts", "abstained", "missing")
    rows = [(name, str(getattr(counts, name))) for name in numbers] + [("partial", _yes_no(report.partial))]
    for name, metric in sorted(report.metrics.items()):
        ends = {"": metric.value, ".low": metric.low, ".high": metric.high}
        rows += [(f"{name}{end}", _number(value)) for end, value in ends.items() if value is not None]
    for gate in report.gates:
        rows += [(f"gate[{gate.expression}]", gate.outcome)]
        rows += [(f"gate[{gate.expression}].message", gate.message)] * bool(gate.message)
    return [(f"{place}.{name}", text) for name, text in rows]


def _number(value: float) -> str:
    return f"{value:.6g}"


def _yes_no(value: bool) -> str:
    return "yes" if value else "no"
