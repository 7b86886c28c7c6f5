"""The same statement turned round: increases against decreases, first-line against last resort, before against after, A above B against B above A."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pytest_medfaith.checking.rules.frames import COPY, Frame, frames
from pytest_medfaith.checking.rules.negation import negations
from pytest_medfaith.checking.rules.opposites import directions, opposed
from pytest_medfaith.checking.rules.text import Token, weight
from pytest_medfaith.records import Finding

# Fitted on the development part of the written pairs (bench/rules.py).
LEAST_COVERED = 0.5  # of the claim's other content words, in order, for two opposed words in one place
LEAST_SHARED = 0.6  # of the claim's content words anywhere, for a comparison turned round
LARGEST_GAP = 5  # words that differ in one place; a word next to its object may stand in a longer gap
NEXT_TO = 2
NEGATED = 5  # words from a negation to a word whose direction it may turn
SPOT = 2  # words that differ in one place of a copy

_COMPARING = frozenset({"amount", "quality", "speed", "length", "frequency"})
_TURNING = frozenset(
    "misses missed miss spares spared loses lost lose loss failure stopping stopped withdrawing withdrawal deficiency deficient resistant resistance gap shortfall against deletion deleting deleted knockout "
    "blocking blocked inhibiting inhibited depleting depletion".split()
)
_BOUND_BEFORE = frozenset("or and once no any not".split())
_CLAUSE_ENDS = frozenset(",;:()")
_FIRST_LINE = re.compile(r"\bfirst[- \u2010\u2011](?:line|choice)\b", re.IGNORECASE)
_LAST_LINE = re.compile(r"\b(?:last[- \u2010\u2011](?:line|resort|choice)|(?:second|third)[- \u2010\u2011]line)\b", re.IGNORECASE)
# What comes after the first line fails is itself no first line.
_AFTER_ANOTHER = frozenset(
    "fail fails failed failing failure after when if unless until beyond cannot alternative refractory resistant intolerant reserved than instead other".split()
)


def direction(claim: str, evidence: str) -> list[Finding]:
    """Returns a finding where claim and sentence say opposite things of the same subject and object; nothing where a negation may turn it."""
    for frame in frames(claim, evidence):
        clash = _clash(frame) or _of_another_line(frame, claim, evidence)
        if clash:
            return [_finding(*clash)]
        if frame.copies():
            return []  # the evidence says it; what else it says does not matter
    return []


def _clash(frame: Frame) -> tuple[Token, Token] | None:
    mine, theirs = _comparison(frame.claim), _comparison(frame.sentence.tokens)
    swapped = mine is not None and theirs is not None and mine.is_turned(theirs)
    if not swapped and (clash := _in_copy(frame)):
        return clash
    if len(negations(frame.claim)) != len(negations(frame.sentence.tokens)) or _turned(frame.claim) != _turned(frame.sentence.tokens):
        return None
    if mine and theirs and swapped:
        return _same_word(mine, theirs) if frame.shared >= LEAST_SHARED else None
    return _in_one_place(frame)


def _in_copy(frame: Frame) -> tuple[Token, Token] | None:
    """Finds the one word in which a copy is opposed to the sentence, be it part of a bound or a name ("or more", "first-line")."""
    mine, theirs = frame.claim, frame.sentence.tokens
    for here, there in frame.gaps():
        if len(here) > SPOT or len(there) > SPOT:
            continue
        for index in here:
            for other in there:
                if opposed(mine[index].lower, theirs[other].lower, in_copies=True) and frame.copies([index]):
                    return mine[index], theirs[other]
    return None


def _of_another_line(frame: Frame, claim: str, evidence: str) -> tuple[Token, Token] | None:
    """Finds "first-line" against "of last resort", wherever they stand, where the rest of the claim stands in the sentence."""
    mine, theirs = _line(claim, 0, len(claim)), _line(evidence, frame.sentence.start, frame.sentence.end)
    if not mine or not theirs or bool(_FIRST_LINE.fullmatch(mine.lower)) == bool(_FIRST_LINE.fullmatch(theirs.lower)):
        return None
    if len(negations(frame.claim)) != len(negations(frame.sentence.tokens)) or _turned(frame.sentence.tokens):
        return None
    own = [index for index, token in enumerate(frame.claim) if mine.start <= token.start < mine.end]
    after = any(token.lower in _AFTER_ANOTHER for token in (*frame.claim, *frame.sentence.tokens))
    return None if after or frame.coverage_without(own) < COPY else (mine, theirs)


def _line(text: str, start: int, end: int) -> Token | None:
    """Returns the words that say at which place a treatment stands; None where the text names a first and a later one."""
    first, last = _FIRST_LINE.search(text, start, end), _LAST_LINE.search(text, start, end)
    found = None if first and last else first or last
    return Token(found[0], found[0].lower(), "", found.start(), found.end()) if found else None


def _in_one_place(frame: Frame) -> tuple[Token, Token] | None:
    """Finds two opposed words in one place, where neither side says the other's direction elsewhere."""
    mine, theirs = frame.claim, frame.sentence.tokens
    for here, there in frame.gaps():
        for index in here:
            for other in there:
                if not opposed(mine[index].lower, theirs[other].lower) or _unclear(mine, index) or _unclear(theirs, other):
                    continue
                close = len(here) <= LARGEST_GAP and len(there) <= LARGEST_GAP
                beside = here.stop - index <= NEXT_TO and there.stop - other <= NEXT_TO and here.stop < len(mine)
                if (close or beside) and frame.coverage_without([index]) >= LEAST_COVERED and _only(mine, index, theirs, other):
                    return mine[index], theirs[other]
    return None


def _only(mine: Sequence[Token], index: int, theirs: Sequence[Token], other: int) -> bool:
    """Returns whether no other word of the claim agrees with the sentence's direction, nor of the sentence with the claim's."""
    own, their = directions(mine[index].lower).items(), directions(theirs[other].lower).items()
    agrees = any(directions(token.lower).items() & their for place, token in enumerate(mine) if not _bounds(mine, place))
    return not agrees and not any(directions(token.lower).items() & own for place, token in enumerate(theirs) if not _bounds(theirs, place))


def _unclear(tokens: Sequence[Token], index: int) -> bool:
    """Returns whether the word is part of a bound, or near a negation."""
    return _bounds(tokens, index) or any(abs(index - place) <= NEGATED for place in negations(tokens))


def _bounds(tokens: Sequence[Token], index: int) -> bool:
    """Returns whether the word belongs to a bound ("65 or more", "more than 5", "below 30") rather than to a direction."""
    before = tokens[index - 1].lower if index else ""
    after = [token.lower for token in tokens[index + 1 : index + 3]]
    return before in _BOUND_BEFORE or (
        after[:1] == ["than"] and after[1:] != [] and (after[1][0].isdigit() or after[1] in ("half", "halved", "a", "one"))
    )


def _turned(tokens: Sequence[Token]) -> bool:
    return any(token.lower in _TURNING for token in tokens)


@dataclass(frozen=True)
class _Comparison:
    """The word of comparison of "A is higher than B", and the keys of the content words before and after its "than"."""

    word: Token
    left: frozenset[str]
    right: frozenset[str]

    def is_turned(self, other: _Comparison) -> bool:
        """Returns whether what one side puts before "than" the other puts after it, and the other way round."""
        return _weigh(self.right & (other.left - other.right)) >= 1 and _weigh((self.left - self.right) & other.right) >= 1


def _comparison(tokens: Sequence[Token]) -> _Comparison | None:
    places = [index for index, token in enumerate(tokens) if token.lower == "than"]
    if len(places) != 1:
        return None
    than = places[0]
    words = [
        token
        for before, token in zip((None, *tokens), tokens[:than], strict=False)
        if directions(token.lower).keys() & _COMPARING and not (before and before.lower in ("more", "less"))  # "more often" is one
    ]
    if len(words) != 1:  # "lowers relapses more than": two directions make one
        return None
    end = next((index for index in range(than + 1, len(tokens)) if tokens[index].lower in _CLAUSE_ENDS), len(tokens))
    left = frozenset(token.key for token in tokens[:than] if token.content and token is not words[-1])
    return _Comparison(words[-1], left, frozenset(token.key for token in tokens[than + 1 : end] if token.content))


def _same_word(mine: _Comparison, theirs: _Comparison) -> tuple[Token, Token] | None:
    same = directions(mine.word.lower).items() & directions(theirs.word.lower).items()
    return (mine.word, theirs.word) if same else None


def _weigh(keys: Collection[str]) -> float:
    return sum(map(weight, keys))


def _finding(mine: Token, theirs: Token) -> Finding:
    same = directions(mine.lower).items() & directions(theirs.lower).items()
    message = "claim and evidence compare the other way round" if same else f"claim says {mine.text!r}, evidence says {theirs.text!r}"
    return Finding(
        rule="direction",
        message=message,
        claim_span=(mine.start, mine.end),
        evidence_span=(theirs.start, theirs.end),
        effect="refute",
    )
