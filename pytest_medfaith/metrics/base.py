"""What a metric is, and the parts of a report that several families of metrics read."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pytest_medfaith.errors import DataError
from pytest_medfaith.records.labels import OPEN

if TYPE_CHECKING:
    from pytest_medfaith.records import GoldClaim, Report, Verdict

Fraction = tuple[float, float]
Family = Literal[
    "claims",
    "severity",
    "citations",
    "safety",
    "retrieval",
    "ragchecker",
    "latency",
    "audit",
    "corrected",
    "consistency",
    "risk",
    "relevancy",
    "project",
]
Matrix = tuple[tuple[bool, ...], ...]
Groups = tuple[tuple[int, ...], ...]
RAGCHECKER = "Ru et al. 2024, RAGChecker, arXiv:2408.08067"  # the source of metrics of two families


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A declared value: what is measured, which direction is better, and the arithmetic for one case.

    `per_case` takes a Report and returns (part, whole): (1, 4) where one of four claims names a brand. It
    returns None where the metric does not apply to the case, never NaN. Over a slice the parts and the wholes
    are summed.

    `range` is inclusive. `definition` says in words what is divided by what, `source` who defined it; cards
    show the definition. `part` is "count" where the part counts things, so that it is a whole number, and
    "sum" where it adds up weights or shares. `whole` is "claims" where the whole counts claims of the answer:
    then there are never more than the answer has, and a gate refuses a slice whose claims could not be
    scored.

    `family` is "project" for the metrics of a project. `k` is the cut-off of a ranking metric; it is None
    where the name says `@k` and the report's k holds. Where `quantile` is set, the slice value is that
    quantile of the per-case values instead of their mean. `either_way` lets a gate bound the metric from both
    sides, as a slice of questions without an answer wants refusals. `needs_answer` is False where the metric
    reads only what a retriever found: then it applies to a test that asks for no answer, too.
    """

    name: str
    direction: Literal["higher", "lower"]
    definition: str
    per_case: Callable[[Report], Fraction | None]
    range: tuple[float, float] = (0.0, 1.0)
    part: Literal["count", "sum"] = "sum"
    whole: Literal["claims", "items"] = "items"
    source: str = ""
    family: Family = "project"
    k: int | None = None
    quantile: float | None = None
    either_way: bool = False
    needs_answer: bool = True

    def measure(self, report: Report) -> Fraction | None:
        """Returns (part, whole) of `report`, or None where the metric does not apply.

        Raises:
            ValueError: `per_case` returned a number that is not finite, or a whole that is not positive.
        """
        fraction = None if self.needs_answer and not report.has_answer else self.per_case(report)
        if fraction is None:
            return None
        part, whole = fraction
        if not (math.isfinite(part) and math.isfinite(whole) and whole > 0):
            raise ValueError(
                f"metric {self.name!r} of case {report.case.id!r} is {part} / {whole}, expected finite "
                "numbers over a positive denominator; let per_case return None where the metric does not "
                "apply"
            )
        return float(part), float(whole)

    def value(self, report: Report) -> float | None:
        """Returns part / whole of `report`, or None where the metric does not apply."""
        fraction = self.measure(report)
        return None if fraction is None else fraction[0] / fraction[1]


def share(part: float, whole: float) -> Fraction | None:
    """Returns (part, whole), or None where the whole is 0 and nothing can be measured."""
    return (part, whole) if whole else None


def claim_verdicts(report: Report) -> tuple[Verdict, ...]:
    """Returns all verdicts of the answer; () for a refusal, which makes no claim."""
    return () if report.abstained else report.verdicts


def scored_verdicts(report: Report) -> tuple[Verdict, ...]:
    """Returns the supported, refuted and unsupported verdicts; those unscored or uncertain are left out."""
    return tuple(verdict for verdict in claim_verdicts(report) if verdict.label not in OPEN)


def entailing_chunks(report: Report) -> Matrix | None:
    """Returns which contexts entail each claim, (M, K) in the verdicts' order; None where nobody measured it.

    Without contexts each row is empty: nothing entails the claim.

    Raises:
        DataError: the report's entailments have another shape.
    """
    return _matrix(
        report, "chunk_claims", report.entailments.chunk_claims, len(report.verdicts), "response claims"
    )


def gold_groups(report: Report) -> Groups:
    """Returns the places of gold claims in groups that say the same: ((0, 2), (1,)).

    Raises:
        DataError: the report's entailments have another length.
    """
    return _groups(report, "same_gold", report.entailments.same_gold, len(report.case.gold_claims))


def chunk_groups(report: Report) -> Groups:
    """Returns the places of contexts in groups that say the same; errors as in `gold_groups`."""
    return _groups(report, "same_chunks", report.entailments.same_chunks, len(report.response.contexts))


def _groups(report: Report, name: str, firsts: Sequence[int], size: int) -> Groups:
    if not firsts:
        return tuple((place,) for place in range(size))
    if len(firsts) != size or any(first not in range(place + 1) for place, first in enumerate(firsts)):
        raise misaligned(report, name, str(list(firsts)), f"{size} places of texts, none behind its own")
    found: dict[int, list[int]] = {}
    for place, first in enumerate(firsts):
        found.setdefault(first, []).append(place)
    return tuple(map(tuple, found.values()))


def distinct_gold(report: Report) -> tuple[GoldClaim, ...]:
    """Returns the gold claims without repeats; one is key, or major, where any wording of it is."""
    return tuple(
        _strictest([report.case.gold_claims[place] for place in group]) for group in gold_groups(report)
    )


def _strictest(golds: Sequence[GoldClaim]) -> GoldClaim:
    severities = {gold.severity for gold in golds}
    severity = "major" if "major" in severities else golds[0].severity
    return golds[0].with_(key=any(gold.key for gold in golds), severity=severity)


def entailed_gold(report: Report) -> Matrix | None:
    """Returns which contexts entail each fact of `distinct_gold`, (N, K); None where nobody measured it.

    Raises:
        DataError: the report's entailments have another shape.
    """
    golds = len(report.case.gold_claims)
    rows = _matrix(report, "chunk_gold", report.entailments.chunk_gold, golds, "gold claims")
    if rows is None:
        return None
    by_fact = ([rows[place] for place in group] for group in gold_groups(report))
    return tuple(tuple(map(any, zip(*group, strict=True))) for group in by_fact)


def recalled_gold(report: Report) -> tuple[bool, ...] | None:
    """Returns which facts of `distinct_gold` the answer entails, (N,); None where nobody measured it.

    An abstention entails none of them.

    Raises:
        DataError: the report's entailments have another length.
    """
    expected, recalled = len(report.case.gold_claims), report.entailments.answer_gold
    groups = gold_groups(report)
    if report.abstained:
        return (False,) * len(groups)
    if not recalled and expected:
        return None
    if len(recalled) != expected:
        raise misaligned(report, "answer_gold", f"{len(recalled)} long", f"{expected} gold claims")
    return tuple(any(recalled[place] for place in group) for group in groups)


def _matrix(report: Report, name: str, matrix: Matrix, rows: int, rows_are: str) -> Matrix | None:
    contexts = len(report.response.contexts)
    if not matrix and rows:
        return None if contexts else ((),) * rows
    if len(matrix) != rows or any(len(row) != contexts for row in matrix):
        widths = sorted({len(row) for row in matrix})
        shape = f"{len(matrix)} rows of {' or '.join(map(str, widths)) or 0}"
        raise misaligned(report, name, shape, f"{rows} {rows_are} by {contexts} contexts")
    return matrix


def misaligned(report: Report, name: str, found: str, expected: str) -> DataError:
    """Returns the error that a report's entailments do not fit its claims or contexts."""
    return DataError(
        f"case {report.case.id!r}: entailments.{name} is {found}, expected {expected}; make the report anew "
        "from its response, whose lists must follow the order of the verdicts, the gold claims and the "
        "contexts"
    )
