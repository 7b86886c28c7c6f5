"""`medfaith ablation`: a slice under every combination of retrievers, encoders, chunk sizes and so on."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pytest_medfaith.commands.evaluate import (
    IntervalsOption,
    LimitOption,
    RetrievalOnlyOption,
    RunFolderOption,
    SliceArgument,
    show_end,
)
from pytest_medfaith.commands.parts import RootOption, progress_bar
from pytest_medfaith.commands.retrieval_options import with_retrieval_options

if TYPE_CHECKING:
    from pytest_medfaith.run.finish import Finish
    from pytest_medfaith.run.options import Options


def _axis(name: str, text: str) -> Any:
    return typer.Option(f"--{name}", metavar="VALUE", help=f"{text}; again for each value of the axis.")


RetrieverAxis = Annotated[list[str] | None, _axis("retriever", "A retriever")]
EncoderAxis = Annotated[list[str] | None, _axis("encoder", "An encoder of dense retrieval")]
RerankerAxis = Annotated[list[str] | None, _axis("reranker", "A reranker, or none")]
ContextAxis = Annotated[
    list[str] | None, _axis("chunk-context", "What is read of a chunk before its text: path, title or none")
]
SizeAxis = Annotated[
    list[str] | None, _axis("chunk-size", "Tokens of a chunk, or corpus for the chunks as they are")
]
StrideAxis = Annotated[list[str] | None, _axis("chunk-stride", "Tokens that neighbouring chunks share")]
DepthAxis = Annotated[list[str] | None, _axis("k", "How many chunks to retrieve")]
CheckerAxis = Annotated[list[str] | None, _axis("checker", "A checker")]
LinkerAxis = Annotated[
    list[str] | None,
    _axis("linker", "What finds the names that rules compare: default, none or scispacy:MODEL"),
]
ContextsAxis = Annotated[
    list[str] | None, _axis("contexts", "Whose contexts are judged: recorded, retrieved or per-claim")
]


@partial(with_retrieval_options, without=("encoder", "chunk_context"))
def ablation(
    name: SliceArgument,
    root: RootOption = Path(),
    retriever: RetrieverAxis = None,
    encoder: EncoderAxis = None,
    reranker: RerankerAxis = None,
    chunk_context: ContextAxis = None,
    chunk_size: SizeAxis = None,
    chunk_stride: StrideAxis = None,
    k: DepthAxis = None,
    checker: CheckerAxis = None,
    linker: LinkerAxis = None,
    contexts: ContextsAxis = None,
    limit: LimitOption = None,
    report: RunFolderOption = None,
    retrieval_only: RetrievalOnlyOption = False,
    verbose: IntervalsOption = False,
    *,
    retrieval: Mapping[str, Any],
) -> None:
    """Measure a slice under every combination of the values given, and compare each row with the first.

    What was measured is kept: a value more costs its own rows, and a killed ablation goes on. The exit status
    is 1 if a gate fails, 2 if a row could not be measured.

    Example: medfaith ablation medquad-nih --retriever rrf --retriever bm25 --k 5 --k 10 --retrieval-only
    """
    from pytest_medfaith.run.options import Options

    options = Options(
        retrieval=retrieval, limit=limit, report=report, retrieval_only=retrieval_only, verbose=verbose
    )
    given = {"retriever": retriever, "encoder": encoder, "reranker": reranker, "k": k, "checker": checker}
    chunks = {"chunk_context": chunk_context, "chunk_size": chunk_size, "chunk_stride": chunk_stride}
    judged = {"linker": linker, "contexts": contexts}
    end = run_ablation(name, root.resolve(), options, {**given, **chunks, **judged})
    show_end(end, verbose=verbose)


def run_ablation(name: str, root: Path, options: Options, given: Mapping[str, Any]) -> Finish:
    """Measures a slice for each combination of values of the axes, and returns how the run ended.

    An axis, such as `k`, is given on the command line or in the settings.

    Raises:
        DataError: an axis or a value that does not exist, fewer than two rows, or a slice without cases.
    """
    import dataclasses

    from pytest_medfaith.errors import DataError
    from pytest_medfaith.run.axes import checker_names, read_axes, retriever_names
    from pytest_medfaith.run.cells import KeptCells
    from pytest_medfaith.run.resources import Resources
    from pytest_medfaith.run.slices import run_slice
    from pytest_medfaith.run.targets import targets_of_slice

    before = Resources(root=root, options=options)
    configured, place = before.settings.slice(name), before.settings.table(f"ablation.{name}")
    axes = read_axes(before.settings.ablation.get(name, {}), given, place=place)
    options = dataclasses.replace(
        options,
        retriever=tuple(retriever_names(axes, configured, before.retrieval)),
        checker=tuple(checker_names(axes, configured)),
        contexts=tuple(axes.get("contexts", ())),
        k=tuple(axes.get("k", ())),
    )
    resources = Resources(root=root, options=options)
    targets = targets_of_slice(resources, name, {}, has_answer=not options.retrieval_only)
    if len({target.run for target in targets}) < 2:
        raise DataError(
            f"the axes make the single row {targets[0].run}, and there is nothing to compare; give an option "
            f"such as --retriever twice, or lists in {place}"
        )
    cells = KeptCells(resources)
    end = run_slice(resources, targets, measure=cells, progress=progress_bar("cases"), keeps_going=True)
    return dataclasses.replace(end, notes=(*end.notes, *_kept(cells.kept, len(targets), cells.damaged)))


def _kept(kept: int, targets: int, damaged: int) -> list[str]:
    notes = [
        (
            f"{kept} of {targets} cases were measured before and are kept in the cache; their times are of "
            f"that run"
        )
    ] * bool(kept)
    return notes + [f"{damaged} rows of the cache were damaged, and their cases were measured again"] * bool(
        damaged
    )
