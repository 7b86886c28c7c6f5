"""The seam by which any checker is scored: rows of (id, claim, evidence) in, labels and probabilities out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_medfaith.checking.checker import Checker, unusable_text
from pytest_medfaith.corpus.jsonl import read_rows
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import LABELS, Chunk, Claim

_LABEL_OF = {"supported": "entail", "refuted": "contradict", "unsupported": "neutral", "unscored": "unscored"}


@dataclass(frozen=True)
class CheckRow:
    """One claim and its evidence texts."""

    id: Any
    claim: str
    evidence: tuple[str, ...]


def read_check_rows(path: Path) -> list[CheckRow]:
    """Returns the rows of a JSON Lines file of {"id", "claim", "evidence"}.

    Raises:
        DataError: a line without one of the three, or of another type; the message names file, line, field and value.
    """
    return [_check_row(row, f"{path}:{number}") for number, row in read_rows(path)]


def _check_row(row: dict[str, Any], place: str) -> CheckRow:
    for key in ("id", "claim", "evidence"):
        if key not in row:
            raise DataError(f"{place}: field {key!r} is missing; expected an object with id, claim and evidence")
    claim, evidence = row["claim"], row["evidence"]
    texts = [evidence] if isinstance(evidence, str) else evidence
    if not isinstance(claim, str):
        raise DataError(f"{place}: field 'claim' is {claim!r}, expected text")
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise DataError(f"{place}: field 'evidence' is {evidence!r}, expected text or a list of texts")
    return CheckRow(row["id"], claim, tuple(texts))


def check_rows(rows: Sequence[CheckRow], checker: Checker, *, progress: Callable[[int, int], None] | None = None) -> list[dict[str, Any]]:
    """Returns one result per row, in order: id, label, probs by name, and the span of the best evidence.

    Several evidence texts are judged as several chunks; the deciding one gives probabilities and span, and its index stands
    in `evidence_index`. A row that cannot be judged is labelled unscored and carries the reason.
    """
    claims = [Claim(id=str(number), text=row.claim) for number, row in enumerate(rows)]
    chunks = [
        [Chunk(id=str(number), text=text) for number, text in enumerate(row.evidence) if not unusable_text(text, "evidence")]
        for row in rows
    ]
    pairs = [(claim, chunk) for claim, own in zip(claims, chunks, strict=True) if not unusable_text(claim.text, "claim") for chunk in own]
    scores: dict[str, list[Any]] = {}
    for score in checker.score(pairs, progress=progress):
        scores.setdefault(score.claim_id, []).append(score)
    return [_result(row, claim, scores.get(claim.id, []), own, checker) for row, claim, own in zip(rows, claims, chunks, strict=True)]


def _result(row: CheckRow, claim: Claim, scores: Sequence[Any], chunks: Sequence[Chunk], checker: Checker) -> dict[str, Any]:
    verdict = checker.decide(claim, scores, chunks)
    if verdict.label == "unscored" or not scores:
        reason = verdict.reason if verdict.label == "unscored" else unusable_text(" ".join(row.evidence), "evidence")
        return {"id": row.id, "label": "unscored", "probs": None, "span": None, "reason": reason}
    decisive = next(score for score in scores if score.chunk_id == verdict.chunk_id)
    result = {
        "id": row.id,
        "label": _LABEL_OF[verdict.label],
        "probs": dict(zip(LABELS, decisive.probs, strict=True)),
        "span": list(decisive.span) if decisive.span else None,
    }
    if verdict.findings:
        result["rules"] = [finding.rule for finding in verdict.findings]
    return result if len(row.evidence) == 1 else {**result, "evidence_index": int(decisive.chunk_id)}
