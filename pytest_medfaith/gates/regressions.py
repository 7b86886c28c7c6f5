"""Claims of this run beside those of the baseline, in equal or similar words: which got worse."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from pytest_medfaith.gates.entry import CaseBaseline, SliceBaseline
from pytest_medfaith.records import Report, SliceReport, Verdict, VerdictLabel
from pytest_medfaith.records.labels import OPEN

_NOT_SUPPORTED: tuple[VerdictLabel, ...] = ("refuted", "unsupported")
_BAD: dict[str, tuple[VerdictLabel, ...]] = {
    "faithfulness": _NOT_SUPPORTED,
    "hallucination": ("refuted",),
    "unsupported": ("unsupported",),
}
# Of the words: "2.5 mg" for "25 mg" in a sentence of eight words leaves 0.88, another sentence on the topic
# about 0.4.
_SIMILAR = 0.6
_FROM_BEST = ("supported", "unscored", "uncertain", "unsupported", "refuted")


@dataclass(frozen=True, kw_only=True)
class Regression:
    """A claim of `report` whose verdict is worse than in the baseline.

    Attributes:
        report: of the case.
        verdict: on the claim now.
        before: the label in the baseline, None for a new claim.
        text_before: the wording in the baseline, None where it was the same.
    """

    report: Report
    verdict: Verdict
    before: VerdictLabel | None
    text_before: str | None = None


@dataclass(frozen=True, kw_only=True)
class McNemar:
    """The McNemar test on the claims that both runs make and scored.

    Attributes:
        matched: the number of these claims.
        worse: how many turned bad.
        better: how many turned good.
        p: one-sided, small for worse.
        reworded: how many of `matched` have another text.
        new_bad: claims that are bad and have no predecessor.
    """

    matched: int
    worse: int
    better: int
    p: float
    reworded: int = 0
    new_bad: int = 0


def bad_labels(metric: str) -> tuple[VerdictLabel, ...] | None:
    """Returns the verdicts that worsen `metric`, ("refuted",) for "hallucination".

    None for a metric that is no share of verdicts, or that is unknown.
    """
    return _BAD.get(metric)


def find_regressions(
    report: SliceReport, baseline: SliceBaseline, *, bad: Collection[VerdictLabel] = _NOT_SUPPORTED
) -> list[Regression]:
    """Returns the claims whose verdict is one of `bad` and worse than in the baseline, worst first.

    Claims of a case match by equal texts, what is left by similar texts. A claim without a match is new, and
    counts where it is bad. Refuted claims come first, then unsupported ones. Within each, those that were
    supported come first, then those that fell less far, then new ones; then the surest refutation, or the
    claim farthest from support.

    Args:
        report: of this run.
        baseline: what the run is compared with, see `matching.slice_baseline`.
        bad: the verdicts looked for; `bad_labels` names those of a metric.
    """
    found = [
        Regression(report=one, verdict=match.verdict, before=match.before, text_before=match.text)
        for one in report.reports
        for match in _matches(one, baseline.cases.get(one.case.id))
        if match.verdict.label in bad
        and (match.before is None or _FROM_BEST.index(match.before) < _FROM_BEST.index(match.verdict.label))
    ]

    def place(regression: Regression) -> tuple[int, int, float, str]:
        verdict, before = regression.verdict, regression.before
        fell_from = len(_FROM_BEST) if before is None else _FROM_BEST.index(before)
        score = -verdict.score if verdict.label == "refuted" else verdict.score
        return -_FROM_BEST.index(verdict.label), fell_from, score, regression.report.case.id

    return sorted(found, key=place)


@dataclass(frozen=True)
class _Match:
    """A verdict of this run with the label that the baseline has for its claim; None for a new claim.

    `text` is the baseline's wording, None where it is the same.
    """

    verdict: Verdict
    before: VerdictLabel | None = None
    text: str | None = None


def _matches(report: Report, case: CaseBaseline | None) -> Iterator[_Match]:
    """Yields each verdict with what the baseline holds of its claim.

    Claims of equal text are matched in their order. What is left of both is matched by similarity, the most
    similar first: a claim whose dose changed is matched with the claim that has the dose before.
    """
    left: defaultdict[str, list[VerdictLabel]] = defaultdict(list)
    for label, text in reversed(case.claims if case else ()):
        left[_plain(text)].append(label)
    found: dict[int, _Match] = {}
    for place, verdict in enumerate(report.verdicts):
        if left[_plain(verdict.claim.text)]:
            found[place] = _Match(verdict, left[_plain(verdict.claim.text)].pop())
    gone = [(text, label) for text, labels in left.items() for label in labels]
    new = [(place, verdict) for place, verdict in enumerate(report.verdicts) if place not in found]
    for place, verdict, (text, label) in _similar_claims(new, gone):
        found[place] = _Match(verdict, label, text)
    for place, verdict in enumerate(report.verdicts):
        yield found.get(place, _Match(verdict))


def _similar_claims(
    new: Sequence[tuple[int, Verdict]], gone: Sequence[tuple[str, VerdictLabel]]
) -> Iterator[tuple[int, Verdict, tuple[str, VerdictLabel]]]:
    """Yields (place, verdict, claim of the baseline) of similar claims, most similar first, each once."""
    rows = [
        (_similarity(verdict.claim.text, text), i, j)
        for i, (_, verdict) in enumerate(new)
        for j, (text, _) in enumerate(gone)
    ]
    similar = [row for row in rows if row[0] >= _SIMILAR]
    used_new, used_gone = set[int](), set[int]()
    for _, i, j in sorted(similar, key=lambda row: (-row[0], row[1], row[2])):
        if i not in used_new and j not in used_gone:
            used_new.add(i)
            used_gone.add(j)
            yield *new[i], gone[j]


def _similarity(text: str, other: str) -> float:
    """Returns the share of words that two texts have in common in their order, 0 to 1 (difflib's ratio)."""
    words, other_words = text.casefold().split(), other.casefold().split()
    return difflib.SequenceMatcher(None, words, other_words, autojunk=False).ratio()


def _plain(text: str) -> str:
    return " ".join(text.split())


def mcnemar(report: SliceReport, baseline: SliceBaseline, *, bad: Collection[VerdictLabel]) -> McNemar:
    """Returns the exact one-sided McNemar test on the claims that both runs make and scored.

    Where nothing changed, a claim that turned is as likely to have turned either way: worse ~ Binomial(worse
    + better, 1/2). The test counts claims as independent, which claims of an answer are not (McNemar 1947,
    Psychometrika 12(2), in its exact form).
    """
    from scipy.stats import binomtest

    matches = [match for one in report.reports for match in _matches(one, baseline.cases.get(one.case.id))]
    scored = [
        match
        for match in matches
        if match.before is not None and not {match.before, match.verdict.label} & set(OPEN)
    ]
    turned = [(match.verdict.label in bad, match.before in bad) for match in scored]
    worse, better = turned.count((True, False)), turned.count((False, True))
    return McNemar(
        matched=len(scored),
        worse=worse,
        better=better,
        p=float(binomtest(worse, worse + better, alternative="greater").pvalue) if worse + better else 1.0,
        reworded=sum(match.text is not None for match in scored),
        new_bad=sum(match.before is None and match.verdict.label in bad for match in matches),
    )


def same_claims(report: SliceReport, baseline: SliceBaseline) -> bool:
    """Returns whether every case makes the claims of the baseline, in their order and with their verdicts.

    White space in claims does not count. A case that the baseline lacks gives False. Cases of the baseline
    that the report lacks do not count.
    """
    return all(
        one.case.id in baseline.cases
        and [(verdict.label, _plain(verdict.claim.text)) for verdict in one.verdicts]
        == [(label, _plain(text)) for label, text in baseline.cases[one.case.id].claims]
        for one in report.reports
    )
