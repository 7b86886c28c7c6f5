"""Labelled rows, and their split into rows to fit and rows kept out, which share no text."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_medfaith.errors import DataError, shown
from pytest_medfaith.jsonl import read_rows
from pytest_medfaith.records import LABELS

# The first of these keys that every row has says which rows are of the same answer.
CASE_KEYS = ("case_id", "case", "answer_id", "answer")
HELD_OUT = 0.3  # of the rows: enough to measure on, without taking much from the fit


@dataclass(frozen=True)
class LabelledRow:
    """A claim, its evidence texts, and the label that a person gave.

    Attributes:
        claim: its text.
        evidence: texts.
        label: entail, neutral or contradict.
        group: a number; rows of a group are never split. Rows of the same case, or with the same claim, are a
            group; where rows name no case, rows that share a claim or an evidence text are.
        of: the case or answer that the claim is from; "" where the row does not say.
    """

    claim: str
    evidence: tuple[str, ...]
    label: str
    group: int = 0
    of: str = ""


def read_labelled_rows(path: Path) -> list[LabelledRow]:
    """Returns the rows of a JSON Lines file of {"claim", "evidence", "label"}, each with its group.

    Raises:
        DataError: no rows, or a line in which a field is missing or of another type; the message names file,
            line, field and value.
    """
    read = list(read_rows(path))
    key = next((key for key in CASE_KEYS if all(_names_case(row.get(key)) for _, row in read)), "")
    rows = [
        dataclasses.replace(_labelled(row, f"{path}:{number}"), of=str(row.get(key, "")))
        for number, row in read
    ]
    if not rows:
        raise DataError(f'{path}: no rows; expected JSON Lines of {{"claim", "evidence", "label"}}')
    return [dataclasses.replace(row, group=group) for row, group in zip(rows, _groups(rows), strict=True)]


def _names_case(value: object) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool) and bool(str(value).strip())


def _labelled(row: Mapping[str, Any], place: str) -> LabelledRow:
    claim, evidence, label = (row.get(key) for key in ("claim", "evidence", "label"))
    texts = [evidence] if isinstance(evidence, str) else evidence
    if not isinstance(claim, str):
        raise DataError(f"{place}: field 'claim' is {shown(claim)}, expected text")
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise DataError(f"{place}: field 'evidence' is {shown(evidence)}, expected text or a list of texts")
    if label not in LABELS:
        raise DataError(f"{place}: field 'label' is {shown(label)}, expected one of {', '.join(LABELS)}")
    return LabelledRow(claim, tuple(texts), str(label))


def _groups(rows: Sequence[LabelledRow]) -> list[int]:
    """Returns the number of each row's group, from 0 as they appear; see `LabelledRow.group`."""
    parents = list(range(len(rows)))

    def root(place: int) -> int:
        while parents[place] != place:
            parents[place] = parents[parents[place]]
            place = parents[place]
        return place

    first: dict[str, int] = {}
    for place, row in enumerate(rows):
        shared = (
            [f"case {row.of}"]
            if row.of
            else [f"text {' '.join(text.lower().split())}" for text in row.evidence]
        )
        for name in (f"text {' '.join(row.claim.lower().split())}", *shared):
            parents[root(place)] = root(first.setdefault(name, place))
    numbers: dict[int, int] = {}
    return [numbers.setdefault(root(place), len(numbers)) for place in range(len(rows))]


def split_rows(rows: Sequence[LabelledRow], *, seed: int) -> tuple[list[int], list[int]]:
    """Returns the places of the rows to fit and of the rows kept out: whole groups, drawn by `seed`.

    At most three tenths of the rows are kept out.

    Raises:
        DataError: the groups are too large for any to be kept out.
    """
    sizes = Counter(row.group for row in rows)
    groups = sorted(sizes)
    random.Random(seed).shuffle(groups)
    kept_out: set[int] = set()
    room = HELD_OUT * len(rows)
    for group in groups:
        if sizes[group] <= room:
            kept_out.add(group)
            room -= sizes[group]
    if not kept_out:
        through, mend = (
            "claims or evidence",
            f"with other claims and evidence, or say of which answer each claim is ({CASE_KEYS[0]!r})",
        )
        if all(row.of for row in rows):
            through, mend = "claims or cases", "of other cases"
        raise DataError(
            f"{len(rows)} rows cannot be split: through {through} that they share they hang together in "
            f"{len(groups)} group(s), the smallest of {min(sizes.values(), default=0)}; add rows {mend}"
        )
    fitting = [place for place, row in enumerate(rows) if row.group not in kept_out]
    return fitting, [place for place, row in enumerate(rows) if row.group in kept_out]
