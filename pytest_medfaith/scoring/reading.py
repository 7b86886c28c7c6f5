"""How evidence is read for a claim: the likeliest sentence, the window around it, and their similarity.

A window is a piece of evidence: some neighbouring sentences.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import partial

from pytest_medfaith.records import Chunk, Claim
from pytest_medfaith.scoring.similarity import Vectors
from pytest_medfaith.scoring.windows import (
    WINDOW_SLACK,
    WINDOW_WORDS,
    Window,
    coverage,
    evidence_sentences,
    evidence_windows,
)

Logits = tuple[float, float, float]  # entail, neutral, contradict
Text = tuple[str, str]  # evidence, claim


@dataclass(frozen=True, kw_only=True)
class ReadingSettings:
    """How a checker reads evidence; fitted with its weights and kept in its card under `reading`.

    A card may leave out any of these. The defaults are those of the shipped checkers; docs/training.md tells
    how the numbers were found.

    Attributes:
        long_words: a chunk with more words is long. In a long chunk a single sentence may decide, because the
            model may miss a proof among other sentences. A long chunk on another matter is not read.
        window_words: the most words of a window of whole sentences.
        window_slack: a chunk of up to `window_slack * window_words` words is a single window.
        word_weight: the weight of a sentence's share of the claim's words, added to its cosine, when the best
            sentence is chosen. bench/window_choice.py measures how often the choice decides the claim.
        sentence_share: the share of a window's logits that comes from its best sentence read alone, 0 to 1.
            The sentences around a proof blur it, and some proofs need them. 0.3 against 0: macro-F1 0.574 ->
            0.650 on answers (n 390, rules off).
        sentence_discount: is subtracted from the cosine of the best sentence before it is compared with that
            of the whole chunk. A sentence is more similar to a claim than the text around it, but a proof at
            the end of a text on other matters must count.
        window_similarity: with at least this similarity the window is read too. bench/reading.py tells what
            that costs.
        least_similarity: with less similarity nothing is read of a long chunk.
        unread_logits: entail, neutral and contradict of a chunk of which nothing is read.
        joined_sentences: the most sentences that are joined for a claim that no chunk decides. A claim that
            needs four is no single claim.
        joined_gain: the least share of the claim's content words that each further sentence adds; a smaller
            share is chance.
        doubt: how much of the way from the threshold to 1 a refutation may lie and still be a doubt, 0 to 1.
    """

    long_words: int = 150
    window_words: int = WINDOW_WORDS
    window_slack: float = WINDOW_SLACK
    word_weight: float = 0.15
    sentence_share: float = 0.3
    sentence_discount: float = 0.15
    window_similarity: float = 0.33
    least_similarity: float = 0.15
    unread_logits: Logits = (-3.0, 3.0, -3.0)
    joined_sentences: int = 3
    joined_gain: float = 0.15
    doubt: float = 0.5

    def __post_init__(self) -> None:
        """Raises ValueError for numbers that are not finite or out of range."""
        numbers = {each.name: getattr(self, each.name) for each in fields(self)}
        for name, value in numbers.items():
            if not all(map(math.isfinite, value if name == "unread_logits" else (value,))):
                raise ValueError(f"{name} is {value!r}, expected finite numbers")
        for name in ("sentence_share", "joined_gain", "doubt"):
            if not 0 <= numbers[name] <= 1:
                raise ValueError(f"{name} is {numbers[name]!r}, expected a share from 0 to 1")
        if self.window_words < 1:
            raise ValueError(f"window_words is {self.window_words!r}, expected a number of 1 or more")

    @property
    def differing(self) -> str:
        """What differs from the defaults, for signatures: "|doubt=0.4"; "" for the defaults."""
        return "".join(
            f"|{each.name}={getattr(self, each.name)!r}"
            for each in fields(self)
            if getattr(self, each.name) != each.default
        )


AS_SHIPPED = ReadingSettings()


def texts_compared(claim: Claim, chunk: Chunk) -> Iterator[str]:
    """Yields what the encoder reads of a pair: the claim, the chunk with its title, its sentences."""
    yield claim.in_context
    yield _opening(chunk) + chunk.text
    for sentence in evidence_sentences(chunk.text):
        yield sentence.text


def as_read(claim: Claim, chunk: Chunk, window: Window) -> Text:
    """Returns (evidence, claim) as a model reads them: `window` of `chunk`, and the claim with its context.

    A window that does not begin the chunk gets its title, which often names the subject: "Iron tablets. They
    are taken on an empty stomach."
    """
    return (_opening(chunk) if window.start > 0 else "") + window.text, claim.in_context


def _opening(chunk: Chunk) -> str:
    """Returns the chunk's title as a first sentence, "Iron tablets. "; "" without a title."""
    return f"{chunk.title}. " if chunk.title else ""


def similarity_of(
    claim: Claim, chunk: Chunk, sentence: tuple[int, int], vectors: Vectors, settings: ReadingSettings
) -> float:
    """Returns the cosine of claim and chunk or, if higher, that of claim and sentence less a discount."""
    whole = vectors.cosine(claim.in_context, _opening(chunk) + chunk.text)
    best = vectors.cosine(claim.in_context, chunk.text[slice(*sentence)])
    return max(whole, best - settings.sentence_discount)


def best_sentence(
    claim: str, text: str, *, cosine: Callable[[str], float], settings: ReadingSettings = AS_SHIPPED
) -> Window | None:
    """Returns the sentence of `text` that likeliest decides the claim; None for a blank text.

    In a tie the earlier sentence wins.

    Args:
        claim: the text of the claim.
        text: the text of a chunk.
        cosine: returns the cosine of a sentence and the claim.
        settings: how the evidence is read.
    """
    likeness = partial(likeness_of, claim=claim, of=text, cosine=cosine, settings=settings)
    return max(evidence_sentences(text), key=likeness, default=None)


def likeness_of(
    sentence: Window, *, claim: str, of: str, cosine: Callable[[str], float], settings: ReadingSettings
) -> float:
    """Returns how likely a sentence is to decide the claim: its cosine and its share of the claim's words.

    Args:
        sentence: a sentence of `of`.
        claim: the text of the claim.
        of: the text of the chunk.
        cosine: returns the cosine of a sentence and the claim.
        settings: how the evidence is read.
    """
    return cosine(sentence.text) + settings.word_weight * coverage(claim, sentence.text, of=of)


def window_around(sentence: Window, claim: str, *, of: str, settings: ReadingSettings = AS_SHIPPED) -> Window:
    """Returns the window of the text `of` around `sentence` that covers most of the claim.

    The earlier window in a tie.
    """
    windows = evidence_windows(of, settings.window_words, settings.window_slack)
    around = [window for window in windows if window.holds(sentence.start, sentence.end)]
    return max(around, key=lambda window: coverage(claim, window.text, of=of))
