"""`medfaith distill`: a teacher's labels as training rows, and how far a student agrees with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pytest_medfaith import defaults
from pytest_medfaith.commands.parts import (
    CheckerOption,
    OutOption,
    RootOption,
    give,
    progress_bar,
    reading_of,
    say,
)
from pytest_medfaith.errors import DataError

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker
    from pytest_medfaith.distill.gathering import Gathered

RunsArgument = Annotated[
    list[Path], typer.Argument(metavar="RUN...", help="Run folders, as --report writes them.")
]
SilverOutOption = Annotated[
    Path, typer.Option("--out", help="The folder to write; what is there is replaced.")
]
LabellersOption = Annotated[
    list[str] | None,
    typer.Option(
        "--checker",
        help="Judge the claims anew by this checker; given again, claims on which two disagree are left out. "
        "Without it the labels are the verdicts of the run.",
    ),
]
KeptOutOption = Annotated[
    float, typer.Option(min=0.01, max=0.45, help="The share of cases in dev, and as many in test.")
]
BalanceOption = Annotated[
    float,
    typer.Option(help="A label has at most so many times the rows of the rarest; 0 takes all rows."),
]
SharedOption = Annotated[
    bool,
    typer.Option(
        "--passages-shared", help="Let parts share passages, where the corpus is small; the card says so."
    ),
]
SilverSeedOption = Annotated[int, typer.Option(help="Seed of the parts and of the balance.")]
PartOption = Annotated[str, typer.Option(help="train, dev or test.")]
AgreementSeedOption = Annotated[int, typer.Option(help="Seed of the intervals.")]
SilverArgument = Annotated[Path, typer.Argument(help="A folder that `medfaith distill silver` wrote.")]


def silver(
    runs: RunsArgument,
    out: SilverOutOption,
    checker: LabellersOption = None,
    kept_out: KeptOutOption = 0.1,
    balance: BalanceOption = 2.0,
    passages_shared: SharedOption = False,
    seed: SilverSeedOption = defaults.SEED,
    root: RootOption = Path(),
) -> None:
    """Make training rows of runs that a teacher labelled.

    Example: medfaith distill silver runs/teacher --out silver

    The folder holds pairs of claim and evidence (nli.*.jsonl) and answers with their claims
    (extractor.*.jsonl), each in three parts: train, dev and test. No case, question, answer, claim or passage
    is in two parts.
    """
    from pytest_medfaith.distill.files import silver_lines, write_silver
    from pytest_medfaith.distill.splitting import make_silver

    if balance and balance < 1:
        raise DataError(f"--balance is {balance}; expected 1 or more, or 0 to take all rows")
    gathered = gathered_rows(runs, checker or [], root)
    made = make_silver(
        gathered, kept_out=kept_out, balance=balance or None, seed=seed, passages_shared=passages_shared
    )
    for line in silver_lines(write_silver(out, made)):
        say(line)
    say(f"{out}: written")


def gathered_rows(runs: Sequence[Path], names: Sequence[str], root: Path) -> Gathered:
    """Returns training rows of run folders; where `names` has checkers, these label the rows anew."""
    from pytest_medfaith.cards.run_reading import read_run
    from pytest_medfaith.config import load_settings
    from pytest_medfaith.distill.gathering import Gathered, gather
    from pytest_medfaith.distill.relabelling import relabelled
    from pytest_medfaith.entities.scispacy import load_linker

    settings = load_settings(root.resolve())
    linker, found = load_linker(settings.linker), Gathered()
    checkers = [_loaded(name, root) for name in names]
    for run in runs:
        slices, _ = read_run(run)
        if checkers:
            disagreed: Counter[str] = Counter()
            slices = relabelled(slices, checkers, disagreed, progress=progress_bar("answers"))
            found.left_out.update(disagreed)
        one = gather(run.resolve().name, slices, linker=linker)
        found.pairs += one.pairs
        found.answers += one.answers
        found.left_out.update(one.left_out)
    return found


def agreement(
    rows: SilverArgument,
    checker: CheckerOption,
    part: PartOption = "test",
    out: OutOption = None,
    seed: AgreementSeedOption = defaults.SEED,
    root: RootOption = Path(),
) -> None:
    """Show how far a student agrees with its teacher on rows that were kept out.

    Example: medfaith distill agreement silver --checker students/mine --out agreement.md

    A pair that the student cannot score counts as a disagreement.
    """
    from pytest_medfaith.distill.agreement import agree, agreement_card
    from pytest_medfaith.distill.files import pairs_file, read_pairs
    from pytest_medfaith.distill.records import PARTS
    from pytest_medfaith.jsonl import refuse_overwriting

    if part not in PARTS:
        raise DataError(f"--part is {part!r}; expected one of {', '.join(PARTS)}")
    refuse_overwriting({"--out": out}, {"the file of rows": pairs_file(rows, part)})
    found = agree(
        read_pairs(rows, part), _loaded(checker, root), part=part, seed=seed, progress=progress_bar("pairs")
    )
    give(agreement_card(found), out)


def _loaded(name: str, root: Path) -> Checker:
    from pytest_medfaith.checking.loading import load_checker

    return load_checker(name, root=root.resolve(), **reading_of(name, root))
