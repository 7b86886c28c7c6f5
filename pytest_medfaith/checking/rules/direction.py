"""The same statement turned round: increases against decreases, first-line against last resort, before against after, A above B against B above A."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from pytest_medfaith.checking.rules.comparisons import Comparison, relation
from pytest_medfaith.checking.rules.frames import COPY, Frame, frames_in_either_order
from pytest_medfaith.checking.rules.negation import negations
from pytest_medfaith.english.opposites import directions, opposed
from pytest_medfaith.english.stems import word_key
from pytest_medfaith.english.words import Token, weight
from pytest_medfaith.quantities.numerals import WORDS
from pytest_medfaith.records import Finding

# Fitted on the development part of the written pairs (bench/rules.py).
LEAST_COVERED = 0.5  # of the claim's other content words, in order, for two opposed words in one place
LEAST_SHARED = 0.6  # of the claim's content words anywhere, for a comparison turned round
LARGEST_GAP = 5  # words that differ in one place; a word next to its object may stand in a longer gap
NEXT_TO = 2
NEGATED = 5  # words from a negation to a word whose direction it may turn
SPOT = 3  # words that differ in one place of a copy

_COMPARING = frozenset({"amount", "quality", "speed", "length", "frequency"})
_TURNING = frozenset(
    "misses missed miss spares spared loses lost lose loss failure stopping stopped withdrawing withdrawal "
    "deficiency deficient resistant resistance gap shortfall against deletion deleting deleted knockout "
    """blocking blocked inhibiting inhibited depleting depletion quit quits quitting cessation abstaining
    abstinence avoiding avoidance discontinuing discontinuation""".split()
)
# What a direction is said of stands behind these, "the risk of stroke", and they alone tell no two things apart; "the level of" may.
_MEASURES = frozenset(
    map(
        word_key,
        """likely likelihood risk rate chance odds probability number incidence patients people person adult
        individual participant""".split(),
    )
)
_PASSING = _MEASURES | frozenset(map(word_key, "level concentration amount".split()))
# "Survival was higher" and "mortality was lower" say the same.
_LIVING = frozenset("survival survive survives survived surviving survivors alive".split())
_DYING = frozenset("mortality death deaths dead die dies died dying fatality fatalities".split())
_BOUND_BEFORE = frozenset("or and once no any not".split())
_BOUND_AFTER = frozenset("half halved a one".split())
_COMPARED = frozenset("than compared comparison versus vs over against".split())
_CLAUSE_ENDS = frozenset(",;:()")
# With the marks above they end what a negation reaches.
_JOINING = frozenset("and but whereas while although though because since so if when unless".split())
_FIRST_LINE = re.compile(r"\bfirst[- \u2010\u2011](?:line|choice)\b", re.IGNORECASE)
_LAST_LINE = re.compile(
    r"\b(?:last[- \u2010\u2011](?:line|resort|choice)|(?:second|third)[- \u2010\u2011]line)\b", re.IGNORECASE
)
# What comes after the first line fails is itself no first line.
_AFTER_ANOTHER = frozenset(
    """fail fails failed failing failure after when if unless until beyond cannot alternative refractory
    resistant intolerant reserved than instead other""".split()
)


def direction(claim: str, evidence: str) -> list[Finding]:
    """Returns a finding where claim and sentence say opposite things of the same subject and object; nothing where a negation may turn it."""
    for frame in frames_in_either_order(claim, evidence):
        compared, one, other = relation(frame.claim, frame.sentence.tokens)
        if compared == "same":  # sides and way are both turned
            continue
        if (
            one
            and other
            and frame.shared >= LEAST_SHARED
            and len(negations(frame.claim)) == len(negations(frame.sentence.tokens))
        ):
            return [_turned_finding(one, other)]
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
    if len(negations(frame.claim)) != len(negations(frame.sentence.tokens)) or _turned(
        frame.claim
    ) != _turned(frame.sentence.tokens):
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
                if not opposed(mine[index].lower, theirs[other].lower, in_copies=True) or not frame.copies(
                    [index]
                ):
                    continue
                if _turned_alike(frame, index, other) and not _of_others(frame, index, other):
                    return mine[index], theirs[other]
    return None


def _turned_alike(frame: Frame, index: int, other: int) -> bool:
    """Returns whether as many words negate in the clause of either word, and both clauses or neither hold one that turns a subject round.

    The two opposed words themselves do not count: "prevents" and "stops" negate too.
    """
    mine, theirs = (
        _but(tokens, place) for tokens, place in ((frame.claim, index), (frame.sentence.tokens, other))
    )
    return len(negations(mine)) == len(negations(theirs)) and _turned(mine) == _turned(theirs)


def _but(tokens: Sequence[Token], place: int) -> list[Token]:
    """Returns the other words of the clause that holds the word at `place`; "and" and "but" end a clause too."""
    ends = [index for index, token in enumerate(tokens) if token.lower in _CLAUSE_ENDS | _JOINING]
    start = max((end + 1 for end in ends if end < place), default=0)
    stop = min((end for end in ends if end > place), default=len(tokens))
    return [*tokens[start:place], *tokens[place + 1 : stop]]


def _of_another_line(frame: Frame, claim: str, evidence: str) -> tuple[Token, Token] | None:
    """Finds "first-line" against "of last resort", wherever they stand, where the rest of the claim stands in the sentence."""
    mine, theirs = _line(claim, 0, len(claim)), _line(evidence, frame.sentence.start, frame.sentence.end)
    if (
        not mine
        or not theirs
        or bool(_FIRST_LINE.fullmatch(mine.lower)) == bool(_FIRST_LINE.fullmatch(theirs.lower))
    ):
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
                if (
                    not opposed(mine[index].lower, theirs[other].lower)
                    or _unclear(mine, index)
                    or _unclear(theirs, other)
                ):
                    continue
                close = len(here) <= LARGEST_GAP and len(there) <= LARGEST_GAP
                beside = (
                    here.stop - index <= NEXT_TO and there.stop - other <= NEXT_TO and here.stop < len(mine)
                )
                if (
                    not (close or beside)
                    or frame.coverage_without([index]) < LEAST_COVERED
                    or _of_others(frame, index, other)
                ):
                    continue
                if _only(mine, index, theirs, other):
                    return mine[index], theirs[other]
    return None


def _of_others(frame: Frame, index: int, other: int) -> bool:
    """Returns whether claim and sentence say the two opposed words of different things: an object, a subject or an arm of its own each."""
    mine, theirs = frame.claim, frame.sentence.tokens
    arms = _of_other_arm(mine, theirs) or _of_other_arm(theirs, mine)
    return arms or _mirrored(mine, theirs) or _other_object_or_subject(mine, index, theirs, other)


def _other_object_or_subject(mine: Sequence[Token], index: int, theirs: Sequence[Token], other: int) -> bool:
    own, their = {token.key for token in mine}, {token.key for token in theirs}
    after, their_after = _beside(mine[index + 1 :]), _beside(theirs[other + 1 :])
    if after - their and their_after - own:
        return True
    if after and their_after:
        before, their_before = _before(mine, index), _before(theirs, other)
        return bool(before and their_before) and before.isdisjoint(their) and their_before.isdisjoint(own)
    # Without an object what stands nearest is the arm: "deaths with A were lower".
    return bool(
        _telling(_beside(mine[:index][::-1]) - their) and _telling(_beside(theirs[:other][::-1]) - own)
    )


def _beside(tokens: Iterable[Token]) -> frozenset[str]:
    """Returns the keys of the first words of `tokens` that say what a direction is of: "heart", "disease" after "raises the risk of heart disease"."""
    found: set[str] = set()
    for token in tokens:
        if token.lower in _CLAUSE_ENDS or token.lower == "than" or (found - _PASSING and not token.content):
            break
        if token.content and not token.lower.endswith("ly"):
            found.add(token.key)
    return frozenset(found - _MEASURES)


def _before(tokens: Sequence[Token], index: int) -> frozenset[str]:
    """Returns the keys of the telling words that stand before `index` in its clause."""
    start = max((place + 1 for place in range(index) if tokens[place].lower in _CLAUSE_ENDS), default=0)
    return _telling(
        token.key for token in tokens[start:index] if token.content and not token.lower.endswith("ly")
    )


def _telling(keys: Iterable[str]) -> frozenset[str]:
    """Returns the keys that not any medical sentence may hold."""
    return frozenset(key for key in keys if weight(key) == 1)


def _of_other_arm(tokens: Sequence[Token], others: Sequence[Token]) -> bool:
    """Returns whether only `tokens` compare, and `others` speak of what they put after "than": "lower with A", "higher with B than with A"."""
    than = _than(tokens)
    if than is None or any(token.lower in _COMPARED for token in others):
        return False
    left, right = ({token.key for token in side if token.content} for side in (tokens[:than], tokens[than:]))
    return not (right - left).isdisjoint(token.key for token in others)


def _than(tokens: Sequence[Token]) -> int | None:
    """Returns the index of a "than" that compares two things; that of a bound ("more than 10%") does not."""
    after = {
        index: tokens[index + 1].lower for index in range(len(tokens) - 1) if tokens[index].lower == "than"
    }
    return next(
        (
            index
            for index, word in after.items()
            if not (word[0].isdigit() or word in _BOUND_AFTER or word in WORDS)
        ),
        None,
    )


def _mirrored(mine: Sequence[Token], theirs: Sequence[Token]) -> bool:
    """Returns whether one side speaks of living only, the other of dying only."""
    own, their = {token.lower for token in mine}, {token.lower for token in theirs}
    return any(
        own & one and not own & two and their & two and not their & one
        for one, two in ((_LIVING, _DYING), (_DYING, _LIVING))
    )


def _only(mine: Sequence[Token], index: int, theirs: Sequence[Token], other: int) -> bool:
    """Returns whether no other word of the claim agrees with the sentence's direction, nor of the sentence with the claim's."""
    own, their = directions(mine[index].lower).items(), directions(theirs[other].lower).items()
    agrees = any(
        directions(token.lower).items() & their
        for place, token in enumerate(mine)
        if not _bounds(mine, place)
    )
    return not agrees and not any(
        directions(token.lower).items() & own
        for place, token in enumerate(theirs)
        if not _bounds(theirs, place)
    )


def _unclear(tokens: Sequence[Token], index: int) -> bool:
    """Returns whether the word is part of a bound, or near a negation."""
    return _bounds(tokens, index) or any(abs(index - place) <= NEGATED for place in negations(tokens))


def _bounds(tokens: Sequence[Token], index: int) -> bool:
    """Returns whether the word belongs to a bound ("65 or more", "more than 5", "below 30") rather than to a direction."""
    before = tokens[index - 1].lower if index else ""
    after = [token.lower for token in tokens[index + 1 : index + 3]]
    return before in _BOUND_BEFORE or (
        after[:1] == ["than"] and after[1:] != [] and (after[1][0].isdigit() or after[1] in _BOUND_AFTER)
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
        return (
            _weigh(self.right & (other.left - other.right)) >= 1
            and _weigh((self.left - self.right) & other.right) >= 1
        )


def _comparison(tokens: Sequence[Token]) -> _Comparison | None:
    places = [index for index, token in enumerate(tokens) if token.lower == "than"]
    if len(places) != 1:
        return None
    than = places[0]
    if _than(tokens) is None:
        return None  # "more than 10%" bounds
    words = [
        token
        for before, token in zip((None, *tokens), tokens[:than], strict=False)
        if directions(token.lower).keys() & _COMPARING
        and not (before and before.lower in ("more", "less"))  # "more often" is one
    ]
    if len(words) != 1:  # "lowers relapses more than": two directions make one
        return None
    end = next(
        (index for index in range(than + 1, len(tokens)) if tokens[index].lower in _CLAUSE_ENDS), len(tokens)
    )
    left = frozenset(token.key for token in tokens[:than] if token.content and token is not words[-1])
    return _Comparison(
        words[-1], left, frozenset(token.key for token in tokens[than + 1 : end] if token.content)
    )


def _same_word(mine: _Comparison, theirs: _Comparison) -> tuple[Token, Token] | None:
    same = directions(mine.word.lower).items() & directions(theirs.word.lower).items()
    return (mine.word, theirs.word) if same else None


def _weigh(keys: Collection[str]) -> float:
    return sum(map(weight, keys))


def _turned_finding(one: Comparison, other: Comparison) -> Finding:
    return Finding(
        rule="direction",
        message="claim and evidence compare the other way round",
        claim_span=(one.start, one.end),
        evidence_span=(other.start, other.end),
        effect="refute",
    )


def _finding(mine: Token, theirs: Token) -> Finding:
    same = directions(mine.lower).items() & directions(theirs.lower).items()
    message = (
        "claim and evidence compare the other way round"
        if same
        else f"claim says {mine.text!r}, evidence says {theirs.text!r}"
    )
    return Finding(
        rule="direction",
        message=message,
        claim_span=(mine.start, mine.end),
        evidence_span=(theirs.start, theirs.end),
        effect="refute",
    )
