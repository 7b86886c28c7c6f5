"""`medfaith review`: a page on which people label claims of a finished run, and what they labelled."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pytest_medfaith import defaults
from pytest_medfaith.commands.parts import say
from pytest_medfaith.commands.reports import RunArgument
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import SliceReport

if TYPE_CHECKING:
    from pytest_medfaith.labels.merging import Merged
    from pytest_medfaith.labels.sampling import Draw

MoreArgument = Annotated[
    list[Path] | None, typer.Argument(metavar="[LABELS]...", help="More files of labels, after --import.")
]
CountOption = Annotated[
    int | None,
    typer.Option(min=1, help=f"How many claims to draw; {defaults.REVIEW_CLAIMS} where not given."),
]
SeedOption = Annotated[
    int | None, typer.Option(help=f"Equal seeds draw equal claims of a run; {defaults.SEED} where not given.")
]
JudgedByOption = Annotated[
    str | None,
    typer.Option("--checker", help="Whose verdicts to review, where the run has several checkers."),
]
ImportOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--import", help="A file that a page exported: check and merge its labels. May be given again."
    ),
]
ThirdOption = Annotated[
    Path | None,
    typer.Option("--third", help="With --import: a page of the claims that the reviewers disagree on."),
]
WrittenOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help=f"The file to write: {defaults.REVIEW_PAGE} or, with --import, {defaults.LABELS} where not "
        f"given.",
    ),
]


def review(
    run: RunArgument,
    more: MoreArgument = None,
    count: CountOption = None,
    seed: SeedOption = None,
    checker: JudgedByOption = None,
    labels: ImportOption = None,
    third: ThirdOption = None,
    out: WrittenOption = None,
) -> None:
    """Make a page on which people label claims of a finished run, and read their labels back.

    The page is one file that needs no server and no network, and shows no verdict. --import checks exported
    labels against the run, tells how far reviewers agree, lists claims that they disagree on, and writes a
    label for each claim that they agree on.

    Example: medfaith review runs/today --count 120 --out review.html

    Example: medfaith review runs/today --import labels-ab.jsonl labels-cd.jsonl --out medfaith-labels.jsonl
    """
    if not labels:
        if more or third:
            raise DataError("files of labels and --third are for --import; a page takes --count and --seed")
        _make_page(run, out or Path(defaults.REVIEW_PAGE), checker=checker, count=count, seed=seed)
        return
    if (count, seed, checker) != (None, None, None):
        raise DataError("--count, --seed and --checker make a page; with --import they would do nothing")
    _import(run, [*labels, *(more or ())], out=out or Path(defaults.LABELS), third=third)


def _make_page(run: Path, page: Path, *, checker: str | None, count: int | None, seed: int | None) -> None:
    from pytest_medfaith.cards.review_page import review_page
    from pytest_medfaith.cards.run_folder import run_files
    from pytest_medfaith.cards.run_reading import read_run
    from pytest_medfaith.jsonl import refuse_overwriting, write_text
    from pytest_medfaith.labels.sampling import draw_claims

    refuse_overwriting({"--out": page}, {"a file of the run": [run / name for name in run_files(run)]})
    slice_reports, signature = read_run(run)
    draw = draw_claims(
        _of_checker(slice_reports, checker),
        count=defaults.REVIEW_CLAIMS if count is None else count,
        seed=defaults.SEED if seed is None else seed,
    )
    write_text(page, review_page(draw.claims, signature=signature))
    left_out = f"; unscored and left out: {draw.unscored}" if draw.unscored else ""
    say(f"{page}: {len(draw.claims)} of {sum(draw.population.values())} claims to label{left_out}")
    for name, size in draw.population.items():
        say(f"  {name}: {sum(claim.stratum == name for claim in draw.claims)} of {size}")
    say(f"Open it in a browser, label, export, then run: medfaith review {run} --import labels.jsonl")


def _import(run: Path, files: Sequence[Path], *, out: Path, third: Path | None) -> None:
    """Checks exported labels against the run, and writes those that reviewers agree on to `out`."""
    from pytest_medfaith.cards.run_folder import run_files
    from pytest_medfaith.cards.wording import counted
    from pytest_medfaith.jsonl import refuse_overwriting, write_records
    from pytest_medfaith.labels.merging import check_labels, merge_labels, read_reviews

    refuse_overwriting(
        {"--out": out, "--third": third},
        {"a file of the run": [run / name for name in run_files(run)], "a file of labels": files},
    )
    rows = read_reviews(files)
    draws, signature = _all_claims(run, {row.checker for row in rows})
    check_labels(rows, draws, run=str(run))
    merged = merge_labels(rows)
    for agreement in merged.agreement:
        say(agreement)
    _tell_disputed(merged)
    if third and merged.disputed:
        _write_third(third, merged, draws, signature)
    if not merged.rows:
        raise DataError(f"the reviewers agree on no claim; {out} was not written")
    write_records(out, merged.rows)
    disputed = counted(len(merged.disputed), "disputed claim")
    by_majority = f", {merged.resolved} of them by majority" if merged.resolved else ""
    say(f"{out}: {counted(len(merged.rows), 'label')}{by_majority}; {disputed} left out")


def _all_claims(run: Path, fingerprints: set[str]) -> tuple[dict[str, Draw], dict[str, Any]]:
    """Returns ({fingerprint of a checker: its claims in the run}, signature of the run)."""
    from pytest_medfaith.cards.run_reading import read_run
    from pytest_medfaith.labels.rows import checker_fingerprint
    from pytest_medfaith.labels.sampling import draw_claims

    slice_reports, signature = read_run(run)
    by_checker: dict[str, list[SliceReport]] = {}
    for report in slice_reports:
        by_checker.setdefault(checker_fingerprint(report.checker, signature), []).append(report)
    draws = {
        name: draw_claims(by_checker[name], count=sys.maxsize, seed=0)
        for name in fingerprints & by_checker.keys()
    }
    return draws, signature


def _tell_disputed(merged: Merged) -> None:
    """Lists claims on which reviewers disagree, by case and key; texts of the run stay out of logs."""
    from pytest_medfaith.cards.wording import counted
    from pytest_medfaith.labels.merging import reviewer_of

    if merged.disputed:
        say(f"{counted(len(merged.disputed), 'claim')} for a third look:")
    for labels in merged.disputed:
        told = ", ".join(f"{reviewer_of(row)} {row.label}" for row in labels)
        say(f"  {labels[0].slice}, case {labels[0].case_id}, {labels[0].key}: {told}")


def _write_third(page: Path, merged: Merged, draws: dict[str, Draw], signature: dict[str, Any]) -> None:
    from pytest_medfaith.cards.review_page import review_page
    from pytest_medfaith.cards.wording import counted
    from pytest_medfaith.jsonl import write_text
    from pytest_medfaith.labels.merging import claims_of_run, claims_to_look_at_again

    claims = claims_to_look_at_again(merged, claims_of_run(draws))
    write_text(page, review_page(claims, signature=signature))
    say(
        f"{page}: {counted(len(claims), 'disputed claim')} to label; then import its labels together with "
        f"these files"
    )


def _of_checker(slice_reports: Sequence[SliceReport], checker: str | None) -> list[SliceReport]:
    """Returns the slice reports of `checker`, or of the only checker of the run."""
    names = sorted({report.checker for report in slice_reports})
    if checker is None and len(names) > 1:
        raise DataError(f"the run has {len(names)} checkers ({', '.join(names)}); name one with --checker")
    if checker is not None and checker not in names:
        raise DataError(f"--checker is {checker!r}; the run has {', '.join(names) or 'none'}")
    return [report for report in slice_reports if checker in (None, report.checker)]
