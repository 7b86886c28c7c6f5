"""Cases of a slice as rows of a file that workers measure, for `medfaith evaluate` on a cluster.

A target is a case together with the retriever, checker and settings that it is measured with.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_medfaith.bulk.work import Judge, Row, refuse_other
from pytest_medfaith.config import SliceSettings
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Case, Report, Response
from pytest_medfaith.run.collected import Collected
from pytest_medfaith.run.options import Options
from pytest_medfaith.run.results import Result, plain_report
from pytest_medfaith.run.targets import Target, recorded_response, report_on_recorded

if TYPE_CHECKING:
    from pytest_medfaith.run.resources import Resources


@dataclass(frozen=True, kw_only=True)
class Variant:
    """What targets of the same row of the card have in common.

    Attributes:
        settings: of the slice, with retriever and checker.
        has_answer: True where answers are judged, False where only retrieval is.
        place: of the row on the card.
    """

    settings: SliceSettings
    has_answer: bool
    place: int

    @classmethod
    def of(cls, target: Target) -> Variant:
        """Returns the variant that `target` belongs to."""
        return cls(settings=target.settings, has_answer=target.has_answer, place=target.place)

    def target(self, case: Case) -> Target:
        """Returns the target of a case in this variant."""
        return Target(settings=self.settings, case=case, has_answer=self.has_answer, place=self.place)


def variants_of(targets: Sequence[Target]) -> tuple[Variant, ...]:
    """Returns the variants of `targets`, each once, in the order of their first target."""
    return tuple(dict.fromkeys(map(Variant.of, targets)))


def target_rows(resources: Resources, targets: Sequence[Target]) -> Iterator[dict[str, Any]]:
    """Yields a row of plain values for each target, which a worker on any machine can read.

    Args:
        resources: of the run; they hold the recorded responses.
        targets: of a slice.

    Yields:
        {"variant": number, "case": {...}}; the number is the place in `variants_of(targets)`. Where answers
        are judged, the row also has the recorded "response", or the "error" that says why there is none.
    """
    numbers = {variant: number for number, variant in enumerate(variants_of(targets))}
    for target in targets:
        row: dict[str, Any] = {"variant": numbers[Variant.of(target)], "case": target.case.to_dict()}
        if target.has_answer:
            try:
                row["response"] = recorded_response(resources, target).to_dict()
            except DataError as error:
                row["error"] = str(error)
        yield row


def spread_signature(resources: Resources, targets: Sequence[Target]) -> tuple[dict[str, Any], bool]:
    """Returns (what decides the reports apart from cases and responses, whether that is all that decides).

    It is not all if the project's own code measures: a function as checker, a retriever or a metric.
    """
    from pytest_medfaith.run.cells import cell_signature

    firsts = {Variant.of(target): target for target in reversed(targets)}
    cells = [cell_signature(resources, target) for target in reversed(firsts.values())]
    is_known = None not in cells and not resources.settings.metrics
    return {**_node_signature(resources, variants_of(targets)), "cells": cells}, is_known


def _node_signature(resources: Resources, variants: Sequence[Variant]) -> dict[str, Any]:
    """Returns what must be the same on each node: package, settings, checkers, corpora, rules, processor."""
    from pytest_medfaith.run.cells import package_digest
    from pytest_medfaith.run.signature import run_signature

    collected = Collected()
    for variant in variants:
        collected.expect(variant.target(Case(id="", question="")).run, [""])
    known = dataclasses.asdict(resources.settings)
    settings = {key: value for key, value in known.items() if key not in {"cache", "threads"}}
    signature = run_signature(resources, collected, [row.run for row in collected.expected()])
    return {"package": package_digest(), "settings": repr(settings), **signature}


@dataclass(frozen=True, kw_only=True)
class CaseWork:
    """What each worker of `medfaith evaluate` does; see `bulk.work.Work`.

    Attributes:
        root: folder of the project.
        options: of the run.
        variants: rows refer to them by number.
        expected: what decides the reports on the machine that started the run.
    """

    root: Path
    options: Options
    variants: tuple[Variant, ...]
    expected: Mapping[str, Any] = field(default_factory=dict)

    def begin(self) -> Judge:
        """Returns the function that measures rows, after loading the models.

        Raises:
            DataError: this machine would measure differently from the one that started the run.
        """
        from pytest_medfaith.run.resources import Resources

        sys.path.append(str(self.root))
        resources = Resources(root=self.root, options=self.options)
        resources.scores = None  # a file of scores that several machines write would hold them up
        found = _node_signature(resources, self.variants)
        refuse_other(found, {key: value for key, value in self.expected.items() if key != "cells"})
        return partial(self._measured, resources)

    def _measured(self, resources: Resources, rows: Sequence[Row]) -> list[dict[str, Any]]:
        return [self._result(resources, row) for _, row in rows]

    def _result(self, resources: Resources, row: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the report on a row's case, as plain values; DataError for a row that holds an error."""
        if "error" in row:
            raise DataError(row["error"])
        target = self.variants[row["variant"]].target(Case.from_dict(row["case"]))
        given = Response.from_dict(row["response"]) if "response" in row else None
        report = plain_report(report_on_recorded(resources, target, response=given))
        return Result(run=target.run, report=report).to_row()

    def poisoned(self, line: int, row: Mapping[str, Any] | None, why: str) -> dict[str, Any]:  # noqa: ARG002
        """Returns the result for a row that cannot be measured: the reason and the id of its case."""
        return {"failed": why, "case": row["case"]["id"] if row else ""}


def reports_in_order(results: Iterator[Mapping[str, Any]]) -> Callable[[Target], Report]:
    """Returns a function from a target to its report; call it for the targets in the order of their rows.

    The function raises CaseFailed for a case that could not be measured, and DataError for targets in another
    order.
    """
    from pytest_medfaith.run.slices import CaseFailed

    def report(target: Target) -> Report:
        row = next(results)
        if "failed" in row:
            raise CaseFailed(row["failed"])
        result = Result.from_row(row)
        if (result.run, result.report.case.id) != (target.run, target.case.id):
            raise DataError(
                f"a worker measured case {result.report.case.id!r}, and {target.case.id!r} was due"
            )
        return result.report

    return report
