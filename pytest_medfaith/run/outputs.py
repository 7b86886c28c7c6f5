"""Writes what a run leaves: run folder, summary of a CI step, JUnit properties."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
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
    from pytest_medfaith.metrics.differences import Ablation
    from pytest_medfaith.run.resources import Resources

_AUDIT_CLAIMS_SHOWN = 5  # of each kind, in the summary of a step


def write_run_folder(
    reports: Sequence[SliceReport],
    *,
    resources: Resources,
    signature: Mapping[str, Any],
    audits: Mapping[str, Audit],
    ablations: Sequence[Ablation] = (),
    shard: Mapping[str, Any] | None = None,
) -> Iterator[str]:
    """Writes the folder of --medfaith-report, and yields a line that names it; nothing without the option.

    It is a generator, so nothing is written before it is iterated.

    Args:
        reports: of the slices; their gates are judged already.
        resources: of the run; they hold its options and settings.
        signature: all that decides the numbers, such as models, thresholds, versions and seed.
        audits: {title: audit}; they are written where there are any.
        ablations: rows that were asked for together.
        shard: what `medfaith merge` must know of a run that is a shard; None for a whole run.

    Raises:
        DataError: the folder cannot be written, or a value has no JSON.
        SeveralErrors: formats of the project could not be written; all other files are there.
    """
    folder = resources.options.report
    if folder is None:
        return
    lost = write_run(
        folder,
        reports,
        signature=signature,
        facts=run_facts(resources.root, now=datetime.now(tz=timezone.utc)),
        extra=extra_formats(resources.settings.formats),
        ablations=ablations,
        shard=shard,
    )
    if audits:
        write_audits(folder, audits)
    yield f"run folder: {folder}"
    if lost:
        raise SeveralErrors(lost)


def write_step_summary(reports: Sequence[SliceReport], *, audits: Mapping[str, Audit]) -> list[str]:
    """Adds the card to the step summary on GitHub Actions; does nothing elsewhere.

    Returns [], as it has no note for the card.

    Raises:
        DataError: the file that GITHUB_STEP_SUMMARY names cannot be written.
    """
    told = "\n" + audit_markdown(audits, most=_AUDIT_CLAIMS_SHOWN) if audits else ""
    append_step_summary(markdown_card(reports) + told)
    return []


def add_junit_properties(
    reports: Sequence[SliceReport], *, add_property: Callable[[str, object], None] | None
) -> list[str]:
    """Gives `add_property` the properties of each slice, for pytest's JUnit report; None gets nothing.

    Returns [], as it has no note for the card.
    """
    if add_property:
        for name, value in itertools.chain.from_iterable(map(slice_properties, reports)):
            add_property(name, value)
    return []
