"""Cuts a sentence into words that know their places in the text, and joins words to text again."""

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
    """A word or punctuation mark of a statement.

    Attributes:
        text: the word.
        start: its first character in the text; -1 for a word that is not in it.
        end: the character after it.
        spaced: True with a blank before it.
        borrowed: True for a word from another place, added so that the statement can be read by itself. It is
            not part of the statement's span.
        inside: True within brackets or quotes, where no rule splits.
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
    """Returns the words and marks of `text[start:end]`, in order; only white space is left out.

    "Stop (now)." has "Stop", "(", "now", ")" and ".".
    """
    found = _WORD.finditer(text, start, len(text) if end is None else end)
    words = [
        Word(word[0], *word.span(), spaced=word.start() > start and text[word.start() - 1].isspace())
        for word in found
    ]
    for first, last in _bracketed(words):
        words[first : last + 1] = [replace(word, inside=True) for word in words[first : last + 1]]
    return tuple(words)


def _bracketed(words: Sequence[Word]) -> list[tuple[int, int]]:
    """Returns (first, last) index of each outermost bracket or quotation; unpaired marks do not count."""
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
    """Returns the indices in `start:end` of words that are in the lower-case `texts`, outside brackets."""
    return [
        index
        for index in range(start, len(words) if end is None else end)
        if words[index].lower in texts and not words[index].inside
    ]


def holds(words: Iterable[Word], texts: Collection[str]) -> bool:
    """Returns whether one of the lower-case `texts` is among `words`, outside brackets."""
    return any(word.lower in texts and not word.inside for word in words)


def has_pair(words: Phrase, first: str, second: str) -> bool:
    """Returns whether `first` is followed by `second` in `words`.

    In "more than five", "more" is followed by "than".
    """
    return any(a.lower == first and b.lower == second for a, b in pairwise(words))


def borrowed(words: Iterable[Word]) -> Phrase:
    """Returns `words` marked as borrowed by another statement, without what is in round brackets."""
    return tuple(replace(word, borrowed=True) for word in without_brackets(words))


def without_brackets(words: Iterable[Word]) -> Phrase:
    """Returns `words` without what is in round brackets: "Aspirin helps" for "Aspirin (a pill) helps"."""
    kept: list[Word] = []
    depth = 0
    for word in words:
        depth += word.inside and word.text == "("
        if not depth:
            kept.append(word)
        depth -= word.inside and word.text == ")"
    return tuple(kept)


def inserted(*texts: str, spaced: bool = True) -> Phrase:
    """Returns `texts` as borrowed words that are not in the text; with `spaced` off, without blanks."""
    return tuple(Word(text, -1, -1, spaced=spaced, borrowed=True) for text in texts)


def trimmed(words: Phrase) -> Phrase:
    """Returns `words` without a joining end: "and", "or", "but", commas, colons and dashes.

    "Nausea, vomiting, and" becomes "Nausea, vomiting". A full stop at the end stays.
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
    """Returns the text of `words`, with the usual blanks around punctuation."""
    parts: list[str] = []
    for before, word in zip((None, *words), words, strict=False):
        joined = (
            before is None or word.text in _NO_SPACE_BEFORE or (not word.spaced and before.end == word.start)
        )
        parts.append(word.text if joined else " " + word.text)
    return "".join(parts)


def span(words: Iterable[Word]) -> tuple[int, int]:
    """Returns the half-open span of the words that are not borrowed, without marks at its ends.

    Raises:
        ValueError: all words are borrowed.
    """
    told = [word for word in words if not word.borrowed and (word.inside or any(map(str.isalnum, word.text)))]
    return min(word.start for word in told), max(word.end for word in told)
