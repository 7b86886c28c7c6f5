"""The pytest plugin: options, marker, fixtures and hooks. It imports the standard library and pytest, nothing else, at load."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker
    from pytest_medfaith.config import Settings
    from pytest_medfaith.finish import Finish
    from pytest_medfaith.records import Case, Claim, GoldClaim, Report, Response
    from pytest_medfaith.retrieval.ranking import Retriever
    from pytest_medfaith.session import MedfaithSession, Target

_SESSION: pytest.StashKey[MedfaithSession] = pytest.StashKey()
_PAYLOADS: pytest.StashKey[list[dict[str, Any]]] = pytest.StashKey()
_SUMMARY: pytest.StashKey[Finish] = pytest.StashKey()
_NOT_SELECTED = "not-selected"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the --medfaith-* options."""
    group = parser.getgroup("medfaith", "medical RAG answers checked claim by claim (pytest-medfaith)")
    add = group.addoption
    add("--medfaith-slice", action="append", metavar="NAME", default=[], help="run only this slice; may be given again")
    add("--medfaith-k", type=int, metavar="K", help="how many chunks to retrieve, instead of the configured k")
    add(
        "--medfaith-retriever",
        action="append",
        metavar="NAME",
        default=[],
        help="bm25, dense, rrf, weighted or a dotted name; again for an ablation",
    )
    add(
        "--medfaith-checker",
        action="append",
        metavar="NAME",
        default=[],
        help="default, a model folder or a Hugging Face name; may be given again",
    )
    add("--medfaith-limit", type=int, metavar="N", help="at most N cases of each slice")
    add("--medfaith-seed", type=int, metavar="SEED", help="seed of the intervals, and of the sample that --medfaith-limit takes")
    add("--medfaith-report", metavar="DIR", help="write the run folder there: card.md, report.json, claims, pairs, responses, signature")
    add("--medfaith-gate", action="append", metavar="EXPR", default=[], help="a gate for every slice, such as 'hallucination <= 0.05'")
    add("--medfaith-baseline", metavar="FILE", help="the baseline that gates compare with, instead of medfaith-baseline.json")
    add("--medfaith-update-baseline", action="store_true", help="write this run to the baseline; commit the file")
    add("--medfaith-verbose", action="store_true", help="show intervals in the card and every claim that failed")


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker; finds out now whether the report folder can be written, not after the run."""
    if config.getoption("--medfaith-report") and not hasattr(config, "workerinput"):
        from pytest_medfaith.cards.run_folder import check_writable
        from pytest_medfaith.errors import DataError

        try:
            check_writable(_report_folder(config))
        except DataError as error:
            raise pytest.UsageError(f"--medfaith-report: {error}") from None
    config.addinivalue_line(
        "markers",
        "medfaith(slice, k=, retriever=, checker=, limit=, gates=, NAME_at_least=, NAME_at_most=): run the test once for every case of a "
        "configured slice; lists of retrievers or checkers make an ablation; bounds are judged once, over the whole slice.",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Makes one test item per case of the marked slice."""
    marker = metafunc.definition.get_closest_marker("medfaith")
    if marker is None:
        return
    with _plain_errors():
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


def pytest_collection_finish(session: pytest.Session) -> None:
    """Notes which cases will run."""
    targets = [target for item in session.items if (target := _param(item)) is not None]
    if targets:
        _session(session.config).expect(targets)


def _is_marked(item: pytest.Item) -> bool:
    return hasattr(item, "callspec") and "medfaith_target" in item.callspec.params


def _param(item: pytest.Item) -> Target | None:
    return item.callspec.params["medfaith_target"] if _is_marked(item) else None  # type: ignore[attr-defined]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Hangs what a test measured on its report, which is how it travels from a worker to the controller."""
    report: Any = yield
    payloads = item.stash.get(_PAYLOADS, [])
    if payloads:
        report.medfaith = list(payloads)
        payloads.clear()
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Takes in what a test measured; on the controller when workers run the tests."""
    if hasattr(report, "medfaith") and _CONFIG:
        for payload in report.medfaith:
            _session(_CONFIG[-1]).add(payload, test_id=report.nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: list[str]) -> None:
    """Notes which tests the workers will run, so that a crashed worker's cases are seen to be missing."""
    if any("[" in test_id for test_id in ids):
        _session(node.config).expect_tests(ids)


_CONFIG: list[pytest.Config] = []


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Remembers the run's configuration for hooks that pytest calls without it."""
    _CONFIG.append(session.config)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Sums up every slice, judges its gates, and lets a failed gate fail the run."""
    config = session.config
    if config in _CONFIG:
        _CONFIG.remove(config)
    if _SESSION not in config.stash or hasattr(config, "workerinput"):
        return
    from pytest_medfaith.finish import finish_run

    interrupted = exitstatus in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR)
    finish = config.stash[_SUMMARY] = finish_run(config.stash[_SESSION], partial=interrupted, add_property=_junit_property(config))
    if finish.status != "passed" and not interrupted:
        session.exitstatus = pytest.ExitCode.USAGE_ERROR if finish.status == "unusable" else pytest.ExitCode.TESTS_FAILED


def _junit_property(config: pytest.Config) -> Callable[[str, object], None] | None:
    from _pytest.junitxml import xml_key

    xml = config.stash.get(xml_key, None)
    return xml.add_global_property if xml else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Prints the card."""
    if _SUMMARY in config.stash and config.stash[_SUMMARY].reports:
        from pytest_medfaith.finish import print_summary

        print_summary(config.stash[_SUMMARY], config.stash[_SESSION], terminalreporter)


def _session(config: pytest.Config) -> MedfaithSession:
    if _SESSION not in config.stash:
        from pytest_medfaith.session import MedfaithSession, Options

        option = config.getoption
        options = Options(
            slices=tuple(option("--medfaith-slice")),
            k=option("--medfaith-k"),
            retriever=tuple(option("--medfaith-retriever")),
            checker=tuple(option("--medfaith-checker")),
            limit=option("--medfaith-limit"),
            seed=option("--medfaith-seed"),
            gates=tuple(option("--medfaith-gate")),
            report=_report_folder(config) if option("--medfaith-report") else None,
            baseline=Path(config.invocation_params.dir, file) if (file := option("--medfaith-baseline")) else None,
            update_baseline=option("--medfaith-update-baseline"),
            verbose=option("--medfaith-verbose"),
        )
        config.stash[_SESSION] = MedfaithSession(root=config.rootpath, options=options)
    return config.stash[_SESSION]


def _report_folder(config: pytest.Config) -> Path:
    return Path(config.invocation_params.dir, config.getoption("--medfaith-report"))


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Turns what the package raises on purpose into a failure without a traceback; the message says what to do."""
    from pytest_medfaith.errors import MedfaithError

    message = ""
    try:
        yield
    except (MedfaithError, ValueError) as error:
        message = f"medfaith: {error}"
    if message:  # outside the except block, or pytest would print the first error above the second
        pytest.fail(message, pytrace=False)


def _tell(config: pytest.Config) -> None:
    """Lets the assertions of this run tell failures in the terminal's width, and all of them with -v."""
    from pytest_medfaith.asserts import set_account

    everything = config.get_verbosity() > 0 or config.getoption("--medfaith-verbose")
    set_account(most=None if everything else 5, width=min(config.get_terminal_writer().fullwidth, 100) - 4)


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
) -> Report:
    """The response of the case, checked claim by claim; it counts towards the slice's card and gates."""
    from pytest_medfaith.cards.junit import case_properties
    from pytest_medfaith.evaluation import evaluate_case
    from pytest_medfaith.session import payload

    settings = medfaith_target.settings
    with _plain_errors():
        report = evaluate_case(
            medfaith_target.case,
            medfaith_response,
            checker=medfaith_checker,
            extractor=medfaith_extractor,
            hits=medfaith_hits,
            retriever=settings.retriever,
            k=settings.k,
        )
    request.node.stash.setdefault(_PAYLOADS, []).append(payload(medfaith_target, report))
    request.node.user_properties.extend(case_properties(report))
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
    return partial(check_answer, checker=medfaith_checker, extractor=medfaith_extractor)
