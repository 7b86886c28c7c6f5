"""`medfaith baseline`: the kept copies of the baseline file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pytest_medfaith.commands.parts import RootOption, say

KeepOption = Annotated[int, typer.Option(min=1, help="How many of the newest copies to keep.")]


def list_kept(root: RootOption = Path()) -> None:
    """List the kept baselines, the oldest first: number, date, commit, and what each holds.

    Example: medfaith baseline list

    To compare with a kept baseline: pytest --medfaith-baseline=0007
    """
    from pytest_medfaith.config import load_settings
    from pytest_medfaith.gates.kept import kept_baselines, kept_folder

    path = load_settings(root.resolve()).baseline
    kept = kept_baselines(path)
    current = path.read_bytes() if path.is_file() else b""
    for copy in kept:
        mark = "  (current)" if copy.path.read_bytes() == current else ""
        when = f"{copy.date:%Y-%m-%d %H:%M} UTC"
        say(f"{copy.number:04}  {when}  {copy.commit or '-':7}  {_held(copy.path)}{mark}")
    if not kept:
        say(f"{kept_folder(path)}: none kept yet; pytest --medfaith-update-baseline keeps one each time")


def prune(keep: KeepOption, root: RootOption = Path()) -> None:
    """Remove old kept baselines.

    Example: medfaith baseline prune --keep 10

    The current baseline file stays. Later copies go on with the next number.
    """
    from pytest_medfaith.config import load_settings
    from pytest_medfaith.gates.kept import kept_baselines, prune_baselines

    path = load_settings(root.resolve()).baseline
    removed = prune_baselines(path, keep=keep)
    for copy in removed:
        say(f"{copy}: removed")
    say(f"{len(removed)} removed, {len(kept_baselines(path))} kept")


def _held(path: Path) -> str:
    """Returns what a baseline file holds, in a few words for a list, or why it cannot be read."""
    from pytest_medfaith.errors import MedfaithError
    from pytest_medfaith.gates.baseline import read_baseline

    try:
        slices = read_baseline(path).slices
    except MedfaithError:
        return "cannot be read"
    names = dict.fromkeys(entry.slice for entry in slices)
    return f"{', '.join(names)}: {sum(len(entry.cases) for entry in slices)} cases"
