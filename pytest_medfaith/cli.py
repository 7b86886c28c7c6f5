"""The `medfaith` command."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from pytest_medfaith.errors import DataError, MedfaithError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Checks, claim by claim and offline, whether medical answers say things their evidence does not say.",
)
distill = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Train and export the small models that the wheel ships (extra: train).")
app.add_typer(distill, name="distill")

CheckerOption = Annotated[str, typer.Option(help="default (the shipped student), a model folder, or a Hugging Face model name.")]
CorpusOption = Annotated[list[Path], typer.Option("--corpus", help="A folder or file of chunks in JSON Lines; may be given again.")]
RetrieverOption = Annotated[str, typer.Option(help="bm25, dense, rrf, weighted, or a dotted name package.module:factory.")]
RootOption = Annotated[Path, typer.Option(help="The project: where pyproject.toml or medfaith.toml is.")]


@app.command()
def check(
    rows: Annotated[Path, typer.Argument(help='JSON Lines of {"id", "claim", "evidence"}; evidence is a text or a list of texts.')],
    out: Annotated[Path, typer.Option(help='Written as JSON Lines of {"id", "label", "probs", "span"}, in the same order.')],
    checker: CheckerOption = "default",
    cache: Annotated[Path | None, typer.Option(help="A file that keeps scores for the next run.")] = None,
) -> None:
    """Judge claims against their evidence: entail, neutral or contradict, row by row.

    Example: medfaith check claims.jsonl --out verdicts.jsonl

    A row whose claim or evidence holds no word is labelled "unscored" with the reason, and counted at the end.
    """
    from pytest_medfaith.checking.checker import load_checker
    from pytest_medfaith.check_rows import check_rows, read_check_rows

    loaded = read_check_rows(rows)
    results = check_rows(loaded, load_checker(checker, cache=cache), progress=_progress("pairs"))
    from pytest_medfaith.corpus.jsonl import write_records

    write_records(out, results)
    counts = {label: sum(row["label"] == label for row in results) for label in ("entail", "neutral", "contradict", "unscored")}
    typer.echo(f"{out}: {len(results)} rows, " + ", ".join(f"{count} {label}" for label, count in counts.items() if count), err=True)


@app.command()
def evaluate(
    name: Annotated[str, typer.Argument(metavar="SLICE", help="A slice configured under [tool.medfaith.slices].")],
    root: RootOption = Path(),
    retriever: Annotated[list[str] | None, typer.Option(help="Instead of the configured one; again for an ablation.")] = None,
    checker: Annotated[list[str] | None, typer.Option(help="Instead of the configured one; may be given again.")] = None,
    k: Annotated[int | None, typer.Option(min=1, help="How many chunks to retrieve.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many cases.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write the run folder there.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show intervals.")] = False,
) -> None:
    """Check a slice's recorded responses and print its result card; exits with 1 if a gate fails.

    Example: medfaith evaluate medquad-nih --retriever bm25 --retriever rrf
    """
    from pytest_medfaith.cards.terminal import result_card
    from pytest_medfaith.finish import finish_run
    from pytest_medfaith.session import MedfaithSession, Options, evaluate_target, payload

    options = Options(retriever=tuple(retriever or ()), checker=tuple(checker or ()), k=k, limit=limit, report=report, verbose=verbose)
    session = MedfaithSession(root=root.resolve(), options=options)
    targets = session.targets(name, {})
    session.expect(targets)
    progress = _progress("cases")
    for number, target in enumerate(targets, start=1):
        session.add(payload(target, evaluate_target(session, target)))
        progress(number, len(targets))
    reports, failed = finish_run(session, partial=False, add_property=None)
    typer.echo(result_card(reports, verbose=verbose))
    if failed:
        raise typer.Exit(1)


@app.command()
def index(
    corpus: CorpusOption,
    encoder: Annotated[str, typer.Option(help="default (shipped), medcpt, a model folder, or a sentence-transformers name.")] = "default",
    cache: Annotated[Path, typer.Option(help="Where indexes live, each under the hash of its corpus.")] = Path(".medfaith_cache"),
) -> None:
    """Build the dense index of a corpus ahead of time; an unchanged corpus is not built again, an interrupted build goes on.

    Example: medfaith index --corpus corpus_samples
    """
    from pytest_medfaith.corpus.jsonl import read_chunks
    from pytest_medfaith.retrieval.encoders import load_encoder
    from pytest_medfaith.retrieval.index import embed_corpus, index_folder

    chunks = read_chunks(corpus)
    loaded = load_encoder(encoder)
    vectors = embed_corpus(chunks, loaded, cache=cache, progress=_progress("chunks"))
    typer.echo(f"{index_folder(cache, chunks, loaded)}: {vectors.shape[0]} chunks, {vectors.shape[1]} dimensions, {vectors.nbytes} bytes")


@app.command()
def retrieve(
    query: Annotated[str, typer.Argument(help="A question or keywords.")],
    corpus: CorpusOption,
    k: Annotated[int, typer.Option(min=1, help="How many chunks.")] = 5,
    retriever: RetrieverOption = "rrf",
    cache: Annotated[Path, typer.Option(help="Where indexes live.")] = Path(".medfaith_cache"),
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a hit instead of text.")] = False,
) -> None:
    """Show what a retriever finds for a question.

    Example: medfaith retrieve "first-line drug for type 2 diabetes" --corpus corpus_samples
    """
    from pytest_medfaith.corpus.jsonl import read_chunks
    from pytest_medfaith.retrieval.build import RetrievalSettings, build_retriever

    chunks = read_chunks(corpus)
    search = build_retriever(retriever, chunks, settings=RetrievalSettings(cache=cache), progress=_progress("chunks"))
    for hit in search(query, top_k=k):
        if as_json:
            typer.echo(json.dumps(hit.to_dict(), ensure_ascii=False))
        else:
            ranks = ", ".join(f"{name} {rank}" for name, rank in hit.ranks.items())
            typer.echo(f"{hit.rank:>3}  {hit.score:.4f}  {hit.chunk.id}  ({ranks})\n     {hit.chunk.title}: {_shortened(hit.chunk.text)}")


@distill.command("train-nli")
def train_nli(
    data: Annotated[Path, typer.Option(help="The folder of the permissive data sets that the recipe names.")],
    out: Annotated[Path, typer.Option(help="One folder a phase is written there; a run that finds one goes on from it.")],
    recipe: Annotated[Path | None, typer.Option(help="A recipe in TOML; the shipped one where left out.")] = None,
    repo: Annotated[Path, typer.Option(help="The repository with fixtures/silver.")] = Path(),
) -> None:
    """Train the NLI student from a recipe; it prints the loss as it goes and the folder of the weights at the end."""
    from pytest_medfaith.distill.train_nli import RECIPE, read_recipe
    from pytest_medfaith.distill.train_nli import train_nli as train

    folder = train(read_recipe(recipe or RECIPE, data=data, repo=repo), out, progress=lambda line: typer.echo(line, err=True))
    typer.echo(folder)


@distill.command("export")
def export(
    folder: Annotated[Path, typer.Argument(help="A trained student: config, safetensors, tokenizer.")],
    out: Annotated[Path, typer.Argument(help="The int8 ONNX file to write.")],
    kind: Annotated[str, typer.Option(help="classifier or encoder.")] = "classifier",
) -> None:
    """Export a trained student to int8 ONNX of at most 25 MB."""
    from pytest_medfaith.distill.export import export_classifier, export_encoder

    exporters = {"classifier": export_classifier, "encoder": export_encoder}
    if kind not in exporters:
        raise DataError(f"--kind is {kind!r}; expected classifier or encoder")
    typer.echo(f"{exporters[kind](folder, out)}: {out.stat().st_size} bytes")


def _shortened(text: str) -> str:
    return text if len(text) <= 160 else text[:157] + "..."


def _progress(unit: str) -> Callable[[int, int], None]:
    """Returns a callback that keeps one line of standard error up to date; silent where that is no terminal."""

    def show(done: int, total: int) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{done} of {total} {unit}" + ("\n" if done == total else ""))
            sys.stderr.flush()

    return show


@contextmanager
def _plain_errors() -> Iterator[None]:
    try:
        yield
    except (MedfaithError, ValueError) as error:
        typer.echo(f"medfaith: {error}", err=True)
        raise SystemExit(2) from None


def main(arguments: list[str] | None = None) -> Any:
    """Runs the command line; errors the package raises on purpose are one message and exit status 2."""
    with _plain_errors():
        return app(arguments)
