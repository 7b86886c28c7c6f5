"""Aligns a claim with a sentence of evidence: which words correspond, and which are left over.

"Statins increase the risk" aligned with "Statins reduce the risk of stroke" pairs "statins", "the" and
"risk". In the gap between the first two pairs the claim has "increase" and the sentence "reduce".
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache

from pytest_medfaith import defaults
from pytest_medfaith.english.opposites import opposed
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

# A sentence that shares less than this of the claim's words does not speak of it. Written paraphrases of the
# development data share 0.4 at the median, so most of them are left to the model.
LEAST_SHARED = 0.4
# A claim is a copy of a sentence from this coverage on, if the small words are alike too.
COPY = 0.8
LIKE_COPY = 0.7
_DO = frozenset("do does did".split())
_OPENING = frozenset(
    """in among for when if after before with without during at by on to as while since because
    unlike""".split()
)
_PERCENT = word_key("percent")


@dataclass(frozen=True)
class OpposedWords:
    """Two words of opposite direction in the same gap between paired words: "increase" and "reduce".

    Attributes:
        claim: the index of the claim's word.
        sentence: the index of the sentence's word.
        gap: the indices of the claim's words in the gap.
        sentence_gap: the indices of the sentence's words in the gap.
    """

    claim: int
    sentence: int
    gap: range
    sentence_gap: range


@dataclass(frozen=True)
class Frame:
    """A claim aligned with a sentence.

    Attributes:
        claim: the tokens of the claim.
        sentence: the sentence.
        pairs: {index of a claim token: index of the sentence token that corresponds}, both in order.
        shared: the share of the claim's content words, by weight, that the sentence has anywhere: 0 to 1.
        coverage: the share of them that the sentence has in the claim's order: 0 to 1.
    """

    claim: tuple[Token, ...]
    sentence: Sentence
    pairs: dict[int, int]
    shared: float
    coverage: float

    @property
    def likeness(self) -> float:
        """The share of all words and numbers of the claim, small words too, that are paired: 0 to 1."""
        return sum(1 for index in self.pairs if self.claim[index].key) / max(
            1, sum(1 for token in self.claim if token.key)
        )

    def reaches(self, place: int) -> bool:
        """Returns whether the offset `place` of the evidence is inside the sentence."""
        return self.sentence.start <= place < self.sentence.end

    def indices(self, start: int, end: int) -> list[int]:
        """Returns the indices of the claim's tokens that begin in its characters `start:end`."""
        return [index for index, token in enumerate(self.claim) if start <= token.start < end]

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Returns where the evidence has the claim's tokens `start:end`: a half-open span of characters.

        For "ibuprofen" of "Ibuprofen helps" in "Aspirin helps" it is "Aspirin": what lies between the nearest
        words that claim and evidence share.
        """
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

    def copies(self, without: Collection[int] = ()) -> bool:
        """Returns whether the claim is nearly the sentence itself, apart from its tokens at `without`.

        A "does" without a pair is left out too: "does not help" is a copy of "helps" apart from "not".
        """
        words = [index for index, token in enumerate(self.claim) if token.key and index not in without]
        words = [index for index in words if index in self.pairs or self.claim[index].lower not in _DO]
        likeness = sum(index in self.pairs for index in words) / max(1, len(words))
        return likeness >= LIKE_COPY and self.coverage_without(without) >= COPY

    def gaps(self) -> Iterator[tuple[range, range]]:
        """Yields (claim's indices, sentence's indices) of the words between pairs, before and after them.

        At most one of the two ranges is empty.
        """
        bounds = [(-1, -1), *sorted(self.pairs.items()), (len(self.claim), len(self.sentence.tokens))]
        for (here, there), (next_here, next_there) in itertools.pairwise(bounds):
            mine, theirs = range(here + 1, next_here), range(there + 1, next_there)
            if mine or theirs:
                yield mine, theirs

    def opposed_words(self, *, in_copies: bool = False, within: int = MAX_TOKENS) -> Iterator[OpposedWords]:
        """Yields each word of the claim with a word of the sentence that has its place and is its opposite.

        "Statins raise the risk" against "Statins lower the risk" yields "raise" with "lower". Both words lie
        in the same gap: between the same two pairs of words that claim and sentence share.

        Args:
            in_copies: True to count words that are opposites only in near-copies, such as first and last.
            within: the most words that a gap may have, on either side.
        """
        for mine, theirs in self.gaps():
            if max(len(mine), len(theirs)) > within:
                continue
            for here, there in itertools.product(mine, theirs):
                word, other = self.claim[here].lower, self.sentence.tokens[there].lower
                if opposed(word, other, in_copies=in_copies):
                    yield OpposedWords(here, there, mine, theirs)

    def coverage_without(self, indices: Collection[int]) -> float:
        """Returns the coverage of the claim's content words without those at `indices`, 0 to 1."""
        wanted = [index for index, token in enumerate(self.claim) if token.content and index not in indices]
        total = sum(weight(self.claim[index].key) for index in wanted)
        paired = sum(weight(self.claim[index].key) for index in wanted if index in self.pairs)
        return paired / total if total else 0.0


@lru_cache(maxsize=defaults.PASSAGES_KEPT)
def frames(claim: str, evidence: str) -> tuple[Frame, ...]:
    """Returns the claim aligned with each sentence that shares enough words with it, the best coverage first.

    () for a claim of more than `MAX_TOKENS` tokens.
    """
    tokens = read_tokens(claim)
    if len(tokens) > MAX_TOKENS:
        return ()
    wanted = {token.key for token in tokens if token.content}
    shares = ((sentence, share(wanted, sentence.keys)) for sentence in evidence_sentences(evidence))
    return _best_first(
        _lay(tokens, sentence, shared) for sentence, shared in shares if shared >= LEAST_SHARED
    )


def frames_in_either_order(claim: str, evidence: str) -> tuple[Frame, ...]:
    """Returns `frames`, with the opening clause of a sentence moved to its end where that covers more.

    "In adults, it works" is read as "it works in adults".
    """
    return _best_first(
        max((frame, *_with_the_opening_last(frame)), key=lambda order: order.coverage)
        for frame in frames(claim, evidence)
    )


def _best_first(found: Iterable[Frame]) -> tuple[Frame, ...]:
    """Returns the frames with the best coverage first, then in the order of the evidence."""
    return tuple(sorted(found, key=lambda frame: (-frame.coverage, frame.sentence.start)))


def _with_the_opening_last(frame: Frame) -> Iterator[Frame]:
    """Yields the frame with the sentence's opening clause ("In adults,") at its end, if it has one."""
    tokens = frame.sentence.tokens
    comma = next((index for index, token in enumerate(tokens) if token.lower == ","), 0)
    if comma and tokens[0].lower in _OPENING:
        rest = tokens[comma + 1 : len(tokens) if tokens[-1].key else -1]
        yield _lay(frame.claim, replace(frame.sentence, tokens=(*rest, *tokens[:comma])), frame.shared)


def _lay(tokens: tuple[Token, ...], sentence: Sentence, shared: float) -> Frame:
    """Returns the tokens of a claim aligned with a sentence; `shared` as in `Frame`."""
    left, right = [_symbol(token) for token in tokens], [_symbol(token) for token in sentence.tokens]
    pairs = {
        block.a + offset: block.b + offset
        for block in SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks()
        for offset in range(block.size)
    }
    frame = Frame(tokens, sentence, pairs, shared, 0.0)
    return replace(frame, coverage=frame.coverage_without(()))


def _symbol(token: Token) -> str:
    """Returns what alignment compares: any number equals any other, and "%" equals "percent"."""
    return "#" if token.lower[0].isdigit() else _PERCENT if token.lower == "%" else token.key or token.text
