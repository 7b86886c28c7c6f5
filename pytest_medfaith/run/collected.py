"""What a run expects to measure and what has come in, by rows of the card, from here or from workers."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, NamedTuple

from pytest_medfaith import defaults
from pytest_medfaith.errors import first_names
from pytest_medfaith.evaluation import slice_report
from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.pooling import pool_reports
from pytest_medfaith.metrics.registry import METRICS
from pytest_medfaith.rag.account import account_of
from pytest_medfaith.records import Report, SliceReport, SliceRun
from pytest_medfaith.records.labels import OPEN
from pytest_medfaith.records.stored import Form, Store, StoredReports
from pytest_medfaith.run.results import Result

CaseKey = tuple[SliceRun, str]
Reports = list[Report] | StoredReports
# A report with the id of the test that measured it.
TESTED: Form[tuple[str, Report]] = Form(
    lambda tested: [tested[0], tested[1].to_dict()], lambda row: (row[0], Report.from_dict(row[1]))
)
_NAMES_SHOWN = 3


class Row(NamedTuple):
    """A row of the card whose gates are not judged yet.

    Attributes:
        report: what was measured.
        gates: expressions of the tests that measure the row.
    """

    report: SliceReport
    gates: tuple[str, ...]


class ExpectedRow(NamedTuple):
    """A row of the card before its cases run: its key, the ids of its cases, its gates."""

    run: SliceRun
    case_ids: tuple[str, ...]
    gates: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a run is.

    Attributes:
        done: cases that reported, of `cases`.
        claims: of the cases that are done.
        scored: of these, with a verdict.
        refuted: of these, refuted.
    """

    done: int
    cases: int
    claims: int
    scored: int
    refuted: int


@dataclass
class _Expected:
    """What a row of the card expects.

    Attributes:
        cases: ids of the cases that will report.
        possible: ids of cases of tests that may report, which shows only while they run.
        gates: {test without its parameters: its gates}; a test that runs for many cases counts once.
        skipped: {reason: how many records were left out when the cases of the row were read}.
        size: how many cases the row has, selected or not; 0 where no test said.
        place: among the rows that a test or a command asked for together, from 0.
    """

    cases: set[str] = field(default_factory=set)
    possible: set[str] = field(default_factory=set)
    gates: dict[str, tuple[str, ...]] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)
    size: int = 0
    place: int = 0

    def note_gates(self, gates: Iterable[str], test_id: str) -> None:
        """Notes the gates that the test `test_id` brings; its parameters, in brackets, are left out."""
        path, colons, name = test_id.partition("::")
        self.gates[path + colons + name.partition("[")[0]] = tuple(gates)


@dataclass
class Collected:
    """The cases that a run expects, and the reports that came in for them.

    A case that several tests measure counts once; `problems` names tests that measured it differently. A test
    that runs again replaces what it measured before.

    Attributes:
        store: where reports are kept.
        _rows: {row: what it expects}.
        _reports: {(row, case): (test that measured it, report)}.
        _fingerprints: {(row, case): {test: fingerprint of its report}}, of cases that several tests measure.
        _replaced: cases whose test ran again and measured something else, such as another answer.
        _brought: {name: different signatures of checkers that tests brought along under it}.
        _failures: {row: why it could not be measured}.
    """

    store: Store = field(default_factory=Store)
    _rows: defaultdict[SliceRun, _Expected] = field(default_factory=lambda: defaultdict(_Expected))
    _reports: MutableMapping[CaseKey, tuple[str, Report]] = field(init=False)
    _fingerprints: dict[CaseKey, dict[str, int]] = field(default_factory=dict)
    _replaced: set[CaseKey] = field(default_factory=set)
    _brought: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    _failures: dict[SliceRun, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._reports = self.store.by_key(TESTED)

    def expect(
        self,
        run: SliceRun,
        case_ids: Iterable[str],
        *,
        gates: Iterable[str] = (),
        test_id: str = "",
        skipped: Mapping[str, int] | None = None,
        size: int = 0,
        place: int = 0,
    ) -> None:
        """Notes cases that will run; those without a report in the end count as missing.

        Args:
            run: the row of the card that the cases belong to.
            case_ids: of the cases.
            gates: which the row is judged by.
            test_id: the test that measures the cases and brings the gates.
            skipped: {reason: how many records were left out when the cases were read}.
            size: how many cases the row has, selected or not.
            place: of the row among those that were asked for with it, from 0.
        """
        known, row = run in self._rows and self._rows[run].cases, self._rows[run]
        row.place = min(place, row.place) if known else place
        row.cases.update(case_ids)
        row.skipped = dict(skipped or {})
        row.size = max(size, row.size)
        row.note_gates(gates, test_id)

    def expect_perhaps(
        self, run: SliceRun, case_id: str, *, gates: Iterable[str] = (), test_id: str = ""
    ) -> None:
        """Notes a case of a test that may measure it, as by `request.getfixturevalue`.

        Once one such test measures its case, all such cases of the row are expected.
        """
        row = self._rows[run]
        row.possible.add(case_id)
        if row.cases:
            row.note_gates(gates, test_id)

    def expected(self) -> list[ExpectedRow]:
        """Returns the rows that expect cases, in the order of the card."""
        return [
            ExpectedRow(run, tuple(sorted(self._rows[run].cases)), self.gates(run))
            for run in sorted(self._rows)
            if self._rows[run].cases
        ]

    def size(self, run: SliceRun) -> int:
        """Returns how many cases a row has under any checker, selected or not; 0 where no test said."""
        return max(
            (row.size for known, row in self._rows.items() if known.equals_but_for_checker(run)), default=0
        )

    def gates(self, run: SliceRun) -> tuple[str, ...]:
        """Returns the gates of every test that measures a row, each once, in the order of the tests' ids."""
        by_test = self._rows[run].gates
        return tuple(dict.fromkeys(gate for test in sorted(by_test) for gate in by_test[test]))

    def expected_values(self) -> list[dict[str, Any]]:
        """Returns all that is expected as plain values, which a worker sends with its first test."""
        return [
            {
                "run": run.to_dict(),
                "cases": sorted(row.cases),
                "possible": [] if row.cases else sorted(row.possible),
                "gates": {test: list(gates) for test, gates in row.gates.items()},
                "skipped": dict(row.skipped),
                "size": row.size,
                "place": row.place,
            }
            for run, row in self._rows.items()
        ]

    def sorted_values(self) -> list[dict[str, Any]]:
        """Returns `expected_values` in an order that is the same whatever the order of the tests."""
        rows = [{**row, "gates": dict(sorted(row["gates"].items()))} for row in self.expected_values()]
        return sorted(rows, key=lambda row: SliceRun(**row["run"]))

    def take_expected(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Takes over what a worker expects, as its `expected_values` say."""
        for row in rows:
            run = SliceRun(**row["run"])
            for case_id in row["possible"]:
                self.expect_perhaps(run, case_id)
            for test, gates in row["gates"].items() if row["cases"] else ():
                told = {name: row[name] for name in ("skipped", "size", "place")}
                self.expect(run, row["cases"], gates=gates, test_id=test, **told)

    def add(self, result: Result, *, test_id: str = "") -> None:
        """Takes in what the test `test_id` measured of a case."""
        run, report, row = result.run, result.report, self._rows[result.run]
        row.note_gates(result.gates, test_id)
        if row.possible and not row.cases:
            self.expect(run, row.possible, gates=result.gates, test_id=test_id)
        if result.checker:
            known = self._brought.setdefault(report.checker, [])
            known += [result.checker] if result.checker not in known else []
        key = run, report.case.id
        first, before = self._reports.get(key, (test_id, report))
        if first != test_id or key in self._fingerprints:
            fingerprints = self._fingerprints.setdefault(key, {first: _fingerprint(before)})
            fingerprints[test_id] = _fingerprint(report)
        elif key in self._reports and _fingerprint(before) != _fingerprint(report):
            self._replaced.add(key)
        if test_id <= first:  # the same report, in whatever order the tests finish
            self._reports[key] = test_id, report

    def replaced(self, run: SliceRun) -> list[str]:
        """Returns sorted ids of a row's cases, with any checker, whose test ran again with another result."""
        return sorted(case for one, case in self._replaced if one.equals_but_for_checker(run))

    def fail(self, run: SliceRun, why: str) -> None:
        """Marks a row as failed, and drops what it measured before; `why` is shown on the card."""
        self._failures[run] = why
        for key in [key for key in self._reports if key[0] == run]:
            del self._reports[key]

    @property
    def failures(self) -> Mapping[SliceRun, str]:
        """{row: why it could not be measured}."""
        return self._failures

    @property
    def brought_checkers(self) -> dict[str, Mapping[str, Any]]:
        """{name: signature} of the checkers that tests brought along; the first, where they differ."""
        return {name: signatures[0] for name, signatures in self._brought.items()}

    def configured_checkers(self) -> set[str]:
        """Returns the names of the checkers that settings, marker or command line ask for.

        A test may have judged by another checker in their place; the names of these are left out.
        """
        return {run.checker for run, row in self._rows.items() if row.cases} | {
            run.checker for run, _ in self._reports
        }

    def rows(
        self,
        *,
        partial: bool = False,
        declared: Mapping[str, Metric] = METRICS,
        seed: int = defaults.SEED,
    ) -> list[Row]:
        """Returns every row that is expected or measured, its gates not judged yet, in the order of the card.

        Args:
            partial: whether the run was cut short.
            declared: the metrics by name, see `parse_metric`.
            seed: of the intervals.
        """
        measured = self._measured(declared)
        rows = []
        for run in sorted(measured):
            reports, expected = measured[run], self._rows[run]
            # A test may have put another checker in the configured checker's place; the card shows the
            # former.
            shown = dataclasses.replace(run, checker=reports[0].checker) if reports else run
            summary = slice_report(
                shown,
                reports,
                expected=sorted(expected.cases),
                partial=partial,
                declared=declared,
                seed=seed,
            )
            told = {"skipped": expected.skipped, "place": expected.place}
            rows.append(Row(summary.with_(**told, failure=self._failures.get(run, "")), self.gates(run)))
        return rows

    def _measured(self, declared: Mapping[str, Metric]) -> dict[SliceRun, Reports]:
        """Returns the reports of each row; hits of several retrievers are judged together, as a pool."""
        runs = {run for run, row in self._rows.items() if row.cases} | {run for run, _ in self._reports}
        measured = {run: self.store.reports() for run in runs}
        pooled: dict[CaseKey, list[CaseKey]] = {}
        for key, (_, report) in self._reports.items():
            if key[0].contexts_mode == "recorded":
                measured[key[0]].append(report)
        for key in sorted(self._reports, key=itemgetter(0)):
            if key[0].contexts_mode != "recorded":
                pooled.setdefault((dataclasses.replace(key[0], retriever="", k=0), key[1]), []).append(key)
        for keys in pooled.values():
            reports = [self._reports[key][1] for key in keys]
            for (run, _), report in zip(keys, pool_reports(reports, declared=declared), strict=True):
                measured[run].append(report)
        return measured

    def compared_retrievers(self, run: SliceRun) -> list[str]:
        """Returns the retrievers of rows that differ from `run` only in retriever and k.

        The hits of such rows are judged together: a pool. A retriever with another k is named with it.
        """
        known = {one for one, row in self._rows.items() if row.cases} | {one for one, _ in self._reports}
        return sorted(
            {
                one.retriever if one.k == run.k else f"{one.retriever} at k={one.k}"
                for one in known
                if dataclasses.replace(one, retriever=run.retriever, k=run.k).equals_but_for_checker(run)
            }
        )

    def reference_rags(self, run: SliceRun) -> list[str]:
        """Returns the signatures of the reference RAG in the reports of a row; [] where it gave no answer."""
        found = (
            account_of(report.response)
            for (one, _), (_, report) in self._reports.items()
            if one.equals_but_for_checker(run)
        )
        return sorted({account.signature for account in found if account})

    def problems(self) -> list[str]:
        """Returns a sentence for each thing that makes the run unusable; [] where there is none.

        Such are tests that disagree on a case, two checkers of one name, and a row that could not be
        measured.
        """
        by_run: dict[SliceRun, dict[str, Iterable[str]]] = {}
        for (run, case_id), fingerprints in self._fingerprints.items():
            if len(set(fingerprints.values())) > 1:
                by_run.setdefault(run, {})[case_id] = fingerprints
        doubled = [
            f"tests brought along two checkers that are called {name!r} and differ in weights, thresholds or "
            "rules; give each its own name"
            for name, signatures in sorted(self._brought.items())
            if len(signatures) > 1
        ]
        failed = [f"{run}: {why}" for run, why in self._failures.items()]
        return [*(_disagreement(run, by_run[run]) for run in sorted(by_run)), *doubled, *failed]

    def progress(self) -> Progress:
        """Returns how many cases and claims are done."""
        reports = [report for _, report in self._reports.values()]
        labels = [verdict.label for report in reports for verdict in report.verdicts]
        expected = {(run, case_id) for run, row in self._rows.items() for case_id in row.cases}
        return Progress(
            done=len(reports),
            cases=len(expected | self._reports.keys()),
            claims=len(labels),
            scored=sum(label not in OPEN for label in labels),
            refuted=labels.count("refuted"),
        )


def _fingerprint(report: Report) -> int:
    """Returns a number that two reports on a case share where they measured the same.

    Latencies and what a RAG says of its work (`meta`) are left out: they differ between two runs of the same
    test.
    """
    response = report.response.with_(latency_ms=None, meta={})
    measured = (
        response,
        response.extra,
        report.checker,
        report.abstained,
        report.verdicts,
        report.gold_verdicts,
        report.hits,
    )
    return hash(repr(measured))


def _disagreement(run: SliceRun, cases: Mapping[str, Iterable[str]]) -> str:
    """Returns the message on cases that tests measured differently; `cases` is {case id: tests}."""
    names = sorted(cases)
    tests = sorted({test for tests in cases.values() for test in tests})
    shown = first_names(names, _NAMES_SHOWN)
    return (
        f"{len(names)} case(s) of {run} came out differently in different tests: {shown}. The card has one "
        f"row for them. The tests: {', '.join(tests[:_NAMES_SHOWN])}. Ask for medfaith_report in one test of "
        "a slice, make the answers repeatable, or configure the slice twice under two names"
    )
