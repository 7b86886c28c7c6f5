"""Judges a finished run again, by other gold claims, thresholds or another checker.

Answers and hits are taken from the run folder: nothing is asked or retrieved again. What was not measured
then stays missing, and an answer that failed stays failed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_medfaith.answers.responses import BY_RETRIEVER
from pytest_medfaith.cards.run_begin import begin_run, check_report_folder
from pytest_medfaith.cards.run_reading import read_run
from pytest_medfaith.config import SliceSettings
from pytest_medfaith.datasets.registry import read_cases
from pytest_medfaith.errors import DataError
from pytest_medfaith.evaluation import evaluate_case, retrieval_report
from pytest_medfaith.evidence import CONVERSATION, Evidence, checked_mode, query_of
from pytest_medfaith.gates.expressions import gates_without_answer, parse_gate
from pytest_medfaith.records import Case, Chunk, Hit, Report, Response, Retrieval, SliceReport, SliceRun
from pytest_medfaith.run.collected import Collected
from pytest_medfaith.run.completing import completed
from pytest_medfaith.run.results import Result, plain_report
from pytest_medfaith.run.signature import (
    checker_signature,
    extractor_signature,
    relevancy_signature,
    severity_signature,
)
from pytest_medfaith.run.teaching import recording
from pytest_medfaith.teacher.asking import asking_for

if TYPE_CHECKING:
    from pytest_medfaith.run.finish import Finish
    from pytest_medfaith.run.resources import Resources

Cases = Mapping[str, Case]


def rescore_run(
    resources: Resources,
    folder: Path,
    *,
    gold: str | None,
    checker: str | None,
    progress: Callable[[int, int], None],
) -> Finish:
    """Judges the answers and hits in a run folder again, and returns how the new run ended.

    Args:
        resources: of the project: its thresholds, rules, gates and baseline hold.
        folder: of the finished run.
        gold: a gold file, or `NAME:PATH` of a data set; None keeps the gold claims of the run.
        checker: judges; None takes the checker of each row.
        progress: called with (cases done, cases).

    Raises:
        DataError: no finished run is there, the gold lacks a case or has another question for it, or the new
            run would be written over the old.
    """
    from pytest_medfaith.run.finish import end_run

    rows, signature = read_run(folder)
    cases = {case.id: case for case in read_cases(gold)} if gold else None
    asked = [(row, report, _new_case(report.case, cases, gold)) for row in rows for report in row.reports]
    if not asked:
        raise DataError(f"{folder}: no case of this run was measured, so there is nothing to judge again")
    for gate in {gate for row in rows for gate in _gates(resources, row)}:
        parse_gate(gate, resources.metrics)  # a gate that does not parse is refused now, not after the run
    _begin(resources, folder)
    collected = Collected()
    for row in rows:
        _expect(resources, collected, row, checker)
    with recording(resources):
        for number, (row, report, case) in enumerate(asked, start=1):
            run = _new_run(row, checker)
            history = signature.get("history", {}).get(row.slice, "context")
            again = _judged(resources, report, case, run, history=history)
            again = plain_report(completed(resources, again, history=history))
            collected.add(Result(run=run, report=again, gates=_gates(resources, row)))
            progress(number, len(asked))
    signed = _signature(resources, signature, {_new_run(row, checker).checker for row in rows})
    end = end_run(resources, collected, signature=signed)
    return dataclasses.replace(end, notes=(*end.notes, *_unanswered(cases, rows)))


def _begin(resources: Resources, folder: Path) -> None:
    """Marks the folder of the new run as unfinished, where a folder was asked for."""
    out = resources.options.report
    if out is None:
        return
    if out.resolve() == folder.resolve():
        raise DataError(f"--out is {out}, the run that is read; give another folder, so that both stay")
    check_report_folder(out, resources.settings, baseline=resources.baseline_path)
    begin_run(out)


def _new_case(known: Case, cases: Cases | None, gold: str | None) -> Case:
    """Returns the case that an answer is judged by: of the gold `cases`, or `known` where there are none.

    Raises:
        DataError: the gold has no such case, or another question or other turns under its id.
    """
    if cases is None:
        return known
    if known.id not in cases:
        raise DataError(
            f"{gold} holds no case {known.id!r}, which the run answered; add it, or leave --gold out to keep "
            "the gold claims of the run"
        )
    found = cases[known.id]
    if found.question.split() != known.question.split():
        raise DataError(
            f"{gold}: case {known.id!r} asks another question than the run answered; give it an id of its "
            "own, and answer it with medfaith run"
        )
    if found.history and found.history != known.history:
        raise DataError(f"{gold}: case {known.id!r} has other earlier turns than the run answered")
    return found.with_(history=known.history)


def _new_run(row: SliceReport, checker: str | None) -> SliceRun:
    """Returns the key of the row that judges `row` again, by `checker` where that is given."""
    known: SliceRun = row.run
    return dataclasses.replace(known, checker=checker or row.checker)


def _settings(resources: Resources, row: SliceReport) -> SliceSettings | None:
    return resources.settings.slices.get(row.slice)


def _gates(resources: Resources, row: SliceReport) -> tuple[str, ...]:
    """Returns the gates of the settings and the command line for a row."""
    configured = _settings(resources, row)
    gates = (*(configured.gates if configured else ()), *resources.options.gates)
    return gates if row.contexts_mode != "none" else gates_without_answer(gates, resources.metrics)


def _expect(resources: Resources, collected: Collected, row: SliceReport, checker: str | None) -> None:
    """Expects the cases of a row again; those that its run lost will be missing again."""
    known = [report.case.id for report in row.reports]
    run, ids = _new_run(row, checker), [*known, *row.missing]
    told: dict[str, Any] = {"skipped": row.skipped, "size": len(ids), "place": row.place}
    collected.expect(run, ids, gates=_gates(resources, row), **told)


def _judged(resources: Resources, report: Report, case: Case, run: SliceRun, *, history: Any) -> Report:
    """Returns the report on a recorded answer, or on recorded hits, judged again."""
    checker = resources.checker(run.checker)
    old = report.retrieval
    cost = Retrieval(steps_ms=old.steps_ms, index_bytes=old.index_bytes, indexes=old.indexes)
    told: dict[str, Any] = {"retriever": run.retriever, "k": run.k}
    with asking_for(case.id):
        if report.contexts_mode == "none":
            told["declared"] = resources.metrics
            return retrieval_report(case, report.hits, checker=checker, cost=cost, **told)
        again = evaluate_case(
            case,
            _as_answered(report),
            checker=checker,
            extractor=resources.extractor,
            hits=report.hits if report.searched else None,
            evidence=Evidence(
                mode=report.contexts_mode, search=_search(report), cost=cost, history=checked_mode(history)
            ),
            **resources.rules,
            **told,
        )
    return again.with_(contexts_optional=report.contexts_optional)


def _as_answered(report: Report) -> Response:
    """Returns the response as it was before retrieved contexts and turns of the user were added."""
    response = report.response
    # What the user said before comes behind the contexts again, where the history is evidence.
    contexts = tuple(chunk for chunk in response.contexts if chunk.source != CONVERSATION)
    response = response.with_(contexts=contexts)
    if report.contexts_mode == "recorded":
        return response
    _, replaced, before = response.contexts_from.rpartition(", in place of ")
    return response.with_(contexts_from=before if replaced else BY_RETRIEVER)


def _search(report: Report) -> Callable[[str], Sequence[Hit]] | None:
    """Returns a search that finds for each claim what was found then; None where claims were no queries.

    Raises:
        DataError: when called for a claim that the run did not search for.
    """
    if report.contexts_mode != "per-claim":
        return None
    chunks: dict[str, Chunk] = {chunk.id: chunk for chunk in report.response.contexts}
    found = {
        query_of(verdict.claim): report.retrieval.claims.get(verdict.claim.id, ())
        for verdict in report.verdicts
    }

    def search(query: str) -> list[Hit]:
        if query not in found:
            raise DataError(
                f"case {report.case.id!r}: its answer is split into other claims than when it was run, and "
                "nothing was retrieved for them; run the slice again"
            )
        return [
            Hit(chunk=chunks[name], rank=rank, score=1.0 / rank)
            for rank, name in enumerate(found[query], start=1)
        ]

    return search


def _signature(resources: Resources, signature: Mapping[str, Any], checkers: set[str]) -> dict[str, Any]:
    """Returns the signature of the old run, with what judges now in place of what judged then."""
    from importlib.metadata import version

    kept = {
        name: value for name, value in signature.items() if name not in ("extractor", "severity", "relevancy")
    }
    return {
        **kept,
        "version": version("pytest-medfaith"),
        "checkers": {name: checker_signature(resources.checker(name)) for name in sorted(checkers)},
        "safety": resources.rulebook.signature,
        "seed": resources.seed,
        **severity_signature(resources),
        **extractor_signature(resources),
        **relevancy_signature(resources),
    }


def _unanswered(cases: Cases | None, rows: Sequence[SliceReport]) -> list[str]:
    """Returns a note on gold cases that the run did not answer; [] where there is none."""
    known = {report.case.id for row in rows for report in row.reports} | {
        name for row in rows for name in row.missing
    }
    more = [name for name in cases or {} if name not in known]
    return [f"{len(more)} cases of the gold were not answered in this run, such as {more[0]}"] if more else []
