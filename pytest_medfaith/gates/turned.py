"""Claims that both runs make, in the same words or in others: which of them turned, and the exact McNemar test on them."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from pytest_medfaith.gates.baseline import CaseBaseline, SliceBaseline
from pytest_medfaith.records import Report, SliceReport, Verdict, VerdictLabel

_NOT_SUPPORTED: tuple[VerdictLabel, ...] = ("refuted", "unsupported")
_BAD: dict[str, tuple[VerdictLabel, ...]] = {
    "faithfulness": _NOT_SUPPORTED,
    "hallucination": ("refuted",),
    "unsupported": ("unsupported",),
}
_ALIKE = 0.6  # of the words: "2.5 mg" for "25 mg" in a sentence of eight leaves 0.88, another sentence of the same topic some 0.4
_FROM_BEST = ("supported", "unscored", "unsupported", "refuted")


@dataclass(frozen=True, kw_only=True)
class TurnedClaim:
    """A claim of `report` whose verdict became worse; `before` is what it was in the baseline, None where the claim is new.

    `text_before` is its wording there, None where it was the same.
    """

    report: Report
    verdict: Verdict
    before: VerdictLabel | None
    text_before: str | None = None


@dataclass(frozen=True, kw_only=True)
class McNemar:
    """Of `matched` claims that both runs scored, `worse` turned bad and `better` turned good; `p` is one-sided, small for worse.

    `reworded` of the matched ones have another text; `new_bad` claims are bad and have no predecessor.
    """

    matched: int
    worse: int
    better: int
    p: float
    reworded: int = 0
    new_bad: int = 0


def bad_labels(metric: str) -> tuple[VerdictLabel, ...] | None:
    """Returns the verdicts that worsen `metric`, None for a metric that is no share of verdicts."""
    return _BAD.get(metric)


def turned_claims(
    report: SliceReport, baseline: SliceBaseline, *, bad: Collection[VerdictLabel] = _NOT_SUPPORTED
) -> list[TurnedClaim]:
    """Returns the claims whose verdict is one of `bad` and worse than it was in the baseline, worst first.

    Claims match where case and text are the same, and what is left by likeness; one without a match is new, and counts where it is bad.
    Refuted claims come first, then unsupported ones; among them those that were supported, then those that fell less far, then the new ones; then the
    surest refutation, or what is farthest from support.

    Args:
        report: this run.
        baseline: what it is compared with; see `matching.slice_baseline`.
        bad: the verdicts looked for; `bad_labels` names those of a metric.
    """
    turned = [
        TurnedClaim(report=one, verdict=pair.verdict, before=pair.before, text_before=pair.text)
        for one in report.reports
        for pair in _paired(one, baseline.cases.get(one.case.id))
        if pair.verdict.label in bad
        and (pair.before is None or _FROM_BEST.index(pair.before) < _FROM_BEST.index(pair.verdict.label))
    ]
    return sorted(turned, key=_place)


def _place(turned: TurnedClaim) -> tuple[int, int, float, str]:
    verdict, before = turned.verdict, turned.before
    fell_from = len(_FROM_BEST) if before is None else _FROM_BEST.index(before)
    score = -verdict.score if verdict.label == "refuted" else verdict.score
    return -_FROM_BEST.index(verdict.label), fell_from, score, turned.report.case.id


@dataclass(frozen=True)
class _Pair:
    """A verdict and what the baseline said of its claim: None where it is new; `text` where it was worded otherwise."""

    verdict: Verdict
    before: VerdictLabel | None = None
    text: str | None = None


def _paired(report: Report, case: CaseBaseline | None) -> Iterator[_Pair]:
    """Yields each verdict with its claim's label in the baseline.

    Claims of equal text are matched in order, then what is left of both by likeness, the likest first: a claim whose dose changed has
    its predecessor in the one with the dose before.
    """
    left: defaultdict[str, list[VerdictLabel]] = defaultdict(list)
    for label, text in reversed(case.claims if case else ()):
        left[_same(text)].append(label)
    found: dict[int, _Pair] = {}
    for place, verdict in enumerate(report.verdicts):
        if left[_same(verdict.claim.text)]:
            found[place] = _Pair(verdict, left[_same(verdict.claim.text)].pop())
    gone = [(text, label) for text, labels in left.items() for label in labels]
    new = [(place, verdict) for place, verdict in enumerate(report.verdicts) if place not in found]
    for place, verdict, (text, label) in _by_likeness(new, gone):
        found[place] = _Pair(verdict, label, text)
    for place, verdict in enumerate(report.verdicts):
        yield found.get(place, _Pair(verdict))


def _by_likeness(
    new: Sequence[tuple[int, Verdict]], gone: Sequence[tuple[str, VerdictLabel]]
) -> Iterator[tuple[int, Verdict, tuple[str, VerdictLabel]]]:
    """Yields (place, verdict, claim of the baseline) of the claims that are alike, the likest first, each claim once."""
    likeness = [
        (_likeness(verdict.claim.text, text), i, j)
        for i, (_, verdict) in enumerate(new)
        for j, (text, _) in enumerate(gone)
    ]
    used_new, used_gone = set[int](), set[int]()
    for _, i, j in sorted(
        (row for row in likeness if row[0] >= _ALIKE), key=lambda row: (-row[0], row[1], row[2])
    ):
        if i not in used_new and j not in used_gone:
            used_new.add(i)
            used_gone.add(j)
            yield *new[i], gone[j]


def _likeness(text: str, other: str) -> float:
    """Returns how much two texts have in common by words in their order, 0 to 1 (difflib's ratio)."""
    return difflib.SequenceMatcher(
        None, text.casefold().split(), other.casefold().split(), autojunk=False
    ).ratio()


def _same(text: str) -> str:
    return " ".join(text.split())


def mcnemar(report: SliceReport, baseline: SliceBaseline, *, bad: Collection[VerdictLabel]) -> McNemar:
    """Returns the exact one-sided McNemar test on the claims that both runs make and scored.

    Under no change a claim that turned is as likely to have turned either way: worse ~ Binomial(worse + better, 1/2). It counts
    claims as independent, which claims of one answer are not (McNemar 1947, Psychometrika 12(2), in its exact form).
    """
    from scipy.stats import binomtest

    pairs = [pair for one in report.reports for pair in _paired(one, baseline.cases.get(one.case.id))]
    scored = [
        pair
        for pair in pairs
        if pair.before is not None and "unscored" not in (pair.before, pair.verdict.label)
    ]
    turned = [(pair.verdict.label in bad, pair.before in bad) for pair in scored]
    worse, better = turned.count((True, False)), turned.count((False, True))
    return McNemar(
        matched=len(scored),
        worse=worse,
        better=better,
        p=float(binomtest(worse, worse + better, alternative="greater").pvalue) if worse + better else 1.0,
        reworded=sum(pair.text is not None for pair in scored),
        new_bad=sum(pair.before is None and pair.verdict.label in bad for pair in pairs),
    )


def same_claims(report: SliceReport, baseline: SliceBaseline) -> bool:
    """Returns whether every case makes the same claims, in the same order and with the same verdicts, as in the baseline."""
    return all(
        one.case.id in baseline.cases
        and [(verdict.label, _same(verdict.claim.text)) for verdict in one.verdicts]
        == [(label, _same(text)) for label, text in baseline.cases[one.case.id].claims]
        for one in report.reports
    )
