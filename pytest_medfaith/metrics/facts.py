"""Gold claims as key facts: each is present in the answer, absent, or contradicted by it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal

from pytest_medfaith.metrics.base import Fraction, Metric, share

if TYPE_CHECKING:
    from pytest_medfaith.records import GoldClaim, Report

FactState = Literal["present", "absent", "contradicted", "unscored"]
_STATES: dict[str, FactState] = {
    "supported": "present",
    "refuted": "contradicted",
    "unsupported": "absent",
    "unscored": "unscored",
}
MAJOR_OMITTED = "major omitted"
KQA = "Manes et al. 2024, K-QA, arXiv:2401.14493"
CREOLA = "Asgari et al. 2025, CREOLA, npj Digit Med 8:274"


def is_major(gold: GoldClaim) -> bool:
    """Returns whether leaving the fact out could change what is done for a patient."""
    return gold.severity == "major"


def fact_states(report: Report) -> tuple[FactState, ...] | None:
    """Returns the state of each gold claim, in their order; None where nobody measured it.

    A refusal states nothing, so each is absent. Entailments of another length tell nothing here;
    `claim_recall` refuses them.
    """
    golds, recalled = report.case.gold_claims, report.entailments.answer_gold
    if report.abstained:
        return tuple(_STATES["unsupported"] for _ in golds)
    if len(report.gold_verdicts) == len(golds):
        return tuple(_STATES[verdict.label] for verdict in report.gold_verdicts)
    if len(recalled) != len(golds):
        return None
    return tuple(_STATES["supported" if said else "unsupported"] for said in recalled)


def fact_counts(reports: Iterable[Report]) -> dict[str, int]:
    """Returns how many gold claims have each state; `major omitted` counts the absent major facts."""
    found: Counter[str] = Counter()
    for report in reports:
        for gold, state in zip(report.case.gold_claims, fact_states(report) or (), strict=False):
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
        states = fact_states(report)
        if states is None:
            return None
        of_group = [one for gold, one in zip(report.case.gold_claims, states, strict=True) if group(gold)]
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
