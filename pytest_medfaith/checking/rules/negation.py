"""A statement with and without a negation: "is recommended" against "is not recommended"."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pytest_medfaith import defaults
from pytest_medfaith.checking.rules.denials import (
    COMPARATIVES,
    ENDS,
    LESS_PLAIN,
    NOT,
    REACH,
    REFUSING,
    SPEAKING,
    fails_in_condition,
    is_either_way,
    negated_words,
    negations,
    verb_of_against,
)
from pytest_medfaith.checking.rules.frames import Frame, frames
from pytest_medfaith.english.conditions import blanked, read_conditions
from pytest_medfaith.english.opposites import directions
from pytest_medfaith.english.stems import verb_stems
from pytest_medfaith.english.words import Token, read_tokens
from pytest_medfaith.quantities.numerals import WORDS
from pytest_medfaith.quantities.quantity import opposed_bounds
from pytest_medfaith.quantities.reader import read_quantities
from pytest_medfaith.records import Finding

# Fitted on the development part of the written pairs (bench/rules.py). Where the sentence covers less of the
# claim, the negation often belongs to something else.
LEAST_COVERED = 0.6
_LARGEST_GAP = 4  # words that differ in one place of two copies
_NEAR = 8  # words around a place in which another negation may reverse its sense

# "Can be used" advises what "is contraindicated" refuses.
_ADVISING = frozenset(
    """recommended recommend recommends advised advise indicated used use uses using given give gives safe
    suitable appropriate advisable necessary needed likely able effective allowed permitted acceptable
    taken take takes prescribed offered considered added started can may should could must""".split()
)
# These words deny where the other side has a negation: "little effect" for "no effect", "refrain from
# drinking" for "do not drink".
_DENYING = LESS_PLAIN | frozenset(
    """little few fewer less least yet equally similarly insufficient inadequate limited scarce scant sparse
    poor weak minimal negligible unclear uncertain unknown doubtful unproven rare
    refrain refrains refrained refraining abstain abstains abstained abstaining decline declines declined
    refuse refuses refused deny denies denied poorly incompletely barely scarcely insufficiently
    inadequately miss misses missed skip skips skipped omit omits omitted""".split()
)
# These words affirm what the other side denies: "strong evidence" against "no evidence".
_AFFIRMING = frozenset(
    """always preferred several strong good clear large substantial convincing gave show shows showed produce
    produces produced""".split()
)
# In each pair a word of the first set affirms what "not" with a word of the second denies: "recommended"
# against "not advised".
_COUNSELLED = frozenset(
    "recommended recommend recommends advised advise advises indicated advisable appropriate suitable".split()
)
_AFFIRMED_BY = ((_ADVISING, REFUSING), (_COUNSELLED, _COUNSELLED))
# A direction of these groups affirms what "had no effect on" denies: "shortened".
_CHANGES = frozenset("amount quality speed length".split())
_EFFECT = frozenset("effect effects influence impact change changed affect affected alter altered".split())
# With these words a negation may hold of a part only: "not all", "no drug except aspirin".
_PARTIAL = frozenset(
    """unless except only until whether rather instead some few fewer less half most % percent all every
    always but or""".split()
)
_EXCEPTING = frozenset("unless except until".split())
_PREFIXES = ("un", "non", "in", "im", "ir", "il", "dis", "anti")


@dataclass(frozen=True)
class _Clash:
    """The spans of the words in claim and evidence that contradict each other; half-open characters."""

    claim: tuple[int, int]
    evidence: tuple[int, int]


def negation(claim: str, evidence: str) -> list[Finding]:
    """Returns a finding (effect "refute") where only one of claim and sentence negates the same statement.

    Example: "X is safe in pregnancy" against "X is not safe in pregnancy".
    """
    claim, evidence = _without_concessions(claim, evidence)
    for frame in frames(claim, evidence):
        polar = [
            index for index, token in enumerate(frame.claim) if token.lower in _ADVISING | REFUSING | NOT
        ]
        clash = _clash(frame, polar, claim, evidence)
        if clash:
            mine, theirs = claim[slice(*clash.claim)], evidence[slice(*clash.evidence)]
            return [
                Finding(
                    rule="negation",
                    message=f"claim says {mine!r}, evidence says {theirs!r}",
                    claim_span=clash.claim,
                    evidence_span=clash.evidence,
                    effect="refute",
                )
            ]
        if frame.copies(polar):
            return []  # the evidence says what the claim says; more sentences change nothing
    return []


def _without_concessions(claim: str, evidence: str) -> tuple[str, str]:
    """Returns both texts with blanks for concessions, where one of them holds either way; else as they are.

    "With or without food" and "no matter if they have symptoms" deny nothing, and agree with "with food" and
    "even when they have no symptoms".
    """
    conceded = [
        [one for one in read_conditions(text) if one.kind == "concession"] for text in (claim, evidence)
    ]
    if not any(one.both_ways for one in (*conceded[0], *conceded[1])):
        return claim, evidence
    return blanked(claim, conceded[0]), blanked(evidence, conceded[1])


def _clash(frame: Frame, polar: Sequence[int], claim: str, evidence: str) -> _Clash | None:
    """Returns the words by which claim and sentence contradict each other, or None.

    Args:
        frame: claim and sentence, aligned.
        polar: the indices of the claim's words that advise, refuse or negate.
        claim: the text of the claim.
        evidence: the text that the sentence is from.
    """
    if not _holds_all_numbers(frame):
        return None
    clash = None
    if frame.coverage_without(polar) >= LEAST_COVERED:
        clash = _negated_word(frame, evidence) or _refusal(frame)
    if not clash and frame.copies(polar):
        clash = _added_negation(frame)
    # A second opposition takes the negation back: "avoiding salt lowers it" agrees with "salt raises it".
    if not clash or any(True for _ in frame.opposed_words()) or _negated_bound(frame, claim, evidence):
        return None
    return clash


def _holds_all_numbers(frame: Frame) -> bool:
    """Returns whether the sentence has all numbers of the claim; "after 10 days" allows "not after 5"."""
    known = {_in_figures(token) for token in frame.sentence.tokens}
    return all(
        _in_figures(token) in known
        for token in frame.claim
        if token.lower[0].isdigit() or token.lower in WORDS
    )


def _in_figures(token: Token) -> str:
    """Returns a number in words as figures, "5" for "five"; any other token in lower case."""
    return f"{WORDS[token.lower]:g}" if token.lower in WORDS else token.lower


def _negated_bound(frame: Frame, claim: str, evidence: str) -> bool:
    """Returns whether a negation makes opposite bounds agree, as in "not below 30" and "at 30 or more"."""
    known = [other for other in read_quantities(evidence) if frame.reaches(other.start)]
    return any(
        bool(quantity.bound and other.bound)
        and opposed_bounds(quantity, other) == (quantity.denied == other.denied)
        and quantity.dimension == other.dimension
        and quantity.low == other.low
        for quantity in read_quantities(claim)
        for other in known
    )


def _negated_word(frame: Frame, evidence: str) -> _Clash | None:
    """Returns the clash on a word of both sides that only one side negates, or None."""
    claim, sentence = frame.claim, frame.sentence.tokens
    for index, head in negated_words(claim).items():
        place = frame.pairs.get(head)
        if place is None or _prefix_negates(claim[head], sentence):
            continue
        if claim[head].key in _negated_keys(evidence):
            continue  # the evidence negates the word somewhere, as the claim does
        if (
            not _is_negated_near(sentence, place)
            and not _differ_in_part(claim, sentence, place)
            and not _denied_in_other_words(frame, index, in_claim=True)
        ):
            return _Clash(_span(claim, *sorted((index, head))), _span(sentence, place, place))
    if negations(claim):
        return None
    back = {there: here for here, there in frame.pairs.items()}
    for index, head in negated_words(sentence).items():
        place = back.get(head)
        if (
            place is not None
            and not _prefix_negates(sentence[head], claim)
            and not _denied_in_other_words(frame, index, in_claim=False)
            and not _differ_in_part(claim, sentence, head)
        ):
            return _Clash(_span(claim, place, place), _span(sentence, *sorted((index, head))))
    return None


@lru_cache(maxsize=defaults.PASSAGES_KEPT)
def _negated_keys(evidence: str) -> frozenset[str]:
    """Returns the keys of the words that the evidence negates somewhere."""
    tokens = read_tokens(evidence)
    return frozenset(tokens[head].key for head in negated_words(tokens).values())


def _span(tokens: Sequence[Token], first: int, last: int) -> tuple[int, int]:
    """Returns the span from the start of token `first` to the end of token `last`."""
    return tokens[first].start, tokens[last].end


def _prefix_negates(word: Token, tokens: Sequence[Token]) -> bool:
    """Returns whether a token is `word` with a negating prefix, as "unhealed" is "healed"."""
    stem = word.lower[:5]
    return any(
        token.lower.startswith(prefix) and token.lower[len(prefix) :].lstrip("-").startswith(stem)
        for token in tokens
        for prefix in _PREFIXES
    )


def _is_negated_near(tokens: Sequence[Token], place: int, *, apart_from: int = -1) -> bool:
    """Returns whether a negation is within eight words of `place`, other than at `apart_from`."""
    return any(abs(index - place) <= _NEAR and index != apart_from for index in negations(tokens))


def _differ_in_part(claim: Sequence[Token], sentence: Sequence[Token], place: int) -> bool:
    """Returns whether only one of claim and sentence (near `place`) has a word for a part ("some")."""
    mine = {token.lower for token in claim} & _PARTIAL
    near = {token.lower for token in sentence[max(0, place - _NEAR) : place + _NEAR]} & _PARTIAL
    return mine != near


def _denied_in_other_words(frame: Frame, index: int, *, in_claim: bool) -> bool:
    """Returns whether the other side denies in other words: "little effect" for "no effect".

    Args:
        frame: claim and sentence, aligned.
        index: the index of the negation.
        in_claim: True if the claim has the negation, False if the sentence has it.
    """
    others = frame.sentence.tokens if in_claim else frame.claim
    paired = {*frame.pairs.values()} if in_claim else {*frame.pairs}
    for mine, theirs in frame.gaps():
        gap, other_gap = (mine, theirs) if in_claim else (theirs, mine)
        if index in gap:
            near = range(max(0, other_gap.start - REACH), min(len(others), other_gap.stop + REACH))
            return any(others[place].lower in _DENYING and place not in paired for place in near)
    return False


def _refusal(frame: Frame) -> _Clash | None:
    """Returns the clash of "is contraindicated" on one side and "can be used" on the other, or None."""
    claim, sentence = frame.claim, frame.sentence.tokens
    if all(any(token.lower in REFUSING for token in side) for side in (claim, sentence)):
        return None  # both refuse, each in its place
    for mine, theirs in frame.gaps():
        refused, advised = _last(claim, mine, REFUSING), _last(claim, mine, _ADVISING)
        their_refused, their_advised = _last(sentence, theirs, REFUSING), _last(sentence, theirs, _ADVISING)
        if _are_parted(claim, refused, advised) or _are_parted(sentence, their_refused, their_advised):
            continue
        here, there = (refused, their_advised) if refused is not None else (advised, their_refused)
        if (
            here is not None
            and there is not None
            and not _is_negated_near(claim, here, apart_from=here)
            and not _is_negated_near(sentence, there, apart_from=there)
            and not _differ_in_part(claim, sentence, there)
        ):
            return _Clash(_span(claim, here, here), _span(sentence, there, there))
    return None


def _last(tokens: Sequence[Token], indices: range, words: frozenset[str]) -> int | None:
    """Returns the last of `indices` with a token in `words`, or None."""
    return next((index for index in reversed(indices) if tokens[index].lower in words), None)


def _are_parted(tokens: Sequence[Token], refused: int | None, advised: int | None) -> bool:
    """Returns whether a mark parts a refused from an advised thing: "avoid straining, and use baths"."""
    if refused is None or advised is None:
        return False
    return any(token.lower in ENDS for token in tokens[refused:advised])


def _added_negation(frame: Frame) -> _Clash | None:
    """Returns the clash on a negation that only one of two near-copies has in a place, or None."""
    claim, sentence = frame.claim, frame.sentence.tokens
    in_claim = [index for index in range(len(claim)) if _reverses(claim, index)]
    in_sentence = [index for index in range(len(sentence)) if _reverses(sentence, index)]
    if len(in_claim) == len(in_sentence) or 0 < len(negations(claim)) == len(negations(sentence)):
        return None  # moved, not added
    for mine, theirs in frame.gaps():
        added = [index for index in in_claim if index in mine]
        their_added = [index for index in in_sentence if index in theirs]
        if (len(added) + len(their_added)) % 2 == 0 or max(len(mine), len(theirs)) > _LARGEST_GAP:
            continue
        # One side negates, and the other side has different words in the gap.
        if added:
            tokens, gap, others, other_gap = claim, mine, sentence, theirs
        else:
            tokens, gap, others, other_gap = sentence, theirs, claim, mine
        first = (added or their_added)[0]
        if (
            _is_excepted(tokens, others)
            or any(_prefix_negates(claim[index], sentence) for index in mine if claim[index].content)
            or any(_prefix_negates(sentence[index], claim) for index in theirs if sentence[index].content)
            or _denied_in_other_words(frame, first, in_claim=bool(added))
            or _reworded(tokens, gap, others, other_gap)
        ):
            continue
        place = other_gap[0] if other_gap else min(other_gap.start, len(others) - 1)
        negated = _span(tokens, first, min(first + 1, len(tokens) - 1))
        affirmed = _span(others, place, place)
        return _Clash(negated, affirmed) if added else _Clash(affirmed, negated)
    return None


def _is_excepted(negating: Sequence[Token], affirming: Sequence[Token]) -> bool:
    """Returns whether only the negating side has an exception: "not changed unless", "changed only if"."""
    excepted, known = ({token.lower for token in side} & _EXCEPTING for side in (negating, affirming))
    return bool(excepted) and not known


def _reverses(tokens: Sequence[Token], index: int) -> bool:
    """Returns whether the word reverses the sense of a near-copy, as "not" does.

    "Not only", "warns against" and the "not" of "juice, not tea", which a copy may leave out, do not.
    """
    lower = tokens[index].lower.replace("’", "'")
    if is_either_way(tokens, index):
        return False
    if (lower in REFUSING and not fails_in_condition(tokens, index)) or lower in (
        "without",
        "neither",
        "none",
    ):
        return True
    before = tokens[index - 1].lower if index else ""
    after, later = (tokens[at].lower if at < len(tokens) else "" for at in (index + 1, index + 2))
    is_bound = after in COMPARATIVES and later == "than"  # "no more than two" is "at most two"
    if lower in NOT and before not in ENDS and after not in ("only", "just") and not is_bound:
        return True
    verb = verb_of_against(tokens, index)
    return verb is not None and tokens[verb].lower in SPEAKING


def _reworded(tokens: Sequence[Token], gap: range, others: Sequence[Token], other_gap: range) -> bool:
    """Returns whether `others` say in other words what `tokens` negate: "keep" for "not stop".

    "Found" for "not find" is no other word: it is the opposite.
    """
    words, known = {tokens[index].lower for index in gap} - NOT, {token.key for token in tokens}
    if "without" in words and any(others[index].lower == "with" for index in other_gap):
        return False
    return any(
        others[index].lower in ("same", "alike")
        or (
            others[index].content
            and others[index].key not in known
            and not _affirms(others[index].lower, words)
        )
        for index in other_gap
    )


def _affirms(word: str, negated: Collection[str]) -> bool:
    """Returns whether `word` affirms what `negated` deny: "recommended" for "not advised". Any adverb may."""
    if word in _AFFIRMING or word.endswith("ly"):
        return True
    if any(word in said and not denied.isdisjoint(negated) for said, denied in _AFFIRMED_BY):
        return True
    said = directions(word)
    if said.keys() & _CHANGES and not _EFFECT.isdisjoint(negated):
        return True
    return any(
        verb_stems(word) & verb_stems(other) or said.items() & directions(other).items() for other in negated
    )
