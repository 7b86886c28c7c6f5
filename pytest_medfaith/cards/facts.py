"""What the head of a report says of its run: when, of which project and commit, and how often its checker is wrong."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from pytest_medfaith.checking.checker import MODELS, default_weights
from pytest_medfaith.errors import DataError
from pytest_medfaith.models.onnx import processor_kernel

_COMMIT = re.compile(r"[0-9a-f]{40,64}")
_VARIABLES = (
    "GITHUB_SHA",
    "CI_COMMIT_SHA",
    "BUILD_SOURCEVERSION",
    "GIT_COMMIT",
)  # of GitHub, GitLab, Azure, Jenkins
_DEEPEST = 5  # links from one reference of git to the next


def run_facts(root: Path, *, now: datetime, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Returns date, project, processor and commit of a run that ends `now`; no commit where none can be told.

    The commit is what the CI server says, else what .git says, which is read without git.
    """
    commit = next(
        (value for name in _VARIABLES if _COMMIT.fullmatch(value := environ.get(name, ""))), ""
    ) or head_commit(root)
    facts = {
        "date": now.strftime("%Y-%m-%d %H:%M %Z").strip(),
        "project": root.resolve().name,
        "processor": processor_kernel(),
    }
    return facts | ({"commit": commit} if commit else {})


def head_commit(root: Path) -> str:
    """Returns the commit that is checked out in the repository around `root`, or nothing."""
    for folder in (root.resolve(), *root.resolve().parents):
        git = folder / ".git"
        if git.exists():
            return _resolved(_git_folder(git), "HEAD", _DEEPEST)
    return ""


def _git_folder(git: Path) -> Path:
    """Returns the folder of `git`, which is a file in a worktree or a submodule."""
    named = _read(git).removeprefix("gitdir:").strip() if git.is_file() else ""
    return (git.parent / named) if named else git


def _resolved(git: Path, name: str, depth: int) -> str:
    common = git / _read(git / "commondir").strip() if (git / "commondir").is_file() else git
    text = (_read(git / name) or _read(common / name)).strip()
    if text.startswith("ref:") and depth:
        return _resolved(git, text.removeprefix("ref:").strip(), depth - 1)
    if not text:
        packed = re.search(
            rf"^([0-9a-f]{{40,64}}) {re.escape(name)}$", _read(common / "packed-refs"), re.MULTILINE
        )
        text = packed[1] if packed else ""
    return text if _COMMIT.fullmatch(text) else ""


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def error_rates(checker: str) -> list[tuple[str, int, str]]:
    """Returns (data set, cases, share of wrong verdicts) of a checker as its card holds them, the lowest first; none where it has no card.

    The share stands with its 95 % interval: `11 % [8 %, 14 %]`.
    """
    measured = _card(checker).get("measured")
    rows = measured.items() if isinstance(measured, Mapping) else ()
    found = [
        (name, row)
        for name, row in rows
        if isinstance(row, Mapping) and isinstance(row.get("accuracy"), Mapping)
    ]
    ordered = sorted(found, key=lambda item: -float(item[1]["accuracy"]["value"]))
    return [(name, int(row["n"]), _error(row["accuracy"])) for name, row in ordered]


def _error(accuracy: Mapping[str, float]) -> str:
    value, low, high = (round(100 * (1 - accuracy[end])) for end in ("value", "high", "low"))
    return f"{value} % [{low} %, {high} %]"


def _card(checker: str) -> dict[str, Any]:
    """Returns the card of a checker that brings one, or nothing."""
    try:
        folder = (
            default_weights()
            if checker == "default"
            else MODELS / "nli"
            if checker == "fast"
            else Path(checker or ".")
        )
        row = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    except (DataError, OSError, ValueError, RecursionError):
        return {}
    return row if isinstance(row, dict) else {}
