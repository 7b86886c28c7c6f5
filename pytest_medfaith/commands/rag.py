"""`medfaith query` and `medfaith interactive`: the reference RAG asked by hand."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pytest_medfaith.commands.parts import LlmOption, RootOption, end_teacher, llm_mode, say
from pytest_medfaith.commands.retrieval_options import with_retrieval_options
from pytest_medfaith.errors import DataError, MedfaithError
from pytest_medfaith.plain import plain_json

if TYPE_CHECKING:
    from pytest_medfaith.answers.turns import Turns
    from pytest_medfaith.config import RagSettings, Settings, SliceSettings
    from pytest_medfaith.records import Response
    from pytest_medfaith.run.resources import Resources

QuestionArgument = Annotated[str, typer.Argument(help="A question.")]
SliceOption = Annotated[
    str | None, typer.Option("--slice", help="The slice whose corpus, retriever and k are taken.")
]
CorpusOption = Annotated[
    list[Path] | None,
    typer.Option("--corpus", help="A folder or file of chunks in the place of a slice; may be given again."),
]
ModeOption = Annotated[
    str | None,
    typer.Option(
        "--mode", help="plain, faithful, confident or confident-lite; where not given, that of the settings."
    ),
]
GeneratorOption = Annotated[
    str | None, typer.Option("--generator", help="extractive, which quotes the passages, or teacher.")
]
VerifierOption = Annotated[
    str | None, typer.Option("--checker", help="What verifies the draft, such as default or fast.")
]
ThresholdOption = Annotated[
    float | None, typer.Option("--threshold", help="The confidence below which there is no answer, 0 to 1.")
]
RetrieverNameOption = Annotated[
    str | None, typer.Option("--retriever", help="A retriever in place of the slice's.")
]
DepthOption = Annotated[int | None, typer.Option("--k", min=1, help="How many chunks to retrieve.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the response as a JSON object.")]
Answer = Callable[[str, "Turns"], "Response"]  # of a question, and the turns before it


@with_retrieval_options
def query(
    question: QuestionArgument,
    slice_name: SliceOption = None,
    corpus: CorpusOption = None,
    mode: ModeOption = None,
    generator: GeneratorOption = None,
    checker: VerifierOption = None,
    threshold: ThresholdOption = None,
    retriever: RetrieverNameOption = None,
    k: DepthOption = None,
    as_json: JsonOption = False,
    root: RootOption = Path(),
    llm: LlmOption = None,
    *,
    retrieval: Mapping[str, Any],
) -> None:
    """Answer a question from a corpus by the reference RAG, with citations, and say what was dropped and why.

    Example: medfaith query "How is gout treated?" --corpus corpus_samples --mode faithful --checker fast
    """
    said = {"mode": mode, "generator": generator, "checker": checker, "threshold": threshold}
    resources = resources_for(root, llm, retrieval, said)
    answer = answerer(resources, _searched(resources, slice_name, corpus, retriever, k))
    try:
        response = answer(question, ())
    finally:
        _save(resources)
    if as_json:
        typer.echo(plain_json(json.dumps(response.to_dict(), ensure_ascii=False)))
    else:
        _say_answer(response)
    _end(resources)


@with_retrieval_options
def interactive(
    slice_name: SliceOption = None,
    corpus: CorpusOption = None,
    mode: ModeOption = None,
    generator: GeneratorOption = None,
    checker: VerifierOption = None,
    threshold: ThresholdOption = None,
    retriever: RetrieverNameOption = None,
    k: DepthOption = None,
    root: RootOption = Path(),
    llm: LlmOption = None,
    *,
    retrieval: Mapping[str, Any],
) -> None:
    """Answer a question a line by the reference RAG, until the end of the input.

    A line may ask of what was said before: "How is migraine treated?", then "And in pregnancy?". An empty
    line asks nothing and begins a new conversation. Ctrl-D ends the loop, and so does Ctrl-C, with exit
    status 130.

    Example: medfaith interactive --corpus corpus_samples --mode confident-lite
    """
    said = {"mode": mode, "generator": generator, "checker": checker, "threshold": threshold}
    resources = resources_for(root, llm, retrieval, said)
    answer = answerer(resources, _searched(resources, slice_name, corpus, retriever, k))
    say("A question a line; an empty line begins a new conversation; Ctrl-D ends.", err=True)
    try:
        failed = _answer_lines(answer)
    except KeyboardInterrupt:
        say("")
        raise typer.Exit(130) from None
    finally:
        _save(resources)
    _end(resources)
    if failed:
        raise typer.Exit(1)


def _answer_lines(answer: Answer) -> int:
    """Answers each line of standard input, and returns how many could not be answered."""
    import sys

    from pytest_medfaith.answers.turns import ASSISTANT, USER, Turns, as_turns

    failed, turns = 0, Turns()
    while True:
        if sys.stdin.isatty():
            typer.echo("> ", nl=False)
        line = sys.stdin.readline()
        if not line:
            return failed
        question = line.strip()
        if not question:
            turns = Turns()
            continue
        try:
            response = answer(question, turns)
            _say_answer(response)
            said = {USER: question, ASSISTANT: response.answer}
            turns += as_turns([{"role": role, "content": content} for role, content in said.items()])
        except (MedfaithError, ValueError, OSError) as error:
            failed += 1
            say(f"medfaith: {error}", err=True)
        say("")


def resources_for(
    root: Path, llm: str | None, retrieval: Mapping[str, Any], said: Mapping[str, Any]
) -> Resources:
    """Returns the `Resources` of a command; `said` are settings of the reference RAG, None for not given.

    Raises:
        DataError: an unknown mode or generator, or a threshold out of its range.
    """
    from pytest_medfaith.run.options import Options
    from pytest_medfaith.run.resources import Resources

    resources = Resources(root=root.resolve(), options=Options(retrieval=retrieval, llm=llm_mode(llm)))
    resources.settings = with_rag(resources.settings, said)
    return resources


def with_rag(settings: Settings, said: Mapping[str, Any]) -> Settings:
    """Returns `settings` with the settings `said` of the reference RAG in place; None leaves one alone.

    Raises:
        DataError: a value of the wrong kind or out of its range.
    """
    from pytest_medfaith.config import command_line_settings

    given = {
        **dataclasses.asdict(settings.rag),
        **{name: one for name, one in said.items() if one is not None},
    }
    rag: RagSettings = command_line_settings({"rag": given})["rag"]
    return dataclasses.replace(settings, rag=rag)


def answerer(resources: Resources, searched: SliceSettings) -> Answer:
    """Returns a function that answers a question from a slice's corpus, after earlier turns.

    Raises:
        DataError: there is nothing to retrieve from.
        TeacherError: the teacher is needed and cannot be asked.
    """
    from pytest_medfaith.claims.history import standalone_question
    from pytest_medfaith.retrieval.ranking import hits_in_order
    from pytest_medfaith.teacher.asking import asking_for

    if not resources.can_retrieve(searched):
        raise DataError(
            "there is no corpus to answer from; give --corpus FOLDER, or --slice NAME of the settings"
        )
    resources.check_rag()
    retriever, rag = resources.retriever(searched), resources.reference_rag

    def answer(question: str, turns: Turns) -> Response:
        with asking_for(question):
            found = retriever(standalone_question(question, turns), top_k=searched.k)
            hits = hits_in_order(found, k=searched.k, place="the question")
            return rag.answer(question, hits, turns=turns)

    return answer


def _searched(
    resources: Resources,
    name: str | None,
    corpus: list[Path] | None,
    retriever: str | None,
    k: int | None,
) -> SliceSettings:
    """Returns the slice to search: the one named, the only one with a corpus, or one of the given corpus."""
    from pytest_medfaith.config import SliceSettings

    if name is not None and corpus:
        raise DataError("--slice and --corpus both say what is searched; give one of them")
    with_corpus = [one for one in resources.settings.slices.values() if one.corpus]
    if name is not None:
        searched = resources.settings.slice(name)
    elif corpus or len({one.corpus for one in with_corpus}) != 1:
        searched = SliceSettings(name="query", cases="", corpus=tuple(corpus or ()))
    else:
        searched = with_corpus[0]
    return dataclasses.replace(searched, retriever=retriever or searched.retriever, k=k or searched.k)


def _say_answer(response: Response) -> None:
    from pytest_medfaith.cards.rag_answer import answer_text

    say(answer_text(response))


def _save(resources: Resources) -> None:
    if "teacher" in vars(resources):
        resources.teacher.save()


def _end(resources: Resources) -> None:
    end_teacher(resources.teacher if "teacher" in vars(resources) else None)
