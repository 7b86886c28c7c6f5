"""`medfaith evaluate`: a configured slice without pytest."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pytest_medfaith.commands.parts import RootOption, RulesOffOption, progress_bar, say
from pytest_medfaith.commands.retrieval_options import with_retrieval_options

if TYPE_CHECKING:
    from pytest_medfaith.config import JudgedContexts
    from pytest_medfaith.metrics.base import Metric
    from pytest_medfaith.run.finish import Finish
    from pytest_medfaith.run.options import Options
    from pytest_medfaith.run.targets import Target

SliceArgument = Annotated[
    str, typer.Argument(metavar="SLICE", help="A slice configured under [tool.medfaith.slices].")
]
RetrieversOption = Annotated[
    list[str] | None,
    typer.Option(
        "--retriever", help="A retriever in place of the slice's; given again, it makes an ablation."
    ),
]
CheckersOption = Annotated[
    list[str] | None,
    typer.Option("--checker", help="A checker in place of the slice's; given again, it makes an ablation."),
]
ContextsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--contexts",
        metavar="MODE",
        help="Judge claims by recorded, retrieved or per-claim contexts; given again, it makes an ablation.",
    ),
]
RetrievalOnlyOption = Annotated[
    bool, typer.Option("--retrieval-only", help="Measure what the retriever finds, without answers.")
]
DepthOption = Annotated[int | None, typer.Option(min=1, help="How many chunks to retrieve.")]
LimitOption = Annotated[int | None, typer.Option(min=1, help="The most cases.")]
RunFolderOption = Annotated[Path | None, typer.Option(help="Write the run folder there.")]
IntervalsOption = Annotated[bool, typer.Option("--verbose", help="Show intervals.")]


@with_retrieval_options
def evaluate(
    name: SliceArgument,
    root: RootOption = Path(),
    retriever: RetrieversOption = None,
    checker: CheckersOption = None,
    contexts: ContextsOption = None,
    k: DepthOption = None,
    limit: LimitOption = None,
    rules_off: RulesOffOption = None,
    report: RunFolderOption = None,
    retrieval_only: RetrievalOnlyOption = False,
    verbose: IntervalsOption = False,
    *,
    retrieval: Mapping[str, Any],
) -> None:
    """Check the recorded responses of a slice, or what it retrieves, and print its card.

    The exit status is 1 if a gate fails.

    Example: medfaith evaluate medquad-nih --retriever bm25 --retriever rrf
    """
    from pytest_medfaith.run.options import Options

    options = Options(
        retrieval=retrieval,
        retriever=tuple(retriever or ()),
        checker=tuple(checker or ()),
        contexts=contexts_modes(contexts or ()),
        retrieval_only=retrieval_only,
        k=k,
        limit=limit,
        rules_off=tuple(rules_off or ()),
        report=report,
        verbose=verbose,
    )
    show_end(_run_slice(name, root.resolve(), options), verbose=verbose)


def show_end(end: Finish, *, verbose: bool) -> None:
    """Prints how a run ended, and ends the command with the exit status that it comes to."""
    from pytest_medfaith.cards.audit_card import audit_card
    from pytest_medfaith.cards.terminal import result_card

    say(result_card(end.reports, verbose=verbose))
    for title, audit in end.audits.items():
        say("\n" + audit_card(audit, title=title))
    for line in [*end.notes, *(f"ERROR: {error}" for error in end.errors)]:
        say(line, err=True)
    if end.status != "passed":
        raise typer.Exit(2 if end.status == "unusable" else 1)


def contexts_modes(given: Sequence[str]) -> tuple[JudgedContexts, ...]:
    """Returns the contexts modes that an option names; raises ValueError for an unknown mode."""
    from pytest_medfaith.config import JUDGED_CONTEXTS

    modes = tuple(mode for mode in JUDGED_CONTEXTS if mode in given)
    if unknown := sorted(set(given) - set(modes)):
        raise ValueError(f"--contexts is {unknown[0]!r}; expected one of {', '.join(JUDGED_CONTEXTS)}")
    return modes


def _run_slice(name: str, root: Path, options: Options) -> Finish:
    """Judges the recorded responses of slice `name` as a run of pytest would, and ends the run."""
    from pytest_medfaith.cards.run_begin import begin_run, check_report_folder
    from pytest_medfaith.errors import DataError
    from pytest_medfaith.run.baselines import check_baseline
    from pytest_medfaith.run.collected import Collected
    from pytest_medfaith.run.finish import end_run
    from pytest_medfaith.run.resources import Resources
    from pytest_medfaith.run.results import Result, plain_report
    from pytest_medfaith.run.targets import (
        expect_target,
        missing_retriever,
        report_on_recorded,
        targets_of_slice,
    )

    resources, collected = Resources(root=root, options=options), Collected()
    targets = targets_of_slice(resources, name, {}, has_answer=not options.retrieval_only)
    for target in targets:
        if why := missing_retriever(target.settings, has_answer=target.has_answer):
            raise DataError(why)
        expect_target(resources, collected, target)
    check_baseline(resources, collected)
    if options.report:
        check_report_folder(options.report, resources.settings, baseline=resources.baseline_path)
        begin_run(options.report)
    progress = progress_bar("cases")
    for number, target in enumerate(targets, start=1):
        measured = plain_report(report_on_recorded(resources, target))
        gates = target.gates(resources.metrics)
        collected.add(Result(run=target.run, report=measured, gates=gates))
        progress(number, len(targets))
    end = end_run(resources, collected)
    return dataclasses.replace(end, notes=(*end.notes, *_unjudged(targets[0], resources.metrics)))


def _unjudged(target: Target, declared: Mapping[str, Metric]) -> list[str]:
    """Returns a line on the gates that were left out because they need answers; [] where none was."""
    judged = target.gates(declared)
    gates = [gate for gate in target.settings.gates if gate not in judged]
    if not gates:
        return []
    return [
        f"slice {target.settings.name!r}: no answer was judged, so these gates were not: {', '.join(gates)}"
    ]
