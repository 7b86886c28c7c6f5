"""Two rows of a claim, "A: 12 h; B: 17 h", whose values the evidence gives the other way round: "17 h for A and 12 h for B"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing
from pytest_medfaith.english.stems import word_key
from pytest_medfaith.english.words import read_tokens

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
            rows.append(
                PairedRow(_keys(claim[start : cut.start()]), _keys(claim[cut.end() : end]), cut.end(), end)
            )
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
        if any(_straight(mine, theirs, *halves) for halves in parts) or not any(
            _crossed(mine, theirs, *halves) for halves in parts
        ):
            continue
        yield Missing(
            "row",
            mine.start,
            mine.end,
            note="claim and evidence pair the rows and values the other way round",
            refutes=True,
        )


_VALUE = re.compile(r"\d[\d.,:/-]*\d|\d|(?<![\w-])(?:[IVX]{1,4})(?![\w-])")
_SPELLED = frozenset(
    map(
        word_key,
        """one two three four five six seven eight nine ten twelve once twice daily weekly monthly single
        january february march april june july august september october november december""".split(),
    )
)
_CLAUSES = re.compile(
    r"[;\n]|,(?!\d)|\b(?:and|but|while|whereas|against|versus|vs|after|before|having|then|followed)\b",
    re.IGNORECASE,
)


def missing_swaps(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields the claim's clause whose value the sentence that decided gives to the other clause, and the other way round.

    "A in 1991 and B in 1985" of "A in 1985, after B in 1991". A value is a number, a Roman numeral or a month; what stands in both clauses tells nothing.
    """
    sentence, claim = (
        _CITED.sub(lambda found: " " * len(found[0]), text) for text in (evidence.nearest, claim)
    )
    if _UNREADABLE.search(sentence) or _UNREADABLE.search(claim):
        return
    theirs = list(_clauses(sentence))
    if (place := _misplaced(claim, sentence)) is not None:
        yield Missing("row", *place, note=f"the evidence says {claim[slice(*place)]} of something else")
        return
    crossed = None
    for own in _clauses(claim):
        for other in theirs:
            pairing = _pairing(own, other)
            if pairing == "straight":
                return
            crossed = crossed or (own if pairing == "crossed" else None)
    if crossed:
        yield Missing(
            "row",
            0,
            crossed.end,
            note="claim and evidence pair names and values the other way round",
            refutes=True,
        )


def _misplaced(claim: str, sentence: str) -> tuple[int, int] | None:
    """Returns the span of the claim's only value where the sentence says it in a clause that holds none of the claim's names.

    "Testing started in 2012" of "donors were refused in 2012, and testing started in 2019": the other clause has a value of the same form.
    """
    found = list(_VALUE.finditer(claim))
    if len(found) != 1 or len(_values(claim)) != 1:
        return None
    value, names = found[0][0].replace(",", ""), _names(claim)
    for joint in _CLAUSES.finditer(sentence):
        halves = sentence[: joint.start()], sentence[joint.end() :]
        for mine, other in (halves, halves[::-1]):
            if value not in _values(mine) or value in _values(other):
                continue
            if (names & _names(mine)) - _names(other):
                return None
            if (
                _form(value) in map(_form, _values(other))
                and len((names & _names(other)) - _names(mine)) >= _TELLING
            ):
                return found[0].span()
    return None


_TELLING = 2  # names of the claim that the clause with the other value holds


def _form(value: str) -> str:
    return "year" if re.fullmatch(r"(?:19|20)\d\d", value) else "number" if value[0].isdigit() else "roman"


@dataclass(frozen=True)
class Clauses:
    """What tells the two halves of a text apart: the keys of names, and the values, of either; `end` is where the first half ends."""

    names: tuple[frozenset[str], frozenset[str]]
    values: tuple[frozenset[str], frozenset[str]]
    end: int


def _clauses(text: str) -> Iterator[Clauses]:
    for joint in _CLAUSES.finditer(text):
        halves = text[: joint.start()], text[joint.end() :]
        names, values = [_names(half) for half in halves], [_values(half) for half in halves]
        if values[0] - values[1] and values[1] - values[0] and names[0] - names[1] and names[1] - names[0]:
            yield Clauses(
                (names[0] - names[1], names[1] - names[0]),
                (values[0] - values[1], values[1] - values[0]),
                joint.start(),
            )


_CITED = re.compile(r"\[\s?\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,20}\s?\]")
_LABELLED = re.compile(r"\b(?:types?|stages?|grades?|class|phase|group)\s(?:\d|[IVX]+)\b", re.IGNORECASE)


def _values(text: str) -> frozenset[str]:
    text = _LABELLED.sub(" ", text)
    spelled = {token.key for token in read_tokens(text) if token.key in _SPELLED}
    return frozenset(
        {match[0].replace(",", "") for match in _VALUE.finditer(text)}
        | {_FIGURES.get(key, key) for key in spelled}
    )


def _names(text: str) -> frozenset[str]:
    labels = frozenset(match[0].lower() for match in _LABELLED.finditer(text))
    return labels | frozenset(
        token.key for token in read_tokens(text) if token.content and token.key not in _SPELLED
    )


_FIGURES = {
    word_key(word): str(number)
    for number, word in enumerate("one two three four five six seven eight nine ten".split(), start=1)
}


def _pairing(own: Clauses, other: Clauses) -> str:
    """Returns "straight" or "crossed" where each half's names meet those of one half only, and so do its values; else an empty text."""
    names, values = _meets(own.names, other.names), _meets(own.values, other.values, strict=True)
    return "" if not names or not values else "straight" if names == values else "crossed"


def _meets(
    own: tuple[frozenset[str], frozenset[str]],
    other: tuple[frozenset[str], frozenset[str]],
    *,
    strict: bool = False,
) -> int:
    """Returns 1 where first meets first and second second, -1 where they meet crosswise, 0 where neither or both.

    A word said of both halves ("in adults") may stand in either; it meets one half only, and `strict` counts that as both.
    """
    same, cross = (
        (bool(own[0] & other[0]), bool(own[1] & other[1])),
        (bool(own[0] & other[1]), bool(own[1] & other[0])),
    )
    meets = any if strict else all
    return 1 if all(same) and not meets(cross) else -1 if all(cross) and not meets(same) else 0


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
