"""The end of a shard, one part of a run: it writes its run folder, and leaves its gates to the merge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_medfaith.run.collected import Row
from pytest_medfaith.run.shards import shard_record
from pytest_medfaith.run.teaching import check_answered

if TYPE_CHECKING:
    from pytest_medfaith.run.collected import Collected
    from pytest_medfaith.run.finish import Finish
    from pytest_medfaith.run.resources import Resources


def end_shard(
    resources: Resources,
    collected: Collected,
    *,
    whole: Sequence[Mapping[str, Any]],
    is_partial: bool = False,
) -> Finish:
    """Returns how a shard ended, and writes its run folder, even where none of its cases ran.

    No gate is judged: a part of the cases can neither pass nor fail a gate of the slice.

    Args:
        resources: of the run.
        collected: what the shard expected and what came in.
        whole: what all shards expect together (`Collected.sorted_values`).
        is_partial: whether the run was cut short.

    Raises:
        MedfaithError: a corpus or a checker that the signature names cannot be read.
    """
    from pytest_medfaith.run.finish import finish_run, judging_of, noting_errors, signature_of
    from pytest_medfaith.run.outputs import write_run_folder, write_step_summary

    measured = collected.rows(partial=is_partial, declared=resources.metrics, seed=resources.seed)
    rows = [Row(row.report, ()) for row in measured]
    signature = signature_of(resources, collected, rows)
    shard = resources.options.shard
    notes = [f"shard {shard}: its gates are judged once all shards are done, by: medfaith merge DIR..."]
    errors = collected.problems()
    with noting_errors(errors):
        notes += check_answered(resources, [row.report for row in rows])
    record = shard_record(resources, whole, errors)
    steps = (
        partial(write_run_folder, resources=resources, signature=signature, audits={}, shard=record),
        partial(write_step_summary, audits={}),
    )
    return finish_run(rows, judging=judging_of(resources, signature), steps=steps, notes=notes, errors=errors)
