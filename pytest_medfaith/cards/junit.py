"""JUnit: the scores of a case and of a slice as properties, which the plugin records, and a run as a JUnit file of its own."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from operator import attrgetter

from pytest_medfaith.cards.summary import count_slice
from pytest_medfaith.plain import plain_lines
from pytest_medfaith.records import VERDICTS, Report, SliceReport

Property = tuple[str, str]
PREFIX = "medfaith"
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def case_properties(report: Report, *, slice: str) -> list[Property]:  # noqa: A002 - what everybody calls it
    """Returns what one case of the slice named scored: its settings, its claims by verdict, whether it abstained, each metric that applies."""
    labels: Counter[str] = Counter(verdict.label for verdict in report.verdicts)
    rows = {
        "slice": slice,
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
    numbers = (
        "cases",
        "claims",
        "supported",
        "refuted",
        "unsupported",
        "unscored",
        "conflicts",
        "abstained",
        "missing",
    )
    rows = [(name, str(getattr(counts, name))) for name in numbers] + [("partial", _yes_no(report.partial))]
    for name, metric in sorted(report.metrics.items()):
        ends = {"": metric.value, ".low": metric.low, ".high": metric.high}
        rows += [(f"{name}{end}", _number(value)) for end, value in ends.items() if value is not None]
    for gate in report.gates:
        rows += [(f"gate[{gate.expression}]", gate.outcome)]
        rows += [(f"gate[{gate.expression}].message", gate.message)] * bool(gate.message)
    return [(f"{place}.{name}", text) for name, text in rows]


def junit_card(slice_reports: Sequence[SliceReport]) -> str:
    """Returns a run as JUnit XML: a suite for each slice report, in it a test case for each case and each gate.

    A case passes if it was measured: what it scored stands in its properties. A case without a report is an error, a failed gate a
    failure, an inconclusive one is skipped.
    """
    root = ET.Element("testsuites", name=PREFIX)
    for report in sorted(slice_reports, key=attrgetter("run")):
        suite = _child(
            root,
            "testsuite",
            name=" ".join([report.slice, report.retriever, report.checker, f"k={report.k}"]),
        )
        _add_properties(suite, slice_properties(report))
        for one in report.reports:
            _add_properties(
                _child(suite, "testcase", classname=report.slice, name=one.case.id),
                case_properties(one, slice=report.slice),
            )
        for case_id in report.missing:
            _child(
                _child(suite, "testcase", classname=report.slice, name=case_id),
                "error",
                message="the case has no result",
            )
        for gate in report.gates:
            case = _child(suite, "testcase", classname=f"{report.slice}.gates", name=gate.expression)
            if gate.outcome != "pass":
                _child(
                    case,
                    "failure" if gate.outcome == "fail" else "skipped",
                    message=gate.message or gate.outcome,
                )
        for outcome, tag in (
            ("tests", "testcase"),
            ("failures", "failure"),
            ("errors", "error"),
            ("skipped", "skipped"),
        ):
            suite.set(outcome, str(sum(1 for _ in suite.iter(tag))))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True)


def _add_properties(parent: ET.Element, properties: Sequence[Property]) -> None:
    rows = _child(parent, "properties")
    for name, value in properties:
        _child(rows, "property", name=name, value=value)


def _child(parent: ET.Element, tag: str, **attributes: str) -> ET.Element:
    return ET.SubElement(parent, tag, {name: _plain(text) for name, text in attributes.items()})


def _plain(text: str) -> str:
    """Returns `text` as an attribute may hold it: no sign that XML does not have, and nothing that a terminal or a CI obeys."""
    return plain_lines(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text))


def _number(value: float) -> str:
    return f"{value:.6g}"


def _yes_no(value: bool) -> str:
    return "yes" if value else "no"
