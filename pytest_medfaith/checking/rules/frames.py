"""Lays a claim over a sentence of evidence: which word of the one answers to which word of the other, and what is left over."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache

from pytest_medfaith.english.stems import word_key
from pytest_medfaith.english.words import (
    MAX_TOKENS,
    Sentence,
    Token,
    evidence_sentences,
    read_tokens,
    share,
    weight,
)

# Sentences that share less than this of the claim's words do not speak of it; written paraphrases of the development data share 0.4 at
# the median, so most of them are left to the model.
LEAST_SHARED = 0.4
COPY = 0.8  # from this coverage on, and
LIKE_COPY = 0.7  # with the small words alike too, the claim is the sentence with a spot changed
_DO = frozenset("do does did".split())
_OPENING = frozenset(
    "in among for when if after before with without during at by on to as while since because unlike".split()
)
_PERCENT = word_key("percent")


@dataclass(frozen=True)
class Frame:
    """A claim laid over one sentence. `pairs` maps indices of claim tokens to indices of the sentence's tokens, both in order.

    `shared` is which part of the claim's content words, by weight, stands anywhere in the sentence; `coverage` which part stands there in
    the claim's order: both 0 to 1.
    """

    claim: tuple[Token, ...]
    sentence: Sentence
    pairs: dict[int, int]
    shared: float
    coverage: float

    @property
    def likeness(self) -> float:
        """Which part of all the claim's words and numbers, small ones too, has its like in the sentence, in order: 0 to 1."""
        return sum(1 for index in self.pairs if self.claim[index].key) / max(
            1, sum(1 for token in self.claim if token.key)
        )

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Returns the characters of the evidence, half-open, that stand where the claim's tokens `start:end` stand."""
        inside = [there for here, there in self.pairs.items() if start <= here < end]
        before = max((there for here, there in self.pairs.items() if here < start), default=-1)
        after = min(
            (there for here, there in self.pairs.items() if here >= end), default=len(self.sentence.tokens)
        )
        tokens = self.sentence.tokens[
            min([before + 1, *inside]) : max([after, *(there + 1 for there in inside)])
        ]
        if not tokens:
            return self.sentence.end, self.sentence.end
        return min(token.start for token in tokens), max(token.end for token in tokens)

    def copies(self, but: Collection[int] = ()) -> bool:
        """Returns whether the claim is all but the sentence itself, its words at the indices `but` and a "does" that goes with them aside."""
        words = [index for index, token in enumerate(self.claim) if token.key and index not in but]
        words = [index for index in words if index in self.pairs or self.claim[index].lower not in _DO]
        likeness = sum(index in self.pairs for index in words) / max(1, len(words))
        return likeness >= LIKE_COPY and self.coverage_without(but) >= COPY

    def gaps(self) -> Iterator[tuple[range, range]]:
        """Yields, between each two neighbouring pairs and at both ends, the indices of the claim's and the sentence's words left over.

        One of the two ranges may be empty, never both.
        """
        bounds = [(-1, -1), *sorted(self.pairs.items()), (len(self.claim), len(self.sentence.tokens))]
        for (here, there), (next_here, next_there) in itertools.pairwise(bounds):
            mine, theirs = range(here + 1, next_here), range(there + 1, next_there)
            if mine or theirs:
                yield mine, theirs

    def coverage_without(self, indices: Collection[int]) -> float:
        """Returns the coverage of the claim's content words other than those at `indices`."""
        wanted = [index for index, token in enumerate(self.claim) if token.content and index not in indices]
        total = sum(weight(self.claim[index].key) for index in wanted)
        return (
            sum(weight(self.claim[index].key) for index in wanted if index in self.pairs) / total
            if total
            else 0.0
        )


@lru_cache(maxsize=4_096)
def frames(claim: str, evidence: str) -> tuple[Frame, ...]:
    """Returns the claim laid over each sentence of `evidence` that shares enough words with it, the best covered first."""
    tokens = read_tokens(claim)
    if len(tokens) > MAX_TOKENS:
        return ()
    wanted = {token.key for token in tokens if token.content}
    found = []
    for sentence in evidence_sentences(evidence):
        shared = share(wanted, sentence.keys)
        if shared >= LEAST_SHARED:
            found.append(_lay(tokens, sentence, shared))
    return _best_first(found)


def frames_in_either_order(claim: str, evidence: str) -> tuple[Frame, ...]:
    """Returns `frames`, laid over a sentence with its opening clause at the end ("in adults, it works" as "it works in adults") where that covers more."""
    return _best_first(
        max((frame, *_with_the_opening_last(frame)), key=lambda order: order.coverage)
        for frame in frames(claim, evidence)
    )


def _best_first(found: Iterable[Frame]) -> tuple[Frame, ...]:
    return tuple(sorted(found, key=lambda frame: (-frame.coverage, frame.sentence.start)))


def _with_the_opening_last(frame: Frame) -> Iterator[Frame]:
    tokens = frame.sentence.tokens
    comma = next((index for index, token in enumerate(tokens) if token.lower == ","), 0)
    if comma and tokens[0].lower in _OPENING:
        rest = tokens[comma + 1 : len(tokens) if tokens[-1].key else -1]
        yield _lay(frame.claim, replace(frame.sentence, tokens=(*rest, *tokens[:comma])), frame.shared)


def _lay(tokens: tuple[Token, ...], sentence: Sentence, shared: float) -> Frame:
    left, right = [_symbol(token) for token in tokens], [_symbol(token) for token in sentence.tokens]
    pairs = {
        block.a + offset: block.b + offset
        for block in SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks()
        for offset in range(block.size)
    }
    frame = Frame(tokens, sentence, pairs, shared, 0.0)
    return replace(frame, coverage=frame.coverage_without(()))


def _symbol(token: Token) -> str:
    """Returns what alignment compares: any number equals any other, and a percent sign the word."""
    return "#" if token.lower[0].isdigit() else _PERCENT if token.lower == "%" else token.key or token.text
