"""The command `medfaith`: its commands put together. What each does is in commands/."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from pytest_medfaith.commands.ablation import ablation
from pytest_medfaith.commands.baseline import list_kept, prune
from pytest_medfaith.commands.cases import adapt
from pytest_medfaith.commands.cases import review as review_gold
from pytest_medfaith.commands.checkers import audit, calibrate
from pytest_medfaith.commands.checking import check, score
from pytest_medfaith.commands.comment import comment
from pytest_medfaith.commands.corpus import chunk, index, retrieve
from pytest_medfaith.commands.distill import agreement, silver
from pytest_medfaith.commands.distill_run import road
from pytest_medfaith.commands.evaluate import evaluate
from pytest_medfaith.commands.init import init
from pytest_medfaith.commands.live import rescore, run_live
from pytest_medfaith.commands.merge import merge
from pytest_medfaith.commands.parts import run, say
from pytest_medfaith.commands.rag import interactive, query
from pytest_medfaith.commands.reports import compare, report
from pytest_medfaith.commands.review import review
from pytest_medfaith.commands.serve import serve
from pytest_medfaith.commands.sweep import sweep
from pytest_medfaith.commands.watch_log import watch_log

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Checks, claim by claim and offline, whether medical answers say things their evidence does not "
    "say.",
)
baseline = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="List the kept copies of the baseline, and remove old ones.",
)
gold = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Look through gold claims, and mend them."
)
distill = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Distil a teacher into a small model: rows of runs that it labelled, and how far a student agrees.",
)
for command in (
    init,
    check,
    score,
    calibrate,
    evaluate,
    ablation,
    audit,
    index,
    retrieve,
    chunk,
    adapt,
    report,
    merge,
    compare,
    review,
    comment,
    rescore,
    sweep,
    query,
    interactive,
    serve,
    watch_log,
):  # in the order of the help
    app.command()(command)
app.command("run")(run_live)
app.add_typer(baseline, name="baseline")
baseline.command("list")(list_kept)
baseline.command()(prune)
app.add_typer(distill, name="distill")
for step in (silver, agreement):
    distill.command()(step)
distill.command("run")(road)
app.add_typer(gold, name="gold")
gold.command()(review_gold)


def _show_version(is_asked: bool) -> None:
    if is_asked:
        from importlib.metadata import version

        say(f"pytest-medfaith {version('pytest-medfaith')}")
        raise typer.Exit


VersionOption = Annotated[
    bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and end.")
]


@app.callback()
def root_options(version: VersionOption = False) -> None:
    """Checks, claim by claim and offline, whether medical answers say things their evidence does not say."""


def main(arguments: list[str] | None = None) -> Any:
    """Runs the command line `arguments`, those of the process where None.

    An error that the package raises on purpose is shown as one message, with exit status 2.
    """
    # Checkers, metrics and formats of a project go by dotted names, which `python -m` would find in this
    # folder, too. At the end of the path, so that no file here takes the place of an installed module.
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    return run(app, arguments)
