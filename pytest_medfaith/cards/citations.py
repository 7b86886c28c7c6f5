"""What cards say of citations: whether what a claim cites says so, and which other contexts do."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from pytest_medfaith.cards.explanation import below_case, first_blocks, first_of, wrapped
from pytest_medfaith.cards.wording import counted
from pytest_medfaith.plain import one_line
from pytest_medfaith.records import Attribution, Report, Verdict

_NAMED = 3  # contexts in a row
_WRONG = ("contradicted", "nonexistent", "misattributed", "unsupported", "uncited")
_LABELS = (*_WRONG, "uncited")


def citation_text(verdict: Verdict, report: Report) -> str:
    """Returns what a claim cites and whether it says so, as in "cites [2] nih-2, which does not say so".

    "" for an answer that cites nothing.
    """
    told = verdict.attribution
    if told is None:
        return ""
    elsewhere = f"; {_named(told.elsewhere, report)} says it" if told.elsewhere else ""
    if told.status == "uncited":
        return f"cites nothing{_neighbour(verdict, told, report)}{elsewhere}"
    cited = _named(list(dict.fromkeys(name for names in told.cited.values() for name in names)), report)
    unknown = ", ".join(one_line(marker) for marker, names in told.cited.items() if not names)
    if told.status == "nonexistent":
        beside = (
            f"; beside it {cited}, which {'says it' if told.helping else 'does not say so'}" if cited else ""
        )
        return f"cites {unknown}, which is none of the contexts{beside}{elsewhere}"
    all_help = _named(told.helping, report) == cited
    says = {
        "supported": ", which says it" if all_help else f": {_named(told.helping, report)} says it",
        "contradicted": f", which says the opposite{elsewhere}",
        "misattributed": f", which does not say so{elsewhere}",
        "unsupported": ", which does not say so; no other context does",
    }
    return f"cites {cited}{says[told.status]}"


def _neighbour(verdict: Verdict, told: Attribution, report: Report) -> str:
    """Returns what a similar claim beside an uncited claim cites, and whether that says it; "" for none."""
    if not told.assigned:
        return ""
    says = "says it" if set(told.assigned) & set(verdict.supporting) else "does not say it"
    return f"; the more similar neighbour cites {_named(told.assigned, report)}, which {says}"


def _named(names: Sequence[str], report: Report) -> str:
    """Returns `[1] nih-1, [3] nih-3`: contexts by place and id."""
    places = {chunk.id: place for place, chunk in enumerate(report.response.contexts, start=1)}
    shown = [f"[{places.get(name, '?')}] {one_line(name)}" for name in names[:_NAMED]]
    return ", ".join(shown) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def explain_citations(reports: Sequence[Report], *, most: int | None = 5, width: int = 80) -> str:
    """Returns the claims whose citation does not say what they say, the worst first.

    Args:
        reports: one or more cases.
        most: how many claims are explained; None explains all.
        width: columns of the terminal.
    """
    pairs = ((report, verdict, _wrong(verdict, report)) for report in reports for verdict in report.verdicts)
    wrong, number = first_of((one for one in pairs if one[2] is not None), most, key=itemgetter(2))
    blocks = [_block(report, verdict, _LABELS[place or 0], width) for report, verdict, place in wrong]
    total = counted(sum(len(report.verdicts) for report in reports), "claim")
    heading = f"{number} of {total} not supported by what they cite"
    return first_blocks(heading, blocks, most=most, total=number)


def _wrong(verdict: Verdict, report: Report) -> int | None:
    """Returns the place in `_LABELS` of a claim with a wrong or missing citation; None where all is right.

    Claims of answers without any citation have the last place.
    """
    if verdict.attribution is not None:
        status = verdict.attribution.status
        return _WRONG.index(status) if status in _WRONG else None
    return None if any(one.attribution is not None for one in report.verdicts) else len(_WRONG)


def _block(report: Report, verdict: Verdict, status: str, width: int) -> str:
    label = f"{status.upper():<13} "
    claim = wrapped(one_line(verdict.claim.text), width, first=label, rest=" " * len(label))
    return below_case(
        report, "\n".join([claim, wrapped(citation_text(verdict, report) or "cites nothing", width)]), width
    )
