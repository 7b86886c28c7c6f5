"""Lets the medical rules speak after the model: they raise a clash it missed, or overturn a verdict that rests on a clashing sentence."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pytest_medfaith import defaults
from pytest_medfaith.checking import grounding
from pytest_medfaith.checking.quotation import quotes
from pytest_medfaith.checking.rules import GROUNDING, RULES, apply_rules, linked_rules
from pytest_medfaith.checking.windows import shared_words
from pytest_medfaith.records import Chunk, Finding, PairScore, Verdict

# Rules read the chunk that decided and those whose best sentence shares most words with the claim; others do not speak of it.
CHUNKS_READ = 3
LEAST_SHARED = 0.5


def overrule(
    verdict: Verdict,
    scores: Sequence[PairScore],
    chunks: Sequence[Chunk],
    *,
    rules: Collection[str],
    linker: str = defaults.LINKER,
) -> Verdict:
    """Returns `verdict` as the rules leave it, with their findings: first those that compare sentences, then grounding.

    A claim that is whole sentences of a chunk, which nothing around them takes back, is supported by it. A chunk whose sentence clashes with the claim
    no longer supports it. If no other chunk does, a clash of effect "refute" makes the claim refuted and one of effect "weaken" unsupported.
    A clean supporting chunk keeps the claim supported and sets `conflict`, if its sentence is as near to the claim as the one that clashes:
    the nearest sentence is the one that speaks of it. A claim that is still supported, and holds a number or name that no chunk holds, is not.

    Args:
        verdict: the model's.
        scores: of the claim, one a chunk.
        chunks: those that `scores` name.
        rules: names of the rules that may speak.
        linker: name of what finds the names that the rules compare.
    """
    if not rules or verdict.label == "unscored":
        return verdict
    quoting = next(
        (chunk.id for chunk in chunks if quotes(verdict.claim.text, chunk.text, title=chunk.title)), None
    )
    moved = _compared(verdict, scores, chunks, rules=rules, linker=linker, quoting=quoting)
    if moved.label != "supported" or quoting is not None or GROUNDING not in rules:
        return moved
    return _grounded(moved, scores, chunks)


def _grounded(verdict: Verdict, scores: Sequence[PairScore], chunks: Sequence[Chunk]) -> Verdict:
    """Returns a supported verdict, or what is left of it where the evidence lacks an anchor of the claim."""
    chunk = next((chunk for chunk in chunks if chunk.id == verdict.chunk_id), None)
    score = next((score for score in scores if score.chunk_id == verdict.chunk_id), None)
    if chunk is None or score is None:
        return verdict
    start, end = verdict.span or (0, len(chunk.text))
    texts = [_with_its_source(each) for each in chunks]
    found = grounding.ground(verdict.claim.text, texts, nearest=chunk.text[start:end])
    if not found:
        return verdict
    refuting = found[0].effect == "refute"
    findings = tuple(_placed(finding, chunk.id, start) for finding in found)
    return verdict.with_(
        label="refuted" if refuting else "unsupported",
        score=score.probs[2] if refuting else score.probs[0],
        supporting=(),
        findings=findings,
        reason="decided by the rule grounding",
    )


def _with_its_source(chunk: Chunk) -> str:
    """Returns the text of a chunk and what stands over it: its title, headings, year and source may name a trial, a body or a date."""
    over = " \u00b7 ".join(
        filter(None, (chunk.title, *chunk.section_path, str(chunk.year or ""), chunk.source))
    )
    return f"{over}\n{chunk.text}" if over else chunk.text


def _compared(
    verdict: Verdict,
    scores: Sequence[PairScore],
    chunks: Sequence[Chunk],
    *,
    rules: Collection[str],
    linker: str,
    quoting: str | None,
) -> Verdict:
    """Returns the verdict after the rules that compare the claim with single sentences; `quoting` is the chunk that quotes it."""
    texts = {chunk.id: chunk for chunk in chunks}
    read = [score for score in scores if score.span and score.chunk_id in texts]
    found = {
        score.chunk_id: _findings(verdict, score, texts[score.chunk_id], rules, linker)
        for score in _chosen(verdict, read, texts)
    }
    refuting = _with_effect("refute", found)
    weakening = (
        [] if verdict.joint else _with_effect("weaken", found)
    )  # what one chunk lacks another of the joined ones may hold
    clean = tuple(
        chunk_id for chunk_id in verdict.supporting if chunk_id not in refuting and chunk_id not in weakening
    )
    by_chunk = {score.chunk_id: score for score in scores}
    if quoting in by_chunk:
        return _quoted(verdict, by_chunk[quoting], clean=clean, refuting=refuting)
    near = {score.chunk_id: _shared(verdict, score, texts[score.chunk_id]) for score in read}
    nearest_clash = max((near[chunk_id] for chunk_id in refuting), default=0.0)
    clean = tuple(chunk_id for chunk_id in clean if near.get(chunk_id, 0.0) >= nearest_clash)
    if verdict.label == "supported" and clean:
        best = by_chunk[max(clean, key=lambda chunk_id: by_chunk[chunk_id].probs[0])]
        kept = verdict if verdict.chunk_id in clean else _resting_on(verdict, best, best.probs[0])
        return kept.with_(supporting=clean, conflict=verdict.conflict or bool(refuting))
    decisive = refuting or (weakening if verdict.label == "supported" else [])
    if not decisive:
        return verdict.with_(supporting=clean)
    findings, score = tuple(found[decisive[0]]), by_chunk[decisive[0]]
    moved = _resting_on(verdict, score, score.probs[2] if refuting else score.probs[0])
    reason = f"decided by the rule {', '.join(finding.rule for finding in findings)}"
    return moved.with_(
        label="refuted" if refuting else "unsupported", supporting=clean, findings=findings, reason=reason
    )


def _with_effect(effect: str, found: Mapping[str, Sequence[Finding]]) -> list[str]:
    return [
        chunk_id
        for chunk_id, findings in found.items()
        if any(finding.effect == effect for finding in findings)
    ]


def _quoted(verdict: Verdict, score: PairScore, *, clean: Sequence[str], refuting: Sequence[str]) -> Verdict:
    """Returns the verdict on a claim that the chunk of `score` holds word for word."""
    conflict = (
        verdict.conflict
        or verdict.label == "refuted"
        or any(chunk_id != score.chunk_id for chunk_id in refuting)
    )
    supporting = tuple(dict.fromkeys((*clean, score.chunk_id)))
    kept = _resting_on(verdict, score, score.probs[0])
    return kept.with_(
        label="supported", supporting=supporting, conflict=conflict, reason="quoted from the evidence"
    )


def _chosen(verdict: Verdict, scores: Sequence[PairScore], chunks: Mapping[str, Chunk]) -> list[PairScore]:
    shares = {score.chunk_id: _shared(verdict, score, chunks[score.chunk_id]) for score in scores}
    near = [score for score in scores if shares[score.chunk_id] >= LEAST_SHARED]
    least = sorted((shares[score.chunk_id] for score in near), reverse=True)[:CHUNKS_READ][-1:]
    nearest = [
        score for score in near if shares[score.chunk_id] >= least[0]
    ]  # all that share as much: their order says nothing
    return nearest + [
        score
        for score in scores
        if score.chunk_id == verdict.chunk_id and verdict.label == "supported" and score not in nearest
    ]


def _shared(verdict: Verdict, score: PairScore, chunk: Chunk) -> float:
    """Returns which share of the claim's content words the best sentence of the chunk holds."""
    start, end = score.span or (0, 0)
    return shared_words(verdict.claim.text, chunk.text[start:end])


def _findings(
    verdict: Verdict, score: PairScore, chunk: Chunk, rules: Collection[str], linker: str
) -> list[Finding]:
    start, end = score.span or (0, len(chunk.text))
    context, off = f"{chunk.title}\n{chunk.text}", RULES.keys() - set(rules)
    found = apply_rules(
        verdict.claim.text, chunk.text[start:end], context=context, off=off, rules=linked_rules(linker)
    )
    return [_placed(finding, chunk.id, start) for finding in found]


def _placed(finding: Finding, chunk_id: str, start: int) -> Finding:
    """Returns the finding with its evidence span counted in the chunk's text, not in the sentence."""
    span = finding.evidence_span
    return finding.with_(
        chunk_id=chunk_id, evidence_span=(span[0] + start, span[1] + start) if span else None
    )


def _resting_on(verdict: Verdict, score: PairScore, probability: float) -> Verdict:
    return verdict.with_(chunk_id=score.chunk_id, span=score.span, score=probability)
