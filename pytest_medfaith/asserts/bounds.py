"""What every assertion checks of its reports: all are there, the metric was measured, its bound holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass

from pytest_medfaith.cards.citations import explain_citations
from pytest_medfaith.cards.explanation import explain_faithfulness, explain_recall, wrapped
from pytest_medfaith.cards.facts_told import explain_facts
from pytest_medfaith.cards.wording import clip
from pytest_medfaith.gates.completeness import MOST_ABSTAINED
from pytest_medfaith.gates.leaning import leaning_reports
from pytest_medfaith.metrics.aggregate import aggregate
from pytest_medfaith.metrics.citations import CITATION_METRICS
from pytest_medfaith.metrics.facts import FACT_METRICS
from pytest_medfaith.metrics.failed import failed_cases, failures_told
from pytest_medfaith.metrics.registry import parse_metric
from pytest_medfaith.plain import one_line
from pytest_medfaith.records import Report
from pytest_medfaith.records.labels import OPEN

_CLAIM = 200  # characters of a claim that no explanation shows


@dataclass(frozen=True)
class Shown:
    """How much a failed assertion shows.

    Attributes:
        most: the most claims; None for all.
        width: columns of a line.
    """

    most: int | None = 5
    width: int = 80


_EXPLAIN: Mapping[str, Callable[..., str]] = {
    **dict.fromkeys(CITATION_METRICS, explain_citations),
    **dict.fromkeys(FACT_METRICS, explain_facts),
    "claim_recall": explain_recall,
}
SHOWN: ContextVar[Shown] = ContextVar("medfaith_shown", default=Shown())  # noqa: B039 - it is frozen


def set_explanations(*, most: int | None, width: int) -> None:
    """Sets how much failed assertions show from now on: `most` claims (None for all), in `width` columns."""
    SHOWN.set(Shown(most, width))


@dataclass(frozen=True)
class Reports:
    """The reports that an assertion is about, and in `missing` the ids of cases that never finished."""

    reports: Sequence[Report]
    missing: Sequence[str] = ()


def check_complete(checked: Reports, name: str, *, needs_contexts: bool = True) -> None:
    """Raises AssertionError where the metric `name` would leave cases out.

    That is where there is no report, a case is missing or failed, or nearly all answers are refusals.

    Args:
        checked: the reports, and the cases that are missing.
        name: of the metric, for the message.
        needs_contexts: whether an answer without contexts counts as failed.
    """
    __tracebackhide__ = True
    reports, missing = checked.reports, checked.missing
    failed = failed_cases(reports, needs_contexts=needs_contexts)
    why = ""
    if not reports:
        why = "there is no report"
    elif missing:
        why = (
            f"{len(missing)} of {len(reports) + len(missing)} cases did not finish: {', '.join(missing[:5])}"
        )
    elif failed:
        why = next(iter(failed.values())) if len(reports) == 1 else failures_told(failed, of=len(reports))
    elif len(reports) > 1 and sum(report.abstained for report in reports) > MOST_ABSTAINED * len(reports):
        why = f"{sum(report.abstained for report in reports)} of {len(reports)} answers are refusals"
    if why:
        raise unmeasured(name, why)


def check_scored(reports: Sequence[Report], name: str, at_most: float) -> None:
    """Raises AssertionError where more than the share `at_most` of the claims, 0 to 1, is unscored.

    `name` is what is asserted, for the message. A share outside 0 to 1 is a ValueError.
    """
    __tracebackhide__ = True
    if not 0 <= at_most <= 1:
        raise ValueError(f"unscored_at_most is {at_most!r}; expected a share from 0 to 1, such as 0.02")
    verdicts = [verdict for report in reports for verdict in report.verdicts]
    lost = [verdict for verdict in verdicts if verdict.label in OPEN]
    if len(lost) > at_most * len(verdicts):
        counted = f"{len(lost)} of {len(verdicts)} claim{'s' * (len(verdicts) != 1)}"
        raise unmeasured(
            name,
            f"{counted} could not be scored, the first because {lost[0].reason}: "
            f"{clip(lost[0].claim.text, _CLAIM)!r}. What nobody could judge is not supported; "
            f"unscored_at_most={len(lost) / len(verdicts):.2g} would let it pass",
        )


def check_bound(
    checked: Reports, name: str, bound: float, *, at_least: bool, unscored_at_most: float
) -> None:
    """Raises AssertionError where the metric `name` misses its bound, or was not measured whole.

    An answer that is a refusal passes, except on claim_recall.

    Args:
        checked: the reports, and the cases that are missing.
        name: of the metric, such as "faithfulness".
        bound: 0 to 1.
        at_least: whether the value has to be at least the bound; else at most.
        unscored_at_most: the share of claims that may be unscored.

    Raises:
        ValueError: a bound outside 0 to 1, or that no answer misses, as "at least 0".
    """
    __tracebackhide__ = True
    if isinstance(bound, bool) or not isinstance(bound, (int, float)) or not 0 <= bound <= 1:
        raise ValueError(f"the bound on {name} is {bound!r}; expected a share from 0 to 1, such as 0.8")
    if bound == (0 if at_least else 1):
        raise ValueError(
            f"the bound on {name} is {bound!r}, which no answer misses, so it asserts nothing; expected "
            "another, such as 0.8"
        )
    reports = checked.reports
    check_complete(checked, name)
    if all(report.abstained for report in reports) and name != "claim_recall":
        return
    value = _worse_value(reports, name, at_least=at_least)
    if value is None:
        raise unmeasured(name, _why_unmeasured(reports))
    if value < bound if at_least else value > bound:
        explain = _EXPLAIN.get(name, explain_faithfulness)
        most, width = SHOWN.get().most, SHOWN.get().width
        missed = f"{name} is {value:.3f}, expected {'at least' if at_least else 'at most'} {bound:g}"
        first = wrapped(missed, width - len("AssertionError: "), first="", rest="  ")
        raise AssertionError(f"{first}\n{explain(reports, most=most, width=width)}")
    check_scored(reports, name, unscored_at_most)


def _worse_value(reports: Sequence[Report], name: str, *, at_least: bool) -> float | None:
    """Returns the worse value of a metric: without the uncertain claims, or with the labels they lean to.

    None where nothing was measured.
    """
    found = [
        value
        for given in (reports, leaning_reports(reports))
        if (value := aggregate(parse_metric(name), given)[0].value) is not None
    ]
    worse = min if at_least else max
    return worse(found, default=None)


def unmeasured(name: str, why: str) -> AssertionError:
    """Returns the AssertionError that the metric `name` has no value, and why."""
    return AssertionError(f"{name} could not be measured: {one_line(why)}")


def _why_unmeasured(reports: Sequence[Report]) -> str:
    unscored = [verdict for report in reports for verdict in report.verdicts if verdict.label in OPEN]
    if unscored:
        return f"{len(unscored)} claim(s) unscored, the first because {unscored[0].reason}"
    return "the cases have no gold claims, contexts or citations that it needs"
