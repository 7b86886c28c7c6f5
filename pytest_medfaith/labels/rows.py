"""A person's label of a claim, as a line of `labels.jsonl`.

Example: `{"slice": "pcos", "case_id": "pcos-1", "claim": "Metformin raises insulin.", "key": "0f3c…",
"label": "refuted", "verdict": "supported", …}`. The key is a hash of the claim and its evidence, so a label
does not hold any more once the evidence changes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pytest_medfaith.conversion import Record
from pytest_medfaith.errors import DataError, shown
from pytest_medfaith.jsonl import read_rows, records_of
from pytest_medfaith.records import Chunk, Claim, Report, VerdictLabel

Label = Literal["supported", "refuted", "unsupported", "no_claim"]
LABELS: tuple[Label, ...] = ("supported", "refuted", "unsupported", "no_claim")
Severity = Literal["none", "low", "moderate", "high"]
SEVERITIES: tuple[Severity, ...] = ("none", "low", "moderate", "high")
ERRORS: tuple[Label, ...] = ("refuted", "unsupported")  # labels that a severity belongs to
_DIGITS = 16  # hexadecimal digits of a hash: 64 bits, far more than the claims of any run need
_KEY = re.compile(rf"[0-9a-f]{{{_DIGITS}}}")
_CONFLICT = re.compile(rb"\s*(?:<<<<<<<|=======|>>>>>>>|\|\|\|\|\|\|\|)")


@dataclass(frozen=True, kw_only=True)
class LabelRow(Record):
    """What a person says about a claim of a run, and how the claim was drawn.

    Attributes:
        slice: that the claim's case belongs to.
        case_id: of the case.
        claim: its words.
        key: hash of the claim and its evidence, 16 hexadecimal digits, see `claim_key`.
        label: what the evidence says of the claim, in the person's view: "supported", "refuted",
            "unsupported" (it says nothing), or "no_claim" for a text that claims nothing.
        verdict: what the checker said when the claim was drawn.
        checker: name and fingerprint, see `checker_fingerprint`.
        stratum: the group that it was drawn from, such as "refuted near" (verdict, distance to threshold).
        weight: how many claims of the run it stands for, above 0: claims of the stratum / claims drawn of it.
        severity: of an error, "none" to "high"; None where nobody graded it.
        reviewer: initials; "" where none are given.
    """

    slice: str
    case_id: str
    claim: str
    key: str
    label: Label
    verdict: VerdictLabel
    checker: str
    stratum: str
    weight: float
    severity: Severity | None = None
    reviewer: str = ""

    def __post_init__(self) -> None:
        """Refuses values that types cannot rule out.

        Raises:
            DataError: a malformed key, a weight that is not above 0, or a severity beside a label that is no
                error.
        """
        if not _KEY.fullmatch(self.key):
            raise DataError(f"field 'key' is {shown(self.key)}, expected {_DIGITS} hexadecimal digits")
        if not 0 < self.weight < float("inf"):
            raise DataError(f"field 'weight' is {self.weight}, expected a finite number above 0")
        if self.severity is not None and self.label not in ERRORS:
            raise DataError(
                f"field 'severity' is {self.severity!r} beside the label {self.label!r}; expected it beside "
                f"{' or '.join(ERRORS)} only"
            )


def claim_key(slice_name: str, case_id: str, claim: Claim, contexts: Iterable[Chunk]) -> str:
    """Returns a hash of a claim and its evidence, 16 hexadecimal digits.

    Args:
        slice_name: that the claim's case belongs to.
        case_id: of the case.
        claim: hashed are its words, and the words before it that it needs.
        contexts: the evidence, in order; only the texts count.
    """
    return _digits([slice_name, case_id, claim.in_context, [chunk.text for chunk in contexts]])


def label_key(slice_name: str, report: Report, claim: Claim) -> str:
    """Returns the key of a claim in `report`, made of the claim and the contexts that it was judged by."""
    return claim_key(slice_name, report.case.id, claim, judged_contexts(report, claim))


def judged_contexts(report: Report, claim: Claim) -> list[Chunk]:
    """Returns the contexts that `claim` was judged by: all of the answer's, or those found for this claim.

    Those found come best first; [] where nothing was found for it.
    """
    contexts = report.response.contexts
    if report.contexts_mode != "per-claim":
        return list(contexts)
    found = {chunk.id: chunk for chunk in contexts}
    return [found[name] for name in report.retrieval.claims.get(claim.id, ()) if name in found]


def checker_fingerprint(name: str, signature: Mapping[str, Any]) -> str:
    """Returns a checker's name with a hash of its weights, thresholds and rules: "fast@0f3c9a...".

    Args:
        name: of the checker.
        signature: of the run, as in its `signature.json`.
    """
    return f"{name}@{_digits(signature.get('checkers', {}).get(name))}"


def _digits(value: object) -> str:
    """Returns a hash of a JSON value: 16 hexadecimal digits of SHA-256."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()[:_DIGITS]


def read_labels(path: Path) -> list[LabelRow]:
    """Returns the labels in `path` (JSON Lines), in the order of the file; [] for an empty file.

    Raises:
        DataError: no such file, markers of a merge conflict, a malformed line, or a claim that a reviewer
            labelled twice. The message tells file, line and field.
    """
    _refuse_conflicts(path)
    placed = [(f"{path}:{number}", row) for number, row in read_rows(path)]
    rows = list(records_of(placed, LabelRow))
    _refuse_twice([place for place, _ in placed], rows)
    return rows


def _refuse_conflicts(path: Path) -> None:
    """Refuses a file with a marker of a merge conflict, such as "<<<<<<<" (DataError)."""
    if not path.is_file():
        return  # `read_rows` says so
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if _CONFLICT.match(line):
                raise DataError(
                    f"{path}:{number}: a marker of a merge conflict ({line.strip()[:7].decode()}); keep the "
                    "lines of both sides, take out the markers, and import again with medfaith review "
                    "--import"
                )


def _refuse_twice(places: Sequence[str], rows: Sequence[LabelRow]) -> None:
    """Refuses two labels of a claim by the same reviewer (DataError); `places` are file and line of each."""
    first: dict[tuple[str, str, str], str] = {}
    for place, row in zip(places, rows, strict=True):
        earlier = first.setdefault((row.key, row.checker, row.reviewer), place)
        if earlier != place:
            by = f"reviewer {row.reviewer!r}" if row.reviewer else "a reviewer without initials"
            raise DataError(
                f"{place}: field 'key' is {row.key!r}, and {by} labelled this claim on line "
                f"{earlier.rpartition(':')[2]} already; keep one of the lines, or give each reviewer initials"
            )
