"""`medfaith report` and `medfaith compare`: finished runs, shown again and side by side."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from pytest_medfaith.cards.formats import FinishedRun, find_format, shipped_names
from pytest_medfaith.commands.parts import OutOption, RootOption, give
from pytest_medfaith.errors import DataError

RunArgument = Annotated[
    Path, typer.Argument(metavar="RUN", help="A run folder, as --medfaith-report writes it.")
]
FormatOption = Annotated[
    str,
    typer.Option(
        "--format",
        help=f"{shipped_names()}; a format of an installed package; or a dotted name "
        "package.module:callable.",
    ),
]
EarlierOption = Annotated[
    list[Path] | None,
    typer.Option(
        help="An earlier run folder for the trend of the page, in place of the history in RUN; may be given "
        "again, the oldest first."
    ),
]
BeforeArgument = Annotated[
    Path, typer.Argument(metavar="BEFORE", help="A run folder, as --medfaith-report writes it.")
]
AfterArgument = Annotated[Path, typer.Argument(metavar="AFTER", help="The folder of a later run.")]
ComparisonOption = Annotated[
    str, typer.Option("--format", help="terminal, markdown (for a pull request) or html (extra: report).")
]
AllOption = Annotated[bool, typer.Option("--verbose", help="Show every case and claim, not the five worst.")]


def report(
    run: RunArgument,
    kind: FormatOption = "terminal",
    out: OutOption = None,
    earlier: EarlierOption = None,
) -> None:
    """Make a report of a finished run, in any format.

    Example: medfaith report runs/today --format html --out report.html --earlier runs/yesterday
    """
    from pytest_medfaith.cards.history import read_history
    from pytest_medfaith.cards.run_folder import run_files
    from pytest_medfaith.cards.run_reading import read_facts, read_run, read_summaries
    from pytest_medfaith.compare.ablation import ablations
    from pytest_medfaith.jsonl import refuse_overwriting

    if out:
        files = [folder / name for folder in (run, *(earlier or ())) for name in run_files(folder)]
        refuse_overwriting({"--out": out}, {"a file of the run": files})
    slice_reports, signature = read_run(run)
    history = [(folder.name, read_summaries(folder)) for folder in earlier or ()] or read_history(run)
    finished = FinishedRun(
        slice_reports=slice_reports,
        signature=signature,
        facts=read_facts(run),
        history=history,
        ablations=ablations(slice_reports, seed=signature.get("seed", 0)),
    )
    give(find_format(kind).make(finished), out)


def compare(
    before: BeforeArgument,
    after: AfterArgument,
    kind: ComparisonOption = "terminal",
    out: OutOption = None,
    verbose: AllOption = False,
    root: RootOption = Path(),
) -> None:
    """Show two runs side by side.

    The comparison holds metrics with paired tests, cases whose verdicts changed, and regressions claim by
    claim, the worst first.

    Example: medfaith compare runs/main runs/branch --format markdown --out comparison.md

    Differences of the set-ups come first. Slices are matched by name, retriever, checker and k, or by name
    alone where each run has the slice once. Cases are matched by id, claims by text.
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
    names = (str(before), str(after))
    change = runs.compare_runs(read_run(before), read_run(after), names=names, declared=declared)
    most, width = None if verbose else cards.SHOWN, min(shutil.get_terminal_size().columns, 100)
    formats: dict[str, Callable[[], str]] = {
        "terminal": lambda: cards.terminal_change(change, most=most, width=width),
        "markdown": lambda: cards.markdown_change(change, most=most),
        "html": lambda: cards.html_change(change),
    }
    if kind not in formats:
        raise DataError(f"--format is {kind!r}; expected one of {', '.join(formats)}")
    give(formats[kind](), out)
