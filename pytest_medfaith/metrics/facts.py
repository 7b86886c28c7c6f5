"""Gold claims as key facts: an answer states a fact ("present"), leaves it out, or contradicts it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from pytest_medfaith.metrics.base import Fraction, Metric, distinct_gold, gold_groups, share
from pytest_medfaith.records.stored import once

if TYPE_CHECKING:
    from pytest_medfaith.records import GoldClaim, Report

FactState = Literal["present", "absent", "contradicted", "unscored"]
_STATES: dict[str, FactState] = {
    "supported": "present",
    "refuted": "contradicted",
    "unsupported": "absent",
    "unscored": "unscored",
}
# Of wordings of a fact that have two states, the first of these counts: a denied fact is never hidden.
_ORDER: tuple[FactState, ...] = ("contradicted", "present", "absent", "unscored")
MAJOR_OMITTED = "major omitted"
KQA = "Manes et al. 2024, K-QA, arXiv:2401.14493"
CREOLA = "Asgari et al. 2025, CREOLA, npj Digit Med 8:274"


def is_major(gold: GoldClaim) -> bool:
    """Returns whether leaving the fact out could change what is done for a patient."""
    return gold.severity == "major"


def fact_states(report: Report) -> tuple[FactState, ...] | None:
    """Returns "present", "absent", "contradicted" or "unscored" for each gold claim; None if not measured.

    Gold claims that say the same have the same state. A refusal states nothing, so each is absent.
    Entailments of another length give None here; `claim_recall` refuses them.
    """
    states = _written_states(report)
    if states is None:
        return None
    found = list(states)
    for group in gold_groups(report):
        of_fact = min((states[place] for place in group), key=_ORDER.index)
        for place in group:
            found[place] = of_fact
    return tuple(found)


def _written_states(report: Report) -> tuple[FactState, ...] | None:
    golds, recalled = report.case.gold_claims, report.entailments.answer_gold
    if report.abstained:
        return tuple(_STATES["unsupported"] for _ in golds)
    if len(report.gold_verdicts) == len(golds):
        return tuple(_STATES[verdict.label] for verdict in report.gold_verdicts)
    if len(recalled) != len(golds):
        return None
    return tuple(_STATES["supported" if said else "unsupported"] for said in recalled)


def _facts(report: Report) -> list[tuple[GoldClaim, FactState]] | None:
    """Returns (gold claim, state) of each fact, repeats left out; None where nobody measured it."""
    states = fact_states(report)
    if states is None:
        return None
    firsts = [states[group[0]] for group in gold_groups(report)]
    return list(zip(distinct_gold(report), firsts, strict=True))


@once
def fact_counts(reports: Sequence[Report]) -> dict[str, int]:
    """Returns how many facts have each state; `major omitted` counts the absent major facts."""
    found: Counter[str] = Counter()
    for report in reports:
        for gold, state in _facts(report) or ():
            found[state] += 1
            found[MAJOR_OMITTED] += is_major(gold) and state in ("absent", "unscored")
    names = ("present", "absent", "contradicted", "unscored", MAJOR_OMITTED)
    return {name: found[name] for name in names if found[name]}


_GROUPS: dict[str, tuple[Callable[[GoldClaim], bool], str]] = {
    "": (lambda _: True, "gold claims"),
    ".key": (lambda gold: gold.key, "key gold claims"),
    ".major": (is_major, 'gold claims of severity "major"'),
}


def _rate(state: FactState, group: Callable[[GoldClaim], bool]) -> Callable[[Report], Fraction | None]:
    def per_case(report: Report) -> Fraction | None:
        facts = _facts(report)
        if facts is None:
            return None
        of_group = [state for gold, state in facts if group(gold)]
        # What nobody could judge is not said to be there, and not said to be contradicted either.
        counted = [one for one in of_group if one != "unscored"] if state == "contradicted" else of_group
        as_absent = ("absent", "unscored") if state == "absent" else (state,)
        return share(sum(one in as_absent for one in counted), len(counted))

    return per_case


def _metrics(name: str, state: FactState, said: str, source: str, **but: bool) -> list[Metric]:
    return [
        Metric(
            name=f"{name}{suffix}",
            family="claims",
            direction="higher" if state == "present" else "lower",
            definition=f"{words} that the answer {said} / {words}",
            source=source,
            per_case=_rate(state, group),
            part="count",
        )
        for suffix, (group, words) in _GROUPS.items()
        if but.get(suffix.lstrip(".") or "all", True)
    ]


METRICS = (
    # `claim_recall` itself is of the key gold claims.
    *_metrics("claim_recall", "present", "entails", KQA, all=False),
    *_metrics("omission", "absent", "neither states nor contradicts, or nobody could judge", CREOLA),
    *_metrics("gold_contradiction", "contradicted", "contradicts", f"{KQA} (hallucination rate)"),
)
FACT_METRICS = frozenset(metric.name for metric in METRICS)
