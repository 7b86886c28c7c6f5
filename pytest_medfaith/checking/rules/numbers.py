"""Quantities that the evidence has otherwise for the same thing: a dose, duration, share, bound or age."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from pytest_medfaith.checking.rules.denials import negations
from pytest_medfaith.checking.rules.frames import Frame, frames
from pytest_medfaith.checking.rules.reordered import in_other_order
from pytest_medfaith.checking.rules.signs import signed_like
from pytest_medfaith.english.stems import word_key
from pytest_medfaith.english.words import Token, weight
from pytest_medfaith.quantities.quantity import (
    DOSES,
    MOST_DOSES,
    ROUGHNESS,
    Quantity,
    agree,
    allowed_error,
    differ,
)
from pytest_medfaith.quantities.reader import read_quantities
from pytest_medfaith.quantities.steps import step_of
from pytest_medfaith.quantities.strengths import in_equal_strength
from pytest_medfaith.records import Finding

# Fitted on the development part of the written pairs (bench/rules.py). With lower values, claims that compute
# with a number of the evidence, or apply it to a case, count as clashes.
NEAR_COPY = 0.5  # of the claim's words apart from the number are covered, in order
COPY = 0.8  # the same, where another place of the evidence states the claim's number
SAME_SUBJECT = 0.45  # of the claim's words are anywhere in the sentence
NEIGHBOURS = 3  # content words on each side that say what a number is of
LARGEST_FACTOR = 1_100.0  # mg for g is a slip; numbers further apart measure different things

# In a claim on a total the number may be a dose times the days: "280 mg in all".
_TOTAL = re.compile(
    r"\b(?:total(?:l?ing|l?ed)?|add(?:s|ing|ed)? up|altogether|in all|overall|course|whole|entire|tablets?|"
    r"pills?|capsules?|supply|packs?|sum)\b",
    re.IGNORECASE,
)
# A patient's value with a threshold or a dose by weight is arithmetic, not a clash: "a child of 20 kg takes
# 50 mg".
_INSTANCE = re.compile(
    r"\b(?:someone|somebody|whose|person|man|woman|patient|child|adult|girl|boy|baby|newborn|infant|smoker)\b"
    r"|\b(?:years?|months?|weeks?|days?|hours?)[\s-]old\b"
    r"|\b(?:an?|your|his|her|my|this|the patient's)\s+(?:[\w-]+\s+){0,4}(?:of|is|at|reading|score|level|"
    r"aged|weighing|measuring)\s+(?:about\s+)?\d"
    r"|\ban?\s+[\d.]+[\s-]?(?:kg|mm|cm|g)\b|\b(?:too|still|not yet|already|enough|"
    r"(?:earlier|later|sooner|more|less|longer|shorter) than (?:is |was )?(?:intended|advised|recommended|"
    r"allowed|needed|usual))\b",
    re.IGNORECASE,
)

_CELL = re.compile(r"(?:^|[;|])\s*[^;:|]{2,60}:\s*[^;:|]*\d")  # "Stage I: 88%; stage IV: 25%" has two
_FACTOR = re.compile(r"\d{1,2}\s?[×xX]\s?\d")  # grounding computes products: "2 x 500 mg"
_COMPARED = word_key("compared")
# Number words and words such as "about" do not say what a number is of.
_UNTELLING = re.compile(
    r"[\d.,]+%?|one|two|thre|four|five|six|seven|eight|nine|ten|about|approximate\w*|almost|near\w*|"
    r"rough\w*|around|some|least|most"
)


@dataclass(frozen=True)
class _Texts:
    """Claim and evidence with their quantities: `stated` in the claim, `known` in the evidence."""

    claim: str
    evidence: str
    stated: Sequence[Quantity]
    known: Sequence[Quantity]


@dataclass(frozen=True)
class _Neighbours:
    """The keys (stems) of the content words before and after a quantity, in order."""

    before: tuple[str, ...]
    after: tuple[str, ...]


def numbers(claim: str, evidence: str) -> list[Finding]:
    """Returns a finding (effect "refute") for each quantity of the claim that the evidence has otherwise.

    Example: "5 mg a day" against "50 mg a day" of the same drug. Units are converted, ranges and bounds may
    overlap, and a dose with its frequency also counts as a dose a day. A claim that may have computed its
    number, or applies a threshold to a patient, gives a finding only where it is nearly a copy of the
    sentence.
    """
    texts = _Texts(claim, evidence, read_quantities(claim), read_quantities(evidence))
    in_row = (
        len(_CELL.findall(claim)) > 1 or "→" in claim
    )  # grounding compares rows: the words around a number are of others
    found: list[Finding] = []
    for quantity in texts.stated if texts.known else ():
        if in_equal_strength(quantity, claim, evidence) or _FACTOR.match(claim, quantity.start):
            continue
        signed = (signed_like(other, quantity, claim=claim, text=evidence) for other in texts.known)
        comparable = [
            other
            for other in signed
            if _same_kind(quantity, other) and not _is_of_another_step(quantity, other, claim, evidence)
        ]
        if in_row and any(agree(quantity, other) for other in comparable):
            continue
        other = _clash(quantity, comparable, texts) if comparable else None
        if other:
            mine, theirs = (quantity.start, quantity.end), (other.start, other.end)
            message = f"claim says {claim[slice(*mine)]}, evidence says {evidence[slice(*theirs)]}"
            found.append(
                Finding(
                    rule="numbers", message=message, claim_span=mine, evidence_span=theirs, effect="refute"
                )
            )
    return found


def _same_kind(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether two quantities can be compared: dimension, role and things counted are the same.

    The larger one must not be more than 1,100 times the smaller.
    """
    if quantity.dimension != other.dimension or quantity.role != other.role:
        return False
    if quantity.dimension == "count" and not quantity.heads & other.heads:
        return False
    small, large = sorted((abs(quantity.high), abs(other.high)))
    return small > 0 and large / small <= LARGEST_FACTOR


def _is_of_another_step(quantity: Quantity, other: Quantity, claim: str, evidence: str) -> bool:
    """Returns whether "by 20" is held against "from 160 to 140": the size of a change against its ends."""
    mine, theirs = step_of(quantity, claim), step_of(other, evidence)
    return mine is not None and theirs is not None and (mine == "by") != (theirs == "by")


def _clash(quantity: Quantity, comparable: Sequence[Quantity], texts: _Texts) -> Quantity | None:
    """Returns the quantity of the evidence that contradicts `quantity`; None for none.

    `comparable` are the quantities of the evidence of the same kind.
    """
    if quantity.course and _states_both_ends(comparable, quantity):
        return None
    laid = frames(texts.claim, texts.evidence)
    # A ceiling allows a dose without stating it: "maximum 2,550 mg".
    is_dose = not quantity.bound and quantity.dimension.split("/")[0] in DOSES
    agreeing = [
        other for other in comparable if agree(quantity, other) and not (is_dose and other.bound == "max")
    ]
    # In a sentence on something else the same amount does not take back what a near-copy says.
    stated_of_it = any(frame.reaches(other.start) for other in agreeing for frame in laid)
    for frame in laid:
        inside = [
            other
            for other in comparable
            if frame.reaches(other.start) and not _is_inverse(quantity, other, frame)
        ]
        if not inside or len(negations(frame.claim)) % 2 != len(negations(frame.sentence.tokens)) % 2:
            continue
        aligned = _aligned(quantity, inside, frame)
        if aligned and in_other_order(quantity, texts.claim, *_in_sentence(aligned, frame, texts.evidence)):
            continue
        if aligned and _copied(quantity, aligned, frame, texts, least=COPY):
            return aligned if differ(quantity, aligned) else None
        if (
            aligned
            and not stated_of_it
            and not _may_be_case(quantity, aligned)
            and _copied(quantity, aligned, frame, texts, least=NEAR_COPY)
        ):
            return aligned
        other = aligned or _closest(quantity, inside, frame)
        if (
            other
            and not agreeing
            and frame.shared >= SAME_SUBJECT
            and _neighbours_in_common(quantity, other, frame) >= 1
            and not _may_follow(quantity, other, texts)
        ):
            return other
    return None


def _in_sentence(quantity: Quantity, frame: Frame, evidence: str) -> tuple[Quantity, str]:
    """Returns a quantity of `evidence` with its place in the sentence of `frame`, and that sentence."""
    start, end = frame.sentence.start, frame.sentence.end
    return replace(quantity, start=quantity.start - start, end=quantity.end - start), evidence[start:end]


def _states_both_ends(others: Sequence[Quantity], rise: Quantity) -> bool:
    """Returns whether `others` state both ends of a rise ("from 5 to 10"), together or one by one."""
    ends = {value for other in others for value in (other.low, other.high)}
    return all(
        any(abs(end - value) <= allowed_error(rise) for end in ends) for value in (rise.low, rise.high)
    )


def _is_inverse(quantity: Quantity, other: Quantity, frame: Frame) -> bool:
    """Returns whether two multiples say the same from opposite sides.

    "A is twice as likely as B" says what "B is half as likely as A" says.
    """
    if quantity.dimension != "multiple" or abs(quantity.high * other.high - 1) > ROUGHNESS:
        return False
    (before, after), (their_before, their_after) = (
        _sides(quantity, frame.claim),
        _sides(other, frame.sentence.tokens),
    )
    back = (after - before) & (their_before - their_after)
    forth = (before - after) & (their_after - their_before)
    # A clause that was put first moves words in one way only, and so does "compared with women, ...".
    compared = _COMPARED in before | their_before
    return bool(back and forth) or bool(compared and (back or forth))


def _sides(quantity: Quantity, tokens: Sequence[Token]) -> tuple[set[str], set[str]]:
    """Returns the keys of all content words before and after the quantity."""
    content = [token for token in tokens if token.content]
    return {token.key for token in content if token.end <= quantity.start}, {
        token.key for token in content if token.start >= quantity.end
    }


def _aligned(quantity: Quantity, others: Sequence[Quantity], frame: Frame) -> Quantity | None:
    """Returns the quantity of the sentence in the place where the claim has `quantity`, or None.

    If the claim has its clauses in another order, this is the only quantity with the same word on both sides.
    """
    sentence = frame.sentence.tokens
    for index in frame.indices(quantity.start, quantity.end):
        place = sentence[frame.pairs[index]].start if index in frame.pairs else None
        for other in others:
            if place is not None and other.start <= place < other.end and other.role == quantity.role:
                return other
    mine = _neighbours(quantity, frame.claim, 1)
    same = [other for other in others if _neighbours(other, sentence, 1) == mine]
    return same[0] if len(same) == 1 and mine.before and mine.after else None


def _closest(quantity: Quantity, others: Sequence[Quantity], frame: Frame) -> Quantity | None:
    """Returns the quantity of `others` that shares most neighbouring words with `quantity`; None in a tie."""
    rated = [(_neighbours_in_common(quantity, other, frame), other) for other in others]
    most = max(rating for rating, _ in rated)
    best = [other for rating, other in rated if rating == most]
    return best[0] if len(best) == 1 else None


def _copied(quantity: Quantity, other: Quantity, frame: Frame, texts: _Texts, *, least: float) -> bool:
    """Returns whether claim and sentence are alike apart from the two quantities.

    On at least one side both quantities have the same word next to them; on both sides if `least` is COPY.
    Words of other quantities may be between: "500 mg once daily by mouth", "250 mg once a day by mouth".

    Args:
        quantity: a quantity of the claim.
        other: a quantity of the sentence.
        frame: claim and sentence, aligned.
        texts: claim and evidence.
        least: the least share of the claim's other words that is covered.
    """
    if frame.coverage_without(frame.indices(quantity.start, quantity.end)) < least:
        return False
    claim, sentence = frame.claim, frame.sentence.tokens
    for mine, theirs in (
        (claim, sentence),
        (_without(claim, texts.stated), _without(sentence, texts.known)),
    ):
        near, their_near = _neighbours(quantity, mine, 1), _neighbours(other, theirs, 1)
        one_side = (near.before and near.before == their_near.before) or (
            near.after and near.after == their_near.after
        )
        if one_side and (least < COPY or near == their_near):
            return True
    return False


def _without(tokens: Sequence[Token], quantities: Sequence[Quantity]) -> list[Token]:
    """Returns the tokens that are part of no quantity."""
    return [token for token in tokens if not any(each.start <= token.start < each.end for each in quantities)]


def _neighbours_in_common(quantity: Quantity, other: Quantity, frame: Frame) -> float:
    """Returns the summed weight of the words, up to three on each side, that both have around them."""
    mine = _neighbours(quantity, frame.claim, NEIGHBOURS)
    theirs = _neighbours(other, frame.sentence.tokens, NEIGHBOURS)
    return sum(map(weight, {*mine.before, *mine.after} & {*theirs.before, *theirs.after}))


def _neighbours(quantity: Quantity, tokens: Sequence[Token], most: int) -> _Neighbours:
    """Returns the nearest words that tell what the quantity is of, at most `most` on each side."""
    telling = [token for token in tokens if token.content and not _UNTELLING.fullmatch(token.key)]
    before = [token.key for token in telling if token.end <= quantity.start]
    after = [token.key for token in telling if token.start >= quantity.end]
    return _Neighbours(tuple(before[-most:]), tuple(after[:most]))


def _may_follow(quantity: Quantity, other: Quantity, texts: _Texts) -> bool:
    """Returns whether the claim's number may be computed from evidence, or be a patient's value."""
    by_weight = any(each.dimension.startswith(quantity.dimension + "/") for each in texts.known)
    if quantity.heads == {"person"} or by_weight or _may_be_case(quantity, other):
        return True
    if _INSTANCE.search(texts.claim):
        return True
    at_hand = (*texts.known, *texts.stated)
    return not (quantity.course and other.course) and _computed(quantity, at_hand, texts.claim)


def _may_be_case(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether the claim's value may be a patient's value for a threshold of the evidence."""
    return bool(other.bound) and quantity.bound != other.bound


def _computed(quantity: Quantity, at_hand: Sequence[Quantity], claim: str) -> bool:
    """Returns whether `quantity` is a sum, difference, product, ratio or complement of those in `at_hand`.

    Times count only for a time, and where the claim speaks of a total.
    """
    is_total = _TOTAL.search(claim)
    others = [
        other
        for other in at_hand
        if other != quantity and (is_total or quantity.dimension == "time" or other.dimension != "time")
    ]
    same = sorted(
        {
            value
            for other in others
            if other.dimension == quantity.dimension
            for value in (other.low, other.high)
        }
    )
    every = {value for other in others for value in (other.low, other.high) if value}
    results = [result for one, two in combinations(same, 2) for result in (one + two, two - one)]
    results += [result for one in same for two in every for result in (one * two, one / two)]
    if quantity.dimension in ("fraction", "multiple"):
        results += [1 - one for one in same]
    if is_total and quantity.dimension.split("/")[0] in DOSES:
        results += [one * times for one in same for times in range(2, MOST_DOSES + 1)]
    allowed = max(allowed_error(quantity), 0.02 * abs(quantity.high))
    return any(min(abs(result - quantity.low), abs(result - quantity.high)) <= allowed for result in results)
