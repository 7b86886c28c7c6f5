"""`medfaith sweep`: what each confidence threshold makes of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pytest_medfaith.commands.parts import give, say
from pytest_medfaith.errors import DataError

RunArgument = Annotated[
    Path, typer.Argument(metavar="RUN", help="The folder of a run whose answers have a confidence.")
]
PlotOption = Annotated[Path | None, typer.Option("--plot", help="Write the plot to this file (.svg).")]


def sweep(run: RunArgument, plot: PlotOption = None) -> None:
    """Show faithfulness and abstention at each confidence threshold, as a table and a plot.

    The answers are those of the reference RAG in a confident mode, best with --threshold 0, or of a RAG whose
    responses hold "confidence" in their meta.

    Example: medfaith sweep runs/confident --plot sweep.svg
    """
    from pytest_medfaith.cards.rag_lines import rag_lines
    from pytest_medfaith.cards.run_reading import read_run
    from pytest_medfaith.cards.summary import run_label
    from pytest_medfaith.compare.sweep import sweep_rows
    from pytest_medfaith.compare.sweep_card import sweep_svg, sweep_table

    reports = [report for report in read_run(run)[0] if report.contexts_mode != "none"]
    if not reports or (plot and len(reports) > 1):
        raise DataError(f"{run} holds {len(reports)} rows with answers; expected one for a plot")
    for report in reports:
        rows = sweep_rows(report)
        say(f"{run_label(report, checker=True)}\n{sweep_table(rows)}")
        for line in rag_lines(report):
            if line.startswith("WARNING"):
                say(line, err=True)
        if rows and rows[0].threshold > 0:
            say(
                f"answers below the confidence {rows[0].threshold:.2f} were withheld in this run; run it "
                "with --threshold 0 for the rows below",
                err=True,
            )
        if plot:
            give(sweep_svg(rows), plot)
