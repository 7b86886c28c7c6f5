"""What a claim says that cannot be, whatever the evidence is, and where there is none.

Example: "A trial published in 2041 found fewer deaths" is refuted beside evidence on another matter too.
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
    """Returns `verdict`, refuted where the claim cannot be, with what the rules `future` and `trial` find.

    A claim of a trial that exists but that no evidence names is not refuted: it may be true. The finding
    tells of it, where the claim is unsupported.

    Args:
        verdict: after all other rules.
        scores: of the claim; none where there is no evidence.
        chunks: the evidence.
        rules: names of the rules that may speak.
        today: the day after which the future begins; the clock's where None.
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
    """Yields what of a claim cannot be; what the evidence states as well is left to the other rules."""
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
    """Yields the trials that no evidence names, apart from those at the spans `known`."""
    for each in missing_trials(claim, "\n".join(map(with_its_source, chunks))):
        if (each.start, each.end) not in known:
            yield _finding(TRIAL, each.note, each.start, each.end, "weaken")


def _finding(rule: str, message: str, start: int, end: int, effect: Literal["refute", "weaken"]) -> Finding:
    return Finding(rule=rule, message=message, claim_span=(start, end), effect=effect)
