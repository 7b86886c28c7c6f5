"""The `medfaith` command."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from pytest_medfaith.cards.formats import FinishedRun, find_format, shipped_names
from pytest_medfaith.commands.baseline import baseline
from pytest_medfaith.commands.parts import RootOption, run, say
from pytest_medfaith.errors import DataError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Checks, claim by claim and offline, whether medical answers say things their evidence does not say.",
)
app.add_typer(baseline, name="baseline")
gold = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Look through gold claims, and mend them."
)
app.add_typer(gold, name="gold")

CheckerOption = Annotated[
    str,
    typer.Option(help="default, fast, a model folder, a dotted name module:judge, or a Hugging Face name."),
]
CorpusOption = Annotated[
    list[Path], typer.Option("--corpus", help="A folder or file of chunks in JSON Lines; may be given again.")
]
RetrieverOption = Annotated[
    str, typer.Option(help="Such as bm25, dense, rrf or weighted, or a dotted name package.module:factory.")
]
RulesOffOption = Annotated[
    list[str] | None,
    typer.Option(
        "--rules-off",
        help="Switch off this medical rule, such as numbers or safety.dose; may be given again.",
    ),
]


def _show_version(is_asked: bool) -> None:
    if is_asked:
        from importlib.metadata import version

        say(f"pytest-medfaith {version('pytest-medfaith')}")
        raise typer.Exit


@app.callback()
def root_options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and end."),
    ] = False,
) -> None:
    """Checks, claim by claim and offline, whether medical answers say things their evidence does not say."""


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="The root of a project, or a new folder.")] = Path(),
    github: Annotated[
        bool, typer.Option("--github", help="Also write .github/workflows/medfaith.yml.")
    ] = False,
    gitlab: Annotated[bool, typer.Option("--gitlab", help="Also write .gitlab-ci.yml.")] = False,
) -> None:
    """Write a first suite that runs at once.

    Settings, sample chunks, cases, recorded answers and a test.

    Example: medfaith init --github

    One recorded answer names a wrong dose, so that the first run shows what a failure looks like. Nothing is overwritten: where one of
    the files is there already, the message names it and nothing is written. A project that configures medfaith already gets the workflow
    of --github or --gitlab alone, which runs its marked tests.
    """
    from pytest_medfaith.commands.init_project import init_project

    chosen = [name for name, wanted in (("github", github), ("gitlab", gitlab)) if wanted]
    written = init_project(folder, ci=chosen)
    for path in written:
        say(path)
    is_first = folder / "medfaith.toml" in written
    added = (
        "The suite was there already, and only the workflow was added. Next: look through it, and commit it."
    )
    say("Next: run pytest there. One test fails on purpose." if is_first else added, err=True)


@app.command()
def check(
    rows: Annotated[
        Path,
        typer.Argument(
            help='JSON Lines of {"id", "claim", "evidence"}; evidence is a text or a list of texts.'
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(help='Written as JSON Lines of {"id", "label", "probs", "span"}, in the same order.'),
    ],
    checker: CheckerOption = "default",
    cache: Annotated[Path | None, typer.Option(help="A file that keeps scores for the next run.")] = None,
    rules_off: RulesOffOption = None,
    calibration: Annotated[
        Path | None, typer.Option(help="A file that medfaith calibrate wrote for this checker.")
    ] = None,
) -> None:
    """Judge claims against their evidence, row by row.

    Example: medfaith check claims.jsonl --out verdicts.jsonl

    A row whose claim or evidence holds no word is labelled "unscored" with the reason, and counted at the end.
    """
    from pytest_medfaith.calibration.applying import calibrated, read_calibration
    from pytest_medfaith.checking.cache import check_cache
    from pytest_medfaith.checking.loading import load_checker
    from pytest_medfaith.commands.check_rows import check_rows, read_check_rows
    from pytest_medfaith.jsonl import refuse_overwriting, write_records
    from pytest_medfaith.safety.rulebook import load_rulebook

    refuse_overwriting(
        {"--out": out, "--cache": cache}, {"the file of rows": rows, "the calibration": calibration}
    )
    check_cache(cache)
    loaded = read_check_rows(rows)
    if not loaded:
        raise DataError(
            f"{rows}: holds no row, so nothing would be checked; expected JSON Lines of id, claim and evidence"
        )
    judge = load_checker(checker, cache=cache, rules_off=rules_off or ())
    if calibration:
        judge = calibrated(judge, read_calibration(calibration))
    results = check_rows(
        loaded, judge, rulebook=load_rulebook().without(rules_off or ()), progress=_progress("pairs")
    )
    write_records(out, results)
    counts = {
        label: sum(row["label"] == label for row in results)
        for label in ("entail", "neutral", "contradict", "unscored")
    }
    say(
        f"{out}: {len(results)} rows, "
        + ", ".join(f"{count} {label}" for label, count in counts.items() if count),
        err=True,
    )


@app.command()
def score(
    responses: Annotated[
        Path, typer.Argument(help="Responses as JSON Lines, such as medfaith adapt traces writes.")
    ],
    out: Annotated[
        Path,
        typer.Option(help="A table by trace (.csv), or attributes for the spans as JSON Lines (.jsonl)."),
    ],
    checker: CheckerOption = "default",
    corpus: Annotated[
        list[Path] | None,
        typer.Option("--corpus", help="Holds contexts that are only ids; may be given again."),
    ] = None,
    cache: Annotated[Path | None, typer.Option(help="A file that keeps scores for the next run.")] = None,
    rules_off: RulesOffOption = None,
    calibration: Annotated[
        Path | None, typer.Option(help="A file that medfaith calibrate wrote for this checker.")
    ] = None,
) -> None:
    """Check whole answers against their contexts; write the scores by trace.

    Example: medfaith score responses.jsonl --out scores.csv

    Gates are for slices: the same file can be the cases and the responses of a slice. A response without contexts has the status failed
    and no rates.
    """
    from pytest_medfaith.calibration.applying import calibrated, read_calibration
    from pytest_medfaith.checking.cache import check_cache
    from pytest_medfaith.checking.loading import load_checker
    from pytest_medfaith.commands.score_responses import read_recorded, score_responses, write_scores
    from pytest_medfaith.jsonl import read_chunks, refuse_overwriting
    from pytest_medfaith.safety.rulebook import load_rulebook

    refuse_overwriting(
        {"--out": out, "--cache": cache}, {"the file of responses": responses, "the calibration": calibration}
    )
    check_cache(cache)
    recorded = read_recorded(responses, read_chunks(corpus) if corpus else [], out=out)
    judge = load_checker(checker, cache=cache, rules_off=rules_off or ())
    if calibration:
        judge = calibrated(judge, read_calibration(calibration))
    rulebook = load_rulebook().without(rules_off or ())
    report = score_responses(recorded, judge, rulebook=rulebook, progress=_progress("responses"))
    say(f"{out}: {write_scores(out, report)}", err=True)


@app.command()
def calibrate(
    rows: Annotated[
        Path,
        typer.Argument(
            help='JSON Lines of {"claim", "evidence", "label"}; a label is entail, neutral or contradict.'
        ),
    ],
    out: Annotated[
        Path, typer.Option(help="The calibration to write, for `calibration` in the settings.")
    ] = Path("medfaith-calibration.json"),
    checker: CheckerOption = "default",
    method: Annotated[
        str, typer.Option(help="temperature, or isotonic: a rising curve a label, for 1,000 rows and more.")
    ] = "temperature",
    precision: Annotated[
        float | None,
        typer.Option(
            help="What entail and contradict decisions are to have, such as 0.9; best macro-F1 where left out."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the split and of the intervals.")] = 0,
    report: Annotated[
        Path | None, typer.Option(help="Write the table and the reliability diagrams there (Markdown, SVG).")
    ] = None,
    root: RootOption = Path(),
) -> None:
    """Fit probabilities and thresholds to labelled rows.

    What that changes is shown on rows that were kept out.

    Example: medfaith calibrate labelled.jsonl --precision 0.9 --report calibration

    Seven tenths of the rows are fitted; the others share no claim and no evidence with them. Name the file in the settings to use it:
    calibration = "medfaith-calibration.json".
    """
    from pytest_medfaith.calibration.applying import write_calibration
    from pytest_medfaith.calibration.explanation import (
        REPORT_FILES,
        calibration_facts,
        calibration_notes,
        calibration_table,
        write_report,
    )
    from pytest_medfaith.calibration.fit import fit_calibration
    from pytest_medfaith.calibration.rows import read_labelled_rows
    from pytest_medfaith.checking.loading import load_checker
    from pytest_medfaith.config import load_settings
    from pytest_medfaith.jsonl import refuse_overwriting

    if method not in ("temperature", "isotonic"):
        raise DataError(f"--method is {method!r}; expected temperature or isotonic")
    if precision is not None and not 0 < precision < 1:
        raise DataError(f"--precision is {precision}; expected a share between 0 and 1, such as 0.9")
    drawn = {f"{report / name}, of --report": report / name for name in REPORT_FILES} if report else {}
    refuse_overwriting({"--out": out, **drawn}, {"the file of rows": rows})
    loaded = read_labelled_rows(rows)
    judge = load_checker(checker, label_map=load_settings(root.resolve()).label_map)
    run = fit_calibration(
        loaded,
        judge,
        method=method,  # type: ignore[arg-type]
        precision=precision,
        seed=seed,
        progress=_progress("pairs"),
    )
    write_calibration(out, run.fitted, facts=calibration_facts(run, precision=precision, seed=seed))
    written = [out, *(write_report(report, run) if report else ())]
    for line in [*calibration_notes(run), calibration_table(run), *(f"{path}: written" for path in written)]:
        say(line)


@app.command()
def evaluate(
    name: Annotated[
        str, typer.Argument(metavar="SLICE", help="A slice configured under [tool.medfaith.slices].")
    ],
    root: RootOption = Path(),
    retriever: Annotated[
        list[str] | None, typer.Option(help="Instead of the configured one; again for an ablation.")
    ] = None,
    checker: Annotated[
        list[str] | None, typer.Option(help="Instead of the configured one; may be given again.")
    ] = None,
    k: Annotated[int | None, typer.Option(min=1, help="How many chunks to retrieve.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many cases.")] = None,
    rules_off: RulesOffOption = None,
    report: Annotated[Path | None, typer.Option(help="Write the run folder there.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show intervals.")] = False,
) -> None:
    """Check a slice's recorded responses; print its card.

    Exits with 1 if a gate fails.

    Example: medfaith evaluate medquad-nih --retriever bm25 --retriever rrf
    """
    from pytest_medfaith.cards.audit_card import audit_card
    from pytest_medfaith.cards.run_begin import begin_run, check_report_folder
    from pytest_medfaith.cards.terminal import result_card
    from pytest_medfaith.run.baselines import check_baseline
    from pytest_medfaith.run.collected import Collected
    from pytest_medfaith.run.end import end_run
    from pytest_medfaith.run.options import Options
    from pytest_medfaith.run.resources import Resources
    from pytest_medfaith.run.results import Result, plain_report
    from pytest_medfaith.run.targets import expect_target, report_on_recorded, targets_of_slice

    options = Options(
        retriever=tuple(retriever or ()),
        checker=tuple(checker or ()),
        k=k,
        limit=limit,
        rules_off=tuple(rules_off or ()),
        report=report,
        verbose=verbose,
    )
    resources, collected = Resources(root=root.resolve(), options=options), Collected()
    targets = targets_of_slice(resources, name, {})
    for target in targets:
        expect_target(resources, collected, target)
    check_baseline(resources, collected)
    if report:
        check_report_folder(report, resources.settings, baseline=resources.baseline_path)
        begin_run(report)
    progress = _progress("cases")
    for number, target in enumerate(targets, start=1):
        measured = plain_report(report_on_recorded(resources, target))
        collected.add(Result(run=target.run, report=measured, gates=target.settings.gates))
        progress(number, len(targets))
    finish = end_run(resources, collected)
    say(result_card(finish.reports, verbose=verbose))
    for title, audit in finish.audits.items():
        say("\n" + audit_card(audit, title=title))
    for line in [*finish.notes, *(f"ERROR: {error}" for error in finish.errors)]:
        say(line, err=True)
    if finish.status != "passed":
        raise typer.Exit(2 if finish.status == "unusable" else 1)


@app.command()
def audit(
    corpus: Annotated[
        list[Path], typer.Argument(metavar="CORPUS...", help="Folders or files of chunks in JSON Lines.")
    ],
    checker: CheckerOption = "default",
    limit: Annotated[int, typer.Option(min=1, help="At most so many claims of each kind of change.")] = 30,
    seed: Annotated[int, typer.Option(help="Of the sample of sentences and of what is changed in them.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Write audit.json and audit.md, with every claim, to this folder.")
    ] = None,
    cache: Annotated[Path, typer.Option(help="A file that keeps scores for the next run.")] = Path(
        ".medfaith_cache/pairs.sqlite"
    ),
) -> None:
    """Test a checker on a corpus of your own.

    Does it catch sentences that were changed, and leave true ones alone?

    Example: medfaith audit corpus_samples --out audits/today

    Sentences of the corpus are lightly reworded, and in each one thing is changed: a negation, a direction, a drug, a dose, a unit, a
    population, a year, or the document it is checked against. The chunk that a sentence stands in is its evidence.
    """
    from pytest_medfaith.audit.run import audit_checker
    from pytest_medfaith.cards.audit_card import AUDIT_FILES, audit_card, write_audits
    from pytest_medfaith.checking.cache import check_cache
    from pytest_medfaith.checking.loading import load_checker
    from pytest_medfaith.jsonl import chunk_files, read_chunks, refuse_overwriting

    written = {f"{out / name}, of --out": out / name for name in AUDIT_FILES} if out else {}
    refuse_overwriting({"--cache": cache, **written}, {"a file of the corpus": chunk_files(corpus)})
    check_cache(cache)
    title = ", ".join(map(str, corpus))
    found = audit_checker(
        load_checker(checker, cache=cache),
        read_chunks(corpus),
        limit=limit,
        seed=seed,
        progress=_progress("pairs"),
    )
    say(audit_card(found, title=title))
    for path in write_audits(out, {title: found}) if out else ():
        say(f"{path}: written")


@app.command()
def index(
    corpus: CorpusOption,
    encoder: Annotated[
        str, typer.Option(help="default (shipped), medcpt, a model folder, or a sentence-transformers name.")
    ] = "default",
    cache: Annotated[
        Path, typer.Option(help="Where indexes live, each under the hash of its corpus.")
    ] = Path(".medfaith_cache"),
) -> None:
    """Build the dense index of a corpus ahead of time.

    An unchanged corpus is not built again, an interrupted build goes on.

    Example: medfaith index --corpus corpus_samples
    """
    from pytest_medfaith.jsonl import read_chunks
    from pytest_medfaith.retrieval.encoders import load_encoder
    from pytest_medfaith.retrieval.index import embed_corpus, index_folder

    chunks = read_chunks(corpus)
    loaded = load_encoder(encoder)
    vectors = embed_corpus(chunks, loaded, cache=cache, progress=_progress("chunks"))
    say(
        f"{index_folder(cache, chunks, loaded)}: {vectors.shape[0]} chunks, {vectors.shape[1]} dimensions, {vectors.nbytes} bytes"
    )


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
    from pytest_medfaith.cards.wording import clip
    from pytest_medfaith.jsonl import read_chunks
    from pytest_medfaith.plain import one_line, plain_json
    from pytest_medfaith.retrieval.build import RetrievalSettings, build_retriever

    chunks = read_chunks(corpus)
    search = build_retriever(
        retriever, chunks, settings=RetrievalSettings(cache=cache), progress=_progress("chunks")
    )
    for hit in search(query, top_k=k):
        if as_json:
            typer.echo(plain_json(json.dumps(hit.to_dict(), ensure_ascii=False)))
        else:
            ranks = ", ".join(f"{name} {rank}" for name, rank in hit.ranks.items())
            say(f"{hit.rank:>3}  {hit.score:.4f}  {one_line(hit.chunk.id)}  ({ranks})")
            say(f"     {one_line(hit.chunk.title)}: {clip(hit.chunk.text, 160)}")


@app.command()
def chunk(
    src: Annotated[
        Path,
        typer.Argument(
            help="A page, a folder or an archive (.tar.*, .zip) of .md, .txt, .html, .xml, .nxml, .jsonl, .pdf, .docx."
        ),
    ],
    source: Annotated[str, typer.Option(help="Name of the corpus, such as statpearls; ids begin with it.")],
    out: Annotated[
        Path, typer.Option(help="Folder for the chunks, such as corpus/NAME/chunk; not inside SRC.")
    ],
    size: Annotated[int, typer.Option(help="Most tokens a chunk has; 400 to 700 suit most encoders.")] = 512,
    stride: Annotated[
        int, typer.Option(help="Tokens that neighbouring chunks share, in whole sentences.")
    ] = 128,
    min_sent: Annotated[
        int, typer.Option(help="Fewest sentences a chunk has, where its section has as many.")
    ] = 2,
    max_sent: Annotated[int, typer.Option(help="Most sentences a chunk has.")] = 12,
    prefix: Annotated[
        str | None, typer.Option(help="title: keep title and section path beside the text.")
    ] = None,
    dedup: Annotated[
        str | None, typer.Option(help="minhash (extra: dedup) or cosine: drop near-duplicates and list them.")
    ] = None,
    dedup_threshold: Annotated[
        float | None,
        typer.Option(help="Similarity from which a chunk is dropped: 0.9 for minhash, 0.95 for cosine."),
    ] = None,
    workers: Annotated[
        int, typer.Option(min=1, help="Processes; the result is the same for any number.")
    ] = 1,
) -> None:
    """Cut pages into chunks of whole sentences.

    Chunks follow the sections; a chunk's span in its page can always be cut out again.

    Example: medfaith chunk pages/ --source clinic --out corpus/clinic/chunk
    """
    from pytest_medfaith.corpus.chunk import chunk_source

    if prefix not in (None, "title") or dedup not in (None, "minhash", "cosine"):
        raise DataError(
            f"--prefix is {prefix!r} and --dedup is {dedup!r}; expected title for the one, minhash or cosine for the other"
        )
    if dedup_threshold is not None and dedup is None:
        raise DataError(
            "--dedup-threshold says when two chunks are near-duplicates, but nothing looks for them; add --dedup minhash or cosine"
        )
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
    say(str(summary))


@app.command()
def adapt(
    name: Annotated[
        str,
        typer.Argument(
            help="A data set, such as bioasq, medquad, pubmedqa, liveqa, meddialog, healthsearchqa, ms2 or kqa; or traces."
        ),
    ],
    path: Annotated[
        Path,
        typer.Argument(help="The data set's file, folder or archive, as published; or an export of spans."),
    ],
    out: Annotated[Path, typer.Option(help="The gold file to write; of traces the responses file.")],
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="At most so many cases: the first ones, or with a seed a sample."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Makes --limit take a random sample, the same each time.")
    ] = None,
    corpus: Annotated[
        Path | None, typer.Option(help="Also write the data set's documents there, as chunks.")
    ] = None,
    cap: Annotated[
        int, typer.Option(min=1, help="At most so many gold claims extracted from one answer.")
    ] = 8,
) -> None:
    """Turn a public data set into a gold file, or recorded traces into responses.

    Prints what was skipped and why, and of a data set the source with its licence.

    Example: medfaith adapt kqa questions_w_answers.jsonl --out gold/kqa.jsonl --limit 50

    Example: medfaith adapt traces spans.jsonl --out responses.jsonl

    Traces are spans as JSON Lines: OpenTelemetry (OTLP, GenAI), OpenInference (Phoenix), Langfuse or LangSmith.
    """
    from pytest_medfaith.datasets.adapting import adapt as run
    from pytest_medfaith.datasets.gold import CAP

    if name == "traces":
        from pytest_medfaith.datasets.traces.adapting import adapt_traces

        if seed is not None or corpus is not None or cap != CAP:
            raise DataError("--seed, --corpus and --cap are for data sets; traces take --out and --limit")
        for line in adapt_traces(path, out, limit=limit).lines():
            say(line)
        return
    if seed is not None and limit is None:
        raise DataError(
            "--seed chooses which cases --limit takes, and without one every case is; add --limit N"
        )
    for line in run(name, path, out, limit=limit, seed=seed, corpus=corpus, cap=cap).lines():
        say(line)


@gold.command()
def review(
    path: Annotated[Path, typer.Argument(metavar="GOLD", help="A gold file.")],
    sheet: Annotated[Path | None, typer.Option(help="Write the gold claims to this CSV sheet.")] = None,
    apply: Annotated[Path | None, typer.Option(help="Put the edits of this sheet back.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="With --apply: write a new gold file instead of changing GOLD.")
    ] = None,
) -> None:
    """Write gold claims as a sheet to edit; read it back.

    Keep or drop, key or not, rewrite, add; nothing else is lost.

    Example: medfaith gold review gold/kqa.jsonl --sheet kqa.csv

    Example: medfaith gold review gold/kqa.jsonl --apply kqa.csv
    """
    from pytest_medfaith.datasets.adapting import apply_gold_review, write_gold_review

    if (sheet is None) == (apply is None):
        raise DataError("give either --sheet to write a sheet, or --apply to read one back")
    if sheet and out:
        raise DataError("--out is where --apply writes the gold file; --sheet writes the sheet alone")
    if sheet:
        say(
            f"{sheet}: {write_gold_review(path, sheet)} cases; edit it, then run: medfaith gold review {path} --apply {sheet}"
        )
    if apply:
        say(f"{out or path}: {apply_gold_review(path, apply, out=out).line()}")


@app.command()
def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, as --medfaith-report writes it.")],
    kind: Annotated[
        str,
        typer.Option(
            "--format",
            help=f"{shipped_names()}; a format of an installed package; or a dotted name package.module:callable.",
        ),
    ] = "terminal",
    out: Annotated[Path | None, typer.Option(help="Write there instead of printing.")] = None,
    earlier: Annotated[
        list[Path] | None,
        typer.Option(
            help="An earlier run folder for the page's trend, instead of RUN's own history; again for more, oldest first."
        ),
    ] = None,
) -> None:
    """Make a report of a finished run again, in any format.

    Example: medfaith report runs/today --format html --out report.html --earlier runs/yesterday
    """
    from pytest_medfaith.cards.history import read_history
    from pytest_medfaith.cards.run_folder import run_files
    from pytest_medfaith.cards.run_reading import read_facts, read_run, read_summaries
    from pytest_medfaith.jsonl import refuse_overwriting

    if out:
        files = [folder / name for folder in (run, *(earlier or ())) for name in run_files(folder)]
        refuse_overwriting({"--out": out}, {"a file of the run": files})
    slice_reports, signature = read_run(run)
    history = [(folder.name, read_summaries(folder)) for folder in earlier or ()] or read_history(run)
    finished = FinishedRun(
        slice_reports=slice_reports, signature=signature, facts=read_facts(run), history=history
    )
    _give(find_format(kind).make(finished), out)


def _give(text: str, out: Path | None) -> None:
    """Prints `text`, or writes it to the file `out` and says so."""
    if out is None:
        typer.echo(text, nl=not text.endswith("\n"))  # every format has cleaned its texts in its way
        return
    from pytest_medfaith.jsonl import write_text

    write_text(out, text if text.endswith("\n") else text + "\n")
    say(f"{out}: {out.stat().st_size} bytes")


@app.command()
def compare(
    before: Annotated[
        Path, typer.Argument(metavar="BEFORE", help="A run folder, as --medfaith-report writes it.")
    ],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="A later one.")],
    kind: Annotated[
        str, typer.Option("--format", help="terminal, markdown (for a pull request) or html (extra: report).")
    ] = "terminal",
    out: Annotated[Path | None, typer.Option(help="Write there instead of printing.")] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Tell every case and claim, not the five worst.")
    ] = False,
    root: RootOption = Path(),
) -> None:
    """Show two runs side by side.

    Metrics with paired tests, cases with other verdicts, claims that turned, worst first.

    Example: medfaith compare runs/main runs/branch --format markdown --out comparison.md

    What differs in the set-ups stands first. Slices are matched by name, retriever, checker and k, or where a slice stands once in each
    run by name alone; cases by their id, claims by their text.
    """
    from pytest_medfaith.cards.run_folder import run_files
    from pytest_medfaith.cards.run_reading import read_run
    from pytest_medfaith.compare import cards, runs
    from pytest_medfaith.config import load_settings
    from pytest_medfaith.jsonl import refuse_overwriting
    from pytest_medfaith.metrics.project import declared_metrics

    if out:
        files = [folder / name for folder in (before, after) for name in run_files(folder)]
        refuse_overwriting({"--out": out}, {"a file of a run": files})
    declared = declared_metrics(load_settings(root.resolve()).metrics)
    change = runs.compare_runs(
        read_run(before), read_run(after), names=(str(before), str(after)), declared=declared
    )
    most = None if verbose else cards.SHOWN
    formats: dict[str, Callable[[], str]] = {
        "terminal": lambda: cards.terminal_change(
            change, most=most, width=min(shutil.get_terminal_size().columns, 100)
        ),
        "markdown": lambda: cards.markdown_change(change, most=most),
        "html": lambda: cards.html_change(change),
    }
    if kind not in formats:
        raise DataError(f"--format is {kind!r}; expected one of {', '.join(formats)}")
    _give(formats[kind](), out)


_BAR = 30  # columns: with counts of bytes behind it the line fits into 80


def _progress(unit: str) -> Callable[[int, int], None]:
    """Returns a callback that keeps a bar on one line of standard error up to date; silent where that is no terminal."""

    def show(done: int, total: int) -> None:
        if sys.stderr.isatty():
            bar = "#" * (_BAR * done // max(1, total))
            sys.stderr.write(f"\r[{bar:-<{_BAR}}] {done} of {total} {unit}" + ("\n" if done == total else ""))
            sys.stderr.flush()

    return show


def main(arguments: list[str] | None = None) -> Any:
    """Runs the command line; errors the package raises on purpose are one message and exit status 2."""
    # Checkers, metrics and formats of a project go by dotted names, which `python -m` would find in this folder, too.
    # At the end of the path, so that no file here takes the place of an installed module.
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    return run(app, arguments)
