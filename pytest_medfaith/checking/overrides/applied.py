"""Refutes claims that cannot be true whatever the evidence is, even without evidence.

Example: "A trial published in 2041 found fewer deaths" is refuted, also next to evidence on another matter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import date
from typing import Literal

from pytest_medfaith.checking.anchors.dates import missing_trials
from pytest_medfaith.checking.anchors.evidence import with_its_source
from pytest_medfaith.checking.overrides.future import future_findings, known_years, latest_date
from pytest_medfaith.checking.overrides.trials import REGISTERED, impossible_trials, plain_number
from pytest_medfaith.checking.rules import FUTURE, TRIAL
from pytest_medfaith.english.letters import plain_letters
from pytest_medfaith.records import Chunk, Finding, PairScore, Verdict


def overridden(
    verdict: Verdict,
    scores: Sequence[PairScore],
    chunks: Sequence[Chunk],
    *,
    rules: Collection[str],
    today: date | None = None,
) -> Verdict:
    """Returns `verdict` after the rules `future` and `trial`: refuted where the claim cannot be true.

    A claim on a trial that may exist but that no evidence names is not refuted. If it is unsupported, it gets
    a finding that says so.

    Args:
        verdict: the verdict after all other rules.
        scores: the model's scores of the claim; empty without evidence.
        chunks: the evidence.
        rules: names of the rules in use.
        today: the day after which the future begins; the clock's day where None.
    """
    text = plain_letters(verdict.claim.text)
    found = list(_refuting(text, chunks, rules, today))
    if verdict.label == "unsupported" and TRIAL in rules:
        found += _unnamed(text, chunks, known=[each.claim_span for each in found])
    if not found:
        return verdict
    refuting = [each.rule for each in found if each.effect == "refute"]
    if verdict.label == "refuted" or not refuting:
        return verdict.with_(findings=(*verdict.findings, *found))
    score = next((score for score in scores if score.chunk_id == verdict.chunk_id), None)
    return verdict.with_(
        label="refuted",
        score=score.probs[2] if score else 0.0,
        supporting=(),
        findings=(*found, *verdict.findings),
        reason=f"decided by the rule {', '.join(dict.fromkeys(refuting))}",
    )


def _refuting(
    claim: str, chunks: Sequence[Chunk], rules: Collection[str], today: date | None
) -> Iterator[Finding]:
    """Yields a finding for each future date and impossible trial of a claim that the evidence does not have.

    What the evidence states as well is left to the other rules.
    """
    latest = latest_date(today, published=max((chunk.year or 0 for chunk in chunks), default=0))
    evidence = "\n".join(map(with_its_source, chunks))
    known = known_years(evidence, latest=latest) if FUTURE in rules else frozenset()
    for date_ in future_findings(claim, latest=latest) if FUTURE in rules else ():
        if date_.year not in known:
            words = claim[date_.start : date_.end]
            message = f"claim dates a finding to {words}, which has not come"
            yield _finding(FUTURE, message, date_.start, date_.end, "refute")
    for start, end, why in impossible_trials(claim, latest=latest) if TRIAL in rules else ():
        if plain_number(claim[start:end]) not in map(plain_number, REGISTERED.findall(evidence)):
            message = f"claim names the registered trial {claim[start:end]}, which cannot exist: {why}"
            yield _finding(TRIAL, message, start, end, "refute")


def _unnamed(
    claim: str, chunks: Sequence[Chunk], *, known: Collection[tuple[int, int] | None]
) -> Iterator[Finding]:
    """Yields a finding for each trial of a claim that no evidence names, but not for the spans `known`."""
    for each in missing_trials(claim, "\n".join(map(with_its_source, chunks))):
        if (each.start, each.end) not in known:
            yield _finding(TRIAL, each.note, each.start, each.end, "weaken")


def _finding(rule: str, message: str, start: int, end: int, effect: Literal["refute", "weaken"]) -> Finding:
    """Returns a finding of a rule on the words `start:end` of the claim."""
    return Finding(rule=rule, message=message, claim_span=(start, end), effect=effect)
