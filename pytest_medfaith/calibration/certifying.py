"""Certifies a checker on labelled rows: above which confidence at most a given share of verdicts is wrong."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_medfaith import defaults
from pytest_medfaith.calibration.applying import FittedCalibration, deciding_rules
from pytest_medfaith.calibration.rows import LabelledRow
from pytest_medfaith.calibration.selective import CONFIDENCE, Certified, Judged, certify
from pytest_medfaith.checking.selective import Selective, confidence_of
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk, Claim, PairScore, Verdict

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker

Progress = Callable[[int, int], None]
_RIGHT: Mapping[str, str] = {"supported": "entail", "refuted": "contradict"}  # the label of a right verdict


@dataclass(frozen=True, kw_only=True)
class CertifiedChecker:
    """A certified calibration.

    Attributes:
        fitted: with the certified thresholds.
        found: {"supported" or "refuted": what the rows said of such verdicts}.
        rows: how many rows were judged.
        unscored: how many of them could not be.
    """

    fitted: FittedCalibration
    found: Mapping[str, Certified]
    rows: int
    unscored: int


def certify_checker(
    rows: Sequence[LabelledRow],
    checker: Checker,
    *,
    risk: float,
    seed: int = defaults.SEED,
    progress: Progress | None = None,
) -> CertifiedChecker:
    """Returns from which confidence on the verdicts of `checker` stand, as labels certify it.

    All rows are judged as a run judges claims, rules included. None of them may have served to fit the
    checker.

    Args:
        rows: labelled, drawn as the claims that will be judged; a single row of each group counts.
        checker: as a run uses it.
        risk: the share of wrong verdicts among those that stand, such as 0.05.
        seed: draws the row of a group.
        progress: called with (pairs of texts scored, to score).

    Raises:
        DataError: neither kind of verdict can be certified; the message says how many labels are needed.
    """
    verdicts = row_verdicts(dataclasses.replace(checker, selective=None), rows, progress)
    found = {kind: certify(_judged(rows, verdicts, kind), risk=risk, seed=seed) for kind in _RIGHT}
    if all(one.least is None for one in found.values()):
        lines = "; ".join(certified_line(kind, one, risk=risk) for kind, one in found.items())
        raise DataError(f"no verdict of {checker.name!r} can be certified at a risk of {risk:g}: {lines}")
    unscored = sum(verdict.label == "unscored" for verdict in verdicts)
    return CertifiedChecker(
        fitted=_fitted(checker, found, risk), found=found, rows=len(rows), unscored=unscored
    )


def _judged(rows: Sequence[LabelledRow], verdicts: Sequence[Verdict], kind: str) -> list[Judged]:
    """Returns the verdicts of a kind, each beside the label of its row."""
    return [
        Judged(confidence_of(verdict), row.label != _RIGHT[kind], row.group)
        for row, verdict in zip(rows, verdicts, strict=True)
        if verdict.label == kind
    ]


def _fitted(checker: Checker, found: Mapping[str, Certified], risk: float) -> FittedCalibration:
    selective = Selective(
        supported=found["supported"].least,
        refuted=found["refuted"].least,
        risk=risk,
        confidence=CONFIDENCE,
    )
    return FittedCalibration(
        checker=checker.name,
        weights=checker.signature,
        temperature=checker.temperature,
        thresholds=checker.thresholds,
        isotonic=checker.isotonic,
        selective=selective,
        rules=deciding_rules(checker),
    )


def row_verdicts(
    checker: Checker, rows: Sequence[LabelledRow], progress: Progress | None = None
) -> list[Verdict]:
    """Returns the verdict on each row, as a run judges claims: its rules included."""
    claims = [Claim(id=str(place), text=row.claim) for place, row in enumerate(rows)]
    chunks = [[Chunk(id=str(number), text=text) for number, text in enumerate(row.evidence)] for row in rows]
    pairs = [
        (claim, chunk)
        for claim, evidence in zip(claims, chunks, strict=True)
        if not checker.unusable(claim.text, "claim")
        for chunk in evidence
        if not checker.unusable(chunk.text, "evidence")
    ]
    scores: dict[str, list[PairScore]] = {}
    for score in checker.score(pairs, progress=progress):
        scores.setdefault(score.claim_id, []).append(score)
    return [
        checker.decide(claim, scores.get(claim.id, []), evidence)
        for claim, evidence in zip(claims, chunks, strict=True)
    ]


def certified_line(kind: str, found: Certified, *, risk: float) -> str:
    """Returns in words from which score on verdicts of a kind stand, or how many labels are missing."""
    counted = f"{found.rows} labelled verdicts"
    if found.counted != found.rows:
        counted += f", {found.counted} of them counted, one for each answer or shared text"
    if found.least is not None:
        where = f"above {found.least:.3f}" if found.least else "all of them"
        return (
            f"{kind}: {where} at most {risk:.0%} are wrong, with probability {CONFIDENCE:g} ({counted}; "
            f"{found.kept} stand, {found.wrong} of these wrong)"
        )
    said = f"{kind}: nothing can be promised ({counted}, {found.wrong} wrong)"
    if found.needed is None:
        return (
            f"{said}; that share is no lower than the risk, so no number of labels would certify all of them"
        )
    return f"{said}; about {found.needed} would certify all of them, if the share of wrong ones stays"


def certified_lines(certified: CertifiedChecker, *, risk: float) -> list[str]:
    """Returns the lines that `medfaith calibrate --risk` prints."""
    lines = (
        [f"{certified.rows} labelled rows, {certified.unscored} of them unscored"]
        if certified.unscored
        else []
    )
    return lines + [certified_line(kind, one, risk=risk) for kind, one in certified.found.items()]


def certified_facts(certified: CertifiedChecker, *, seed: int) -> dict[str, Any]:
    """Returns how the thresholds were certified, as plain values for the file of the calibration."""
    found = {kind: dataclasses.asdict(one) for kind, one in certified.found.items()}
    return {
        "rows": {"certified": certified.rows, "unscored": certified.unscored},
        "certified": found,
        "seed": seed,
    }
