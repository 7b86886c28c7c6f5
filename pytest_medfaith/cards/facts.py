"""What the head of a report says: date, project, commit, and how often the checker is wrong."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from pytest_medfaith import defaults
from pytest_medfaith.errors import DataError
from pytest_medfaith.models.onnx import processor_kernel
from pytest_medfaith.models.shipped import MODELS, default_weights

_COMMIT = re.compile(r"[0-9a-f]{40,64}")
# Of GitHub, GitLab, Azure, Jenkins.
_VARIABLES = ("GITHUB_SHA", "CI_COMMIT_SHA", "BUILD_SOURCEVERSION", "GIT_COMMIT")
_DEEPEST = 5  # links from one reference of git to the next


def run_facts(root: Path, *, now: datetime, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Returns {"date", "project", "processor"} of a run that ends `now`, and "commit" where it is known.

    The commit is what the CI server says, else what .git holds; git itself is not needed.
    """
    commit = run_commit(root, environ)
    facts = {
        "date": now.strftime("%Y-%m-%d %H:%M %Z").strip(),
        "project": root.resolve().name,
        "processor": processor_kernel(),
    }
    return facts | ({"commit": commit} if commit else {})


def run_commit(root: Path, environ: Mapping[str, str] = os.environ) -> str:
    """Returns the commit under test: from the CI server, else from .git; "" where neither names it."""
    said = (environ.get(name, "") for name in _VARIABLES)
    return next(filter(_COMMIT.fullmatch, said), "") or head_commit(root)


def head_commit(root: Path) -> str:
    """Returns the commit checked out in the repository that holds `root`; "" where there is none."""
    for folder in (root.resolve(), *root.resolve().parents):
        git = folder / ".git"
        if git.is_file():  # in a worktree or a submodule
            git = folder / _read(git).removeprefix("gitdir:").strip()
        if git.exists():
            return _resolved(git, "HEAD", _DEEPEST)
    return ""


def _resolved(git: Path, name: str, depth: int) -> str:
    """Returns the commit that a reference of git, such as "HEAD", leads to; "" where it leads to none.

    `depth` bounds the references that are followed.
    """
    common = git / _read(git / "commondir").strip() if (git / "commondir").is_file() else git
    text = (_read(git / name) or _read(common / name)).strip()
    if text.startswith("ref:") and depth:
        return _resolved(git, text.removeprefix("ref:").strip(), depth - 1)
    if not text:
        line = rf"^([0-9a-f]{{40,64}}) {re.escape(name)}$"
        packed = re.search(line, _read(common / "packed-refs"), re.MULTILINE)
        text = packed[1] if packed else ""
    return text if _COMMIT.fullmatch(text) else ""


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def error_rates(checker: str) -> list[tuple[str, int, str]]:
    """Returns (data set, cases, share of wrong verdicts) from a checker's model card, lowest share first.

    The share is a text with its 95 % interval, "11 % [8 %, 14 %]". [] for a checker without a card.
    """
    measured = _checker_card(checker).get("measured")
    rows = measured.items() if isinstance(measured, Mapping) else ()
    found = [
        (name, row)
        for name, row in rows
        if isinstance(row, Mapping) and isinstance(row.get("accuracy"), Mapping)
    ]
    rates = []
    for name, row in sorted(found, key=lambda item: -float(item[1]["accuracy"]["value"])):
        value, low, high = (round(100 * (1 - row["accuracy"][end])) for end in ("value", "high", "low"))
        rates.append((name, int(row["n"]), f"{value} % [{low} %, {high} %]"))
    return rates


def _checker_card(checker: str) -> dict[str, Any]:
    """Returns the model card (card.json) of a checker; {} where there is none."""
    try:
        if checker == defaults.CHECKER:
            folder = default_weights()
        else:
            folder = MODELS / "nli" if checker == "fast" else Path(checker or ".")
        row = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    except (DataError, OSError, ValueError, RecursionError):
        return {}
    return row if isinstance(row, dict) else {}
