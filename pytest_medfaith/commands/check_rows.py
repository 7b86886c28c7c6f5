"""Judges rows of {"id", "claim", "evidence"}: the format in which any checker can be scored on any data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_medfaith.answers.row_files import read_row_file
from pytest_medfaith.errors import DataError, shown
from pytest_medfaith.jsonl import read_rows
from pytest_medfaith.records import LABELS, Chunk, Claim
from pytest_medfaith.safety.findings import safety_findings
from pytest_medfaith.safety.rulebook import Rulebook

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker

_LABEL_OF = {
    "supported": "entail",
    "refuted": "contradict",
    "unsupported": "neutral",
    "uncertain": "uncertain",
    "unscored": "unscored",
}


@dataclass(frozen=True)
class CheckRow:
    """A row to judge: its id, its claim, and its evidence texts."""

    id: Any
    claim: str
    evidence: tuple[str, ...]


def read_check_rows(path: Path) -> list[CheckRow]:
    """Returns the rows of a file of {"id", "claim", "evidence"}; without an id row 3 is `line-3`.

    The file is Parquet where its name ends with .parquet, else JSON Lines.

    Raises:
        DataError: no rows, or a line whose claim or evidence is missing or of the wrong type; the message
            names file, line, field and value.
    """
    if path.suffix.lower() == ".parquet":
        read = ((number, place, row) for number, (place, row) in enumerate(read_row_file(path), start=1))
    else:
        read = ((number, f"{path}:{number}", row) for number, row in read_rows(path))
    rows = [check_row(row, number, place) for number, place, row in read]
    if not rows:
        raise DataError(
            f"{path}: no rows, so nothing would be checked; "
            'expected JSON Lines of {"id", "claim", "evidence"}'
        )
    return rows


def row_name(row: Mapping[str, Any], number: int) -> Any:
    """Returns the id of a row, or "line-3" for row 3 without an id."""
    return row.get("id", f"line-{number}")


def check_row(row: Mapping[str, Any], number: int, place: str) -> CheckRow:
    """Returns the row that line `number` of a file, from 1, holds.

    Raises:
        DataError: claim or evidence is missing or of the wrong type; the message names `place`.
    """
    for key in ("claim", "evidence"):
        if key not in row:
            raise DataError(
                f"{place}: field {key!r} is missing; expected an object with claim and evidence, "
                "and an id where there is one"
            )
    claim, evidence = row["claim"], row["evidence"]
    texts = [evidence] if isinstance(evidence, str) else evidence
    if not isinstance(claim, str):
        raise DataError(f"{place}: field 'claim' is {shown(claim)}, expected text")
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise DataError(f"{place}: field 'evidence' is {shown(evidence)}, expected text or a list of texts")
    return CheckRow(row_name(row, number), claim, tuple(texts))


def check_rows(
    rows: Sequence[CheckRow],
    checker: Checker,
    *,
    rulebook: Rulebook | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[dict[str, Any]]:
    """Returns a result per row, in order: id, label, probs by name, span of the evidence, rules that fired.

    Several evidence texts are judged as several chunks; the decisive text gives probabilities and span, and
    `evidence_index` is its index. A row that cannot be judged is labelled unscored and carries the reason.

    Args:
        rows: as `read_check_rows` returns them.
        checker: judges the claims.
        rulebook: the safety rules; the shipped rules where None.
        progress: told (texts scored, to score).
    """
    claims = [Claim(id=f"{number} (row {row.id})", text=row.claim) for number, row in enumerate(rows)]
    chunks = [
        [
            Chunk(id=str(number), text=text)
            for number, text in enumerate(row.evidence)
            if not checker.unusable(text, "evidence")
        ]
        for row in rows
    ]
    pairs = [
        (claim, chunk)
        for claim, evidence in zip(claims, chunks, strict=True)
        if not checker.unusable(claim.text, "claim")
        for chunk in evidence
    ]
    scores: dict[str, list[Any]] = {}
    for score in checker.score(pairs, progress=progress):
        scores.setdefault(score.claim_id, []).append(score)
    results = []
    for row, claim, evidence in zip(rows, claims, chunks, strict=True):
        result = _result(row, claim, scores.get(claim.id, []), evidence, checker)
        broken = [finding.rule for finding in safety_findings(row.claim, rulebook=rulebook)]
        if broken:
            result["rules"] = [*result.get("rules", []), *broken]
        results.append(result)
    return results


def _result(
    row: CheckRow, claim: Claim, scores: Sequence[Any], chunks: Sequence[Chunk], checker: Checker
) -> dict[str, Any]:
    """Returns the result of a row, as `check_rows` describes it, from the scores of its evidence texts."""
    verdict = checker.selected(checker.decide(claim, scores, chunks))
    unread = not (scores or (checker.judge and chunks))
    if verdict.label == "unscored" or (unread and verdict.label != "refuted"):  # a claim that cannot be
        missing = next(
            (reason for text in row.evidence if (reason := checker.unusable(text, "evidence"))),
            "there is no evidence",
        )
        reason = verdict.reason if verdict.label == "unscored" else missing
        return {"id": row.id, "label": "unscored", "probs": None, "span": None, "reason": reason}
    decisive = next((score for score in scores if score.chunk_id == verdict.chunk_id), None)
    span = decisive.span if decisive else verdict.span
    result = {
        "id": row.id,
        "label": _LABEL_OF[verdict.label],
        "probs": dict(zip(LABELS, decisive.probs, strict=True)) if decisive else None,
        "span": list(span) if span else None,
    }
    if verdict.joint:
        result["joint"] = True
    if verdict.findings:
        result["rules"] = [finding.rule for finding in verdict.findings]
    return (
        result
        if len(row.evidence) == 1
        else {**result, "evidence_index": int(verdict.chunk_id) if verdict.chunk_id else None}
    )
