"""A case and a slice, evaluated: the named steps in order."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_medfaith.answers.awaiting import awaited
from pytest_medfaith.answers.foreign import document_fields, in_pieces, rows_of
from pytest_medfaith.answers.given import (
    answer_and_contexts,
    mapping_of,
    refuse_near_keys,
    refuse_unknown_keys,
)
from pytest_medfaith.answers.row_keys import response_row
from pytest_medfaith.checking.checker import Checker
from pytest_medfaith.checking.policy import entails
from pytest_medfaith.claims.refusals import is_refusal
from pytest_medfaith.claims.split import extract_claims, read_answer
from pytest_medfaith.corpus.row_files import is_table, read_row_file
from pytest_medfaith.errors import DataError, shown
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

Extractor = Callable[..., list[Claim]]
Progress = Callable[[int, int], None]
ANSWER = "answer"  # the chunk id under which an answer serves as evidence for gold claims
BY_ANSWER, BY_RETRIEVER = "the answer", "the slice's retriever"  # where contexts came from
RECORDED, BY_ROWS = "the responses file", "the recorded rows"  # likewise
_RESPONSE_KEYS = tuple(f.name for f in dataclasses.fields(Response) if f.name != "extra")
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
    return checker.decide(claim, [by_pair[claim.id, chunk.id] for chunk in contexts], contexts)


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
    def row(claim_id: str, chunk_ids: Iterable[str]) -> tuple[bool, ...]:
        return tuple(entails(by_pair[claim_id, chunk_id], checker.thresholds) for chunk_id in chunk_ids)

    contexts = [chunk.id for chunk in response.contexts]
    return Entailments(
        chunk_claims=tuple(tuple(name in verdict.supporting for name in contexts) for verdict in verdicts),
        chunk_gold=tuple(_supporting(checker, gold, response.contexts, by_pair) for gold in case.gold_claims),
        answer_gold=tuple(verdict.label == "supported" for verdict in gold_verdicts)
        or (False,) * len(case.gold_claims),
        reference_claims=tuple(row(verdict.claim.id, [REFERENCE])[0] for verdict in verdicts)
        if reference_text(case)
        else None,
    )


def _supporting(
    checker: Checker, gold: GoldClaim, contexts: Sequence[Chunk], by_pair: Mapping[tuple[str, str], PairScore]
) -> tuple[bool, ...]:
    """Returns which of `contexts` support the gold claim, judged as a claim of the answer would be."""
    verdict = _verdict(checker, Claim(id=_gold_id(gold), text=gold.text), contexts, by_pair)
    return tuple(chunk.id in verdict.supporting for chunk in contexts)


def read_responses(path: Any, chunks: Iterable[Chunk]) -> dict[str, Response]:
    """Returns case id -> recorded response; a context that is only an id is looked up in `chunks`.

    Args:
        path: a file of JSON Lines, JSON, CSV or Parquet, in this project's keys or those of ragas and deepeval; or a list of mappings or table.
        chunks: of the corpus.

    Raises:
        DataError: a malformed line, a key that looks like a known one, a case answered twice, a context id that the corpus does not hold.
    """
    by_id = {chunk.id: chunk for chunk in chunks}
    responses: dict[str, Response] = {}
    for place, given in read_row_file(path):
        try:
            row = response_row(given, is_table=is_table(path))
            refuse_near_keys(row, _RESPONSE_KEYS)
            response = Response.from_dict(
                {
                    "contexts_from": RECORDED if isinstance(path, Path) else BY_ROWS,
                    **row,
                    "contexts": _contexts(row.get("contexts", []), by_id),
                }
            )
        except DataError as error:
            raise DataError(f"{place}: {error}") from None
        if not response.case_id:
            raise DataError(f"{place}: field 'case_id' is missing; it says which case this response answers")
        if response.case_id in responses:
            raise DataError(
                f"{place}: case {response.case_id!r} is answered on an earlier line already; keep one response a case"
            )
        responses[response.case_id] = response
    return responses


def _contexts(rows: Any, by_id: Mapping[str, Chunk]) -> list[Any]:
    if not isinstance(rows, list):
        raise DataError(
            f"field 'contexts' is {shown(rows)}, expected a list of chunks or of objects with an id"
        )
    return as_chunks([_context(row, by_id) for row in rows])


def _context(row: Any, by_id: Mapping[str, Chunk]) -> Any:
    if isinstance(row, str):
        return by_id.get(row, row)
    if not isinstance(row, Mapping) or "text" in row:
        return row
    name = str(row.get("id"))
    if name not in by_id:
        raise DataError(
            f"context {name!r} is in no corpus file of this slice; add its corpus, or give the chunk its text here"
        )
    return by_id[name]


def ask(rag: Callable[[str], Any], question: str) -> Any:
    """Returns what a RAG callable, plain or async, answers to `question`.

    Raises:
        DataError: it is no callable, as where an `async def` fixture was given to no plugin that runs it.
    """
    if not callable(rag):
        found = in_pieces(rag) or ("a coroutine" if inspect.isawaitable(rag) else shown(rag))
        raise DataError(
            f"the fixture medfaith_rag gives {found}; expected a callable that takes the question. An async def fixture needs a plugin that "
            "runs it (pytest-asyncio, anyio); a plain fixture that returns an async def function needs none"
        )
    return awaited(rag(question))


def as_response(answer: Any, *, case_id: str, hits: Sequence[Hit] = ()) -> Response:
    """Returns what a RAG callable gave back as a Response.

    Accepts a Response, an answer text or message, a mapping with an answer and contexts under a known key (`given.CONTEXT_KEYS`), an object
    with such attributes, or the pair (answer, contexts). Contexts are chunks, mappings of chunks, documents of other tools, or plain texts.
    An answer that says nothing of contexts is checked against `hits`; `contexts_from` of the response says whose they are. What is still to
    come, such as the coroutine of an `async def`, is awaited.

    Raises:
        DataError: anything else, and a mapping without contexts whose unknown keys may hold them.
    """
    answer = awaited(answer)
    if isinstance(answer, Response):
        return checked_response(answer).with_(
            case_id=case_id, contexts_from=answer.contexts_from or BY_ANSWER
        )
    if isinstance(answer, str):
        answer = {"answer": answer}
    if isinstance(answer, tuple) and len(answer) == 2 and not hasattr(answer, "_fields"):
        answer = {"answer": answer[0], "contexts": answer[1]}
    given = answer if isinstance(answer, Mapping) else mapping_of(answer)
    if given is None:
        expected = "expected a Response, an answer text, (answer, contexts) or a mapping with both"
        raise DataError(f"the RAG callable returned {in_pieces(answer) or f'{shown(answer)}; {expected}'}")
    row, key = answer_and_contexts(given)
    refuse_near_keys(row, _RESPONSE_KEYS)
    if not key:
        refuse_unknown_keys(row, _RESPONSE_KEYS)
    chunks = as_chunks(row["contexts"]) if key else [hit.chunk for hit in hits]
    told = (BY_ANSWER if key == "contexts" else f"{BY_ANSWER}, key {key}") if key else BY_RETRIEVER
    return Response.from_dict({**row, "case_id": case_id, "contexts": chunks, "contexts_from": told})


def checked_response(response: Response) -> Response:
    """Returns `response` with its contexts as chunks; a record takes whatever it is made of.

    Raises:
        DataError: its answer is no text, or a context is none or has none.
    """
    answer = awaited(response.answer)
    if not isinstance(answer, str):
        raise DataError(f"the answer is {in_pieces(answer) or f'{shown(answer)}; expected its text'}")
    return response.with_(answer=answer, contexts=tuple(as_chunks(response.contexts)))


def as_chunks(contexts: Any) -> list[Chunk]:
    """Returns `contexts` as chunks; plain texts get the ids context-1, context-2, ... A chunk that stands there twice counts once.

    Raises:
        DataError: no list or table of contexts, a context that is no chunk, mapping or text, one with no text, or two texts with one id.
    """
    contexts = awaited(contexts, "contexts")
    if isinstance(contexts, (str, Mapping, Chunk)) or (
        not isinstance(contexts, tuple) and document_fields(contexts) is not None
    ):
        raise DataError(f"contexts is {shown(contexts)}; expected a list of texts or chunks")
    try:
        rows = rows_of(contexts)
    except DataError as error:
        raise DataError(f"contexts: {error} of texts or chunks") from None
    chunks = [_as_chunk(context, number) for number, context in enumerate(rows, start=1)]
    kept: dict[str, Chunk] = {}
    for chunk in chunks:
        if not chunk.text.strip():
            raise DataError(
                f"context {chunk.id!r} has no text; leave it out, or give the text the answer was based on"
            )
        if kept.setdefault(chunk.id, chunk).text != chunk.text:
            raise DataError(f"two contexts have the id {chunk.id!r}; ids must be unique within a response")
    return list(kept.values())


def _as_chunk(context: Any, number: int) -> Chunk:
    if isinstance(context, Hit):
        context = context.chunk
    if isinstance(context, Chunk):
        return context
    if isinstance(context, Mapping) and "text" in context:
        return Chunk.from_dict({"id": f"context-{number}", **context})
    fields = document_fields(context)
    if fields is not None:
        return Chunk.from_dict({"id": f"context-{number}", **fields})
    raise DataError(
        f"context {number} is {shown(context)}; expected a text, a chunk, or a document or mapping with a text"
    )


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
