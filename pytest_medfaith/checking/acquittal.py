"""Takes back refutations that rest on the model's doubt alone, of claims that say what their evidence says.

Examples: the model weakly refutes "Take 400 mg twice a day" against "The dose is 400 mg two times daily". It
refutes "A lasts longer than B" against "B is shorter than A".
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_medfaith.checking.anchors.evidence import shared_with
from pytest_medfaith.checking.anchors.sequence import read_sequence
from pytest_medfaith.checking.policy import Thresholds, entails
from pytest_medfaith.checking.rules.comparisons import read_comparisons, swapped_comparisons
from pytest_medfaith.checking.rules.denials import negations
from pytest_medfaith.english.words import read_tokens
from pytest_medfaith.quantities.quantity import same_quantity
from pytest_medfaith.quantities.reader import read_quantities
from pytest_medfaith.records import Chunk, PairScore, Verdict

NEAR_WORDING = 0.5  # the share of the claim's words, its quantities aside, that the sentence has to hold


def acquitted(
    verdict: Verdict,
    scores: Sequence[PairScore],
    chunks: Sequence[Chunk],
    thresholds: Thresholds,
    *,
    doubt: float,
) -> Verdict:
    """Returns `verdict` with the refutation taken back, where it rests on the model's doubt alone.

    A refutation is taken back if no rule has refuted the claim and the deciding sentence of the evidence
    shares its words and denies as often. Besides, one of two things must hold: the sentence states each
    quantity of the claim and the model is not certain, or the sentence says the claim from the opposite side
    ("A is longer than B", "B is shorter than A"). The claim is then supported if the chunk also entails it,
    else unsupported. Any other verdict comes back unchanged.

    Args:
        verdict: the verdict after the rules.
        scores: the model's scores of the claim with each chunk.
        chunks: the chunks that `scores` name.
        thresholds: from which probability on a chunk supports or refutes.
        doubt: how much of the way from the threshold of contradiction to 1 still counts as doubt, 0 to 1.
    """
    score = next((score for score in scores if score.chunk_id == verdict.chunk_id), None)
    chunk = next((chunk for chunk in chunks if chunk.id == verdict.chunk_id), None)
    by_rule = any(finding.effect != "note" for finding in verdict.findings)
    if verdict.label != "refuted" or by_rule or score is None or chunk is None or score.span is None:
        return verdict
    sentence = chunk.text[slice(*score.span)]
    certain = score.probs[2] > thresholds.contradict + doubt * (1 - thresholds.contradict)
    reason = _mirrored(verdict.claim.text, sentence)
    if not reason and (certain or not _agrees(verdict.claim.text, sentence)):
        return verdict
    supported = entails(score.probs, thresholds)
    supporting = tuple(dict.fromkeys((*verdict.supporting, score.chunk_id))) if supported else ()
    return verdict.with_(
        label="supported" if supported else "unsupported",
        score=score.probs[0],
        supporting=supporting,
        reason=reason or "every quantity agrees with the evidence",
    )


def _mirrored(claim: str, sentence: str) -> str:
    """Returns the reason why the claim says from the opposite side what the sentence says; "" if it does not.

    "A is longer than B" says what "B is shorter than A" says, and "A before B" what "B after A" says.
    """
    stated, known = read_tokens(claim), read_tokens(sentence)
    if (
        read_quantities(claim)
        or len(negations(stated)) != len(negations(known))
        or shared_with(claim, 0, 0, sentence) < NEAR_WORDING
    ):
        return ""
    compared = len(read_comparisons(stated)) == len(read_comparisons(known)) == 1
    swapped = swapped_comparisons(stated, known) if compared else None
    if swapped and swapped[0].mirrors(swapped[1]):
        return "the evidence compares the same from the opposite side"
    order, known_order = read_sequence(claim), read_sequence(sentence)
    agree = order and known_order and order.agrees(known_order)
    return "the evidence puts both in the same order" if agree else ""


def _agrees(claim: str, sentence: str) -> bool:
    """Returns whether the sentence states each quantity of the claim in nearly the claim's words.

    False without quantities, and where the sentence has a further quantity of the same kind: in "40 mg, in
    people over 60 20 mg" only the model can tell which dose the claim is about.
    """
    stated, known = read_quantities(claim), read_quantities(sentence)
    if not stated or not all(any(same_quantity(each, there) for there in known) for each in stated):
        return False
    kinds = {each.dimension for each in stated}
    if any(
        there.dimension in kinds and not any(same_quantity(each, there) for each in stated) for there in known
    ):
        return False
    denials, known_denials = (len(negations(read_tokens(text))) for text in (claim, sentence))
    first, last = (stated[0].start, stated[0].end) if len(stated) == 1 else (0, 0)
    return denials == known_denials and shared_with(claim, first, last, sentence) >= NEAR_WORDING
