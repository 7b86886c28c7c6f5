"""Claims that both runs make: which of them turned, and the exact McNemar test on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from pytest_medfaith.gates.baseline import CaseBaseline, SliceBaseline
from pytest_medfaith.records import Report, SliceReport, Verdict, VerdictLabel

_NOT_SUPPORTED: tuple[VerdictLabel, ...] = ("refuted", "unsupported")
_BAD: dict[str, tuple[VerdictLabel, ...]] = {
    "faithfulness": _NOT_SUPPORTED,
    "hallucination": ("refuted",),
    "unsupported": ("unsupported",),
}
_FROM_BEST = ("supported", "unscored", "unsupported", "refuted")


@dataclass(frozen=True, kw_only=True)
class TurnedClaim:
    """A claim of `report` whose verdict became worse; `before` is what it was in the baseline, None where the claim is new."""

    report: Report
    verdict: Verdict
    before: VerdictLabel | None


@dataclass(frozen=True, kw_only=True)
class McNemar:
    """Of `matched` claims that both runs scored, `worse` turned bad and `better` turned good; `p` is one-sided, small for worse."""

    matched: int
    worse: int
    better: int
    p: float


def bad_labels(metric: str) -> tuple[VerdictLabel, ...] | None:
    """Returns the verdicts that worsen `metric`, None for a metric that is no share of verdicts."""
    return _BAD.get(metric)


def turned_claims(report: SliceReport, baseline: SliceBaseline, *, bad: Collection[VerdictLabel] = _NOT_SUPPORTED) -> list[TurnedClaim]:
    """Returns the claims whose verdict is one of `bad` and worse than it was in the baseline, worst first.

    Claims match where case and text are the same; one that the baseline does not hold is new, and counts where it is bad. Refuted claims
    come first, then unsupported ones; among them those that were supported, then those that fell less far, then the new ones; then the
    surest refutation, or what is farthest from support.

    Args:
        report: this run.
        baseline: what it is compared with; see `matching.slice_baseline`.
        bad: the verdicts looked for; `bad_labels` names those of a metric.
    """
    turned = [
        TurnedClaim(report=one, verdict=verdict, before=before)
        for one in report.reports
        for verdict, before in _with_labels_before(one, baseline.cases.get(one.case.id))
        if verdict.label in bad and (before is None or _FROM_BEST.index(before) < _FROM_BEST.index(verdict.label))
    ]
    return sorted(turned, key=_place)


def _place(turned: TurnedClaim) -> tuple[int, int, float, str]:
    verdict, before = turned.verdict, turned.before
    fell_from = len(_FROM_BEST) if before is None else _FROM_BEST.index(before)
    score = -verdict.score if verdict.label == "refuted" else verdict.score
    return -_FROM_BEST.index(verdict.label), fell_from, score, turned.report.case.id


def _with_labels_before(report: Report, case: CaseBaseline | None) -> Iterator[tuple[Verdict, VerdictLabel | None]]:
    """Yields each verdict with its claim's label in the baseline; a text that stands there twice is matched in order."""
    labels: defaultdict[str, list[VerdictLabel]] = defaultdict(list)
    for label, text in reversed(case.claims if case else ()):
        labels[_same(text)].append(label)
    for verdict in report.verdicts:
        left = labels[_same(verdict.claim.text)]
        yield verdict, left.pop() if left else None


def _same(text: str) -> str:
    return " ".join(text.split())


def mcnemar(report: SliceReport, baseline: SliceBaseline, *, bad: Collection[VerdictLabel]) -> McNemar:
    """Returns the exact one-sided McNemar test on the claims that both runs make and scored.

    Under no change a claim that turned is as likely to have turned either way: worse ~ Binomial(worse + better, 1/2). It counts
    claims as independent, which claims of one answer are not (McNemar 1947, Psychometrika 12(2), in its exact form).
    """
    from scipy.stats import binomtest

    pairs = [
        (verdict.label in bad, before in bad)
        for one in report.reports
        for verdict, before in _with_labels_before(one, baseline.cases.get(one.case.id))
        if before is not None and "unscored" not in (before, verdict.label)
    ]
    worse, better = pairs.count((True, False)), pairs.count((False, True))
    p = float(binomtest(worse, worse + better, alternative="greater").pvalue) if worse + better else 1.0
    return McNemar(matched=len(pairs), worse=worse, better=better, p=p)


def same_claims(report: SliceReport, baseline: SliceBaseline) -> bool:
    """Returns whether every case makes the same claims, in the same order and with the same verdicts, as in the baseline."""
    return all(
        one.case.id in baseline.cases
        and [(verdict.label, _same(verdict.claim.text)) for verdict in one.verdicts]
        == [(label, _same(text)) for label, text in baseline.cases[one.case.id].claims]
        for one in report.reports
    )
