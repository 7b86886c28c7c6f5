"""A folder of silver rows: writes it, and reads it back with errors that name file and line."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_medfaith.cards.wording import counted
from pytest_medfaith.distill.records import PARTS, Silver, SilverAnswer, SilverPair
from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import read_records, write_records, write_text
from pytest_medfaith.records import LABELS

SUMMARY = "silver.json"


def pairs_file(folder: Path, part: str) -> Path:
    """Returns the file of the pairs of a part: nli.train.jsonl for "train"."""
    return folder / f"nli.{part}.jsonl"


def answers_file(folder: Path, part: str) -> Path:
    """Returns the file of the answers of a part: extractor.train.jsonl for "train"."""
    return folder / f"extractor.{part}.jsonl"


def write_silver(folder: Path, silver: Silver) -> dict[str, Any]:
    """Writes the rows of each part as JSON Lines and a summary, `silver.json`; returns the summary.

    Earlier files are replaced. The summary has `silver.facts`, and under "pairs", "answers", "teachers" and
    "left_out" the number of pairs by part and label, of answers by part, of pairs by teacher, and of what was
    left out by reason.
    """
    for part in PARTS:
        write_records(pairs_file(folder, part), silver.pairs[part])
        write_records(answers_file(folder, part), silver.answers[part])
    summary = {
        **silver.facts,
        "pairs": {part: _labels(silver.pairs[part]) for part in PARTS},
        "answers": {part: len(silver.answers[part]) for part in PARTS},
        "teachers": _teachers(silver),
        "left_out": dict(silver.left_out),
    }
    write_text(folder / SUMMARY, json.dumps(summary, indent=2, ensure_ascii=False) + "\n")
    return summary


def _labels(rows: Sequence[SilverPair]) -> dict[str, int]:
    """Returns {label: how many rows have it}, labels without rows included."""
    found = Counter(row.label for row in rows)
    return {label: found[label] for label in LABELS}  # type: ignore[index]


def _teachers(silver: Silver) -> dict[str, int]:
    """Returns {teacher: how many pairs it labelled}; the name of an LLM stands behind "teacher"."""
    found = Counter(
        " ".join(filter(None, (row.provenance.checker, row.provenance.model)))
        for rows in silver.pairs.values()
        for row in rows
    )
    return dict(sorted(found.items()))


def read_pairs(folder: Path, part: str) -> list[SilverPair]:
    """Returns the pairs of a part, in the order of the file.

    Args:
        folder: that `write_silver` wrote.
        part: "train", "dev" or "test".

    Raises:
        DataError: no such file, no row, a row without claim or evidence, probabilities that do not sum to 1,
            or a malformed row; the message tells file, row and field.
    """
    path = pairs_file(folder, part)
    rows = list(read_records(path, SilverPair))
    if not rows:
        raise DataError(f"{path}: no rows; expected pairs, as `medfaith distill silver` writes them")
    for number, row in enumerate(rows, start=1):
        if not row.claim.strip() or not row.evidence.strip():
            raise DataError(f"{path}: row {number} ({row.id!r}) has no claim or no evidence, expected text")
        if row.probs is not None and (abs(sum(row.probs) - 1) > 0.01 or min(row.probs) < 0):
            raise DataError(f"{path}: row {number} ({row.id!r}): probs are {row.probs}, expected shares of 1")
    return rows


def read_answers(folder: Path, part: str) -> list[SilverAnswer]:
    """Returns the answers of a part, in the order of the file.

    Raises:
        DataError: no such file, no row, or a malformed row, such as a claim outside its answer.
    """
    path = answers_file(folder, part)
    rows = list(read_records(path, SilverAnswer))
    if not rows:
        raise DataError(f"{path}: no rows; expected answers, as `medfaith distill silver` writes them")
    for number, row in enumerate(rows, start=1):
        for claim in row.claims:
            if not 0 <= claim.start < claim.end <= len(row.answer):
                raise DataError(
                    f"{path}: row {number} ({row.id!r}): the claim at {claim.start} to {claim.end} is not in "
                    f"the answer of {len(row.answer)} characters"
                )
    return rows


def silver_lines(summary: dict[str, Any]) -> list[str]:
    """Returns what a command prints about a folder of silver rows, from its summary.

    The lines tell teachers, rows by part and what was left out, and warn of labels without rows.
    """
    teachers = [f"{name} ({counted(number, 'pair')})" for name, number in summary["teachers"].items()]
    lines = [f"labelled by {', '.join(teachers)}"]
    for part in PARTS:
        counts = ", ".join(f"{number} {label}" for label, number in summary["pairs"][part].items())
        lines.append(f"{part}: {counts}; {counted(summary['answers'][part], 'answer')}")
    lines += [f"left out: {count} {reason}" for reason, count in summary["left_out"].items()]
    if summary["passages_shared"]:
        lines.append(
            "WARNING: parts may share passages; what is measured is better than on passages not seen"
        )
    absent = [label for label, number in summary["pairs"]["train"].items() if not number]
    lines += [
        f"WARNING: no pair to train on is {label}; a student of these rows never says it" for label in absent
    ]
    return lines
