"""Fits temperature or curves, and the thresholds, of a checker; measures both on the rows kept out."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pytest_medfaith import defaults
from pytest_medfaith.calibration.applying import FittedCalibration, calibrated
from pytest_medfaith.calibration.isotonic import fit_isotonic
from pytest_medfaith.calibration.rows import LabelledRow, split_rows
from pytest_medfaith.calibration.temperature import fit_temperature, fit_thresholds
from pytest_medfaith.checking.policy import Thresholds, decide_all
from pytest_medfaith.errors import DataError
from pytest_medfaith.metrics.bootstrap import metric_value, percentile_interval, ratio, resampled_counts
from pytest_medfaith.metrics.calibration import ReliabilityBin, reliability
from pytest_medfaith.metrics.checker_scores import score_checker
from pytest_medfaith.records import LABELS, Chunk, Claim, MetricValue, PairScore
from pytest_medfaith.scoring.pairs import softmax_rows

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker

Method = Literal["temperature", "isotonic"]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A checker on the rows kept out.

    Attributes:
        thresholds: those that it decided by.
        metrics: of its labels, and the precision of its decisions, by name.
        bins: its reliability.
    """

    thresholds: Thresholds
    metrics: Mapping[str, MetricValue]
    bins: tuple[ReliabilityBin, ...]


@dataclass(frozen=True, kw_only=True)
class CalibrationRun:
    """What a fit gave, and how many rows went where.

    Attributes:
        fitted: for the checker.
        before: how the checker as loaded did on the rows kept out.
        after: how it did there under `fitted`.
        rows_fitted: rows of the fit.
        rows_held_out: rows kept out of it.
        rows_unscored: rows that the checker cannot score; they are in neither.
        two_way: whether the checker never refutes; then contradict rows count as neutral.
        by_case: whether rows were split by the case that they name; else by texts that they share.
    """

    fitted: FittedCalibration
    before: Measured
    after: Measured
    rows_fitted: int
    rows_held_out: int
    rows_unscored: int
    two_way: bool
    by_case: bool = False


@dataclass(frozen=True)
class _Sample:
    """The rows that a checker can score, with their logits: float64 (n, 3).

    With `two_way` the checker never refutes, and contradict counts as neutral.
    """

    rows: Sequence[LabelledRow]
    logits: Any
    two_way: bool

    @property
    def truth(self) -> Any:
        """The label indices, (n,)."""
        labels = ["neutral" if self.two_way and row.label == "contradict" else row.label for row in self.rows]
        return np.array([LABELS.index(label) for label in labels])

    def at(self, places: Sequence[int]) -> _Sample:
        """Returns the rows at `places`."""
        return _Sample([self.rows[place] for place in places], self.logits[places], self.two_way)

    def with_each_label(self) -> _Sample:
        """Returns itself; raises DataError where no row has a label that the fit needs."""
        wanted = [label for label in LABELS if not (self.two_way and label == "contradict")]
        found = set(self.truth.tolist())
        missing = [label for label in wanted if LABELS.index(label) not in found]
        if missing:
            raise DataError(
                f"of {len(self.rows)} rows that could be scored none is labelled {missing[0]}; expected rows "
                f"of each of {', '.join(wanted)}"
            )
        return self


def fit_calibration(
    rows: Sequence[LabelledRow],
    checker: Checker,
    *,
    method: Method = defaults.CALIBRATION_METHOD,
    precision: float | None = None,
    seed: int = defaults.SEED,
    progress: Progress | None = None,
) -> CalibrationRun:
    """Returns the calibration of `checker`, fitted to seven tenths of `rows`, measured on the rest.

    A row with several evidence texts is read by the text with the clearest score, for or against. Rows that
    the checker cannot score are left out and counted. The medical rules have no part in it: they speak after
    the model.

    Args:
        rows: labelled, each with its group; no group is cut in two.
        checker: as loaded; its temperature and thresholds are what "before" means.
        method: a temperature, or a rising curve for each label.
        precision: of entail and of contradict decisions, which the lowest possible thresholds reach; None
            asks for the best macro-F1.
        seed: of the split and of the intervals.
        progress: told (pairs of texts scored, to score).

    Raises:
        DataError: rows of a label are missing, the rows cannot be split, or the checker is a plain callable.
        ValueError: a precision that no threshold reaches.
    """
    with tempfile.TemporaryDirectory() as folder:
        # The second reading, which measures, is free.
        kept = dataclasses.replace(checker, cache=checker.cache or Path(folder) / defaults.PAIR_SCORES)
        sample = _scored(kept, rows, progress).with_each_label()
        fitting, held_out = map(sample.at, split_rows(sample.rows, seed=seed))
        fitted = _fit(checker, fitting.with_each_label(), method=method, precision=precision)
        return CalibrationRun(
            fitted=fitted,
            before=_measure(kept, held_out, seed=seed),
            after=_measure(calibrated(kept, fitted), held_out, seed=seed),
            rows_fitted=len(fitting.rows),
            rows_held_out=len(held_out.rows),
            rows_unscored=len(rows) - len(sample.rows),
            two_way=sample.two_way,
            by_case=all(row.of for row in sample.rows),
        )


def _scored(checker: Checker, rows: Sequence[LabelledRow], progress: Progress | None) -> _Sample:
    """Returns the rows that the model can score, with their logits."""
    if checker.judge:
        raise DataError(
            f"the checker {checker.name!r} is a plain callable and gives no scores, so nothing can be "
            "calibrated"
        )
    raw = dataclasses.replace(checker, temperature=1.0, isotonic=None)
    scores = _row_scores(raw, rows, progress)
    scored = [row for row, score in zip(rows, scores, strict=True) if score]
    logits = np.array([score.logits for score in scores if score], dtype=np.float64).reshape(-1, len(LABELS))
    two_way = len(logits) > 0 and bool(np.ptp(logits[:, LABELS.index("contradict")]) == 0)
    return _Sample(scored, logits, two_way)


def _row_scores(
    checker: Checker, rows: Sequence[LabelledRow], progress: Progress | None = None
) -> list[PairScore | None]:
    """Returns the score of each row's deciding evidence; None where nothing of it can be scored."""
    pairs = [
        (Claim(id=str(place), text=row.claim), Chunk(id=str(number), text=text))
        for place, row in enumerate(rows)
        if not checker.unusable(row.claim, "claim")
        for number, text in enumerate(row.evidence)
        if not checker.unusable(text, "evidence")
    ]
    best: dict[int, PairScore] = {}
    for score in checker.score(pairs, progress=progress):
        place = int(score.claim_id)
        if score.logits is not None and (place not in best or _clarity(score) > _clarity(best[place])):
            best[place] = score
    return [best.get(place) for place in range(len(rows))]


def _clarity(score: PairScore) -> float:
    return max(score.probs[0], score.probs[2])


def _fit(checker: Checker, sample: _Sample, *, method: Method, precision: float | None) -> FittedCalibration:
    logits, truth = sample.logits, sample.truth
    temperature = round(fit_temperature(logits, truth), 4) if method == "temperature" else 1.0
    probs = softmax_rows(logits / temperature)
    isotonic = fit_isotonic(probs, truth) if method == "isotonic" else None
    meant = np.array([isotonic(row) for row in probs]) if isotonic else probs
    thresholds = fit_thresholds(meant, truth, precision=precision)
    return FittedCalibration(
        checker=checker.name,
        weights=checker.signature,
        temperature=temperature,
        thresholds=thresholds,
        isotonic=isotonic,
    )


def _measure(checker: Checker, sample: _Sample, *, seed: int) -> Measured:
    """Returns how a checker does on labelled rows: metrics of its labels, precisions, reliability."""
    scores = _row_scores(checker, sample.rows)
    probs = np.array([score.probs for score in scores if score])
    chosen = decide_all(probs, checker.thresholds)
    truth, groups = sample.truth, [row.group for row in sample.rows]
    metrics = score_checker(
        [LABELS[label] for label in truth],
        probs,
        predicted=[LABELS[label] for label in chosen],
        groups=groups,
        seed=seed,
    )
    precisions = {
        f"{label}_precision": _precision(
            f"{label}_precision", truth, chosen, LABELS.index(label), groups=groups, seed=seed
        )
        for label in ("entail", "contradict")
    }
    bins = reliability(probs.max(axis=1), probs.argmax(axis=1) == truth)
    return Measured(thresholds=checker.thresholds, metrics={**metrics, **precisions}, bins=bins)


def _precision(
    name: str, truth: Any, chosen: Any, label: int, *, groups: Sequence[int], seed: int
) -> MetricValue:
    """Returns the share of rows decided as `label` that have it, over groups; `n` counts the decisions."""
    made = (chosen == label).astype(np.float64)
    right = made * (truth == label)
    if not made.any():
        return metric_value(name, None, None, n=0)
    numbers = np.unique(groups, return_inverse=True)[1]
    by_group = [np.bincount(numbers, weights=values) for values in (right, made)]
    draws = [
        ratio(counts @ by_group[0], counts @ by_group[1])
        for counts in resampled_counts(len(by_group[0]), seed=seed)
    ]
    return metric_value(
        name, right.sum() / made.sum(), percentile_interval(np.concatenate(draws)), n=int(made.sum())
    )
