"""Thresholds of risk by grid search, on correct sentences of a corpus and on copies with a planted error.

Example: "Metformin lowers glucose" is right by its chunk; "Metformin raises glucose", "Metformin does not
lower glucose" and "Insulin lowers glucose" are wrong. Each is an answer with that chunk as its context.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_medfaith.audit import negate, swap, turn
from pytest_medfaith.audit.results import UNCHANGED
from pytest_medfaith.audit.sampling import document, sample_claims
from pytest_medfaith.errors import DataError
from pytest_medfaith.metrics.answer_risk import disbelief, flag_of, overriding, risk_of, uncovered
from pytest_medfaith.metrics.bootstrap import (
    Floats,
    metric_value,
    percentile_interval,
    ratio,
    resampled_counts,
)
from pytest_medfaith.metrics.calibration import ECE_BINS
from pytest_medfaith.metrics.label_statistics import Flags, Statistic, ece, mean, point, roc_auc
from pytest_medfaith.records import Claim, MetricValue
from pytest_medfaith.records.answer_risk import FLAGS, RiskSettings

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker
    from pytest_medfaith.records import Chunk

KINDS = (negate.KIND, swap.DRUG, turn.KIND)
RESAMPLES = 1000
GRID = tuple(round(0.05 * step, 2) for step in range(1, 20))
LEAST_RECALL = 0.95  # of the wrong answers: so many are CAUTION or HIGH, or as many as any threshold reaches
LEAST_ITEMS = 10  # right and wrong answers, in each half


@dataclass(frozen=True)
class RiskItem:
    """A judged sentence of a corpus.

    Attributes:
        kind: the planted error; "unchanged" for a right sentence.
        document: that the sentence is from.
        score: the risk of saying it, 0 to 1.
    """

    kind: str
    document: str
    score: float

    @property
    def is_wrong(self) -> bool:
        """Whether an error was planted."""
        return self.kind != UNCHANGED


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """What a search for thresholds of risk found.

    Attributes:
        settings: with the thresholds found.
        fitted: how many sentences they were fitted to.
        kept_out: how many were kept out; the rest is measured on these.
        metrics: of the flag HIGH.
        flags: {flag: (right sentences, wrong sentences)}.
    """

    settings: RiskSettings
    fitted: int
    kept_out: int
    metrics: Mapping[str, MetricValue]
    flags: Mapping[str, tuple[int, int]]


def risk_items(
    checker: Checker,
    chunks: Sequence[Chunk],
    settings: RiskSettings,
    *,
    limit: int,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> list[RiskItem]:
    """Returns sentences of a corpus, right and with a planted error, each with the risk of saying it.

    Consistency is not measured, as nobody is asked twice.

    Args:
        checker: the critic.
        chunks: of the corpus.
        settings: the weights.
        limit: most items of each kind of error; there are up to four times as many right ones.
        seed: of the sample.
        progress: told (texts scored, to score).
    """
    made = [one for one in sample_claims(chunks, limit=limit, seed=seed) if one.kind in (*KINDS, UNCHANGED)]
    by_id = {chunk.id: chunk for chunk in chunks}
    pairs = [(Claim(id=one.id, text=one.text), by_id[one.chunk_id]) for one in made]
    scores = checker.score(pairs, progress=progress)
    items = []
    for number, (one, (claim, chunk)) in enumerate(zip(made, pairs, strict=True)):
        verdict = checker.decide(claim, scores[number : number + 1], [chunk])
        parts = {"retrieval": uncovered(claim.text, [chunk]), "critic": disbelief(verdict)}
        risk = risk_of(parts, settings, overrides=overriding(verdict))
        items.append(RiskItem(one.kind, document(chunk), risk.score))
    return items


def tune(items: Sequence[RiskItem], settings: RiskSettings, *, seed: int) -> Tuning:
    """Returns `settings` with thresholds fitted to half of the documents, and figures of the other half.

    HIGH begins where F1 of the wrong answers is best, CAUTION at the highest score that still reaches 95 % of
    them.

    Raises:
        DataError: fewer than 10 right or wrong answers in a half.
    """
    halves: tuple[list[RiskItem], list[RiskItem]] = ([], [])
    for item in items:
        digest = hashlib.sha256(f"{seed}|{item.document}".encode()).digest()
        halves[digest[0] % 2].append(item)
    for half in halves:
        wrong = sum(item.is_wrong for item in half)
        if min(wrong, len(half) - wrong) < LEAST_ITEMS:
            raise DataError(
                f"the corpus gives {len(half) - wrong} right and {wrong} wrong answers for a half of the "
                f"search; expected {LEAST_ITEMS} or more of both: take a larger corpus, or raise --limit"
            )
    found = dataclasses.replace(settings, **_thresholds(halves[0]))
    kept_out = halves[1]
    return Tuning(
        settings=found,
        fitted=len(halves[0]),
        kept_out=len(kept_out),
        metrics=risk_metrics(kept_out, high=found.high, seed=seed),
        flags=_flags(kept_out, found),
    )


def _thresholds(items: Sequence[RiskItem]) -> dict[str, float]:
    wrong = np.array([item.is_wrong for item in items])
    scores = np.array([item.score for item in items])
    f1 = {at: _f1(scores >= at, wrong) for at in GRID}
    high = max(GRID, key=lambda at: (f1[at], at))
    recalls = {at: float((scores[wrong] >= at).mean()) for at in GRID if at <= high}
    wanted = min(LEAST_RECALL, max(recalls.values()))
    return {"caution": max(at for at, recall in recalls.items() if recall >= wanted), "high": high}


def _f1(predicted: Flags, wrong: Flags) -> float:
    flagged = int(predicted.sum() + wrong.sum())
    return 2 * int((predicted & wrong).sum()) / flagged if flagged else 0.0


def risk_metrics(
    items: Sequence[RiskItem], *, high: float, seed: int, resamples: int = RESAMPLES
) -> dict[str, MetricValue]:
    """Returns the flag HIGH's ece, roc_auc, accuracy, precision, recall and f1, with 95 % intervals.

    A wrong answer is what HIGH should find. `ece` reads the score as the probability that the answer is
    wrong. The intervals resample whole documents.

    Args:
        items: at least one.
        high: the score from which on an answer is flagged.
        seed: of the resamples.
        resamples: how many.
    """
    wrong = np.array([item.is_wrong for item in items])
    scores = np.array([item.score for item in items])
    flagged = scores >= high
    statistics: dict[str, Statistic] = {
        "ece": ece(wrong, scores, bins=ECE_BINS, equal_mass=False),
        "roc_auc": roc_auc(wrong, scores),
        "accuracy": mean((flagged == wrong).astype(np.float64)),
        "precision": _share(flagged & wrong, flagged),
        "recall": _share(flagged & wrong, wrong),
        "f1": _share(flagged & wrong, flagged, wrong),
    }
    names: dict[str, int] = {}
    group = np.array([names.setdefault(item.document, len(names)) for item in items])
    blocks = resampled_counts(len(names), resamples=resamples, seed=seed, width=len(items))
    draws = [{name: each(counts[:, group]) for name, each in statistics.items()} for counts in blocks]
    return {
        name: metric_value(
            name,
            point(each, len(items)),
            percentile_interval(np.concatenate([draw[name] for draw in draws])),
            n=len(items),
        )
        for name, each in statistics.items()
    }


def _share(hits: Flags, *of: Flags) -> Statistic:
    """Returns a statistic: hits / of; with two groups 2 hits / (both groups), which is F1."""
    part, whole = len(of) * hits.astype(np.float64), np.sum([one.astype(np.float64) for one in of], axis=0)

    def statistic(counts: Floats) -> Floats:
        return ratio(counts @ part, counts @ whole)

    return statistic


def _flags(items: Sequence[RiskItem], settings: RiskSettings) -> dict[str, tuple[int, int]]:
    found = {flag: [0, 0] for flag in FLAGS}
    for item in items:
        found[flag_of(item.score, settings)][item.is_wrong] += 1
    return {flag: (right, wrong) for flag, (right, wrong) in found.items()}


def tuning_text(tuning: Tuning, *, style: str = "plain") -> str:
    """Returns how many items there were, the figures with intervals, the flags, and the settings to paste.

    `style` is a table format of tabulate.
    """
    from tabulate import tabulate

    from pytest_medfaith.cards.wording import metric_text

    figures = [[name, metric_text(value, interval=True)] for name, value in tuning.metrics.items()]
    flags = [[flag, right, wrong] for flag, (right, wrong) in tuning.flags.items()]
    found = tuning.settings
    lines = [
        f"fitted to {tuning.fitted} answers, measured on {tuning.kept_out} of other documents",
        "consistency was not measured here, so retrieval and critic weigh more",
        tabulate(figures, headers=["of HIGH", "95 % over documents"], tablefmt=style, disable_numparse=True),
        tabulate(flags, headers=["flag", "right", "wrong"], tablefmt=style),
        "[tool.medfaith.risk]",
        *(f"{name} = {value:g}" for name, value in dataclasses.asdict(found).items()),
    ]
    return "\n".join(lines)
