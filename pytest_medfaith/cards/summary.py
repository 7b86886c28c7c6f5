"""What every card says of a slice: its columns, its counts in words, its gates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_medfaith.cards.rag_lines import rag_lines
from pytest_medfaith.cards.tallies import (
    claim_tallies,
    context_tallies,
    error_tallies,
    llm_use,
    risk_tallies,
    safety_tallies,
)
from pytest_medfaith.cards.told_lines import told_lines
from pytest_medfaith.cards.wording import counted, decimals, has_value, index_text, metric_text
from pytest_medfaith.config import JUDGED_CONTEXTS
from pytest_medfaith.metrics.citations import citation_counts
from pytest_medfaith.metrics.facts import fact_counts
from pytest_medfaith.metrics.outcomes import outcome_counts
from pytest_medfaith.records import GateResult, MetricValue, Report, SliceReport, VectorIndex
from pytest_medfaith.records.answer_risk import FLAGS
from pytest_medfaith.teacher.use import use_lines

COLUMNS: Mapping[str, str] = {
    "Rec@K": "recall@k",
    "nDCG@K": "ndcg@k",
    "Faithful": "faithfulness",
    "Halluc": "hallucination",
    "C-Recall": "claim_recall",
    "C-Prec": "context_precision",
    "C-Util": "context_utilization",
}
# Beside these where hits were judged by the gold claims.
POOLED_COLUMNS: Mapping[str, str] = {"R-Rec@K": "rchunk.recall@k", "R-nDCG@K": "rchunk.ndcg@k"}
# In the place of the rest where no answer was judged.
RETRIEVAL_COLUMNS: Mapping[str, str] = {
    "Rec@K": "recall@k",
    "nDCG@K": "ndcg@k",
    **POOLED_COLUMNS,
    "R-Prec@K": "rchunk.precision@k",
    "R-Hit@K": "rchunk.hit@k",
    "R-MRR@K": "rchunk.mrr@k",
}
# Shown only where they were measured: few slices have keywords, or claims that the corpus refutes.
RARE_COLUMNS: Mapping[str, str] = {
    "Auto-Rec@K": "auto.recall@k",
    "Auto-nDCG@K": "auto.ndcg@k",
    "Contra-MRR": "contradiction_mrr",
}
# What cards call a contexts mode.
MODES: Mapping[str, str] = {**{mode: mode for mode in JUDGED_CONTEXTS}, "none": "retrieval only"}
# Shown in every mode, only where they were measured.
SAMPLED_COLUMNS: Mapping[str, str] = {
    "Consist": "self_consistency",
    "Agree": "self_agreement",
    "Risk": "answer_risk",
    "Relev": "answer_relevancy",
    "Relev-Q": "answer_relevancy.questions",
    "Relev-LLM": "answer_relevancy.teacher",
}
# Added by --medfaith-verbose where they were measured.
VERBOSE_COLUMNS: Mapping[str, str] = {
    "Omit": "omission.key",
    "Omit-Maj": "omission.major",
    "Gold-Contra": "gold_contradiction",
    "Cite-Prec": "citation_precision",
    "Misattr": "misattribution",
}
_MISSING_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What must not vanish from a card. Claims are those of the answers.

    `unsafe` counts the claims that break a safety rule, whatever their verdict, `major` the errors of
    moderate or high risk, `provenance` the gold claims by who wrote them, `skipped` the records of a data set
    that gave no case, by reason, `citations` the claims by what their citations are (empty without any),
    `outcomes` the cases by what became of them, `facts` the gold claims by their state in the answers.
    """

    cases: int
    claims: int
    supported: int
    refuted: int
    unsupported: int
    unscored: int
    uncertain: int
    conflicts: int
    unsafe: int
    major: int
    abstained: int
    missing: int
    provenance: Mapping[str, int]
    skipped: Mapping[str, int]
    citations: Mapping[str, int]
    outcomes: Mapping[str, int]
    facts: Mapping[str, int]


def count_slice(slice_report: SliceReport) -> Counts:
    """Returns the counts of a slice; `cases` are those with a report."""
    reports = slice_report.reports
    labels, written, found = claim_tallies(reports)
    return Counts(
        cases=len(reports),
        claims=sum(labels.values()),
        supported=labels["supported"],
        refuted=labels["refuted"],
        unsupported=labels["unsupported"],
        unscored=labels["unscored"],
        uncertain=labels["uncertain"],
        conflicts=found["conflicts"],
        unsafe=found["unsafe"],
        major=found["major"],
        abstained=found["abstained"],
        missing=len(slice_report.missing),
        provenance=dict(sorted(written.items())),
        skipped=dict(sorted(slice_report.skipped.items())),
        citations=citation_counts(reports),
        outcomes=outcome_counts(reports),
        facts=fact_counts(reports),
    )


def run_label(slice_report: SliceReport, *, checker: bool = False) -> str:
    """Returns `medquad-nih / rrf / k=10`, which tells rows of an ablation apart; `checker` adds its name.

    A contexts mode follows where it is not "recorded": `medquad-nih / rrf / k=10 / retrieved`.
    """
    parts = [slice_report.slice, slice_report.retriever, f"k={slice_report.k}"]
    parts += [slice_report.checker] * checker
    if slice_report.contexts_mode != "recorded":
        parts.append(MODES[slice_report.contexts_mode])
    return " / ".join(part for part in parts if part)


def many_checkers(slice_reports: Sequence[SliceReport]) -> bool:
    """Returns whether the rows of a card come from different checkers."""
    return len({report.checker for report in slice_reports}) > 1


def card_columns(slice_reports: Sequence[SliceReport], *, verbose: bool = False) -> dict[str, str]:
    """Returns {column: metric} of a card; `verbose` adds measured metrics of facts and citations.

    Columns for hits that were judged by gold claims are added where there are any, and take the place of the
    answers' columns where no answer was judged.
    """
    modes = {report.contexts_mode for report in slice_reports}
    more = _measured(VERBOSE_COLUMNS, slice_reports) if verbose else {}
    if not modes - {"recorded"}:
        return dict(COLUMNS) | _measured(SAMPLED_COLUMNS, slice_reports) | more
    columns = dict(RETRIEVAL_COLUMNS)
    if modes != {"none"}:
        first_two = dict(list(COLUMNS.items())[:2])
        columns = {**first_two, **POOLED_COLUMNS, **COLUMNS}
    return columns | _measured({**RARE_COLUMNS, **SAMPLED_COLUMNS}, slice_reports) | more


def _measured(columns: Mapping[str, str], slice_reports: Sequence[SliceReport]) -> dict[str, str]:
    return {
        column: name
        for column, name in columns.items()
        if any(has_value(report.metrics.get(name)) for report in slice_reports)
    }


def card_metric(report: SliceReport, name: str) -> MetricValue | None:
    """Returns the value that a cell of a card shows; None for an empty cell.

    Columns of r-chunks (chunks that entail a gold claim) stay empty for recorded contexts, which were not
    judged together with those of other retrievers.
    """
    if report.contexts_mode == "recorded" and name in POOLED_COLUMNS.values():
        return None
    return report.metrics.get(name)


def card_names(report: SliceReport, slice_reports: Sequence[SliceReport]) -> dict[str, str]:
    """Returns {column: text} of what names a row among all rows of a card.

    There is a column for the checker only where checkers differ, and for the contexts mode only where it is
    not "recorded" in all rows.
    """
    names = {"Slice": report.slice, "Retriever": report.retriever, "K": str(report.k)}
    if many_checkers(slice_reports):
        names["Checker"] = report.checker
    if any(one.contexts_mode != "recorded" for one in slice_reports):
        names["Contexts"] = MODES[report.contexts_mode]
    return names


def card_header(slice_reports: Sequence[SliceReport], *, verbose: bool = False) -> list[str]:
    """Returns the column names of a card, of `card_names` and `card_columns`."""
    names = [name for report in slice_reports[:1] for name in card_names(report, slice_reports)]
    return [*names, *card_columns(slice_reports, verbose=verbose)]


def card_rows(
    slice_reports: Sequence[SliceReport], *, intervals: bool = False, verbose: bool = False
) -> list[list[str]]:
    """Returns the cells of a card, a row for each slice report, in the order of `card_header`."""
    columns = card_columns(slice_reports, verbose=verbose)
    return [
        [
            *card_names(report, slice_reports).values(),
            *(metric_text(card_metric(report, name), interval=intervals) for name in columns.values()),
        ]
        for report in slice_reports
    ]


def count_lines(slice_report: SliceReport) -> list[str]:
    """Returns the counts of a slice in words, a line for each kind."""
    counts = count_slice(slice_report)
    if slice_report.contexts_mode == "none":
        return [
            f"{counted(counts.cases, 'case')}; only what was retrieved is measured, no answer",
            *retrieval_lines(slice_report),
            *llm_lines(slice_report),
            *_case_lines(slice_report, counts),
        ]
    verdicts = (
        f"{counts.supported} supported, {counts.refuted} refuted, "
        f"{counts.unsupported} unsupported, {counts.unscored} unscored"
    ) + (f", {counts.uncertain} uncertain" if counts.uncertain else "")
    cases = f"{counted(counts.cases, 'case')} ({counts.abstained} abstained)"
    lines = [
        f"{cases}, {counted(counts.claims, 'claim')}: {verdicts}; {counted(counts.conflicts, 'conflict')}"
    ]
    if counts.unsafe:
        breaks = f"{counted(counts.unsafe, 'claim')} {'breaks' if counts.unsafe == 1 else 'break'}"
        lines.append(f"UNSAFE: {breaks} a safety rule: {_safety_findings(slice_report)}")
    lines += major_lines(slice_report)
    lines += told_lines(counts.outcomes, counts.facts, counts.citations)
    lines += [*risk_lines(slice_report), *rag_lines(slice_report), *_context_lines(slice_report)]
    lines += [*retrieval_lines(slice_report), *llm_lines(slice_report)]
    return lines + _case_lines(slice_report, counts)


def major_lines(slice_report: SliceReport) -> list[str]:
    """Returns how many errors of a slice are major, by category, the most frequent first; [] for none."""
    errors, major = error_tallies(slice_report.reports)
    if not major:
        return []
    total = f"{sum(major.values())} of {counted(errors, 'error')}"
    return [f"MAJOR: {total} could change what is done for a patient: {_each(dict(major.most_common()))}"]


def risk_lines(slice_report: SliceReport) -> list[str]:
    """Returns a line on the risks of answers: flags, rules that decided, parts not measured; [] for none."""
    flags, rules, missing = risk_tallies(slice_report.reports)
    if not flags:
        return []
    told = f"risk: {', '.join(f'{flags[flag]} {flag}' for flag in reversed(FLAGS))}"
    told += f"; HIGH by a rule: {_each(rules)}" if rules else ""
    without = [f"{part} in {counted(number, 'answer')}" for part, number in missing.items()]
    return [
        told + (f"; not measured, so the other parts weigh more: {', '.join(without)}" if without else "")
    ]


def _case_lines(slice_report: SliceReport, counts: Counts) -> list[str]:
    """Returns who wrote the gold claims, and which cases were skipped or are missing."""
    lines = []
    if counts.provenance:
        total = counted(sum(counts.provenance.values()), "gold claim")
        lines.append(f"{total}: {_each(counts.provenance)}")
    if counts.skipped:
        total = counted(sum(counts.skipped.values()), "record")
        lines.append(f"{total} skipped while the cases were read: {_each(counts.skipped)}")
    if slice_report.failure:
        lines.append(f"FAILED: {slice_report.failure}")
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
    sources, bare = context_tallies(slice_report.reports)
    lines = []
    if set(sources) - {"the responses file"}:
        given = [f"{source} ({counted(number, 'case')})" for source, number in sorted(sources.items())]
        lines.append(f"contexts given by {', '.join(given)}")
    # Where each claim is a query, a refusal asks for nothing.
    without = bare[False] + (bare[True] if slice_report.contexts_mode != "per-claim" else 0)
    if without:
        lines.append(f"{counted(without, 'case')} without contexts")
    return lines


def retrieval_lines(slice_report: SliceReport) -> list[str]:
    """Returns whose hits were judged together, and what retrieval cost; [] for recorded contexts."""
    if slice_report.contexts_mode == "recorded":
        return []
    pool = sorted({name for report in slice_report.reports for name in report.retrieval.pool})
    lines = []
    if pool and any(report.retrieval.gold for report in slice_report.reports):
        only = "" if len(pool) > 1 else " alone, which says nothing of its recall"
        lines.append(f"r-chunks: of the hits of {', '.join(pool)}{only}")
    times = {step: _times(slice_report, step) for step in ("retrieval", "encode", "search", "fuse", "rerank")}
    if times["retrieval"]:
        steps = [f"{step} {time}" for step, time in times.items() if time and step != "retrieval"]
        apart = f" ({', '.join(steps)})" if steps else ""
        lines.append(f"retrieval in {times['retrieval']} ms at p50 / p95{apart}")
    size = slice_report.metrics.get("index_bytes")
    if size is not None and size.value is not None:
        lines.append(
            f"index: {size.value / 1e6:,.1f} MB" if size.value >= 1e5 else f"index: {size.value:,.0f} bytes"
        )
    return lines + [
        f"{name} by {index_text(index)}" for name, index in _indexes(slice_report.reports).items()
    ]


def _indexes(reports: Iterable[Report]) -> dict[str, VectorIndex]:
    return {name: index for report in reports for name, index in report.retrieval.indexes.items()}


def llm_lines(slice_report: SliceReport) -> list[str]:
    """Returns what the teacher was asked for a slice, what that cost, and what it left unanswered."""
    return use_lines(llm_use(slice_report.reports))


def _times(slice_report: SliceReport, step: str) -> str:
    """Returns `3.1 / 4.0`, the median and the 95th percentile of a step in ms; "" where it was not timed."""
    found = [slice_report.metrics.get(f"{step}_p{percent}") for percent in (50, 95)]
    values = [metric.value for metric in found if metric is not None and metric.value is not None]
    return " / ".join(f"{value:.1f}" for value in values)


def _safety_findings(slice_report: SliceReport) -> str:
    """Returns `2 dose, 1 triage`: how many findings each kind of safety rule made."""
    kinds = safety_tallies(slice_report.reports)
    return ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))


def _each(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in numbers.items())


def measured_over(slice_report: SliceReport) -> list[str]:
    """Returns a line for columns that count only some cases, and a line for each metric of the project."""
    cases = len(slice_report.reports)
    fewer: dict[int, list[str]] = {}
    for column, name in card_columns([slice_report]).items():
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
    """Returns `hallucination <= 0.05: 0.071`; with `verbose`, or where it did not pass, with its message."""
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
