"""`medfaith review`: a page on which people label claims of a finished run, and what they labelled."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from pytest_medfaith import defaults
from pytest_medfaith.commands.parts import say
from pytest_medfaith.commands.reports import RunArgument
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import SliceReport

CountOption = Annotated[int, typer.Option(min=1, help="How many claims to draw.")]
SeedOption = Annotated[int, typer.Option(help="Equal seeds draw equal claims of a run.")]
PageOption = Annotated[
    Path | None, typer.Option("--out", help=f"The page to write; {defaults.REVIEW_PAGE} where not given.")
]
JudgedByOption = Annotated[
    str | None,
    typer.Option("--checker", help="Whose verdicts to review, where the run has several checkers."),
]


def review(
    run: RunArgument,
    count: CountOption = defaults.REVIEW_CLAIMS,
    seed: SeedOption = defaults.SEED,
    checker: JudgedByOption = None,
    out: PageOption = None,
) -> None:
    """Make a page on which people label claims of a finished run.

    The page is one file that needs no server and no network. It shows no verdict.

    Example: medfaith review runs/today --count 120 --out review.html
    """
    from pytest_medfaith.cards.review_page import review_page
    from pytest_medfaith.cards.run_folder import run_files
    from pytest_medfaith.cards.run_reading import read_run
    from pytest_medfaith.jsonl import refuse_overwriting, write_text
    from pytest_medfaith.labels.sampling import draw_claims

    page = out or Path(defaults.REVIEW_PAGE)
    refuse_overwriting({"--out": page}, {"a file of the run": [run / name for name in run_files(run)]})
    slice_reports, signature = read_run(run)
    draw = draw_claims(_of_checker(slice_reports, checker), count=count, seed=seed)
    write_text(page, review_page(draw.claims, signature=signature))
    left_out = f"; {draw.unscored} unscored claims were left out" if draw.unscored else ""
    say(f"{page}: {len(draw.claims)} of {sum(draw.population.values())} claims to label{left_out}")
    for name, size in draw.population.items():
        say(f"  {name}: {sum(claim.stratum == name for claim in draw.claims)} of {size}")
    say(f"Open it in a browser, label, export, then run: medfaith review {run} --import labels.jsonl")


def _of_checker(slice_reports: Sequence[SliceReport], checker: str | None) -> list[SliceReport]:
    """Returns the slice reports of `checker`, or of the only checker of the run."""
    names = sorted({report.checker for report in slice_reports})
    if checker is None and len(names) > 1:
        raise DataError(f"the run has {len(names)} checkers ({', '.join(names)}); name one with --checker")
    if checker is not None and checker not in names:
        raise DataError(f"--checker is {checker!r}; the run has {', '.join(names) or 'none'}")
    return [report for report in slice_reports if checker in (None, report.checker)]
