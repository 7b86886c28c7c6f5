"""Cuts a sentence into words that know their places in the text, and writes words back as text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

_WORD = re.compile(
    r"(?<![\w.])\.\d+%?|(?:[A-Za-z]\.){2,}|\d+(?:[.,]\d+)+%?|[^\W_](?:[^\W_]"
    r"|[-\u2010\u2011'\u2019./+&](?=[^\W_])|,(?=\d{3}\b))*[%+]?|\S"
)
_CLOSING = {")": "(", "]": "[", "}": "{", "”": "“"}
_NO_SPACE_BEFORE = frozenset(".,;:!?)]}%”\u2019")


@dataclass(frozen=True)
class Word:
    """A word or punctuation mark of a statement; `start`, `end` are its span in the text.

    A `borrowed` word comes from another place, so that the statement can be read alone, and takes no part in
    the statement's span. `inside` words are within brackets or quotes; no rule splits there.
    """

    text: str
    start: int
    end: int
    spaced: bool = True
    borrowed: bool = False
    inside: bool = False

    @cached_property
    def lower(self) -> str:
        """The text in lower case, with a plain apostrophe."""
        return self.text.lower().replace("\u2019", "'")


Phrase = tuple[Word, ...]


def read_words(text: str, start: int = 0, end: int | None = None) -> Phrase:
    """Returns the words of `text[start:end]`, in order; nothing but white space is left out."""
    found = _WORD.finditer(text, start, len(text) if end is None else end)
    words = [
        Word(word[0], *word.span(), spaced=word.start() > start and text[word.start() - 1].isspace())
        for word in found
    ]
    for first, last in _bracketed(words):
        words[first : last + 1] = [replace(word, inside=True) for word in words[first : last + 1]]
    return tuple(words)


def _bracketed(words: Sequence[Word]) -> list[tuple[int, int]]:
    """Returns the first and last index of each outermost bracket or quotation; unpaired marks are none."""
    pairs: list[tuple[int, int]] = []
    opened: list[tuple[str, int]] = []
    for index, word in enumerate(words):
        closes = '"' if word.text == '"' and opened and opened[-1][0] == '"' else _CLOSING.get(word.text)
        if closes is not None and opened and opened[-1][0] == closes:
            first = opened.pop()[1]
            while pairs and pairs[-1][0] > first:
                pairs.pop()
            pairs.append((first, index))
        elif word.text in ('"', *_CLOSING.values()):
            opened.append((word.text, index))
    return pairs


def places(
    words: Sequence[Word], texts: Collection[str], start: int = 0, end: int | None = None
) -> list[int]:
    """Returns the indices from `start` to `end` of words among the lower-case `texts`, outside brackets."""
    return [
        index
        for index in range(start, len(words) if end is None else end)
        if words[index].lower in texts and not words[index].inside
    ]


def holds(words: Iterable[Word], texts: Collection[str]) -> bool:
    """Returns whether one of the lower-case `texts` is among `words`, outside brackets."""
    return any(word.lower in texts and not word.inside for word in words)


def has_pair(words: Phrase, first: str, second: str) -> bool:
    """Returns whether the words `first second` follow each other in `words`."""
    return any(a.lower == first and b.lower == second for a, b in pairwise(words))


def borrowed(words: Iterable[Word]) -> Phrase:
    """Returns `words` as another statement borrows them, without what is in round brackets."""
    return tuple(replace(word, borrowed=True) for word in without_brackets(words))


def without_brackets(words: Iterable[Word]) -> Phrase:
    """Returns `words` without what is in round brackets."""
    kept: list[Word] = []
    depth = 0
    for word in words:
        depth += word.inside and word.text == "("
        if not depth:
            kept.append(word)
        depth -= word.inside and word.text == ")"
    return tuple(kept)


def inserted(*texts: str, spaced: bool = True) -> Phrase:
    """Returns words that are nowhere in the text; with `spaced` off they join the word before."""
    return tuple(Word(text, -1, -1, spaced=spaced, borrowed=True) for text in texts)


def trimmed(words: Phrase) -> Phrase:
    """Returns `words` without what joins them to a next part: "and", "or", "but", commas, colons and dashes.

    "Nausea, vomiting, and" becomes "Nausea, vomiting". Only the end is cut; a full stop there stays.
    """
    end = len(words)
    while end and (
        words[end - 1].text in ",;:\u2013—"
        or (words[end - 1].text == "-" and words[end - 1].spaced)
        or words[end - 1].lower in ("and", "or", "but")
    ):
        end -= 1
    return words[:end]


def written(words: Sequence[Word]) -> str:
    """Returns the text of `words`, with the spaces that English has around punctuation."""
    parts: list[str] = []
    for before, word in zip((None, *words), words, strict=False):
        joined = (
            before is None or word.text in _NO_SPACE_BEFORE or (not word.spaced and before.end == word.start)
        )
        parts.append(word.text if joined else " " + word.text)
    return "".join(parts)


def span(words: Iterable[Word]) -> tuple[int, int]:
    """Returns the half-open span of the words that are not borrowed, without marks at its ends."""
    told = [word for word in words if not word.borrowed and (word.inside or any(map(str.isalnum, word.text)))]
    return min(word.start for word in told), max(word.end for word in told)
