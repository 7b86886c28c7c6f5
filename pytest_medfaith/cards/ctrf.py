"""Shows a run as CTRF, a JSON format for test results that CI dashboards read.

Each case and gate is a test of the document; a failed gate names its claims. Specification and JSON Schema:
https://github.com/ctrf-io/ctrf.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from operator import attrgetter
from typing import Any

from pytest_medfaith.cards.explanation import evidence_chunk, text_at, worst_verdicts
from pytest_medfaith.cards.json_card import dumps, metric_rows
from pytest_medfaith.cards.summary import count_slice
from pytest_medfaith.cards.wording import told_verdicts
from pytest_medfaith.plain import plain_lines
from pytest_medfaith.records import GateResult, Report, SliceReport, SliceRun, Verdict
from pytest_medfaith.records.labels import OPEN

Row = dict[str, Any]
SPECIFICATION = "0.0.0"  # the version that the reference implementation (npm: ctrf 0.3.0) writes
STATUSES = ("passed", "failed", "skipped", "pending", "other")
_KEY = "medfaith"  # of what this package adds, wherever the format leaves room for it
_BLAMED = 20  # claims that a gate names; the cases hold all


def ctrf_card(
    slice_reports: Sequence[SliceReport],
    *,
    facts: Mapping[str, str] | None = None,
    signature: Mapping[str, Any] | None = None,
) -> str:
    """Returns a run as CTRF: a test for each case and each gate.

    A measured case passes, as in JUnit; a case without a report and a failed gate are failed tests. A run
    folder holds no times of tests, so every duration is 0 and `extra` says so.

    Args:
        slice_reports: with their gates judged.
        facts: date, project and commit of the run; the commit is written.
        signature: all that decided the numbers.

    Raises:
        DataError: a value that JSON cannot hold.
    """
    tests = list[Row]()
    for report in sorted(slice_reports, key=attrgetter("run")):
        suite = suite_of(report.run)
        for one in report.reports:
            tests.append(
                {**_test(one.case.id, suite, "passed"), "extra": {_KEY: case_row(one, slice=report.slice)}}
            )
        for case_id in report.missing:
            tests.append({**_test(case_id, suite, "failed"), "message": "the case has no result"})
        tests += gate_tests(report)
    extra = {_KEY: {"slices": slice_rows(slice_reports), "signature": dict(signature or {})}}
    extra[_KEY]["times"] = "not kept in a run folder; every duration is 0"
    return ctrf_document(tests, start=0, stop=0, commit=(facts or {}).get("commit", ""), extra=extra)


def ctrf_document(
    tests: Sequence[Row], *, start: int, stop: int, commit: str = "", shard: str = "", extra: Row
) -> str:
    """Returns the document around some tests.

    Args:
        tests: each with name, status and duration.
        start: of the run, in milliseconds since 1970.
        stop: of the run, likewise.
        commit: that was tested, "" where it is not known.
        shard: which part of a run this is, as in "2/5", "" for a whole run.
        extra: what the format has no field for.
    """
    counts = Counter(test["status"] for test in tests)
    summary = {
        "tests": len(tests),
        **{status: counts[status] for status in STATUSES},
        "flaky": sum(bool(test.get("flaky")) for test in tests),
        "suites": len({tuple(test["suite"]) for test in tests}),
        "start": start,
        "stop": stop,
        "duration": stop - start,
    }
    told = {"commit": commit, "shardId": shard}
    environment = {name: text for name, text in told.items() if text}
    results = {
        "tool": {"name": "pytest-medfaith", "version": version("pytest-medfaith")},
        "summary": summary,
        "tests": list(tests),
        **({"environment": environment} if environment else {}),
        "extra": extra,
    }
    document = {
        "reportFormat": "CTRF",
        "specVersion": SPECIFICATION,
        "generatedBy": "pytest-medfaith",
        "results": results,
    }
    return dumps(document, "the CTRF report")


def suite_of(run: SliceRun) -> list[str]:
    """Returns the suite of a row of the card: ["medquad", "rrf default k=10"]."""
    mode = [run.contexts_mode] * (run.contexts_mode != "recorded")
    return [run.slice, " ".join([run.retriever, run.checker, f"k={run.k}", *mode])]


def _fails(gate: GateResult) -> bool:
    return gate.outcome == "fail"


def gate_tests(report: SliceReport, *, stops: Callable[[GateResult], bool] = _fails) -> list[Row]:
    """Returns a test for each gate of a slice: "failed" where it stops the run, "other" where undecided."""
    return [_gate_test(report, gate, stops=stops(gate)) for gate in report.gates]


def _gate_test(report: SliceReport, gate: GateResult, *, stops: bool) -> Row:
    status = "passed" if gate.outcome == "pass" else "other"
    row = _test(gate.expression, [*suite_of(report.run), "gates"], status)
    told: Row = {"expression": gate.expression, "outcome": gate.outcome, "value": gate.value}
    if stops:
        row["status"] = "failed"
        worst = worst_verdicts(report.reports)[:_BLAMED]
        told["claims"] = [{"case": one.case.id, **claim_row(verdict, one)} for one, verdict in worst]
    message = {"message": plain_lines(gate.message)} if gate.message else {}
    return {**row, "rawStatus": gate.outcome, "tags": [_KEY, "gate"], **message, "extra": {_KEY: told}}


def _test(name: str, suite: list[str], status: str) -> Row:
    name = plain_lines(name) or "(no name)"
    return {
        "name": name,
        "testId": "::".join([*suite, name]),
        "suite": suite,
        "status": status,
        "duration": 0,
    }


def case_row(report: Report, *, slice: str) -> Row:  # noqa: A002 - what everybody calls it
    """Returns what a case scored, and its claims that are not supported, worst first."""
    labels: Counter[str] = Counter(verdict.label for verdict in report.verdicts)
    worst = [verdict for _, verdict in worst_verdicts([report])]
    unscored = [verdict for verdict in report.verdicts if verdict.label in OPEN]
    return {
        "slice": slice,
        "case": report.case.id,
        "retriever": report.retriever,
        "checker": report.checker,
        "k": report.k,
        "contexts_mode": report.contexts_mode,
        "abstained": report.abstained,
        "verdicts": {label: labels[label] for label in told_verdicts([report])},
        "metrics": dict(report.metrics),
        "claims": [claim_row(verdict, report) for verdict in (*worst, *unscored)],
    }


def claim_row(verdict: Verdict, report: Report) -> Row:
    """Returns a claim with its verdict, the evidence that decided it, and the rules that fired."""
    chunk = evidence_chunk(verdict, report)
    evidence = {
        "chunk": verdict.chunk_id,
        "title": chunk.title if chunk else "",
        "url": chunk.url if chunk else "",
        "text": text_at(chunk.text, verdict.span) if chunk else "",
    }
    told = {
        "id": verdict.claim.id,
        "text": verdict.claim.text,
        "verdict": verdict.label,
        "score": verdict.score,
        "threshold": verdict.threshold,
        "reason": verdict.reason,
        "rules": [finding.rule for finding in verdict.findings],
    }
    return {**told, "evidence": {name: text for name, text in evidence.items() if text}}


def slice_rows(slice_reports: Iterable[SliceReport]) -> list[Row]:
    """Returns a plain row for each row of the card: cases, metrics with intervals, gates, missing cases."""
    return [
        {
            **report.run.to_dict(),
            "cases": count_slice(report).cases,
            "partial": report.partial,
            "missing": list(report.missing),
            "metrics": metric_rows(report.metrics),
            "gates": {gate.expression: gate.outcome for gate in report.gates},
        }
        for report in sorted(slice_reports, key=attrgetter("run"))
    ]
