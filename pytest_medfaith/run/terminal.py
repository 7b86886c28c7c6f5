"""What the terminal shows at the end of a run: card, claims behind failed gates, GitHub annotations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pytest_medfaith.cards.ablation_card import ablation_text
from pytest_medfaith.cards.audit_card import audit_card
from pytest_medfaith.cards.citations import explain_citations
from pytest_medfaith.cards.explanation import (
    below_case,
    explain_claim,
    explain_recall,
    explain_safety,
    explain_unchecked,
    first_blocks,
    worst_verdicts,
)
from pytest_medfaith.cards.facts_told import explain_facts, explain_outcomes
from pytest_medfaith.cards.github import annotation, on_ci, path_in_repository
from pytest_medfaith.cards.summary import count_slice
from pytest_medfaith.cards.terminal import result_card
from pytest_medfaith.cards.wording import counted
from pytest_medfaith.gates.entry import SliceBaseline
from pytest_medfaith.gates.expressions import BaselineGate, BoundGate, Gate, parse_gate
from pytest_medfaith.gates.regressions import bad_labels, find_regressions
from pytest_medfaith.metrics.citations import CITATION_METRICS, is_miscited
from pytest_medfaith.metrics.facts import FACT_METRICS
from pytest_medfaith.metrics.outcomes import OUTCOME_METRICS
from pytest_medfaith.plain import plain_lines
from pytest_medfaith.records import Report, SliceReport, Verdict

if TYPE_CHECKING:
    from pytest_medfaith.run.finish import Finish

SHOWN = 5  # claims below a failed gate; -v shows all
WIDEST = 100  # columns: longer lines of prose are hard to read
# The colour of a line by its first word; pytest leaves colours out where it shows none.
_MARKUP: Mapping[str, Mapping[str, bool]] = {
    "PASS": {"green": True},
    "FAIL": {"red": True},
    "INCONCLUSIVE": {"yellow": True},
    "PARTIAL:": {"yellow": True},
    "UNSAFE:": {"red": True},
    "UNANSWERED:": {"red": True},
    "WARNING:": {"yellow": True},
    "REFUTED": {"red": True},
    "UNSUPPORTED": {"yellow": True},
    "ERROR:": {"red": True, "bold": True},
    "FAILED:": {"red": True},
}


def print_summary(finish: Finish, terminal: Any, *, verbose: bool = False) -> None:
    """Prints the card, unsafe claims, claims behind failed gates, notes, and what went wrong.

    Args:
        finish: how the run ended.
        terminal: pytest's terminal reporter. With its -v all claims are shown, and the words that no claim
            checks.
        verbose: whether to show as much as with -v, and intervals.
    """
    full = terminal.config.get_terminal_writer().fullwidth
    width = min(full, WIDEST)
    is_detailed = verbose or terminal.verbosity > 0
    most = None if is_detailed else SHOWN
    terminal.section("medfaith")
    only_failures = on_ci() and not is_detailed
    _write(terminal, result_card(finish.reports, verbose=verbose, width=full, only_failures=only_failures))
    for ablation in finish.ablations:
        _write(terminal, "\n" + ablation_text(ablation))
    for report, baseline in zip(finish.reports, finish.baselines, strict=True):
        texts = []
        if count_slice(report).unsafe:
            texts.append(explain_safety(report.reports, most=most, width=width))
        if is_detailed and any(one.dropped for one in report.reports):
            texts.append(explain_unchecked(report.reports, width=width))
        if is_detailed and any(is_miscited(verdict) for one in report.reports for verdict in one.verdicts):
            texts.append(explain_citations(report.reports, most=most, width=width))
        failed = [
            parse_gate(gate.expression, finish.declared) for gate in report.gates if gate.outcome == "fail"
        ]
        for text in [*texts, *_claims_behind_gates(failed, report, baseline, most=most, width=width)]:
            _write(terminal, f"\n{report.slice}: {text}")
    for title, audit in finish.audits.items():
        _write(terminal, "\n" + audit_card(audit, title=title.partition(" / ")[0], most=most))
    undecided = sum(gate.outcome == "inconclusive" for report in finish.reports for gate in report.gates)
    if undecided and finish.inconclusive == "warn":
        terminal.write_line(
            f"{counted(undecided, 'gate')} inconclusive: the run is not failed for it "
            '(inconclusive = "warn")',
            yellow=True,
        )
    for line in [*finish.notes, *(f"ERROR: {error}" for error in finish.errors)]:
        _write(terminal, line)


def _write(terminal: Any, text: str) -> None:
    """Writes lines to the terminal, coloured by their first word, such as FAIL."""
    for line in plain_lines(text).split("\n"):
        terminal.write_line(line, **_MARKUP.get(line.partition(" ")[0], {}))


def _claims_behind_gates(
    failed: Sequence[Gate],
    report: SliceReport,
    baseline: SliceBaseline | None,
    *,
    most: int | None,
    width: int,
) -> Iterator[str]:
    """Yields the claims that made the `failed` gates fail, worst first, once for each kind of gate.

    Behind a comparison are claims that were supported in the baseline and are not now. Behind a bound on a
    share of verdicts are the claims with the bad verdict, behind a bound on claim_recall the gold claims that
    the answers do not state. Other metrics, such as latency_ms, have no claims to show.
    """
    compared, bounded = (
        {label for gate in failed if isinstance(gate, kind) for label in bad_labels(gate.metric) or ()}
        for kind in (BaselineGate, BoundGate)
    )
    if baseline and compared:
        turned = [(claim.report, claim.verdict) for claim in find_regressions(report, baseline, bad=compared)]
        yield from _claims_text(turned, "turned since the baseline", most=most, width=width)
    if bounded:
        worst = [pair for pair in worst_verdicts(report.reports) if pair[1].label in bounded]
        yield from _claims_text(worst, "not carried by the evidence", most=most, width=width)
    if any(gate.metric in CITATION_METRICS for gate in failed):
        yield explain_citations(report.reports, most=most, width=width)
    facts = {gate.metric for gate in failed} & FACT_METRICS
    if facts:
        only_major = all(name.endswith(".major") for name in facts)
        yield explain_facts(report.reports, only_major=only_major, most=most, width=width)
    if any(gate.metric in OUTCOME_METRICS for gate in failed):
        yield explain_outcomes(report.reports, most=most, width=width)
    if any(gate.metric == "claim_recall" for gate in failed):
        yield explain_recall(report.reports, most=most, width=width)


def _claims_text(
    claims: Sequence[tuple[Report, Verdict]], title: str, *, most: int | None, width: int
) -> Iterator[str]:
    """Yields the text of some claims below a title; nothing where there are none."""
    if claims:
        texts = [(one, explain_claim(verdict, one, width=width)) for one, verdict in claims]
        blocks = [
            below_case(one, text, width) if one.case.history else f"case {one.case.id}\n{text}"
            for one, text in texts
        ]
        yield first_blocks(f"{counted(len(claims), 'claim')} {title}, worst first", blocks, most=most)


def print_annotations(finish: Finish | None, failed: Sequence[Any], terminal: Any) -> None:
    """Prints a GitHub annotation for each gate that did not pass, then for each test in `failed`.

    GitHub shows only ten of a kind for a step, so gates come first.
    """
    gates = _gate_annotations(finish) if finish else ()
    for line in [*gates, *(_test_annotation(test, terminal.config.rootpath) for test in failed)]:
        terminal.write_line(line)


def _gate_annotations(finish: Finish) -> Iterator[str]:
    """Yields annotations for gates that failed or are undecided, and for errors of the run."""
    levels: dict[str, Literal["error", "warning"]] = {"fail": "error"}
    if finish.inconclusive != "pass":
        levels["inconclusive"] = "error" if finish.inconclusive == "fail" else "warning"
    for report in finish.reports:
        for gate in report.gates:
            if gate.outcome in levels:
                title = f"{report.slice}: {gate.expression}"
                yield annotation(gate.message, title=title, level=levels[gate.outcome])
    for error in finish.errors:
        yield annotation(error, title="medfaith")


def _test_annotation(test: Any, root: Path) -> str:
    """Returns the annotation of a failed test, on the line that failed.

    Where that line is in another file, the annotation is on the first line of the test.
    """
    file, first, _ = test.location
    line = (first or 0) + 1
    crash = getattr(test.longrepr, "reprcrash", None)
    if crash is not None and Path(crash.path) == root / file:
        line = crash.lineno
    message = crash.message if crash is not None else test.longreprtext
    return annotation(message, file=path_in_repository(root / file), line=line, title=test.nodeid)
