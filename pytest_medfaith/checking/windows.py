"""Cuts evidence into overlapping sentence windows and picks those that speak of a claim."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from pytest_medfaith.sentences import sentence_spans

SHORT_WORDS = 150  # a text of more is read whole or in windows only where it is near to the claim
WINDOW_WORDS = 200  # half as many again are one window: what that brings is in docs/training.md
_WORD = re.compile(r"[^\W_]+(?:[-.,/][^\W_]+)*")
_STOP = frozenset(
    "a an and are as at be been being but by can could did do does for from had has have if in into is it its may might more most must no not of on or "
    "should such than that the their them then there these they this those to was were when which who will with would you your".split()
)


@dataclass(frozen=True)
class Window:
    """Neighbouring sentences of an evidence text; `start`, `end` is their span in it."""

    text: str
    start: int
    end: int


@lru_cache(maxsize=65_536)
def content_words(text: str) -> frozenset[str]:
    """Returns the lower-case words of `text` that carry content, plural and verb endings cut so that forms meet."""
    words = (word.lower() for word in _WORD.findall(text))
    return frozenset(_stem(word) for word in words if word not in _STOP)


def _stem(word: str) -> str:
    for ending in ("ies", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


@lru_cache(maxsize=16_384)
def evidence_windows(text: str, *, words: int = WINDOW_WORDS) -> tuple[Window, ...]:
    """Returns windows of whole sentences of up to `words` words, each starting half a window after the one before.

    A text that fits is one window. A sentence longer than a window, as in a table without stops, is cut between words.
    """
    spans = [piece for span in sentence_spans(text) for piece in _pieces(text, span, words=words)]
    if not spans:
        return ()
    lengths = [len(text[start:end].split()) for start, end in spans]
    if sum(lengths) <= words * 1.5:
        return (Window(text[spans[0][0] : spans[-1][1]], spans[0][0], spans[-1][1]),)
    windows: list[Window] = []
    first = 0
    while first < len(spans):
        last, total = first, lengths[first]
        while last + 1 < len(spans) and total + lengths[last + 1] <= words:
            last += 1
            total += lengths[last]
        windows.append(Window(text[spans[first][0] : spans[last][1]], spans[first][0], spans[last][1]))
        if last + 1 >= len(spans):
            break
        first = max(first + 1, first + (last - first + 1) // 2)
    return tuple(windows)


def _pieces(text: str, span: tuple[int, int], *, words: int) -> list[tuple[int, int]]:
    """Returns `span` itself, or its pieces of `words` words each where it holds many more."""
    found = [match.span() for match in re.compile(r"\S+").finditer(text, *span)]
    if len(found) <= words * 1.5:
        return [span]
    return [(found[i][0], found[min(i + words, len(found)) - 1][1]) for i in range(0, len(found), words)]


@lru_cache(maxsize=16_384)
def word_weights(text: str) -> Mapping[str, float]:
    """Returns content word -> log((n + 1) / (df + 0.5)) over the n sentences of `text`: what all of them say tells them apart least.

    The weights depend on this text alone, so that a pair's score never changes with what else is scored beside it.
    """
    sentences = [content_words(text[start:end]) for start, end in sentence_spans(text)]
    frequency = Counter(word for words in sentences for word in words)
    return {word: math.log((len(sentences) + 1) / (count + 0.5)) for word, count in frequency.items()}


def coverage(claim: str, part: str, *, of: str) -> float:
    """Returns which share of the claim's content words that stand in the text `of`, by weight, its `part` holds: 0 to 1.

    The sums are exact: the order of a set's words differs from run to run, and with it what a plain sum rounds to and how ties fall.
    """
    weights = word_weights(of)
    wanted = content_words(claim) & weights.keys()
    total = math.fsum(weights[word] for word in wanted)
    return math.fsum(weights[word] for word in wanted & content_words(part)) / total if total > 0 else 0.0


def shared_words(claim: str, text: str) -> float:
    """Returns which share of the claim's content words `text` holds: 0 to 1; 0 for a claim without any."""
    wanted = content_words(claim)
    return len(wanted & content_words(text)) / (len(wanted) or 1)


def best_windows(claim: str, text: str, *, most: int) -> list[Window]:
    """Returns the `most` windows of `text` that cover the claim best; ties go to the earlier one."""
    return sorted(evidence_windows(text), key=lambda window: -coverage(claim, window.text, of=text))[:most]


def is_long(text: str) -> bool:
    """Returns whether `text` is more than a model reads for every claim, whatever words they share."""
    return len(text.split()) > SHORT_WORDS


def lone_sentence(claim: str, text: str) -> list[Window]:
    """Returns the best window's best sentence as a window of its own; nothing of a blank text."""
    spans = [best_sentence(claim, window, of=text) for window in best_windows(claim, text, most=1)]
    return [Window(text[start:end], start, end) for start, end in spans]


def best_sentence(claim: str, window: Window, *, of: str) -> tuple[int, int]:
    """Returns the span, in the evidence text `of`, of the window's sentence that covers the claim best."""
    spans = sentence_spans(window.text)
    start, end = max(spans, key=lambda span: coverage(claim, window.text[span[0] : span[1]], of=of))
    return window.start + start, window.start + end
