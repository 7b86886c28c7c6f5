"""Draws the claims of a run that people label, so that few labels say much about the rates of the run.

Example: a run has 1,680 supported, 100 unsupported and 60 refuted claims. 120 claims by plain chance would
hold 4 refuted claims. Drawn by strata they hold 12, and a weight beside each says how many claims it speaks
for.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_medfaith.errors import DataError
from pytest_medfaith.labels.rows import label_key
from pytest_medfaith.records import Report, SliceReport, Verdict

# How often a verdict is expected to be wrong, near its threshold and far from it. Nothing of it was measured:
# it only shares out the claims. A poor guess widens intervals and biases nothing, since weights are kept.
_EXPECTED_ERROR: Mapping[str, tuple[float, float]] = {
    "uncertain": (0.5, 0.5),
    "supported": (0.1, 0.02),
    "refuted": (0.4, 0.15),
    "unsupported": (0.4, 0.15),
}
_LEAST = 2  # claims of a stratum: a single claim has no variance
# Of the count, so that each kind of verdict has an error rate. The rest serves the rate of the whole run.
_SHARED_EQUALLY = 1 / 3


@dataclass(frozen=True, kw_only=True)
class DrawnClaim:
    """A claim to label; `weight` is how many claims of the run it speaks for."""

    slice: str
    report: Report
    verdict: Verdict
    key: str
    stratum: str
    weight: float


@dataclass(frozen=True, kw_only=True)
class Draw:
    """The drawn claims, those of a case side by side.

    Attributes:
        claims: cases in random order, claims in the order of the answer; cases with an uncertain claim first.
        population: {stratum: how many claims of the run it has}.
        unscored: how many claims were left out since they have no verdict.
    """

    claims: tuple[DrawnClaim, ...]
    population: Mapping[str, int]
    unscored: int


@dataclass(frozen=True)
class KeyedClaim:
    """A claim of a run with its verdict, its report, and the key that a label names it by."""

    slice: str
    report: Report
    verdict: Verdict
    key: str

    @property
    def distance(self) -> float:
        """How far the verdict's score is from its threshold."""
        return abs(self.verdict.score - self.verdict.threshold)


def draw_claims(slice_reports: Iterable[SliceReport], *, count: int, seed: int) -> Draw:
    """Returns `count` claims of a run, or all where it has fewer.

    A stratum is a verdict, near its threshold or far from it: near is the half of the verdict's claims whose
    |score - threshold| is smaller. A third of the count is shared equally, and each stratum gets at least 2
    claims, or as many as it has. From there on stratum h of N_h claims gets claims in proportion to N_h *
    sqrt(e_h * (1 - e_h)), with e_h its expected share of wrong verdicts (Neyman's allocation: J. Neyman, JRSS
    97, 1934): flagged claims and claims near a threshold are drawn more often than all others.

    Equal claims of a case with equal evidence count once, also where several retrievers brought that
    evidence.

    Args:
        slice_reports: of one checker.
        count: claims to draw.
        seed: equal seeds draw equal claims of equal runs.

    Raises:
        DataError: several checkers, no claim with a verdict, or a count too small for the strata.
    """
    slice_reports = list(slice_reports)
    checkers = sorted({report.checker for report in slice_reports})
    if len(checkers) > 1:
        raise DataError(f"the run has {len(checkers)} checkers, expected 1: {', '.join(checkers)}")
    units, unscored = _units(slice_reports)
    if not units:
        raise DataError(
            f"the run has no claim with a verdict ({unscored} unscored); there is nothing to label"
        )
    strata = _strata(units)
    sizes = _allocation(strata, count=count)
    source = random.Random(seed)
    drawn = [
        DrawnClaim(
            slice=unit.slice, report=unit.report, verdict=unit.verdict, key=unit.key,
            stratum=name, weight=len(members) / sizes[name],
        )
        for name, members in strata.items()
        for unit in source.sample(members, sizes[name])
    ]  # fmt: skip
    population = {name: len(members) for name, members in strata.items()}
    return Draw(claims=_by_case(drawn, units, source), population=population, unscored=unscored)


def claims_with_keys(slice_reports: Iterable[SliceReport]) -> list[KeyedClaim]:
    """Returns the claims with a verdict that labels may name, equal claims of a case once."""
    return _units(slice_reports)[0]


def strata_of(slice_reports: Iterable[SliceReport]) -> dict[str, str]:
    """Returns {key of a claim: its stratum, such as "refuted near"} for a draw from these reports."""
    strata = _strata(claims_with_keys(slice_reports))
    return {unit.key: name for name, members in strata.items() for unit in members}


def _units(slice_reports: Iterable[SliceReport]) -> tuple[list[KeyedClaim], int]:
    """Returns the claims with a verdict, equal claims once, and the number of unscored claims."""
    units: dict[str, KeyedClaim] = {}
    unscored: set[str] = set()
    for slice_report in slice_reports:
        for report in slice_report.reports:
            for verdict in report.verdicts if report.has_answer else ():
                key = label_key(slice_report.slice, report, verdict.claim)
                if verdict.label == "unscored":
                    unscored.add(key)
                else:
                    units.setdefault(key, KeyedClaim(slice_report.slice, report, verdict, key))
    return list(units.values()), len(unscored - units.keys())


def _strata(units: Iterable[KeyedClaim]) -> dict[str, list[KeyedClaim]]:
    """Returns the strata that hold claims, by name."""
    strata = {}
    for label in _EXPECTED_ERROR:
        members = [unit for unit in units if unit.verdict.label == label]
        members.sort(key=lambda unit: (unit.distance, unit.key))
        middle = (len(members) + 1) // 2
        strata[f"{label} near"], strata[f"{label} far"] = members[:middle], members[middle:]
    return {name: members for name, members in strata.items() if members}


def _allocation(strata: Mapping[str, Sequence[KeyedClaim]], *, count: int) -> dict[str, int]:
    """Returns how many claims are drawn of each stratum; they add up to `count`, or to all claims."""
    least = sum(min(_LEAST, len(members)) for members in strata.values())
    if count < least:
        raise DataError(
            f"the count of claims to draw is {count}, expected at least {least}: {_LEAST} of each verdict "
            "near its threshold and as many far from it"
        )
    equal = max(_LEAST, int(count * _SHARED_EQUALLY) // len(strata))
    sizes = {name: min(equal, len(members)) for name, members in strata.items()}
    shares = {name: len(members) * _deviation(name) for name, members in strata.items()}
    every = sum(map(len, strata.values()))
    for _ in range(min(count, every) - sum(sizes.values())):
        # Webster's method: the next claim goes where the share per claim is the largest.
        open_strata = [name for name, members in strata.items() if sizes[name] < len(members)]
        sizes[max(open_strata, key=lambda name: shares[name] / (2 * sizes[name] + 1))] += 1
    return sizes


def _deviation(stratum: str) -> float:
    """Returns the expected standard deviation of "the verdict is wrong" within a stratum."""
    label, nearness = stratum.split()
    error = _EXPECTED_ERROR[label][nearness == "far"]
    return float((error * (1 - error)) ** 0.5)


def _by_case(
    drawn: Iterable[DrawnClaim], units: Sequence[KeyedClaim], source: random.Random
) -> tuple[DrawnClaim, ...]:
    """Returns the drawn claims with those of an answer side by side, the answers in random order.

    The order tells nothing of a stratum, but that cases with an uncertain claim come first: their labels say
    most. A reader meets the evidence of a case once.
    """
    place = {unit.key: number for number, unit in enumerate(units)}
    cases: dict[int, list[DrawnClaim]] = {}
    for claim in sorted(drawn, key=lambda one: place[one.key]):
        cases.setdefault(id(claim.report), []).append(claim)
    groups = list(cases.values())
    source.shuffle(groups)
    groups.sort(key=lambda group: all(claim.verdict.label != "uncertain" for claim in group))
    return tuple(claim for group in groups for claim in group)
