"""Finds medical concepts in a text by name, offline: the longest name of the concept table wins, abbreviations count for what they stand for."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from pytest_medfaith.conversion import Record
from pytest_medfaith.english.stems import singular
from pytest_medfaith.english.words import pieces_of
from pytest_medfaith.entities.abbreviations import find_abbreviations
from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import read_records

TABLE = Path(__file__).parent / "concepts.jsonl"
KINDS = ("drug", "disease", "gene", "organism", "population", "site", "route")

_WITHIN_NAME = re.compile(r"(?:[\s\u00a0]|[-‐‑/.*:'’]){1,2}")
_SENTENCE_END = re.compile(r"\.\s")
_LONGEST_TITLE = (
    3  # letters of a word that a stop shortens: "St. John's wort" is one name, "the heart. Failure" is none
)
_LONGEST_CASED = 5  # letters: AF, MI, MS, COPD are names only in capitals; words of the language are spelled like some of them


@dataclass(frozen=True, kw_only=True)
class Concept(Record):
    """A medical concept: its names, and the ids of the wider concepts it belongs to (metformin is a biguanide)."""

    id: str
    kind: str
    names: tuple[str, ...]
    parents: tuple[str, ...] = ()


@dataclass(frozen=True)
class Mention:
    """A concept where a text names it: half-open character span, and `wider`, the ids of all concepts that hold it."""

    concept: str
    kind: str
    start: int
    end: int
    wider: frozenset[str] = field(default_factory=frozenset)

    def is_related(self, other: Mention) -> bool:
        """Returns whether both name one concept, or one is a kind of the other."""
        return self.concept == other.concept or self.concept in other.wider or other.concept in self.wider


@dataclass(frozen=True)
class _Name:
    """A name as its pieces; `cased` holds them as written where capitals matter, else they are in lower case."""

    pieces: tuple[str, ...]
    concept: str
    cased: bool


@dataclass(frozen=True)
class Concepts:
    """A concept table, ready to search: names by their first piece, longest first."""

    by_id: Mapping[str, Concept]
    names: Mapping[str, Sequence[_Name]]
    wider: Mapping[str, frozenset[str]]


@lru_cache(maxsize=8)
def load_concepts(*paths: Path) -> Concepts:
    """Returns the shipped table, and with it those at `paths`; a row is `{"id", "kind", "names": [...], "parents": [...]}`.

    Raises:
        DataError: an unknown kind or parent, a concept without a name, an id or a name that two concepts have; the message names them.
    """
    by_id: dict[str, Concept] = {}
    for path in (TABLE, *paths):
        for concept in read_records(path, Concept):
            if concept.id in by_id:
                raise DataError(
                    f"{path}: concept {concept.id!r} is there twice, or is one of the shipped table; give "
                    f"it another id"
                )
            if concept.kind not in KINDS:
                raise DataError(
                    f"{path}: concept {concept.id!r} has kind {concept.kind!r}, expected one of "
                    f"{', '.join(KINDS)}"
                )
            by_id[concept.id] = concept
    _check_parents(by_id)
    return Concepts(
        by_id, _by_first_piece(by_id.values()), {id_: frozenset(_ancestors(id_, by_id)) for id_ in by_id}
    )


def _check_parents(by_id: Mapping[str, Concept]) -> None:
    for concept in by_id.values():
        missing = next((parent for parent in concept.parents if parent not in by_id), None)
        if missing is not None:
            raise DataError(
                f"concept {concept.id!r} names the parent {missing!r}, which no table holds; add it or "
                f"correct its id"
            )


def _ancestors(id_: str, by_id: Mapping[str, Concept]) -> set[str]:
    found: set[str] = set()
    waiting = list(by_id[id_].parents)
    while waiting:
        parent = waiting.pop()
        if parent not in found:
            found.add(parent)
            waiting.extend(by_id[parent].parents)
    return found


def _by_first_piece(concepts: Iterable[Concept]) -> dict[str, list[_Name]]:
    owner: dict[tuple[str, ...], str] = {}
    found: dict[str, list[_Name]] = {}
    for concept in concepts:
        for text in concept.names:
            name = _name(text, concept.id)
            if not name.pieces:
                raise DataError(
                    f"concept {concept.id!r} has the name {text!r}, which holds no letter or digit"
                )
            if owner.setdefault(name.pieces, concept.id) != concept.id:
                raise DataError(
                    f"the name {text!r} belongs to {owner[name.pieces]!r} and to {concept.id!r}; leave it "
                    f"to one of them"
                )
            found.setdefault(singular(name.pieces[0]), []).append(name)
    for names in found.values():
        names.sort(key=lambda name: -len(name.pieces))
    return found


def _name(text: str, concept: str) -> _Name:
    words = [piece for piece, _, _ in pieces_of(text)]
    letters = "".join(words)
    cased = len(words) == 1 and len(letters) <= _LONGEST_CASED and sum(map(str.isupper, letters)) >= 2
    return _Name(tuple(words if cased else map(singular, words)), concept, cased)


def link(text: str, *, concepts: Concepts | None = None) -> list[Mention]:
    """Returns the concepts that `text` names, in order of place, without overlaps; the longest name at a place wins.

    A short form that the text explains ("polycystic ovary syndrome (PCOS)") stands for its long form everywhere in the text. Linear in the
    length of the text.
    """
    table = concepts or load_concepts()
    pieces = pieces_of(text)
    local = _local_names(text, table)
    mentions: list[Mention] = []
    place = 0
    while place < len(pieces):
        concept, used = _longest(text, pieces, place, table, local)
        if concept is not None:
            mentions.append(_mention(concept, pieces[place][1], pieces[place + used - 1][2], table))
        place += max(used, 1)
    return mentions


def _longest(
    text: str, pieces: Sequence[tuple[str, int, int]], place: int, table: Concepts, local: Mapping[str, str]
) -> tuple[str | None, int]:
    """Returns the concept of the longest name that begins at piece `place`, and how many pieces it has; (None, 0) for none."""
    written = pieces[place][0]
    if written in local:
        return local[written], 1
    for name in table.names.get(singular(written), ()):
        size = len(name.pieces)
        window = pieces[place : place + size]
        if (
            len(window) == size
            and all(
                _fits(piece[0], wanted, cased=name.cased)
                for piece, wanted in zip(window, name.pieces, strict=True)
            )
            and all(_joined(left[0], text[left[2] : right[1]]) for left, right in itertools.pairwise(window))
        ):
            return name.concept, size
    return None, 0


def _joined(piece: str, gap: str) -> bool:
    """Returns whether `gap`, what stands after `piece`, may stand within a name: a blank or hyphen, no end of a sentence."""
    return bool(_WITHIN_NAME.fullmatch(gap)) and (
        len(piece) <= _LONGEST_TITLE or not _SENTENCE_END.match(gap)
    )


def _fits(piece: str, wanted: str, *, cased: bool) -> bool:
    return piece in (wanted, wanted + "s") if cased else singular(piece) == wanted


def _local_names(text: str, table: Concepts) -> dict[str, str]:
    """Returns short form -> concept for the abbreviations that `text` explains with a name of the table."""
    found = {}
    for short, long in find_abbreviations(text).items():
        mentions = list(_whole(long, table))
        if mentions and short.isalnum():
            found[short] = mentions[-1]
    return found


def _whole(long: str, table: Concepts) -> Iterator[str]:
    """Yields the concept whose name is all of `long`."""
    pieces = pieces_of(long)
    concept, used = _longest(long, pieces, 0, table, {}) if pieces else (None, 0)
    if concept is not None and used == len(pieces):
        yield concept


def _mention(concept: str, start: int, end: int, table: Concepts) -> Mention:
    return Mention(concept, table.by_id[concept].kind, start, end, table.wider[concept])
