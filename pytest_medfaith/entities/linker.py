"""Finds medical concepts in a text by name, offline: "Tylenol" is the concept "acetaminophen".

The names are those of the concept table; the longest name at a place wins. An abbreviation that the text
explains means what its long form means.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
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
# Letters of a word before a full stop in a name: "St. John's wort" is a name, "the heart. Failure" is none.
_LONGEST_TITLE = 3
# Letters of AF, MI, MS and COPD. They are names only in capitals, since some of them are also English words.
_LONGEST_CASED = 5


@dataclass(frozen=True, kw_only=True)
class Concept(Record):
    """A medical concept, such as a drug, a class of drugs or a disease.

    Attributes:
        id: its id.
        kind: one of KINDS, "drug" for example.
        names: all its names.
        parents: the ids of the wider concepts that it belongs to, such as the class of a drug.
        near: those of its names that do not always mean the same: a sister drug, a brand with a single use,
            or letters such as MS. They are no synonyms.
    """

    id: str
    kind: str
    names: tuple[str, ...]
    parents: tuple[str, ...] = ()
    near: tuple[str, ...] = ()


@dataclass(frozen=True)
class Mention:
    """A place where a text names a concept.

    Attributes:
        concept: the id of the concept.
        kind: one of KINDS.
        start: the first character of the name.
        end: the character after the name.
        wider: the ids of all concepts that it belongs to.
        exact: True if the name always means this concept, so that another exact name means the same.
    """

    concept: str
    kind: str
    start: int
    end: int
    wider: frozenset[str] = field(default_factory=frozenset)
    exact: bool = False

    def is_related(self, other: Mention) -> bool:
        """Returns whether both name the same concept, or one is a kind of the other."""
        return self.concept == other.concept or self.concept in other.wider or other.concept in self.wider


@dataclass(frozen=True)
class _Name:
    """A name of a concept.

    Attributes:
        pieces: its pieces; as written if `cased`, else singular and in lower case.
        concept: the id of the concept.
        cased: True where capitals matter: "MS".
        exact: as in `Mention`.
    """

    pieces: tuple[str, ...]
    concept: str
    cased: bool
    exact: bool


@dataclass(frozen=True)
class Concepts:
    """A concept table, ready for searching.

    Attributes:
        by_id: {id: concept}.
        names: {first piece of a name, singular: the names that begin with it, longest first}.
        wider: {id: ids of all concepts that the concept belongs to}.
    """

    by_id: Mapping[str, Concept]
    names: Mapping[str, Sequence[_Name]]
    wider: Mapping[str, frozenset[str]]


@lru_cache(maxsize=8)
def load_concepts(*paths: Path) -> Concepts:
    """Returns the shipped table together with the tables at `paths`.

    A row of a table is `{"id": ..., "kind": ..., "names": [...], "near": [...], "parents": [...]}`.

    Raises:
        DataError: an unknown kind or parent, a concept without a name, a near name that is none of its names,
            or an id or name that two concepts have.
    """
    by_id: dict[str, Concept] = {}
    for path in (TABLE, *paths):
        for concept in read_records(path, Concept):
            if concept.id in by_id:
                raise DataError(
                    f"{path}: another concept, perhaps of the shipped table, has the id {concept.id!r}; give "
                    "yours another id"
                )
            if concept.kind not in KINDS:
                raise DataError(
                    f"{path}: concept {concept.id!r} has kind {concept.kind!r}, expected one of "
                    f"{', '.join(KINDS)}"
                )
            if unknown := sorted(set(concept.near) - set(concept.names)):
                raise DataError(
                    f"{path}: concept {concept.id!r} has the near name {unknown[0]!r}, "
                    "expected one of its names"
                )
            by_id[concept.id] = concept
    for concept in by_id.values():
        missing = next((parent for parent in concept.parents if parent not in by_id), None)
        if missing is not None:
            raise DataError(
                f"concept {concept.id!r} names the parent {missing!r}, which no table holds; add it or "
                f"correct its id"
            )
    wider = {id_: frozenset(_ancestors(id_, by_id)) for id_ in by_id}
    return Concepts(by_id, _by_first_piece(by_id.values()), wider)


def _ancestors(id_: str, by_id: Mapping[str, Concept]) -> set[str]:
    """Returns the ids of all concepts that the concept `id_` belongs to, directly or not."""
    found: set[str] = set()
    waiting = list(by_id[id_].parents)
    while waiting:
        parent = waiting.pop()
        if parent not in found:
            found.add(parent)
            waiting.extend(by_id[parent].parents)
    return found


def _by_first_piece(concepts: Iterable[Concept]) -> dict[str, list[_Name]]:
    """Returns the names of all concepts as in `Concepts.names`.

    Raises:
        DataError: a name without a letter or digit, or a name of two concepts.
    """
    owner: dict[tuple[str, ...], str] = {}
    found: dict[str, list[_Name]] = {}
    for concept in concepts:
        near = {_pieces_of_name(text) for text in concept.near}
        for text in concept.names:
            pieces, cased = _pieces_of_name(text)
            name = _Name(pieces, concept.id, cased, exact=(pieces, cased) not in near)
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


def _pieces_of_name(text: str) -> tuple[tuple[str, ...], bool]:
    """Returns (pieces of a name, whether its capitals matter)."""
    words = [piece for piece, _, _ in pieces_of(text)]
    cased = len(words) == 1 and is_letters(words[0])
    return tuple(words if cased else map(singular, words)), cased


def is_letters(name: str) -> bool:
    """Returns whether a name is capitals such as AF, MI or COPD: up to five letters, two of them capitals."""
    return len(name) <= _LONGEST_CASED and sum(map(str.isupper, name)) >= 2


def link(text: str, *, concepts: Concepts | None = None) -> list[Mention]:
    """Returns the mentions of concepts in `text`, in order, without overlaps; the longest name wins.

    A short form that the text explains ("polycystic ovary syndrome (PCOS)") means its long form everywhere in
    the text. The time is linear in the length of the text.

    Args:
        text: a text.
        concepts: the concept table; the shipped table where None.
    """
    table = concepts or load_concepts()
    pieces = pieces_of(text)
    short_forms = _short_forms(text, table)
    mentions: list[Mention] = []
    place = 0
    while place < len(pieces):
        name, used = _longest(text, pieces, place, table, short_forms)
        if name is not None:
            start, end = pieces[place][1], pieces[place + used - 1][2]
            concept = name.concept
            kind, wider = table.by_id[concept].kind, table.wider[concept]
            mentions.append(Mention(concept, kind, start, end, wider, exact=name.exact))
        place += max(used, 1)
    return mentions


def _short_forms(text: str, table: Concepts) -> dict[str, _Name]:
    """Returns {short form: name} for the abbreviations that `text` explains with a name of the table."""
    found = {}
    for short, long in find_abbreviations(text).items():
        pieces = pieces_of(long)
        name, used = _longest(long, pieces, 0, table, {}) if pieces else (None, 0)
        if name is not None and used == len(pieces) and short.isalnum():
            found[short] = name
    return found


def _longest(
    text: str,
    pieces: Sequence[tuple[str, int, int]],
    place: int,
    table: Concepts,
    short_forms: Mapping[str, _Name],
) -> tuple[_Name | None, int]:
    """Returns (longest name that begins at piece `place`, its number of pieces); (None, 0) for no name."""
    written = pieces[place][0]
    if written in short_forms:
        return short_forms[written], 1
    for name in table.names.get(singular(written), ()):
        size = len(name.pieces)
        window = pieces[place : place + size]
        if (
            len(window) == size
            and all(
                piece in (wanted, wanted + "s") if name.cased else singular(piece) == wanted
                for (piece, _, _), wanted in zip(window, name.pieces, strict=True)
            )
            and all(
                _continues_name(left[0], text[left[2] : right[1]])
                for left, right in itertools.pairwise(window)
            )
        ):
            return name, size
    return None, 0


def _continues_name(piece: str, gap: str) -> bool:
    """Returns whether a name may continue after `piece` and `gap`: after a blank, not after a sentence."""
    within = _WITHIN_NAME.fullmatch(gap) is not None
    return within and (len(piece) <= _LONGEST_TITLE or not _SENTENCE_END.match(gap))
