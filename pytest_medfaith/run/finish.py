"""The end of a run: sum up, write baseline and files, audit, judge the gates, decide the exit status.

`end_run` names the steps in order. `finish_run` judges the rows, and `run_status` decides the status.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from pytest_medfaith.compare.ablation import ablations
from pytest_medfaith.errors import MedfaithError, SeveralErrors
from pytest_medfaith.gates.baseline import Baseline, read_baseline
from pytest_medfaith.gates.entry import SliceBaseline
from pytest_medfaith.gates.expressions import compared_metrics, parse_gate
from pytest_medfaith.gates.judging import Inconclusive, judge_gates, stops_run
from pytest_medfaith.gates.matching import other_processor, slice_baseline
from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.differences import Ablation
from pytest_medfaith.metrics.registry import METRICS
from pytest_medfaith.records import GateResult, SliceReport
from pytest_medfaith.run.audits import AuditedRows, audit_rows
from pytest_medfaith.run.baselines import update_baseline
from pytest_medfaith.run.corrections import correct_rows, with_corrected_rates
from pytest_medfaith.run.notes import notes_on_slices
from pytest_medfaith.run.outputs import add_junit_properties, write_run_folder, write_step_summary
from pytest_medfaith.run.signature import run_signature
from pytest_medfaith.run.teaching import check_answered

if TYPE_CHECKING:
    from pytest_medfaith.audit.results import Audit
    from pytest_medfaith.run.collected import Collected, Row
    from pytest_medfaith.run.resources import Resources

Status = Literal["passed", "failed", "unusable"]
Step = Callable[[Sequence[SliceReport]], Iterable[str]]  # from judged reports to notes below the card


@dataclass(frozen=True, kw_only=True)
class Judging:
    """What gates are judged with.

    Attributes:
        read_baseline: reads the baseline file; called for each row with a gate that compares.
        signature: all that decides this run's numbers; a baseline with another signature is not compared.
        declared: the metrics by name, see `parse_metric`.
        seed: of the resampling in comparisons.
        inconclusive: what an undecided gate does to the run: "warn", "fail" or "pass".
    """

    read_baseline: Callable[[], Baseline]
    signature: Mapping[str, Any]
    seed: int
    inconclusive: Inconclusive
    declared: Mapping[str, Metric] = field(default_factory=lambda: METRICS)


@dataclass(frozen=True, kw_only=True)
class JudgedRow:
    """A row of the card with its gates judged.

    Attributes:
        report: with the outcomes of its gates.
        baseline: what the baseline holds of the row; None where no gate compares or none fits.
        is_comparable: whether every gate that compares had a baseline that fits.
    """

    report: SliceReport
    baseline: SliceBaseline | None = None
    is_comparable: bool = True


@dataclass(frozen=True)
class Finish:
    """How a run ended.

    Attributes:
        reports: with judged gates, in the order of the card.
        baselines: for each report what the baseline holds of it; None where no gate compared.
        status: as `run_status` decides it.
        notes: lines below the card.
        errors: why the run is unusable.
        audits: {title: audit}.
        inconclusive: what the status made of undecided gates.
        declared: the metrics by name.
        ablations: rows that were asked for together, each compared with the first.
    """

    reports: tuple[SliceReport, ...]
    baselines: tuple[SliceBaseline | None, ...]
    status: Status
    notes: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    audits: Mapping[str, Audit] = field(default_factory=dict)
    inconclusive: Inconclusive = "warn"
    declared: Mapping[str, Metric] = field(default_factory=lambda: METRICS)
    ablations: tuple[Ablation, ...] = ()


def end_run(
    resources: Resources,
    collected: Collected,
    *,
    is_partial: bool = False,
    add_property: Callable[[str, object], None] | None = None,
    signature: Mapping[str, Any] | None = None,
) -> Finish:
    """Ends a run: sums it up, judges its gates, and writes what was asked for. Returns how it ended.

    Args:
        resources: of the run.
        collected: what was expected and what came in.
        is_partial: whether the run was cut short; then no checker is audited.
        add_property: takes a name and a value for pytest's JUnit report; None where there is none.
        signature: all that decides the numbers; found out where None.

    Raises:
        MedfaithError: a corpus or a checker that the signature names cannot be read.
    """
    known: dict[str, Any] = {"declared": resources.metrics, "seed": resources.seed}
    rows = measured = collected.rows(partial=is_partial, **known)
    if not rows:
        return Finish((), (), "passed")
    signature = signature or signature_of(resources, collected, rows)
    compared = ablations([row.report for row in rows], **known)
    notes, errors = list[str](), [*collected.problems(), *(one.problem for one in compared if one.problem)]
    with noting_errors(errors):
        rows, corrected = correct_rows(resources, rows, signature)
        notes += corrected
    if resources.options.update_baseline and not errors:
        with noting_errors(errors):
            notes.insert(0, update_baseline(resources, with_corrected_rates(measured, rows), signature))
    audited = AuditedRows(rows) if is_partial else audit_rows(resources, collected, rows)
    written: dict[str, Any] = {"signature": signature, "audits": audited.audits, "ablations": compared}
    steps = (
        partial(check_answered, resources),
        partial(notes_on_slices, resources, collected),
        partial(write_run_folder, resources=resources, **written),
        partial(write_step_summary, audits=audited.audits),
        partial(add_junit_properties, add_property=add_property),
    )
    told: dict[str, Any] = {"notes": [*notes, *audited.notes], "errors": errors, "audits": audited.audits}
    end = finish_run(audited.rows, judging=judging_of(resources, signature), steps=steps, **told)
    return dataclasses.replace(end, ablations=tuple(compared))


def signature_of(resources: Resources, collected: Collected, rows: Sequence[Row]) -> dict[str, Any]:
    """Returns all that decides the numbers of the rows that have reports."""
    return run_signature(resources, collected, [row.report.run for row in rows if row.report.reports])


def judging_of(resources: Resources, signature: Mapping[str, Any]) -> Judging:
    """Returns what the gates of a run are judged with, from its settings and options."""
    return Judging(
        read_baseline=lambda: read_baseline(resources.baseline_path, resources.metrics),
        signature=signature,
        inconclusive=resources.settings.inconclusive,
        declared=resources.metrics,
        seed=resources.seed,
    )


def finish_run(
    rows: Sequence[Row],
    *,
    judging: Judging,
    steps: Iterable[Step] = (),
    notes: Iterable[str] = (),
    errors: Iterable[str] = (),
    audits: Mapping[str, Audit] | None = None,
) -> Finish:
    """Judges each row, runs the steps that follow, and decides the status. Returns how the run ended.

    Args:
        rows: what the run measured, with the gates of each row.
        judging: what the gates are judged with.
        steps: called with the judged reports; each returns notes. An error of data or files in a step makes
            the run unusable, and the next step still runs.
        notes: lines that are there already.
        errors: what makes the run unusable already, such as tests that disagree on a slice.
        audits: of the run's checkers, by title.
    """
    judged = [judge_row(row, judging) for row in rows]
    reports = tuple(row.report for row in judged)
    processors = (other_processor(row.baseline, judging.signature) for row in judged if row.baseline)
    notes, errors = [*notes, *filter(None, dict.fromkeys(processors))], list(errors)
    for step in steps:
        with noting_errors(errors):
            notes.extend(step(reports))  # a step that yields a note and then fails has said it
    return Finish(
        reports,
        tuple(row.baseline for row in judged),
        run_status(judged, errors=errors, inconclusive=judging.inconclusive),
        tuple(notes),
        tuple(errors),
        audits or {},
        judging.inconclusive,
        judging.declared,
    )


def run_status(rows: Iterable[JudgedRow], *, errors: Sequence[str], inconclusive: Inconclusive) -> Status:
    """Returns what the exit status of a run must say; it is decided here and nowhere else.

    "unusable" (pytest's usage error): there are errors, or a gate could not be compared. "failed" (as by a
    failed test): a gate stops the run. "passed": pytest's exit status is left as it is.
    """
    rows = list(rows)
    if errors or not all(row.is_comparable for row in rows):
        return "unusable"
    if any(stops_run(gate, inconclusive=inconclusive) for row in rows for gate in row.report.gates):
        return "failed"
    return "passed"


def judge_row(row: Row, judging: Judging) -> JudgedRow:
    """Returns a row with its gates judged.

    A gate that cannot be compared fails and says why. Where none of the cases finished, every gate fails.
    """
    report, gates = row
    if not report.reports:
        nothing = f"none of the {len(report.missing)} cases finished, so nothing says that it passes"
        return JudgedRow(report=report.with_(gates=_failed(gates, nothing)))
    declared = judging.declared
    judge = partial(judge_gates, declared=declared, seed=judging.seed)
    comparing = [gate for gate in gates if compared_metrics([parse_gate(gate, declared)])]
    if not comparing:
        return JudgedRow(report=judge(gates, report))
    case_ids = [*(one.case.id for one in report.reports), *report.missing]
    try:
        baseline = slice_baseline(
            judging.read_baseline(), report.run, signature=judging.signature, case_ids=case_ids
        )
        return JudgedRow(report=judge(gates, report, baseline=baseline), baseline=baseline)
    except MedfaithError as error:
        bounds = judge([gate for gate in gates if gate not in comparing], report)
        judged = report.with_(gates=(*bounds.gates, *_failed(comparing, str(error))))
        return JudgedRow(report=judged, is_comparable=False)


def _failed(gates: Iterable[str], message: str) -> tuple[GateResult, ...]:
    """Returns a failed outcome with `message` for each of `gates`."""
    return tuple(GateResult(expression=gate, outcome="fail", message=message) for gate in gates)


@contextmanager
def noting_errors(errors: list[str]) -> Iterator[None]:
    """Adds an error of data or files in the block to `errors`, so that the run's end goes on."""
    try:
        yield
    except SeveralErrors as several:
        errors += several.messages
    except (MedfaithError, OSError, ValueError) as error:
        errors.append(str(error))
