"""The pytest plugin: options, marker, fixtures and hooks. It imports the standard library and pytest, nothing else, at load."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker
    from pytest_medfaith.config import Settings
    from pytest_medfaith.records import Case, Claim, GoldClaim, Report, Response
    from pytest_medfaith.retrieval.ranking import Retriever
    from pytest_medfaith.session import MedfaithSession, Target

_NOT_SELECTED = "not-selected"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the --medfaith-* options."""
    group = parser.getgroup("medfaith", "medical RAG answers checked claim by claim (pytest-medfaith)")

    def add(name: str, text: str, **attributes: Any) -> None:
        group.addoption(f"--medfaith-{name}", help=text, **attributes)

    again: dict[str, Any] = {"action": "append", "default": []}
    add("slice", "run only this slice, and no other marked test; may be given again", metavar="NAME", **again)
    add("limit", "at most N cases of each slice: the first, or with --medfaith-seed a random part", metavar="N", type=_one_or_more)
    add("seed", "seed of the intervals, and of the part that --medfaith-limit takes", metavar="SEED", type=int)
    add("retriever", "bm25, dense, rrf, weighted, or a dotted name module:factory; again for an ablation", metavar="NAME", **again)
    add("k", "how many chunks to retrieve", metavar="K", type=_one_or_more)
    add("checker", "default (shipped), a model folder, or a Hugging Face name; again for an ablation", metavar="NAME", **again)
    add("rules-off", "switch off this medical or safety rule; may be given again", metavar="NAME", **again)
    add("gate", "a gate for every slice, such as 'hallucination <= 0.05'; may be given again", metavar="EXPR", **again)
    add("baseline", "the file that gates compare with (medfaith-baseline.json where left out)", metavar="FILE")
    add("update-baseline", "write what this run measures to the baseline; commit the file", action="store_true")
    add("audit", "after the tests, audit the checker on the corpora of their slices", action="store_true")
    add("report", "write the run folder there: card.html, card.md, report.json, claims.csv, every score", metavar="DIR")
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
        from pytest_medfaith.watch import report_folder

        try:
            if report:
                check_writable(report_folder(config))
            if update:
                check_baseline_writable(_session(config).baseline_path)
        except MedfaithError as error:
            raise pytest.UsageError(str(error)) from None


def pytest_sessionstart(session: pytest.Session) -> None:
    """Marks the report folder as unfinished before anything is collected: a run that dies must not leave an earlier run's result."""
    option = session.config.option
    only_shown = option.collectonly or option.setupplan or option.showfixtures or option.show_fixtures_per_test
    if session.config.getoption("--medfaith-report") and not hasattr(session.config, "workerinput") and not only_shown:
        from pytest_medfaith.watch import begin_report

        begin_report(session.config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Makes one test item per case of the marked slice."""
    marker = metafunc.definition.get_closest_marker("medfaith")
    if marker is None:
        return
    with _plain_errors():
        if sum(mark.name == "medfaith" for mark in metafunc.definition.own_markers) > 1:
            raise ValueError("this test has two markers medfaith, and would run for one of their slices only; write a test for each")
        targets, ids = _parametrization(metafunc.config, marker)
    if "medfaith_target" not in metafunc.fixturenames:
        metafunc.fixturenames.append("medfaith_target")
    metafunc.parametrize("medfaith_target", targets, ids=ids, indirect=True)


def _parametrization(config: pytest.Config, marker: pytest.Mark) -> tuple[list[Any], list[str]]:
    if len(marker.args) != 1 or not isinstance(marker.args[0], str):
        raise ValueError(
            f'the marker medfaith got {marker.args!r}; expected the name of one slice, as in @pytest.mark.medfaith("medquad-nih")'
        )
    session = _session(config)
    for name in session.options.slices:
        session.settings.slice(name)
    if session.options.slices and marker.args[0] not in session.options.slices:
        return [None], [_NOT_SELECTED]
    targets = session.targets(marker.args[0], marker.kwargs)
    retrievers = {target.settings.retriever for target in targets}
    checkers = {target.settings.checker for target in targets}
    ids = [
        "-".join([target.settings.retriever] * (len(retrievers) > 1) + [target.settings.checker] * (len(checkers) > 1) + [target.case.id])
        for target in targets
    ]
    return targets, ids


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects the slices that --medfaith-slice left out."""
    left_out = [item for item in items if _param(item) is None and _is_marked(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Notes which cases will run. Where it is clear already that their gates cannot be judged, no test runs."""
    config, items = session.config, session.items
    if "pytest_medfaith.asserts" in sys.modules:
        _tell(config)
    used = [item for item in items if any(name.startswith("medfaith_") for name in _fixtures(item))]
    wanted = config.getoption("--medfaith-update-baseline") or config.getoption("--medfaith-slice")
    if not (used or wanted) or config.option.collectonly or config.option.setupplan:
        return
    from pytest_medfaith.watch import watch

    hooks = watch(config)
    marked = [(item, target) for item in used if (target := _param(item)) is not None]
    expected = [(item, target) for item, target in marked if "medfaith_report" in _fixtures(item)]
    for item, target in expected:
        _session(config).expect([target], test_id=item.nodeid)
    if session.testsfailed:  # while they were collected: what went wrong there is said
        return
    reason = _nothing_measured(config, [target for _, target in marked], [target for _, target in expected])
    reason = reason or (_reason_to_refuse(config) if expected else "")
    if reason:
        hooks.refuse(items, reason)


def _nothing_measured(config: pytest.Config, marked: Sequence[Target], measured: Sequence[Target]) -> str:
    """Returns why what was asked for would be passed over in silence, or nothing: a gate that nobody judges must not look like one that holds.

    Args:
        config: of the run.
        marked: of every test with the marker.
        measured: of those that ask for medfaith_report.
    """
    how = "ask for the fixture medfaith_report in a test of the slice"
    if config.getoption("--medfaith-update-baseline") and not measured:
        return f"--medfaith-update-baseline was given, but no test measures a slice; {how}"
    if _is_narrowed(config):
        return ""
    untested = set(config.getoption("--medfaith-slice")) - {target.settings.name for target in marked}
    if untested:
        return (
            f"--medfaith-slice was given, but no test is marked with {_names(untested)}; expected @pytest.mark.medfaith(...) with its name"
        )
    unjudged = {target.settings.name for target in marked if target.settings.gates} - {target.settings.name for target in measured}
    if unjudged:
        return f"the gates of slice {_names(unjudged)} would not be judged, since no test measures it; {how}"
    return ""


def _names(slices: Collection[str]) -> str:
    return ", ".join(map(repr, sorted(slices)))


def _is_narrowed(config: pytest.Config) -> bool:
    """Returns whether the command line picks single tests or files, so that others may be left out on purpose."""
    option = config.option
    chosen = (
        option.keyword,
        option.markexpr,
        option.deselect,
        *(getattr(option, name, None) for name in ("lf", "failedfirst", "stepwise")),
    )
    return any(chosen) or any("::" in name or name.endswith(".py") for name in config.args)


def _fixtures(item: pytest.Item) -> list[str]:
    return getattr(item, "fixturenames", [])


def _reason_to_refuse(config: pytest.Config) -> str:
    from pytest_medfaith.errors import MedfaithError

    try:
        _session(config).check_baseline()
    except (MedfaithError, ValueError) as error:
        return str(error)
    return ""


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tells a worker how wide the terminal is; it has none."""
    if node.config.pluginmanager.hasplugin("terminalreporter"):
        node.workerinput["medfaith_width"] = node.config.get_terminal_writer().fullwidth


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any) -> None:
    """Awaits what the workers' tests measure; the controller never sees their items."""
    from pytest_medfaith.watch import watch

    watch(node.config)


def _is_marked(item: pytest.Item) -> bool:
    return hasattr(item, "callspec") and "medfaith_target" in item.callspec.params


def _param(item: pytest.Item) -> Target | None:
    return item.callspec.params["medfaith_target"] if _is_marked(item) else None  # type: ignore[attr-defined]


def _session(config: pytest.Config) -> MedfaithSession:
    from pytest_medfaith.watch import session_of

    return session_of(config)


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Turns what the package raises on purpose into a failure without a traceback; the message says what to do."""
    from pytest_medfaith.errors import MedfaithError

    try:
        yield
    except (MedfaithError, ValueError) as error:
        raise pytest.fail.Exception(f"medfaith: {error}", pytrace=False) from None


def _tell(config: pytest.Config) -> None:
    """Lets the assertions of this run tell failures in the terminal's width, and all of them with -v."""
    from pytest_medfaith.asserts import set_account

    everything = config.get_verbosity() > 0 or config.getoption("--medfaith-verbose")
    width = getattr(config, "workerinput", {}).get("medfaith_width") or config.get_terminal_writer().fullwidth
    set_account(most=None if everything else 5, width=min(width, 100) - 8)  # pytest writes "E" and 7 spaces before each line


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
        return _session(request.config).settings


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
        return _session(request.config).retriever(medfaith_target.settings)


@pytest.fixture
def medfaith_checker(request: pytest.FixtureRequest) -> Checker:
    """The checker, `(claim, chunks) -> verdict`. Override it to judge with a model of your own."""
    target = getattr(getattr(request.node, "callspec", None), "params", {}).get("medfaith_target")
    with _plain_errors():
        return _session(request.config).checker(target.settings.checker if target else "default")


@pytest.fixture
def medfaith_extractor() -> Callable[..., list[Claim]]:
    """The extractor, `(answer, *, question) -> claims`. Override it to split answers your own way."""
    from pytest_medfaith.claims.split import extract_claims

    return extract_claims


@pytest.fixture(scope="session")
def medfaith_rag() -> Callable[[str], Any] | None:
    """The system under test, `question -> Response | answer | (answer, contexts)`. None replays the slice's recorded responses."""
    return None


@pytest.fixture
def medfaith_hits(medfaith_target: Target, medfaith_retriever: Retriever | None) -> list[Any]:
    """What the retriever found for the case's question, best first."""
    if medfaith_retriever is None:
        return []
    with _plain_errors():
        return list(medfaith_retriever(medfaith_target.case.question, top_k=medfaith_target.settings.k))


@pytest.fixture
def medfaith_response(
    request: pytest.FixtureRequest, medfaith_target: Target, medfaith_rag: Callable[[str], Any] | None, medfaith_hits: list[Any]
) -> Response:
    """The response to the case's question: recorded, or freshly made by medfaith_rag."""
    from pytest_medfaith.evaluation import as_response

    with _plain_errors():
        if medfaith_rag is None:
            return _session(request.config).recorded_response(medfaith_target)
    answer = medfaith_rag(medfaith_target.case.question)
    with _plain_errors():
        return as_response(answer, case_id=medfaith_target.case.id, hits=medfaith_hits)


@pytest.fixture
def medfaith_report(
    request: pytest.FixtureRequest,
    medfaith_target: Target,
    medfaith_response: Response,
    medfaith_checker: Checker,
    medfaith_extractor: Callable[..., list[Claim]],
    medfaith_hits: list[Any],
    medfaith_retriever: Retriever | None,
) -> Report:
    """The response of the case, checked claim by claim; it counts towards the slice's card and gates."""
    from pytest_medfaith.cards.junit import case_properties
    from pytest_medfaith.evaluation import evaluate_case
    from pytest_medfaith.session import payload
    from pytest_medfaith.watch import PAYLOADS

    settings = medfaith_target.settings
    with _plain_errors():
        report = evaluate_case(
            medfaith_target.case,
            medfaith_response,
            checker=medfaith_checker,
            extractor=medfaith_extractor,
            hits=medfaith_hits if medfaith_hits or medfaith_retriever is not None else None,
            retriever=settings.retriever,
            k=settings.k,
            rulebook=_session(request.config).rulebook,
        ).with_(contexts_optional=settings.contexts == "optional")
        known = _session(request.config).signed(medfaith_checker, configured=settings.checker)
        request.node.stash.setdefault(PAYLOADS, []).append(payload(medfaith_target, report, checker=known))
    others = [one for one in request.node.user_properties if not one[0].startswith("medfaith.")]  # of a test that runs again
    request.node.user_properties[:] = [*others, *case_properties(report, slice=settings.name)]
    _tell(request.config)
    return report


@pytest.fixture
def medfaith_check(
    request: pytest.FixtureRequest, medfaith_checker: Checker, medfaith_extractor: Callable[..., list[Claim]]
) -> Callable[..., Report]:
    """A callable `(answer, *, contexts, question=None, gold_claims=None) -> Report`, for tests that have no slice."""
    from functools import partial

    from pytest_medfaith.asserts import check_answer

    _tell(request.config)
    with _plain_errors():
        rulebook = _session(request.config).rulebook
    return partial(check_answer, checker=medfaith_checker, extractor=medfaith_extractor, rulebook=rulebook)
