"""`medfaith evaluate`: measures a configured slice without pytest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pytest_medfaith.commands.engine import (
    AddressOption,
    BlockRowsOption,
    EngineOption,
    RayEngine,
    WorkersOption,
    engine_of,
)
from pytest_medfaith.commands.parts import (
    LlmOption,
    RootOption,
    RulesOffOption,
    llm_mode,
    progress_bar,
    say,
)
from pytest_medfaith.commands.retrieval_options import with_retrieval_options

if TYPE_CHECKING:
    from pytest_medfaith.config import JudgedContexts
    from pytest_medfaith.run.finish import Finish
    from pytest_medfaith.run.options import Options

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
    llm: LlmOption = None,
    retrieval_only: RetrievalOnlyOption = False,
    verbose: IntervalsOption = False,
    engine: EngineOption = "process",
    address: AddressOption = None,
    workers: WorkersOption = None,
    block_rows: BlockRowsOption = None,
    *,
    retrieval: Mapping[str, Any],
) -> None:
    """Check the recorded responses of a slice, or what it retrieves, and print its card.

    The exit status is 1 if a gate fails, and 2 if cases could not be measured. A slice without recorded
    responses is answered by medfaith run.

    Example: medfaith evaluate medquad-nih --retriever bm25 --retriever rrf
    """
    from pytest_medfaith.run.options import Options

    options = Options(
        retrieval=retrieval,
        retriever=tuple(retriever or ()),
        checker=tuple(checker or ()),
        contexts=contexts_modes(contexts or ()),
        retrieval_only=retrieval_only,
        k=(k,) if k else (),
        limit=limit,
        rules_off=tuple(rules_off or ()),
        report=report,
        verbose=verbose,
        llm=llm_mode(llm),
    )
    cluster = engine_of(engine, address=address, workers=workers, block_rows=block_rows)
    show_end(_run_slice(name, root.resolve(), options, cluster), verbose=verbose)


def show_end(end: Finish, *, verbose: bool) -> None:
    """Prints how a run ended, and exits with the status that it comes to: 1 failed, 2 unusable."""
    from pytest_medfaith.cards.ablation_card import ablation_text
    from pytest_medfaith.cards.audit_card import audit_card
    from pytest_medfaith.cards.terminal import result_card

    say(result_card(end.reports, verbose=verbose))
    for ablation in end.ablations:
        say("\n" + ablation_text(ablation))
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


def _run_slice(name: str, root: Path, options: Options, cluster: RayEngine | None) -> Finish:
    """Judges the recorded responses of a slice, here or on a cluster, and returns how the run ended."""
    from pytest_medfaith.run.resources import Resources
    from pytest_medfaith.run.slices import run_slice
    from pytest_medfaith.run.targets import report_on_recorded, targets_of_slice

    resources = Resources(root=root, options=options)
    targets = targets_of_slice(resources, name, {}, has_answer=not options.retrieval_only)
    if targets[0].has_answer and targets[0].settings.responses is None:
        resources.responses(targets[0].settings)  # refuses the slice before anything is loaded
    if cluster is None:
        measure = partial(report_on_recorded, resources)
        return run_slice(resources, targets, measure=measure, progress=progress_bar("cases"))
    from pytest_medfaith.commands.bulk_evaluate import bulk_reports, on_disk

    resources.store = on_disk(resources)
    with bulk_reports(cluster, resources, targets) as reports:
        return run_slice(resources, targets, measure=reports, progress=lambda *_: None)
