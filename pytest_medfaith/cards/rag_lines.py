"""What a card says where the reference RAG answered, so that nobody takes its answers for their own RAG's."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_medfaith.cards.wording import counted
from pytest_medfaith.rag.account import Account, account_of
from pytest_medfaith.records import Report, SliceReport
from pytest_medfaith.records.stored import once


def rag_lines(slice_report: SliceReport) -> list[str]:
    """Returns warnings that the reference RAG answered, and what it dropped; [] where it did not.

    A further warning says where the judging checker had a part in making the answers.
    """
    known = _accounts(slice_report.reports)
    if not known:
        return []
    kinds = sorted({f"{account.mode}, {account.generator}" for account in known})
    cases = counted(len(slice_report.reports), "case")
    whose = f"of {len(known)} of {cases}" if len(known) < len(slice_report.reports) else f"of {cases}"
    warning = (
        f"WARNING: the answers {whose} are by the reference RAG of medfaith ({'; '.join(kinds)}), and no RAG "
        "of yours was measured; give its answers (responses of the slice, or the fixture medfaith_rag)"
    )
    lines = [warning]
    told = _told(known)
    lines += [f"reference RAG: {'; '.join(told)}"] if told else []
    if any(account.checker and account.checker == slice_report.checker for account in known):
        lines.append(
            f"WARNING: the checker {slice_report.checker} judges answers of which it had dropped what it "
            "does not support, so its faithfulness says nothing; judge them by another checker"
        )
    return lines


@once
def _accounts(reports: Sequence[Report]) -> list[Account]:
    return [account for report in reports if (account := account_of(report.response))]


def _told(known: Sequence[Account]) -> list[str]:
    dropped = sum(len(account.dropped) for account in known)
    answers = sum(bool(account.dropped) for account in known)
    told = [f"{counted(dropped, 'sentence')} dropped in {counted(answers, 'answer')}"] * bool(dropped)
    low = sum(
        account.confidence is not None
        and account.threshold is not None
        and account.confidence < account.threshold
        for account in known
    )
    told += [f"{counted(low, 'answer')} withheld below the confidence threshold"] * bool(low)
    assigned = sum(len(account.assigned) for account in known)
    return told + [f"{counted(assigned, 'sentence')} with an assigned citation"] * bool(assigned)
