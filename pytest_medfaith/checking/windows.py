"""Cuts evidence into sentences and overlapping windows of them, and picks those that speak of a claim."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pytest_medfaith.english.sentences import sentence_spans, sentences_of
from pytest_medfaith.english.words import content_words

SHORT_WORDS = (
    150  # of a text of more, one sentence may speak alone, and one that is far from the claim is not read
)
WINDOW_WORDS = 200  # half as many again are one window: what that brings is in docs/training.md
# What the words that a sentence shares with the claim count beside its cosine. bench/window_choice.py measures how often the choice decides the claim.
COVERED = 0.15


@dataclass(frozen=True)
class Window:
    """Neighbouring sentences of an evidence text; `start`, `end` is their span in it."""

    text: str
    start: int
    end: int


@lru_cache(maxsize=16_384)
def evidence_sentences(text: str) -> tuple[Window, ...]:
    """Returns the sentences of `text`, each as a window of its own. One longer than a window, as in a table without stops, is cut between words."""
    spans = [piece for span in sentence_spans(text) for piece in _pieces(text, span)]
    return tuple(Window(text[start:end], start, end) for start, end in spans)


@lru_cache(maxsize=16_384)
def evidence_windows(text: str) -> tuple[Window, ...]:
    """Returns windows of whole sentences of up to `WINDOW_WORDS` words, each starting half a window after the one before.

    A text that fits is one window.
    """
    sentences = evidence_sentences(text)
    if not sentences:
        return ()
    lengths = [len(sentence.text.split()) for sentence in sentences]
    if sum(lengths) <= WINDOW_WORDS * 1.5:
        return (_joined(text, sentences),)
    windows: list[Window] = []
    first = 0
    while first < len(sentences):
        last, total = first, lengths[first]
        while last + 1 < len(sentences) and total + lengths[last + 1] <= WINDOW_WORDS:
            last += 1
            total += lengths[last]
        windows.append(_joined(text, sentences[first : last + 1]))
        if last + 1 >= len(sentences):
            break
        first = max(first + 1, first + (last - first + 1) // 2)
    return tuple(windows)


def _joined(text: str, sentences: Sequence[Window]) -> Window:
    start, end = sentences[0].start, sentences[-1].end
    return Window(text[start:end], start, end)


def _pieces(text: str, span: tuple[int, int]) -> list[tuple[int, int]]:
    """Returns `span` itself, or its pieces of `WINDOW_WORDS` words each where it holds many more."""
    found = [match.span() for match in re.compile(r"\S+").finditer(text, *span)]
    if len(found) <= WINDOW_WORDS * 1.5:
        return [span]
    return [
        (found[i][0], found[min(i + WINDOW_WORDS, len(found)) - 1][1])
        for i in range(0, len(found), WINDOW_WORDS)
    ]


@lru_cache(maxsize=16_384)
def word_weights(text: str) -> Mapping[str, float]:
    """Returns content word -> log((n + 1) / (df + 0.5)) over the n sentences of `text`: what all of them say tells them apart least.

    The weights depend on this text alone, so that a pair's score never changes with what else is scored beside it.
    """
    sentences = list(map(content_words, sentences_of(text)))
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


def is_long(text: str) -> bool:
    """Returns whether `text` has so many words that a proof can be lost among them, and that it is worth reading only where it is near."""
    return len(text.split()) > SHORT_WORDS


def best_sentence(claim: str, text: str, *, cosine: Callable[[str], float]) -> Window | None:
    """Returns the sentence of `text` that is nearest to the claim, by its cosine, and covers it best; ties go to the earlier. A blank text has none."""
    return max(
        evidence_sentences(text),
        key=lambda sentence: cosine(sentence.text) + COVERED * coverage(claim, sentence.text, of=text),
        default=None,
    )


def window_around(sentence: Window, claim: str, *, of: str) -> Window:
    """Returns the window of the text `of` that holds `sentence` and covers the claim best; ties go to the earlier one."""
    around = [
        window
        for window in evidence_windows(of)
        if window.start <= sentence.start and sentence.end <= window.end
    ]
    return max(around, key=lambda window: coverage(claim, window.text, of=of))


def sentences_around(sentence: Window, *, of: str, words: int) -> Window:
    """Returns `sentence` with its neighbours in the text `of`, as many as fit into so many words, the nearer ones first.

    The sentence before is taken ahead of the sentence after: it names what "it" and "this dose" mean. A text that has hardly more
    words than that is one window.
    """
    sentences = evidence_sentences(of)
    lengths = [len(each.text.split()) for each in sentences]
    if sum(lengths) <= 1.3 * words:
        return _joined(of, sentences)
    first = last = sentences.index(sentence)
    total, grew = lengths[first], True
    while grew:
        grew = False
        if first > 0 and total + lengths[first - 1] <= words:
            first, total, grew = first - 1, total + lengths[first - 1], True
        if last + 1 < len(sentences) and total + lengths[last + 1] <= words:
            last, total, grew = last + 1, total + lengths[last + 1], True
    return _joined(of, sentences[first : last + 1])
