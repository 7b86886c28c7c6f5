"""How far a student agrees with its teacher on rows that did not train it, as a card.

A pair that the student cannot score counts as a disagreement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_medfaith.cards.wording import clip, counted, metric_text
from pytest_medfaith.distill.records import SilverAnswer, SilverPair
from pytest_medfaith.labels.agreement import cohen_kappa
from pytest_medfaith.metrics.checker_scores import score_checker
from pytest_medfaith.records import LABELS, Chunk, Claim, MetricValue

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker

UNSCORED = "unscored"
_OF_VERDICT = {"supported": "entail", "refuted": "contradict", "unsupported": "neutral"}
_SHOWN = 8  # disagreements that a card shows
_WIDTH = 90  # characters of each


@dataclass(frozen=True)
class Agreement:
    """A student's labels beside its teacher's.

    Attributes:
        teacher: name of who labelled the rows.
        student: name of the checker.
        part: which part of the silver rows: train, dev or test.
        rows: pairs of claim and evidence, with the teacher's labels.
        labels: the student's label of each pair, or "unscored".
        metrics: "accuracy" and "f1" (macro-F1) against the teacher's labels, with intervals by case; unscored
            is wrong.
        kappa: Cohen's kappa over all pairs; None where all labels of both are equal.
    """

    teacher: str
    student: str
    part: str
    rows: tuple[SilverPair, ...]
    labels: tuple[str, ...]
    metrics: dict[str, MetricValue]
    kappa: float | None

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """How many pairs have each label of the teacher and the student: counts[teacher][student]."""
        columns = [*LABELS, UNSCORED]
        pairs = [(row.label, label) for row, label in zip(self.rows, self.labels, strict=True)]
        known: Counter[tuple[str, str]] = Counter(pairs)
        return {row: {column: known[row, column] for column in columns} for row in LABELS}


def agree(
    rows: Sequence[SilverPair],
    checker: Checker,
    *,
    part: str,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Agreement:
    """Returns how a checker labels the rows, by its thresholds and rules, as in a run.

    Args:
        rows: of a part that did not train the student.
        checker: the student.
        part: its name, for the card.
        seed: of the intervals.
        progress: called with (texts scored, texts in all).
    """
    claims = [Claim(id=str(number), text=row.claim) for number, row in enumerate(rows)]
    chunks = [Chunk(id=str(number), text=row.evidence) for number, row in enumerate(rows)]
    scores = checker.score(list(zip(claims, chunks, strict=True)), progress=progress)
    of_claim = {score.claim_id: score for score in scores}
    verdicts = [
        checker.decide(claim, [of_claim[claim.id]] if claim.id in of_claim else [], [chunk])
        for claim, chunk in zip(claims, chunks, strict=True)
    ]
    labels = [_OF_VERDICT.get(verdict.label, UNSCORED) for verdict in verdicts]
    # A pair that is not scored gets a label that is wrong, so that it never counts as agreement.
    predicted = [
        _wrong(row.label) if label == UNSCORED else label for row, label in zip(rows, labels, strict=True)
    ]
    probs = [[float(label == column) for column in LABELS] for label in predicted]
    cases = [row.case_id for row in rows]
    scored = score_checker([row.label for row in rows], probs, predicted=predicted, groups=cases, seed=seed)
    teachers = dict.fromkeys(
        " ".join(filter(None, (row.provenance.checker, row.provenance.model))) for row in rows
    )
    return Agreement(
        teacher=", ".join(teachers),
        student=checker.name,
        part=part,
        rows=tuple(rows),
        labels=tuple(labels),
        metrics={name: scored[name] for name in ("accuracy", "f1")},
        kappa=cohen_kappa([(row.label, label) for row, label in zip(rows, labels, strict=True)]),
    )


def _wrong(label: str) -> str:
    """Returns a label that is not `label`."""
    return next(other for other in LABELS if other != label)


def agreement_card(found: Agreement, *, style: str = "github") -> str:
    """Returns the card: agreement with intervals, a table of labels, and pairs on which the two differ.

    `style` is a table format of tabulate.
    """
    from tabulate import tabulate

    cases = len({row.case_id for row in found.rows})
    kappa = "-" if found.kappa is None else f"{found.kappa:.2f}"
    equal, f1 = (metric_text(found.metrics[name], interval=True) for name in ("accuracy", "f1"))
    interval = " (95 % interval by case)" if found.metrics["accuracy"].low is not None else ""
    lines = [
        f"# {found.student} and its teacher",
        "",
        (
            f"Teacher: {found.teacher}. Part: {found.part}, {counted(len(found.rows), 'pair')} of "
            f"{counted(cases, 'case')}."
        ),
        f"Equal labels: {equal}{interval}. Macro-F1: {f1}. Cohen's kappa: {kappa}.",
        "The labels are the teacher's, not people's: agreement says what was learned, not what is true.",
        *(["These rows trained the student: on other rows it agrees less."] if found.part == "train" else []),
        "",
    ]
    counts = found.counts
    table = [[label, *counts[label].values()] for label in LABELS]
    headers = ["teacher \\ student", *LABELS, UNSCORED]
    lines += [tabulate(table, headers=headers, tablefmt=style, disable_numparse=True), ""]
    differ = [(row, label) for row, label in zip(found.rows, found.labels, strict=True) if row.label != label]
    worst_first = sorted(differ, key=lambda pair: {"contradict": 0, "neutral": 1}.get(pair[0].label, 2))
    for row, label in worst_first[:_SHOWN]:
        lines.append(f"* {row.label}, student {label}: {clip(row.claim, _WIDTH)} ({row.id})")
    if len(differ) > _SHOWN:
        lines.append(f"* and {len(differ) - _SHOWN} more")
    return "\n".join(lines).rstrip() + "\n"


def agreement_facts(found: Agreement) -> dict[str, Any]:
    """Returns the figures of an agreement as plain values, for a model card.

    The keys are "teacher", "part", "pairs" and "cases" (how many), "agreement" (the accuracy) and "macro_f1",
    each with its interval, "kappa" (4 decimals, or None) and "labels" (see `Agreement.counts`).
    """
    return {
        "teacher": found.teacher,
        "part": found.part,
        "pairs": len(found.rows),
        "cases": len({row.case_id for row in found.rows}),
        "agreement": found.metrics["accuracy"].to_dict(),
        "macro_f1": found.metrics["f1"].to_dict(),
        "kappa": None if found.kappa is None else round(found.kappa, 4),
        "labels": found.counts,
    }


@dataclass(frozen=True)
class SpanAgreement:
    """How many claims an extractor finds at the same place as the teacher; marks at their ends do not count.

    Attributes:
        answers: how many answers were split.
        equal: claims that both found, with the same span.
        taught: claims of the teacher.
        found: claims of the student.
    """

    answers: int
    equal: int
    taught: int
    found: int

    @property
    def f1(self) -> float:
        """2 * equal / (taught + found), 0 to 1; 0 where neither found any."""
        return 2 * self.equal / (self.taught + self.found) if self.taught + self.found else 0.0

    def to_dict(self) -> dict[str, float]:
        """Returns the four counts under their names, and "precision", "recall" and "f1".

        These three are from 0 to 1, rounded to 4 decimals; 0.0 where the denominator is 0.
        """
        return {
            "answers": self.answers,
            "equal": self.equal,
            "taught": self.taught,
            "found": self.found,
            "precision": round(self.equal / self.found, 4) if self.found else 0.0,
            "recall": round(self.equal / self.taught, 4) if self.taught else 0.0,
            "f1": round(self.f1, 4),
        }


def agree_on_spans(
    rows: Sequence[SilverAnswer], spans_of: Callable[[SilverAnswer], Sequence[tuple[int, int]]]
) -> SpanAgreement:
    """Returns how the spans that `spans_of` finds in each answer match the claims of the teacher."""
    equal = taught = found = 0
    for row in rows:
        wanted = {_trimmed(row.answer, claim.start, claim.end) for claim in row.claims}
        given = {_trimmed(row.answer, start, end) for start, end in spans_of(row)}
        equal, taught, found = equal + len(wanted & given), taught + len(wanted), found + len(given)
    return SpanAgreement(len(rows), equal, taught, found)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Returns the span cut to its first and last letter or digit."""
    places = [i for i in range(start, min(end, len(text))) if text[i].isalnum()]
    return (places[0], places[-1] + 1) if places else (start, end)
