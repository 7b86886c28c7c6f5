"""What every card says of a slice: its columns, its counts, its gates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_medfaith.cards.wording import counted, decimals, metric_text
from pytest_medfaith.metrics.safety import SAFETY_PREFIX, breaks_safety_rule
from pytest_medfaith.records import GateResult, SliceReport

COLUMNS: Mapping[str, str] = {
    "Rec@K": "recall@k",
    "nDCG@K": "ndcg@k",
    "Faithful": "faithfulness",
    "Halluc": "hallucination",
    "C-Recall": "claim_recall",
    "C-Prec": "context_precision",
    "C-Util": "context_utilization",
}
_MISSING_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What must not vanish from a card. Claims are those of the answers.

    `unsafe` counts the claims that break a safety rule, whatever their verdict, `provenance` the gold claims
    by who wrote them, `skipped` the records of a data set that gave no case, by reason.
    """

    cases: int
    claims: int
    supported: int
    refuted: int
    unsupported: int
    unscored: int
    conflicts: int
    unsafe: int
    abstained: int
    missing: int
    provenance: Mapping[str, int]
    skipped: Mapping[str, int]


def count_slice(slice_report: SliceReport) -> Counts:
    """Returns the counts of a slice; missing cases are not among its cases."""
    reports = slice_report.reports
    verdicts = [verdict for report in reports for verdict in report.verdicts]
    labels = Counter(verdict.label for verdict in verdicts)
    written = Counter(gold.provenance or "unstated" for report in reports for gold in report.case.gold_claims)
    return Counts(
        cases=len(reports),
        claims=len(verdicts),
        supported=labels["supported"],
        refuted=labels["refuted"],
        unsupported=labels["unsupported"],
        unscored=labels["unscored"],
        conflicts=sum(verdict.conflict for verdict in verdicts),
        unsafe=sum(map(breaks_safety_rule, verdicts)),
        abstained=sum(report.abstained for report in reports),
        missing=len(slice_report.missing),
        provenance=dict(sorted(written.items())),
        skipped=dict(sorted(slice_report.skipped.items())),
    )


def run_label(slice_report: SliceReport, *, checker: bool = False) -> str:
    """Returns `medquad-nih / rrf / k=10`, which tells rows of an ablation apart; `checker` adds its name."""
    parts = [slice_report.slice, slice_report.retriever, f"k={slice_report.k}"]
    parts += [slice_report.checker] * checker
    return " / ".join(part for part in parts if part)


def many_checkers(slice_reports: Sequence[SliceReport]) -> bool:
    """Returns whether the rows of a card come from different checkers."""
    return len({report.checker for report in slice_reports}) > 1


def card_header(slice_reports: Sequence[SliceReport]) -> list[str]:
    """Returns the column names of a card; a column for the checker only where checkers differ."""
    return ["Slice", "Retriever", "K", *["Checker"] * many_checkers(slice_reports), *COLUMNS]


def card_rows(slice_reports: Sequence[SliceReport], *, intervals: bool = False) -> list[list[str]]:
    """Returns the cells of a card, a row for each slice report, in the order of `card_header`."""
    checkers = many_checkers(slice_reports)
    return [
        [report.slice, report.retriever, str(report.k)]
        + [report.checker] * checkers
        + [metric_text(report.metrics.get(name), interval=intervals) for name in COLUMNS.values()]
        for report in slice_reports
    ]


def count_lines(slice_report: SliceReport) -> list[str]:
    """Returns the counts of a slice in words, a line for each kind."""
    counts = count_slice(slice_report)
    verdicts = (
        f"{counts.supported} supported, {counts.refuted} refuted, "
        f"{counts.unsupported} unsupported, {counts.unscored} unscored"
    )
    cases = f"{counted(counts.cases, 'case')} ({counts.abstained} abstained)"
    lines = [
        f"{cases}, {counted(counts.claims, 'claim')}: {verdicts}; {counted(counts.conflicts, 'conflict')}"
    ]
    if counts.unsafe:
        breaks = f"{counted(counts.unsafe, 'claim')} {'breaks' if counts.unsafe == 1 else 'break'}"
        lines.append(f"UNSAFE: {breaks} a safety rule: {_safety_findings(slice_report)}")
    lines += _context_lines(slice_report)
    if counts.provenance:
        total = counted(sum(counts.provenance.values()), "gold claim")
        lines.append(f"{total}: {_each(counts.provenance)}")
    if counts.skipped:
        total = counted(sum(counts.skipped.values()), "record")
        lines.append(f"{total} skipped while the cases were read: {_each(counts.skipped)}")
    if slice_report.missing:
        more = counts.missing - _MISSING_SHOWN
        names = ", ".join(slice_report.missing[:_MISSING_SHOWN]) + (f" and {more} more" if more > 0 else "")
        missing = f"{counts.missing} of {counted(counts.cases + counts.missing, 'case')} missing"
        lines.append(f"PARTIAL: {missing}: {names}; the numbers are of the others")
    elif slice_report.partial:
        lines.append("PARTIAL: the run was cut short; the numbers are of the cases that finished")
    return lines


def _context_lines(slice_report: SliceReport) -> list[str]:
    """Returns where the contexts of the answers came from, unless the responses file held all of them."""
    responses = [report.response for report in slice_report.reports]
    sources = Counter(
        response.contexts_from for response in responses if response.contexts and response.contexts_from
    )
    lines = []
    if set(sources) - {"the responses file"}:
        given = [f"{source} ({counted(number, 'case')})" for source, number in sorted(sources.items())]
        lines.append(f"contexts given by {', '.join(given)}")
    if bare := sum(not response.contexts for response in responses):
        lines.append(f"{counted(bare, 'case')} without contexts")
    return lines


def _safety_findings(slice_report: SliceReport) -> str:
    """Returns `2 dose, 1 triage`: how many findings each kind of safety rule made."""
    rules = [
        finding.rule
        for report in slice_report.reports
        for verdict in report.verdicts
        for finding in verdict.findings
    ]
    kinds = Counter(rule.removeprefix(SAFETY_PREFIX) for rule in rules if rule.startswith(SAFETY_PREFIX))
    return ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))


def _each(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in numbers.items())


def measured_over(slice_report: SliceReport) -> list[str]:
    """Returns a line for the columns that count only some cases, and one for each metric of the project."""
    cases = len(slice_report.reports)
    fewer: dict[int, list[str]] = {}
    for column, name in COLUMNS.items():
        metric = slice_report.metrics.get(name)
        if metric is not None and metric.value is not None and metric.n < cases:
            fewer.setdefault(metric.n, []).append(column)
    lines = [f"measured over {n} of {cases} cases: {', '.join(columns)}" for n, columns in fewer.items()]
    for name, definition in slice_report.definitions.items():
        metric = slice_report.metrics.get(name)
        over = f"over {metric.n if metric else 0} of {counted(cases, 'case')}"
        lines.append(f"{name}: {metric_text(metric, interval=True)} {over} ({definition})")
    return lines


def gate_text(gate: GateResult, *, verbose: bool = False) -> str:
    """Returns `hallucination <= 0.05: 0.071`; the message instead of the value for `verbose` or no pass."""
    if (gate.outcome != "pass" or verbose) and gate.message:
        return f"{gate.expression}: {gate.message}"
    return gate.expression if gate.value is None else f"{gate.expression}: {decimals(gate.value, places=3)}"


def gate_tally(slice_reports: Iterable[SliceReport]) -> str:
    """Returns `1 of 3 gates failed, 1 of 3 inconclusive`, `3 gates passed`, or "" where no gate was set."""
    outcomes = Counter(gate.outcome for report in slice_reports for gate in report.gates)
    total = sum(outcomes.values())
    if not total:
        return ""
    if outcomes["pass"] == total:
        return f"{counted(total, 'gate')} passed"
    words = [f"{outcomes['fail']} of {total} gates failed"] * bool(outcomes["fail"])
    words += [f"{outcomes['inconclusive']} of {total} inconclusive"] * bool(outcomes["inconclusive"])
    return ", ".join(words)
