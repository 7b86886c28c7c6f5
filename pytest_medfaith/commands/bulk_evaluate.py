"""`medfaith evaluate --engine ray`: workers of a cluster measure the cases, this process sums up."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pytest_medfaith.commands.engine import FOLDER, RayEngine, bulk_results, refuse_in_bulk
from pytest_medfaith.jsonl import write_records
from pytest_medfaith.records.stored import Store
from pytest_medfaith.retrieval.stores.address import split_reranker

if TYPE_CHECKING:
    from pytest_medfaith.records import Report
    from pytest_medfaith.run.resources import Resources
    from pytest_medfaith.run.targets import Target


def on_disk(resources: Resources) -> Store:
    """Returns a store that keeps responses and reports in files, for runs that exceed the memory."""
    return Store(resources.settings.cache / FOLDER)


@contextmanager
def bulk_reports(
    engine: RayEngine, resources: Resources, targets: Sequence[Target]
) -> Iterator[Callable[[Target], Report]]:
    """Gives a function that returns the report on each target, in order; workers measure them in blocks.

    Raises:
        ValueError: the teacher is asked for, or --llm is given.
        DataError: the cluster cannot be reached or went away, or a node would judge otherwise.
    """
    from pytest_medfaith.bulk.cases import (
        CaseWork,
        reports_in_order,
        spread_signature,
        target_rows,
        variants_of,
    )

    slices = [variant.settings for variant in variants_of(targets)]
    named = [one.checker for one in slices] + [split_reranker(one.retriever)[1] or "" for one in slices]
    refuse_in_bulk({"--llm": resources.options.llm}, *named, resources.settings.extractor)
    for settings in slices:
        resources.checker(settings.checker)  # a checker that cannot be loaded is one error here
    signature, is_known = spread_signature(resources, targets)
    work = CaseWork(
        root=resources.root,
        options=dataclasses.replace(resources.options, report=None),
        variants=variants_of(targets),
        expected=signature,
    )
    cache, name = resources.settings.cache, targets[0].settings.name
    rows = cache / FOLDER / f"{secrets.token_hex(8)}.jsonl"
    how = {"name": f"slice {name}", "unit": "cases", "rows_a_block": engine.cases_a_block}
    try:
        write_records(rows, target_rows(resources, targets))
        with bulk_results(
            engine, rows, work, cache=cache, key=signature if is_known else None, **how
        ) as found:
            yield reports_in_order(found[0])
    finally:
        rows.unlink(missing_ok=True)
