"""The hooks of a run that uses the plugin: they collect what tests measure, and end the run.

They are registered only where a collected test uses the plugin, so other runs pay nothing for them.
`run.finish.run_status` decides the exit status.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_medfaith.run.collected import Collected
    from pytest_medfaith.run.finish import Finish
    from pytest_medfaith.run.progress import ProgressLine
    from pytest_medfaith.run.resources import Resources
    from pytest_medfaith.run.results import Result

MEASURED: pytest.StashKey[bool] = pytest.StashKey()  # of a test: whether it has measured its case
# Of a test: what it measured and has not reported yet.
RESULTS: pytest.StashKey[list[Result]] = pytest.StashKey()
STEPS_MS: pytest.StashKey[dict[str, float]] = pytest.StashKey()  # of a test: the time of its retrieval
_RESOURCES: pytest.StashKey[Resources] = pytest.StashKey()
_COLLECTED: pytest.StashKey[Collected] = pytest.StashKey()
_NAME = "medfaith-run-hooks"
# What a finish makes of pytest's exit status; one that passed leaves it alone.
_EXIT_STATUS = {"failed": pytest.ExitCode.TESTS_FAILED, "unusable": pytest.ExitCode.USAGE_ERROR}
_MEASURED_NOTHING = (
    "medfaith: this test is marked with a slice and passed without measuring its case; expected the fixture "
    "medfaith_report among its arguments"
)
# Fixtures that bring the case to a test; with none of them every case would run the same.
OF_THE_CASE = (
    "medfaith_report",
    "medfaith_response",
    "medfaith_case",
    "medfaith_gold_claims",
    "medfaith_hits",
)


def run_hooks(config: pytest.Config) -> RunHooks:
    """Returns the hooks of this run; the first call registers them."""
    known = config.pluginmanager.get_plugin(_NAME)
    if known is None:
        config.pluginmanager.register(known := RunHooks(config), _NAME)
    return known


def known_hooks(config: pytest.Config) -> RunHooks | None:
    """Returns the hooks of this run, None where no test uses the plugin."""
    return config.pluginmanager.get_plugin(_NAME)


def is_worker(config: pytest.Config) -> bool:
    """Returns whether this process is a worker of pytest-xdist."""
    return hasattr(config, "workerinput")


def resources_of(config: pytest.Config) -> Resources:
    """Returns the `Resources` of this run, which load settings, corpora and models, each once."""
    if _RESOURCES not in config.stash:
        from pytest_medfaith.config import settings_root
        from pytest_medfaith.run.options import options_of
        from pytest_medfaith.run.resources import Resources

        root = settings_root(config.rootpath, config.invocation_params.dir)
        config.stash[_RESOURCES] = Resources(root=root, options=options_of(config))
    return config.stash[_RESOURCES]


def set_failure_text(config: pytest.Config) -> None:
    """Sets how much a failed assertion shows: in the terminal's width, and with -v all claims."""
    from pytest_medfaith.asserts import set_explanations

    everything = config.get_verbosity() > 0 or config.getoption("--medfaith-verbose")
    width = getattr(config, "workerinput", {}).get("medfaith_width") or config.get_terminal_writer().fullwidth
    indent = 8  # pytest writes "E" and 7 spaces before each line
    set_explanations(most=None if everything else 5, width=min(width, 100) - indent)


@contextmanager
def plain_errors(*kinds: type[Exception]) -> Iterator[None]:
    """Turns errors that the package raises on purpose into a test failure without a traceback.

    Args:
        kinds: which errors to turn; those of the package and ValueError where none is given.
    """
    from pytest_medfaith.errors import MedfaithError
    from pytest_medfaith.plain import plain_lines

    try:
        yield
    except Exception as error:
        if not isinstance(error, kinds or (MedfaithError, ValueError)):
            raise
        raise pytest.fail.Exception(plain_lines(f"medfaith: {error}"), pytrace=False) from None


def collected_of(config: pytest.Config) -> Collected:
    """Returns the `Collected` of this run: the cases expected, and the reports that came in."""
    if _COLLECTED not in config.stash:
        from pytest_medfaith.run.collected import Collected

        config.stash[_COLLECTED] = Collected()
    return config.stash[_COLLECTED]


def only_shows(config: pytest.Config) -> bool:
    """Returns whether this run only lists tests or fixtures, as with --collect-only."""
    option = config.option
    return bool(
        option.collectonly or option.setupplan or option.showfixtures or option.show_fixtures_per_test
    )


def uses_medfaith(item: pytest.Item) -> bool:
    """Returns whether a test takes a fixture of the plugin, or has a case by the marker."""
    return _has_case(item) or any(name.startswith("medfaith_") for name in getattr(item, "fixturenames", ()))


def _has_case(item: pytest.Item) -> bool:
    return "medfaith_target" in getattr(getattr(item, "callspec", None), "params", {})


def may_ask_later(item: pytest.Item) -> bool:
    """Returns whether a test takes no fixture of its case but may ask for one while it runs.

    It would ask by `request.getfixturevalue("medfaith_report")`.
    """
    names = set(getattr(item, "fixturenames", ()))
    return _has_case(item) and may_request(item) and not names & set(OF_THE_CASE)


def may_request(item: Any) -> bool:
    """Returns whether a test, or a fixture of its project that it uses, takes pytest's `request`."""
    info = getattr(item, "_fixtureinfo", None)
    if info is None:
        return False
    fixtures = [one for found in info.name2fixturedefs.values() for one in found]
    given = [one for one in fixtures if not one.func.__module__.startswith(("_pytest.", "pytest_medfaith."))]
    return "request" in info.argnames or any("request" in one.argnames for one in given)


def is_shipped(item: Any, fixture: str) -> bool:
    """Returns whether a test uses the plugin's `fixture`, so that no conftest.py overrides it."""
    known = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {}).get(fixture, ())
    return bool(known) and all(found.func.__module__ == "pytest_medfaith.plugin" for found in known)


def forget_collected(config: pytest.Config) -> Collected:
    """Drops all that this run expected and collected, and returns a new, empty `Collected`."""
    if _COLLECTED in config.stash:
        del config.stash[_COLLECTED]
    return collected_of(config)


class RunHooks:
    """The hooks of a run.

    `refused` says why no test ran, or why the run could not be summed up; "" where all is well.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.refused = ""
        self._notes: list[str] = []
        self.whole: list[dict[str, Any]] = []  # what all shards of the run expect together
        self._leaves_out = False  # whether further shards have tests
        self._unanswered = ""  # what a teacher left unanswered apart from the cases of slices
        self._config = config
        self._has_told = False  # whether this worker has sent what it expects
        self._has_lost_worker = False
        self._process = os.getpid()  # which sums up, unless workers run the tests
        self._progress_line: ProgressLine | None = None
        self.finish: Finish | None = None  # how the run ended, once it has

    def refuse(self, items: list[pytest.Item], reason: str) -> None:
        """Empties `items`, so that no test runs, and keeps `reason`; a worker tells its controller."""
        items.clear()
        self.refused = reason
        if is_worker(self._config):
            self._config.workeroutput["medfaith_refused"] = reason  # type: ignore[attr-defined]

    def note_shard(self, whole: list[dict[str, Any]], *, leaves_out: bool) -> None:
        """Notes what all shards together expect; a worker tells its controller.

        `leaves_out` says whether other shards have tests.
        """
        self.whole, self._leaves_out = whole, leaves_out
        if is_worker(self._config):
            self._config.workeroutput["medfaith_shard"] = (whole, leaves_out)  # type: ignore[attr-defined]

    def note(self, text: str) -> None:
        """Shows `text` at the end of the run, once, however many workers say it."""
        self._notes += [text] if text not in self._notes else []
        if is_worker(self._config):
            self._config.workeroutput["medfaith_notes"] = self._notes  # type: ignore[attr-defined]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: Any) -> None:
        """Takes over a worker's notes and its reason to run no test, and notes whether it died."""
        told = getattr(node, "workeroutput", {})
        self.refused = self.refused or told.get("medfaith_refused", "")
        if "medfaith_shard" in told:
            self.whole, self._leaves_out = told["medfaith_shard"]
        self._unanswered = self._unanswered or told.get("medfaith_unanswered", "")
        self._has_lost_worker |= error is not None
        for text in told.get("medfaith_notes", []):
            self.note(text)

    @pytest.hookimpl(tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> Any:
        """Gives the checker of --medfaith-checker in the place of a project's fixture medfaith_checker."""
        if fixturedef.argname != "medfaith_checker" or not self._config.getoption("--medfaith-checker"):
            return None
        from pytest_medfaith.run.commanded import commanded_checker

        with plain_errors():
            return commanded_checker(fixturedef, request, resources_of(self._config))

    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Runs an `async def` test that uses the plugin, where no plugin for async tests does.

        Such a plugin comes first, or has wrapped the test in a plain function.
        """
        if not (inspect.iscoroutinefunction(pyfuncitem.obj) and uses_medfaith(pyfuncitem)):
            return None
        from pytest_medfaith.answers.awaiting import awaited

        names = pyfuncitem._fixtureinfo.argnames  # noqa: SLF001 - as pytest calls a test
        arguments = {name: pyfuncitem.funcargs[name] for name in names}
        awaited(pyfuncitem.obj(**arguments), "the test")
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Attaches what a test measured to its report, which carries it to the process that sums up.

        Where the report leaves the process (pytest-xdist, pytest-forked), results become plain values; in a
        single process the records themselves are attached. A test that passes without measuring its case is
        failed.
        """
        report: Any = yield
        if report.when == "call" and report.passed and may_ask_later(item) and MEASURED not in item.stash:
            report.outcome, report.longrepr = "failed", _MEASURED_NOTHING
        if uses_medfaith(item):
            results = item.stash.get(RESULTS, [])
            travels = is_worker(self._config) or os.getpid() != self._process
            report.medfaith = [result.to_row() for result in results] if travels else results
            item.stash[RESULTS] = []
            if is_worker(self._config) and not self._has_told:
                report.medfaith_expected = collected_of(self._config).expected_values()
                self._has_told = True
        return report

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Takes in what a test of this process or of a worker measured."""
        results, expected = getattr(report, "medfaith", []), getattr(report, "medfaith_expected", [])
        if is_worker(self._config) or not (results or expected):
            return
        from pytest_medfaith.run.results import Result

        collected = collected_of(self._config)
        collected.take_expected(expected)
        results = [one if isinstance(one, Result) else Result.from_row(one) for one in results]
        for result in results:
            collected.add(result, test_id=report.nodeid)
        report.medfaith = []  # pytest keeps every report, and these are large
        report.medfaith_cases = [result.case_key for result in results]
        if self._progress_line is None and _has_progress_line(self._config):
            from pytest_medfaith.run.progress import ProgressLine

            self._progress_line = ProgressLine()

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self) -> None:
        """Shows the progress line from time to time, after what pytest writes of the test."""
        text = self._progress_line.next(collected_of(self._config)) if self._progress_line else None
        if text:
            from pytest_medfaith.run.progress import write_between

            write_between(self._config, text)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Ends the run: sums up, judges gates, writes files, and sets the exit status."""
        if only_shows(self._config):
            return
        if _RESOURCES in self._config.stash:
            self._end_teaching()
        self._sum_up(session, exitstatus)
        if self._unanswered and not is_worker(self._config):
            self.refused = self.refused or self._unanswered
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def _sum_up(self, session: pytest.Session, exitstatus: int) -> None:
        """Sums the run up in the process that does so, unless no test ran or none reported."""
        if self.refused:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        shard = self._config.getoption("--medfaith-shard")
        if self._leaves_out and not self.refused and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            session.exitstatus = exitstatus = pytest.ExitCode.OK  # all tests are in other shards
        has_reported = _COLLECTED in self._config.stash or bool(shard)
        if self._has_lost_worker and not has_reported and self._config.getoption("--medfaith-report"):
            from pytest_medfaith.run.options import report_folder

            folder = report_folder(self._config)
            # That of an earlier run must not pass for this run's.
            (folder / "signature.json").unlink(missing_ok=True)
            self.refused = (
                "no test reported before its worker died, so nothing was measured, "
                f"and {folder} holds no finished run"
            )
        if self.refused or is_worker(self._config) or not has_reported:
            return
        from _pytest.junitxml import xml_key

        from pytest_medfaith.errors import MedfaithError
        from pytest_medfaith.run.finish import end_run
        from pytest_medfaith.run.sharding import end_shard

        interrupted = exitstatus in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR)
        xml = self._config.stash.get(xml_key, None)
        add_property = xml.add_global_property if xml else None
        end = partial(end_shard, whole=self.whole) if shard else partial(end_run, add_property=add_property)
        try:
            self.finish = end(resources_of(self._config), collected_of(self._config), is_partial=interrupted)
        except (MedfaithError, OSError, ValueError) as error:
            self.refused = f"the run could not be summed up: {error}"
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
            return
        for text in () if self.finish.reports else self.finish.notes:  # of a shard without a case
            self.note(text)
        if not interrupted and self.finish.status in _EXIT_STATUS:
            session.exitstatus = _EXIT_STATUS[self.finish.status]

    def _end_teaching(self) -> None:
        """Saves what the teacher said in this process, and notes requests that belong to no case."""
        from pytest_medfaith.run.teaching import end_teaching

        notes, why = end_teaching(resources_of(self._config))
        for text in notes:
            self.note(text)
        self._unanswered = self._unanswered or why
        if is_worker(self._config):
            self._config.workeroutput["medfaith_unanswered"] = why  # type: ignore[attr-defined]

    @pytest.hookimpl(tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Prints the card and notes, or why no test ran."""
        if self.finish and self.finish.reports:
            from pytest_medfaith.run.terminal import print_summary

            verbose = self._config.getoption("--medfaith-verbose")
            print_summary(self.finish, terminalreporter, verbose=verbose)
        from pytest_medfaith.plain import plain_lines

        if self._notes:
            if not (self.finish and self.finish.reports):
                terminalreporter.section("medfaith")
            for text in self._notes:
                terminalreporter.write_line(plain_lines(text))
        self._annotate(terminalreporter)
        if self.refused:
            terminalreporter.section("medfaith")
            terminalreporter.write_line(plain_lines(f"ERROR: {self.refused}"), red=True, bold=True)

    def _annotate(self, terminal: pytest.TerminalReporter) -> None:
        """Prints annotations for GitHub Actions, where this is such a job and something failed."""
        ended = [*terminal.stats.get("failed", []), *terminal.stats.get("error", [])]
        failed = [test for test in ended if hasattr(test, "medfaith")]
        if not (self.finish or self.refused or failed):
            return
        from pytest_medfaith.cards.github import annotation, on_actions

        if not on_actions():
            return
        from pytest_medfaith.run.terminal import print_annotations

        print_annotations(self.finish, failed, terminal)
        if self.refused:
            terminal.write_line(annotation(self.refused, title="medfaith"))


def _has_progress_line(config: pytest.Config) -> bool:
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    return (
        terminal is not None
        and bool(terminal.isatty)
        and config.get_verbosity() >= 0
        and not os.environ.get("CI")
    )
