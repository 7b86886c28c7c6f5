"""What is collected: the cases of marked tests, and whether what was asked for will be measured. A gate that nobody judges is no gate."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from pytest_medfaith.run.hooks import OF_THE_CASE, is_worker, may_ask_later, may_request, session_of, watch
from pytest_medfaith.run.marker import gates_of_marker, slice_of_marker

if TYPE_CHECKING:
    from pytest_medfaith.run.resources import Target

NOT_SELECTED = "not-selected"
REPORT = "medfaith_report"
ASK = "ask for the fixture medfaith_report in a test of the slice"
_ASKED = ("gate", "update-baseline", "audit", "slice")  # options that ask for a slice to be measured
_COLLECTED: pytest.StashKey[Collected] = pytest.StashKey()


@dataclass
class Collected:
    """The slices of all marked tests before any was deselected: those that carry gates, and those that a test measures."""

    gated: set[str] = field(default_factory=set)
    measured: set[str] = field(default_factory=set)


def targets_of(metafunc: pytest.Metafunc, marker: pytest.Mark) -> tuple[list[Any], list[str]]:
    """Returns the cases of a marked test, and their ids.

    Raises:
        ValueError: a marker that is wrong or not the only one, or a test that asks for nothing of its case.
        DataError: a slice that is unknown or cannot be read.
    """
    config = metafunc.config
    if any(
        (mark.args, mark.kwargs) != (marker.args, marker.kwargs)
        for mark in metafunc.definition.iter_markers("medfaith")
    ):
        raise ValueError(
            "this test has two markers medfaith, its own or those of its class and module, and would run for one of their slices only; "
            "write a test for each"
        )
    session, name = session_of(config), slice_of_marker(marker.args)
    for selected in session.options.slices:
        session.settings.slice(selected)
    if session.options.slices and name not in session.options.slices:
        return [None], [NOT_SELECTED]
    targets = session.targets(name, marker.kwargs)
    if not set(OF_THE_CASE) & set(metafunc.fixturenames) and not may_request(metafunc.definition):
        bounds = gates_of_marker(marker.kwargs)
        unjudged = f", and nobody would judge {bounds[0]!r}" if bounds else ""
        raise ValueError(
            f"this test is marked with slice {name!r} and asks for none of its cases, so it measures nothing{unjudged}; expected the fixture "
            f"medfaith_report among its arguments, or another of {', '.join(OF_THE_CASE[1:])}"
        )
    retrievers = {target.settings.retriever for target in targets}
    checkers = {target.settings.checker for target in targets}
    ids = [
        "-".join(
            [target.settings.retriever] * (len(retrievers) > 1)
            + [target.settings.checker] * (len(checkers) > 1)
            + [target.case.id]
        )
        for target in targets
    ]
    return targets, ids


def target_of(item: pytest.Item) -> Target | None:
    """Returns the case of a test, None of a test without one."""
    return item.callspec.params["medfaith_target"] if is_parametrized(item) else None  # type: ignore[attr-defined]


def is_parametrized(item: pytest.Item) -> bool:
    """Returns whether the marker gave a test its cases."""
    return hasattr(item, "callspec") and "medfaith_target" in item.callspec.params


def fixtures_of(item: pytest.Item) -> Sequence[str]:
    """Returns the names of the fixtures that a test asks for."""
    return getattr(item, "fixturenames", ())


def measures(item: pytest.Item) -> bool:
    """Returns whether a test asks for its case's report: by name, or so that nobody can tell yet (`request.getfixturevalue`)."""
    names = set(fixtures_of(item))
    return REPORT in names or may_ask_later(item)


def note_collected(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Remembers what the marked tests among `items` are there for, before any of them is deselected."""
    found = config.stash.setdefault(_COLLECTED, Collected())
    for item in items:
        target = target_of(item)
        if target is not None:
            found.gated |= {target.settings.name} if target.settings.gates else set()
            found.measured |= {target.settings.name} if measures(item) else set()


def expect_measured(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Notes which cases will run, or lets no test run where what was asked for would not be measured, or cannot be judged."""
    hooks, session = watch(config), session_of(config)
    marked = [(item, target) for item in items if (target := target_of(item)) is not None]
    expected = [(item, target) for item, target in marked if measures(item)]
    for item, target in expected:
        session.expect([target], test_id=item.nodeid)
    for item, target in marked:
        if not measures(item):
            session.ledger.may_measure(
                target.run, target.case.id, gates=target.settings.gates, test_id=item.nodeid
            )
    measured = {target.settings.name for _, target in expected}
    reason = next(_reasons(config, items, {target.settings.name for _, target in marked}, measured), "")
    reason = reason or _unreadable(config, expected)
    if reason:
        hooks.refuse(items, reason)
        return
    passed_over = config.stash.get(_COLLECTED, Collected()).gated - measured
    if passed_over:
        hooks.note(
            f"the gates of slice {_names(passed_over)} are not judged in this run, since no selected test measures it"
        )


def _reasons(
    config: pytest.Config, items: Sequence[pytest.Item], marked: Collection[str], measured: Collection[str]
) -> Iterator[str]:
    """Yields why what was asked for would be passed over in silence.

    Args:
        config: of the run.
        items: what is selected.
        marked: the slices that a selected test is marked with.
        measured: those that a selected test measures.
    """
    for item in items:
        if "medfaith" in item.keywords and not is_parametrized(item) and item.get_closest_marker("medfaith"):
            yield f"{item.nodeid} is marked with medfaith and has no cases; mark the test function itself, not a parameter or an item of it"
    asked, narrowed = _asked(config), _is_narrowed(config)
    for name, is_said_here in asked.items():
        if name != "slice" and not measured and (is_said_here or not narrowed or name == "update-baseline"):
            yield f"--medfaith-{name} was given, but no test measures a slice; {ASK}"
    untested = set(config.getoption("--medfaith-slice")) - set(marked)
    if untested and not narrowed:
        yield f"--medfaith-slice was given, but no test is marked with {_names(untested)}; expected @pytest.mark.medfaith(...) with its name"
    found = config.stash.get(_COLLECTED, Collected())
    unjudged = found.gated - found.measured
    if unjudged and not narrowed:
        yield f"the gates of slice {_names(unjudged)} would not be judged, since no test measures it; {ASK}"


def _asked(config: pytest.Config) -> dict[str, bool]:
    """Returns {option: whether this very command line says it, rather than the project's addopts}."""
    said = [
        argument.partition("=")[0]
        for argument in _fact(config, "said", map(str, config.invocation_params.args))
    ]
    return {name: f"--medfaith-{name}" in said for name in _ASKED if config.getoption(f"--medfaith-{name}")}


def _is_narrowed(config: pytest.Config) -> bool:
    """Returns whether the command line picks single tests or files, so that others may be left out on purpose.

    A mark expression and the settings' test paths do not: they stand in every run of a project, and an order leaves nothing out.
    """
    option = config.option
    picked = (option.keyword, option.deselect, *(getattr(option, name, None) for name in ("lf", "stepwise")))
    are_named = _fact(config, "picked", config.args_source is pytest.Config.ArgsSource.ARGS)
    return any(picked) or (are_named and any("::" in name or name.endswith(".py") for name in config.args))


def _fact(config: pytest.Config, name: str, here: Any) -> Any:
    """Returns what the controller told this worker of the command line, in any other process what is so `here`."""
    return config.workerinput[f"medfaith_{name}"] if is_worker(config) else here  # type: ignore[attr-defined]


def _names(slices: Collection[str]) -> str:
    return ", ".join(map(repr, sorted(slices)))


def _unreadable(config: pytest.Config, expected: Sequence[tuple[pytest.Item, Target]]) -> str:
    """Returns what of the files or the baseline of the expected cases cannot be read: said once, and not for every case."""
    from pytest_medfaith.errors import MedfaithError

    if not expected:
        return ""
    session = session_of(config)
    settings = {target.settings: item for item, target in expected}
    try:
        for one, item in settings.items():
            if one.corpus and _is_ours(item, "medfaith_retriever"):
                session.chunks(one)
            if _is_ours(item, "medfaith_rag") and _is_ours(item, "medfaith_response"):
                session.responses(one)
        session.check_baseline()
    except (MedfaithError, OSError, ValueError) as error:
        return str(error)
    return ""


def _is_ours(item: pytest.Item, fixture: str) -> bool:
    """Returns whether a test uses the plugin's own `fixture`, overridden nowhere."""
    known = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {}).get(fixture, ())
    return bool(known) and all(found.func.__module__ == "pytest_medfaith.plugin" for found in known)
