"""Draws claims of a run for people to label, so that few labels say much about the run's rates.

Example: a run has 1,680 supported, 100 unsupported and 60 refuted claims. Of 120 claims drawn by plain chance
only 4 would be refuted. Drawn by strata (groups by verdict) 12 are, and each claim has a weight: how many
claims of the run it stands for.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_medfaith.errors import DataError
from pytest_medfaith.labels.rows import label_key
from pytest_medfaith.records import Report, SliceReport, Verdict

# How often a verdict is expected to be wrong, near its threshold and far from it. These are guesses: they
# only decide how many claims are drawn of each. A poor guess widens intervals and biases nothing, since
# weights are kept.
_EXPECTED_ERROR: Mapping[str, tuple[float, float]] = {
    "uncertain": (0.5, 0.5),
    "supported": (0.1, 0.02),
    "refuted": (0.4, 0.15),
    "unsupported": (0.4, 0.15),
}
_LEAST = 2  # claims of a stratum, since a single claim has no variance
# Share of the claims that each stratum gets equally, so that each kind of verdict has an error rate. The rest
# serves the rate of the whole run.
_SHARED_EQUALLY = 1 / 3


@dataclass(frozen=True, kw_only=True)
class DrawnClaim:
    """A claim to label.

    Attributes:
        slice: that its case belongs to.
        report: on its case.
        verdict: on the claim.
        key: hash that names the claim and its evidence in a label.
        stratum: the group that it was drawn from, such as "refuted near".
        weight: how many claims of the run it stands for, 1 or more.
    """

    slice: str
    report: Report
    verdict: Verdict
    key: str
    stratum: str
    weight: float


@dataclass(frozen=True, kw_only=True)
class Draw:
    """Claims drawn from a run.

    Attributes:
        claims: cases in random order, claims in the order of the answer; cases with an uncertain claim come
            first.
        population: {stratum: how many claims of the run are in it}.
        unscored: how many claims were left out, since they have no verdict.
    """

    claims: tuple[DrawnClaim, ...]
    population: Mapping[str, int]
    unscored: int


@dataclass(frozen=True)
class KeyedClaim:
    """A claim of a run with its verdict, its report, and the key by which labels name it."""

    slice: str
    report: Report
    verdict: Verdict
    key: str

    @property
    def distance(self) -> float:
        """How far the verdict's score is from its threshold, 0 or more."""
        return abs(self.verdict.score - self.verdict.threshold)


def draw_claims(slice_reports: Iterable[SliceReport], *, count: int, seed: int) -> Draw:
    """Returns `count` claims of a run to label, or all where it has fewer.

    They are drawn by strata: a verdict, near its threshold or far from it. Near is the half of a verdict's
    claims with the smaller |score - threshold|. A third of the count is shared equally, and each stratum gets
    at least 2 claims, or as many as it has. The rest is shared in proportion to N_h * sqrt(e_h * (1 - e_h)),
    with N_h the claims of the stratum and e_h its expected share of wrong verdicts (Neyman's allocation: J.
    Neyman, JRSS 97, 1934). So doubtful claims are drawn more often than others.

    Equal claims of a case with equal evidence count once, even if several retrievers brought it.

    Args:
        slice_reports: of one checker.
        count: claims to draw.
        seed: the same seed draws the same claims of the same run.

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
    """Returns the claims that labels can name: those with a verdict, equal claims of a case once."""
    return _units(slice_reports)[0]


def strata_of(slice_reports: Iterable[SliceReport]) -> dict[str, str]:
    """Returns {key of a claim: its stratum, such as "refuted near"} for the claims of these reports."""
    strata = _strata(claims_with_keys(slice_reports))
    return {unit.key: name for name, members in strata.items() for unit in members}


def _units(slice_reports: Iterable[SliceReport]) -> tuple[list[KeyedClaim], int]:
    """Returns (claims with a verdict, equal claims once; how many claims are unscored)."""
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
    """Returns {stratum, such as "refuted near": its claims}, without empty strata."""
    strata = {}
    for label in _EXPECTED_ERROR:
        members = [unit for unit in units if unit.verdict.label == label]
        members.sort(key=lambda unit: (unit.distance, unit.key))
        middle = (len(members) + 1) // 2
        strata[f"{label} near"], strata[f"{label} far"] = members[:middle], members[middle:]
    return {name: members for name, members in strata.items() if members}


def _allocation(strata: Mapping[str, Sequence[KeyedClaim]], *, count: int) -> dict[str, int]:
    """Returns {stratum: how many claims to draw}.

    They add up to `count`, or to all claims if these are fewer.

    Raises:
        DataError: `count` is too small for 2 of each stratum.
    """
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
    """Returns the expected standard deviation of "the verdict is wrong" in a stratum."""
    label, nearness = stratum.split()
    error = _EXPECTED_ERROR[label][nearness == "far"]
    return float((error * (1 - error)) ** 0.5)


def _by_case(
    drawn: Iterable[DrawnClaim], units: Sequence[KeyedClaim], source: random.Random
) -> tuple[DrawnClaim, ...]:
    """Returns the drawn claims with those of an answer together, the answers in random order.

    A reader thus meets the evidence of a case once. The order does not show strata, except that cases with an
    uncertain claim come first, because their labels say most.

    Args:
        drawn: the claims.
        units: all claims of the run, in its order.
        source: of chance.
    """
    place = {unit.key: number for number, unit in enumerate(units)}
    cases: dict[int, list[DrawnClaim]] = {}
    for claim in sorted(drawn, key=lambda one: place[one.key]):
        cases.setdefault(id(claim.report), []).append(claim)
    groups = list(cases.values())
    source.shuffle(groups)
    groups.sort(key=lambda group: all(claim.verdict.label != "uncertain" for claim in group))
    return tuple(claim for group in groups for claim in group)
