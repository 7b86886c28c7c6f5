"""A case and a slice, evaluated: the named steps in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_medfaith.claims.split import extract_claims, is_refusal, read_answer
from pytest_medfaith.errors import DataError
from pytest_medfaith.metrics.aggregate import case_metrics, slice_metrics
from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.registry import METRICS
from pytest_medfaith.records import (
    Case,
    Chunk,
    Claim,
    Entailments,
    GoldClaim,
    Hit,
    PairScore,
    Report,
    Response,
    SliceReport,
    SliceRun,
    Verdict,
)
from pytest_medfaith.retrieval.ranking import checked_hits
from pytest_medfaith.safety.findings import safety_findings
from pytest_medfaith.safety.rulebook import Rulebook

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker

Extractor = Callable[..., list[Claim]]
Progress = Callable[[int, int], None]
ANSWER = "answer"  # the chunk id under which an answer serves as evidence for gold claims
REFERENCE = "reference"  # likewise the reference answer, as evidence for the response's claims


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
    declared: Mapping[str, Metric] = METRICS,
    progress: Progress | None = None,
) -> Report:
    """Returns the report on one response: its claims, every pair score, verdicts with the safety rules they break, and per-case metrics.

    Args:
        case: the question with its gold claims and references; all optional but the question.
        response: the answer and the chunks it was given; without contexts every claim is unsupported.
        checker: judges claims.
        extractor: `(answer, question=...) -> claims`.
        hits: what the retriever found for the question, for the ranking metrics; None where none was asked.
        retriever: the retriever's name, for the report.
        k: retrieval depth, for the report.
        rulebook: the safety rules; the shipped ones where None.
        declared: the metrics by name; with those of a project as `metrics.project.declared_metrics` returns them.
        progress: told (texts scored, to score).
    """
    if hits is not None:
        hits = checked_hits(hits, k=k, case=case.id)
    own, abstained = extractor is extract_claims, is_refusal(response.answer)
    read = read_answer(response.answer, question=case.question) if own else None
    claims = (
        [] if abstained else list(read.claims) if read else extractor(response.answer, question=case.question)
    )
    _check_ids(case, response, claims)
    # A strong model reads few texts of each claim; the reference must not take the place of a context among them.
    scores = checker.score(_context_pairs(case, response, claims), progress=progress)
    scores += checker.score(_reference_pairs(case, response, claims))
    by_pair = {(score.claim_id, score.chunk_id): score for score in scores}
    verdicts = tuple(
        with_safety(
            _verdict(checker, claim, response.contexts, by_pair), rulebook=rulebook, question=case.question
        )
        for claim in claims
    )
    gold_verdicts = (
        ()
        if abstained
        else tuple(_gold_verdict(checker, gold, response, by_pair) for gold in case.gold_claims)
    )
    report = Report(
        case=case,
        response=response,
        verdicts=verdicts,
        gold_verdicts=gold_verdicts,
        entailments=_entailments(case, response, verdicts, gold_verdicts, by_pair, checker),
        pairs=tuple(score.with_(case_id=case.id) for score in scores),
        hits=tuple(hits or ()),
        searched=hits is not None,
        abstained=abstained,
        retriever=retriever,
        checker=checker.name,
        k=k,
        dropped=read.dropped if read else (),  # another extractor does not say what it leaves out
    )
    return report.with_(metrics=case_metrics(report, declared=declared))


def with_safety(verdict: Verdict, *, rulebook: Rulebook | None, question: str) -> Verdict:
    """Returns `verdict` with a finding for each safety rule that its claim breaks; the label stays what the evidence made it."""
    broken = safety_findings(verdict.claim.text, rulebook=rulebook, question=question)
    return verdict.with_(findings=(*verdict.findings, *broken)) if broken else verdict


def _check_ids(case: Case, response: Response, claims: Sequence[Claim]) -> None:
    """Refuses two texts under one id: each would get the other's scores."""
    named = [Chunk(id=name, text="") for name in (ANSWER, REFERENCE)]
    for what, texts in (
        ("claims", claims),
        ("gold claims", case.gold_claims),
        ("contexts", [*named, *response.contexts]),
    ):
        known: dict[str, str] = {}
        for one in texts:
            if known.setdefault(one.id, one.text) != one.text:
                taken = (
                    "an id that stands for the answer and its reference"
                    if one.id in (ANSWER, REFERENCE)
                    else "the id of another"
                )
                raise DataError(
                    f"case {case.id!r}: among its {what} one has {taken}, {one.id!r}; give each text an id of its own"
                )


def _gold_id(gold: GoldClaim) -> str:
    return f"gold:{gold.id}"


def _gold_of(case: Case) -> list[Claim]:
    return [Claim(id=_gold_id(claim), text=claim.text) for claim in case.gold_claims]


def _context_pairs(case: Case, response: Response, claims: Sequence[Claim]) -> list[tuple[Claim, Chunk]]:
    return [(claim, chunk) for claim in [*claims, *_gold_of(case)] for chunk in response.contexts]


def _reference_pairs(case: Case, response: Response, claims: Sequence[Claim]) -> list[tuple[Claim, Chunk]]:
    """Returns the gold claims against the answer, and the claims against the reference."""
    answers = [Chunk(id=ANSWER, text=response.answer)] if claims and response.answer.strip() else []
    reference = reference_text(case)
    references = [Chunk(id=REFERENCE, text=reference)] if reference else []
    return [
        (claim, chunk)
        for own, chunks in ((_gold_of(case), answers), (claims, references))
        for claim in own
        for chunk in chunks
    ]


def reference_text(case: Case) -> str:
    """Returns the reference answer, or the gold claims one after another where there is none."""
    return case.reference_answer or " ".join(claim.text for claim in case.gold_claims)


def _verdict(
    checker: Checker, claim: Claim, contexts: Sequence[Chunk], by_pair: Mapping[tuple[str, str], PairScore]
) -> Verdict:
    scores = [] if checker.judge else [by_pair[claim.id, chunk.id] for chunk in contexts]
    return checker.decide(claim, scores, contexts)


def _gold_verdict(
    checker: Checker, gold: GoldClaim, response: Response, by_pair: Mapping[tuple[str, str], PairScore]
) -> Verdict:
    score = by_pair.get((_gold_id(gold), ANSWER))
    return checker.decide(
        Claim(id=gold.id, text=gold.text), [score] if score else [], [Chunk(id=ANSWER, text=response.answer)]
    )


def _entailments(
    case: Case,
    response: Response,
    verdicts: Sequence[Verdict],
    gold_verdicts: Sequence[Verdict],
    by_pair: Mapping[tuple[str, str], PairScore],
    checker: Checker,
) -> Entailments:
    contexts = [chunk.id for chunk in response.contexts]
    reference = Chunk(id=REFERENCE, text=reference_text(case))
    return Entailments(
        chunk_claims=tuple(tuple(name in verdict.supporting for name in contexts) for verdict in verdicts),
        chunk_gold=tuple(_supporting(checker, gold, response.contexts, by_pair) for gold in case.gold_claims),
        answer_gold=tuple(verdict.label == "supported" for verdict in gold_verdicts)
        or (False,) * len(case.gold_claims),
        reference_claims=tuple(
            checker.entailed(verdict.claim, reference, by_pair.get((verdict.claim.id, REFERENCE)))
            for verdict in verdicts
        )
        if reference.text
        else None,
    )


def _supporting(
    checker: Checker, gold: GoldClaim, contexts: Sequence[Chunk], by_pair: Mapping[tuple[str, str], PairScore]
) -> tuple[bool, ...]:
    """Returns which of `contexts` support the gold claim, judged as a claim of the answer would be."""
    verdict = _verdict(checker, Claim(id=_gold_id(gold), text=gold.text), contexts, by_pair)
    return tuple(chunk.id in verdict.supporting for chunk in contexts)


def slice_report(
    run: SliceRun,
    reports: Sequence[Report],
    *,
    expected: Sequence[str] = (),
    partial: bool = False,
    declared: Mapping[str, Metric] = METRICS,
    seed: int = 0,
) -> SliceReport:
    """Returns the aggregated report of a slice; cases of `expected` without a report are listed as missing."""
    ordered = tuple(sorted(reports, key=lambda report: report.case.id))
    micro, macro = slice_metrics(ordered, declared=declared, seed=seed)
    done = {report.case.id for report in ordered}
    missing = tuple(case_id for case_id in expected if case_id not in done)
    return SliceReport(
        **run.to_dict(),
        reports=ordered,
        metrics=micro,
        macro=macro,
        definitions={one.name: one.definition for one in declared.values() if one.family == "project"},
        missing=missing,
        partial=partial or bool(missing),
    )
