"""The text of a failure: each claim that the evidence does not carry, with the evidence nearest to it and what clashes."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence

from pytest_medfaith.cards.wording import clip, counted, decimals
from pytest_medfaith.metrics.safety import SAFETY_PREFIX, breaks_safety_rule
from pytest_medfaith.plain import one_line, plain_lines
from pytest_medfaith.records import Chunk, Finding, Report, Verdict

_SENTENCE = 400  # characters of evidence shown; a longer span is a window, not a sentence
_NARROWEST = 30


def evidence_chunk(verdict: Verdict, report: Report) -> Chunk | None:
    """Returns the context that decided `verdict`, None where none did."""
    return next((chunk for chunk in report.response.contexts if chunk.id == verdict.chunk_id), None)


def spanned(text: str, span: tuple[int, int] | None) -> str:
    """Returns the piece of `text` at `span`, empty where there is no span or it lies outside."""
    if span is None or not 0 <= span[0] < span[1] <= len(text):
        return ""
    return text[span[0] : span[1]]


def claim_account(verdict: Verdict, report: Report, *, width: int = 80) -> str:
    """Returns why `verdict` fell as it did: claim, score and threshold, the best chunk and its best sentence, the rules that fired."""
    chunk = evidence_chunk(verdict, report)
    lines = [
        filled(one_line(verdict.claim.text), width, first=f"{verdict.label.upper():<11} ", rest=" " * 12)
    ]
    lines.append(filled(_score_text(verdict), width))
    if chunk is not None:
        lines.append(
            filled(" · ".join(filter(None, [f"evidence: {chunk.id}", one_line(chunk.title)])), width)
        )
        lines += [plain_lines(f"    {one_line(chunk.url)}")] * bool(chunk.url)
        sentence = spanned(chunk.text, verdict.span) or chunk.text
        lines.append(filled(f'"{clip(sentence, _SENTENCE)}"', width, first="    > ", rest="      "))
    lines += [filled(_finding_text(finding, verdict, report), width) for finding in verdict.findings]
    if verdict.conflict:
        lines.append(filled(_conflict_text(verdict), width))
    return "\n".join(lines)


def filled(text: str, width: int, *, first: str = "    ", rest: str = "    ") -> str:
    """Returns `text` in lines of at most `width` columns, or of 30 where that is less; words are never broken.

    Control characters are left out, and no line begins with what a CI server takes for a command.
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


def _score_text(verdict: Verdict) -> str:
    if verdict.label == "unscored":
        return f"no score: {one_line(verdict.reason) or 'the checker gave none'}"
    side = "contradict" if verdict.label == "refuted" else "entail"
    score = f"{side} score {decimals(verdict.score)}, threshold {decimals(verdict.threshold)}"
    return f"{score}: {one_line(verdict.reason)}" if verdict.reason else score


def _finding_text(finding: Finding, verdict: Verdict, report: Report) -> str:
    name = finding.chunk_id or verdict.chunk_id
    chunk = next((chunk for chunk in report.response.contexts if chunk.id == name), None)
    claimed = one_line(spanned(verdict.claim.text, finding.claim_span))
    found = one_line(spanned(chunk.text, finding.evidence_span)) if chunk else ""
    words = f' (claim "{claimed}", evidence "{found}")' if claimed and found else ""
    return f"rule {finding.rule}: {one_line(finding.message)}{words}"


def _conflict_text(verdict: Verdict) -> str:
    if verdict.label == "refuted":
        return f"conflict: supported by {', '.join(verdict.supporting)}"
    return "conflict: another chunk says the opposite"


def faithfulness_account(reports: Sequence[Report], *, most: int | None = 5, width: int = 80) -> str:
    """Returns the claims of `reports` that their contexts refute or do not support, worst first, with their evidence.

    Refuted claims come first, the surest first; then the unsupported, the farthest from support first.

    Args:
        reports: one or more cases.
        most: how many claims are told in full; None tells all.
        width: columns of the terminal.
    """
    blocks = [
        _placed(report, claim_account(verdict, report, width=width), width)
        for report, verdict in worst_verdicts(reports)
    ]
    return told(filled(_tally(reports), width, first="", rest="  "), blocks, most=most)


def told(heading: str, blocks: Sequence[str], *, most: int | None) -> str:
    """Returns `heading` and the first `most` blocks, or all where that is None, with a word on how many are left out."""
    shown = blocks[:most]
    more = [f"... and {len(blocks) - len(shown)} more (-v shows all)"] if len(shown) < len(blocks) else []
    return "\n\n".join([heading, *shown, *more])


def _placed(report: Report, text: str, width: int) -> str:
    """Returns `text` under the case that it is of, where that has a name or a question."""
    place = (
        [filled(_case_text(report), width, first="", rest="  ")]
        if report.case.id or report.case.question
        else []
    )
    return "\n".join([*place, text])


def worst_verdicts(reports: Sequence[Report]) -> list[tuple[Report, Verdict]]:
    """Returns (report, verdict) of every refuted claim by falling score, then of every unsupported one by rising score."""
    failed = [
        (report, verdict)
        for report in reports
        for verdict in report.verdicts
        if verdict.label in ("refuted", "unsupported")
    ]
    return sorted(
        failed, key=lambda pair: (0, -pair[1].score) if pair[1].label == "refuted" else (1, pair[1].score)
    )


def safety_account(reports: Sequence[Report], *, most: int | None = 5, width: int = 80) -> str:
    """Returns the claims of `reports` that break a safety rule, in their order, with rule, source and verdict; arguments as above."""
    unsafe = [
        (report, verdict) for report in reports for verdict in report.verdicts if breaks_safety_rule(verdict)
    ]
    total = counted(sum(len(report.verdicts) for report in reports), "claim")
    heading = f"{len(unsafe)} of {total} {'breaks' if len(unsafe) == 1 else 'break'} a safety rule"
    return told(
        heading,
        [_placed(report, _unsafe_text(verdict, report, width), width) for report, verdict in unsafe],
        most=most,
    )


def _unsafe_text(verdict: Verdict, report: Report, width: int) -> str:
    lines = [filled(one_line(verdict.claim.text), width, first="UNSAFE      ", rest=" " * 12)]
    if verdict.label != "unscored":
        lines.append(
            filled(
                f"{verdict.label} by the evidence {verdict.chunk_id}".replace(
                    "unsupported by", "not supported by"
                ),
                width,
            )
        )
    broken = [finding for finding in verdict.findings if finding.rule.startswith(SAFETY_PREFIX)]
    return "\n".join(lines + [filled(_finding_text(finding, verdict, report), width) for finding in broken])


def _case_text(report: Report) -> str:
    """Returns the case's id and question; where the case says that it is private, as those of patients do, the id alone."""
    question = "" if report.case.meta.get("private") else clip(report.case.question, 160)
    return ": ".join(filter(None, [f"case {report.case.id}" if report.case.id else "", question]))


def _tally(reports: Sequence[Report]) -> str:
    labels = Counter(verdict.label for report in reports for verdict in report.verdicts)
    total = sum(labels.values())
    failed = labels["refuted"] + labels["unsupported"]
    kinds = f"{labels['refuted']} refuted, {labels['unsupported']} unsupported"
    text = f"{failed} of {counted(total, 'claim')} not supported by the evidence: {kinds}"
    if labels["unscored"]:
        text += f"; {labels['unscored']} unscored"
    abstained = sum(report.abstained for report in reports)
    return f"{text}; {counted(abstained, 'refusal')}" if abstained else text


def unchecked_account(reports: Sequence[Report], *, width: int = 80) -> str:
    """Returns the words of `reports` that no claim checks, each with its reason, by case with their share of the answer's words."""
    cases = [report for report in reports if report.dropped]
    told_of = f"{counted(sum(len(report.dropped) for report in cases), 'piece')} of {counted(len(cases), 'answer')} not checked"
    return told(
        told_of, [_placed(report, _unchecked_text(report, width), width) for report in cases], most=None
    )


def _unchecked_text(report: Report, width: int) -> str:
    share = f"{decimals(report.metrics.get('unchecked_share', 0.0))} of the answer's words"
    pieces = [
        filled(f"{clip(piece.text, _SENTENCE)} ({piece.reason})", width, first="UNCHECKED   ", rest=" " * 12)
        for piece in report.dropped
    ]
    return "\n".join([*pieces, filled(share, width)])


def recall_account(reports: Sequence[Report], *, most: int | None = 5, width: int = 80) -> str:
    """Returns the key gold claims that the answers of `reports` do not make, and whether the evidence held them; arguments as above."""
    missed = [pair for report in reports for pair in _missed_gold(report)]
    keys = sum(gold.key for report in reports for gold in report.case.gold_claims)
    blocks = [
        _placed(report, filled(text, width, first="MISSED      ", rest=" " * 12), width)
        for report, text in missed
    ]
    return told(f"{len(missed)} of {counted(keys, 'key gold claim')} not in the answer", blocks, most=most)


def _missed_gold(report: Report) -> list[tuple[Report, str]]:
    golds, entailed = report.case.gold_claims, report.entailments
    said = (False,) * len(golds) if report.abstained else entailed.answer_gold
    held = [any(row) for row in entailed.chunk_gold] or [False] * len(golds)
    return [
        (report, f"{one_line(gold.text)} ({'the evidence holds it' if holds else 'nor in the evidence'})")
        for gold, says, holds in zip(golds, said, held, strict=False)
        if gold.key and not says
    ]
