"""Explains which key facts answers leave out or contradict, and which cases had a wrong outcome."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_medfaith.cards.explanation import below_case, first_blocks, wrapped
from pytest_medfaith.cards.wording import clip, counted
from pytest_medfaith.metrics.facts import fact_states, is_major
from pytest_medfaith.metrics.outcomes import WRONG
from pytest_medfaith.plain import one_line
from pytest_medfaith.records import GoldClaim, Report

_ANSWER = 300  # characters of an answer that is shown
_ORDER = ("contradicted", "absent", "unscored")


def explain_facts(
    reports: Sequence[Report], *, only_major: bool = False, most: int | None = 5, width: int = 80
) -> str:
    """Returns a text on gold claims that are not in the answers: major facts first, then key facts.

    Args:
        reports: one or more cases.
        only_major: whether to leave out facts that are not of severity "major".
        most: how many facts are explained; None explains all.
        width: columns of the terminal.
    """
    missing: list[tuple[Report, GoldClaim, str]] = []
    total = 0
    for report in reports:
        for gold, state in zip(report.case.gold_claims, fact_states(report) or (), strict=False):
            counts = is_major(gold) or not only_major
            total += counts
            missing += [(report, gold, state)] if counts and state != "present" else []
    missing.sort(key=lambda row: (not is_major(row[1]), not row[1].key, _ORDER.index(row[2])))
    blocks = [_block(report, gold, state, width) for report, gold, state in missing]
    kind = "major gold claim" if only_major else "gold claim"
    return first_blocks(f"{len(missing)} of {counted(total, kind)} not in the answer", blocks, most=most)


def _block(report: Report, gold: GoldClaim, state: str, width: int) -> str:
    label = f"{state.upper():<13} "
    weight = ", ".join(["major"] * is_major(gold) + ["key" if gold.key else "optional"])
    fact = wrapped(f"{one_line(gold.text)} ({weight})", width, first=label, rest=" " * len(label))
    return below_case(report, fact, width)


def explain_outcomes(reports: Sequence[Report], *, most: int | None = 5, width: int = 80) -> str:
    """Returns a text on cases with a wrong outcome, such as a refusal where the contexts hold the answer.

    Cases keep their order; without such cases the text is the count alone. Arguments as in `explain_facts`.
    """
    wrong = [report for report in reports if report.outcome in WRONG]
    blocks = [
        below_case(
            report,
            wrapped(
                f"{str(report.outcome).replace('_', ' ').upper()}: {clip(report.response.answer, _ANSWER)}",
                width,
            ),
            width,
        )
        for report in wrong
    ]
    return first_blocks(
        f"{len(wrong)} of {counted(len(reports), 'case')} with a wrong outcome", blocks, most=most
    )
