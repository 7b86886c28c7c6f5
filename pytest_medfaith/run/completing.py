"""Adds to a measured report what settings ask for: relevancy, risk, and what the teacher was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_medfaith import defaults
from pytest_medfaith.answers.turns import as_turns
from pytest_medfaith.checking.relevancy import relevancy_of
from pytest_medfaith.checking.variant import split_linker
from pytest_medfaith.claims.history import asked_in
from pytest_medfaith.metrics.answer_risk import report_risk
from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.relevancy import METRICS as RELEVANCY_METRICS
from pytest_medfaith.metrics.risk import METRICS as RISK_METRICS
from pytest_medfaith.scoring.similarity import Vectors
from pytest_medfaith.teacher.asking import asking_for
from pytest_medfaith.teacher.settings import TEACHER
from pytest_medfaith.teacher.use import family_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_medfaith.records import HistoryMode, Report
    from pytest_medfaith.run.resources import Resources


def completed(resources: Resources, report: Report, *, history: HistoryMode = "context") -> Report:
    """Returns a measured report with its relevancy and risk, where the settings ask for them.

    Args:
        resources: of the run.
        report: of a case.
        history: what the earlier turns of the case are, see `records.HistoryMode`.

    Raises:
        TeacherError: the teacher is to be asked for relevancy, and cannot be.
    """
    told = _with_relevancy(resources, report, history)
    return _with_risk(resources, with_llm_use(resources, told))


def _with_relevancy(resources: Resources, report: Report, history: HistoryMode) -> Report:
    """Returns `report` with how its answer speaks of the question; unchanged for a refusal."""
    mode = resources.settings.relevancy
    if mode == "off" or report.abstained or not report.has_answer:
        return report
    turns = () if history == "ignore" else as_turns(report.case.history)
    with asking_for(report.case.id):
        found = relevancy_of(
            asked_in(report.case.question, turns),
            report.response.answer,
            [verdict.claim for verdict in report.verdicts],
            vectors=Vectors(resources.settings.cache / defaults.PAIR_SCORES),
            teacher=resources.teacher if mode == TEACHER else None,
        )
    return _measured(report.with_(relevancy=found.to_dict()), RELEVANCY_METRICS)


def _measured(report: Report, metrics: Sequence[Metric]) -> Report:
    """Returns `report` with the values of `metrics` that apply to it."""
    told = {metric.name: value for metric in metrics if (value := metric.value(report)) is not None}
    return report.with_(metrics={**report.metrics, **told})


def _with_risk(resources: Resources, report: Report) -> Report:
    settings = resources.settings.risk
    found = report_risk(report, settings) if settings and report.has_answer else None
    return report if found is None else _measured(report.with_(risk=found.to_dict()), RISK_METRICS)


def with_llm_use(resources: Resources, report: Report) -> Report:
    """Returns `report` with what the teacher was asked since the last call; unchanged for nothing.

    Where the judge is of the same family as the model that answered, this is noted, too.
    """
    if "teacher" not in vars(resources):
        return report
    use, answered_by = resources.teacher.take_use(), report.response.model
    if not use.model:
        return report
    related = split_linker(report.checker)[0] == TEACHER and family_of(use.model) == family_of(answered_by)
    if related and answered_by and not resources.settings.llm.allow_same_family:
        use = use.with_(same_family=answered_by)
    return report.with_(llm=use.to_dict())
