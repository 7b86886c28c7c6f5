"""The hooks of a run that uses the plugin: they carry what tests measure to the process that sums up, and end the run.

plugin.py registers them when a collected test asks for one of its fixtures, so that every other run pays nothing for a test.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_medfaith.run.finish import Finish
    from pytest_medfaith.run.progress import LiveLine
    from pytest_medfaith.run.resources import MedfaithSession

MEASURED: pytest.StashKey[bool] = pytest.StashKey()
PAYLOADS: pytest.StashKey[list[dict[str, Any]]] = pytest.StashKey()
_SESSION: pytest.StashKey[MedfaithSession] = pytest.StashKey()
_NAME = "medfaith-watch"
_MEASURED_NOTHING = "medfaith: this test is marked with a slice and passed without measuring its case; expected the fixture medfaith_report among its arguments"
# Fixtures that bring the case to a test; with none of them every case would run the same.
OF_THE_CASE = (
    "medfaith_report",
    "medfaith_response",
    "medfaith_case",
    "medfaith_gold_claims",
    "medfaith_hits",
)


def watch(config: pytest.Config) -> Watch:
    """Returns the hooks of this run, registered when first asked for."""
    known = config.pluginmanager.get_plugin(_NAME)
    if known is None:
        config.pluginmanager.register(known := Watch(config), _NAME)
    return known


def is_worker(config: pytest.Config) -> bool:
    """Returns whether this process is a worker of pytest-xdist."""
    return hasattr(config, "workerinput")


def session_of(config: pytest.Config) -> MedfaithSession:
    """Returns what this run knows, made when first asked for."""
    if _SESSION not in config.stash:
        config.stash[_SESSION] = _new_session(config)
    return config.stash[_SESSION]


def _new_session(config: pytest.Config) -> MedfaithSession:
    from pytest_medfaith.config import settings_root
    from pytest_medfaith.run.resources import MedfaithSession, Options

    option = config.getoption
    file, number = _baseline(config)
    options = Options(
        slices=tuple(option("--medfaith-slice")),
        k=option("--medfaith-k"),
        retriever=tuple(option("--medfaith-retriever")),
        checker=tuple(option("--medfaith-checker")),
        limit=option("--medfaith-limit"),
        seed=option("--medfaith-seed"),
        gates=tuple(option("--medfaith-gate")),
        rules_off=tuple(option("--medfaith-rules-off")),
        report=report_folder(config) if option("--medfaith-report") else None,
        baseline=file,
        kept_baseline=number,
        update_baseline=option("--medfaith-update-baseline"),
        audit=option("--medfaith-audit"),
        verbose=option("--medfaith-verbose"),
    )
    root = settings_root(config.rootpath, config.invocation_params.dir)
    return MedfaithSession(root=root, options=options)


def _baseline(config: pytest.Config) -> tuple[Path | None, int | None]:
    """Returns the file and the number of --medfaith-baseline: 0007 is a kept copy, unless a file of that name is there."""
    said = config.getoption("--medfaith-baseline")
    file = Path(config.invocation_params.dir, said) if said else None
    if file is None or not (said.isascii() and said.isdecimal()) or file.exists():
        return file, None
    if config.getoption("--medfaith-update-baseline"):
        raise pytest.UsageError(
            f"--medfaith-baseline is {said}, a kept copy, which is never written over; leave it out, or give a file for --medfaith-update-baseline"
        )
    return None, int(said)


def report_folder(config: pytest.Config) -> Path:
    """Returns the folder of --medfaith-report, which is relative to where pytest was started."""
    return Path(config.invocation_params.dir, config.getoption("--medfaith-report"))


def begin_report(config: pytest.Config) -> None:
    """Takes away what an earlier run left in the folder of --medfaith-report, so that it cannot pass for the result of this one.

    Raises:
        UsageError: the folder cannot be written, or what would be written there is what a slice reads.
    """
    from pytest_medfaith.cards.run_begin import begin_run, check_report_folder
    from pytest_medfaith.errors import MedfaithError

    session = _new_session(config)  # not the run's: that no test has asked for it tells of workers that died
    try:
        check_report_folder(report_folder(config), session.settings, baseline=session.baseline_path)
        begin_run(report_folder(config))
    except (MedfaithError, ValueError) as error:
        raise pytest.UsageError(str(error)) from None


def only_shows(config: pytest.Config) -> bool:
    """Returns whether this run shows tests or fixtures and runs none."""
    option = config.option
    return bool(
        option.collectonly or option.setupplan or option.showfixtures or option.show_fixtures_per_test
    )


def uses_medfaith(item: pytest.Item) -> bool:
    """Returns whether a test asks for a fixture of the plugin, or has a case and may ask while it runs."""
    return _has_case(item) or any(name.startswith("medfaith_") for name in getattr(item, "fixturenames", ()))


def _has_case(item: pytest.Item) -> bool:
    return "medfaith_target" in getattr(getattr(item, "callspec", None), "params", {})


def may_ask_later(item: pytest.Item) -> bool:
    """Returns whether a test with a case asks for nothing of it by name and may do so while it runs (`request.getfixturevalue`)."""
    return (
        _has_case(item)
        and may_request(item)
        and not set(getattr(item, "fixturenames", ())) & set(OF_THE_CASE)
    )


def may_request(item: Any) -> bool:
    """Returns whether a test, or a fixture of the project that it asks for, takes pytest's `request`."""
    info = getattr(item, "_fixtureinfo", None)
    if info is None:
        return False
    fixtures = [one for found in info.name2fixturedefs.values() for one in found]
    given = [one for one in fixtures if not one.func.__module__.startswith(("_pytest.", "pytest_medfaith."))]
    return "request" in info.argnames or any("request" in one.argnames for one in given)


class Watch:
    """The hooks; `refused` says why no test ran, or why what ran could not be summed up."""

    def __init__(self, config: pytest.Config) -> None:
        self.refused = ""
        self._notes: list[str] = []
        self._config = config
        self._has_told = False
        self._has_lost_worker = False
        self._live_line: LiveLine | None = None
        self._finish: Finish | None = None

    def refuse(self, items: list[pytest.Item], reason: str) -> None:
        """Runs none of `items`; the controller learns of it from its workers."""
        items.clear()
        self.refused = reason
        if is_worker(self._config):
            self._config.workeroutput["medfaith_refused"] = reason  # type: ignore[attr-defined]

    def note(self, text: str) -> None:
        """Says `text` at the end of the run, once for all workers."""
        self._notes += [text] if text not in self._notes else []
        if is_worker(self._config):
            self._config.workeroutput["medfaith_notes"] = self._notes  # type: ignore[attr-defined]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: Any) -> None:
        """Takes over from a worker why it ran no test, and notes whether it died."""
        self.refused = self.refused or getattr(node, "workeroutput", {}).get("medfaith_refused", "")
        self._has_lost_worker |= error is not None
        for text in getattr(node, "workeroutput", {}).get("medfaith_notes", []):
            self.note(text)

    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Runs an `async def` test that uses the plugin where no plugin for async tests takes it; those come first, or have wrapped it."""
        if not (inspect.iscoroutinefunction(pyfuncitem.obj) and uses_medfaith(pyfuncitem)):
            return None
        from pytest_medfaith.answers.awaiting import awaited

        arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}  # noqa: SLF001 - as pytest calls a test
        awaited(pyfuncitem.obj(**arguments), "the test")
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Hangs what a test measured on its report, which is how it travels from a worker to the controller."""
        report: Any = yield
        if report.when == "call" and report.passed and may_ask_later(item) and MEASURED not in item.stash:
            report.outcome, report.longrepr = "failed", _MEASURED_NOTHING
        if uses_medfaith(item):
            report.medfaith = item.stash.get(PAYLOADS, [])
            item.stash[PAYLOADS] = []
            if is_worker(self._config) and not self._has_told:
                report.medfaith_expected = session_of(self._config).ledger.expectations()
                self._has_told = True
        return report

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Takes in what a test measured; on the controller when workers run the tests."""
        payloads, expected = getattr(report, "medfaith", []), getattr(report, "medfaith_expected", [])
        if is_worker(self._config) or not (payloads or expected):
            return
        session_of(self._config).ledger.expect_all(expected)
        for payload in payloads:
            session_of(self._config).ledger.add(payload, test_id=report.nodeid)
        report.medfaith = []  # pytest keeps every report, and these are large
        if self._live_line is None and _has_live_line(self._config):
            from pytest_medfaith.run.progress import LiveLine

            self._live_line = LiveLine()

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self) -> None:
        """Shows the live line from time to time, after what pytest writes of the test."""
        text = self._live_line.next(session_of(self._config).ledger) if self._live_line else None
        if text:
            _write_between(self._config, text)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Sums up every slice, judges its gates, and lets a failed gate fail the run."""
        if only_shows(self._config):
            return
        if self.refused:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        if (
            self._has_lost_worker
            and _SESSION not in self._config.stash
            and self._config.getoption("--medfaith-report")
        ):
            self._disown_report()
        if self.refused or is_worker(self._config) or _SESSION not in self._config.stash:
            return
        from pytest_medfaith.errors import MedfaithError
        from pytest_medfaith.run.finish import finish_run

        interrupted = exitstatus in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR)
        try:
            self._finish = finish_run(
                session_of(self._config), partial=interrupted, add_property=_junit_property(self._config)
            )
        except (MedfaithError, OSError, ValueError) as error:
            self.refused = f"the run could not be summed up: {error}"
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
            return
        if self._finish.status != "passed" and not interrupted:
            session.exitstatus = (
                pytest.ExitCode.USAGE_ERROR
                if self._finish.status == "unusable"
                else pytest.ExitCode.TESTS_FAILED
            )

    @pytest.hookimpl(tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Prints the card, or why no test ran."""
        if self._finish and self._finish.reports:
            from pytest_medfaith.run.terminal import print_summary

            print_summary(self._finish, session_of(self._config), terminalreporter)
        from pytest_medfaith.plain import plain_lines

        if self._notes:
            if not (self._finish and self._finish.reports):
                terminalreporter.section("medfaith")
            for text in self._notes:
                terminalreporter.write_line(plain_lines(text))
        self._annotate(terminalreporter)
        if self.refused:
            terminalreporter.section("medfaith")
            terminalreporter.write_line(plain_lines(f"ERROR: {self.refused}"), red=True, bold=True)

    def _disown_report(self) -> None:
        """Where every worker died before its first test had reported, what an earlier run left in the run folder must not pass for this one."""
        folder = report_folder(self._config)
        (folder / "signature.json").unlink(missing_ok=True)
        self.refused = f"no test reported before its worker died, so nothing was measured, and {folder} holds no finished run"

    def _annotate(self, terminal: pytest.TerminalReporter) -> None:
        """Prints annotations on GitHub Actions, where there is something to say; other runs import nothing for it."""
        failed = [
            test
            for kind in ("failed", "error")
            for test in terminal.stats.get(kind, [])
            if hasattr(test, "medfaith")
        ]
        if not (self._finish or self.refused or failed):
            return
        from pytest_medfaith.cards.github import annotation, on_actions

        if not on_actions():
            return
        from pytest_medfaith.run.terminal import print_annotations

        print_annotations(self._finish, session_of(self._config), failed, terminal)
        if self.refused:
            terminal.write_line(annotation(self.refused, title="medfaith"))


def _junit_property(config: pytest.Config) -> Callable[[str, object], None] | None:
    from _pytest.junitxml import xml_key

    xml = config.stash.get(xml_key, None)
    return xml.add_global_property if xml else None


def _has_live_line(config: pytest.Config) -> bool:
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    return (
        terminal is not None
        and bool(terminal.isatty)
        and config.get_verbosity() >= 0
        and not os.environ.get("CI")
    )


def _write_between(config: pytest.Config, text: str) -> None:
    """Writes a line of its own between the dots or lines that pytest writes of tests."""
    terminal: Any = config.pluginmanager.get_plugin("terminalreporter")
    writer = config.get_terminal_writer()
    terminal.ensure_newline()  # and pytest begins a new line for the next test, except for those of workers
    if writer.width_of_current_line:
        writer.line()
    writer.write(text + "\n" * config.pluginmanager.hasplugin("dsession"), flush=True, cyan=True)
