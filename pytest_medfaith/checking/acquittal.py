"""Where all quantities of a claim agree with its sentence: the claim in the sentence's own units, and verdicts that must not refute."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_medfaith.checking.anchors.evidence import shared_with
from pytest_medfaith.checking.anchors.sequence import read_sequence
from pytest_medfaith.checking.policy import Thresholds, entails
from pytest_medfaith.checking.rules.comparisons import read_comparisons, swapped_comparisons
from pytest_medfaith.checking.rules.negation import negations
from pytest_medfaith.english.words import read_tokens
from pytest_medfaith.quantities.quantity import Quantity, allowed_error, opposed_bounds
from pytest_medfaith.quantities.reader import read_quantities
from pytest_medfaith.records import Chunk, PairScore, Verdict

NEAR_WORDING = 0.5  # of the claim's other words that the sentence holds
# How far above its threshold a refutation may lie and still be a doubt: this part of the way to certainty.
DOUBT = 0.5


def restated(claim: str, sentence: str) -> str:
    """Returns `claim` with its quantities as `sentence` writes them: "0.4 mg" as "400 micrograms", "BD" as "twice a day"; `claim` where none differs.

    A small model compares the digits that it reads. Where two quantities are one after conversion it is to read the same digits.
    """
    known = read_quantities(sentence)
    text = claim
    for quantity in reversed(read_quantities(claim)):
        other = next((other for other in known if _same(quantity, other)), None)
        if other is not None:
            text = text[: quantity.start] + sentence[other.start : other.end] + text[quantity.end :]
    return text


def acquitted(
    verdict: Verdict, scores: Sequence[PairScore], chunks: Sequence[Chunk], thresholds: Thresholds
) -> Verdict:
    """Returns a refutation that only the model's doubt rests on as what is left of it, where all of the claim's quantities agree with the sentence.

    No rule has refuted, the claim holds a number, its wording is near, denies as often as the sentence, and the probability of contradiction lies
    in the lower half above its threshold: then it is supported where the chunk entails it too, else unsupported.
    """
    score = next((score for score in scores if score.chunk_id == verdict.chunk_id), None)
    chunk = next((chunk for chunk in chunks if chunk.id == verdict.chunk_id), None)
    if verdict.label != "refuted" or verdict.findings or score is None or chunk is None or score.span is None:
        return verdict
    sentence = chunk.text[slice(*score.span)]
    certain = score.probs[2] > thresholds.contradict + DOUBT * (1 - thresholds.contradict)
    reason = _mirrors(verdict.claim.text, sentence)
    if not reason and (certain or not _agrees(verdict.claim.text, sentence)):
        return verdict
    label = "supported" if entails(score, thresholds) else "unsupported"
    supporting = tuple(dict.fromkeys((*verdict.supporting, score.chunk_id))) if label == "supported" else ()
    return verdict.with_(
        label=label,
        score=score.probs[0],
        supporting=supporting,
        reason=reason or "every quantity agrees with the evidence",
    )


def _mirrors(claim: str, sentence: str) -> str:
    """Returns why the claim says what the sentence says, seen from the opposite side: "A longer than B" of "B shorter than A"; else an empty text."""
    mine, theirs = read_tokens(claim), read_tokens(sentence)
    if (
        read_quantities(claim)
        or len(negations(mine)) != len(negations(theirs))
        or shared_with(claim, 0, 0, sentence) < NEAR_WORDING
    ):
        return ""
    own, their = read_comparisons(mine), read_comparisons(theirs)
    swapped = swapped_comparisons(mine, theirs) if len(own) == len(their) == 1 else None
    if swapped and swapped[0].mirrors(swapped[1]):
        return "the evidence compares the same from the opposite side"
    order, other = read_sequence(claim), read_sequence(sentence)
    return "the evidence puts both in the same order" if order and other and order.agrees(other) else ""


def _agrees(claim: str, sentence: str) -> bool:
    """Returns whether the sentence states every quantity of the claim, of which there is one at least, in nearly the claim's words."""
    stated, known = read_quantities(claim), read_quantities(sentence)
    if not stated or not all(any(_same(quantity, other) for other in known) for quantity in stated):
        return False
    kinds = {quantity.dimension for quantity in stated}
    if any(
        other.dimension in kinds and not any(_same(quantity, other) for quantity in stated) for other in known
    ):
        return False  # "40 mg, in people over 60 20 mg": which of the two it is, only the model tells
    own, their = (len(negations(read_tokens(text))) for text in (claim, sentence))
    first, last = (stated[0].start, stated[0].end) if len(stated) == 1 else (0, 0)
    return own == their and shared_with(claim, first, last, sentence) >= NEAR_WORDING


def _same(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether both state one quantity with no opposite bounds."""
    if (
        quantity.dimension != other.dimension
        or quantity.role != other.role
        or opposed_bounds(quantity, other)
        or quantity.heads != other.heads
    ):
        return False
    allowed = max(allowed_error(quantity), allowed_error(other), 1e-9 * abs(quantity.high))
    return abs(quantity.low - other.low) <= allowed and abs(quantity.high - other.high) <= allowed
