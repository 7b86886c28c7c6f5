"""Slice reports and baselines made from lists of verdicts, for the tests of the gates."""

from __future__ import annotations

from pathlib import Path

from pytest_medfaith.evaluation import slice_report
from pytest_medfaith.gates.baseline import read_baseline, write_baseline
from pytest_medfaith.gates.entry import SliceBaseline
from pytest_medfaith.gates.matching import slice_baseline
from pytest_medfaith.metrics.aggregate import case_metrics
from pytest_medfaith.records import Case, Chunk, Claim, Hit, Report, Response, SliceReport, SliceRun, Verdict

LABELS = {"s": "supported", "r": "refuted", "u": "unsupported", "?": "unscored"}
RUN = SliceRun(slice="iron", retriever="bm25", checker="student", k=3)
SIGNATURE = {
    "version": "0.1.0",
    "checkers": {"student": {"weights": "w1", "entail": 0.5}, "other": {"weights": "x", "entail": 0.4}},
    "corpora": {"iron": "c1", "sleep": "c2"},
    "seed": 0,
}


def case(
    name: str,
    verdicts: str,
    *,
    texts: list[str] | None = None,
    latency: float | None = None,
    found: bool = True,
) -> Report:
    """Returns a case with a claim for each letter of `verdicts` (s, r, u or ?).

    Its reference is ranked first where `found`.
    """
    texts = texts or [f"{name} says thing {i}." for i in range(len(verdicts))]
    reference = Chunk(id=f"{name}-reference", text="Iron is stored as ferritin.")
    hit = Hit(chunk=reference if found else reference.with_(id=f"{name}-other"), rank=1, score=1.0)
    report = Report(
        case=Case(id=name, question="What stores iron?", references=(reference.id,)),
        response=Response(answer=" ".join(texts), case_id=name, contexts=(reference,), latency_ms=latency),
        verdicts=tuple(
            Verdict(claim=Claim(id=f"c{i}", text=text), label=LABELS[letter], score=0.9 - i / 10)
            for i, (letter, text) in enumerate(zip(verdicts, texts, strict=True))
        ),
        hits=(hit,),
        k=3,
    )
    return report.with_(metrics=case_metrics(report))


def report_of(cases: list[Report], *, run: SliceRun = RUN, expected: tuple[str, ...] = ()) -> SliceReport:
    return slice_report(run, cases, expected=expected)


def slice_of(verdicts: dict[str, str], **changes: object) -> SliceReport:
    return report_of([case(name, letters) for name, letters in verdicts.items()]).with_(**changes)


def stored(folder: Path, report: SliceReport, *, metrics: tuple[str, ...] = ()) -> SliceBaseline:
    """Returns the entry of `report`, written to a file and read back."""
    path = folder / "medfaith-baseline.json"
    write_baseline(path, [report], signature=SIGNATURE, metrics=metrics)
    case_ids = [one.case.id for one in report.reports]
    return slice_baseline(read_baseline(path), report.run, signature=SIGNATURE, case_ids=case_ids)
