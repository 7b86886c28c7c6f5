"""What a run says below its card of what was passed over: answers that no case asks for, a k above the corpus, cases left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_medfaith.answers.responses import RECORDED
from pytest_medfaith.config import SliceSettings
from pytest_medfaith.datasets.registry import read_cases
from pytest_medfaith.records import SliceReport
from pytest_medfaith.run.resources import MedfaithSession

_NAMES_SHOWN = 5


def remarks(session: MedfaithSession, reports: Sequence[SliceReport]) -> list[str]:
    """Returns a line for each thing that was passed over, each once."""
    known = [
        (report, session.settings.slices[report.slice])
        for report in reports
        if report.slice in session.settings.slices
    ]
    lines = [line for report, settings in known for line in _of_row(session, report, settings)]
    return list(dict.fromkeys(lines))


def _of_row(session: MedfaithSession, report: SliceReport, settings: SliceSettings) -> Iterator[str]:
    if settings.corpus and any(one.hits for one in report.reports):
        held = len(session.chunks(settings))
        if report.k > held:
            yield f"slice {report.slice!r}: k is {report.k} and its corpus holds {held} chunks, so each question is given all of them at most"
    if any(one.response.contexts_from == RECORDED for one in report.reports):
        yield from _unasked(session, settings)
    selected = len(report.reports) + len(report.missing)
    whole = session.ledger.size(report.run)
    if selected < whole and report.gates:
        yield f"slice {report.slice!r}: its gates are judged over {selected} of its {whole} cases; the others were not selected"


def _unasked(session: MedfaithSession, settings: SliceSettings) -> Iterator[str]:
    """Yields that a responses file answers cases which the file of cases does not hold: a renamed case would otherwise go unseen."""
    if not Path(settings.cases).is_file():  # a data set, which may be long
        return
    asked = {case.id for case in read_cases(settings.cases)}
    unasked = sorted(session.responses(settings).keys() - asked)
    if unasked:
        names = ", ".join([*unasked[:_NAMES_SHOWN], *["..."] * (len(unasked) > _NAMES_SHOWN)])
        yield f"slice {settings.name!r}: {settings.responses} answers {len(unasked)} cases that {settings.cases} does not hold: {names}"
