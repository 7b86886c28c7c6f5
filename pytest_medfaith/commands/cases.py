"""`medfaith adapt` and `medfaith gold review`: cases from data sets and traces, and their gold claims."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pytest_medfaith import defaults
from pytest_medfaith.commands.parts import say
from pytest_medfaith.errors import DataError

NameArgument = Annotated[
    str,
    typer.Argument(
        help="A data set, such as bioasq, medquad, pubmedqa, liveqa, meddialog, healthsearchqa, ms2, kqa, "
        "medqa or medmcqa; or traces."
    ),
]
DataArgument = Annotated[
    Path,
    typer.Argument(help="The data set's file, folder or archive, as published; or an export of spans."),
]
CasesOption = Annotated[
    Path, typer.Option(help="The file to write: a gold file, or for traces a file of responses.")
]
LimitOption = Annotated[
    int | None, typer.Option(min=1, help="The most cases: the first cases, or with --seed a random sample.")
]
SampleSeedOption = Annotated[
    int | None, typer.Option(help="Seed of the random sample that --limit then takes.")
]
DocumentsOption = Annotated[
    Path | None, typer.Option(help="Also write the documents of the data set there, as chunks.")
]
CapOption = Annotated[int, typer.Option(min=1, help="The most gold claims extracted from an answer.")]
GoldArgument = Annotated[Path, typer.Argument(metavar="GOLD", help="A gold file.")]
SheetOption = Annotated[Path | None, typer.Option(help="Write the gold claims to this CSV sheet.")]
ApplyOption = Annotated[Path | None, typer.Option(help="Put the edits of this sheet back.")]
EditedOption = Annotated[
    Path | None, typer.Option(help="With --apply: write a new gold file instead of changing GOLD.")
]


def adapt(
    name: NameArgument,
    path: DataArgument,
    out: CasesOption,
    limit: LimitOption = None,
    seed: SampleSeedOption = None,
    corpus: DocumentsOption = None,
    cap: CapOption = defaults.GOLD_CLAIMS,
) -> None:
    """Turn a public data set into a gold file, or recorded traces into responses.

    The command prints what it skipped and why, and for a data set its source and licence.

    Example: medfaith adapt kqa questions_w_answers.jsonl --out gold/kqa.jsonl --limit 50

    Example: medfaith adapt traces spans.jsonl --out responses.jsonl

    Traces are spans as JSON Lines: OpenTelemetry (OTLP, GenAI), OpenInference (Phoenix), Langfuse or
    LangSmith.
    """
    if name == "traces":
        from pytest_medfaith.datasets.traces.adapting import adapt_traces

        if seed is not None or corpus is not None or cap != defaults.GOLD_CLAIMS:
            raise DataError("--seed, --corpus and --cap are for data sets; traces take --out and --limit")
        lines = adapt_traces(path, out, limit=limit).lines()
    else:
        from pytest_medfaith.datasets import adapting

        if seed is not None and limit is None:
            raise DataError(
                "--seed chooses which cases --limit takes, and without --limit it takes every case; "
                "add --limit N"
            )
        lines = adapting.adapt(name, path, out, limit=limit, seed=seed, corpus=corpus, cap=cap).lines()
    for line in lines:
        say(line)


def review(
    path: GoldArgument, sheet: SheetOption = None, apply: ApplyOption = None, out: EditedOption = None
) -> None:
    """Write gold claims to a sheet, and put the edited sheet back.

    In the sheet you keep or drop claims, mark key claims, rewrite claims and add some. Everything else stays.

    Example: medfaith gold review gold/kqa.jsonl --sheet kqa.csv

    Example: medfaith gold review gold/kqa.jsonl --apply kqa.csv
    """
    from pytest_medfaith.datasets.adapting import apply_gold_review, write_gold_review

    if (sheet is None) == (apply is None):
        raise DataError("give either --sheet to write a sheet, or --apply to read one back")
    if sheet and out:
        raise DataError("--out is where --apply writes the gold file; --sheet writes the sheet alone")
    if sheet:
        count = write_gold_review(path, sheet)
        say(f"{sheet}: {count} cases; edit it, then run: medfaith gold review {path} --apply {sheet}")
    if apply:
        say(f"{out or path}: {apply_gold_review(path, apply, out=out).line()}")
