"""Judges a run's claims again by local checkers, so that labels need no LLM; only unanimous ones are kept."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pytest_medfaith.records import Report, SliceReport, Verdict

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker

DISAGREED = "claims on which the checkers disagree"


def relabelled(
    slices: Sequence[SliceReport],
    checkers: Sequence[Checker],
    left_out: Counter[str],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> list[SliceReport]:
    """Returns `slices` with the verdicts of `checkers`, without claims on which two of them disagree.

    Verdicts and probabilities are the first checker's. A claim that a checker cannot score counts as
    disagreement.

    Args:
        slices: of a run.
        checkers: one or more.
        left_out: receives how many claims were dropped.
        progress: called with (answers judged, answers in all).
    """
    name = " and ".join(checker.name for checker in checkers)
    total, done, result = sum(len(one.reports) for one in slices), 0, []
    for one in slices:
        reports = []
        for report in one.reports:
            reports.append(_judged(report, checkers, name, left_out))
            done += 1
            if progress:
                progress(done, total)
        result.append(dataclasses.replace(one, reports=tuple(reports)))
    return result


def _judged(report: Report, checkers: Sequence[Checker], name: str, left_out: Counter[str]) -> Report:
    """Returns a report with the verdicts on which all checkers agree; `name` names the checkers."""
    claims, chunks = [verdict.claim for verdict in report.verdicts], report.response.contexts
    kept: list[Verdict] = []
    first_scores = None
    verdicts: list[list[Verdict]] = []
    for checker in checkers:
        scores = checker.score([(claim, chunk) for claim in claims for chunk in chunks])
        first_scores = scores if first_scores is None else first_scores
        verdicts.append(
            [checker.decide(claim, [s for s in scores if s.claim_id == claim.id], chunks) for claim in claims]
        )
    for of_claim in zip(*verdicts, strict=True):
        labels = {verdict.label for verdict in of_claim}
        if len(labels) == 1 and labels != {"unscored"}:
            kept.append(of_claim[0])
    left_out[DISAGREED] += len(claims) - len(kept)
    return report.with_(verdicts=tuple(kept), pairs=tuple(first_scores or ()), checker=name, llm={})
