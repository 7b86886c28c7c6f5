"""The severity of an error: the first rule that fits gives its category, the first that fits its risk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from pytest_medfaith.english.words import content_keys, evidence_sentences, share
from pytest_medfaith.records import Severity, Verdict
from pytest_medfaith.records.grades import OTHERWISE
from pytest_medfaith.severity.reading import read_text
from pytest_medfaith.severity.rules import (
    ERRORS,
    ErrorRead,
    SeverityRule,
    SeverityRules,
    load_severity,
)

Given = TypeVar("Given", bound=str)


def graded(verdict: Verdict, evidence: str, *, rules: SeverityRules | None = None) -> Verdict:
    """Returns `verdict` with its severity if it is refuted or unsupported, or leans to that; else unchanged.

    Args:
        verdict: the verdict on a claim.
        evidence: the text of the chunk that the verdict names; "" where it names none.
        rules: the rules of severity; the shipped rules where None.
    """
    label = verdict.leaning or verdict.label
    if label not in ERRORS:
        return verdict
    rules = rules or load_severity()
    error = _read(verdict, evidence)
    category, _ = _first(rules.categories, error) or (rules.other_category[label], OTHERWISE)
    risk, name = _first(rules.risks, error) or (rules.other_risk[label], OTHERWISE)
    return verdict.with_(severity=Severity(category=category, risk=risk, rule=name))


def _first(rules: Sequence[SeverityRule[Given]], error: ErrorRead) -> tuple[Given, str] | None:
    """Returns (what the first fitting rule gives, its id); None where no rule fits."""
    return next(((rule.gives, rule.id) for rule in rules if rule.fits(error)), None)


def _read(verdict: Verdict, evidence: str) -> ErrorRead:
    """Returns the error as the rules see it.

    If no chunk speaks of a claim, its best chunk tells nothing of it. So the evidence of an unsupported claim
    counts only where a rule of the checker found words that contradict the claim.
    """
    clashes = [finding for finding in verdict.findings if finding.effect != "note"]
    label = verdict.leaning or verdict.label
    counts = label == "refuted" or bool(clashes)
    claim = verdict.claim.text
    words = [claim[slice(*finding.claim_span)] for finding in clashes if finding.claim_span]
    words += [
        evidence[slice(*finding.evidence_span)]
        for finding in clashes
        if finding.evidence_span and finding.chunk_id in ("", verdict.chunk_id)
    ]
    return ErrorRead(
        label,
        tuple(finding.rule for finding in verdict.findings),
        read_text(claim),
        read_text(_nearest(claim, evidence, verdict.span) if counts else ""),
        read_text(" \u00b7 ".join(words)),
    )


def _nearest(claim: str, evidence: str, span: tuple[int, int] | None) -> str:
    """Returns the sentence of the evidence at `span` that shares most words with the claim."""
    start, end = span or (0, len(evidence))
    held = evidence[start:end]
    wanted = content_keys(claim)
    sentences = evidence_sentences(held)
    if not sentences:
        return held
    best = max(sentences, key=lambda sentence: share(wanted, sentence.keys))
    return held[best.start : best.end]
