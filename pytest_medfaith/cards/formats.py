r"""The formats of a report: the shipped ones, those of installed packages, and those that a project names.

A format of your project is a callable with a file name:

    def counts(slice_reports, *, signature, facts):
        return "".join(f"{report.slice},{len(report.reports)}\n" for report in slice_reports)

    counts.file_name = "counts.csv"

`formats = ["my_pkg.cards:counts"]` under [tool.medfaith] writes it into each run folder. A package offers a
format to every project under a name of the entry-point group medfaith.formats. A new shipped format is a
function beside those below and a row of `SHIPPED`.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_medfaith.dotted import load_dotted
from pytest_medfaith.errors import DataError, shown

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from pytest_medfaith.cards.history import History
    from pytest_medfaith.metrics.differences import Ablation
    from pytest_medfaith.records import SliceReport

GROUP = "medfaith.formats"


@dataclass(frozen=True)
class FinishedRun:
    """What a format may show of a run.

    Attributes:
        slice_reports: the rows of the card.
        signature: all that decided the numbers (models, thresholds, hashes, versions, seed), as plain values.
        facts: date, project and commit, as far as they are known.
        history: (label, slice reports) of earlier runs, the oldest first.
        most: how many claims of a slice a text explains; None explains all.
        ablations: rows that were asked for together, each compared with the first.
    """

    slice_reports: Sequence[SliceReport]
    signature: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    history: History = ()
    most: int | None = None
    ablations: Sequence[Ablation] = ()


@dataclass(frozen=True, kw_only=True)
class ReportFormat:
    """A format of reports.

    Attributes:
        name: how a user asks for it, such as "html".
        file_name: of the file in a run folder.
        make: returns the text for a run.
        stream: yields the text in pieces, where it may be larger than memory; None where `make` will do.
        in_every_run: whether each run folder holds the file.
        note: explains the name in a list of formats.
    """

    name: str
    file_name: str
    make: Callable[[FinishedRun], str]
    stream: Callable[[FinishedRun], Iterator[str]] | None = None
    in_every_run: bool = False
    note: str = ""

    def pieces(self, run: FinishedRun) -> Iterator[str]:
        """Returns the text in pieces; errors are raised while they are taken."""
        return self.stream(run) if self.stream else map(self.make, [run])


def _terminal(run: FinishedRun) -> str:
    from pytest_medfaith.cards.ablation_card import ablation_text
    from pytest_medfaith.cards.terminal import result_card

    return "\n\n".join([result_card(run.slice_reports, verbose=True), *map(ablation_text, run.ablations)])


def _markdown(run: FinishedRun) -> str:
    from pytest_medfaith.cards.ablation_card import ablation_markdown
    from pytest_medfaith.cards.markdown import markdown_card

    card = markdown_card(run.slice_reports, most=run.most)
    return "\n".join([card, *(f"{ablation_markdown(one)}\n" for one in run.ablations)])


def _json(run: FinishedRun) -> str:
    return "".join(_json_pieces(run))


def _json_pieces(run: FinishedRun) -> Iterator[str]:
    from pytest_medfaith.cards.json_card import json_pieces

    return json_pieces(run.slice_reports)


def _csv(run: FinishedRun) -> str:
    return "".join(_csv_pieces(run))


def _csv_pieces(run: FinishedRun) -> Iterator[str]:
    from pytest_medfaith.cards.csv_claims import csv_pieces

    return csv_pieces(run.slice_reports)


def _conversations(run: FinishedRun) -> str:
    from pytest_medfaith.cards.conversations_csv import conversations_csv

    return conversations_csv(run.slice_reports)


def _scores(run: FinishedRun) -> str:
    from pytest_medfaith.cards.scores import scores_csv

    return scores_csv(run.slice_reports)


def _spans(run: FinishedRun) -> str:
    from pytest_medfaith.cards.scores import score_attributes

    return score_attributes(run.slice_reports)


def _junit(run: FinishedRun) -> str:
    from pytest_medfaith.cards.junit import junit_card

    return junit_card(run.slice_reports)


def _ctrf(run: FinishedRun) -> str:
    from pytest_medfaith.cards.ctrf import ctrf_card

    return ctrf_card(run.slice_reports, facts=run.facts, signature=run.signature)


def _svg(run: FinishedRun) -> str:
    from pytest_medfaith.cards.plots import ablation_svg

    return ablation_svg(run.slice_reports)


def _html(run: FinishedRun) -> str:
    return "".join(_html_pieces(run))


def _html_pieces(run: FinishedRun) -> Iterator[str]:
    from pytest_medfaith.cards.html import html_pieces

    return html_pieces(
        run.slice_reports,
        history=run.history,
        signature=run.signature,
        facts=run.facts,
        ablations=run.ablations,
    )


SHIPPED: Mapping[str, ReportFormat] = {
    shipped.name: shipped
    for shipped in (
        ReportFormat(name="terminal", file_name="card.txt", make=_terminal),
        ReportFormat(name="markdown", file_name="card.md", make=_markdown, in_every_run=True),
        ReportFormat(
            name="json", file_name="report.json", make=_json, stream=_json_pieces, in_every_run=True
        ),
        ReportFormat(name="csv", file_name="claims.csv", make=_csv, stream=_csv_pieces, in_every_run=True),
        ReportFormat(name="conversations", file_name="conversations.csv", make=_conversations),
        ReportFormat(name="scores", file_name="scores.csv", make=_scores, note="by trace"),
        ReportFormat(name="spans", file_name="spans.jsonl", make=_spans, note="by trace"),
        ReportFormat(name="junit", file_name="junit.xml", make=_junit),
        ReportFormat(name="ctrf", file_name="ctrf.json", make=_ctrf),
        ReportFormat(name="svg", file_name="slices.svg", make=_svg, note="the slices side by side"),
        ReportFormat(
            name="html",
            file_name="card.html",
            make=_html,
            stream=_html_pieces,
            in_every_run=True,
            note="extra: report",
        ),
    )
}


def shipped_names() -> str:
    """Returns "terminal, markdown, ..., scores (by trace), ...": the shipped formats with their notes."""
    return ", ".join(f"{one.name} ({one.note})" if one.note else one.name for one in SHIPPED.values())


def installed_formats() -> dict[str, EntryPoint]:
    """Returns the formats that installed packages offer, by name; none of them is imported yet.

    Raises:
        DataError: a package offers a format under a name that is taken.
    """
    from importlib.metadata import entry_points

    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=GROUP):
        if entry.name in SHIPPED or (entry.name in found and found[entry.name].value != entry.value):
            taken = "a shipped format" if entry.name in SHIPPED else found[entry.name].value
            raise DataError(
                f"an installed package offers {entry.value} as the format {entry.name!r}, "
                f"the name of {taken}, expected another name; "
                "mend the entry point, or uninstall the package"
            )
        found[entry.name] = entry
    return found


def find_format(name: str) -> ReportFormat:
    """Returns the format called `name`: shipped, of an installed package, or by dotted name.

    Raises:
        DataError: no format has the name, or the dotted name leads to something else.
    """
    if name in SHIPPED:
        return SHIPPED[name]
    installed = installed_formats()
    if name in installed:
        place = f"{installed[name].module}:{installed[name].attr}"
        return _checked(name, load_dotted(place, what=f"the installed format {name!r},"))
    if ":" in name:
        return _checked(name, load_dotted(name, what="the format"))
    known = ", ".join([*SHIPPED, *sorted(installed)])
    raise DataError(
        f"no format is called {name!r}; expected one of {known}, or a dotted name, package.module:name"
    )


def _checked(name: str, found: Any) -> ReportFormat:
    """Returns the format of a callable; its errors and wrong results become a DataError."""
    file_name = getattr(found, "file_name", None)
    if not callable(found) or not isinstance(file_name, str):
        raise DataError(
            f"the format {name!r} is {found!r} with the file name {file_name!r}; expected a callable "
            "(slice_reports, *, signature, facts) -> text that names its file, "
            f'as in {name.rpartition(":")[2]}.file_name = "counts.csv"'
        )

    def make(run: FinishedRun) -> str:
        try:
            text = found(run.slice_reports, signature=dict(run.signature), facts=dict(run.facts))
        except (Exception, SystemExit) as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            raised = f"{type(error).__name__}: {error} ({place.filename}:{place.lineno})"
            raise DataError(f"the format {name!r} raised {raised}; mend it") from error
        if not isinstance(text, str):
            raise DataError(f"the format {name!r} gave {shown(text)}; expected the text of {file_name}")
        return text

    return ReportFormat(name=name, file_name=file_name, make=make)
