"""What a run expects and what came in: the cases of every row of the card, from this process or from workers."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_medfaith import defaults
from pytest_medfaith.evaluation import slice_report
from pytest_medfaith.records import Report, SliceReport, SliceRun

CaseKey = tuple[SliceRun, str]
_NAMES_SHOWN = 3


@dataclass(frozen=True, kw_only=True)
class Tally:
    """How far a run is: cases `done` of `cases`, and the claims of those that are done."""

    done: int
    cases: int
    claims: int
    scored: int
    refuted: int


@dataclass
class Ledger:
    """Cases expected and reports received. Everything that goes between processes is plain lists, dicts, strings and numbers.

    A case that several tests measure counts once; tests that measure it differently are named by `differing`. A test that runs again
    replaces what it measured before.
    """

    _expected: dict[SliceRun, set[str]] = field(default_factory=dict)
    _gates: dict[SliceRun, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    _skipped: dict[SliceRun, dict[str, int]] = field(default_factory=dict)
    _reports: dict[CaseKey, tuple[str, Report]] = field(default_factory=dict)
    _measured: dict[CaseKey, dict[str, int]] = field(default_factory=dict)
    _sizes: dict[SliceRun, int] = field(default_factory=dict)
    _possible: dict[SliceRun, set[str]] = field(default_factory=dict)
    _brought: dict[str, list[Mapping[str, Any]]] = field(
        default_factory=dict
    )  # distinct signatures of checkers that tests bring, by name

    def expect(
        self,
        run: SliceRun,
        case_ids: Iterable[str],
        *,
        gates: Iterable[str] = (),
        test_id: str = "",
        skipped: Mapping[str, int] | None = None,
        size: int = 0,
    ) -> None:
        """Notes cases that will run, so that those that never report are seen to be missing, and the gates they are judged by.

        `skipped` counts, by reason, the records that were left out while the cases of the row were read; `size` counts the row's cases,
        selected or not.
        """
        self._sizes[run] = max(size, self._sizes.get(run, 0))
        self._expected.setdefault(run, set()).update(case_ids)
        self._skipped[run] = dict(skipped or {})
        self._note_gates(run, gates, test_id)

    def _note_gates(self, run: SliceRun, gates: Iterable[str], test_id: str) -> None:
        path, colons, name = test_id.partition("::")
        self._gates.setdefault(run, {})[path + colons + name.partition("[")[0]] = tuple(gates)

    def size(self, run: SliceRun) -> int:
        """Returns how many cases a row has, selected or not; 0 where nobody said."""
        return max(
            (size for known, size in self._sizes.items() if known.equals_but_for_checker(run)),
            default=0,
        )

    def may_measure(
        self, run: SliceRun, case_id: str, *, gates: Iterable[str] = (), test_id: str = ""
    ) -> None:
        """Notes a case of a test that need not measure it. Where any of them does after all, all of them are expected to."""
        self._possible.setdefault(run, set()).add(case_id)
        if run in self._expected:
            self._note_gates(run, gates, test_id)

    def expected(self) -> list[tuple[SliceRun, tuple[str, ...], tuple[str, ...]]]:
        """Returns (row, case ids, gates) of everything expected, in the order of the card."""
        return [(run, tuple(sorted(self._expected[run])), self.gates(run)) for run in sorted(self._expected)]

    def expectations(self) -> list[dict[str, Any]]:
        """Returns everything expected as plain values; a worker sends them with its first test."""
        return [
            {
                "run": run.to_dict(),
                "cases": sorted(cases),
                "gates": {test: list(of) for test, of in self._gates[run].items()},
                "skipped": self._skipped[run],
                "size": self._sizes[run],
            }
            for run, cases in self._expected.items()
        ] + [
            {"run": run.to_dict(), "possible": sorted(cases)}
            for run, cases in self._possible.items()
            if run not in self._expected
        ]

    def gates(self, run: SliceRun) -> tuple[str, ...]:
        """Returns the gates of a row, those of every test that measures it, each once."""
        by_test = self._gates.get(run, {})
        return tuple(dict.fromkeys(gate for test in sorted(by_test) for gate in by_test[test]))

    def expect_all(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Takes over what a worker expects (`expectations`)."""
        for row in rows:
            run = SliceRun(**row["run"])
            for case_id in row.get("possible", ()):
                self.may_measure(run, case_id)
            for test, gates in row.get("gates", {}).items():
                self.expect(
                    run, row["cases"], gates=gates, test_id=test, skipped=row["skipped"], size=row["size"]
                )

    def add(self, payload: Mapping[str, Any], *, test_id: str = "") -> None:
        """Takes in what one test measured (`session.payload`)."""
        run, report = SliceRun(**payload["run"]), Report.from_dict(payload["report"])
        self._note_gates(run, payload["gates"], test_id)
        if run in self._possible and run not in self._expected:
            self.expect(run, self._possible[run], gates=payload["gates"], test_id=test_id)
        if payload.get("checker"):
            known = self._brought.setdefault(report.checker, [])
            known += [payload["checker"]] if payload["checker"] not in known else []
        key = run, report.case.id
        self._measured.setdefault(key, {})[test_id] = _fingerprint(payload["report"])
        if (
            key not in self._reports or test_id <= self._reports[key][0]
        ):  # the same one, in whatever order the tests finish
            self._reports[key] = test_id, report

    @property
    def checkers(self) -> dict[str, Mapping[str, Any]]:
        """The signatures of checkers that tests brought along, by name."""
        return {name: signatures[0] for name, signatures in self._brought.items()}

    def runs(self) -> set[SliceRun]:
        """Returns the rows that any report came in for."""
        return {run for run, _ in self._reports}

    def slice_reports(
        self, *, partial: bool = False, seed: int = defaults.SEED
    ) -> list[tuple[SliceReport, tuple[str, ...]]]:
        """Returns (report, gates) of every row, gates not judged yet, in the order of the card."""
        runs = {*self.runs(), *self._expected}
        return [(self._row(run, partial=partial, seed=seed), self.gates(run)) for run in sorted(runs)]

    def _row(self, run: SliceRun, *, partial: bool, seed: int) -> SliceReport:
        own = [report for (other, _), (_, report) in self._reports.items() if other == run]
        # a test may have put its own checker in the configured one's place
        shown = dataclasses.replace(run, checker=own[0].checker) if own else run
        summary = slice_report(
            shown, own, expected=sorted(self._expected.get(run, ())), partial=partial, seed=seed
        )
        return summary.with_(skipped=self._skipped.get(run, {}))

    def differing(self) -> list[str]:
        """Returns a sentence for every row in which tests came to different results on a case, and for every checker's name that stands for two."""
        by_run: dict[SliceRun, dict[str, Collection[str]]] = {}
        for (run, case_id), prints in self._measured.items():
            if len(set(prints.values())) > 1:
                by_run.setdefault(run, {})[case_id] = prints
        twice = [
            f"tests brought along two checkers that are called {name!r} and differ in weights, thresholds or rules; give each its own name"
            for name, signatures in sorted(self._brought.items())
            if len(signatures) > 1
        ]
        return [
            *(_differing_text(run, by_run[run]) for run in sorted(by_run)),
            *twice,
        ]

    def tally(self) -> Tally:
        """Returns how far the run is."""
        reports = [report for _, report in self._reports.values()]
        labels = [verdict.label for report in reports for verdict in report.verdicts]
        expected = {(run, case_id) for run, cases in self._expected.items() for case_id in cases}
        return Tally(
            done=len(reports),
            cases=len(expected | self._reports.keys()),
            claims=len(labels),
            scored=len(labels) - labels.count("unscored"),
            refuted=labels.count("refuted"),
        )


def _fingerprint(report: Mapping[str, Any]) -> int:
    """Returns what two reports on one case have in common where they measured the same; times and what follows from them are left out."""
    response = {key: value for key, value in report["response"].items() if key not in ("latency_ms", "meta")}
    parts = [report.get(name) for name in ("checker", "abstained", "verdicts", "gold_verdicts", "hits")]
    return hash(json.dumps([response, *parts], sort_keys=True, default=str))


def _differing_text(run: SliceRun, cases: Mapping[str, Collection[str]]) -> str:
    names = sorted(cases)
    tests = sorted({test for tests in cases.values() for test in tests})
    shown = ", ".join([*names[:_NAMES_SHOWN], *["..."] * (len(names) > _NAMES_SHOWN)])
    return (
        f"{len(names)} case(s) of {run} came out differently in different tests: {shown}. The card has one row for "
        f"them. The tests: {', '.join(tests[:_NAMES_SHOWN])}. Ask for medfaith_report in one test of a slice, make the "
        "answers repeatable, or configure the slice twice under two names"
    )
