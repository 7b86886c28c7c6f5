"""`medfaith run` answers a slice live, outside pytest; `medfaith rescore` judges a run again."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pytest_medfaith.commands.evaluate import (
    CheckersOption,
    ContextsOption,
    IntervalsOption,
    LimitOption,
    contexts_modes,
    show_end,
)
from pytest_medfaith.commands.parts import LlmOption, RootOption, RulesOffOption, llm_mode, progress_bar
from pytest_medfaith.commands.rag import CorpusOption, GeneratorOption, ThresholdOption, with_rag
from pytest_medfaith.commands.retrieval_options import with_retrieval_options
from pytest_medfaith.errors import DataError

if TYPE_CHECKING:
    from pytest_medfaith.run.finish import Finish
    from pytest_medfaith.run.live import LiveAnswers
    from pytest_medfaith.run.resources import Resources

DatasetOption = Annotated[
    str,
    typer.Option(
        "--dataset", help="A slice of the settings, a gold file, or NAME:PATH of a public data set."
    ),
]
RagOption = Annotated[
    str,
    typer.Option(
        "--rag",
        help="Your RAG as package.module:callable, or the reference RAG: plain, faithful, confident or "
        "confident-lite.",
    ),
]
OutFolderOption = Annotated[Path, typer.Option("--out", help="The run folder to write.")]
RetrieversOption = Annotated[
    list[str] | None,
    typer.Option("--retriever", "--retrievers", help="A retriever; given again, it makes an ablation."),
]
DepthOption = Annotated[int | None, typer.Option("--k", min=1, help="How many chunks to retrieve.")]
GatesOption = Annotated[
    list[str] | None, typer.Option("--gate", help="A gate beside those of the slice; may be given again.")
]
FreshOption = Annotated[
    bool, typer.Option("--fresh", help="Ask every question, whatever an interrupted run has answered.")
]
VerifierOption = Annotated[
    str | None, typer.Option("--rag-checker", help="What verifies the drafts of the reference RAG.")
]
RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a finished run.")]
GoldOption = Annotated[
    str | None,
    typer.Option("--gold", help="Cases with other gold claims: a gold file, or NAME:PATH of a data set."),
]
CheckerOption = Annotated[
    str | None, typer.Option("--checker", help="A checker in the place of that of each row.")
]
EntailOption = Annotated[
    float | None, typer.Option("--entail-threshold", help="From which probability a chunk entails a claim.")
]
ContradictOption = Annotated[
    float | None,
    typer.Option("--contradict-threshold", help="From which probability a chunk contradicts a claim."),
]
NewFolderOption = Annotated[
    Path | None, typer.Option("--out", help="Write the new run folder there; RUN stays as it is.")
]


@with_retrieval_options
def run_live(
    dataset: DatasetOption,
    out: OutFolderOption,
    rag: RagOption = "plain",
    corpus: CorpusOption = None,
    retriever: RetrieversOption = None,
    k: DepthOption = None,
    checker: CheckersOption = None,
    contexts: ContextsOption = None,
    limit: LimitOption = None,
    gate: GatesOption = None,
    rules_off: RulesOffOption = None,
    generator: GeneratorOption = None,
    rag_checker: VerifierOption = None,
    threshold: ThresholdOption = None,
    fresh: FreshOption = False,
    root: RootOption = Path(),
    llm: LlmOption = None,
    verbose: IntervalsOption = False,
    *,
    retrieval: Mapping[str, Any],
) -> None:
    """Answer a slice live, without pytest, check the answers, and write the run folder.

    A run that was stopped goes on with the answers that it has. A question at which the RAG crashes is a
    failed case, and the run goes on. The exit status is 1 if a case or a gate fails.

    Example: medfaith run --dataset medquad --k 20 --retrievers rrf --rag my_app:answer --out runs/x
    """
    from pytest_medfaith.run.options import Options
    from pytest_medfaith.run.resources import Resources

    options = Options(
        **_listed(retriever=retriever, checker=checker, gates=gate, rules_off=rules_off),
        retrieval=retrieval,
        contexts=contexts_modes(contexts or ()),
        k=(k,) if k else (),
        limit=limit,
        report=out,
        verbose=verbose,
        llm=llm_mode(llm),
    )
    said = {"generator": generator, "checker": rag_checker, "threshold": threshold}
    resources = Resources(root=root.resolve(), options=options)
    show_end(_answer_slice(resources, dataset, corpus, rag, said, fresh=fresh), verbose=verbose)


def _listed(**given: list[str] | None) -> dict[str, Any]:
    return {name: tuple(values or ()) for name, values in given.items()}


def _answer_slice(
    resources: Resources,
    dataset: str,
    corpus: Sequence[Path] | None,
    rag: str,
    said: Mapping[str, Any],
    *,
    fresh: bool,
) -> Finish:
    """Answers a slice, checks the answers, and returns how the run ended.

    `fresh` drops the answers of an interrupted run; `said` holds settings of the reference RAG.
    """
    from pytest_medfaith.run.live import ANSWERS, LiveAnswers
    from pytest_medfaith.run.slices import run_slice
    from pytest_medfaith.run.targets import targets_of_slice

    name = _add_slice(resources, dataset, tuple(corpus or ()))
    called = _rag_called(resources, rag, said)
    targets = targets_of_slice(resources, name, {})
    if called is None:
        _check_reference(resources, targets)
    path = (resources.options.report or Path()) / ANSWERS
    if fresh:
        path.unlink(missing_ok=True)
    answers = LiveAnswers(resources, called, rag, path)
    end = run_slice(resources, targets, measure=answers, progress=progress_bar("cases"))
    path.unlink(missing_ok=True)
    return _with_failures(end, answers)


def _check_reference(resources: Resources, targets: Any) -> None:
    """Raises where the reference RAG has nothing to search, or its teacher cannot be asked."""
    if not resources.can_retrieve(targets[0].settings):
        raise DataError(
            "the reference RAG needs something to retrieve from; give --corpus FOLDER, set corpus of the "
            "slice, or name your RAG, as in --rag my_app:answer"
        )
    resources.check_rag()


def _add_slice(resources: Resources, dataset: str, corpus: tuple[Path, ...]) -> str:
    """Returns the name of the slice that --dataset means: a slice of the settings, or a file or data set.

    For a file or a data set a new slice is added to the settings in memory.

    Raises:
        DataError: it is no slice, no file and no data set.
    """
    from pytest_medfaith.config import SliceSettings

    settings = resources.settings
    if dataset in settings.slices:
        changed = settings.slices[dataset]
        changed = dataclasses.replace(changed, corpus=corpus) if corpus else changed
        resources.settings = dataclasses.replace(settings, slices={**settings.slices, dataset: changed})
        return dataset
    kind, colon, place = dataset.partition(":")
    if not colon and not Path(dataset).is_file():
        known = ", ".join(sorted(settings.slices)) or "none"
        raise DataError(
            f"--dataset is {dataset!r}, which is no slice of {settings.root} (slices: {known}) and no file; "
            f"expected one of these, a gold file, or a data set with its path, such as {kind}:FILE"
        )
    name = kind if colon and kind != "python" else Path(place or dataset).stem
    added = SliceSettings(name=name, cases=dataset, corpus=corpus)
    resources.settings = dataclasses.replace(settings, slices={**settings.slices, name: added})
    return name


def _rag_called(resources: Resources, rag: str, said: Mapping[str, Any]) -> Callable[[str], Any] | None:
    """Returns the RAG of a dotted name; None for the reference RAG, whose settings are then set.

    Raises:
        DataError: neither a mode of the reference RAG nor a callable by dotted name.
    """
    from pytest_medfaith.config import RAG_MODES
    from pytest_medfaith.dotted import load_dotted

    if rag in RAG_MODES:
        resources.settings = with_rag(resources.settings, {**said, "mode": rag})
        return None
    if any(value is not None for value in said.values()):
        raise DataError(
            f"--generator, --rag-checker and --threshold are of the reference RAG; --rag is {rag!r}"
        )
    if ":" not in rag:
        raise DataError(
            f"--rag is {rag!r}; expected package.module:callable, or one of {', '.join(RAG_MODES)}"
        )
    called = load_dotted(rag, what="the RAG")
    if not callable(called):
        raise DataError(f"the RAG {rag!r} is {called!r}; expected a callable that takes the question")
    return called  # type: ignore[no-any-return]


def _with_failures(end: Finish, answers: LiveAnswers) -> Finish:
    """Returns how a run ended, with counts of its answers; a case without an answer fails the run."""
    notes = [f"{answers.kept} answers are of an interrupted run (--fresh asks anew)"] * bool(answers.kept)
    notes += [f"{answers.damaged} kept answers were damaged, and were asked again"] * bool(answers.damaged)
    notes += [f"FAILED: case {name!r}: {why}" for name, why in sorted(answers.failed.items())]
    status = "failed" if answers.failed and end.status == "passed" else end.status
    return dataclasses.replace(end, notes=(*end.notes, *notes), status=status)


def rescore(
    run: RunArgument,
    gold: GoldOption = None,
    checker: CheckerOption = None,
    entail_threshold: EntailOption = None,
    contradict_threshold: ContradictOption = None,
    gate: GatesOption = None,
    rules_off: RulesOffOption = None,
    out: NewFolderOption = None,
    root: RootOption = Path(),
    llm: LlmOption = None,
    verbose: IntervalsOption = False,
) -> None:
    """Judge the answers of a run again by other gold, thresholds or another checker, without answering again.

    Example: medfaith rescore runs/x --gold gold/reviewed.jsonl --out runs/x-reviewed
    """
    from pytest_medfaith.config import command_line_settings
    from pytest_medfaith.run.options import Options
    from pytest_medfaith.run.rescoring import rescore_run
    from pytest_medfaith.run.resources import Resources
    from pytest_medfaith.teacher.settings import TEACHER

    told = _listed(gates=gate, rules_off=rules_off)
    options = Options(**told, report=out, verbose=verbose, llm=llm_mode(llm))
    resources = Resources(root=root.resolve(), options=options)
    said = command_line_settings(
        {"entail_threshold": entail_threshold, "contradict_threshold": contradict_threshold}
    )
    resources.settings = dataclasses.replace(resources.settings, **said)
    if TEACHER in (checker, resources.settings.extractor):
        resources.teacher.check_ready()
    end = rescore_run(resources, run, gold=gold, checker=checker, progress=progress_bar("cases"))
    show_end(end, verbose=verbose)
