"""Names with the wrong values: "A: 12 h; B: 17 h" where the evidence says "17 h for A, 12 h for B"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing
from pytest_medfaith.english.stems import word_key
from pytest_medfaith.english.words import read_tokens
from pytest_medfaith.quantities.reader import read_quantities

Keys = frozenset[str]

_MOST_ROWS = 8
_TELLING = 2  # so many names of the claim, at least, are in the clause with the other value
_ROW_END = re.compile(r"[;\n]")
_KEY_END = re.compile(r"→|⇒|->|➔|⟶|:(?=\s)|(?<=\S)\s*\|\s*(?=\S)")
_JOINT = re.compile(r"[;,]|\b(?:and|but|while|whereas|against|versus|vs)\b", re.IGNORECASE)
_UNREADABLE = re.compile(r"\brespectively\b|\b(?:former|latter|vice versa)\b", re.IGNORECASE)
_VALUE = re.compile(r"\d[\d.,:/-]*\d|\d|(?<![\w-])(?:[IVX]{1,4})(?![\w-])")
_SPELLED = frozenset(
    map(
        word_key,
        """one two three four five six seven eight nine ten twelve once twice daily weekly monthly single
        january february march april june july august september october november december""".split(),
    )
)
_FIGURES = {
    word_key(word): str(number)
    for number, word in enumerate("one two three four five six seven eight nine ten".split(), start=1)
}
_EVERY = re.compile(
    r"\b(?:every|each|once an?|once every)\s+(?P<unit>hour|day|night|week|month|year)\b|"
    r"\b(?P<rate>hourly|daily|nightly|weekly|monthly|yearly|annual(?:ly)?)\b",
    re.IGNORECASE,
)
_CLAUSES = re.compile(
    r"[;\n]|,(?!\d)|\b(?:and|or|but|while|whereas|against|versus|vs|after|before|having|then|followed)\b",
    re.IGNORECASE,
)
_CITED = re.compile(r"\[\s?\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,20}\s?\]")
_LABELLED = re.compile(r"\b(?:types?|stages?|grades?|class|phase|group)\s(?:\d|[IVX]+)\b", re.IGNORECASE)


@dataclass(frozen=True)
class PairedRow:
    """A row of a claim, such as "A: 12 h".

    Attributes:
        name: the keys (stems) of the words before the colon, arrow or bar.
        value: the keys of the words and numbers after it.
        start: the first character of the value.
        end: the character after the value.
    """

    name: Keys
    value: Keys
    start: int
    end: int


@dataclass(frozen=True)
class Clauses:
    """A text cut in two at a joint such as "and", and what tells the halves apart.

    Attributes:
        names: two sets of keys (stems): the names that only the first half has, and only the second half.
        values: the values (numbers, numerals, months) that only the first half has, and only the second.
        end: where the first half ends.
    """

    names: tuple[Keys, Keys]
    values: tuple[Keys, Keys]
    end: int


def missing_pairs(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "row" for two rows of `claim` whose values the deciding sentence swaps.

    Example: "A: 12 h; B: 17 h" where `evidence.nearest` says "17 h for A, 12 h for B". The span is that of
    the first value.
    """
    sentence = evidence.nearest
    if _UNREADABLE.search(sentence):
        return
    halves = [
        (_keys(sentence[: joint.start()]), _keys(sentence[joint.end() :]))
        for joint in _JOINT.finditer(sentence)
    ]
    for one, other in combinations(read_paired_rows(claim), 2):
        name, other_name = one.name - other.name, other.name - one.name
        value, other_value = one.value - other.value, other.value - one.value
        if any(_are_paired(name, value, other_name, other_value, parts) for parts in halves):
            continue
        if any(_are_paired(name, other_value, other_name, value, parts) for parts in halves):
            note = "claim and evidence pair the rows and values the other way round"
            yield Missing("row", one.start, one.end, note=note, refutes=True)


def read_paired_rows(claim: str) -> list[PairedRow]:
    """Returns the rows of `claim`, at most eight: "A: 12 h; B: 17 h" has two.

    A row is a line, or a part between semicolons, with a colon, an arrow or a bar inside.
    """
    rows, start = [], 0
    for end in (*(found.start() for found in _ROW_END.finditer(claim)), len(claim)):
        marks = list(_KEY_END.finditer(claim, start, end))
        if marks:
            name, value = claim[start : marks[-1].start()], claim[marks[-1].end() : end]
            rows.append(PairedRow(_keys(name), _keys(value), marks[-1].end(), end))
        start = end + 1
    return rows[:_MOST_ROWS]


def _are_paired(
    name: Keys, value: Keys, other_name: Keys, other_value: Keys, halves: tuple[Keys, Keys]
) -> bool:
    """Returns whether one half has `name` with `value` alone, and the other half has the two others alone."""
    return any(
        all(keys & half and not keys & rest for keys in (name, value))
        and all(keys & rest and not keys & half for keys in (other_name, other_value))
        for half, rest in (halves, halves[::-1])
    )


def _keys(text: str) -> Keys:
    """Returns the keys of the content words and numbers of `text`."""
    return frozenset(token.key for token in read_tokens(text) if token.content or token.lower[0].isdigit())


def missing_swaps(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "row" where the deciding sentence gives values to other names.

    "A in 1991 and B in 1985" is refuted where `evidence.nearest` says "A in 1985, after B in 1991"; the span
    is the claim's first half. A claim's only value, if the sentence has it of something else, is not refuted
    but weakened; the span is the value.

    A value is a number, a bound, a Roman numeral, a month or a frequency. A value in both clauses tells
    nothing. Texts with "respectively", "former", "latter" or "vice versa" are not compared.
    """
    sentence, claim = (
        _CITED.sub(lambda found: " " * len(found[0]), text) for text in (evidence.nearest, claim)
    )
    if _UNREADABLE.search(sentence) or _UNREADABLE.search(claim):
        return
    if (place := _misplaced(claim, sentence)) is not None:
        yield Missing("row", *place, note=f"the evidence says {claim[slice(*place)]} of something else")
        return
    known, swapped = list(_clauses(sentence)), None
    for mine in _clauses(claim):
        for theirs in known:
            order = _order(mine.names, theirs.names) * _order(mine.values, theirs.values, exact=True)
            if order > 0:
                return
            if order < 0 and swapped is None:
                swapped = mine
    if swapped:
        note = "claim and evidence pair names and values the other way round"
        yield Missing("row", 0, swapped.end, note=note, refutes=True)


def _misplaced(claim: str, sentence: str) -> tuple[int, int] | None:
    """Returns the span of the claim's only value if the sentence has it in a clause without its names.

    "Testing started in 2012" has the value of the wrong clause of "donors were refused in 2012, and testing
    started in 2019". The clause with the names must have a value of the same form, such as a year. None
    otherwise.
    """
    found = list(_VALUE.finditer(claim))
    if len(found) != 1 or len(_values(claim)) != 1:
        return None
    value, names = found[0][0].replace(",", ""), _names(claim)
    for joint in _CLAUSES.finditer(sentence):
        halves = sentence[: joint.start()], sentence[joint.end() :]
        for with_value, other in (halves, halves[::-1]):
            if value not in _values(with_value) or value in _values(other):
                continue
            if (names & _names(with_value)) - _names(other):
                return None
            named = (names & _names(other)) - _names(with_value)
            if len(named) >= _TELLING and _form(value) in map(_form, _values(other)):
                return found[0].span()
    return None


def _form(value: str) -> str:
    """Returns the form of a value: "year" for "2012", "number" for "12", "roman" for "IV"."""
    return "year" if re.fullmatch(r"(?:19|20)\d\d", value) else "number" if value[0].isdigit() else "roman"


def _clauses(text: str) -> Iterator[Clauses]:
    """Yields the halves of `text` at each joint that leaves both halves a name and a value of their own."""
    for joint in _CLAUSES.finditer(text):
        first, second = text[: joint.start()], text[joint.end() :]
        names, other_names = _names(first), _names(second)
        values, other_values = _values(first), _values(second)
        found = Clauses(
            (names - other_names, other_names - names),
            (values - other_values, other_values - values),
            joint.start(),
        )
        if all((*found.names, *found.values)):
            yield found


def _names(text: str) -> Keys:
    """Returns the keys of the content words that are no values, and labels such as "type 2" as a whole."""
    labels = frozenset(found[0].lower() for found in _LABELLED.finditer(text))
    return labels | frozenset(
        token.key for token in read_tokens(text) if token.content and token.key not in _SPELLED
    )


def _values(text: str) -> Keys:
    """Returns the numbers, Roman numerals, months and frequencies of `text`; "two" is "2".

    Labels do not count.
    """
    text = _LABELLED.sub(" ", text)
    spelled = {_FIGURES.get(token.key, token.key) for token in read_tokens(text) if token.key in _SPELLED}
    said = {found["unit"] or found["rate"] for found in _EVERY.finditer(text.lower())}
    said |= {f"{each.bound}{each.high:g}" for each in read_quantities(text) if each.bound}
    return frozenset(spelled | said | {found[0].replace(",", "") for found in _VALUE.finditer(text)})


def _order(mine: tuple[Keys, Keys], theirs: tuple[Keys, Keys], *, exact: bool = False) -> int:
    """Returns 1 if first halves share keys and second halves do, -1 if they do crosswise, else 0.

    A word that is said of both halves ("in adults") may be in either half. So by default both crosswise pairs
    must share keys to put the order in doubt; with `exact` one of them suffices.
    """
    straight = (bool(mine[0] & theirs[0]), bool(mine[1] & theirs[1]))
    crossed = (bool(mine[0] & theirs[1]), bool(mine[1] & theirs[0]))
    in_doubt = any if exact else all
    if all(straight) and not in_doubt(crossed):
        return 1
    return -1 if all(crossed) and not in_doubt(straight) else 0
