"""Checks the answer to a case step by step, and sums the cases of a slice up.

An answer becomes claims, claims get scores against contexts, scores become verdicts, verdicts metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, cast

from pytest_medfaith import defaults
from pytest_medfaith.answers.turns import Turns
from pytest_medfaith.attribution import attributed
from pytest_medfaith.checking.consistency import consistency_of
from pytest_medfaith.checking.other_names import with_other_names
from pytest_medfaith.checking.overrides.question import Asked, with_question
from pytest_medfaith.checking.readable import unusable_text
from pytest_medfaith.checking.relevance import judge_hits
from pytest_medfaith.claims.history import asked_in, said_by_user, with_ellipsis
from pytest_medfaith.claims.limits import read_claims
from pytest_medfaith.claims.split import extract_claims, is_refusal
from pytest_medfaith.english.struck import without_struck
from pytest_medfaith.errors import DataError
from pytest_medfaith.evidence import RECORDED, UNTOLD, Evidence
from pytest_medfaith.metrics.aggregate import case_metrics, slice_metrics
from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.outcomes import answerable, outcome_of
from pytest_medfaith.metrics.registry import METRICS
from pytest_medfaith.records import (
    Case,
    Chunk,
    Claim,
    Dropped,
    Entailments,
    GoldClaim,
    Hit,
    PairScore,
    Report,
    Response,
    Retrieval,
    SliceReport,
    SliceRun,
    Verdict,
    gold_id,
)
from pytest_medfaith.records.stored import case_ids, in_case_order
from pytest_medfaith.retrieval.ranking import checked_hits
from pytest_medfaith.safety.escalation import escalates
from pytest_medfaith.safety.findings import safety_findings
from pytest_medfaith.safety.rulebook import Rulebook
from pytest_medfaith.severity.grading import graded
from pytest_medfaith.severity.rules import SeverityRules

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker

Extractor = Callable[..., list[Claim]]
Progress = Callable[[int, int], None]
ANSWER = "answer"  # the chunk id of an answer where it is the evidence of gold claims
REFERENCE = "reference"  # the chunk id of the reference answer where it is the evidence of claims


def evaluate_case(
    case: Case,
    response: Response,
    *,
    checker: Checker,
    extractor: Extractor = extract_claims,
    hits: Sequence[Hit] | None = None,
    retriever: str = "",
    k: int | None = None,
    rulebook: Rulebook | None = None,
    severity: SeverityRules | None = None,
    declared: Mapping[str, Metric] = METRICS,
    progress: Progress | None = None,
    evidence: Evidence = RECORDED,
) -> Report:
    """Returns the report on one response: its claims, scores, verdicts, broken safety rules and metrics.

    Args:
        case: the question, and where there are any gold claims, reference answer and references.
        response: the answer and the chunks it was given; without contexts every claim is unsupported.
        checker: judges claims.
        extractor: `(answer, question=...) -> claims`.
        hits: what the retriever found for the question, for ranking metrics; None where none was asked.
        retriever: its name, for the report.
        k: how many chunks were asked for, for the report.
        rulebook: the safety rules; the shipped rules where None.
        severity: the rules that grade errors as major or minor; the shipped rules where None.
        declared: the metrics by name; `metrics.project.declared_metrics` adds those of a project.
        progress: called with (texts scored, texts to score).
        evidence: whose contexts the claims are judged by; a DataError where it lacks a retriever.
    """
    hits = None if hits is None else checked_hits(hits, k=k, case=case.id)
    turns, abstained = evidence.turns(case), is_refusal(response.answer, contexts=response.contexts)
    claims, dropped = _read(response, case.question, turns, extractor, abstained=abstained)
    response, found = evidence.judged_response(response, claims, hits, case=case.id, turns=turns)
    _check_ids(case, response, claims)
    by_contexts, by_answers = _pairs(case, response, claims, found)
    scores = checker.score(by_contexts, progress=progress) + checker.score(by_answers)
    judged = _JudgedCase(case, response, checker, scores, found, turns)
    report = _judged_report(judged, claims, rulebook=rulebook, severity=severity, abstained=abstained)
    report = with_other_names(report, checker).with_(
        hits=tuple(hits or ()), searched=hits is not None, retriever=retriever, k=k, dropped=dropped
    )
    report = _with_outcome(_with_evidence(report, judged, evidence), judged)
    return _with_metrics(report, claims, checker, declared)


def _with_metrics(
    report: Report, claims: Sequence[Claim], checker: Checker, declared: Mapping[str, Metric]
) -> Report:
    """Returns `report` with its metrics, and before them what further answers to the question say."""
    told = consistency_of(claims, report.response.answer, report.response.samples, checker)
    report = report.with_(consistency=told.to_dict()) if told else report
    return report.with_(metrics=case_metrics(report, declared=declared))


def _with_outcome(report: Report, judged: _JudgedCase) -> Report:
    """Returns `report` with its outcome, as "answered", and with whether the contexts hold the key facts.

    A failed answer, such as "", has no outcome.
    """
    case, answer = report.case, report.response.answer
    pairs = zip(case.gold_claims, judged.gold_by_contexts, strict=True)
    holds = answerable(verdict.label for gold, verdict in pairs if gold.key)
    if not (report.abstained or report.verdicts):
        return report.with_(answerable=holds)
    asked = any(gold.key and escalates(gold.text, question=case.question) for gold in case.gold_claims)
    outcome = outcome_of(
        case.expects or ("escalate" if asked else None),
        abstained=report.abstained,
        escalates=escalates(answer, question=said_by_user(case.question, judged.turns)),
        holds=holds,
    )
    return report.with_(outcome=outcome, answerable=holds)


def _with_evidence(report: Report, judged: _JudgedCase, evidence: Evidence) -> Report:
    """Returns `report` with what its cited contexts say, or with what a retriever brought."""
    if evidence.mode == "recorded":
        return report.with_(verdicts=attributed(report.verdicts, judged.response, judge=judged.by_some))
    retrieval = judge_hits(report, judged.checker, found=judged.found, cost=evidence.cost)
    return report.with_(contexts_mode=evidence.mode, retrieval=retrieval)


def _read(
    response: Response, question: str, turns: Turns, extractor: Extractor, *, abstained: bool
) -> tuple[Sequence[Claim], tuple[Dropped, ...]]:
    """Returns the claims of an answer, and the words that no claim checks; a refusal has no claims."""
    asked = asked_in(question, turns)
    read = read_claims(
        extractor, response.answer, question=asked, contexts=response.contexts, abstained=abstained
    )
    if abstained:
        return (), read.dropped
    return with_ellipsis(read.claims, asked) if turns else read.claims, read.dropped


def retrieval_report(
    case: Case,
    hits: Sequence[Hit],
    *,
    checker: Checker,
    retriever: str = "",
    k: int | None = None,
    declared: Mapping[str, Metric] = METRICS,
    cost: Retrieval = UNTOLD,
) -> Report:
    """Returns the report on what a retriever found for a question, without an answer."""
    report = Report(
        case=case,
        response=Response(answer="", case_id=case.id),
        hits=tuple(checked_hits(hits, k=k, case=case.id)),
        searched=True,
        retriever=retriever,
        checker=checker.name,
        k=k,
        contexts_mode="none",
    )
    report = report.with_(retrieval=judge_hits(report, checker, found={}, cost=cost))
    report = with_other_names(report, checker)
    return report.with_(metrics=case_metrics(report, declared=declared))


def safety_report(response: Response, *, question: str, rulebook: Rulebook) -> Report:
    """Returns the report on an answer that only the safety rules have read: no context, no model.

    A claim is "unsupported" with a finding for each rule it breaks, or "unscored" where rules cannot read it.
    """
    abstained = is_refusal(response.answer)
    verdicts = []
    for claim in [] if abstained else extract_claims(response.answer, question=question):
        reason = unusable_text(claim.text, "claim", latin_only=True)
        verdict = Verdict(claim=claim, label="unscored" if reason else "unsupported", reason=reason)
        verdicts.append(_with_safety(verdict, response.answer, rulebook=rulebook, question=question))
    case = Case(id=response.case_id, question=question)
    return Report(case=case, response=response, verdicts=tuple(verdicts), abstained=abstained)


def _with_safety(verdict: Verdict, answer: str, *, rulebook: Rulebook | None, question: str) -> Verdict:
    """Returns `verdict` with a finding for each safety rule that its claim breaks; the label stays."""
    claim = verdict.claim
    behind = without_struck(answer)[claim.end :]
    broken = safety_findings(claim.text, rulebook=rulebook, question=question, behind=behind)
    return verdict.with_(findings=(*verdict.findings, *broken)) if broken else verdict


def _check_ids(case: Case, response: Response, claims: Sequence[Claim]) -> None:
    """Raises DataError where two different texts have one id; each would get the scores of both."""
    named = [Chunk(id=name, text="") for name in (ANSWER, REFERENCE)]
    for what, texts in (
        ("claims", claims),
        ("gold claims", case.gold_claims),
        ("contexts", [*named, *response.contexts]),
    ):
        known: dict[str, str] = {}
        for item in texts:
            if known.setdefault(item.id, item.text) != item.text:
                is_named = item.id in (ANSWER, REFERENCE)
                taken = (
                    "an id that stands for the answer and its reference" if is_named else "the id of another"
                )
                raise DataError(
                    f"case {case.id!r}: among its {what} one has {taken}, {item.id!r}; "
                    "give each text an id of its own"
                )


@dataclass(frozen=True)
class _JudgedCase:
    """A case and its response with the scores of all (claim, chunk) pairs, from which verdicts are made.

    Gold claims have the ids of `_gold_claim`. `found` is {id of a claim that was searched for: its chunks}.
    """

    case: Case
    response: Response
    checker: Checker
    scores: Sequence[PairScore]
    # the chunks of each claim that was searched for by itself, by its id
    found: Mapping[str, Sequence[Chunk]]
    turns: Turns = ()

    @cached_property
    def by_pair(self) -> Mapping[tuple[str, str], PairScore]:
        """The scores by (claim id, chunk id)."""
        return {(score.claim_id, score.chunk_id): score for score in self.scores}

    def by_contexts(self, claim: Claim) -> Verdict:
        """Returns the verdict of the contexts on a claim, or on a gold claim as if the answer had made it."""
        contexts = self.found.get(claim.id, self.response.contexts)
        scores = [] if self.checker.judge else [self.by_pair[claim.id, chunk.id] for chunk in contexts]
        verdict = self.checker.decide(claim, scores, contexts)
        if claim.id in self.found and not contexts and verdict.label == "unsupported":
            return verdict.with_(reason="the retriever found nothing for it")
        return verdict

    @cached_property
    def gold_by_contexts(self) -> tuple[Verdict, ...]:
        """The verdicts of the contexts on the gold claims, in their order."""
        return tuple(self.by_contexts(_gold_claim(gold)) for gold in self.case.gold_claims)

    @property
    def by_some(self) -> Callable[[Claim, Sequence[Chunk]], Verdict] | None:
        """`(claim, chunks) -> verdict` by some contexts alone; None where the checker is a plain function."""
        if self.checker.judge:
            return None
        return lambda claim, chunks: self.checker.decide(
            claim, [self.by_pair[claim.id, chunk.id] for chunk in chunks], chunks
        )

    def by_answer(self, gold: GoldClaim) -> Verdict:
        """Returns the verdict on whether the answer states a gold claim: the answer is the evidence."""
        score = self.by_pair.get((_gold_claim(gold).id, ANSWER))
        answer = Chunk(id=ANSWER, text=without_struck(self.response.answer))
        return self.checker.decide(Claim(id=gold.id, text=gold.text), [score] if score else [], [answer])

    def is_in_reference(self, verdict: Verdict) -> bool:
        """Returns whether the reference answer, or without it the gold claims, entail the verdict's claim."""
        reference = Chunk(id=REFERENCE, text=reference_text(self.case))
        score = self.by_pair.get((verdict.claim.id, REFERENCE))
        return self.checker.entailed(verdict.claim, reference, score)


def _gold_claim(gold: GoldClaim) -> Claim:
    """Returns a gold claim as a claim to score, under an id that no claim of the answer has."""
    return Claim(id=gold_id(gold), text=gold.text)


def _pairs(
    case: Case, response: Response, claims: Sequence[Claim], found: Mapping[str, Sequence[Chunk]]
) -> tuple[list[tuple[Claim, Chunk]], list[tuple[Claim, Chunk]]]:
    """Returns two lists of (claim, chunk) pairs to score: by the contexts, and by answer and reference.

    The second pairs gold claims with the answer, and claims with the reference. It is scored apart: a strong
    model reads only a few texts for each claim, and the reference must not take the place of a context.
    """
    gold = [_gold_claim(claim) for claim in case.gold_claims]
    answers = (
        [Chunk(id=ANSWER, text=without_struck(response.answer))] if claims and response.answer.strip() else []
    )
    reference = reference_text(case)
    references = [Chunk(id=REFERENCE, text=reference)] if reference else []
    by_contexts = [
        (claim, chunk) for claim in (*claims, *gold) for chunk in found.get(claim.id, response.contexts)
    ]
    return by_contexts, [*product(gold, answers), *product(claims, references)]


def _judged_report(
    judged: _JudgedCase,
    claims: Sequence[Claim],
    *,
    rulebook: Rulebook | None,
    severity: SeverityRules | None,
    abstained: bool,
) -> Report:
    """Returns the report without hits and metrics; the safety rules read all that the user said."""
    case, told = judged.case, said_by_user(judged.case.question, judged.turns)
    decided = [judged.by_contexts(claim) for claim in claims]
    asked = Asked(told, judged.response.answer, judged.response.contexts)
    checked = [
        _with_safety(
            judged.checker.selected(verdict), judged.response.answer, rulebook=rulebook, question=told
        )
        for verdict in with_question(decided, asked, judged.checker)
    ]
    texts = {chunk.id: chunk.text for chunk in judged.response.contexts}
    verdicts = tuple(graded(one, texts.get(one.chunk_id, ""), rules=severity) for one in checked)
    gold_verdicts = () if abstained else tuple(map(judged.by_answer, case.gold_claims))
    return Report(
        case=case,
        response=judged.response,
        verdicts=verdicts,
        gold_verdicts=gold_verdicts,
        entailments=_entailments(judged, verdicts, gold_verdicts),
        pairs=tuple(score.with_(case_id=case.id) for score in judged.scores),
        abstained=abstained,
        selective=judged.checker.selective is not None,
        checker=judged.checker.name,
    )


def reference_text(case: Case) -> str:
    """Returns a case's reference answer, else its gold claims joined by blanks; "" where it has neither."""
    return case.reference_answer or " ".join(claim.text for claim in case.gold_claims)


def _entailments(
    judged: _JudgedCase, verdicts: Sequence[Verdict], gold_verdicts: Sequence[Verdict]
) -> Entailments:
    """Returns which contexts, answer and reference entail which claims and gold claims, as booleans."""
    case, names = judged.case, [chunk.id for chunk in judged.response.contexts]
    return Entailments(
        chunk_claims=tuple(tuple(name in verdict.supporting for name in names) for verdict in verdicts),
        chunk_gold=tuple(tuple(name in one.supporting for name in names) for one in judged.gold_by_contexts),
        answer_gold=tuple(verdict.label == "supported" for verdict in gold_verdicts)
        or (False,) * len(case.gold_claims),
        reference_claims=tuple(map(judged.is_in_reference, verdicts)) if reference_text(case) else None,
    )


def slice_report(
    run: SliceRun,
    reports: Sequence[Report],
    *,
    expected: Sequence[str] = (),
    partial: bool = False,
    declared: Mapping[str, Metric] = METRICS,
    seed: int = defaults.SEED,
) -> SliceReport:
    """Returns the reports of a slice summed up, in the order of their case ids.

    Args:
        run: the key of the card's row: slice, retriever, checker, k, contexts mode.
        reports: one for each case.
        expected: the ids of all cases; those without a report are listed as `missing`, and make it partial.
        partial: whether the run was cut short.
        declared: the metrics by name.
        seed: of the resampling that gives the intervals.
    """
    ordered = in_case_order(reports)
    micro, macro = slice_metrics(ordered, declared=declared, seed=seed)
    done = set(case_ids(ordered))
    missing = tuple(case_id for case_id in expected if case_id not in done)
    return SliceReport(
        **run.to_dict(),
        reports=tuple(ordered) if isinstance(ordered, list) else cast("tuple[Report, ...]", ordered),
        metrics=micro,
        macro=macro,
        definitions={m.name: m.definition for m in declared.values() if m.family == "project"},
        missing=missing,
        partial=partial or bool(missing),
    )
