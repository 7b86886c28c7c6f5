"""Cases that measure nothing, such as an empty answer; they fail, so that other cases do not hide them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pytest_medfaith.errors import first_names

if TYPE_CHECKING:
    from pytest_medfaith.records import Report

WHY_FAILED = "why_failed"  # the key of a response's `meta` that says why its answer is empty


def failure_of(report: Report, *, needs_contexts: bool = True) -> str:
    """Returns why a case counts as failed whatever its numbers say; "" where it does not.

    An empty answer is no refusal, and an answer without a checkable claim answers nothing. Claims without
    contexts were never checked, unless the settings allow it (`contexts = "optional"`). A refusal needs no
    contexts. Where only the retriever was asked, nothing can fail.
    """
    if not report.has_answer:
        return ""
    if not report.response.answer.strip():
        why = report.response.meta.get(WHY_FAILED)
        return why if isinstance(why, str) and why else "the answer is empty"
    if report.abstained:
        return ""
    if not report.verdicts:
        return "the answer makes no checkable claim"
    if needs_contexts and not report.response.contexts and not report.contexts_optional:
        return "there are no contexts, so nothing was checked"
    return ""


def failed_cases(reports: Iterable[Report], *, needs_contexts: bool = True) -> dict[str, str]:
    """Returns {case id: why} of the cases that failed, in the order of the reports."""
    return {
        report.case.id: why
        for report in reports
        if (why := failure_of(report, needs_contexts=needs_contexts))
    }


def failures_told(failed: dict[str, str], *, of: int) -> str:
    """Returns `2 of 5 cases failed: iron (the answer is empty), gout (the answer is empty)`."""
    names = first_names([f"{name} ({why})" if name else why for name, why in failed.items()])
    return f"{len(failed)} of {of} {'case' if of == 1 else 'cases'} failed: {names}"
