"""Opposite directions: "increases" against "decreases", "first-line" against "last resort".

A claim that says "lowers" where its sentence says "raises" of the same thing is refuted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pytest_medfaith.checking.rules.comparisons import (
    BOUND_AFTER_THAN,
    Comparison,
    comparing_than,
    read_than_comparison,
    swapped_comparisons,
)
from pytest_medfaith.checking.rules.denials import negations
from pytest_medfaith.checking.rules.frames import COPY, Frame, OpposedWords, frames_in_either_order
from pytest_medfaith.english.opposites import directions
from pytest_medfaith.english.stems import word_key
from pytest_medfaith.english.words import Token, weight
from pytest_medfaith.records import Finding

# Fitted on the development part of the written pairs (bench/rules.py).
LEAST_COVERED = 0.5  # of the claim's content words apart from the opposed word, in order
LEAST_SHARED = 0.6  # of the claim's content words anywhere in the sentence, for a reversed comparison
LARGEST_GAP = 5  # words that differ in one place; a word next to its object may be in a longer gap
NEXT_TO = 2
NEGATED = 5  # words from a negation to a word whose direction it may reverse
SPOT = 3  # words that differ in one place of a copy

# These words reverse a direction: "stopping the steroid increased relapse" says what "the steroid decreased
# relapse" says.
_REVERSING = frozenset(
    """misses missed miss spares spared loses lost lose loss failure stopping stopped withdrawing withdrawal
    deficiency deficient resistant resistance gap shortfall against deletion deleting deleted knockout
    blocking blocked inhibiting inhibited depleting depletion quit quits quitting cessation abstaining
    abstinence avoiding avoidance discontinuing discontinuation""".split()
)
# The object of a direction follows these words: "raises the risk of stroke". They do not tell two objects
# apart, while "level" does: "raises the level", "raises the clearance".
_MEASURES = frozenset(
    map(
        word_key,
        """likely likelihood risk rate chance odds probability number incidence patients people person adult
        individual participant""".split(),
    )
)
_BEFORE_OBJECT = _MEASURES | frozenset(map(word_key, "level concentration amount".split()))
# "Survival was higher" and "mortality was lower" say the same.
_LIVING = frozenset("survival survive survives survived surviving survivors alive".split())
_DYING = frozenset("mortality death deaths dead die dies died dying fatality fatalities".split())
_BOUND_BEFORE = frozenset("or and once no any not".split())
_COMPARED = frozenset("than compared comparison versus vs over against".split())
_CLAUSE_ENDS = frozenset(",;:()")
# A negation says nothing of words beyond these and beyond the marks above.
_JOINING = frozenset("and but whereas while although though because since so if when unless".split())
_FIRST_LINE = re.compile(r"\bfirst[- \u2010\u2011](?:line|choice)\b", re.IGNORECASE)
_LAST_LINE = re.compile(
    r"\b(?:last[- \u2010\u2011](?:line|resort|choice)|(?:second|third)[- \u2010\u2011]line)\b", re.IGNORECASE
)
# These words tell that a drug is for when another drug has failed: then it is no first-line drug.
_AFTER_ANOTHER = frozenset(
    """fail fails failed failing failure after when if unless until beyond cannot alternative refractory
    resistant intolerant reserved than instead other""".split()
)


def direction(claim: str, evidence: str) -> list[Finding]:
    """Returns a finding (effect "refute") where claim and sentence say opposite things of the same, else [].

    Example: "A lowers B" against "A raises B". If a negation or a word such as "stopping" may reverse one of
    the two, the pair is left to the model.
    """
    for frame in frames_in_either_order(claim, evidence):
        compared = swapped_comparisons(frame.claim, frame.sentence.tokens)
        if compared and compared[0].mirrors(compared[1]):
            continue  # "A is longer than B" says what "B is shorter than A" says
        if compared and frame.shared >= LEAST_SHARED and _negated_alike(frame.claim, frame.sentence.tokens):
            return [_finding(*compared, _REVERSED)]
        clash = _opposed(frame) or _other_line(frame, claim, evidence)
        if clash:
            mine, theirs = clash
            same = directions(mine.lower).items() & directions(theirs.lower).items()
            words = f"claim says {mine.text!r}, evidence says {theirs.text!r}"
            return [_finding(mine, theirs, _REVERSED if same else words)]
        if frame.copies():
            return []  # the evidence says what the claim says; more sentences change nothing
    return []


_REVERSED = "claim and evidence compare the other way round"


def _finding(mine: Token | Comparison, theirs: Token | Comparison, message: str) -> Finding:
    """Returns the finding on the opposed words, or comparisons, of claim and evidence."""
    return Finding(
        rule="direction",
        message=message,
        claim_span=(mine.start, mine.end),
        evidence_span=(theirs.start, theirs.end),
        effect="refute",
    )


def _opposed(frame: Frame) -> tuple[Token, Token] | None:
    """Returns (word of the claim, word of the sentence) by which the two are opposed, or None."""
    claim, sentence = frame.claim, frame.sentence.tokens
    mine, theirs = read_than_comparison(claim), read_than_comparison(sentence)
    is_reversed = mine is not None and theirs is not None and mine.is_reversed_in(theirs)
    if not is_reversed and (clash := _in_copy(frame)):
        return clash
    if not _negated_alike(claim, sentence) or _reverses(claim) != _reverses(sentence):
        return None
    if mine and theirs and is_reversed:
        same = directions(mine.word.lower).items() & directions(theirs.word.lower).items()
        return (mine.word, theirs.word) if same and frame.shared >= LEAST_SHARED else None
    return _in_one_place(frame)


def _negated_alike(claim: Sequence[Token], sentence: Sequence[Token]) -> bool:
    """Returns whether both have as many negations."""
    return len(negations(claim)) == len(negations(sentence))


def _reverses(tokens: Iterable[Token]) -> bool:
    """Returns whether a word such as "stopping" reverses what is said."""
    return any(token.lower in _REVERSING for token in tokens)


def _in_copy(frame: Frame) -> tuple[Token, Token] | None:
    """Returns the words by which a near-copy is opposed to its sentence, even in a bound; None for none."""
    claim, sentence = frame.claim, frame.sentence.tokens
    for words in frame.opposed_words(in_copies=True, within=SPOT):
        if not frame.copies([words.claim]):
            continue
        # The opposed words may negate by themselves, as "prevents" does: only the words around them count.
        mine, theirs = _rest_of_clause(claim, words.claim), _rest_of_clause(sentence, words.sentence)
        alike = _negated_alike(mine, theirs) and _reverses(mine) == _reverses(theirs)
        if alike and not _of_different_things(frame, words):
            return claim[words.claim], sentence[words.sentence]
    return None


def _rest_of_clause(tokens: Sequence[Token], place: int) -> list[Token]:
    """Returns the clause around the word at `place` without that word; "and" and "but" end a clause too."""
    ends = [index for index, token in enumerate(tokens) if token.lower in _CLAUSE_ENDS | _JOINING]
    start = max((end + 1 for end in ends if end < place), default=0)
    stop = min((end for end in ends if end > place), default=len(tokens))
    return [*tokens[start:place], *tokens[place + 1 : stop]]


def _in_one_place(frame: Frame) -> tuple[Token, Token] | None:
    """Returns two opposed words in the same place, or None.

    Neither side may state the other's direction elsewhere: then nothing tells which of the two is meant.
    """
    claim, sentence = frame.claim, frame.sentence.tokens
    for words in frame.opposed_words():
        if _is_unclear(claim, words.claim) or _is_unclear(sentence, words.sentence):
            continue
        close = max(len(words.gap), len(words.sentence_gap)) <= LARGEST_GAP
        to_the_end = max(words.gap.stop - words.claim, words.sentence_gap.stop - words.sentence)
        beside_object = to_the_end <= NEXT_TO and words.gap.stop < len(claim)
        if (
            not (close or beside_object)
            or frame.coverage_without([words.claim]) < LEAST_COVERED
            or _of_different_things(frame, words)
        ):
            continue
        mine, theirs = claim[words.claim], sentence[words.sentence]
        if not _states_direction_of(theirs, claim) and not _states_direction_of(mine, sentence):
            return mine, theirs
    return None


def _is_unclear(tokens: Sequence[Token], index: int) -> bool:
    """Returns whether the word is part of a bound, or near a negation."""
    return _is_bound(tokens, index) or any(abs(index - place) <= NEGATED for place in negations(tokens))


def _is_bound(tokens: Sequence[Token], index: int) -> bool:
    """Returns whether the word is part of a bound ("65 or more", "more than 5") and has no direction."""
    if index and tokens[index - 1].lower in _BOUND_BEFORE:
        return True
    after = [token.lower for token in tokens[index + 1 : index + 3]]
    return len(after) == 2 and after[0] == "than" and (after[1][0].isdigit() or after[1] in BOUND_AFTER_THAN)


def _states_direction_of(word: Token, tokens: Sequence[Token]) -> bool:
    """Returns whether one of `tokens` points in the same direction as `word`, outside a bound."""
    way = directions(word.lower).items()
    return any(
        directions(token.lower).items() & way
        for place, token in enumerate(tokens)
        if not _is_bound(tokens, place)
    )


def _of_different_things(frame: Frame, words: OpposedWords) -> bool:
    """Returns whether the opposed words are about different objects, subjects or groups compared."""
    claim, sentence = frame.claim, frame.sentence.tokens
    return (
        _of_other_arm(claim, sentence)
        or _of_other_arm(sentence, claim)
        or _life_against_death(claim, sentence)
        or _of_other_object_or_subject(claim, words.claim, sentence, words.sentence)
    )


def _of_other_arm(tokens: Sequence[Token], others: Sequence[Token]) -> bool:
    """Returns whether `others`, without a comparison, speak of what `tokens` put after "than".

    Example: "Lower with B" and "higher with A than with B" do not contradict each other.
    """
    than = comparing_than(tokens)
    if than is None or any(token.lower in _COMPARED for token in others):
        return False
    left, right = ({token.key for token in side if token.content} for side in (tokens[:than], tokens[than:]))
    return not (right - left).isdisjoint(token.key for token in others)


def _life_against_death(claim: Sequence[Token], sentence: Sequence[Token]) -> bool:
    """Returns whether one side speaks only of living and the other only of dying."""
    mine, theirs = {token.lower for token in claim}, {token.lower for token in sentence}
    return any(
        mine & one and not mine & two and theirs & two and not theirs & one
        for one, two in ((_LIVING, _DYING), (_DYING, _LIVING))
    )


def _of_other_object_or_subject(
    claim: Sequence[Token], index: int, sentence: Sequence[Token], place: int
) -> bool:
    """Returns whether the opposed words have different objects or subjects.

    Args:
        claim: the tokens of the claim.
        index: the place of its opposed word.
        sentence: the tokens of the sentence.
        place: the place of its opposed word.
    """
    known, their_known = {token.key for token in claim}, {token.key for token in sentence}
    things, their_things = _nearest(claim[index + 1 :]), _nearest(sentence[place + 1 :])
    if things - their_known and their_things - known:
        return True
    if things and their_things:
        subject, their_subject = _subject(claim[:index]), _subject(sentence[:place])
        both = bool(subject and their_subject)
        return both and subject.isdisjoint(their_known) and their_subject.isdisjoint(known)
    # Without an object the nearest words before are the arm: "deaths with A were lower".
    arm, their_arm = _nearest(claim[:index][::-1]), _nearest(sentence[:place][::-1])
    return bool(_telling(arm - their_known) and _telling(their_arm - known))


def _nearest(tokens: Iterable[Token]) -> frozenset[str]:
    """Returns the keys of the first words for a thing: "heart", "disease" of "the risk of heart disease"."""
    found: set[str] = set()
    for token in tokens:
        is_named = bool(found - _BEFORE_OBJECT)
        if token.lower in _CLAUSE_ENDS or token.lower == "than" or (is_named and not token.content):
            break
        if token.content and not token.lower.endswith("ly"):
            found.add(token.key)
    return frozenset(found - _MEASURES)


def _subject(before: Sequence[Token]) -> frozenset[str]:
    """Returns the keys of the telling words of the clause that `before` ends in."""
    ends = (place + 1 for place, token in enumerate(before) if token.lower in _CLAUSE_ENDS)
    clause = before[max(ends, default=0) :]
    return _telling(token.key for token in clause if token.content and not token.lower.endswith("ly"))


def _telling(keys: Iterable[str]) -> frozenset[str]:
    """Returns those of `keys` that are not in nearly every medical sentence ("patient" is)."""
    return frozenset(key for key in keys if weight(key) == 1)


def _other_line(frame: Frame, claim: str, evidence: str) -> tuple[Token, Token] | None:
    """Returns the words "first-line" and "last resort" where the rest of the claim is covered; else None."""
    mine, theirs = _line(claim, 0, len(claim)), _line(evidence, frame.sentence.start, frame.sentence.end)
    if not mine or not theirs:
        return None
    if bool(_FIRST_LINE.fullmatch(mine.lower)) == bool(_FIRST_LINE.fullmatch(theirs.lower)):
        return None
    sentence = frame.sentence.tokens
    if not _negated_alike(frame.claim, sentence) or _reverses(sentence):
        return None
    if any(token.lower in _AFTER_ANOTHER for token in (*frame.claim, *sentence)):
        return None
    rest = frame.coverage_without(frame.indices(mine.start, mine.end))
    return (mine, theirs) if rest >= COPY else None


def _line(text: str, start: int, end: int) -> Token | None:
    """Returns the words for a treatment's line ("first-line") in `text[start:end]` as a token.

    None if the text has no such words, or words for a first and for a later line.
    """
    first, last = _FIRST_LINE.search(text, start, end), _LAST_LINE.search(text, start, end)
    found = None if first and last else first or last
    return Token(found[0], found[0].lower(), "", found.start(), found.end()) if found else None
