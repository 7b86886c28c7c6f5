"""An ablation as records: how each row of a slice differs from its first row, metric by metric."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_medfaith.records import SliceReport


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A metric of a row beside the first row, over the cases of both.

    Attributes:
        metric: its name.
        n: how many cases were compared.
        differ: how many of them do not measure the same.
        first: the value of the first row over these cases.
        value: the value of this row over them.
        low: the lower end of the 95 % interval of `value - first`; None for a single case.
        high: the upper end.
        p: of the two-sided paired permutation test, Holm-corrected over the ablation; None where no case
            differs.
    """

    metric: str
    n: int
    differ: int
    first: float
    value: float
    low: float | None = None
    high: float | None = None
    p: float | None = None


@dataclass(frozen=True, kw_only=True)
class ComparedRow:
    """A row of an ablation, and its differences from the first row; the first row has none."""

    report: SliceReport
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Ablation:
    """The rows of a slice in the order in which they were asked for.

    Attributes:
        rows: the first is what the others are compared with.
        tests: how many p values were corrected together.
        problem: why nothing could be compared, "" where it could.
    """

    rows: tuple[ComparedRow, ...]
    tests: int = 0
    problem: str = ""
