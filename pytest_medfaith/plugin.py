"""The pytest plugin: options, marker, fixtures and hooks. It imports the standard library and pytest, nothing else, at load."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker
    from pytest_medfaith.checking.judge import AnyChecker
    from pytest_medfaith.config import Settings
    from pytest_medfaith.records import Case, Claim, GoldClaim, Report, Response
    from pytest_medfaith.retrieval.ranking import Retriever
    from pytest_medfaith.run.resources import Resources
    from pytest_medfaith.run.targets import Target

# Options that ask for a slice to be measured.
_MEASURING = ("--medfaith-gate", "--medfaith-update-baseline", "--medfaith-audit", "--medfaith-slice")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the --medfaith-* options."""
    group = parser.getgroup("medfaith", "medical RAG answers checked claim by claim (pytest-medfaith)")

    def add(name: str, text: str, **attributes: Any) -> None:
        group.addoption(f"--medfaith-{name}", help=text, **attributes)

    again: dict[str, Any] = {"action": "append", "default": []}
    add("slice", "run only this slice, and no other marked test; may be given again", metavar="NAME", **again)
    add(
        "limit",
        "at most N cases of each slice: the first, or with --medfaith-seed a random part",
        metavar="N",
        type=_one_or_more,
    )
    add(
        "seed", "seed of the intervals, and of the part that --medfaith-limit takes", metavar="SEED", type=int
    )
    add(
        "retriever",
        "such as bm25, dense, rrf or weighted, or a dotted name module:factory; again for an ablation",
        metavar="NAME",
        **again,
    )
    add("k", "how many chunks to retrieve", metavar="K", type=_one_or_more)
    add(
        "checker",
        "default or fast, a model folder, a dotted name module:judge, or a Hugging Face name; again for an ablation",
        metavar="NAME",
        **again,
    )
    add("rules-off", "switch off this medical or safety rule; may be given again", metavar="NAME", **again)
    add(
        "gate",
        "a gate for every slice, such as 'hallucination <= 0.05'; may be given again",
        metavar="EXPR",
        **again,
    )
    add(
        "baseline",
        "the file that gates compare with, or the number of a kept one (medfaith-baseline.json)",
        metavar="FILE",
    )
    add(
        "update-baseline",
        "write what this run measures to the baseline; commit the file",
        action="store_true",
    )
    add("audit", "after the tests, audit the checker on the corpora of their slices", action="store_true")
    add(
        "report",
        "write the run folder there: card.html, card.md, report.json, claims.csv, every score",
        metavar="DIR",
    )
    add("verbose", "show intervals in the card, and every claim that failed", action="store_true")


def _one_or_more(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of 1 or more")
    return int(text)


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker; finds out now whether what the run will write can be written, not after it."""
    config.addinivalue_line(
        "markers",
        "medfaith(slice, k=, retriever=, checker=, limit=, gates=, NAME_at_least=, NAME_at_most=): run the test once for every case of a "
        'configured slice, as in @pytest.mark.medfaith("samples", retriever=["bm25", "rrf"], hallucination_at_most=0.05). A list of '
        "retrievers or checkers makes an ablation; gates and bounds are judged once, over the whole slice, and can fail the run.",
    )
    report, update = config.getoption("--medfaith-report"), config.getoption("--medfaith-update-baseline")
    if (report or update) and not hasattr(config, "workerinput") and not config.option.collectonly:
        from pytest_medfaith.cards.run_folder import check_writable
        from pytest_medfaith.errors import MedfaithError
        from pytest_medfaith.gates.baseline import check_baseline_writable
        from pytest_medfaith.run.options import report_folder

        try:
            if report:
                check_writable(report_folder(config))
            if update:
                check_baseline_writable(_resources(config).baseline_path)
        except MedfaithError as error:
            raise pytest.UsageError(str(error)) from None


def pytest_sessionstart(session: pytest.Session) -> None:
    """Marks the report folder as unfinished before anything is collected: a run that dies must not leave an earlier run's result."""
    option = session.config.option
    only_shown = (
        option.collectonly or option.setupplan or option.showfixtures or option.show_fixtures_per_test
    )
    if (
        session.config.getoption("--medfaith-report")
        and not hasattr(session.config, "workerinput")
        and not only_shown
    ):
        from pytest_medfaith.run.hooks import begin_report

        begin_report(session.config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Makes one test item per case of the marked slice."""
    marker = metafunc.definition.get_closest_marker("medfaith")
    if marker is None:
        return
    with _plain_errors():
        from pytest_medfaith.run.collection import targets_of

        targets, ids = targets_of(metafunc, marker)
    if "medfaith_target" not in metafunc.fixturenames:
        metafunc.fixturenames.append("medfaith_target")
    metafunc.parametrize("medfaith_target", targets, ids=ids, indirect=True)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector, obj: object) -> None:
    """Refuses a marked unittest.TestCase, whose tests would run once and without cases."""
    unittest = sys.modules.get("unittest.case")
    if unittest is None or not isinstance(obj, type) or not issubclass(obj, unittest.TestCase):
        return
    marks = [
        mark for kind in obj.__mro__ for value in (kind, *vars(kind).values()) for mark in _own_marks(value)
    ]
    if any(mark.name == "medfaith" for mark in (*marks, *collector.iter_markers())):
        raise pytest.fail.Exception(
            f"medfaith: {obj.__name__} is marked with medfaith and is a unittest.TestCase, which pytest runs once, without cases; write a "
            "function with the fixture medfaith_report, or a class that does not inherit from TestCase",
            pytrace=False,
        )


def _own_marks(value: object) -> list[Any]:
    marks = getattr(value, "__dict__", {}).get("pytestmark", ())
    return [getattr(mark, "mark", mark) for mark in (marks if isinstance(marks, (list, tuple)) else [marks])]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects the slices that --medfaith-slice left out, and notes what the others are there for."""
    if "pytest_medfaith.run.collection" not in sys.modules:  # no test is marked
        return
    from pytest_medfaith.run.collection import is_parametrized, note_marked, target_of

    left_out = [item for item in items if target_of(item) is None and is_parametrized(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    note_marked(config, items)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Notes which cases will run. Where it is clear already that what was asked for cannot be judged, no test runs."""
    config, items = session.config, session.items
    if "pytest_medfaith.asserts" in sys.modules:
        _tell(config)
    if (
        config.option.collectonly or config.option.setupplan or session.testsfailed
    ):  # what went wrong while they were collected is said
        return
    asked = [option for option in _MEASURING if config.getoption(option)]
    marked = "pytest_medfaith.run.collection" in sys.modules or any(
        mark.name == "medfaith" for item in items for mark in item.own_markers
    )
    if not (
        asked
        or marked
        or any(name.startswith("medfaith_") for item in items for name in getattr(item, "fixturenames", ()))
    ):
        return
    from pytest_medfaith.run.collection import expect_measured

    expect_measured(config, items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(call: pytest.CallInfo[Any]) -> None:
    """Hides the package's frames in what it raises on purpose, so that a failure ends at the test's line; --full-trace shows them."""
    if call.excinfo is not None and "pytest_medfaith.errors" in sys.modules:
        from pytest_medfaith.frames import hide_frames

        hide_frames(call.excinfo.value)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tells a worker how wide the terminal is, which it lacks, and what the command line says, which it has not seen."""
    config = node.config
    node.workerinput["medfaith_said"] = [str(argument) for argument in config.invocation_params.args]
    node.workerinput["medfaith_picked"] = config.args_source is pytest.Config.ArgsSource.ARGS
    if node.config.pluginmanager.hasplugin("terminalreporter"):
        node.workerinput["medfaith_width"] = node.config.get_terminal_writer().fullwidth


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any) -> None:
    """Awaits what the workers' tests measure; the controller never sees their items."""
    from pytest_medfaith.run.hooks import run_hooks

    run_hooks(node.config)


def _resources(config: pytest.Config) -> Resources:
    from pytest_medfaith.run.hooks import resources_of

    return resources_of(config)


@contextmanager
def _plain_errors(*kinds: type[Exception]) -> Iterator[None]:
    """Turns what the package raises on purpose into a failure without a traceback; the message says what to do."""
    from pytest_medfaith.errors import MedfaithError
    from pytest_medfaith.plain import plain_lines

    try:
        yield
    except Exception as error:
        if not isinstance(error, kinds or (MedfaithError, ValueError)):
            raise
        raise pytest.fail.Exception(plain_lines(f"medfaith: {error}"), pytrace=False) from None


def _tell(config: pytest.Config) -> None:
    """Lets the assertions of this run tell failures in the terminal's width, and all of them with -v."""
    from pytest_medfaith.asserts import set_account

    everything = config.get_verbosity() > 0 or config.getoption("--medfaith-verbose")
    width = getattr(config, "workerinput", {}).get("medfaith_width") or config.get_terminal_writer().fullwidth
    set_account(
        most=None if everything else 5, width=min(width, 100) - 8
    )  # pytest writes "E" and 7 spaces before each line


@pytest.fixture
def medfaith_target(request: pytest.FixtureRequest) -> Target:
    """The slice, retriever, checker and case of this test item (made by the marker medfaith)."""
    if not hasattr(request, "param"):
        pytest.fail(
            'medfaith: this test has no case; mark it with @pytest.mark.medfaith("slice"), or use medfaith_check without a slice',
            pytrace=False,
        )
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(scope="session")
def medfaith_settings(request: pytest.FixtureRequest) -> Settings:
    """The settings of [tool.medfaith] in pyproject.toml, or of medfaith.toml."""
    with _plain_errors():
        return _resources(request.config).settings


@pytest.fixture
def medfaith_case(medfaith_target: Target) -> Case:
    """The case of this test item: question, gold claims, reference answer, references."""
    return medfaith_target.case


@pytest.fixture
def medfaith_gold_claims(medfaith_case: Case) -> tuple[GoldClaim, ...]:
    """The gold claims of the case."""
    return medfaith_case.gold_claims


@pytest.fixture
def medfaith_retriever(request: pytest.FixtureRequest, medfaith_target: Target) -> Retriever | None:
    """The slice's retriever, `(query, *, top_k) -> hits`, or None for a slice without a corpus. Override it to test your own."""
    if not medfaith_target.settings.corpus:
        return None
    with _plain_errors():
        return _resources(request.config).retriever(medfaith_target.settings)


@pytest.fixture
def medfaith_checker(request: pytest.FixtureRequest) -> Checker:
    """The checker, `(claim, chunks) -> verdict`. Override it with another checker, or a plain callable of that shape."""
    target = getattr(getattr(request.node, "callspec", None), "params", {}).get("medfaith_target")
    with _plain_errors():
        return _resources(request.config).checker(target.settings.checker if target else "default")


@pytest.fixture
def medfaith_extractor() -> Callable[..., list[Claim]]:
    """The extractor, `(answer, *, question) -> claims`. Override it to split answers your own way."""
    from pytest_medfaith.claims.split import extract_claims

    return extract_claims


@pytest.fixture(scope="session")
def medfaith_rag() -> Callable[[str], Any] | None:
    """The system under test, `question -> Response | answer | (answer, contexts)`, plain or async; rows of answers are replayed.

    None replays the slice's recorded responses.
    """
    return None


@pytest.fixture
def medfaith_hits(medfaith_target: Target, medfaith_retriever: Retriever | None) -> list[Any]:
    """What the retriever found for the case's question, best first."""
    if medfaith_retriever is None:
        return []
    from pytest_medfaith.answers.awaiting import awaited
    from pytest_medfaith.retrieval.ranking import checked_hits

    case, k = medfaith_target.case, medfaith_target.settings.k
    with _plain_errors():
        found = awaited(medfaith_retriever(case.question, top_k=k), "what the retriever gives")
        return checked_hits(found, k=k, case=case.id)


@pytest.fixture
def medfaith_response(
    request: pytest.FixtureRequest,
    medfaith_target: Target,
    medfaith_rag: Callable[[str], Any] | None,
    medfaith_hits: list[Any],
) -> Response:
    """The response to the case's question: recorded, or freshly made by medfaith_rag."""
    from pytest_medfaith.answers.foreign import is_rows
    from pytest_medfaith.answers.responses import as_response, ask
    from pytest_medfaith.run.targets import recorded_response

    if medfaith_rag is None or is_rows(medfaith_rag):
        with _plain_errors():
            return recorded_response(_resources(request.config), medfaith_target, rows=medfaith_rag)
    from pytest_medfaith.errors import MedfaithError

    with _plain_errors(MedfaithError):  # what the RAG raises of its own keeps its traceback
        answer = ask(medfaith_rag, medfaith_target.case.question)
    with _plain_errors():
        return as_response(answer, case_id=medfaith_target.case.id, hits=medfaith_hits)


@pytest.fixture
def medfaith_report(
    request: pytest.FixtureRequest,
    medfaith_target: Target,
    medfaith_response: Response,
    medfaith_checker: AnyChecker,
    medfaith_extractor: Callable[..., list[Claim]],
    medfaith_hits: list[Any],
    medfaith_retriever: Retriever | None,
) -> Report:
    """The response of the case, checked claim by claim; it counts towards the slice's card and gates."""
    from pytest_medfaith.cards.junit import case_properties
    from pytest_medfaith.checking.judge import as_checker
    from pytest_medfaith.run.hooks import MEASURED, RESULTS
    from pytest_medfaith.run.results import Result, plain_report
    from pytest_medfaith.run.signature import brought_signature
    from pytest_medfaith.run.targets import report_on

    resources, settings, node = _resources(request.config), medfaith_target.settings, request.node
    with _plain_errors():
        checker = as_checker(medfaith_checker)
        report = report_on(
            medfaith_target,
            medfaith_response,
            checker=checker,
            extractor=medfaith_extractor,
            hits=None if medfaith_retriever is None and not medfaith_hits else medfaith_hits,
            rulebook=resources.rulebook,
            declared=resources.metrics,
        )
        brought = brought_signature(resources, checker, configured=settings.checker)
        node.stash[MEASURED] = True
        result = Result(
            run=medfaith_target.run, report=plain_report(report), gates=settings.gates, checker=brought
        )
        node.stash.setdefault(RESULTS, []).append(result)
    # A test that runs again has the properties of its first run still.
    others = [one for one in node.user_properties if not one[0].startswith("medfaith.")]
    node.user_properties[:] = [*others, *case_properties(report, slice=settings.name)]
    _tell(request.config)
    return report


@pytest.fixture
def medfaith_check(
    request: pytest.FixtureRequest,
    medfaith_checker: AnyChecker,
    medfaith_extractor: Callable[..., list[Claim]],
) -> Callable[..., Report]:
    """A callable `(answer, *, contexts, question=None, gold_claims=None) -> Report`, for tests that have no slice."""
    from functools import partial

    from pytest_medfaith.asserts import check_answer

    _tell(request.config)
    with _plain_errors():
        resources = _resources(request.config)
        return partial(
            check_answer,
            checker=medfaith_checker,
            extractor=medfaith_extractor,
            rulebook=resources.rulebook,
            declared=resources.metrics,
        )
