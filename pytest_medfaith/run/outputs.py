"""What a run writes of its judged slice reports: the run folder, the summary of a CI step, properties of JUnit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_medfaith.cards.audit_card import audit_markdown, write_audits
from pytest_medfaith.cards.facts import run_facts
from pytest_medfaith.cards.github import append_step_summary
from pytest_medfaith.cards.junit import slice_properties
from pytest_medfaith.cards.markdown import markdown_card
from pytest_medfaith.cards.run_folder import extra_formats, write_run
from pytest_medfaith.errors import SeveralErrors
from pytest_medfaith.records import SliceReport

if TYPE_CHECKING:
    from pytest_medfaith.audit.results import Audit

_AUDIT_CLAIMS_SHOWN = 5  # of each kind, in the summary of a step


def write_run_folder(
    reports: Sequence[SliceReport],
    *,
    folder: Path,
    signature: Mapping[str, Any],
    audits: Mapping[str, Audit],
    root: Path,
    formats: Sequence[str],
    lost: list[str],
) -> list[str]:
    """Writes the folder of --medfaith-report, and returns the note that says where it is.

    Args:
        reports: with their gates judged.
        folder: of the run.
        signature: what made the run.
        audits: by title.
        root: of the project, whose commit the page names.
        formats: dotted names of the project's report formats.
        lost: takes a message for each of these formats that could not be written; the other files are there all the same.

    Raises:
        DataError: the folder cannot be written, or a value has no JSON.
    """
    lost += write_run(
        folder,
        reports,
        signature=signature,
        facts=run_facts(root, now=datetime.now(tz=timezone.utc)),
        extra=extra_formats(formats),
    )
    if audits:
        write_audits(folder, audits)
    return [f"run folder: {folder}"]


def refuse_lost_formats(_reports: Sequence[SliceReport], *, lost: Sequence[str]) -> list[str]:
    """Says which report formats of the project could not be written. There is no note.

    Raises:
        SeveralErrors: a format is lost.
    """
    if lost:
        raise SeveralErrors(lost)
    return []


def write_step_summary(reports: Sequence[SliceReport], *, audits: Mapping[str, Audit]) -> list[str]:
    """Adds the card to the summary of the step on GitHub Actions; elsewhere nothing is written. There is no note."""
    told = "\n" + audit_markdown(audits, most=_AUDIT_CLAIMS_SHOWN) if audits else ""
    append_step_summary(markdown_card(reports) + told)
    return []


def add_junit_properties(
    reports: Sequence[SliceReport], *, add_property: Callable[[str, object], None]
) -> list[str]:
    """Gives the properties of each slice to pytest's JUnit report. There is no note."""
    for report in reports:
        for name, value in slice_properties(report):
            add_property(name, value)
    return []
