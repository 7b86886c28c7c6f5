"""The baseline of a run: a check before the tests that gates can be compared with it, and its update."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from pytest_medfaith.cards.facts import run_facts
from pytest_medfaith.errors import DataError
from pytest_medfaith.gates.baseline import read_baseline, write_baseline
from pytest_medfaith.gates.expressions import compared_metrics, parse_gate
from pytest_medfaith.gates.matching import check_before_run
from pytest_medfaith.run.signature import run_signature

if TYPE_CHECKING:
    from pytest_medfaith.run.collected import Collected, Row
    from pytest_medfaith.run.resources import Resources


def check_baseline(resources: Resources, collected: Collected) -> None:
    """Raises where gates could not be compared with the baseline, as far as this is known before the tests.

    With --medfaith-update-baseline it checks instead that all cases of each slice are selected.

    Raises:
        MissingBaseline: there is no baseline, or none for a slice with this set-up and these cases.
        DataError: the baseline cannot be read, or would be written from a part of a slice's cases.
    """
    expected = collected.expected()
    if resources.options.update_baseline:
        for row in expected:
            size = collected.size(row.run)
            if len(row.case_ids) < size:
                raise DataError(
                    f"slice {row.run.slice!r}: {len(row.case_ids)} of its {size} cases are selected, and "
                    "--medfaith-update-baseline would put them in the place of all. Run it without -k, --lf "
                    "or --deselect; limit in the settings, or --medfaith-limit, makes a smaller slice"
                )
        return
    declared = resources.metrics
    compared = [
        (row, metrics)
        for row in expected
        if (metrics := compared_metrics(parse_gate(gate, declared) for gate in row.gates))
    ]
    if not compared:
        return
    baseline = read_baseline(resources.baseline_path, declared)
    for row, metrics in compared:
        signature = run_signature(resources, collected, [row.run])
        check_before_run(baseline, row.run, signature=signature, case_ids=row.case_ids, metrics=metrics)


def update_baseline(resources: Resources, rows: Sequence[Row], signature: Mapping[str, Any]) -> str:
    """Writes what a run measured to the baseline file, and returns a line that says so.

    Raises:
        DataError: a case is missing, or the file cannot be written.
    """
    path, now = resources.baseline_path, datetime.now(tz=timezone.utc)
    written = write_baseline(
        path,
        [row.report for row in rows],
        signature=signature,
        metrics={parse_gate(gate, resources.metrics).metric for row in rows for gate in row.gates},
        declared=resources.metrics,
        seed=resources.seed,
        now=now,
        commit=run_facts(resources.root, now=now).get("commit", ""),
    )
    note = f"baseline written: {path}"
    if written.kept:
        note += f", kept as {written.kept.name.partition('_')[0]}"
    if written.aside:
        note += "; the file that was there could not be read, with what it held of other slices, and is now "
        note += written.aside.name
    return note
