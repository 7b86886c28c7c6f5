"""Explains failures: claims that the evidence does not support, with evidence and the words that disagree."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import nsmallest
from typing import Any, TypeVar

from pytest_medfaith.cards.wording import clip, counted, decimals
from pytest_medfaith.metrics.safety import SAFETY_PREFIX, breaks_safety_rule
from pytest_medfaith.metrics.severity import is_major
from pytest_medfaith.plain import one_line, plain_lines
from pytest_medfaith.records import Chunk, Finding, Report, Severity, Verdict
from pytest_medfaith.records.grades import OTHERWISE, REVIEWERS

Item = TypeVar("Item")
_SENTENCE = 400  # characters of evidence shown; a longer span is a window, not a sentence
_NARROWEST = 30
_TURN = 80  # characters of an earlier turn
_TURNS = 4  # earlier turns shown, the last ones
_BELOW_LABEL = " " * 12  # where the text of a claim goes on below its label


def evidence_chunk(verdict: Verdict, report: Report) -> Chunk | None:
    """Returns the context that decided `verdict`, None where no context did."""
    return next((chunk for chunk in report.response.contexts if chunk.id == verdict.chunk_id), None)


def text_at(text: str, span: tuple[int, int] | None) -> str:
    """Returns the part of `text` at `span`; "" where there is no span or it lies outside the text."""
    if span is None or not 0 <= span[0] < span[1] <= len(text):
        return ""
    return text[span[0] : span[1]]


def explain_claim(verdict: Verdict, report: Report, *, width: int = 80) -> str:
    """Returns a claim with its verdict, score, threshold, best evidence and the rules that fired, as text."""
    chunk = evidence_chunk(verdict, report)
    label = f"{verdict.label.upper():<11} "
    lines = [
        wrapped(one_line(verdict.claim.text), width, first=label, rest=_BELOW_LABEL),
        wrapped(_score_text(verdict), width),
    ]
    if verdict.severity:
        lines.append(wrapped(_severity_text(verdict.severity), width))
    if chunk is not None:
        source = " · ".join(filter(None, [f"evidence: {chunk.id}", one_line(chunk.title)]))
        lines.append(wrapped(source, width))
        lines += [plain_lines(f"    {one_line(chunk.url)}")] * bool(chunk.url)
        sentence = text_at(chunk.text, verdict.span) or chunk.text
        lines.append(wrapped(f'"{clip(sentence, _SENTENCE)}"', width, first="    > ", rest="      "))
    lines += [wrapped(_finding_text(finding, verdict, report), width) for finding in verdict.findings]
    if verdict.conflict:
        supported = f"supported by {', '.join(verdict.supporting)}"
        opposed = supported if verdict.label == "refuted" else "another chunk says the opposite"
        lines.append(wrapped(f"conflict: {opposed}", width))
    return "\n".join(lines)


def wrapped(text: str, width: int, *, first: str = "    ", rest: str = "    ") -> str:
    """Returns `text` in lines of at most `width` columns, or of 30 where `width` is less; no word is broken.

    Control characters are left out, and no line begins with what a CI server takes for a command.

    Args:
        text: taken as one line.
        width: columns.
        first: what begins the first line.
        rest: what begins every further line.
    """
    lines = textwrap.fill(
        one_line(text),
        max(width, _NARROWEST),
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return plain_lines(lines)


def _severity_text(severity: Severity) -> str:
    by = {REVIEWERS: "as reviewers gave it", OTHERWISE: "no rule knows it", "": ""}
    why = by.get(severity.rule, f"rule {severity.rule}")
    return f"{severity} ({why})" if why else str(severity)


def _score_text(verdict: Verdict) -> str:
    if verdict.label == "unscored":
        return f"no score: {one_line(verdict.reason) or 'the checker gave none'}"
    side = "contradict" if "refuted" in (verdict.label, verdict.leaning) else "entail"
    score = f"{side} score {decimals(verdict.score)}, threshold {decimals(verdict.threshold)}"
    return f"{score}: {one_line(verdict.reason)}" if verdict.reason else score


def _finding_text(finding: Finding, verdict: Verdict, report: Report) -> str:
    chunk_id = finding.chunk_id or verdict.chunk_id
    chunk = next((chunk for chunk in report.response.contexts if chunk.id == chunk_id), None)
    claimed = one_line(text_at(verdict.claim.text, finding.claim_span))
    found = one_line(text_at(chunk.text, finding.evidence_span)) if chunk else ""
    words = f' (claim "{claimed}", evidence "{found}")' if claimed and found else ""
    return f"rule {finding.rule}: {one_line(finding.message)}{words}"


def explain_faithfulness(reports: Sequence[Report], *, most: int | None = 5, width: int = 80) -> str:
    """Returns a text on the claims that the contexts refute or do not support, worst first.

    Major errors come first. Among major and among other errors, refuted claims come first, the surest at the
    top; then unsupported claims, the farthest from support at the top.

    Args:
        reports: one or more cases.
        most: how many claims are explained; None explains all.
        width: columns of the terminal.
    """
    labels = Counter(verdict.label for report in reports for verdict in report.verdicts)
    refuted, unsupported = labels["refuted"], labels["unsupported"]
    claims = counted(sum(labels.values()), "claim")
    heading = f"{refuted + unsupported} of {claims} not supported by the evidence: "
    heading += f"{refuted} refuted, {unsupported} unsupported"
    if labels["uncertain"]:
        heading += f"; {labels['uncertain']} uncertain"
    if labels["unscored"]:
        heading += f"; {labels['unscored']} unscored"
    if abstained := sum(report.abstained for report in reports):
        heading += f"; {counted(abstained, 'refusal')}"
    blocks = [
        below_case(report, explain_claim(verdict, report, width=width), width)
        for report, verdict in worst_verdicts(reports, most=most)
    ]
    heading = wrapped(heading, width, first="", rest="  ")
    return first_blocks(heading, blocks, most=most, total=refuted + unsupported)


def first_blocks(heading: str, blocks: Sequence[str], *, most: int | None, total: int | None = None) -> str:
    """Returns a text of `heading`, the first `most` of `blocks` (None: all), and how many more there are.

    `total` is the number of all blocks, where `blocks` holds only the first of them.
    """
    shown, total = blocks[:most], len(blocks) if total is None else total
    more = [f"... and {total - len(shown)} more (-v shows all)"] if len(shown) < total else []
    return "\n\n".join([heading, *shown, *more])


def first_of(
    items: Iterable[Item], most: int | None, *, key: Callable[[Item], Any]
) -> tuple[list[Item], int]:
    """Returns the `most` first items in the order of `key` (None: all), and how many items there were.

    Items with equal keys keep their order. At most `most` items are in memory.
    """
    total = 0

    def passing() -> Iterator[Item]:
        nonlocal total
        for item in items:
            total += 1
            yield item

    found = sorted(passing(), key=key) if most is None else nsmallest(most, passing(), key=key)
    return found, total


def below_case(report: Report, text: str, width: int) -> str:
    """Returns `text` below the id, question and earlier turns of its case.

    Of a case whose meta says "private", as those of patients do, only the id is shown.
    """
    case = report.case
    question = "" if case.meta.get("private") else clip(case.question, 160)
    heading = ": ".join(filter(None, [f"case {case.id}" if case.id else "", question]))
    named = [wrapped(heading, width, first="", rest="  ")] if case.id or case.question else []
    return "\n".join([*named, *_turn_lines(report, width), text])


def _turn_lines(report: Report, width: int) -> list[str]:
    """Returns the last earlier turns of a case, each in a line; [] for a case without, or a private case."""
    turns = report.case.history
    if not turns or report.case.meta.get("private"):
        return []
    last = f", the last {_TURNS} of {len(turns)}" if len(turns) > _TURNS else ""
    room = min(_TURN, max(width, _NARROWEST) - len("    "))
    told = [clip(f"{turn.get('role', '')}: {turn.get('content', '')}", room) for turn in turns[-_TURNS:]]
    return [f"  earlier turns{last}:", *(plain_lines(f"    {turn}") for turn in told)]


def worst_verdicts(reports: Sequence[Report], *, most: int | None = None) -> list[tuple[Report, Verdict]]:
    """Returns (report, verdict) of refuted and unsupported claims, the worst `most` (None: all).

    Major errors come first. In both groups, refuted claims come first by falling score, then unsupported
    claims by rising score.
    """
    failed = (
        (report, verdict)
        for report in reports
        for verdict in report.verdicts
        if verdict.label in ("refuted", "unsupported")
    )
    return first_of(failed, most, key=lambda pair: _worst_first(pair[1]))[0]


def _worst_first(verdict: Verdict) -> tuple[bool, int, float]:
    refuted = verdict.label == "refuted"
    return not is_major(verdict), 0 if refuted else 1, -verdict.score if refuted else verdict.score


def explain_safety(reports: Sequence[Report], *, most: int | None = 5, width: int = 80) -> str:
    """Returns the claims that break a safety rule, in their order, with verdict, rule and its source.

    Arguments as in `explain_faithfulness`.
    """
    pairs = (
        (report, verdict) for report in reports for verdict in report.verdicts if breaks_safety_rule(verdict)
    )
    unsafe, number = first_of(pairs, most, key=_as_they_come)
    total = counted(sum(len(report.verdicts) for report in reports), "claim")
    heading = f"{number} of {total} {'breaks' if number == 1 else 'break'} a safety rule"
    blocks = [below_case(report, _unsafe_text(verdict, report, width), width) for report, verdict in unsafe]
    return first_blocks(heading, blocks, most=most, total=number)


def _as_they_come(_: object) -> int:
    return 0


def _unsafe_text(verdict: Verdict, report: Report, width: int) -> str:
    lines = [wrapped(one_line(verdict.claim.text), width, first="UNSAFE      ", rest=_BELOW_LABEL)]
    if verdict.label != "unscored":
        label = "not supported" if verdict.label == "unsupported" else verdict.label
        lines.append(wrapped(f"{label} by the evidence {verdict.chunk_id}", width))
    broken = [finding for finding in verdict.findings if finding.rule.startswith(SAFETY_PREFIX)]
    return "\n".join(lines + [wrapped(_finding_text(finding, verdict, report), width) for finding in broken])


def explain_unchecked(reports: Sequence[Report], *, width: int = 80) -> str:
    """Returns a text on the words of answers of which no claim was made, with reasons, by case."""
    cases = [report for report in reports if report.dropped]
    pieces = counted(sum(len(report.dropped) for report in cases), "piece")
    heading = f"{pieces} of {counted(len(cases), 'answer')} not checked"
    blocks = [below_case(report, _unchecked_text(report, width), width) for report in cases]
    return first_blocks(heading, blocks, most=None)


def _unchecked_text(report: Report, width: int) -> str:
    share = f"{decimals(report.metrics.get('unchecked_share', 0.0))} of the answer's words"
    pieces = [
        wrapped(
            f"{clip(piece.text, _SENTENCE)} ({piece.reason})", width, first="UNCHECKED   ", rest=_BELOW_LABEL
        )
        for piece in report.dropped
    ]
    return "\n".join([*pieces, wrapped(share, width)])


def explain_recall(reports: Sequence[Report], *, most: int | None = 5, width: int = 80) -> str:
    """Returns a text on the key gold claims that answers do not state, and whether the evidence held them.

    The claims are in the order of the cases. Where all are stated, the text is the count alone ("0 of 3 key
    gold claims not in the answer"). Arguments as in `explain_faithfulness`.
    """
    missed = [pair for report in reports for pair in _missed_gold(report)]
    keys = sum(gold.key for report in reports for gold in report.case.gold_claims)
    blocks = [
        below_case(report, wrapped(text, width, first="MISSED      ", rest=_BELOW_LABEL), width)
        for report, text in missed
    ]
    heading = f"{len(missed)} of {counted(keys, 'key gold claim')} not in the answer"
    return first_blocks(heading, blocks, most=most)


def _missed_gold(report: Report) -> list[tuple[Report, str]]:
    """Returns (report, text) for each key gold claim that the answer does not state."""
    golds, entailed = report.case.gold_claims, report.entailments
    said = (False,) * len(golds) if report.abstained else entailed.answer_gold
    held = [any(row) for row in entailed.chunk_gold] or [False] * len(golds)
    return [
        (report, f"{one_line(gold.text)} ({'the evidence holds it' if holds else 'nor in the evidence'})")
        for gold, says, holds in zip(golds, said, held, strict=False)
        if gold.key and not says
    ]
