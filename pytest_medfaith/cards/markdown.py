"""The card as Markdown, for a pull request or a step summary."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_medfaith.cards.citations import explain_citations
from pytest_medfaith.cards.explanation import explain_faithfulness, explain_safety
from pytest_medfaith.cards.summary import (
    card_header,
    card_rows,
    count_lines,
    count_slice,
    gate_tally,
    gate_text,
    many_checkers,
    measured_over,
    run_label,
)
from pytest_medfaith.cards.wording import counted
from pytest_medfaith.metrics.citations import is_miscited
from pytest_medfaith.plain import one_line, plain_lines
from pytest_medfaith.records import SliceReport

# What would start a link, an HTML tag, a character reference, emphasis, code or a table cell. All else stays,
# so that the file is readable as it is.
_SPECIAL = re.compile(
    r"[\\`*~|$]|\](?=[(\[:])|<(?=[A-Za-z/!?])|&(?=#?\w+;)|:(?=//)|(?<=\bwww)\.|(?<!\w)_|_(?!\w)"
)
# GitHub notifies a user or a team whose name follows an @, and no backslash keeps it from that.
_MENTION = re.compile(r"(?<!\w)@(?=\w)")
_MARKS = {"pass": "✅ pass", "fail": "❌ **fail**", "inconclusive": "❔ inconclusive"}


def markdown_card(slice_reports: Sequence[SliceReport], *, most: int | None = 5) -> str:
    """Returns the card as Markdown: a table with intervals, gates, counts, and the worst claims folded away.

    Args:
        slice_reports: the rows.
        most: how many claims are explained for each slice; None explains all.
    """
    if not slice_reports:
        return "### medfaith\n\nNo slice was evaluated.\n"
    tally = gate_tally(slice_reports)
    blocks = [
        f"### medfaith: {tally}" if tally else "### medfaith",
        markdown_table(card_header(slice_reports), card_rows(slice_reports, intervals=True)),
    ]
    checkers = many_checkers(slice_reports)
    for report in slice_reports:
        blocks += [f"**{escaped(run_label(report, checker=checkers))}**"] * (len(slice_reports) > 1)
        gates = [
            f"- {_MARKS[gate.outcome]} " + "  \n  ".join(map(escaped, gate_text(gate).splitlines()))
            for gate in report.gates
        ]
        blocks += ["\n".join(gates)] * bool(gates)
        blocks.append("  \n".join(map(escaped, [*count_lines(report), *measured_over(report)])))
        blocks += _folded_claims(report, most)
    footer = f"<sub>checker: {escaped(slice_reports[0].checker)}; intervals at 95 %</sub>"
    return plain_lines("\n\n".join([*blocks, *[footer] * (not checkers)])) + "\n"


def escaped(text: str) -> str:
    """Returns `text` on one line, escaped so that Markdown shows it as it is and mentions nobody."""
    return _MENTION.sub("@&#8203;", _SPECIAL.sub(r"\\\g<0>", one_line(text)))


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns the table, its cells escaped."""
    from tabulate import tabulate

    cells = [[escaped(cell) for cell in row] for row in rows]
    return tabulate(cells, headers=header, tablefmt="github", disable_numparse=True)


def _folded_claims(slice_report: SliceReport, most: int | None) -> list[str]:
    reports = slice_report.reports
    blocks = []
    counts = count_slice(slice_report)
    if unsafe := counts.unsafe:
        explanation = explain_safety(reports, most=most, width=100)
        blocks.append(folded(counted(unsafe, "unsafe claim"), explanation))
    if failed := counts.refuted + counts.unsupported:
        explanation = explain_faithfulness(reports, most=most, width=100)
        blocks.append(folded(f"{counted(failed, 'claim')} not supported by the evidence", explanation))
    wrong = sum(is_miscited(verdict) for report in reports for verdict in report.verdicts)
    if wrong:
        explanation = explain_citations(reports, most=most, width=100)
        blocks.append(folded(f"{counted(wrong, 'claim')} with a citation that does not say so", explanation))
    return blocks


def folded(summary: str, text: str) -> str:
    """Returns `text` in a code block of Markdown that opens on a click on `summary`.

    `summary` goes in as it is: no mark in it is made harmless. The hint " (-v shows all)" is left out.
    """
    text = plain_lines(text).replace(" (-v shows all)", "")
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"<details><summary>{summary}</summary>\n\n{fence}text\n{text}\n{fence}\n\n</details>"
