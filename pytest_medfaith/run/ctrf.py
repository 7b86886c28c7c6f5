"""Writes the CTRF report of a run (--medfaith-ctrf FILE): all tests of pytest, and the gates of slices.

CTRF is a JSON format for test results. The file of an earlier run is removed at the start, and the new file
is written whole or not at all, so a run that dies leaves none. A run that fails without a failed test gets a
failed test that says why.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_medfaith.cards.ctrf import Row, case_row, ctrf_document, gate_tests, slice_rows
from pytest_medfaith.cards.facts import run_commit
from pytest_medfaith.errors import DataError, MedfaithError
from pytest_medfaith.gates.judging import stops_run
from pytest_medfaith.jsonl import write_text
from pytest_medfaith.plain import plain_lines
from pytest_medfaith.run.hooks import known_hooks

if TYPE_CHECKING:
    from pytest_medfaith.records import Report, SliceRun
    from pytest_medfaith.run.finish import Finish

_MARK = '"reportFormat": "CTRF"'
# Why pytest says that a run failed, by exit status.
_STATUSES = {
    1: "the run failed, and no test of it did",
    2: "the run was interrupted",
    3: "pytest met an internal error",
    4: "the run could not be used",
    5: "no test ran",
}


def begin_ctrf(config: pytest.Config) -> None:
    """Removes the report of an earlier run, and registers the hooks that write the new report.

    Raises:
        DataError: the file cannot be written, or holds something that is no CTRF report.
    """
    path = Path(config.invocation_params.dir, config.getoption("--medfaith-ctrf"))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            if _MARK not in path.read_text(encoding="utf-8", errors="replace"):
                raise DataError(
                    f"{path} holds something that is no CTRF report, which this run would replace; give "
                    "another file with --medfaith-ctrf FILE"
                )
            path.unlink()
    except OSError as error:
        raise DataError(
            f"the CTRF report {path} cannot be written ({error.strerror or error}); give another file with "
            "--medfaith-ctrf FILE"
        ) from error
    config.pluginmanager.register(CtrfHooks(config, path), "medfaith-ctrf")


@dataclass
class _Test:
    """What came in for a test.

    Attributes:
        reports: of the phases of its last attempt (setup, call, teardown).
        attempts: rows on failed attempts before it, where a plugin runs tests again.
        cases: (row of the card, case id) that it measured.
    """

    reports: list[pytest.TestReport] = field(default_factory=list)
    attempts: list[Row] = field(default_factory=list)
    cases: list[tuple[SliceRun, str]] = field(default_factory=list)


class CtrfHooks:
    """Hooks that note every test, from this process or from workers, and write the report at the end."""

    def __init__(self, config: pytest.Config, path: Path) -> None:
        self._config, self._path = config, path
        self._start = _milliseconds(time.time())
        self._tests: dict[str, _Test] = {}  # by node id, in the order in which they were collected
        self._uncollected: dict[str, str] = {}
        self._internal = self._lost = ""

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Notes the tests that this process will run."""
        for item in session.items:
            self._tests.setdefault(item.nodeid, _Test())

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Notes the tests that a worker will run."""
        for node_id in ids:
            self._tests.setdefault(node_id, _Test())

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Notes what could not be collected."""
        if report.failed:
            self._uncollected[report.nodeid] = report.longreprtext

    def pytest_internalerror(self, excrepr: Any) -> None:
        """Notes an error of pytest itself; the first stays."""
        self._internal = self._internal or str(excrepr)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Takes in the report of a phase of a test; "rerun" ends an attempt."""
        test = self._tests.setdefault(report.nodeid, _Test())
        test.cases = getattr(report, "medfaith_cases", []) or test.cases
        test.reports.append(report)
        if report.outcome == "rerun":  # type: ignore[comparison-overlap]
            attempt = {"attempt": len(test.attempts) + 1, "status": "failed", "duration": _duration(test)}
            test.attempts.append({**attempt, **_failure(report)})
            test.reports = []

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Writes the report, after the run was summed up and its gates were judged."""
        hooks = known_hooks(self._config)
        finish, refused = (hooks.finish, hooks.refused) if hooks else (None, "")
        measured = {
            (report.run, one.case.id): one
            for report in (finish.reports if finish else ())
            for one in report.reports
        }
        tests = [_row(name, test, measured) for name, test in self._tests.items()]
        tests += [_problem(name or "collection", text, "error") for name, text in self._uncollected.items()]
        tests += self._judged(finish, refused, status=int(session.exitstatus), rows=tests)
        extra: Row = {"exitStatus": int(session.exitstatus)}
        if finish:
            extra["medfaith"] = {"slices": slice_rows(finish.reports), "notes": list(finish.notes)}
        text = ctrf_document(
            tests,
            start=self._start,
            stop=_milliseconds(time.time()),
            commit=run_commit(self._config.rootpath),
            shard=self._config.getoption("--medfaith-shard") or "",
            extra=extra,
        )
        try:
            write_text(self._path, text)
        except (MedfaithError, OSError) as error:
            self._lost = f"the CTRF report {self._path} is not written: {error}"
            session.exitstatus = session.exitstatus or pytest.ExitCode.USAGE_ERROR

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Says where the report is, or why there is none."""
        text = f"ERROR: {self._lost}" if self._lost else f"CTRF report: {self._path}"
        terminalreporter.write_line(plain_lines(text), red=bool(self._lost))

    def _judged(self, finish: Finish | None, refused: str, *, status: int, rows: Sequence[Row]) -> list[Row]:
        """Returns a test for each gate, and failed tests for what made the run fail and no test says.

        `status` is pytest's exit status, `rows` are the tests so far.
        """
        judged = list[Row]()
        if finish:
            for report in finish.reports:
                judged += gate_tests(
                    report, stops=lambda gate: stops_run(gate, inconclusive=finish.inconclusive)
                )
        problems = [*(finish.errors if finish else ()), *filter(None, [refused, self._internal])]
        judged += [_problem(f"run: {_first_line(text)}", text, "error") for text in problems]
        # Interrupted runs and internal errors are failed runs, whatever the tests that did run say.
        if status in (2, 3) or (status and all(row["status"] != "failed" for row in (*rows, *judged))):
            why = _STATUSES.get(status, f"the run ended with exit status {status}")
            judged.append(_problem("run", why, f"exit status {status}"))
        return judged


def _row(node_id: str, test: _Test, measured: Mapping[tuple[SliceRun, str], Report]) -> Row:
    """Returns a test as CTRF has it; `measured` is {(row of the card, case id): report}."""
    path, *names = node_id.split("::")
    status, raw = _status(test)
    last = next((one for one in test.reports if one.failed or one.skipped), None)
    told: Row = {"filePath": path, "rawStatus": raw}
    if last is not None:
        told |= _failure(last)
    if test.reports:
        told |= {
            "start": _milliseconds(test.reports[0].start),
            "stop": _milliseconds(test.reports[-1].stop),
            "line": (test.reports[0].location[1] or 0) + 1,
        }
    if test.attempts:
        told |= {"retries": len(test.attempts), "retryAttempts": test.attempts, "flaky": status == "passed"}
    cases = [case_row(measured[key], slice=key[0].slice) for key in test.cases if key in measured]
    if cases:
        told |= {"tags": ["medfaith"], "extra": {"medfaith": cases[0] if len(cases) == 1 else cases}}
    named = {"name": plain_lines(names[-1] if names else path), "testId": node_id}
    return {
        **named,
        "suite": [path, *names[:-1]],
        "status": status,
        "duration": _duration(test),
        **told,
    }


def _status(test: _Test) -> tuple[str, str]:
    """Returns (status in CTRF, pytest's word for it), as ("failed", "error") for a failed setup."""
    phases = {one.when: one for one in test.reports}
    if any(one.failed for one in test.reports):
        call = phases.get("call")
        return "failed", "failed" if call is not None and call.failed else "error"
    skipped = next((one for one in test.reports if one.skipped), None)
    if skipped is not None:
        return "skipped", "xfailed" if hasattr(skipped, "wasxfail") else "skipped"
    if "call" in phases:
        return "passed", "xpassed" if hasattr(phases["call"], "wasxfail") else "passed"
    if test.attempts:
        return "failed", "rerun"  # the attempt that would have settled it never came
    return "pending", "interrupted" if test.reports else "not run"


def _failure(report: pytest.TestReport) -> Row:
    """Returns the message and trace of a failed phase, or the reason of a skipped test."""
    if report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        return {"message": plain_lines(getattr(report, "wasxfail", "") or reason or "skipped")}
    crash = getattr(report.longrepr, "reprcrash", None)
    trace = plain_lines(report.longreprtext)
    return {"message": plain_lines(crash.message) if crash else _first_line(trace), "trace": trace}


def _problem(name: str, text: str, raw: str) -> Row:
    """Returns a failed test for an error that belongs to no test; `raw` is the raw status."""
    text = plain_lines(text)
    return {
        "name": plain_lines(name),
        "suite": [plain_lines(name)],
        "status": "failed",
        "rawStatus": raw,
        "duration": 0,
        "message": _first_line(text),
        "trace": text,
    }


def _first_line(text: str) -> str:
    return next((line for line in plain_lines(text).split("\n") if line.strip()), "no message")


def _duration(test: _Test) -> int:
    return _milliseconds(sum(one.duration for one in test.reports))


def _milliseconds(seconds: float) -> int:
    return round(1000 * seconds)
