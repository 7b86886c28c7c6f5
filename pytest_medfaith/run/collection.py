"""The collection of tests: which cases they run for, and whether all that was asked for is measured.

A run is refused where a gate would not be judged, because a gate that no test reaches would pass in silence.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from pytest_medfaith.errors import DataError, MedfaithError
from pytest_medfaith.run.hooks import (
    OF_THE_CASE,
    collected_of,
    forget_collected,
    is_shipped,
    is_worker,
    may_ask_later,
    may_request,
    resources_of,
    run_hooks,
)
from pytest_medfaith.run.marker import gates_of_marker, slice_of_marker

if TYPE_CHECKING:
    from pytest_medfaith.config import SliceSettings
    from pytest_medfaith.metrics.base import Metric
    from pytest_medfaith.run.collected import Collected
    from pytest_medfaith.run.resources import Resources
    from pytest_medfaith.run.shards import Shard
    from pytest_medfaith.run.targets import Target

NOT_SELECTED = "not-selected"
REPORT = "medfaith_report"
HITS_REPORT = "medfaith_judged_hits"  # of a test that asks for the hits alone
ASK = "ask for the fixture medfaith_report in a test of the slice"
_MEASURING = ("gate", "update-baseline", "audit", "slice")  # options that ask for a slice to be measured
_MARKED: pytest.StashKey[MarkedSlices] = pytest.StashKey()


@dataclass
class MarkedSlices:
    """Names of slices that tests are marked with, before -k or -m deselects any test.

    `gated` are those with gates, `measured` those whose gates a test would have judged.
    """

    gated: set[str] = field(default_factory=set)
    measured: set[str] = field(default_factory=set)


def targets_of(metafunc: pytest.Metafunc, marker: pytest.Mark) -> tuple[list[Any], list[str]]:
    """Returns a target for each case of a marked test, and the ids of the test items.

    A slice that --medfaith-slice leaves out gives [None], which is deselected later.

    Raises:
        ValueError: a marker that is wrong or not the only one, or a test that asks for nothing of its case.
        DataError: a slice that is unknown or cannot be read.
    """
    if any(
        (mark.args, mark.kwargs) != (marker.args, marker.kwargs)
        for mark in metafunc.definition.iter_markers("medfaith")
    ):
        raise ValueError(
            "this test has two markers medfaith, its own or those of its class and module, and would run "
            "for one of their slices only; write a test for each"
        )
    from pytest_medfaith.run.targets import targets_of_slice

    resources, name = resources_of(metafunc.config), slice_of_marker(marker.args)
    selected = resources.options.slices
    for known in selected:
        resources.settings.slice(known)
    if selected and name not in selected:
        return [None], [NOT_SELECTED]
    has_answer = not asks_for_hits_alone(metafunc.fixturenames)
    targets = targets_of_slice(resources, name, marker.kwargs, has_answer=has_answer)
    if not set(OF_THE_CASE) & set(metafunc.fixturenames) and not may_request(metafunc.definition):
        bounds = gates_of_marker(marker.kwargs)
        unjudged = f", and nobody would judge {bounds[0]!r}" if bounds else ""
        raise ValueError(
            f"this test is marked with slice {name!r} and asks for none of its cases, so it measures "
            f"nothing{unjudged}; expected the fixture medfaith_report among its arguments, or another of "
            f"{', '.join(OF_THE_CASE[1:])}"
        )
    return targets, _item_ids(targets)


def _item_ids(targets: Sequence[Target]) -> list[str]:
    """Returns ids of test items: the case id, with what differs in an ablation before it, "bm25-case-1"."""
    many_retrievers = len({target.run.retriever for target in targets}) > 1
    many_checkers = len({target.run.checker for target in targets}) > 1
    many_depths = len({target.run.k for target in targets}) > 1
    many_modes = len({target.run.contexts_mode for target in targets}) > 1
    names = [
        [
            *[target.run.retriever] * many_retrievers,
            *[target.run.checker] * many_checkers,
            *[target.run.contexts_mode] * many_modes,
            *[f"k={target.run.k}"] * many_depths,
            target.case.id,
        ]
        for target in targets
    ]
    return ["-".join(parts) for parts in names]


def refuse_test_case(name: str) -> NoReturn:
    """Fails the collection of the marked unittest.TestCase `name`: its tests would see no case."""
    raise pytest.fail.Exception(
        f"medfaith: {name} is marked with medfaith and is a unittest.TestCase, which pytest runs once, "
        "without cases; write a function with the fixture medfaith_report, or a class that does not inherit "
        "from TestCase",
        pytrace=False,
    )


def target_of(item: pytest.Item) -> Target | None:
    """Returns the target of a test item; None where the marker gave it no case."""
    call: Any = getattr(item, "callspec", None)
    return call.params["medfaith_target"] if is_parametrized(item) else None


def is_parametrized(item: pytest.Item) -> bool:
    """Returns whether the marker medfaith made this test item."""
    return hasattr(item, "callspec") and "medfaith_target" in item.callspec.params


def measures(item: pytest.Item) -> bool:
    """Returns whether a test measures its case, or may ask for its report while it runs.

    A test measures it that takes the fixture medfaith_report, or `medfaith_hits` alone, which measures the
    retriever.
    """
    target = target_of(item)
    is_of_hits = target is not None and not target.has_answer
    return is_of_hits or REPORT in getattr(item, "fixturenames", ()) or may_ask_later(item)


def asks_for_hits_alone(names: Collection[str]) -> bool:
    """Returns whether the fixtures `names` of a test include the retriever's hits, and no answer."""
    return "medfaith_hits" in names and not {REPORT, "medfaith_response"} & set(names)


def judges_all_gates(target: Target, declared: Mapping[str, Metric]) -> bool:
    """Returns whether this target is judged by every gate of its slice; one without an answer is not."""
    return target.gates(declared) == target.settings.gates


def keep_selected(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects the marked tests whose slice --medfaith-slice leaves out.

    It also remembers which slices the kept tests are marked with, before -k or -m deselects more.
    """
    left_out = [item for item in items if target_of(item) is None and is_parametrized(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    found = config.stash.setdefault(_MARKED, MarkedSlices())
    for item in items:
        target = target_of(item)
        if target is not None:
            found.gated |= {target.settings.name} if target.settings.gates else set()
            if measures(item) and judges_all_gates(target, resources_of(config).metrics):
                found.measured.add(target.settings.name)


def expect_measured(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Notes which cases will run; where a gate or a slice would be passed over, it lets no test run."""
    hooks, resources, collected = run_hooks(config), resources_of(config), collected_of(config)
    marked = [(item, target) for item in items if (target := target_of(item)) is not None]
    measuring = [(item, target) for item, target in marked if measures(item)]
    for item, target in measuring:
        _expect(resources, collected, item, target)
        names = getattr(item, "fixturenames", [])
        if not target.has_answer and HITS_REPORT not in names:
            names.append(HITS_REPORT)  # pytest fills it in with the fixtures that the test names
    for item, target in marked:
        if not measures(item):
            _expect(resources, collected, item, target)
    measured = {target.run.slice for _, target in measuring if judges_all_gates(target, resources.metrics)}
    unasked = _unmeasured(config, items, {target.run.slice for _, target in marked}, measured)
    reason = next(unasked, "") or (_unreadable(config, measuring) if measuring else "")
    if reason:
        hooks.refuse(items, reason)
        return
    if resources.options.shard:
        _keep_shard(config, items, resources.options.shard)
        return
    passed_over = config.stash.get(_MARKED, MarkedSlices()).gated - measured
    if passed_over:
        hooks.note(
            f"the gates of slice {_names(passed_over)} are not judged in this run, since no selected test "
            "measures it"
        )


def _keep_shard(config: pytest.Config, items: list[pytest.Item], shard: Shard) -> None:
    """Deselects the tests of other shards, and notes what all shards together expect."""
    hooks, resources = run_hooks(config), resources_of(config)
    left_out = [item for item in items if not shard.holds(_shard_name(item))]
    hooks.note_shard(collected_of(config).sorted_values(), leaves_out=bool(left_out))
    items[:] = [item for item in items if shard.holds(_shard_name(item))]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
    collected = forget_collected(config)
    for item in items:
        target = target_of(item)
        if target is not None:
            _expect(resources, collected, item, target)


def _shard_name(item: pytest.Item) -> str:
    """Returns the name whose hash decides the shard of a test: its case id, else its node id.

    So all tests of a case are in the same shard.
    """
    target = target_of(item)
    return item.nodeid if target is None else target.case.id


def _expect(resources: Resources, collected: Collected, item: pytest.Item, target: Target) -> None:
    """Notes the case of a test: as expected where the test measures it, else as possible."""
    from pytest_medfaith.run.targets import expect_target

    if measures(item):
        expect_target(resources, collected, target, test_id=item.nodeid)
    else:
        gates = target.gates(resources.metrics)
        collected.expect_perhaps(target.run, target.case.id, gates=gates, test_id=item.nodeid)


def _unmeasured(
    config: pytest.Config, items: Sequence[pytest.Item], marked: Collection[str], measured: Collection[str]
) -> Iterator[str]:
    """Yields what was asked for and would be passed over, each as a reason to refuse the run.

    Args:
        config: of the run.
        items: the selected tests.
        marked: the slices that a selected test is marked with.
        measured: the slices whose gates a selected test has judged.
    """
    for item in items:
        if "medfaith" in item.keywords and not is_parametrized(item) and item.get_closest_marker("medfaith"):
            yield (
                f"{item.nodeid} is marked with medfaith and has no cases; mark the test function itself, not "
                "a parameter or an item of it"
            )
    narrowed = _is_narrowed(config)
    for name, is_typed in _measuring_options(config).items():
        if name != "slice" and not measured and (is_typed or not narrowed or name == "update-baseline"):
            yield f"--medfaith-{name} was given, but no test measures a slice; {ASK}"
    untested = set(config.getoption("--medfaith-slice")) - set(marked)
    if untested and not narrowed:
        yield (
            f"--medfaith-slice was given, but no test is marked with {_names(untested)}; expected "
            "@pytest.mark.medfaith(...) with its name"
        )
    found = config.stash.get(_MARKED, MarkedSlices())
    unjudged = found.gated - found.measured
    if unjudged and not narrowed:
        yield f"the gates of slice {_names(unjudged)} would not be judged, since no test measures it; {ASK}"


def _measuring_options(config: pytest.Config) -> dict[str, bool]:
    """Returns {option: whether it was typed}, of the options that ask for a measurement.

    An option that is not typed comes from addopts.
    """
    arguments = _from_controller(config, "said", map(str, config.invocation_params.args))
    typed = [argument.partition("=")[0] for argument in arguments]
    given = [name for name in _MEASURING if config.getoption(f"--medfaith-{name}")]
    return {name: f"--medfaith-{name}" in typed for name in given}


def _is_narrowed(config: pytest.Config) -> bool:
    """Returns whether the command line picks single tests or files, as by -k, --lf or a .py file.

    Some tests may then be left out on purpose. A mark expression and the settings' test paths do not count,
    because every run of a project has them.
    """
    option = config.option
    picked = (option.keyword, option.deselect, *(getattr(option, name, None) for name in ("lf", "stepwise")))
    are_named = _from_controller(config, "picked", config.args_source is pytest.Config.ArgsSource.ARGS)
    return any(picked) or (are_named and any("::" in name or name.endswith(".py") for name in config.args))


def _from_controller(config: pytest.Config, name: str, here: Any) -> Any:
    """Returns a fact on the command line: on a worker what its controller sent as `name`, else `here`."""
    return config.workerinput[f"medfaith_{name}"] if is_worker(config) else here  # type: ignore[attr-defined]


def _names(slices: Collection[str]) -> str:
    return ", ".join(map(repr, sorted(slices)))


def _unreadable(config: pytest.Config, measuring: Sequence[tuple[pytest.Item, Target]]) -> str:
    """Returns why a file or the baseline that the tests need cannot be read, "" where all can.

    Found here, it is said once; a test would say it again for every case.
    """
    from pytest_medfaith.run.baselines import check_baseline
    from pytest_medfaith.run.targets import missing_retriever

    resources = resources_of(config)
    try:
        for (settings, has_answer), item in {
            (target.settings, target.has_answer): item for item, target in measuring
        }.items():
            why = missing_retriever(resources, settings, has_answer=has_answer)
            if why and is_shipped(item, "medfaith_retriever") and is_shipped(item, "medfaith_hits"):
                return why
            resources.check_teacher(settings, uses=partial(is_shipped, item))
            if is_shipped(item, "medfaith_retriever"):
                _check_corpus(resources, settings)
            if has_answer and is_shipped(item, "medfaith_rag") and is_shipped(item, "medfaith_response"):
                _check_answered(resources, settings, shipped=is_shipped(item, "medfaith_retriever"))
        check_baseline(resources, collected_of(config))
    except (MedfaithError, OSError, ValueError) as error:
        return str(error)
    return ""


def _check_corpus(resources: Resources, settings: SliceSettings) -> None:
    """Reads a slice's corpus, and opens the stores that its retriever asks; raises what they raise."""
    from pytest_medfaith.retrieval.build import asks_stores

    if settings.corpus:
        resources.chunks(settings)
    if asks_stores(settings.retriever, resources.retrieval):
        resources.retriever(settings)


def _check_answered(resources: Resources, settings: SliceSettings, *, shipped: bool) -> None:
    """Raises DataError where a slice's recorded responses answer none of its cases.

    Args:
        resources: of the run.
        settings: of the slice; without recorded responses the reference RAG answers, and is checked.
        shipped: whether the retriever is the plugin's, which needs a corpus.
    """
    if settings.responses is None and (resources.can_retrieve(settings) or not shipped):
        resources.check_rag()
        return
    answered, cases = resources.responses(settings).keys(), resources.cases(settings)
    if not any(case.id in answered for case in cases):
        found = f"it answers {', '.join(sorted(answered)[:3])}" if answered else "it holds no response"
        raise DataError(
            f"{settings.responses} answers none of the cases of slice {settings.name!r}, such as "
            f"{cases[0].id}; {found}. Expected a row a case, with the id of the case as its case_id"
        )
