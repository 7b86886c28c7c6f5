"""The pytest plugin: its options, marker, fixtures and hooks.

When loaded it imports only the standard library and pytest, so that runs without it pay for this file alone.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker
    from pytest_medfaith.checking.judge import AnyChecker
    from pytest_medfaith.config import Settings
    from pytest_medfaith.records import Case, Claim, GoldClaim, Report, Response
    from pytest_medfaith.retrieval.ranking import Retriever
    from pytest_medfaith.run.targets import Target

# Options that ask for a slice to be measured.
_MEASURING = tuple(f"--medfaith-{name}" for name in ("shard", "gate", "update-baseline", "audit", "slice"))

# Options whose values may be out of range, or name what cannot be written.
_CHECKED_FIRST = tuple(
    f"--medfaith-{name}"
    for name in ("report", "update-baseline", "shard", "k1", "b", "weight", "fuse", "encoder")
)


def _one_or_more(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of 1 or more")
    return int(text)


def _values(metavar: str) -> dict[str, Any]:
    return {"metavar": metavar, "action": "append", "default": []}


_FLAG: dict[str, Any] = {"action": "store_true"}
_COUNT: dict[str, Any] = {"metavar": "N", "type": _one_or_more}
_NUMBER: dict[str, Any] = {"metavar": "X", "type": float}
_NAMES = _values("NAME")
# Name, without --medfaith-, what argparse needs, and the line of --help.
_OPTIONS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("slice", _NAMES, "run only this slice, and no other marked test; may be given again"),
    ("limit", _COUNT, "at most N cases of each slice: the first, or with --medfaith-seed a random part"),
    ("seed", {"metavar": "SEED", "type": int}, "seed of the intervals, and of the part that a limit takes"),
    ("retriever", _NAMES, ("such as bm25, dense, rrf or weighted; rrf+fast or rrf+teacher adds a reranker; "
     "or a dotted name module:factory; again for an ablation")),
    ("k", {**_COUNT, "metavar": "K"}, "how many chunks to retrieve"),
    ("encoder", _NAMES, "the encoder of dense retrieval; given again, several are fused"),
    ("fuse", _NAMES, "a retriever to fuse by rrf or weighted, such as bm25, dense or lucene; again for more"),
    ("k1", _NUMBER, "parameter k1 of BM25 (0.9)"),
    ("b", _NUMBER, "parameter b of BM25 (0.4)"),
    ("rrf-k", _COUNT, "the constant of reciprocal rank fusion (100)"),
    ("weight", _values("NAME=X"), "a retriever's weight in weighted fusion, as in dense=0.7; again for each"),
    ("pool", _COUNT, "how many candidates fusion takes of each retriever (100)"),
    ("rerank-pool", _COUNT, "how many candidates a reranker reads (20)"),
    ("chunk-context", {"metavar": "KIND", "choices": ("path", "title", "none")},
     "read title and section path (path), the title, or the text alone (none) of a chunk to find it"),
    ("filter", _values("FIELD=VALUE"),
     "find only chunks of a source, a journal or years, as in year=2015-; again for more"),
    ("stop-word", _values("WORD"),
     "a word that bm25 leaves out of questions, or english for the usual words; may be given again"),
    ("dense-index", {"metavar": "KIND"},
     "the index of dense retrieval: flat, hnsw, ivfpq, sq8, or a factory string of FAISS (flat)"),
    ("ef-search", _COUNT, "how many neighbours a search of hnsw keeps in sight (256)"),
    ("nprobe", _COUNT, "how many lists a search of ivfpq reads (32)"),
    ("checker", _NAMES, ("default, fast or teacher, a model folder, a dotted name module:judge, or a "
     "Hugging Face name; again for an ablation")),
    ("contexts", {**_values("MODE"), "choices": ("recorded", "retrieved", "per-claim")},
     ("judge claims by recorded contexts, by what the retriever finds for the question (retrieved), or for "
      "each claim (per-claim); again for an ablation")),
    ("rules-off", _NAMES, "switch off this medical or safety rule; may be given again"),
    ("gate", _values("EXPR"), "a gate for every slice, such as 'hallucination <= 0.05'; may be given again"),
    ("baseline", {"metavar": "FILE"},
     "the file that gates compare with, or the number of a kept one (medfaith-baseline.json)"),
    ("update-baseline", _FLAG, "write what this run measures to the baseline; commit the file"),
    ("audit", _FLAG, "after the tests, audit the checker on the corpora of their slices"),
    ("report", {"metavar": "DIR"},
     "write the run folder there: card.html, card.md, report.json, claims.csv, every score"),
    ("ctrf", {"metavar": "FILE"},
     "write the tests and gates of this run there as CTRF, which CI dashboards read"),
    ("shard", {"metavar": "I/N"}, ("run only the cases and tests of this shard, as in 2/5; medfaith "
     "merge joins the run folders of all and judges the gates")),
    ("llm", {"metavar": "MODE", "choices": ("off", "replay", "record", "live")},
     "what the teacher may do: replay its cassette, record into it, ask live, or off"),
    ("verbose", _FLAG, "show intervals in the card, and every claim that failed"),
)  # fmt: skip


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the --medfaith-* options."""
    group = parser.getgroup("medfaith", "medical RAG answers checked claim by claim (pytest-medfaith)")
    for name, attributes, text in _OPTIONS:
        group.addoption(f"--medfaith-{name}", help=text, **attributes)


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker; refuses options that are out of range or name a file that cannot be written."""
    config.addinivalue_line(
        "markers",
        "medfaith(slice, k=, retriever=, checker=, contexts=, limit=, gates=, NAME_at_least=, "
        "NAME_at_most=): run the test once for every case of a configured slice, as in "
        '@pytest.mark.medfaith("samples", retriever=["bm25", "rrf"], hallucination_at_most=0.05). A list of '
        "retrievers or checkers makes an ablation; gates and bounds are judged once, over the whole slice, "
        "and can fail the run.",
    )
    if not hasattr(config, "workerinput") and any(config.getoption(name) for name in _CHECKED_FIRST):
        from pytest_medfaith.run.beginning import check_options

        check_options(config)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Removes what an earlier run wrote where this run writes: a run that dies must leave no result."""
    config = session.config
    written = ("--medfaith-report", "--medfaith-ctrf")
    if any(map(config.getoption, written)) and not hasattr(config, "workerinput"):
        from pytest_medfaith.run.beginning import begin_files

        begin_files(config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Makes a test item of a marked test for each case of its slice."""
    marker = metafunc.definition.get_closest_marker("medfaith")
    if marker is None:
        return
    from pytest_medfaith.run.hooks import plain_errors

    with plain_errors():
        from pytest_medfaith.run.collection import targets_of

        targets, ids = targets_of(metafunc, marker)
    if "medfaith_target" not in metafunc.fixturenames:
        metafunc.fixturenames.append("medfaith_target")
    metafunc.parametrize("medfaith_target", targets, ids=ids, indirect=True)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector, obj: object) -> None:
    """Refuses a marked unittest.TestCase: pytest would run its tests once, without cases."""
    unittest = sys.modules.get("unittest.case")
    if unittest is None or not isinstance(obj, type) or not issubclass(obj, unittest.TestCase):
        return
    marks = [
        mark for kind in obj.__mro__ for value in (kind, *vars(kind).values()) for mark in _marks_on(value)
    ]
    if any(mark.name == "medfaith" for mark in (*marks, *collector.iter_markers())):
        from pytest_medfaith.run.collection import refuse_test_case

        refuse_test_case(obj.__name__)


def _marks_on(value: object) -> list[Any]:
    marks = getattr(value, "__dict__", {}).get("pytestmark", ())
    return [getattr(mark, "mark", mark) for mark in (marks if isinstance(marks, (list, tuple)) else [marks])]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects the slices that --medfaith-slice leaves out, and notes which slices the rest measure."""
    if "pytest_medfaith.run.collection" not in sys.modules:  # no test is marked
        return
    from pytest_medfaith.run.collection import keep_selected

    keep_selected(config, items)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Notes which cases will run; where a gate or a slice would be passed over, it lets no test run."""
    config, items = session.config, session.items
    if "pytest_medfaith.asserts" in sys.modules:
        from pytest_medfaith.run.hooks import set_failure_text

        set_failure_text(config)
    # Where tests could not be collected, pytest has said so, and what they would have measured is not known.
    if config.option.collectonly or config.option.setupplan or session.testsfailed:
        return
    asked = any(config.getoption(option) for option in _MEASURING)
    marked = "pytest_medfaith.run.collection" in sys.modules or any(
        mark.name == "medfaith" for item in items for mark in item.own_markers
    )
    names = (name for item in items for name in getattr(item, "fixturenames", ()))
    if not (asked or marked or any(name.startswith("medfaith_") for name in names)):
        return
    from pytest_medfaith.run.collection import expect_measured

    expect_measured(config, items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(call: pytest.CallInfo[Any]) -> None:
    """Hides this package's frames in the traceback of an error that it raises on purpose.

    The failure then ends at the line of the test. --full-trace shows the frames.
    """
    if call.excinfo is not None and "pytest_medfaith.errors" in sys.modules:
        from pytest_medfaith.frames import hide_frames

        hide_frames(call.excinfo.value)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tells a worker of pytest-xdist the width of the terminal and the command line, which it cannot see."""
    config = node.config
    node.workerinput["medfaith_said"] = [str(argument) for argument in config.invocation_params.args]
    node.workerinput["medfaith_picked"] = config.args_source is pytest.Config.ArgsSource.ARGS
    if node.config.pluginmanager.hasplugin("terminalreporter"):
        node.workerinput["medfaith_width"] = node.config.get_terminal_writer().fullwidth


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any) -> None:
    """Registers the hooks that take in what workers measure; the controller itself collects no test."""
    from pytest_medfaith.run.hooks import run_hooks

    run_hooks(node.config)


@pytest.fixture
def medfaith_target(request: pytest.FixtureRequest) -> Target:
    """What this test item measures: a case under one retriever and checker (made by the marker medfaith)."""
    if not hasattr(request, "param"):
        why = 'this test has no case; mark it with @pytest.mark.medfaith("slice"), or use medfaith_check'
        pytest.fail(f"medfaith: {why} without a slice", pytrace=False)
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(scope="session")
def medfaith_settings(request: pytest.FixtureRequest) -> Settings:
    """The settings of [tool.medfaith] in pyproject.toml, or of medfaith.toml."""
    from pytest_medfaith.run.hooks import plain_errors, resources_of

    with plain_errors():
        return resources_of(request.config).settings


@pytest.fixture
def medfaith_case(medfaith_target: Target) -> Case:
    """The case of this test item: question, gold claims, reference answer, references."""
    return medfaith_target.case


@pytest.fixture
def medfaith_gold_claims(medfaith_case: Case) -> tuple[GoldClaim, ...]:
    """The gold claims of the case: the facts that a correct answer must or may state."""
    return medfaith_case.gold_claims


@pytest.fixture
def medfaith_retriever(request: pytest.FixtureRequest, medfaith_target: Target) -> Retriever | None:
    """The slice's retriever, `(query, *, top_k) -> hits`, or None for a slice without a corpus.

    Override it to test your retriever.
    """
    from pytest_medfaith.run.hooks import plain_errors, resources_of

    with plain_errors():
        resources = resources_of(request.config)
        settings = medfaith_target.settings
        return resources.retriever(settings) if resources.can_retrieve(settings) else None


@pytest.fixture
def medfaith_checker(request: pytest.FixtureRequest) -> Checker:
    """The checker, `(claim, chunks) -> verdict`.

    Override it with a checker or a plain callable of that shape.
    """
    from pytest_medfaith.run.hooks import plain_errors, resources_of

    target = getattr(getattr(request.node, "callspec", None), "params", {}).get("medfaith_target")
    with plain_errors():
        resources = resources_of(request.config)
        return resources.checker(target.settings.checker) if target else resources.checker()


@pytest.fixture
def medfaith_extractor(request: pytest.FixtureRequest) -> Callable[..., list[Claim]]:
    """The extractor, `(answer, *, question) -> claims`. Override it to split answers your way."""
    from pytest_medfaith.run.hooks import plain_errors, resources_of

    with plain_errors():
        return resources_of(request.config).extractor


@pytest.fixture(scope="session")
def medfaith_rag() -> Callable[[str], Any] | None:
    """The system under test, `question -> Response | answer | (answer, contexts)`, plain or async.

    Rows of answers are replayed. None replays the slice's recorded responses; where it has none, the
    reference RAG answers from the slice's corpus.
    """
    return None


@pytest.fixture
def medfaith_hits(
    request: pytest.FixtureRequest, medfaith_target: Target, medfaith_retriever: Retriever | None
) -> list[Any]:
    """What the retriever found for the case's question, best first.

    A test that asks for it, and for no answer, measures the retriever: its hits are judged by the gold
    claims of the case, and count towards the retrieval card and its gates.
    """
    from pytest_medfaith.run.answering import find_hits
    from pytest_medfaith.run.hooks import plain_errors

    with plain_errors():
        return find_hits(request, medfaith_target, medfaith_retriever)


@pytest.fixture
def medfaith_judged_hits(
    request: pytest.FixtureRequest,
    medfaith_target: Target,
    medfaith_hits: list[Any],
    medfaith_checker: AnyChecker,
    medfaith_retriever: Retriever | None,
) -> Report:
    """The report on the retriever's hits, judged by gold claims; for tests that take only `medfaith_hits`."""
    from pytest_medfaith.run.hooks import plain_errors
    from pytest_medfaith.run.measuring import measure_hits

    with plain_errors():
        return measure_hits(
            request, medfaith_target, medfaith_hits, checker=medfaith_checker, retriever=medfaith_retriever
        )


@pytest.fixture
def medfaith_response(
    request: pytest.FixtureRequest,
    medfaith_target: Target,
    medfaith_rag: Callable[[str], Any] | None,
    medfaith_hits: list[Any],
    medfaith_retriever: Retriever | None,
) -> Response:
    """The response to the case's question: recorded, or freshly made by medfaith_rag.

    Where there is neither, the reference RAG answers from what was retrieved, and the card says so.
    """
    from pytest_medfaith.run.answering import case_response

    return case_response(
        request, medfaith_target, rag=medfaith_rag, hits=medfaith_hits, retriever=medfaith_retriever
    )


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
    """The report on the case's response, checked claim by claim; it counts for the slice's card and gates."""
    from pytest_medfaith.run.hooks import plain_errors, set_failure_text
    from pytest_medfaith.run.measuring import measure_answer

    set_failure_text(request.config)
    with plain_errors():
        return measure_answer(
            request,
            medfaith_target,
            medfaith_response,
            checker=medfaith_checker,
            extractor=medfaith_extractor,
            hits=medfaith_hits,
            retriever=medfaith_retriever,
        )


@pytest.fixture
def medfaith_check(
    request: pytest.FixtureRequest,
    medfaith_checker: AnyChecker,
    medfaith_extractor: Callable[..., list[Claim]],
) -> Callable[..., Report]:
    """A callable `(answer, *, contexts, question=None, gold_claims=None, history=()) -> Report`; no slice."""
    from pytest_medfaith.run.hooks import plain_errors, set_failure_text
    from pytest_medfaith.run.measuring import answer_check

    set_failure_text(request.config)
    with plain_errors():
        return answer_check(request.config, checker=medfaith_checker, extractor=medfaith_extractor)
