"""`medfaith baseline`: the kept copies of the baseline file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pytest_medfaith.commands.parts import RootOption, say

KeepOption = Annotated[int, typer.Option(min=1, help="How many of the last ones stay.")]


def list_kept(root: RootOption = Path()) -> None:
    """List the kept baselines, the oldest first: number, date, commit, and what each holds.

    Example: medfaith baseline list

    Compare with one of them: pytest --medfaith-baseline=0007
    """
    from pytest_medfaith.config import load_settings
    from pytest_medfaith.gates.kept import kept_baselines, kept_folder

    path = load_settings(root.resolve()).baseline
    kept = kept_baselines(path)
    current = path.read_bytes() if path.is_file() else b""
    for one in kept:
        mark = "  (current)" if one.path.read_bytes() == current else ""
        say(f"{one.number:04}  {one.date:%Y-%m-%d %H:%M} UTC  {one.commit or '-':7}  {_held(one.path)}{mark}")
    if not kept:
        say(f"{kept_folder(path)}: none kept yet; pytest --medfaith-update-baseline keeps one each time")


def prune(keep: KeepOption, root: RootOption = Path()) -> None:
    """Remove old kept baselines.

    Example: medfaith baseline prune --keep 10

    The current baseline file is not among them and stays. Numbers go on from the last copy.
    """
    from pytest_medfaith.config import load_settings
    from pytest_medfaith.gates.kept import kept_baselines, prune_baselines

    path = load_settings(root.resolve()).baseline
    removed = prune_baselines(path, keep=keep)
    for copy in removed:
        say(f"{copy}: removed")
    say(f"{len(removed)} removed, {len(kept_baselines(path))} kept")


def _held(path: Path) -> str:
    """Returns what a baseline file holds in a few words, or why it cannot be read."""
    from pytest_medfaith.errors import MedfaithError
    from pytest_medfaith.gates.baseline import read_baseline

    try:
        slices = read_baseline(path).slices
    except MedfaithError:
        return "cannot be read"
    names = dict.fromkeys(one.slice for one in slices)
    return f"{', '.join(names)}: {sum(len(one.cases) for one in slices)} cases"
