"""Assertions for tests; an AssertionError shows the claims that the evidence does not support."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_medfaith.answers.awaiting import awaited
from pytest_medfaith.answers.responses import UNSAID, Contexts, asserted_response
from pytest_medfaith.answers.turns import as_turns
from pytest_medfaith.asserts.bounds import (
    SHOWN,
    Reports,
    check_bound,
    check_complete,
    check_scored,
    unmeasured,
)
from pytest_medfaith.asserts.bounds import set_explanations as set_explanations
from pytest_medfaith.cards.explanation import explain_safety
from pytest_medfaith.cards.facts_told import explain_facts
from pytest_medfaith.cards.wording import clip
from pytest_medfaith.claims.split import extract_claims, is_refusal
from pytest_medfaith.evaluation import evaluate_case, safety_report
from pytest_medfaith.evidence import Evidence, checked_mode
from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.citations import attributions
from pytest_medfaith.metrics.facts import fact_states, is_major
from pytest_medfaith.metrics.registry import METRICS
from pytest_medfaith.metrics.safety import breaks_safety_rule
from pytest_medfaith.plain import one_line
from pytest_medfaith.records import Case, Claim, GoldClaim, HistoryMode, Report, SliceReport
from pytest_medfaith.safety.rulebook import Rulebook, load_rulebook
from pytest_medfaith.unread import read, unread

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker
    from pytest_medfaith.checking.judge import AnyChecker
    from pytest_medfaith.severity.rules import SeverityRules

Checked = object  # a text, Response, Report or SliceReport, or an answer of another tool


def check_answer(
    answer: object,
    contexts: Contexts = UNSAID,
    *,
    question: str | None = None,
    gold_claims: Iterable[Any] | None = None,
    checker: AnyChecker | None = None,
    extractor: Callable[..., list[Claim]] = extract_claims,
    rulebook: Rulebook | None = None,
    severity: SeverityRules | None = None,
    declared: Mapping[str, Metric] | None = None,
    history: Any = (),
    history_mode: HistoryMode = "context",
) -> Report:
    """Returns the report on one answer, each claim judged by `contexts`; warns where nobody reads it.

    Args:
        answer: a text or message, a coroutine, or a Response, sample or test case that brings contexts.
        contexts: texts, chunks, hits or mappings, or a table of them; None says on purpose: without any.
        question: what was asked; helps to resolve a leading "it".
        gold_claims: statements that a correct answer must make; texts, records or mappings.
        checker: a checker or a callable `(claim, chunks) -> verdict`; the shipped checker where None.
        extractor: splits the answer into claims.
        rulebook: of `safety.rulebook.load_rulebook`; the shipped safety rules where None.
        severity: of `severity.rules.load_severity`; the shipped rules where None.
        declared: metrics of `metrics.project.declared_metrics`; the shipped ones where None.
        history: earlier turns, messages with role and content.
        history_mode: see `records.HistoryMode`; ValueError for any other.

    Raises:
        ValueError, DataError: an answer in no known form or without contexts; contexts that are no texts.
    """
    response = asserted_response(answer, contexts)
    case = Case(id=response.case_id, question=question or "", history=as_turns(history))
    report = evaluate_case(
        case.with_(gold_claims=_gold(gold_claims or ())),
        response,
        checker=_judge(checker),
        extractor=extractor,
        rulebook=rulebook,
        severity=severity,
        declared=declared or METRICS,
        evidence=Evidence(history=checked_mode(history_mode)),
    )
    return unread(report.with_(contexts_optional=contexts is None and not response.contexts))


def _judge(checker: AnyChecker | None) -> Checker:
    from pytest_medfaith.checking.judge import as_checker
    from pytest_medfaith.checking.loading import load_checker

    return load_checker() if checker is None else as_checker(checker)


def _gold(claims: Iterable[Any]) -> tuple[GoldClaim, ...]:
    rows = (claim if not isinstance(claim, str) else {"text": claim} for claim in claims)
    return tuple(
        row if isinstance(row, GoldClaim) else GoldClaim.from_dict({"id": f"g{i}", **row})
        for i, row in enumerate(rows, start=1)
    )


def assert_faithfulness(
    answer: Checked,
    contexts: Contexts = UNSAID,
    *,
    at_least: float | None = None,
    threshold: float | None = None,
    hallucination_at_most: float | None = None,
    unscored_at_most: float = 0.0,
    question: str | None = None,
    checker: AnyChecker | None = None,
) -> None:
    """Asserts that the evidence supports at least the share `at_least` of the claims, by default all.

    A refusal makes no claim and passes; it is counted as an abstention. An answer without any checkable claim
    fails, and so does an answer without contexts.

    Args:
        answer: an answer's text (then `contexts` is required), a Response, a Report, or a SliceReport.
        contexts: what the answer was based on; None says on purpose that there is nothing.
        at_least: bound on faithfulness, 0 to 1.
        threshold: the same bound under another name.
        hallucination_at_most: bound on the share of claims that the evidence refutes, where given.
        unscored_at_most: the share of claims that may be unscored: nothing says that they are supported.
        question: what was asked.
        checker: judges the claims, a checker or a callable `(claim, chunks) -> verdict`; the shipped checker
            where None.

    Raises:
        AssertionError: a bound is not met; the message shows each claim, its score, evidence and threshold.
        ValueError: both names of the bound, a bound that says nothing, or contexts beside a report.
    """
    __tracebackhide__ = True
    if at_least is not None and threshold is not None:
        raise ValueError(
            f"at_least is {at_least!r} and threshold is {threshold!r}, which are two names of one bound; "
            "give one of them"
        )
    bound = next((value for value in (at_least, threshold) if value is not None), 1.0)
    reports = _reports(answer, contexts, question=question, checker=checker)
    if bound != 0 or hallucination_at_most is None:
        check_bound(reports, "faithfulness", bound, at_least=True, unscored_at_most=unscored_at_most)
    if hallucination_at_most is not None:
        check_bound(
            reports, "hallucination", hallucination_at_most, at_least=False, unscored_at_most=unscored_at_most
        )


def assert_no_hallucination(
    answer: Checked,
    contexts: Contexts = UNSAID,
    *,
    unscored_at_most: float = 0.0,
    question: str | None = None,
    checker: AnyChecker | None = None,
) -> None:
    """Asserts that the evidence refutes no claim of the answer.

    A claim on which the evidence is silent does not fail it. Arguments and errors as in
    `assert_faithfulness`.
    """
    __tracebackhide__ = True
    reports = _reports(answer, contexts, question=question, checker=checker)
    check_bound(reports, "hallucination", 0.0, at_least=False, unscored_at_most=unscored_at_most)


def assert_claim_recall(
    answer: Checked,
    contexts: Contexts = UNSAID,
    *,
    at_least: float = 1.0,
    gold_claims: Iterable[Any] | None = None,
    unscored_at_most: float = 0.0,
    question: str | None = None,
    checker: AnyChecker | None = None,
) -> None:
    """Asserts that the answer states at least the share `at_least` of the key gold claims, 0 to 1.

    The gold claims are `gold_claims` (texts, records or mappings), or those of a report. Other arguments and
    errors as in `assert_faithfulness`; a refusal states none, so it fails.
    """
    __tracebackhide__ = True
    reports = _reports(answer, contexts, question=question, checker=checker, gold_claims=gold_claims)
    check_bound(reports, "claim_recall", at_least, at_least=True, unscored_at_most=unscored_at_most)


def assert_context_precision(
    answer: Checked,
    contexts: Contexts = UNSAID,
    *,
    at_least: float,
    gold_claims: Iterable[Any] | None = None,
    unscored_at_most: float = 0.0,
    question: str | None = None,
    checker: AnyChecker | None = None,
) -> None:
    """Asserts that at least the share `at_least` of the contexts, 0 to 1, entails a gold claim.

    The gold claims are `gold_claims` (texts, records or mappings), or those of a report. Other arguments and
    errors as in `assert_faithfulness`.
    """
    __tracebackhide__ = True
    reports = _reports(answer, contexts, question=question, checker=checker, gold_claims=gold_claims)
    check_bound(reports, "context_precision", at_least, at_least=True, unscored_at_most=unscored_at_most)


def assert_context_utilization(
    answer: Checked,
    contexts: Contexts = UNSAID,
    *,
    at_least: float,
    unscored_at_most: float = 0.0,
    question: str | None = None,
    checker: AnyChecker | None = None,
) -> None:
    """Asserts that at least the share `at_least` of the claims, 0 to 1, is entailed by some context."""
    __tracebackhide__ = True
    reports = _reports(answer, contexts, question=question, checker=checker)
    check_bound(reports, "context_utilization", at_least, at_least=True, unscored_at_most=unscored_at_most)


def assert_cited(
    answer: Checked,
    contexts: Contexts = UNSAID,
    *,
    support_at_least: float = 1.0,
    coverage_at_least: float = 1.0,
    nonexistent_at_most: float = 0.0,
    unscored_at_most: float = 0.0,
    question: str | None = None,
    checker: AnyChecker | None = None,
) -> None:
    """Asserts that claims carry citations, that these exist, and that what they cite entails the claims.

    A citation is the number of a context, or its PMID, DOI, id, title or address (docs/metrics.md lists
    them). Bounds are shares from 0 to 1: `support_at_least` of cited sentences that what they cite entails,
    `coverage_at_least` of sentences with a citation, `nonexistent_at_most` of cited claims that cite none of
    the contexts. 0, 0 and 1 leave the respective check out. Other arguments and errors as in
    `assert_faithfulness`.
    """
    __tracebackhide__ = True
    reports = _reports(answer, contexts, question=question, checker=checker)
    if coverage_at_least != 0 or support_at_least == 0:
        check_bound(
            reports, "citation_coverage", coverage_at_least, at_least=True, unscored_at_most=unscored_at_most
        )
    if support_at_least != 0:
        check_bound(
            reports, "citation_support", support_at_least, at_least=True, unscored_at_most=unscored_at_most
        )
    if nonexistent_at_most != 1 and any(map(attributions, reports.reports)):
        bound: dict[str, Any] = {"at_least": False, "unscored_at_most": unscored_at_most}
        check_bound(reports, "nonexistent_citation", nonexistent_at_most, **bound)


def assert_no_major_omission(
    answer: Checked,
    contexts: Contexts = UNSAID,
    *,
    gold_claims: Iterable[Any] | None = None,
    question: str | None = None,
    checker: AnyChecker | None = None,
) -> None:
    """Asserts that the answer states every gold claim of severity "major"; a refusal states none.

    A fact that the answer contradicts, or that nobody could judge, counts as not stated. Arguments as in
    `assert_claim_recall`.

    Raises:
        AssertionError: a major fact is not in the answer, or there is no major fact to look for.
    """
    __tracebackhide__ = True
    reports = _reports(answer, contexts, question=question, checker=checker, gold_claims=gold_claims)
    if not any(is_major(gold) for report in reports.reports for gold in report.case.gold_claims):
        raise unmeasured("omission.major", 'no gold claim has severity = "major"')
    if reports.missing:
        check_complete(reports, "omission.major")
    states = [state for report in reports.reports for state in _major_states(report)]
    if set(states) != {"present"}:
        most, width = SHOWN.get().most, SHOWN.get().width
        raise AssertionError(explain_facts(reports.reports, only_major=True, most=most, width=width))


def _major_states(report: Report) -> list[str]:
    """Returns for each major gold claim whether the answer states it: "present", or what it is else."""
    golds = report.case.gold_claims
    states = fact_states(report) or ("unscored",) * len(golds)
    return [state for gold, state in zip(golds, states, strict=True) if is_major(gold)]


def assert_abstains(
    answer: Checked,
    contexts: Contexts = UNSAID,  # noqa: ARG001 - so that every assertion is called alike
) -> None:
    """Asserts that the answer is a refusal: it declines or refers the reader elsewhere, and states nothing.

    No model runs, and a text needs no contexts. Of a slice report every answer has to be a refusal.

    Raises:
        AssertionError: an answer states something; the message shows what.
    """
    __tracebackhide__ = True
    answer = awaited(answer)
    if isinstance(answer, (Report, SliceReport)):
        reports = _reports(answer)
        if reports.missing or not reports.reports:
            check_complete(reports, "abstention")
        said = {
            report.case.id: [verdict.claim.text for verdict in report.verdicts]
            for report in reports.reports
            if not report.abstained
        }
    else:
        response = asserted_response(answer, None)
        claims = [claim.text for claim in extract_claims(response.answer, contexts=response.contexts)]
        said = {} if is_refusal(response.answer, contexts=response.contexts) else {response.case_id: claims}
    if said:
        name, claims = next(iter(said.items()))
        case = f"case {one_line(name)}: " if name else ""
        first = f"it states {clip(claims[0], 200)!r}" if claims else "it neither declines nor states anything"
        more = f"; {len(said)} answers are no refusals" if len(said) > 1 else ""
        raise AssertionError(f"{case}expected a refusal, but {first}{more}")


def assert_no_safety_errors(
    answer: Checked,
    contexts: Contexts = UNSAID,  # noqa: ARG001 - so that every assertion is called alike
    *,
    question: str | None = None,
    rulebooks: Iterable[str | Path] = (),
    unscored_at_most: float = 0.0,
) -> None:
    """Asserts that no claim breaks a safety rule: dose, contraindication, interaction, population, triage.

    The rules read the answer, not its evidence: a dangerous claim is dangerous even where a source says it.
    So a text needs no contexts, and no model runs. A claim that the rules cannot read does not count as safe.

    Args:
        answer: an answer's text, a Response, a Report, or a SliceReport.
        contexts: accepted as in every assertion, and not read.
        question: what was asked, beside a text or a Response; it names what the answer leaves out ("Can I
            take it with warfarin?").
        rulebooks: TOML files with your rules, beside a text or a Response; a report has the rules of its
            project.
        unscored_at_most: the share of claims that may be unscored, such as claims in a script that the rules
            cannot read.

    Raises:
        AssertionError: a claim breaks a rule; the message names claim, rule and the rule's source.
        DataError: a rulebook that cannot be read.
    """
    __tracebackhide__ = True
    answer = awaited(answer)
    if isinstance(answer, (Report, SliceReport)):
        reports = _reports(answer)
    else:
        rulebook = load_rulebook(tuple(map(Path, rulebooks)))
        report = safety_report(asserted_response(answer, None), question=question or "", rulebook=rulebook)
        reports = Reports([report])
    if any(breaks_safety_rule(verdict) for report in reports.reports for verdict in report.verdicts):
        raise AssertionError(explain_safety(reports.reports, most=SHOWN.get().most, width=SHOWN.get().width))
    check_complete(reports, "safety", needs_contexts=False)
    check_scored(reports.reports, "safety", unscored_at_most)


def _reports(answer: Checked, contexts: Contexts = UNSAID, **said: Any) -> Reports:
    """Returns the reports that an assertion is about; an answer that is no report is checked first."""
    answer = awaited(answer)
    if not isinstance(answer, (Report, SliceReport)):
        answer = check_answer(answer, contexts, **said)
        contexts, said = UNSAID, {}
    checked = (
        Reports(answer.reports, answer.missing) if isinstance(answer, SliceReport) else Reports([answer])
    )
    checked = dataclasses.replace(checked, reports=[read(report) for report in checked.reports])
    given = ["contexts"] * (contexts is not UNSAID) + [
        name for name, value in said.items() if value is not None
    ]
    if given:
        raise ValueError(
            f"{given[0]} was given beside a report, which was checked with its own already; leave it out, "
            "or give the answer's text"
        )
    return checked
