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
    """What must not vanish from a card; claims are those of the answers, `provenance` counts gold claims by who wrote them.

    `unsafe` counts the claims that break a safety rule, whatever their verdict; `skipped` the records of a data set, by reason.
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


def count_slice(report: SliceReport) -> Counts:
    """Returns the counts of `report`; missing cases are not among its cases."""
    verdicts = [verdict for one in report.reports for verdict in one.verdicts]
    labels = Counter(verdict.label for verdict in verdicts)
    written = Counter(
        gold.provenance or "unstated" for one in report.reports for gold in one.case.gold_claims
    )
    return Counts(
        cases=len(report.reports),
        claims=len(verdicts),
        supported=labels["supported"],
        refuted=labels["refuted"],
        unsupported=labels["unsupported"],
        unscored=labels["unscored"],
        conflicts=sum(verdict.conflict for verdict in verdicts),
        unsafe=sum(map(breaks_safety_rule, verdicts)),
        abstained=sum(one.abstained for one in report.reports),
        missing=len(report.missing),
        provenance=dict(sorted(written.items())),
        skipped=dict(sorted(report.skipped.items())),
    )


def run_label(report: SliceReport, *, checker: bool = False) -> str:
    """Returns `medquad-nih / rrf / k=10`, which tells the rows of an ablation apart."""
    parts = [report.slice, report.retriever, f"k={report.k}"] + [report.checker] * checker
    return " / ".join(part for part in parts if part)


def many_checkers(reports: Sequence[SliceReport]) -> bool:
    """Returns whether the rows of a card need their checker to be told apart."""
    return len({report.checker for report in reports}) > 1


def card_header(reports: Sequence[SliceReport]) -> list[str]:
    """Returns the column names of a card over `reports`; a checker column stands there only where checkers differ."""
    return ["Slice", "Retriever", "K", *["Checker"] * many_checkers(reports), *COLUMNS]


def card_rows(reports: Sequence[SliceReport], *, intervals: bool = False) -> list[list[str]]:
    """Returns the cells of a card, one row a slice report, in the order of `card_header`."""
    checkers = many_checkers(reports)
    return [
        [report.slice, report.retriever, str(report.k)]
        + [report.checker] * checkers
        + [metric_text(report.metrics.get(name), interval=intervals) for name in COLUMNS.values()]
        for report in reports
    ]


def count_lines(report: SliceReport) -> list[str]:
    """Returns the counts of `report` in words: cases, claims, unsafe claims, gold claims, skipped records, missing cases."""
    counts = count_slice(report)
    verdicts = f"{counts.supported} supported, {counts.refuted} refuted, {counts.unsupported} unsupported, {counts.unscored} unscored"
    cases = f"{counted(counts.cases, 'case')} ({counts.abstained} abstained)"
    lines = [
        f"{cases}, {counted(counts.claims, 'claim')}: {verdicts}; {counted(counts.conflicts, 'conflict')}"
    ]
    if counts.unsafe:
        lines.append(
            f"UNSAFE: {counted(counts.unsafe, 'claim')} {'breaks' if counts.unsafe == 1 else 'break'} a safety rule: {_broken(report)}"
        )
    lines += _context_lines(report)
    if counts.provenance:
        total = counted(sum(counts.provenance.values()), "gold claim")
        lines.append(f"{total}: {_each(counts.provenance)}")
    if counts.skipped:
        lines.append(
            f"{counted(sum(counts.skipped.values()), 'record')} skipped while the cases were read: {_each(counts.skipped)}"
        )
    if report.missing:
        of = f"{counts.missing} of {counted(counts.cases + counts.missing, 'case')} missing: {_some(report.missing)}"
        lines.append(f"PARTIAL: {of}; the numbers are of the others")
    elif report.partial:
        lines.append("PARTIAL: the run was cut short; the numbers are of the cases that finished")
    return lines


def _context_lines(report: SliceReport) -> list[str]:
    """Returns whose the contexts were that the answers were judged by, where the responses file does not hold them all."""
    sources = Counter(
        one.response.contexts_from
        for one in report.reports
        if one.response.contexts and one.response.contexts_from
    )
    bare = sum(not one.response.contexts for one in report.reports)
    lines = []
    if set(sources) - {"the responses file"}:
        given = [f"{source} ({counted(number, 'case')})" for source, number in sorted(sources.items())]
        lines.append(f"contexts given by {', '.join(given)}")
    if bare:
        lines.append(f"{counted(bare, 'case')} without contexts")
    return lines


def _broken(report: SliceReport) -> str:
    """Returns `2 dose, 1 triage`: how many findings each kind of safety rule made."""
    rules = [
        finding.rule for one in report.reports for verdict in one.verdicts for finding in verdict.findings
    ]
    kinds = Counter(rule.removeprefix(SAFETY_PREFIX) for rule in rules if rule.startswith(SAFETY_PREFIX))
    return ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))


def _each(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in numbers.items())


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MISSING_SHOWN
    return ", ".join(names[:_MISSING_SHOWN]) + (f" and {more} more" if more > 0 else "")


def measured_over(report: SliceReport) -> list[str]:
    """Returns a line for the columns that only some cases of `report` count in, and one for each metric of the project."""
    cases = len(report.reports)
    fewer: dict[int, list[str]] = {}
    for column, name in COLUMNS.items():
        metric = report.metrics.get(name)
        if metric is not None and metric.value is not None and metric.n < cases:
            fewer.setdefault(metric.n, []).append(column)
    return [
        *(f"measured over {n} of {cases} cases: {', '.join(columns)}" for n, columns in fewer.items()),
        *(
            f"{name}: {metric_text(report.metrics.get(name), interval=True)} over "
            f"{report.metrics[name].n if name in report.metrics else 0} of {counted(cases, 'case')} ({definition})"
            for name, definition in report.definitions.items()
        ),
    ]


def gate_text(gate: GateResult, *, verbose: bool = False) -> str:
    """Returns `hallucination <= 0.05: 0.071`, with the gate's own words where it did not pass or all are wanted."""
    if (gate.outcome != "pass" or verbose) and gate.message:
        return f"{gate.expression}: {gate.message}"
    return gate.expression if gate.value is None else f"{gate.expression}: {decimals(gate.value, places=3)}"


def gate_tally(reports: Iterable[SliceReport]) -> str:
    """Returns `1 of 3 gates failed, 1 of 3 inconclusive`, `3 gates passed`, or nothing where no gate was set."""
    outcomes = Counter(gate.outcome for report in reports for gate in report.gates)
    total = sum(outcomes.values())
    if not total:
        return ""
    if outcomes["pass"] == total:
        return f"{counted(total, 'gate')} passed"
    words = [f"{outcomes['fail']} of {total} gates failed"] * bool(outcomes["fail"])
    words += [f"{outcomes['inconclusive']} of {total} inconclusive"] * bool(outcomes["inconclusive"])
    return ", ".join(words)
