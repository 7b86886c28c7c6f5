"""What the terminal shows at the end of a run: the card, the claims behind failed gates, and annotations on GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_medfaith.cards.audit_card import audit_card
from pytest_medfaith.cards.explanation import (
    explain_claim,
    explain_recall,
    explain_safety,
    explain_unchecked,
    first_blocks,
    worst_verdicts,
)
from pytest_medfaith.cards.github import annotation, on_ci, path_in_repository
from pytest_medfaith.cards.summary import count_slice
from pytest_medfaith.cards.terminal import result_card
from pytest_medfaith.cards.wording import counted
from pytest_medfaith.gates.entry import SliceBaseline
from pytest_medfaith.gates.expressions import BaselineGate, BoundGate, parse_gate
from pytest_medfaith.gates.regressions import bad_labels, find_regressions
from pytest_medfaith.plain import plain_lines
from pytest_medfaith.records import Report, SliceReport, Verdict
from pytest_medfaith.run.finish import Finish
from pytest_medfaith.run.resources import MedfaithSession

SHOWN = 5  # claims told below a failed gate; all of them with -v
WIDEST = 100  # columns: longer lines of prose are hard to read
# How a line is coloured by its first word; pytest leaves the colours out where it shows none.
_MARKUP: Mapping[str, Mapping[str, bool]] = {
    "PASS": {"green": True},
    "FAIL": {"red": True},
    "INCONCLUSIVE": {"yellow": True},
    "PARTIAL:": {"yellow": True},
    "UNSAFE:": {"red": True},
    "REFUTED": {"red": True},
    "UNSUPPORTED": {"yellow": True},
    "ERROR:": {"red": True, "bold": True},
}


def print_summary(finish: Finish, session: MedfaithSession, terminal: Any) -> None:
    """Prints the card, the unsafe claims, the claims behind failed gates, where files were written, and what went wrong.

    With -v also the words of answers that no claim checks.
    """
    width = terminal.config.get_terminal_writer().fullwidth
    terminal.section("medfaith")
    everything = session.options.verbose or terminal.verbosity > 0
    only_failures = on_ci() and not everything
    _write(
        terminal,
        result_card(
            finish.reports, verbose=session.options.verbose, width=width, only_failures=only_failures
        ),
    )
    most = None if everything else SHOWN
    for report, baseline in zip(finish.reports, finish.baselines, strict=True):
        if count_slice(report).unsafe:
            _write(
                terminal,
                f"\n{report.slice}: {explain_safety(report.reports, most=most, width=min(width, WIDEST))}",
            )
        if most is None and any(one.dropped for one in report.reports):
            _write(
                terminal, f"\n{report.slice}: {explain_unchecked(report.reports, width=min(width, WIDEST))}"
            )
        for text in _claims_to_blame(report, baseline, most=most, width=min(width, WIDEST)):
            _write(terminal, f"\n{report.slice}: {text}")
    for title, audit in finish.audits.items():
        _write(terminal, "\n" + audit_card(audit, title=title.partition(" / ")[0], most=most))
    undecided = sum(gate.outcome == "inconclusive" for report in finish.reports for gate in report.gates)
    if undecided and session.settings.inconclusive == "warn":
        terminal.write_line(
            f'{counted(undecided, "gate")} inconclusive: the run is not failed for it (inconclusive = "warn")',
            yellow=True,
        )
    for line in [*finish.notes, *(f"ERROR: {error}" for error in finish.errors)]:
        _write(terminal, line)


def _write(terminal: Any, text: str) -> None:
    for line in plain_lines(text).split("\n"):
        terminal.write_line(line, **_MARKUP.get(line.partition(" ")[0], {}))


def _claims_to_blame(
    report: SliceReport, baseline: SliceBaseline | None, *, most: int | None, width: int
) -> Iterator[str]:
    """Yields what stands behind the failed gates, worst first, each kind once.

    For a comparison that is the claims that turned since the baseline, for a bound on a share of verdicts those that the evidence does not
    carry, for one on claim_recall the gold claims that the answers do not make. Other metrics have no claims to show.
    """
    failed = [parse_gate(gate.expression) for gate in report.gates if gate.outcome == "fail"]
    compared = {
        label for gate in failed if isinstance(gate, BaselineGate) for label in bad_labels(gate.metric) or ()
    }
    bounded = {
        label for gate in failed if isinstance(gate, BoundGate) for label in bad_labels(gate.metric) or ()
    }
    if baseline and compared:
        turned = [(claim.report, claim.verdict) for claim in find_regressions(report, baseline, bad=compared)]
        yield from _told(turned, "turned since the baseline", most=most, width=width)
    if bounded:
        worst = [
            (one, verdict) for one, verdict in worst_verdicts(report.reports) if verdict.label in bounded
        ]
        yield from _told(worst, "not carried by the evidence", most=most, width=width)
    if any(gate.metric == "claim_recall" for gate in failed):
        yield explain_recall(report.reports, most=most, width=width)


def _told(
    blamed: Sequence[tuple[Report, Verdict]], title: str, *, most: int | None, width: int
) -> Iterator[str]:
    if not blamed:
        return
    blocks = [f"case {one.case.id}\n{explain_claim(verdict, one, width=width)}" for one, verdict in blamed]
    yield first_blocks(f"{counted(len(blamed), 'claim')} {title}, worst first", blocks, most=most)


def print_annotations(
    finish: Finish | None, session: MedfaithSession, failed: Sequence[Any], terminal: Any
) -> None:
    """Prints, on GitHub Actions, an annotation for every gate that did not pass and on the line of every test that `failed`.

    GitHub shows ten of a kind for a step, so gates come first.
    """
    gates = _gate_annotations(finish, session) if finish else ()
    for line in [*gates, *(_test_annotation(test, terminal.config.rootpath) for test in failed)]:
        terminal.write_line(line)


def _gate_annotations(finish: Finish, session: MedfaithSession) -> Iterator[str]:
    level = {"fail": "error", "warn": "warning"}.get(session.settings.inconclusive)
    levels = {"fail": "error", "inconclusive": level}
    for report in finish.reports:
        for gate in report.gates:
            if kind := levels.get(gate.outcome):
                yield annotation(gate.message, title=f"{report.slice}: {gate.expression}", level=kind)  # type: ignore[arg-type]
    for error in finish.errors:
        yield annotation(error, title="medfaith")


def _test_annotation(test: Any, root: Path) -> str:
    """Returns the annotation of a failed pytest report: on the line that failed where the test's file holds it, else on the test's first."""
    file, first, _ = test.location
    line = (first or 0) + 1
    crash = getattr(test.longrepr, "reprcrash", None)
    if crash is not None and Path(crash.path) == root / file:
        line = crash.lineno
    message = crash.message if crash is not None else test.longreprtext
    return annotation(message, file=path_in_repository(root / file), line=line, title=test.nodeid)
