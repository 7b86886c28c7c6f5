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
distill = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Train and export the small models that the wheel ships (extra: train)."
)
app.add_typer(distill, name="distill")
gold = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Look through gold claims, and mend them.")
app.add_typer(gold, name="gold")

CheckerOption = Annotated[str, typer.Option(help="default (the shipped student), a model folder, or a Hugging Face model name.")]
CorpusOption = Annotated[list[Path], typer.Option("--corpus", help="A folder or file of chunks in JSON Lines; may be given again.")]
RetrieverOption = Annotated[str, typer.Option(help="bm25, dense, rrf, weighted, or a dotted name package.module:factory.")]
RootOption = Annotated[Path, typer.Option(help="The project: where pyproject.toml or medfaith.toml is.")]


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="The root of a project, or a new folder.")] = Path(),
    github: Annotated[bool, typer.Option("--github", help="Also write .github/workflows/medfaith.yml.")] = False,
    gitlab: Annotated[bool, typer.Option("--gitlab", help="Also write .gitlab-ci.yml.")] = False,
) -> None:
    """Write a first suite that runs at once: settings, sample chunks, cases, recorded answers and a test.

    Example: medfaith init --github

    One recorded answer names a wrong dose, so that the first run shows what a failure looks like. Nothing is overwritten: where one of
    the files is there already, or pyproject.toml configures medfaith, the message names it and nothing is written.
    """
    from pytest_medfaith.init_project import init_project

    chosen = [name for name, wanted in (("github", github), ("gitlab", gitlab)) if wanted]
    for path in init_project(folder, ci=chosen):
        typer.echo(path)
    typer.echo("Next: run pytest there. One test fails on purpose.", err=True)


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
    from pytest_medfaith.check_rows import check_rows, read_check_rows
    from pytest_medfaith.checking.checker import load_checker

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
    finish = finish_run(session, partial=False, add_property=None)
    typer.echo(result_card(finish.reports, verbose=verbose))
    if finish.status != "passed":
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


@app.command()
def chunk(
    src: Annotated[
        Path, typer.Argument(help="A page, a folder or an archive (.tar.*, .zip) of .md, .txt, .html, .xml, .nxml, .jsonl, .pdf, .docx.")
    ],
    source: Annotated[str, typer.Option(help="Name of the corpus, such as statpearls; ids begin with it.")],
    out: Annotated[Path, typer.Option(help="Folder for the chunks, such as corpus/NAME/chunk; not inside SRC.")],
    size: Annotated[int, typer.Option(help="Most tokens a chunk has; 400 to 700 suit most encoders.")] = 512,
    stride: Annotated[int, typer.Option(help="Tokens that neighbouring chunks share, in whole sentences.")] = 128,
    min_sent: Annotated[int, typer.Option(help="Fewest sentences a chunk has, where its section has as many.")] = 2,
    max_sent: Annotated[int, typer.Option(help="Most sentences a chunk has.")] = 12,
    prefix: Annotated[str | None, typer.Option(help="title: keep title and section path beside the text.")] = None,
    dedup: Annotated[str | None, typer.Option(help="minhash (extra: dedup) or cosine: drop near-duplicates and list them.")] = None,
    dedup_threshold: Annotated[
        float | None, typer.Option(help="Similarity from which a chunk is dropped: 0.9 for minhash, 0.95 for cosine.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes; the result is the same for any number.")] = 1,
) -> None:
    """Cut pages into chunks along their sections and sentences; a chunk's span in its page can always be cut out again.

    Example: medfaith chunk pages/ --source clinic --out corpus/clinic/chunk
    """
    from pytest_medfaith.corpus.chunk import chunk_source

    if prefix not in (None, "title") or dedup not in (None, "minhash", "cosine"):
        raise DataError(f"--prefix is {prefix!r} and --dedup is {dedup!r}; expected title for the one, minhash or cosine for the other")
    method: Any = dedup
    if dedup == "cosine":
        from pytest_medfaith.retrieval.encoders import load_encoder

        method = load_encoder().encode_documents
    summary = chunk_source(
        src,
        source=source,
        out=out,
        size=size,
        stride=stride,
        min_sent=min_sent,
        max_sent=max_sent,
        prefix=prefix,  # type: ignore[arg-type]
        dedup=method,
        dedup_threshold=dedup_threshold,
        workers=workers,
        progress=_progress("bytes"),
    )
    typer.echo(str(summary))


@app.command()
def adapt(
    name: Annotated[str, typer.Argument(help="bioasq, medquad, pubmedqa, liveqa, meddialog, healthsearchqa, ms2 or kqa.")],
    path: Annotated[Path, typer.Argument(help="The data set's file, folder or archive, as published.")],
    out: Annotated[Path, typer.Option(help="The gold file to write.")],
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many cases: the first ones, or with a seed a sample.")] = None,
    seed: Annotated[int | None, typer.Option(help="Makes --limit take a random sample, the same each time.")] = None,
    corpus: Annotated[Path | None, typer.Option(help="Also write the data set's documents there, as chunks.")] = None,
    cap: Annotated[int, typer.Option(min=1, help="At most so many gold claims extracted from one answer.")] = 8,
) -> None:
    """Turn a public data set into a gold file; prints what was skipped and why, and the source with its licence.

    Example: medfaith adapt kqa questions_w_answers.jsonl --out gold/kqa.jsonl --limit 50
    """
    from pytest_medfaith.datasets.adapting import adapt as run

    for line in run(name, path, out, limit=limit, seed=seed, corpus=corpus, cap=cap).lines():
        typer.echo(line)


@gold.command()
def review(
    path: Annotated[Path, typer.Argument(metavar="GOLD", help="A gold file.")],
    sheet: Annotated[Path | None, typer.Option(help="Write the gold claims to this CSV sheet.")] = None,
    apply: Annotated[Path | None, typer.Option(help="Put the edits of this sheet back.")] = None,
    out: Annotated[Path | None, typer.Option(help="With --apply: write a new gold file instead of changing GOLD.")] = None,
) -> None:
    """Write gold claims as a sheet to edit (keep or drop, key or not, rewrite, add), and read it back without loss.

    Example: medfaith gold review gold/kqa.jsonl --sheet kqa.csv, then medfaith gold review gold/kqa.jsonl --apply kqa.csv
    """
    from pytest_medfaith.datasets.adapting import apply_gold_review, write_gold_review

    if (sheet is None) == (apply is None):
        raise DataError("give either --sheet to write a sheet, or --apply to read one back")
    if sheet:
        typer.echo(f"{sheet}: {write_gold_review(path, sheet)} claims")
    if apply:
        typer.echo(apply_gold_review(path, apply, out=out).line())


@app.command()
def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, as --medfaith-report writes it.")],
    kind: Annotated[str, typer.Option("--format", help="terminal, markdown, json, csv or html (extra: report).")] = "terminal",
    out: Annotated[Path | None, typer.Option(help="Write there instead of printing.")] = None,
    earlier: Annotated[
        list[Path] | None, typer.Option(help="An earlier run folder for the trend of the HTML page; again for more, oldest first.")
    ] = None,
) -> None:
    """Make a report of a finished run again, in any format.

    Example: medfaith report runs/today --format html --out report.html --earlier runs/yesterday
    """
    from pytest_medfaith.cards.run_folder import read_run, read_summaries

    reports, signature = read_run(run)
    history = [(folder.name, read_summaries(folder)) for folder in earlier or ()]
    text = _render(kind, reports, history, signature)
    if out is None:
        typer.echo(text)
        return
    from pytest_medfaith.corpus.jsonl import write_text

    write_text(out, text if text.endswith("\n") else text + "\n")
    typer.echo(f"{out}: {out.stat().st_size} bytes")


def _render(kind: str, reports: Any, history: Any, signature: Any) -> str:
    from pytest_medfaith.cards import csv_claims, html, json_card, markdown, terminal

    formats: dict[str, Callable[[], str]] = {
        "terminal": lambda: terminal.result_card(reports, verbose=True),
        "markdown": lambda: markdown.markdown_card(reports, most=None),
        "json": lambda: json_card.json_card(reports),
        "csv": lambda: csv_claims.claims_csv(reports),
        "html": lambda: html.html_report(reports, history=history, signature=signature),
    }
    if kind not in formats:
        raise DataError(f"--format is {kind!r}; expected one of {', '.join(formats)}")
    return formats[kind]()


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
