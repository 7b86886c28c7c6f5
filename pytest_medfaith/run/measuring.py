"""What a test measures of its case: an answer that is checked, or the hits of a retriever."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from pytest_medfaith.asserts import check_answer
from pytest_medfaith.cards.junit import case_properties
from pytest_medfaith.checking.judge import AnyChecker, as_checker
from pytest_medfaith.run.completing import completed
from pytest_medfaith.run.hooks import MEASURED, RESULTS, STEPS_MS, resources_of
from pytest_medfaith.run.results import Result, plain_report
from pytest_medfaith.run.signature import brought_signature
from pytest_medfaith.run.targets import Target, report_on, report_on_hits, retrieval_cost

if TYPE_CHECKING:
    import pytest

    from pytest_medfaith.checking.checker import Checker
    from pytest_medfaith.evaluation import Extractor
    from pytest_medfaith.records import Hit, Report, Response
    from pytest_medfaith.retrieval.ranking import Retriever


def measure_answer(
    request: pytest.FixtureRequest,
    target: Target,
    response: Response,
    *,
    checker: AnyChecker,
    extractor: Extractor,
    hits: Sequence[Hit],
    retriever: Retriever | None,
) -> Report:
    """Returns the report on a test's answer, and notes it for the card and the gates.

    Raises:
        DataError: the report cannot be made, holds what has no plain form, or is by another checker under the
            name of the configured checker.
    """
    resources, judge = resources_of(request.config), as_checker(checker)
    report = report_on(
        target,
        response,
        checker=judge,
        extractor=extractor,
        hits=None if retriever is None and not hits else hits,
        **resources.rules,
        retriever=retriever,
        cost=retrieval_cost(target, retriever, request.node.stash.get(STEPS_MS, {})),
    )
    return _note(request, target, report, judge)


def answer_check(
    config: pytest.Config, *, checker: AnyChecker, extractor: Extractor
) -> Callable[..., Report]:
    """Returns `check_answer` set up as the settings say; the fixture medfaith_check gives it to tests."""
    resources = resources_of(config)
    return partial(
        check_answer,
        checker=checker,
        extractor=extractor,
        **resources.rules,
    )


def measure_hits(
    request: pytest.FixtureRequest,
    target: Target,
    hits: Sequence[Hit],
    *,
    checker: AnyChecker,
    retriever: Retriever | None,
) -> Report:
    """Returns the report on what a test's retriever found, and notes it for the card and the gates.

    Raises:
        DataError: as in `measure_answer`.
    """
    judge, cost = as_checker(checker), retrieval_cost(target, retriever, request.node.stash.get(STEPS_MS, {}))
    declared = resources_of(request.config).metrics
    report = report_on_hits(target, hits, checker=judge, declared=declared, cost=cost)
    return _note(request, target, report, judge)


def _note(request: pytest.FixtureRequest, target: Target, report: Report, checker: Checker) -> Report:
    """Keeps `report` as what a test measured, and returns it with relevancy and risk.

    Raises:
        DataError: it holds what has no plain form, or is by another checker under the name of the configured
            checker.
    """
    resources, settings, node = resources_of(request.config), target.settings, request.node
    brought = brought_signature(resources, checker, configured=settings.checker)
    node.stash[MEASURED] = True
    gates = target.gates(resources.metrics)
    report = completed(resources, report, history=settings.history)
    result = Result(run=target.run, report=plain_report(report), gates=gates, checker=brought)
    node.stash.setdefault(RESULTS, []).append(result)
    # A test that runs again still has the properties of its first run.
    foreign = [row for row in node.user_properties if not row[0].startswith("medfaith.")]
    node.user_properties[:] = [*foreign, *case_properties(report, slice=settings.name)]
    return report
