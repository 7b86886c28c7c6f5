"""Notes below the card on what a run passed over, such as recorded answers to unknown cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_medfaith.answers.responses import RECORDED
from pytest_medfaith.cards.wording import counted
from pytest_medfaith.config import SliceSettings
from pytest_medfaith.datasets.registry import read_cases
from pytest_medfaith.errors import first_names
from pytest_medfaith.records import SliceReport
from pytest_medfaith.retrieval.build import asks_stores

if TYPE_CHECKING:
    from pytest_medfaith.run.collected import Collected
    from pytest_medfaith.run.resources import Resources


def notes_on_slices(resources: Resources, collected: Collected, reports: Sequence[SliceReport]) -> list[str]:
    """Returns a line for each thing that a run passed over.

    Such are a k above the size of the corpus, answers that belong to no case, and cases that were left out.

    Args:
        resources: of the run.
        collected: what was expected, which knows how many cases a slice has.
        reports: of the slices, with their gates judged.
    """
    configured = resources.settings.slices
    lines = [*_notes_on_ablations(reports)]
    lines += [
        line
        for report in reports
        if report.slice in configured
        for line in _notes_on_slice(resources, collected, report, configured[report.slice])
    ]
    return list(dict.fromkeys(lines))  # the rows of an ablation would say some of them again


def _notes_on_ablations(reports: Sequence[SliceReport]) -> Iterator[str]:
    """Yields a line for each slice that compares retrievers though its recorded answers used none of them."""
    retrievers: dict[str, set[str]] = {}
    for report in reports:
        froms = {one.response.contexts_from for one in report.reports}
        if report.contexts_mode == "recorded" and froms == {RECORDED}:
            retrievers.setdefault(report.slice, set()).add(report.retriever)
    for name, compared in retrievers.items():
        if len(compared) > 1:
            yield (
                f"slice {name!r}: answers and contexts are recorded, so {', '.join(sorted(compared))} differ "
                "only in what ranks their hits; contexts = 'retrieved' judges the claims by what each finds"
            )


def _notes_on_slice(
    resources: Resources, collected: Collected, report: SliceReport, settings: SliceSettings
) -> Iterator[str]:
    """Yields the notes on a slice report; see `notes_on_slices`."""
    from pytest_medfaith.retrieval.notes import notes_on

    searched = bool(settings.corpus) and any(one.hits for one in report.reports)
    if searched or asks_stores(report.retriever, resources.retrieval):
        held = len(resources.chunks(settings)) if settings.corpus else 0
        if 0 < held < report.k:
            yield (
                f"slice {report.slice!r}: k is {report.k} and its corpus holds {counted(held, 'chunk')}, so "
                "each question is given all of them at most"
            )
        for note in notes_on(report.retriever, resources.retrieval, size=held):
            yield f"slice {report.slice!r}: {note}"
    # A renamed case would go unseen. A data set may be long, so only a file of cases is read whole.
    if (
        any(one.response.contexts_from.endswith(RECORDED) for one in report.reports)
        and Path(settings.cases).is_file()
    ):
        asked = {case.id for case in read_cases(settings.cases)}
        unasked = sorted(resources.responses(settings).keys() - asked)
        if unasked:
            yield (
                f"slice {settings.name!r}: {settings.responses} answers {counted(len(unasked), 'case')} that "
                f"{settings.cases} does not hold: {first_names(unasked)}"
            )
    selected, size = len(report.reports) + len(report.missing), collected.size(report.run)
    if selected < size and report.gates:
        yield (
            f"slice {report.slice!r}: its gates are judged over {selected} of its {size} cases; the others "
            "were not selected"
        )
    replaced = collected.replaced(report.run)
    if replaced:
        yield (
            f"slice {report.slice!r}: the tests of {counted(len(replaced), 'case')} ran again and measured "
            f"something else, such as another answer; the last counts: {first_names(replaced)}"
        )
