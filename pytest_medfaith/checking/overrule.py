"""Applies the medical rules after the model: they find errors that it missed, and can overturn its verdict.

Example: the model supports "Take 50 mg a day" by the sentence "Take 5 mg a day". The rule `numbers` finds 50
against 5, a clash. The claim is refuted, unless another chunk supports it in a sentence as near to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_medfaith.checking.rules import Rule, chunk_findings
from pytest_medfaith.records import Chunk, Finding, PairScore, Verdict
from pytest_medfaith.scoring.windows import shared_words

# Rules read the chunk that supports the claim, and this many chunks whose best sentence shares most words
# with the claim, at least this share of them. Other chunks do not speak of the claim.
CHUNKS_READ = 3
LEAST_SHARED = 0.5


def overrule(
    verdict: Verdict,
    scores: Sequence[PairScore],
    chunks: Sequence[Chunk],
    *,
    rules: Mapping[str, Rule],
    quoting: str = "",
) -> Verdict:
    """Returns `verdict` after the rules that read single sentences, with their findings.

    A clash is a finding that claim and sentence contradict each other, as "50 mg" and "5 mg" do.

    * A claim that a chunk quotes is supported by that chunk.
    * A chunk whose sentence clashes with the claim no longer supports it. If no other chunk does, a clash of
      the effect "refute" makes the claim refuted, and a clash of the effect "weaken" makes it unsupported.
    * A supporting chunk without a clash keeps the claim supported and sets `conflict`, if its sentence is as
      near to the claim as the clashing one. The nearest sentence is the one that speaks of the claim.

    Args:
        verdict: the model's verdict.
        scores: the model's scores of the claim, one for each chunk.
        chunks: the chunks that `scores` name.
        rules: the rules in use, by name.
        quoting: the id of the chunk that quotes the claim; "" where none does.
    """
    by_id = {chunk.id: chunk for chunk in chunks}
    spans = {score.chunk_id: score.span for score in scores if score.span and score.chunk_id in by_id}
    claim = verdict.claim.text
    shares = {name: shared_words(claim, by_id[name].text[slice(*span)]) for name, span in spans.items()}
    found = {
        name: chunk_findings(claim, by_id[name], spans[name], rules) for name in _speaking(verdict, shares)
    }
    notes = [each for findings in found.values() for each in findings if each.effect == "note"]
    clashes = {name: [each for each in findings if each.effect != "note"] for name, findings in found.items()}
    verdict = _weighed(verdict, scores, clashes, shares, quoting)
    return verdict.with_(findings=(*verdict.findings, *notes)) if notes else verdict


def _speaking(verdict: Verdict, shares: Mapping[str, float]) -> list[str]:
    """Returns the ids of the chunks whose sentences the rules read, the nearest first.

    Chunks that share as much as the last of the nearest are read too, since their order has no meaning.

    Args:
        verdict: the model's verdict.
        shares: {chunk id: share of the claim's words in its best sentence}.
    """
    near = [name for name, share in shares.items() if share >= LEAST_SHARED]
    least = min(sorted((shares[name] for name in near), reverse=True)[:CHUNKS_READ], default=0.0)
    nearest = [name for name in near if shares[name] >= least]
    rests_on = [verdict.chunk_id] if verdict.label == "supported" and verdict.chunk_id in shares else []
    return list(dict.fromkeys(nearest + rests_on))


def _weighed(
    verdict: Verdict,
    scores: Sequence[PairScore],
    clashes: Mapping[str, Sequence[Finding]],
    shares: Mapping[str, float],
    quoting: str,
) -> Verdict:
    """Returns the verdict after the rules that compare the claim with single sentences.

    Args:
        verdict: the model's verdict.
        scores: the model's scores of the claim.
        clashes: {chunk id: its findings that are no notes}, the nearest chunks first.
        shares: {chunk id: share of the claim's words in its best sentence}.
        quoting: the id of the chunk that quotes the claim; "" where none does.
    """
    refuting = _with_effect("refute", clashes)
    # The verdict rests on several joined chunks: what one of them lacks, the next may have.
    weakening = [] if verdict.joint else _with_effect("weaken", clashes)
    clean = [name for name in verdict.supporting if name not in (*refuting, *weakening)]
    by_chunk = {score.chunk_id: score for score in scores}
    if quoting and quoting in by_chunk:
        return _resting_on(by_chunk[quoting], verdict).with_(
            label="supported",
            supporting=tuple(dict.fromkeys((*clean, quoting))),
            conflict=verdict.conflict or verdict.label == "refuted" or bool({*refuting} - {quoting}),
            reason="quoted from the evidence",
        )
    nearest_clash = max((shares[name] for name in refuting), default=0.0)
    clean = [name for name in clean if shares.get(name, 0.0) >= nearest_clash]
    verdict = verdict.with_(supporting=tuple(clean))
    if verdict.label == "supported" and clean:
        best = max(clean, key=lambda name: by_chunk[name].probs[0])
        kept = verdict if verdict.chunk_id in clean else _resting_on(by_chunk[best], verdict)
        return kept.with_(conflict=verdict.conflict or bool(refuting))
    decisive = refuting or (weakening if verdict.label == "supported" else [])
    if not decisive:
        return verdict
    findings = tuple(clashes[decisive[0]])
    return _resting_on(by_chunk[decisive[0]], verdict, column=2 if refuting else 0).with_(
        label="refuted" if refuting else "unsupported",
        findings=findings,
        reason=f"decided by the rule {', '.join(finding.rule for finding in findings)}",
    )


def _with_effect(effect: str, clashes: Mapping[str, Sequence[Finding]]) -> list[str]:
    """Returns the ids of the chunks that have a finding with this effect."""
    return [name for name, found in clashes.items() if any(each.effect == effect for each in found)]


def _resting_on(score: PairScore, verdict: Verdict, *, column: int = 0) -> Verdict:
    """Returns `verdict` with the chunk of `score` as evidence, and its probability in `column` as score.

    The columns are 0 for entail, 1 for neutral, 2 for contradict.
    """
    return verdict.with_(chunk_id=score.chunk_id, span=score.span, score=score.probs[column])
