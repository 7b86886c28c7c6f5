"""Thresholds for a promise: with probability 0.9, at most 5 % of the supported verdicts are wrong.

Learn then Test (Angelopoulos, Bates, Candès, Jordan & Lei 2021, arXiv:2110.01052): each threshold that is
tried is a hypothesis "more than the share `risk` of the verdicts above it is wrong", tested by the exact
binomial p value of the labels, and the tests together are wrong with probability 1 - 0.9 at most. Here

* three thresholds begin a sequence: those that keep all, three quarters and half of the verdicts. Each has a
  third of the error probability, and goes on to lower thresholds as long as each is rejected (fixed sequence
  testing);
* a threshold is the score of a row, and only rows strictly above it are counted: given the threshold, these
  are drawn as future verdicts above it are;
* of the rows of a group (an answer, or texts that are shared) a single row counts, drawn by the seed, since
  rows of an answer are not independent.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

_STARTS = (1.0, 0.75, 0.5)  # shares of the verdicts that the sequences begin with
_MOST_LABELS = 20_000  # that are ever asked for
CONFIDENCE = 0.9


class Judged(NamedTuple):
    """The verdict on a labelled row: its score, whether it is wrong, and the group of its row."""

    score: float
    is_wrong: bool
    group: int


@dataclass(frozen=True, kw_only=True)
class Certified:
    """What labels say of the verdicts of a kind.

    Attributes:
        least: verdicts with a higher score stand; 0 where all do, None where no threshold can be certified.
        rows: labelled verdicts of the kind.
        counted: of these, one for each group.
        kept: counted verdicts above the threshold.
        wrong: wrong ones among the kept, or among all counted where none is certified.
        needed: labelled verdicts that would certify all of them if the share of wrong ones stays; 0 where a
            threshold is certified, None where no number would.
    """

    least: float | None
    rows: int
    counted: int
    kept: int
    wrong: int
    needed: int | None = 0


def certify(
    judged: Sequence[Judged], *, risk: float, confidence: float = CONFIDENCE, seed: int = 0
) -> Certified:
    """Returns the lowest threshold above which at most the share `risk` of the verdicts is wrong.

    The promise holds with probability `confidence` over the labelled rows, for verdicts on claims like
    theirs.

    Args:
        judged: verdicts of a kind, supported or refuted.
        risk: above 0, below 1.
        confidence: above 0, below 1.
        seed: draws a row of each group.
    """
    rows = sorted(_one_a_group(judged, seed), key=lambda row: -row.score)
    wrong = [0]
    for row in rows:
        wrong.append(wrong[-1] + row.is_wrong)
    level = (1 - confidence) / len(_STARTS)
    places = _places([row.score for row in rows])
    found = 0
    for start in _STARTS:
        first = bisect_right(places, math.ceil(len(rows) * start)) - 1
        for place in places[max(first, 0) :]:
            if p_value(wrong[place], place, risk) > level:
                break
            found = max(found, place)
    if not found:
        needed = labels_needed(wrong[-1] / len(rows) if rows else 0.0, risk=risk, level=level)
        return Certified(
            least=None, rows=len(judged), counted=len(rows), kept=0, wrong=wrong[-1], needed=needed
        )
    least = rows[found].score if found < len(rows) else 0.0
    return Certified(least=least, rows=len(judged), counted=len(rows), kept=found, wrong=wrong[found])


def _one_a_group(judged: Sequence[Judged], seed: int) -> list[Judged]:
    shuffled = list(judged)
    random.Random(seed).shuffle(shuffled)
    drawn: dict[int, Judged] = {}
    for row in shuffled:
        drawn.setdefault(row.group, row)
    return list(drawn.values())


def _places(scores: Sequence[float]) -> list[int]:
    """Returns how many of the falling `scores` each possible threshold keeps: those strictly above it."""
    below = [place for place in range(1, len(scores)) if scores[place] < scores[place - 1]]
    return [*below, len(scores)] if scores else []


def p_value(wrong: int, counted: int, risk: float) -> float:
    """Returns the chance of so few wrong verdicts or fewer where the share `risk` of them is wrong.

    It is binomial, of `wrong` in `counted` verdicts, and 1.0 without verdicts.
    """
    from scipy.stats import binom

    return float(binom.cdf(wrong, counted, risk)) if counted else 1.0


def labels_needed(share: float, *, risk: float, level: float) -> int | None:
    """Returns the fewest labels that certify `risk` where `share` of them are wrong; None for no number."""
    if share >= risk:
        return None
    fewest = math.ceil(math.log(level) / math.log1p(-risk))
    for count in range(fewest, _MOST_LABELS):
        if p_value(math.ceil(round(share * count, 9)), count, risk) <= level:
            return count
    return None
