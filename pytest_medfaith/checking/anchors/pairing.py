"""Two rows of a claim, "A: 12 h; B: 17 h", whose values the evidence gives the other way round: "17 h for A and 12 h for B"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing
from pytest_medfaith.checking.rules.text import read_tokens

_ROW_END = re.compile(r"[;\n]")
_KEY_END = re.compile(r"→|⇒|->|➔|⟶|:(?=\s)|(?<=\S)\s*\|\s*(?=\S)")
_JOINT = re.compile(r"[;,]|\b(?:and|but|while|whereas|against|versus|vs)\b", re.IGNORECASE)
_UNREADABLE = re.compile(r"\brespectively\b|\b(?:former|latter|vice versa)\b", re.IGNORECASE)
_MOST_ROWS = 8


@dataclass(frozen=True)
class PairedRow:
    """A row of a claim: the keys of the words that name it and of those that say its value, and the value's span."""

    name: frozenset[str]
    value: frozenset[str]
    start: int
    end: int


def read_paired_rows(claim: str) -> list[PairedRow]:
    """Returns the rows of `claim`: a line or a part between semicolons each, parted by a colon, an arrow or a bar of a table."""
    rows, start = [], 0
    for end in (*(match.start() for match in _ROW_END.finditer(claim)), len(claim)):
        parted = list(_KEY_END.finditer(claim, start, end))
        if parted:
            cut = parted[-1]
            rows.append(PairedRow(_keys(claim[start : cut.start()]), _keys(claim[cut.end() : end]), cut.end(), end))
        start = end + 1
    return rows[:_MOST_ROWS]


def missing_pairs(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields the first of two values that the sentence which decided gives to each other's row."""
    if _UNREADABLE.search(evidence.nearest):
        return
    parts = list(_halves(evidence.nearest))
    for one, other in combinations(read_paired_rows(claim), 2):
        mine = PairedRow(one.name - other.name, one.value - other.value, one.start, one.end)
        theirs = PairedRow(other.name - one.name, other.value - one.value, other.start, other.end)
        if any(_straight(mine, theirs, *halves) for halves in parts) or not any(_crossed(mine, theirs, *halves) for halves in parts):
            continue
        yield Missing("row", mine.start, mine.end, note="claim and evidence pair the rows and values the other way round", refutes=True)


def _halves(sentence: str) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Yields the keys before and after each word or mark that joins two statements."""
    for joint in _JOINT.finditer(sentence):
        yield _keys(sentence[: joint.start()]), _keys(sentence[joint.end() :])


def _straight(one: PairedRow, other: PairedRow, first: frozenset[str], second: frozenset[str]) -> bool:
    """Returns whether each half holds the name and the value of one row, and nothing of the other row."""
    return _holds(one.name, one.value, other.name, other.value, first, second) or _holds(
        one.name, one.value, other.name, other.value, second, first
    )


def _crossed(one: PairedRow, other: PairedRow, first: frozenset[str], second: frozenset[str]) -> bool:
    return _holds(one.name, other.value, other.name, one.value, first, second) or _holds(
        one.name, other.value, other.name, one.value, second, first
    )


def _holds(
    name: frozenset[str],
    value: frozenset[str],
    other_name: frozenset[str],
    other_value: frozenset[str],
    half: frozenset[str],
    rest: frozenset[str],
) -> bool:
    """Returns whether `name` and `value` stand in `half` only, the other two in `rest` only."""
    return all(keys & half and not keys & rest for keys in (name, value)) and all(
        keys & rest and not keys & half for keys in (other_name, other_value)
    )


def _keys(text: str) -> frozenset[str]:
    """Returns the keys of the words that carry meaning, and numbers, of `text`."""
    return frozenset(token.key for token in read_tokens(text) if token.content or token.lower[0].isdigit())
