"""Finds the terms of a rulebook in a text, all at once: phrases, and concepts as "@id"."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_medfaith.english.stems import singulars
from pytest_medfaith.english.words import pieces_of

if TYPE_CHECKING:
    from pytest_medfaith.entities.linker import Mention

Span = tuple[int, int]

_WITHIN = re.compile(r"[\s\-‐‑–]{1,2}|[.'’/]|%\s|,\s")


@dataclass(frozen=True)
class _Phrase:
    """A phrase of a rulebook.

    Attributes:
        words: its words in lower case.
        gaps: the texts between them.
        term: the phrase as the rulebook writes it.
    """

    words: tuple[str, ...]
    gaps: tuple[str, ...]
    term: str


class TermIndex:
    """The phrases of a rulebook by their first word, so that a text is read once for all rules.

    Args:
        terms: the terms of all rules; "@id" needs no index.
    """

    def __init__(self, terms: Iterable[str]) -> None:
        self._phrases: dict[str, list[_Phrase]] = {}
        for term in dict.fromkeys(terms):
            if term.startswith("@"):
                continue
            found = pieces_of(term)
            if found:
                gaps = tuple(term[left[2] : right[1]] for left, right in itertools.pairwise(found))
                phrase = _Phrase(tuple(piece[0].lower() for piece in found), gaps, term)
                self._phrases.setdefault(phrase.words[0], []).append(phrase)

    def places(self, text: str, mentions: Sequence[Mention]) -> Mapping[str, list[Span]]:
        """Returns {term: places} for the rulebook's terms in `text`; terms that it lacks are left out.

        Args:
            text: a text.
            mentions: the concepts that it names. Each gives its "@id", and those of its classes.
        """
        found: dict[str, list[Span]] = {}
        for mention in mentions:
            for concept in (mention.concept, *mention.wider):
                found.setdefault(f"@{concept}", []).append((mention.start, mention.end))
        pieces = [(piece.lower(), start, end) for piece, start, end in pieces_of(text)]
        for index, (word, start, _end) in enumerate(pieces):
            for first in singulars(word):
                for phrase in self._phrases.get(first, ()):
                    end = _matched(phrase, pieces, index, text)
                    if end is not None:
                        found.setdefault(phrase.term, []).append((start, end))
        return found


def _matched(phrase: _Phrase, pieces: Sequence[tuple[str, int, int]], index: int, text: str) -> int | None:
    """Returns the end of the phrase at piece `index`, or None; only its last word may be a plural."""
    window = pieces[index : index + len(phrase.words)]
    if len(window) < len(phrase.words):
        return None
    *inner, last = zip(window, phrase.words, strict=True)
    if any(piece[0] != word for piece, word in inner) or last[1] not in singulars(last[0][0]):
        return None
    for (left, right), gap in zip(itertools.pairwise(window), phrase.gaps, strict=True):
        between = text[left[2] : right[1]]
        if between != gap and not _WITHIN.fullmatch(between):
            return None
    return window[-1][2]


def blotted(text: str, places: Sequence[Span], *, sign: str = "#") -> str:
    """Returns `text` with `sign` for each character of `places`, so that names neither advise nor warn.

    "Avoid aspirin." becomes "Avoid #######."
    """
    for start, end in places:
        text = text[:start] + sign * (end - start) + text[end:]
    return text
