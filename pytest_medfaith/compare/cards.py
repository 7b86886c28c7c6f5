"""Shows two runs side by side in the terminal, as Markdown and as a page."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from pytest_medfaith.cards.explanation import explain_claim
from pytest_medfaith.cards.html import render_page
from pytest_medfaith.cards.markdown import escaped, folded, markdown_table
from pytest_medfaith.cards.summary import COLUMNS, RARE_COLUMNS, RETRIEVAL_COLUMNS, gate_tally, run_label
from pytest_medfaith.cards.terminal import set_table
from pytest_medfaith.cards.wording import NOTHING, clip, counted, metric_text
from pytest_medfaith.compare.runs import CaseChange, MetricChange, RunChange, SliceChange
from pytest_medfaith.gates.paired import ALPHA
from pytest_medfaith.gates.regressions import Regression
from pytest_medfaith.plain import one_line, plain_lines
from pytest_medfaith.records import VERDICTS, SliceReport

SHOWN = 5
_HEADER = ("metric", "before", "after", "change", "p")
_NOTE = (
    "In brackets: behind a value its 95 % interval, behind a change its 90 % interval. "
    "p: paired permutation test over cases, two-sided, Holm-corrected over the metrics of the slice."
)
_TITLES = {name: column for column, name in {**COLUMNS, **RETRIEVAL_COLUMNS, **RARE_COLUMNS}.items()}


def terminal_change(change: RunChange, *, most: int | None = SHOWN, width: int = 80) -> str:
    """Returns the comparison as the terminal shows it.

    Args:
        change: the two runs.
        most: how many cases and claims of each slice are shown; None shows all.
        width: columns of the terminal.
    """
    blocks = ["\n".join([*_names(change), *_set_up(change)])]
    for one in change.slices:
        blocks.append("\n".join([f"{slice_title(one)}:", *map(one_line, _facts(one))]))
        blocks.append(set_table(_HEADER, metric_rows(one)))
        parts = (_case_lines(one, most), _better_lines(one, most), _gone_lines(one, most))
        blocks += ["\n".join(lines) for lines in parts if lines]
        blocks += _worse_blocks(one, most=most, width=width)
    blocks += _alone(change)
    hint = "" if most is None else " --verbose tells every case and claim."
    return plain_lines("\n\n".join([*blocks, *([_NOTE + hint] if change.slices else [])]))


def markdown_change(change: RunChange, *, most: int | None = SHOWN) -> str:
    """Returns the comparison as Markdown, claims folded away below; arguments as in `terminal_change`."""
    old, new = map(escaped, change.names)
    blocks = [f"### medfaith: {old} → {new}", "  \n".join(map(escaped, _names(change)))]
    if set_up := _set_up(change):
        differences = [f"- {escaped(line.strip())}" for line in set_up[1:]]
        blocks.append("\n".join([f"**{escaped(set_up[0])}**", "", *differences]))
    for one in change.slices:
        blocks += [
            f"**{escaped(slice_title(one))}**",
            "  \n".join(map(escaped, _facts(one))),
            markdown_table(_HEADER, metric_rows(one)),
        ]
        lines = [
            *_case_lines(one, most),
            *_better_lines(one, most),
            *_gone_lines(one, most),
            *_worse_blocks(one, most=most, width=100),
        ]
        if lines:
            cases = f"{counted(len(one.cases), 'case')} with other {_judged(one)}"
            claims = f", {counted(len(one.worse), 'claim')} worse, {len(one.better)} better"
            blocks.append(folded(cases + claims * _has_answers(one), "\n".join(lines)))
    blocks += [escaped(line) for line in _alone(change)]
    return "\n\n".join([*blocks, f"<sub>{_NOTE}</sub>"]) + "\n"


def html_change(change: RunChange) -> str:
    """Returns the comparison as a page that needs no network and shows every case and claim.

    Raises:
        MissingExtra: jinja2 is not installed.
    """
    slices = [
        {
            "title": slice_title(one),
            "facts": _facts(one),
            "rows": list(zip(metric_rows(one), map(_tone, one.metrics), strict=True)),
            "cases": [
                (case.after.case.id, case.after.case.question, case_counts(case)) for case in one.cases
            ],
            "worse": [_claim_row(claim) for claim in one.worse],
            "better": _better_lines(one, None)[1:],
            "gone": _gone_lines(one, None)[1:],
        }
        for one in change.slices
    ]
    return render_page(
        "compare.html.j2",
        names=change.names,
        gates=_names(change),
        set_up=_set_up(change),
        header=_HEADER,
        slices=slices,
        alone=_alone(change),
        note=_NOTE,
    )


def slice_title(change: SliceChange) -> str:
    """Returns the label of a slice's row in the comparison; both labels where they differ."""
    checkers = change.before.checker != change.after.checker
    old, new = (run_label(report, checker=checkers) for report in (change.before, change.after))
    return old if old == new else f"{old} → {new}"


def metric_rows(change: SliceChange) -> list[list[str]]:
    """Returns the cells of the table, a row for each metric."""
    return [
        [
            _TITLES.get(metric.name, metric.name),
            metric_text(metric.before, interval=True),
            metric_text(metric.after, interval=True),
            change_text(metric),
            NOTHING if metric.p is None else "<0.001" if metric.p < 0.001 else f"{metric.p:.3f}",
        ]
        for metric in change.metrics
    ]


def direction(metric: MetricChange) -> str:
    """Returns "better", "worse" or "same": how the metric changed."""
    compared = metric.comparison
    if compared is None or compared.worse_by == 0:
        return "same"
    return "worse" if compared.worse_by > 0 else "better"


def _tone(metric: MetricChange) -> str:
    """Returns the CSS class of a cell: coloured where chance alone does not explain the change."""
    return direction(metric) if metric.p is not None and metric.p <= ALPHA else "same"


def change_text(metric: MetricChange) -> str:
    """Returns `+0.05 [+0.02, +0.08] worse`, `same`, or `-` where there is nothing to compare."""
    compared = metric.comparison
    if compared is None:
        return NOTHING
    if direction(metric) == "same":
        return "same"
    sign = 1 if compared.metric.direction == "lower" else -1
    low, high = sorted((sign * compared.low, sign * compared.high))
    bounds = f" [{low:+.2f}, {high:+.2f}]" if math.isfinite(high - low) else ""
    return f"{sign * compared.worse_by:+.2f}{bounds} {direction(metric)}"


def case_counts(case: CaseChange) -> str:
    """Returns what differs in a case: `supported 3 → 2, refuted 0 → 1`, or `2 of 5 hits are other`."""
    if not case.after.has_answer:
        before = {hit.chunk.id for hit in case.before.hits}
        others = sum(hit.chunk.id not in before for hit in case.after.hits)
        return (
            f"{others} of {counted(len(case.after.hits), 'hit')} new"
            if others
            else "in another order, or fewer"
        )
    old, new = (
        Counter[str](verdict.label for verdict in report.verdicts) for report in (case.before, case.after)
    )
    steps = [f"{label} {old[label]} → {new[label]}" for label in VERDICTS if old[label] != new[label]]
    if case.before.abstained != case.after.abstained:
        steps.append("now a refusal" if case.after.abstained else "no refusal any more")
    return ", ".join(steps)


def _names(change: RunChange) -> list[str]:
    """Returns the names of the runs, each with its gates in short."""
    reports: tuple[list[SliceReport], ...] = (
        [*(one.before for one in change.slices), *change.only_before],
        [*(one.after for one in change.slices), *change.only_after],
    )
    return [
        f"{when:<6} {name}" + (f": {tally}" if (tally := gate_tally(run)) else "")
        for when, name, run in zip(("before", "after"), change.names, reports, strict=True)
    ]


def _set_up(change: RunChange) -> list[str]:
    if not change.signature:
        return []
    differences = [f"  {line}" for line in change.signature]
    return ["The set-ups differ, so a difference below may be theirs:", *differences]


def _facts(change: SliceChange) -> list[str]:
    both = counted(len(change.before.reports), "case")
    changed = counted(len(change.cases), "case")
    lines = [f"{both} in both, {changed} with other {_judged(change)}"]
    lines[0] += f", {change.reworded} only reworded" * _has_answers(change)
    for when, ids in (("before", change.only_before), ("after", change.only_after)):
        lines += [f"only {when}: {clip(', '.join(ids), 200)}"] * bool(ids)
    return lines


def _has_answers(change: SliceChange) -> bool:
    return change.after.contexts_mode != "none"


def _judged(change: SliceChange) -> str:
    return "verdicts" if _has_answers(change) else "hits"


def _case_lines(change: SliceChange, most: int | None) -> list[str]:
    if not change.cases:
        return []
    lines = [f"  {one_line(case.after.case.id)}  {case_counts(case)}" for case in change.cases[:most]]
    order = ", worst first" * _has_answers(change)
    heading = f"{counted(len(change.cases), 'case')} with other {_judged(change)}{order}:"
    return [heading, *lines, *_more(change.cases, most)]


def _better_lines(change: SliceChange, most: int | None) -> list[str]:
    if not change.better:
        return []
    lines = [f"{counted(len(change.better), 'claim')} turned for the better:"]
    for claim in change.better[:most]:
        steps = f"{claim.verdict.label} → {claim.before}"
        now = f"; now: {clip(claim.text_before, 160)}" if claim.text_before else ""
        lines.append(f"  {one_line(claim.report.case.id)}  {steps}: {_text(claim)}{now}")
    return lines + _more(change.better, most)


def _gone_lines(change: SliceChange, most: int | None) -> list[str]:
    """Returns lines on bad claims that the later run no longer makes.

    They are no gain by themselves: what was said in their place may be no better.
    """
    if not change.gone:
        return []
    claims = f"{counted(len(change.gone), 'claim')} not supported before"
    lines = [f"{claims} {'is' if len(change.gone) == 1 else 'are'} not made any more:"]
    lines += [
        f"  {one_line(claim.report.case.id)}  {claim.verdict.label}: {_text(claim)}"
        for claim in change.gone[:most]
    ]
    return lines + _more(change.gone, most)


def _text(claim: Regression) -> str:
    return clip(claim.verdict.claim.text, 160)


def _worse_blocks(change: SliceChange, *, most: int | None, width: int) -> list[str]:
    if not change.worse:
        return []
    claims = counted(len(change.worse), "claim")
    blocks = [f"{claims} turned for the worse or new and not supported, worst first:"]
    blocks += ["\n".join(_claim_row(claim, width=width)) for claim in change.worse[:most]]
    return [*blocks, *_more(change.worse, most)]


def _claim_row(claim: Regression, *, width: int = 100) -> tuple[str, str]:
    """Returns (case id and earlier label, explanation) of a claim that got worse or better."""
    was = f"was {claim.before}" if claim.before else "new"
    if claim.text_before:
        was += f" as: {clip(claim.text_before, 160)}"
    place = f"case {one_line(claim.report.case.id)} ({was})"
    return place, explain_claim(claim.verdict, claim.report, width=width)


def _more(items: Sequence[object], most: int | None) -> list[str]:
    left = 0 if most is None else len(items) - most
    return [f"... and {left} more"] if left > 0 else []


def _alone(change: RunChange) -> list[str]:
    return [
        f"only {when}: {run_label(report, checker=True)}"
        for when, reports in (("before", change.only_before), ("after", change.only_after))
        for report in reports
    ]
