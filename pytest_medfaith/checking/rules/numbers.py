"""Quantities that clash: another dose, duration, frequency, share, bound or age where claim and evidence speak of the same thing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

from pytest_medfaith.checking.rules.frames import Frame, frames
from pytest_medfaith.checking.rules.negation import negations
from pytest_medfaith.checking.rules.signs import mirrored
from pytest_medfaith.english.stems import word_key
from pytest_medfaith.english.words import Token, weight
from pytest_medfaith.quantities.quantity import MOST_DOSES, ROUGHNESS, Quantity, agree, allowed_error, differ
from pytest_medfaith.quantities.reader import read_quantities
from pytest_medfaith.quantities.strengths import in_equal_strength
from pytest_medfaith.records import Finding

# Fitted on the development part of the written pairs (bench/rules.py): below these, claims that compute with a number of the evidence,
# or apply it to a case, are taken for clashes.
NEAR_COPY = 0.5  # of the claim's other words stand in the sentence in the claim's order, and the two numbers in the same place
COPY = 0.8  # the same, for a number that the evidence does hold, but elsewhere
SAME_SUBJECT = 0.45  # of the claim's words stand anywhere in the sentence
NEIGHBOURS = 3  # content words on each side that say what a number belongs to

LARGEST_FACTOR = 1_100.0  # mg for g is a slip that happens; numbers further apart measure different things

_DOSES = frozenset({"mass", "volume", "unit", "amount", "equivalent"})
# Where a claim speaks of a total, its number may be a dose times the days: "280 mg in all".
_TOTAL = re.compile(
    r"\b(?:total(?:l?ing|l?ed)?|add(?:s|ing|ed)? up|altogether|in all|overall|course|whole|entire|tablets?|"
    r"pills?|capsules?|supply|packs?|sum)\b",
    re.IGNORECASE,
)
# One patient's value against a rule's threshold ("a child of 20 kg takes 50 mg") is arithmetic, not a clash.
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

_COMPARED = word_key("compared")
_UNTELLING = re.compile(
    r"[\d.,]+%?|one|two|thre|four|five|six|seven|eight|nine|ten|about|approximate\w*|almost|near\w*|"
    r"rough\w*|around|some|least|most"
)


def numbers(claim: str, evidence: str) -> list[Finding]:
    """Returns a finding for each quantity of the claim that the evidence states otherwise of the same thing; see `Quantity`.

    Units of one dimension are converted, ranges and bounds may overlap, a dose with its frequency is a dose a day. A claim that may have
    computed its number, or applies a threshold to a case, clashes only where it is all but a copy of the sentence.
    """
    stated, known = read_quantities(claim), read_quantities(evidence)
    found: list[Finding] = []
    for quantity in stated if known else ():
        if in_equal_strength(quantity, claim, evidence):
            continue
        turned = [mirrored(other, quantity, claim=claim, text=evidence) for other in known]
        comparable = [other for other in turned if _same_kind(quantity, other)]
        clash = _clash(quantity, comparable, stated, known, claim, evidence) if comparable else None
        if clash:
            found.append(_finding(quantity, clash, claim, evidence))
    return found


def _clash(
    quantity: Quantity,
    comparable: Sequence[Quantity],
    stated: Sequence[Quantity],
    known: Sequence[Quantity],
    claim: str,
    evidence: str,
) -> Quantity | None:
    if quantity.course and _both_stated(quantity, comparable):
        return None
    laid = frames(claim, evidence)
    agreeing = [other for other in comparable if agree(quantity, other) and not _only_limits(quantity, other)]
    # the same amount in a sentence on something else does not say that of a near-copy
    stated_of_it = any(
        frame.sentence.start <= other.start < frame.sentence.end for other in agreeing for frame in laid
    )
    for frame in laid:
        inside = [
            other
            for other in comparable
            if frame.sentence.start <= other.start < frame.sentence.end
            and not _turned_round(quantity, other, frame)
        ]
        if not inside or len(negations(frame.claim)) % 2 != len(negations(frame.sentence.tokens)) % 2:
            continue
        aligned = _aligned(quantity, inside, frame) or _between_same_words(quantity, inside, frame)
        if aligned and _copied(quantity, aligned, frame, stated, known, least=COPY):
            return aligned if differ(quantity, aligned) else None
        if (
            aligned
            and not stated_of_it
            and not _applied(quantity, aligned)
            and _copied(quantity, aligned, frame, stated, known, least=NEAR_COPY)
        ):
            return aligned
        one = aligned or _closest(quantity, inside, frame)
        if (
            one
            and not agreeing
            and frame.shared >= SAME_SUBJECT
            and _speaks_of_same(quantity, one, frame)
            and not _may_follow(quantity, one, known, claim)
        ):
            return one
    return None


def _turned_round(quantity: Quantity, other: Quantity, frame: Frame) -> bool:
    """Returns whether one multiple is the other's inverse with a name on the other side: "A is twice as likely as B", "B half as likely as A"."""
    if quantity.dimension != "multiple" or abs(quantity.high * other.high - 1) > ROUGHNESS:
        return False
    mine, theirs = _sides(quantity, frame.claim), _sides(other, frame.sentence.tokens)
    back, forth = (mine[1] - mine[0]) & (theirs[0] - theirs[1]), (mine[0] - mine[1]) & (theirs[1] - theirs[0])
    # a clause put first moves words one way only, and so does "compared with women, ..."
    compared = _COMPARED in mine[0] | theirs[0]
    return bool(back and forth) or bool(compared and (back or forth))


def _sides(quantity: Quantity, tokens: Sequence[Token]) -> tuple[set[str], set[str]]:
    """Returns the keys of the content words before and after the quantity."""
    content = [token for token in tokens if token.content]
    return {token.key for token in content if token.end <= quantity.start}, {
        token.key for token in content if token.start >= quantity.end
    }


def _aligned(quantity: Quantity, others: Sequence[Quantity], frame: Frame) -> Quantity | None:
    """Returns the quantity of the sentence that stands where the claim has `quantity`."""
    for index in _indices(quantity, frame.claim):
        place = frame.sentence.tokens[frame.pairs[index]].start if index in frame.pairs else None
        for other in others:
            if place is not None and other.start <= place < other.end and other.role == quantity.role:
                return other
    return None


def _between_same_words(quantity: Quantity, others: Sequence[Quantity], frame: Frame) -> Quantity | None:
    """Returns the one quantity of the sentence that has the same words next to it on both sides; a claim may have turned its clauses round."""
    mine = _around(quantity, frame.claim, 1)
    same = [other for other in others if _around(other, frame.sentence.tokens, 1) == mine]
    return same[0] if len(same) == 1 and all(mine) else None


def _closest(quantity: Quantity, others: Sequence[Quantity], frame: Frame) -> Quantity | None:
    """Returns the quantity of the sentence with the most of the claim's neighbouring words around it; None where two have as many."""
    mine = _around(quantity, frame.claim, NEIGHBOURS)
    shared = sorted(
        (
            (_in_common(mine, _around(other, frame.sentence.tokens, NEIGHBOURS)), -other.start, other)
            for other in others
        ),
        key=lambda row: row[:2],
    )
    best = shared[-1]
    return best[2] if len(shared) == 1 or best[0] > shared[-2][0] else None


def _copied(
    quantity: Quantity,
    other: Quantity,
    frame: Frame,
    stated: Sequence[Quantity],
    known: Sequence[Quantity],
    *,
    least: float,
) -> bool:
    """Returns whether claim and sentence are alike but for the two quantities, with the same word next to them on one side at least.

    The words of other quantities may stand between: "500 mg once daily by mouth" and "250 mg once a day by mouth".
    """
    if frame.coverage_without(_indices(quantity, frame.claim)) < least:
        return False
    for mine, theirs in (
        (frame.claim, frame.sentence.tokens),
        (_outside(frame.claim, stated), _outside(frame.sentence.tokens, known)),
    ):
        left, right = _around(quantity, mine, 1), _around(other, theirs, 1)
        if any(one and one == two for one, two in zip(left, right, strict=True)) and (
            least < COPY or left == right
        ):
            return True
    return False


def _outside(tokens: Sequence[Token], quantities: Sequence[Quantity]) -> list[Token]:
    """Returns the tokens that are part of no quantity."""
    return [token for token in tokens if not any(each.start <= token.start < each.end for each in quantities)]


def _speaks_of_same(quantity: Quantity, other: Quantity, frame: Frame) -> bool:
    mine, theirs = (
        _around(quantity, frame.claim, NEIGHBOURS),
        _around(other, frame.sentence.tokens, NEIGHBOURS),
    )
    return _in_common(mine, theirs) >= 1


def _may_follow(quantity: Quantity, other: Quantity, known: Sequence[Quantity], claim: str) -> bool:
    """Returns whether the claim's number may follow from the evidence without standing there."""
    by_weight = any(each.dimension.startswith(quantity.dimension + "/") for each in known)
    people = quantity.heads == {"person"}
    return (
        people
        or by_weight
        or _applied(quantity, other)
        or bool(_INSTANCE.search(claim))
        or (
            not (quantity.course and other.course)
            and _computed(quantity, (*known, *read_quantities(claim)), claim)
        )
    )


def _applied(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether the claim's value may be a case of the evidence's threshold."""
    return bool(other.bound) and quantity.bound != other.bound


def _only_limits(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether `other` is a ceiling that allows the dose `quantity` without stating it: "maximum 2,550 mg"."""
    return other.bound == "max" and not quantity.bound and quantity.dimension.split("/")[0] in _DOSES


def _both_stated(quantity: Quantity, others: Sequence[Quantity]) -> bool:
    """Returns whether `others` state both ends of a rise, be it one here and one there: "from 5 to 10 mg, then from 10 to 20 mg"."""
    ends = {value for other in others for value in (other.low, other.high)}
    return all(
        any(abs(end - value) <= allowed_error(quantity) for end in ends)
        for value in (quantity.low, quantity.high)
    )


def _computed(quantity: Quantity, numbers_at_hand: Sequence[Quantity], claim: str) -> bool:
    """Returns whether `quantity` is a sum, difference, product, ratio or complement of the other numbers; times make totals only."""
    if quantity.dimension != "time" and not _TOTAL.search(claim):
        numbers_at_hand = [other for other in numbers_at_hand if other.dimension != "time"]
    same = sorted(
        {
            value
            for other in numbers_at_hand
            if other.dimension == quantity.dimension and other != quantity
            for value in (other.low, other.high)
        }
    )
    every = sorted(
        {
            value
            for other in numbers_at_hand
            if other != quantity
            for value in (other.low, other.high)
            if value
        }
    )
    results = [result for one, two in combinations(same, 2) for result in (one + two, two - one)]
    results += [result for one in same for two in every for result in (one * two, one / two)]
    if quantity.dimension in ("fraction", "multiple"):
        results += [1 - one for one in same]
    if quantity.dimension.split("/")[0] in _DOSES and _TOTAL.search(claim):
        results += [one * times for one in same for times in range(2, MOST_DOSES + 1)]
    allowed = max(allowed_error(quantity), 0.02 * abs(quantity.high))
    return any(min(abs(result - quantity.low), abs(result - quantity.high)) <= allowed for result in results)


def _same_kind(quantity: Quantity, other: Quantity) -> bool:
    if quantity.dimension != other.dimension or quantity.role != other.role:
        return False
    if quantity.dimension == "count" and not quantity.heads & other.heads:
        return False
    small, large = sorted((abs(quantity.high), abs(other.high)))
    return small > 0 and large / small <= LARGEST_FACTOR


def _indices(quantity: Quantity, tokens: Sequence[Token]) -> list[int]:
    return [index for index, token in enumerate(tokens) if quantity.start <= token.start < quantity.end]


def _around(
    quantity: Quantity, tokens: Sequence[Token], most: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the keys of the nearest words before and after the quantity that say what it is of: content, and no number or "about"."""
    telling = [token for token in tokens if token.content and not _UNTELLING.fullmatch(token.key)]
    before = [token.key for token in telling if token.end <= quantity.start]
    after = [token.key for token in telling if token.start >= quantity.end]
    return tuple(before[-most:]), tuple(after[:most])


def _in_common(
    mine: tuple[tuple[str, ...], tuple[str, ...]], theirs: tuple[tuple[str, ...], tuple[str, ...]]
) -> float:
    """Returns the weight of the words that both quantities have around them."""
    return sum(map(weight, {*mine[0], *mine[1]} & {*theirs[0], *theirs[1]}))


def _finding(quantity: Quantity, other: Quantity, claim: str, evidence: str) -> Finding:
    return Finding(
        rule="numbers",
        message=f"claim says {claim[quantity.start : quantity.end]}, evidence says {evidence[other.start : other.end]}",
        claim_span=(quantity.start, quantity.end),
        evidence_span=(other.start, other.end),
        effect="refute",
    )
