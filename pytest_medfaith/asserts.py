"""Assertions for tests: plain AssertionErrors with a readable account of what is not backed, and by what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_medfaith.cards.account import faithfulness_account, filled, recall_account, safety_account
from pytest_medfaith.checking.checker import Checker, load_checker
from pytest_medfaith.checking.rules.rulebook import Rulebook, load_rulebook
from pytest_medfaith.claims.refusals import is_refusal
from pytest_medfaith.claims.split import extract_claims
from pytest_medfaith.evaluation import as_chunks, evaluate_case, with_safety
from pytest_medfaith.metrics.aggregate import aggregate
from pytest_medfaith.metrics.registry import parse_metric
from pytest_medfaith.metrics.safety import breaks_safety_rule
from pytest_medfaith.records import Case, Claim, GoldClaim, Report, Response, SliceReport, Verdict

Checked = str | Response | Report | SliceReport


@dataclass(frozen=True)
class _Shown:
    """How much of a failure is told: at most so many claims (None: all), lines of so many columns."""

    most: int | None = 5
    width: int = 80


_SHOWN: ContextVar[_Shown] = ContextVar("medfaith_shown", default=_Shown())  # noqa: B039 - it is frozen


def set_account(*, most: int | None, width: int) -> None:
    """Sets how failures are told from now on in this context: at most `most` claims (None: all), in `width` columns."""
    _SHOWN.set(_Shown(most, width))


def check_answer(
    answer: str | Response,
    *,
    contexts: Iterable[Any] | None = None,
    question: str | None = None,
    gold_claims: Iterable[Any] | None = None,
    checker: Checker | None = None,
    extractor: Callable[..., list[Claim]] = extract_claims,
    rulebook: Rulebook | None = None,
) -> Report:
    """Returns the report on one answer: its claims, each judged against `contexts`.

    Args:
        answer: the answer's text, or a Response that brings its own contexts.
        contexts: texts, chunks, hits or mappings with a text; required with a text.
        question: what was asked; helps to resolve a leading "it".
        gold_claims: statements a correct answer must make; texts, records or mappings.
        checker: who judges; the shipped student where None.
        extractor: who splits the answer.
        rulebook: the safety rules, as `pytest_medfaith.checking.rules.rulebook.load_rulebook` returns them; the shipped ones where None.

    Raises:
        ValueError: a text without contexts.
        DataError: contexts that are not texts or chunks.
    """
    if isinstance(answer, Response):
        response = answer if contexts is None else answer.with_(contexts=tuple(as_chunks(contexts)))
    elif contexts is None:
        raise ValueError("contexts is missing; expected the chunks the answer was based on, as contexts=[...], [] if there were none")
    else:
        response = Response(answer=answer, contexts=tuple(as_chunks(contexts)))
    case = Case(id=response.case_id, question=question or "", gold_claims=_gold(gold_claims or ()))
    return evaluate_case(case, response, checker=checker or load_checker(), extractor=extractor, rulebook=rulebook)


def _gold(claims: Iterable[Any]) -> tuple[GoldClaim, ...]:
    rows = (claim if not isinstance(claim, str) else {"text": claim} for claim in claims)
    return tuple(row if isinstance(row, GoldClaim) else GoldClaim.from_dict({"id": f"g{i}", **row}) for i, row in enumerate(rows, start=1))


def assert_faithfulness(
    answer: Checked,
    *,
    contexts: Iterable[Any] | None = None,
    at_least: float = 1.0,
    hallucination_at_most: float | None = None,
    question: str | None = None,
    checker: Checker | None = None,
) -> None:
    """Asserts that the share of claims that the evidence supports is at least `at_least` (by default: all of them).

    A refusal makes no claim and passes; it is counted as an abstention. An answer without any checkable claim fails.

    Args:
        answer: an answer's text (then `contexts` is required), a Response, a Report, or a SliceReport.
        contexts: what the answer was based on.
        at_least: bound on faithfulness, 0 to 1.
        hallucination_at_most: bound on the share of claims that the evidence refutes, where given.
        question: what was asked.
        checker: who judges; the shipped student where None.

    Raises:
        AssertionError: a bound is not met; the message shows each claim, its score, the best evidence and the threshold.
    """
    __tracebackhide__ = True
    reports = _reports(answer, contexts=contexts, question=question, checker=checker)
    _bound(reports, "faithfulness", at_least, at_least=True)
    if hallucination_at_most is not None:
        _bound(reports, "hallucination", hallucination_at_most, at_least=False)


def assert_no_hallucination(
    answer: Checked, *, contexts: Iterable[Any] | None = None, question: str | None = None, checker: Checker | None = None
) -> None:
    """Asserts that the evidence refutes no claim of the answer. Arguments as in `assert_faithfulness`."""
    __tracebackhide__ = True
    _bound(_reports(answer, contexts=contexts, question=question, checker=checker), "hallucination", 0.0, at_least=False)


def assert_claim_recall(answer: Checked, *, at_least: float = 1.0) -> None:
    """Asserts that the answer makes at least the share `at_least` of the key gold claims; needs a Report or SliceReport."""
    __tracebackhide__ = True
    _bound(_reports(answer), "claim_recall", at_least, at_least=True)


def assert_context_precision(answer: Checked, *, at_least: float) -> None:
    """Asserts that at least the share `at_least` of the contexts entails a gold claim; needs a Report or SliceReport."""
    __tracebackhide__ = True
    _bound(_reports(answer), "context_precision", at_least, at_least=True)


def assert_context_utilization(answer: Checked, *, at_least: float) -> None:
    """Asserts that at least the share `at_least` of the claims is entailed by some context; needs a Report or SliceReport."""
    __tracebackhide__ = True
    _bound(_reports(answer), "context_utilization", at_least, at_least=True)


def assert_cited(answer: Checked, *, support_at_least: float = 1.0, coverage_at_least: float = 1.0) -> None:
    """Asserts that claims carry citations, and that what they cite entails them; needs a Report or SliceReport."""
    __tracebackhide__ = True
    reports = _reports(answer)
    _bound(reports, "citation_coverage", coverage_at_least, at_least=True)
    _bound(reports, "citation_support", support_at_least, at_least=True)


def assert_no_safety_errors(answer: Checked, *, question: str | None = None, rulebooks: Iterable[str | Path] = ()) -> None:
    """Asserts that no claim of the answer breaks a safety rule: dose, contraindication, interaction, population or triage.

    The rules read the answer, not its evidence: a dangerous claim is dangerous also where a source says it. So a text needs no contexts,
    and no model runs.

    Args:
        answer: an answer's text, a Response, a Report, or a SliceReport.
        question: with a text or a Response: what was asked, for what the answer leaves out ("Can I take it with warfarin?").
        rulebooks: with a text or a Response: TOML files with rules of your own; a report has those of its project already.

    Raises:
        AssertionError: a claim breaks a rule; the message names claim, rule and the rule's source.
        DataError: a rulebook that cannot be read.
    """
    __tracebackhide__ = True
    if isinstance(answer, (Report, SliceReport)):
        reports = _reports(answer)
    else:
        reports = [_read_alone(answer, question or "", load_rulebook(tuple(map(Path, rulebooks))))]
    if any(breaks_safety_rule(verdict) for report in reports for verdict in report.verdicts):
        raise AssertionError(safety_account(reports, most=_SHOWN.get().most, width=_SHOWN.get().width))
    if not any(report.verdicts or report.abstained for report in reports):
        raise AssertionError(f"safety could not be measured: {_why_unmeasured(reports)}")


def _read_alone(answer: str | Response, question: str, rulebook: Rulebook) -> Report:
    """Returns the report of an answer that only the safety rules have read."""
    response = answer if isinstance(answer, Response) else Response(answer=answer)
    abstained = is_refusal(response.answer)
    claims = [] if abstained else extract_claims(response.answer, question=question)
    verdicts = [Verdict(claim=claim, label="unscored", reason="only the safety rules have read it") for claim in claims]
    return Report(
        case=Case(id=response.case_id, question=question),
        response=response,
        verdicts=tuple(with_safety(verdict, rulebook=rulebook, question=question) for verdict in verdicts),
        abstained=abstained,
    )


def _reports(
    answer: Checked, *, contexts: Iterable[Any] | None = None, question: str | None = None, checker: Checker | None = None
) -> Sequence[Report]:
    if isinstance(answer, SliceReport):
        return answer.reports
    if isinstance(answer, Report):
        return [answer]
    return [check_answer(answer, contexts=contexts, question=question, checker=checker)]


def _bound(reports: Sequence[Report], name: str, bound: float, *, at_least: bool) -> None:
    __tracebackhide__ = True
    if not 0 <= bound <= 1:
        raise ValueError(f"the bound on {name} is {bound!r}; expected a share from 0 to 1, such as 0.8")
    if reports and all(report.abstained for report in reports) and name != "claim_recall":
        return
    value = aggregate(parse_metric(name), reports)[0].value
    if value is None:
        raise AssertionError(f"{name} could not be measured: {_why_unmeasured(reports)}")
    if value < bound if at_least else value > bound:
        account = recall_account if name == "claim_recall" else faithfulness_account
        most, width = _SHOWN.get().most, _SHOWN.get().width
        missed = f"{name} is {value:.3f}, expected {'at least' if at_least else 'at most'} {bound:g}"
        first = filled(missed, width - len("AssertionError: "), first="", rest="  ")
        raise AssertionError(f"{first}\n{account(reports, most=most, width=width)}")


def _why_unmeasured(reports: Sequence[Report]) -> str:
    if not reports:
        return "there is no report"
    unscored = [verdict for report in reports for verdict in report.verdicts if verdict.label == "unscored"]
    if unscored:
        return f"{len(unscored)} claim(s) unscored, the first because {unscored[0].reason}"
    if not any(report.verdicts for report in reports):
        return "the answer makes no checkable claim"
    return "the cases have no gold claims, contexts or citations that it needs"
