"""What runs: each case of a slice under each retriever and checker; and the report on a single case."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_medfaith.answers.awaiting import awaited
from pytest_medfaith.answers.turns import Turns, as_turns
from pytest_medfaith.checking.rules import load_rules, switched_on
from pytest_medfaith.claims.history import standalone_question
from pytest_medfaith.claims.split import extract_claims
from pytest_medfaith.config import SliceSettings
from pytest_medfaith.errors import DataError
from pytest_medfaith.evaluation import Extractor, evaluate_case, retrieval_report
from pytest_medfaith.evidence import UNTOLD, Evidence
from pytest_medfaith.gates.expressions import gates_without_answer, parse_gate
from pytest_medfaith.records import Case, Hit, Report, Response, Retrieval, SliceRun
from pytest_medfaith.retrieval.build import refuse_passwords
from pytest_medfaith.retrieval.cost import index_bytes, measured_steps, vector_indexes
from pytest_medfaith.retrieval.ranking import checked_hits
from pytest_medfaith.run.marker import (
    contexts_of_marker,
    count_of_marker,
    counts_of_marker,
    gates_of_marker,
    listed,
)
from pytest_medfaith.teacher.asking import asking_for

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker
    from pytest_medfaith.metrics.base import Metric
    from pytest_medfaith.retrieval.ranking import Retriever
    from pytest_medfaith.run.collected import Collected
    from pytest_medfaith.run.resources import Resources
    from pytest_medfaith.safety.rulebook import Rulebook
    from pytest_medfaith.severity.rules import SeverityRules


@dataclass(frozen=True, kw_only=True)
class Target:
    """What a test item measures: a case of a slice under one retriever, checker, contexts mode and k.

    Attributes:
        settings: of the slice, with the values of this row.
        case: the question and what is known about its answer.
        has_answer: whether an answer is judged; else only what the retriever finds.
        place: of its row among the rows that were asked for together, from 0.
    """

    settings: SliceSettings
    case: Case
    has_answer: bool = True
    place: int = 0

    @property
    def run(self) -> SliceRun:
        """The key of the card's row that this item's report belongs to."""
        run = self.settings.run
        return run if self.has_answer else dataclasses.replace(run, contexts_mode="none")

    @property
    def turns(self) -> Turns:
        """The earlier turns of the case that the system under test gets; () where they are ignored."""
        return () if self.settings.history == "ignore" else as_turns(self.case.history)

    @property
    def standalone(self) -> str:
        """The question as it reads without the earlier turns, for which the reference RAG retrieves."""
        return standalone_question(self.case.question, self.turns)

    def gates(self, declared: Mapping[str, Metric]) -> tuple[str, ...]:
        """Returns the gates of this item's row; without an answer, only those that need none."""
        gates = self.settings.gates
        return gates if self.has_answer else gates_without_answer(gates, declared)


def targets_of_slice(
    resources: Resources, name: str, marker: Mapping[str, Any], *, has_answer: bool = True
) -> list[Target]:
    """Returns a target for each case of slice `name` under each retriever, checker, contexts mode and k.

    The command line beats the marker, and the marker beats the settings; the gates of all three are judged.

    Args:
        resources: of the run.
        name: of the slice.
        marker: keyword arguments of the marker medfaith, such as {"k": 5, "retriever": ["bm25", "rrf"]}.
        has_answer: whether answers are judged; where they are not, there is no contexts mode to choose.

    Raises:
        DataError: an unknown slice, a slice without cases, anything wrong with its files, or a metric of the
            settings that cannot be loaded.
        ValueError: an unknown argument of the marker, or a gate that does not parse.
    """
    variants = _variants(resources, name, marker, has_answer=has_answer)
    declared = resources.metrics  # a metric that cannot be loaded is refused now, too
    for gate in variants[0].gates:
        parse_gate(gate, declared)  # a gate that does not parse is refused now, not after the run
    switched_on(load_rules(resources.settings.rules), off=resources.rules_off)  # a wrong name is refused now
    cases = resources.cases(variants[0])
    return [
        Target(settings=settings, case=case, has_answer=has_answer, place=place)
        for place, settings in enumerate(variants)
        for case in cases
    ]


def _variants(
    resources: Resources, name: str, marker: Mapping[str, Any], *, has_answer: bool
) -> list[SliceSettings]:
    """Returns the settings of a slice once for each row of the card, in the order asked for."""
    options, configured = resources.options, resources.settings.slice(name)
    gates = (*configured.gates, *gates_of_marker(marker), *options.gates)
    modes = options.contexts or contexts_of_marker(marker)
    variants = [
        dataclasses.replace(
            configured.with_contexts(mode),
            retriever=retriever,
            checker=checker,
            k=k,
            limit=options.limit or count_of_marker(marker, "limit") or configured.limit,
            gates=gates,
        )
        for retriever, checker, mode, k in itertools.product(
            options.retriever or listed(marker.get("retriever")) or (configured.retriever,),
            options.checker or listed(marker.get("checker")) or (configured.checker,),
            (modes if has_answer else ()) or (configured.contexts_mode,),
            options.k or counts_of_marker(marker, "k") or (configured.k,),
        )
    ]
    for variant in variants:  # before the name of a retriever is anywhere shown
        refuse_passwords(variant.retriever, resources.retrieval)
    return list(dict.fromkeys(variants))  # a value that is given twice makes a single row


def missing_retriever(resources: Resources, settings: SliceSettings, *, has_answer: bool = True) -> str:
    """Returns why a slice cannot be measured, "" where it can.

    It cannot where a retriever is needed and the slice has nothing to search.
    """
    if resources.can_retrieve(settings) or (has_answer and settings.contexts_mode == "recorded"):
        return ""
    needed = (
        f"contexts = {settings.contexts_mode!r} judges claims by what a retriever finds"
        if has_answer
        else "only what a retriever finds is measured"
    )
    return (
        f"slice {settings.name!r}: {needed}, and there is nothing to retrieve from; set corpus = [...] in "
        f"{resources.settings.table(f'slices.{settings.name}')}, or define the fixture medfaith_retriever"
    )


def expect_target(resources: Resources, collected: Collected, target: Target, *, test_id: str = "") -> None:
    """Notes that a target's case will run, so that it counts as missing where it never reports."""
    settings = target.settings
    collected.expect(
        target.run,
        [target.case.id],
        gates=target.gates(resources.metrics),
        test_id=test_id,
        skipped=resources.skipped(settings),
        size=len(resources.cases(settings)),
        place=target.place,
    )


def recorded_response(resources: Resources, target: Target, *, rows: Any = None) -> Response:
    """Returns the recorded response to a target's case: from `rows` where given, else from the slice's file.

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


def reference_response(resources: Resources, target: Target, hits: Sequence[Hit]) -> Response:
    """Returns the reference RAG's answer to a target's question, written from `hits`.

    Raises:
        TeacherError: the teacher wrote or judged nothing that can be used.
    """
    from pytest_medfaith.answers.responses import BY_RETRIEVER

    case = target.case
    with asking_for(case.id):
        response = resources.reference_rag.answer(case.question, hits, case_id=case.id, turns=target.turns)
    return response.with_(contexts_from=BY_RETRIEVER)


def report_on(
    target: Target,
    response: Response,
    *,
    checker: Checker,
    hits: Sequence[Hit] | None,
    rulebook: Rulebook,
    severity: SeverityRules,
    declared: Mapping[str, Metric],
    extractor: Extractor = extract_claims,
    retriever: Retriever | None = None,
    cost: Retrieval = UNTOLD,
) -> Report:
    """Returns the report on a response to a target's case.

    Arguments as in `evaluate_case`; `retriever` finds chunks for each claim in the mode "per-claim", and
    `cost` is what the retrieval for the question took.
    """
    settings = target.settings

    def search(query: str) -> list[Hit]:
        return found_by(retriever, query, target)

    with asking_for(target.case.id):
        report = evaluate_case(
            with_recorded_history(target.case, response),
            response,
            checker=checker,
            extractor=extractor,
            hits=hits,
            retriever=settings.retriever,
            k=settings.k,
            rulebook=rulebook,
            severity=severity,
            declared=declared,
            evidence=Evidence(
                mode=settings.contexts_mode,
                search=search if retriever else None,
                cost=cost,
                history=settings.history,
            ),
        )
    return report.with_(contexts_optional=settings.contexts == "optional")


def with_recorded_history(case: Case, response: Response) -> Case:
    """Returns `case` with the earlier turns that its response was recorded with, where it has none.

    The turns are `response.extra["history"]`, a list; without them the case comes back as it is.

    Raises:
        DataError: case and response have different turns.
    """
    brought = response.extra.get("history")
    if not isinstance(brought, (list, tuple)) or not brought:
        return case
    turns = as_turns(brought, "the history of the response")
    if case.history and turns != as_turns(case.history):
        raise DataError(
            f"case {case.id!r} and its response have two histories; expected the same earlier turns, or "
            "those of the case alone"
        )
    return case.with_(history=turns)


def found_by(retriever: Any, query: str, target: Target) -> list[Hit]:
    """Returns the hits of a retriever, plain or async, for a query; at most the slice's k, best first."""
    k = target.settings.k
    with asking_for(target.case.id):
        found = awaited(retriever(query, top_k=k), "what the retriever gives")
    return checked_hits(found, k=k, case=target.case.id)


def report_on_recorded(resources: Resources, target: Target, *, response: Response | None = None) -> Report:
    """Returns the report on the recorded response to a target's case.

    For a target without an answer it is the report on what the retriever finds. `response` takes the place of
    the response in the slice's file.

    Raises:
        DataError: a retriever is needed, and the slice has no corpus.
    """
    settings = target.settings
    if why := missing_retriever(resources, settings, has_answer=target.has_answer):
        raise DataError(why)
    retriever = resources.retriever(settings) if resources.can_retrieve(settings) else None
    with measured_steps() as steps:
        hits = found_by(retriever, target.case.question, target) if retriever else None
    checker, cost = resources.checker(settings.checker), retrieval_cost(target, retriever, steps)
    if not target.has_answer:
        return report_on_hits(target, hits or [], checker=checker, declared=resources.metrics, cost=cost)
    return report_on(
        target,
        response or recorded_response(resources, target),
        checker=checker,
        hits=hits,
        **resources.rules,
        extractor=resources.extractor,
        retriever=retriever,
        cost=cost,
    )


def retrieval_cost(target: Target, retriever: Any, steps_ms: Mapping[str, float]) -> Retrieval:
    """Returns time and size of the retrieval for a question; empty where recorded contexts are judged."""
    if target.run.contexts_mode == "recorded":
        return UNTOLD
    return Retrieval(
        steps_ms=dict(steps_ms), index_bytes=index_bytes(retriever), indexes=vector_indexes(retriever)
    )


def report_on_hits(
    target: Target, hits: Sequence[Hit], *, checker: Checker, declared: Mapping[str, Metric], cost: Retrieval
) -> Report:
    """Returns the report on what the retriever found for a target's question, without an answer."""
    settings = target.settings
    with asking_for(target.case.id):
        return retrieval_report(
            target.case,
            hits,
            checker=checker,
            retriever=settings.retriever,
            k=settings.k,
            declared=declared,
            cost=cost,
        )
