"""The percentile bootstrap, vectorised: resamples are counts per item, which all statistics read.

For three items the counts (2, 0, 1) hold the first twice and the second never. A statistic takes counts (b,
n) of b resamples of n items and returns (b,) values, NaN where a resample leaves nothing to measure. Such
draws are left out of the interval. Source: Efron & Tibshirani 1993, 13.3.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from pytest_medfaith import defaults
from pytest_medfaith.records import MetricValue

Floats = npt.NDArray[np.float64]

_BLOCK = 2_000_000  # counts held at once, 16 MB: memory stays flat however many items there are
_DECIMALS = 10  # the last bits of a sum differ between machines and numbers of threads


def resampled_counts(
    items: int, *, resamples: int = defaults.RESAMPLES, seed: int = defaults.SEED, width: int | None = None
) -> Iterator[Floats]:
    """Yields blocks of counts, float64 (b, items), `resamples` rows in all; each row sums to `items`.

    Args:
        items: what is resampled.
        resamples: how many.
        seed: the same seed gives the same counts.
        width: how many numbers the caller makes of a row, where that is more than `items`; such blocks are
            smaller.

    Raises:
        ValueError: fewer than one item or resample.
    """
    if items < 1 or resamples < 1:
        raise ValueError(
            f"cannot draw {resamples} resamples of {items} items, expected 1 or more of both; "
            f"give resamples={defaults.RESAMPLES}"
        )
    generator = np.random.default_rng(seed)
    rows = max(1, _BLOCK // (width or items))
    for start in range(0, resamples, rows):
        size = min(rows, resamples - start)
        drawn = generator.integers(items, size=(size, items)) + items * np.arange(size)[:, None]
        yield np.bincount(drawn.ravel(), minlength=size * items).reshape(size, items).astype(np.float64)


def percentile_interval(draws: Floats, *, level: float = defaults.LEVEL) -> tuple[float, float] | None:
    """Returns the ends of the central share `level` of `draws` (b,), without NaN; None where all are NaN.

    Raises:
        ValueError: `level` is not between 0 and 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level}, expected a share between 0 and 1; give 0.95 for a 95 % interval")
    measured = draws[~np.isnan(draws)]
    if not measured.size:
        return None
    low, high = np.quantile(measured, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def metric_value(
    name: str, point: float | None, interval: tuple[float, float] | None, *, n: int
) -> MetricValue:
    """Returns the `MetricValue` of a point and its interval, rounded to 10 decimals."""
    low, high = (round(bound, _DECIMALS) for bound in interval) if interval else (None, None)
    return MetricValue(
        name=name, value=None if point is None else round(point, _DECIMALS), low=low, high=high, n=n
    )


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Returns numerator / denominator by element, NaN where the denominator is 0."""
    quotient: Floats = np.divide(
        numerator, denominator, out=np.full(np.shape(numerator), np.nan), where=denominator != 0
    )
    return quotient
