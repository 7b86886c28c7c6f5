"""What runs: the cases of a slice under each retriever and checker, and the report on a single case."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_medfaith.checking.rules import load_rules, switched_on
from pytest_medfaith.claims.split import extract_claims
from pytest_medfaith.config import SliceSettings
from pytest_medfaith.errors import DataError
from pytest_medfaith.evaluation import Extractor, evaluate_case
from pytest_medfaith.gates.expressions import parse_gate
from pytest_medfaith.records import Case, Hit, Report, Response, SliceRun
from pytest_medfaith.run.marker import count_of_marker, gates_of_marker, listed

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker
    from pytest_medfaith.run.collected import Collected
    from pytest_medfaith.run.resources import Resources


@dataclass(frozen=True, kw_only=True)
class Target:
    """What one test item measures: a case of a slice under one retriever and checker."""

    settings: SliceSettings
    case: Case

    @property
    def run(self) -> SliceRun:
        """The row of the card that this item's report belongs to."""
        return self.settings.run


def targets_of_slice(resources: Resources, name: str, marker: Mapping[str, Any]) -> list[Target]:
    """Returns a target for each case, retriever and checker of slice `name`.

    The command line beats the marker, and the marker beats the settings; the gates of all three are judged.

    Args:
        resources: of the run.
        name: of the slice.
        marker: keyword arguments of the marker medfaith, such as {"k": 5, "retriever": ["bm25", "rrf"]}.

    Raises:
        DataError: an unknown slice, a slice without cases, anything wrong with its files, or a metric of the
            settings that cannot be loaded.
        ValueError: an unknown argument of the marker, or a gate that does not parse.
    """
    options, configured = resources.options, resources.settings.slice(name)
    gates = (*configured.gates, *gates_of_marker(marker), *options.gates)
    variants = [
        dataclasses.replace(
            configured,
            retriever=retriever,
            checker=checker,
            k=options.k or count_of_marker(marker, "k") or configured.k,
            limit=options.limit or count_of_marker(marker, "limit") or configured.limit,
            gates=gates,
        )
        for retriever, checker in itertools.product(
            options.retriever or listed(marker.get("retriever")) or (configured.retriever,),
            options.checker or listed(marker.get("checker")) or (configured.checker,),
        )
    ]
    declared = resources.metrics  # a metric that cannot be loaded is refused now, too
    for gate in gates:
        parse_gate(gate, declared)  # a gate that does not parse is refused now, not after the run
    switched_on(load_rules(resources.settings.rules), off=resources.rules_off)  # a wrong name is refused now
    cases = resources.cases(variants[0])
    return [Target(settings=settings, case=case) for settings in variants for case in cases]


def expect_target(resources: Resources, collected: Collected, target: Target, *, test_id: str = "") -> None:
    """Notes that a target's case will run, so that it is seen to be missing where it never reports."""
    settings = target.settings
    collected.expect(
        target.run,
        [target.case.id],
        gates=settings.gates,
        test_id=test_id,
        skipped=resources.skipped(settings),
        size=len(resources.cases(settings)),
    )


def recorded_response(resources: Resources, target: Target, *, rows: Any = None) -> Response:
    """Returns the recorded response to a target's case: of `rows` where given, else of the slice's file.

    Raises:
        DataError: the slice has no recorded responses, or none for this case.
    """
    settings, case_id = target.settings, target.case.id
    responses = resources.responses(settings, rows=rows)
    if case_id not in responses:
        place = settings.responses if rows is None else "the rows of medfaith_rag"
        raise DataError(
            f"{place}: no response for case {case_id!r}; record one, or leave the case out of "
            f"{settings.cases}"
        )
    return responses[case_id]


def report_on(
    resources: Resources,
    target: Target,
    response: Response,
    *,
    checker: Checker,
    hits: Sequence[Hit] | None,
    extractor: Extractor = extract_claims,
) -> Report:
    """Returns the report on a response to a target's case; arguments as of `evaluate_case`."""
    settings = target.settings
    return evaluate_case(
        target.case,
        response,
        checker=checker,
        extractor=extractor,
        hits=hits,
        retriever=settings.retriever,
        k=settings.k,
        rulebook=resources.rulebook,
        declared=resources.metrics,
    ).with_(contexts_optional=settings.contexts == "optional")


def report_on_recorded(resources: Resources, target: Target) -> Report:
    """Returns the report on a target's recorded response, with the retriever and the checker of its slice."""
    settings = target.settings
    retriever = resources.retriever(settings) if settings.corpus else None
    hits = retriever(target.case.question, top_k=settings.k) if retriever else None
    response, checker = recorded_response(resources, target), resources.checker(settings.checker)
    return report_on(resources, target, response, checker=checker, hits=hits)
