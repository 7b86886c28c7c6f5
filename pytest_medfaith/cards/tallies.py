"""What cards count over all reports of a slice; reports kept in a file are read once for each count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pytest_medfaith.metrics.safety import SAFETY_PREFIX, breaks_safety_rule
from pytest_medfaith.metrics.severity import ERRORS, is_major
from pytest_medfaith.records import Report
from pytest_medfaith.records.stored import once
from pytest_medfaith.teacher.use import LlmUse, read_uses


@once
def claim_tallies(reports: Sequence[Report]) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Returns three counts: claims by label, gold claims by who wrote them, and others by name.

    The others are conflicts, unsafe and major claims, and refusals.
    """
    labels, written, found = Counter[str](), Counter[str](), Counter[str]()
    for report in reports:
        labels.update(verdict.label for verdict in report.verdicts)
        written.update(gold.provenance or "unstated" for gold in report.case.gold_claims)
        found["conflicts"] += sum(verdict.conflict for verdict in report.verdicts)
        found["unsafe"] += sum(map(breaks_safety_rule, report.verdicts))
        found["major"] += sum(map(is_major, report.verdicts))
        found["abstained"] += report.abstained
    return labels, written, found


@once
def error_tallies(reports: Sequence[Report]) -> tuple[int, Counter[str]]:
    """Returns how many claims are errors, and the major errors by category."""
    errors, major = 0, Counter[str]()
    for verdict in (verdict for report in reports for verdict in report.verdicts):
        if verdict.label in ERRORS:
            errors += 1
            if is_major(verdict):
                major[verdict.severity.category if verdict.severity else "not graded"] += 1
    return errors, major


@once
def safety_tallies(reports: Sequence[Report]) -> Counter[str]:
    """Returns the findings of safety rules by kind."""
    rules = (
        finding.rule for report in reports for verdict in report.verdicts for finding in verdict.findings
    )
    return Counter(rule.removeprefix(SAFETY_PREFIX) for rule in rules if rule.startswith(SAFETY_PREFIX))


@once
def risk_tallies(reports: Sequence[Report]) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Returns three counts: answers by flag, by rule that decided, and by part that was not measured."""
    flags, rules, missing = Counter[str](), Counter[str](), Counter[str]()
    for risk in (report.risk for report in reports if report.risk):
        flags[risk["flag"]] += 1
        rules.update(risk.get("overrides", ()))
        missing.update(risk.get("missing", ()))
    return flags, rules, missing


@once
def context_tallies(reports: Sequence[Report]) -> tuple[Counter[str], Counter[bool]]:
    """Returns cases by who gave their contexts; and cases without contexts, by whether they are refusals."""
    sources, bare = Counter[str](), Counter[bool]()
    for report in reports:
        if not report.response.contexts:
            bare[report.abstained] += 1
        elif report.response.contexts_from:
            sources[report.response.contexts_from] += 1
    return sources, bare


@once
def llm_use(reports: Sequence[Report]) -> LlmUse:
    """Returns what the teacher was asked for all cases together; `LlmUse()` where it was not asked."""
    return read_uses(report.llm for report in reports)
