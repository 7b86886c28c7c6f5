"""Cuts evidence into sentences and overlapping windows, and tells which of a claim's words a part has."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pytest_medfaith import defaults
from pytest_medfaith.english.sentences import sentence_spans
from pytest_medfaith.english.words import content_words

WINDOW_WORDS, WINDOW_SLACK = 200, 1.5  # those of the shipped models; see ReadingSettings
_PIECE_WORDS = (
    200  # words of a piece that is cut from a sentence without end, such as a table without full stops
)


@dataclass(frozen=True)
class Window:
    """Neighbouring sentences of an evidence text.

    Attributes:
        text: their text.
        start: the first character in the evidence.
        end: the character after the last.
    """

    text: str
    start: int
    end: int

    def holds(self, start: int, end: int) -> bool:
        """Returns whether the span `start:end` lies within this window."""
        return self.start <= start and end <= self.end


@lru_cache(maxsize=defaults.PASSAGES_KEPT)
def evidence_sentences(text: str) -> tuple[Window, ...]:
    """Returns the sentences of `text` as windows; one of more than 300 words is cut into pieces of 200."""
    spans: list[tuple[int, int]] = []
    for span in sentence_spans(text):
        words = [match.span() for match in re.compile(r"\S+").finditer(text, *span)]
        if len(words) <= 1.5 * _PIECE_WORDS:
            spans.append(span)
            continue
        pieces = [words[i : i + _PIECE_WORDS] for i in range(0, len(words), _PIECE_WORDS)]
        spans += [(piece[0][0], piece[-1][1]) for piece in pieces]
    return tuple(Window(text[start:end], start, end) for start, end in spans)


@lru_cache(maxsize=defaults.PASSAGES_KEPT)
def evidence_windows(text: str, words: int = WINDOW_WORDS, slack: float = WINDOW_SLACK) -> tuple[Window, ...]:
    """Returns windows of whole sentences; each starts half a window after the window before it.

    Args:
        text: the evidence.
        words: the most words of a window. A longer sentence is a window by itself.
        slack: a text of up to `slack * words` words is a single window.
    """
    sentences = evidence_sentences(text)
    if not sentences:
        return ()
    lengths = [len(sentence.text.split()) for sentence in sentences]
    if sum(lengths) <= slack * words:
        return (_joined(text, sentences),)
    windows: list[Window] = []
    first = 0
    while first < len(sentences):
        last, total = first, lengths[first]
        while last + 1 < len(sentences) and total + lengths[last + 1] <= words:
            last += 1
            total += lengths[last]
        windows.append(_joined(text, sentences[first : last + 1]))
        if last + 1 >= len(sentences):
            break
        first = max(first + 1, first + (last - first + 1) // 2)
    return tuple(windows)


def sentences_around(sentence: Window, *, of: str, words: int, slack: float) -> Window:
    """Returns `sentence` with its neighbours in the text `of`, the nearer first, up to `words` words.

    The sentence before is added ahead of the sentence after, because it names what "it" and "this dose" mean.
    A text of up to `slack * words` words is a single window.
    """
    sentences = evidence_sentences(of)
    lengths = [len(each.text.split()) for each in sentences]
    if sum(lengths) <= slack * words:
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


def _joined(text: str, sentences: Sequence[Window]) -> Window:
    """Returns the window from the first to the last of `sentences`."""
    start, end = sentences[0].start, sentences[-1].end
    return Window(text[start:end], start, end)


@lru_cache(maxsize=defaults.PASSAGES_KEPT)
def word_weights(text: str) -> Mapping[str, float]:
    """Returns {content word: weight} of `text`: log((n + 1) / (df + 0.5)).

    n is the number of its sentences, of which df have the word. A word in every sentence does not tell
    sentences apart, so its weight is least. The weights depend only on this text: a pair's score never
    changes with other pairs. {} for a text without content words.
    """
    sentences = [content_words(text[start:end]) for start, end in sentence_spans(text)]
    frequency = Counter(word for words in sentences for word in words)
    return {word: math.log((len(sentences) + 1) / (count + 0.5)) for word, count in frequency.items()}


def coverage(claim: str, part: str, *, of: str) -> float:
    """Returns the share, by weight, of the claim's words in the text `of` that `part` has: 0 to 1.

    The sums are exact (`math.fsum`). A set's words have a different order in each run. Plain sums would round
    differently, and ties between sentences would be decided differently.
    """
    weights = word_weights(of)
    wanted = content_words(claim) & weights.keys()
    total = math.fsum(weights[word] for word in wanted)
    return math.fsum(weights[word] for word in wanted & content_words(part)) / total if total > 0 else 0.0


def shared_words(claim: str, text: str) -> float:
    """Returns the share of the claim's content words that `text` has, 0 to 1; 0 for a claim without any.

    Of "Statins lower cholesterol.", "A statin lowers blood pressure." has two words of three: 0.67.
    """
    wanted = content_words(claim)
    return len(wanted & content_words(text)) / (len(wanted) or 1)
