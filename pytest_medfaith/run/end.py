"""The end of a run, step by step: sum up, keep as baseline, audit, judge, write."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from pytest_medfaith.gates.baseline import read_baseline
from pytest_medfaith.run.audits import AuditedRows, audit_rows
from pytest_medfaith.run.baselines import update_baseline
from pytest_medfaith.run.finish import Finish, Judging, finish_run, noting_errors
from pytest_medfaith.run.notes import notes_on_slices
from pytest_medfaith.run.outputs import add_junit_properties, write_run_folder, write_step_summary
from pytest_medfaith.run.signature import run_signature

if TYPE_CHECKING:
    from pytest_medfaith.run.collected import Collected
    from pytest_medfaith.run.resources import Resources


def end_run(
    resources: Resources,
    collected: Collected,
    *,
    is_partial: bool = False,
    add_property: Callable[[str, object], None] | None = None,
) -> Finish:
    """Returns how a run ended; writes baseline, run folder, step summary and JUnit where asked for.

    Args:
        resources: of the run.
        collected: what was expected and what came in.
        is_partial: whether the run was cut short; then no checker is audited.
        add_property: takes a name and a value for pytest's JUnit report, None where there is none.

    Raises:
        MedfaithError: a corpus or a checker that the signature names cannot be read.
    """
    declared, seed = resources.metrics, resources.seed
    rows = collected.rows(partial=is_partial, declared=declared, seed=seed)
    if not rows:
        return Finish((), (), "passed")
    signature = run_signature(resources, collected, [row.report.run for row in rows if row.report.reports])
    notes, errors = list[str](), collected.disagreements()
    if resources.options.update_baseline and not errors:
        with noting_errors(errors):
            notes.append(update_baseline(resources, rows, signature))
    configured = collected.configured_checkers()
    audited = AuditedRows(rows) if is_partial else audit_rows(resources, rows, configured=configured)
    audits = audited.audits
    judging = Judging(
        read_baseline=lambda: read_baseline(resources.baseline_path, declared),
        signature=signature,
        declared=declared,
        seed=seed,
        inconclusive=resources.settings.inconclusive,
    )
    steps = (
        partial(notes_on_slices, resources, collected),
        partial(write_run_folder, resources=resources, signature=signature, audits=audits),
        partial(write_step_summary, audits=audits),
        partial(add_junit_properties, add_property=add_property),
    )
    notes += audited.notes
    return finish_run(audited.rows, judging=judging, steps=steps, notes=notes, errors=errors, audits=audits)
