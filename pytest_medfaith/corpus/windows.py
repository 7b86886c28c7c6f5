"""Cuts a section into overlapping windows of whole sentences; a window becomes a chunk."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pytest_medfaith import defaults
from pytest_medfaith.corpus.tokens import token_offsets
from pytest_medfaith.english.sentences import whole_sentences

CountTokens = Callable[[str], list[tuple[int, int]]]
# A sentence longer than a window is cut into pieces of a quarter of a window, so that windows overlap inside
# it too.
_PIECES = 4
_ANY_SENTENCES = 1_000_000  # sentences of a window that only its characters limit


@dataclass(frozen=True, kw_only=True)
class WindowSize:
    """How large a window may be.

    Attributes:
        size: tokens of a window, at most; 512 are about what a BERT encoder reads at once. It counts more
            than `min_sent`.
        stride: tokens that neighbouring windows share, at most: whole sentences, and at most half of a
            window's sentences. (The tokenizers library uses this word for overlap.)
        min_sent: sentences of a window, at least; a section with fewer is a single window.
        max_sent: sentences of a window, at most.

    Raises:
        ValueError: a value out of its range; the message names the range.
    """

    size: int = defaults.SIZE
    stride: int = defaults.STRIDE
    min_sent: int = defaults.MIN_SENTENCES
    max_sent: int = defaults.MAX_SENTENCES

    def __post_init__(self) -> None:
        """Refuses values out of their ranges (ValueError)."""
        if self.size < 1:
            raise ValueError(
                f"size is {self.size} tokens, expected at least 1; 400 to 700 suit most encoders"
            )
        if not 0 <= self.stride < self.size:
            raise ValueError(
                f"stride is {self.stride} tokens, expected 0 to size - 1 = {self.size - 1}; it is the "
                "overlap of neighbouring windows"
            )
        if not 1 <= self.min_sent <= self.max_sent:
            raise ValueError(
                f"min_sent is {self.min_sent} and max_sent {self.max_sent}, expected "
                "1 <= min_sent <= max_sent"
            )


@dataclass(frozen=True, kw_only=True)
class CharacterSize(WindowSize):
    """How large a window may be, counted in characters in place of tokens.

    A document is then cut from its beginning to its end, across sections.

    Attributes:
        size: characters of a window, at most; no more than 1,000.
        stride: characters that neighbouring windows share, at most.
        min_sent: see `WindowSize`.
        max_sent: see `WindowSize`; by default so large that only characters count.
    """

    size: int = defaults.CHARACTERS
    stride: int = defaults.CHARACTER_STRIDE
    min_sent: int = 1
    max_sent: int = _ANY_SENTENCES

    def __post_init__(self) -> None:
        """Refuses values out of their ranges (ValueError)."""
        if self.size > defaults.CHARACTERS:
            raise ValueError(
                f"size is {self.size} characters, expected at most {defaults.CHARACTERS}; for longer chunks "
                "cut by sections"
            )
        super().__post_init__()


@dataclass(frozen=True)
class _Unit:
    """A sentence, or a piece of a sentence that is longer than a window.

    Attributes:
        start: its first character in the text.
        end: the character behind its last.
        tokens: how many tokens it has, or characters where these are counted.
    """

    start: int
    end: int
    tokens: int


def windows(
    text: str, *, shape: WindowSize | None = None, count_tokens: CountTokens = token_offsets
) -> list[tuple[int, int]]:
    """Returns the (start, end) of each window of `text`, in order: characters, half-open.

    Together they hold every sentence. A window begins and ends with a sentence, unless a sentence is longer
    than a window.

    Args:
        text: a section, normalised.
        shape: how large a window may be; None takes the defaults.
        count_tokens: returns the (start, end) of a text's tokens; by default with the shipped tokenizer.
    """
    shape = shape or WindowSize()
    if isinstance(shape, CharacterSize):
        units = _with_gaps(_units(text, range(len(text)), shape.size))
    else:
        units = _units(text, [start for start, _ in count_tokens(text)], shape.size)
    spans = []
    first = 0
    while units:
        last = _last_unit(units, first, shape)
        spans.append((units[first].start, units[last].end))
        if last == len(units) - 1:
            break
        first = _next_first(units, first, last, shape)
    return spans


def _with_gaps(units: list[_Unit]) -> list[_Unit]:
    """Returns units counted in characters, each with the white space behind it: a window holds it too."""
    return [replace(unit, tokens=after.start - unit.start) for unit, after in pairwise(units)] + units[-1:]


def _units(text: str, starts: Sequence[int], size: int) -> list[_Unit]:
    """Returns the sentences of `text`; one of more than `size` tokens is cut into pieces.

    `starts` holds the first character of each token.
    """
    units: list[_Unit] = []
    for start, end in whole_sentences(text):
        low, high = bisect_left(starts, start), bisect_left(starts, end)
        if high - low <= size:
            units.append(_Unit(start, end, high - low))
        else:
            units += _pieces(text, starts, (low, high), end, max(1, size // _PIECES))
    return units


def _pieces(text: str, starts: Sequence[int], span: tuple[int, int], end: int, size: int) -> list[_Unit]:
    """Returns a sentence in pieces of at most `size` tokens, cut at a space where there is one.

    Args:
        text: that the sentence is in.
        starts: the first character of each token of `text`.
        span: first token of the sentence, and the token behind its last.
        end: the character behind the sentence.
        size: tokens of a piece, at most.
    """
    pieces = []
    low, high = span
    while high - low > size:
        at_space = (token for token in range(low + size, low, -1) if text[starts[token] - 1].isspace())
        cut = next(at_space, low + size)
        piece = text[starts[low] : starts[cut]].rstrip()
        pieces.append(_Unit(starts[low], starts[low] + len(piece), cut - low))
        low = cut
    pieces.append(_Unit(starts[low], end, high - low))
    return pieces


def _last_unit(units: list[_Unit], first: int, shape: WindowSize) -> int:
    """Returns the place of the last unit that still fits into the window that begins with unit `first`."""
    last, total = first, units[first].tokens
    while (
        last + 1 < len(units)
        and last + 1 - first < shape.max_sent
        and total + units[last + 1].tokens <= shape.size
    ):
        last += 1
        total += units[last].tokens
    return last


def _next_first(units: list[_Unit], first: int, last: int, shape: WindowSize) -> int:
    """Returns the place of the first unit of the window that follows the window from `first` to `last`.

    That window begins with the overlap. The overlap shrinks where a new unit would not fit behind it, and
    grows where fewer than `min_sent` units are left.
    """
    new = last + 1
    start, total = new, 0
    most = (new - first) // 2
    while start - 1 > first and new - start < most and total + units[start - 1].tokens <= shape.stride:
        start -= 1
        total += units[start].tokens
    while start < new and total + units[new].tokens > shape.size:
        total -= units[start].tokens
        start += 1
    while (
        start - 1 > first
        and len(units) - start < shape.min_sent
        and total + units[new].tokens + units[start - 1].tokens <= shape.size
    ):
        start -= 1
        total += units[start].tokens
    return start
