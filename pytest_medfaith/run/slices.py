"""Measures the cases of a slice one after another, without pytest, and ends the run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pytest_medfaith.cards.run_begin import begin_run, check_report_folder
from pytest_medfaith.errors import DataError, MedfaithError
from pytest_medfaith.run.baselines import check_baseline
from pytest_medfaith.run.collected import Collected
from pytest_medfaith.run.completing import completed
from pytest_medfaith.run.results import Result, plain_report
from pytest_medfaith.run.targets import Target, expect_target, missing_retriever

if TYPE_CHECKING:
    from pytest_medfaith.metrics.base import Metric
    from pytest_medfaith.records import Report
    from pytest_medfaith.run.finish import Finish
    from pytest_medfaith.run.resources import Resources

Measure = Callable[[Target], "Report"]


class CaseFailed(DataError):
    """Raised while a case is measured and gets no report; the cases after it are still measured."""


def run_slice(
    resources: Resources,
    targets: Sequence[Target],
    *,
    measure: Measure,
    progress: Callable[[int, int], None],
    keeps_going: bool = False,
) -> Finish:
    """Measures `targets` as a run of pytest would, and returns how the run ended.

    Args:
        resources: of the run.
        targets: of a slice, row by row.
        measure: returns the report on a target; a `CaseFailed` makes the run unusable at its end.
        progress: called with (targets done, targets).
        keeps_going: whether a row in which something raises becomes a failed row, and the next rows run.

    Raises:
        DataError: a retriever is needed, and the slice has no corpus; or what `measure` raises.
    """
    from pytest_medfaith.run.finish import end_run
    from pytest_medfaith.run.teaching import recording

    collected = Collected(resources.store)
    for target in targets:
        if why := missing_retriever(resources, target.settings, has_answer=target.has_answer):
            raise DataError(why)
        expect_target(resources, collected, target)
        resources.check_teacher(target.settings)
    check_baseline(resources, collected)
    if folder := resources.options.report:
        check_report_folder(folder, resources.settings, baseline=resources.baseline_path)
        begin_run(folder)
    failed: list[str] = []
    with recording(resources):
        for number, target in enumerate(targets, start=1):
            if target.run not in collected.failures:
                with _noting(failed):
                    _measure_into(resources, collected, target, measure, keeps_going=keeps_going)
            progress(number, len(targets))
    end = end_run(resources, collected)
    end = dataclasses.replace(end, notes=(*end.notes, *_unjudged(targets[0], resources.metrics)))
    return dataclasses.replace(end, errors=(*end.errors, *failed), status="unusable") if failed else end


@contextmanager
def _noting(failed: list[str]) -> Iterator[None]:
    """Adds the message of a `CaseFailed` in the block to `failed`, and goes on."""
    try:
        yield
    except CaseFailed as error:
        failed.append(str(error))


def _measure_into(
    resources: Resources, collected: Collected, target: Target, measure: Measure, *, keeps_going: bool
) -> None:
    """Adds the report on a target to `collected`; with `keeps_going` an error fails its row instead."""
    try:
        measured = plain_report(completed(resources, measure(target), history=target.settings.history))
    except Exception as error:
        if not keeps_going:
            raise
        collected.fail(target.run, _why(error, target))
    else:
        gates = target.gates(resources.metrics)
        collected.add(Result(run=target.run, report=measured, gates=gates))


def _why(error: Exception, target: Target) -> str:
    """Returns the message of an error, with the id of the case where it is not in it."""
    said = str(error) if isinstance(error, (MedfaithError, ValueError)) else repr(error)
    return said if target.case.id in said else f"case {target.case.id!r}: {said}"


def _unjudged(target: Target, declared: Mapping[str, Metric]) -> list[str]:
    """Returns a line on the gates that were left out because they need answers; [] where none was."""
    judged = target.gates(declared)
    gates = [gate for gate in target.settings.gates if gate not in judged]
    if not gates:
        return []
    return [
        f"slice {target.settings.name!r}: no answer was judged, so these gates were not: {', '.join(gates)}"
    ]
