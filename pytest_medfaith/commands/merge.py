"""`medfaith merge`: the run folders of shards, joined into one report with its gates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pytest_medfaith.commands.evaluate import IntervalsOption, show_end
from pytest_medfaith.commands.parts import RootOption

ShardsArgument = Annotated[
    list[Path],
    typer.Argument(metavar="RUN...", help="The run folders of all shards of a run, in any order."),
]
MergedOption = Annotated[
    Path | None, typer.Option("--out", help="Write the run folder of the whole run there.")
]
BaselineOption = Annotated[
    Path | None, typer.Option(help="The baseline that gates compare with, in place of the settings'.")
]
UpdateOption = Annotated[
    bool,
    typer.Option("--update-baseline", help="Write what the run measured to the baseline; commit the file."),
]


def merge(
    runs: ShardsArgument,
    out: MergedOption = None,
    root: RootOption = Path(),
    baseline: BaselineOption = None,
    update_baseline: UpdateOption = False,
    verbose: IntervalsOption = False,
) -> None:
    """Join the run folders of shards into one report, and judge its gates.

    A missing shard, a case in two shards, and shards of different settings are errors. The exit status is 1
    if a gate fails.

    Example: medfaith merge shards/* --out medfaith-report
    """
    from pytest_medfaith.run.merging import merge_runs
    from pytest_medfaith.run.options import Options
    from pytest_medfaith.run.resources import Resources

    options = Options(report=out, baseline=baseline, update_baseline=update_baseline, verbose=verbose)
    show_end(merge_runs(Resources(root=root.resolve(), options=options), runs), verbose=verbose)
