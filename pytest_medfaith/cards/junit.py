"""JUnit XML: the scores of cases and slices as properties, and a whole run as a file."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from operator import attrgetter

from pytest_medfaith.cards.summary import count_slice
from pytest_medfaith.cards.wording import told_verdicts
from pytest_medfaith.metrics.citations import citation_counts
from pytest_medfaith.metrics.facts import fact_counts
from pytest_medfaith.plain import plain_lines
from pytest_medfaith.records import Report, SliceReport, SliceRun

Property = tuple[str, str]
PREFIX = "medfaith"
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TAGS = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}


def case_properties(report: Report, *, slice: str) -> list[Property]:  # noqa: A002 - what everybody calls it
    """Returns what a case scored as (name, text) pairs: settings, counts of verdicts, metrics.

    The names begin with "medfaith.", as in ("medfaith.supported", "3"). Pairs without a text are left out.

    Args:
        report: of the case.
        slice: its name.
    """
    labels: Counter[str] = Counter(verdict.label for verdict in report.verdicts)
    rows = {
        "slice": slice,
        "retriever": report.retriever,
        "checker": report.checker,
        "k": "" if report.k is None else str(report.k),
        "contexts_mode": "" if report.contexts_mode == "recorded" else report.contexts_mode,
        "claims": str(len(report.verdicts)),
        **{label: str(labels[label]) for label in told_verdicts([report])},
        "abstained": _yes_no(report.abstained),
        "outcome": report.outcome or "",
        **{f"facts.{name.replace(' ', '_')}": str(number) for name, number in fact_counts([report]).items()},
        **{f"citations.{status}": str(number) for status, number in citation_counts([report]).items()},
        **{name: _number(value) for name, value in sorted(report.metrics.items())},
    }
    return [(f"{PREFIX}.{name}", text) for name, text in rows.items() if text]


def slice_properties(slice_report: SliceReport) -> list[Property]:
    """Returns what a slice scored as (name, text) pairs: counts, metrics with intervals, gates.

    Names begin with slice, retriever, checker and k, so that no two rows of an ablation share a name.
    """
    run = slice_report.run
    place = ".".join([PREFIX, run.slice, run.retriever, run.checker, f"k{run.k}", *_mode(run)])
    counts = count_slice(slice_report)
    counted = ("cases", "claims", *told_verdicts(slice_report.reports), "conflicts", "abstained", "missing")
    rows = [(name, str(getattr(counts, name))) for name in counted]
    rows += [(f"outcomes.{name}", str(number)) for name, number in counts.outcomes.items()]
    rows += [(f"facts.{name.replace(' ', '_')}", str(number)) for name, number in counts.facts.items()]
    rows += [(f"citations.{status}", str(number)) for status, number in counts.citations.items()]
    rows.append(("partial", _yes_no(slice_report.partial)))
    for name, metric in sorted(slice_report.metrics.items()):
        ends = {"": metric.value, ".low": metric.low, ".high": metric.high}
        rows += [(f"{name}{end}", _number(value)) for end, value in ends.items() if value is not None]
    for gate in slice_report.gates:
        rows += [(f"gate[{gate.expression}]", gate.outcome)]
        rows += [(f"gate[{gate.expression}].message", gate.message)] * bool(gate.message)
    return [(f"{place}.{name}", text) for name, text in rows]


def junit_card(slice_reports: Sequence[SliceReport]) -> str:
    """Returns a run as JUnit XML: a suite for each slice report, a test case for each case and each gate.

    A case that was measured passes, and its properties hold what it scored. A case without a report is an
    error, a failed gate a failure, an inconclusive gate is skipped.
    """
    root = ET.Element("testsuites", name=PREFIX)
    for report in sorted(slice_reports, key=attrgetter("run")):
        run = report.run
        name = " ".join([run.slice, run.retriever, run.checker, f"k={run.k}", *_mode(run)])
        suite = _child(root, "testsuite", name=name)
        _add_properties(suite, slice_properties(report))
        for one in report.reports:
            case = _child(suite, "testcase", classname=run.slice, name=one.case.id)
            _add_properties(case, case_properties(one, slice=run.slice))
        for case_id in report.missing:
            case = _child(suite, "testcase", classname=run.slice, name=case_id)
            _child(case, "error", message="the case has no result")
        for gate in report.gates:
            case = _child(suite, "testcase", classname=f"{run.slice}.gates", name=gate.expression)
            if gate.outcome != "pass":
                tag = "failure" if gate.outcome == "fail" else "skipped"
                _child(case, tag, message=gate.message or gate.outcome)
        for counted, tag in _TAGS.items():
            suite.set(counted, str(sum(1 for _ in suite.iter(tag))))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True)


def _add_properties(parent: ET.Element, properties: Sequence[Property]) -> None:
    rows = _child(parent, "properties")
    for name, value in properties:
        _child(rows, "property", name=name, value=value)


def _child(parent: ET.Element, tag: str, **attributes: str) -> ET.Element:
    """Adds an element to `parent`; characters that XML, terminals or CI servers mind are taken out."""
    plain = {
        name: plain_lines(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text))
        for name, text in attributes.items()
    }
    return ET.SubElement(parent, tag, plain)


def _mode(run: SliceRun) -> list[str]:
    return [run.contexts_mode] * (run.contexts_mode != "recorded")


def _number(value: float) -> str:
    return f"{value:.6g}"


def _yes_no(value: bool) -> str:
    return "yes" if value else "no"
