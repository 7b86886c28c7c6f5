"""Keeps the measured cases of an ablation on disk, so that no case is measured twice.

A new value on an axis then costs only its own rows, and an ablation that was killed goes on where it was. A
row with code of the project (a dotted name) is measured each time, because the code may have changed.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_medfaith.checking.variant import split_linker
from pytest_medfaith.gates.matching import PROCESSOR
from pytest_medfaith.metrics.aggregate import case_metrics
from pytest_medfaith.models.onnx import processor_kernel
from pytest_medfaith.records import Report
from pytest_medfaith.retrieval.build import BUILT_IN, fused_names
from pytest_medfaith.retrieval.index import corpus_hash
from pytest_medfaith.retrieval.settings import settled
from pytest_medfaith.retrieval.signature import encoder_signatures, retriever_signature
from pytest_medfaith.run.results import plain_report
from pytest_medfaith.run.sealed import append_sealed, digest, read_sealed
from pytest_medfaith.run.signature import checker_signature, extractor_signature, severity_signature
from pytest_medfaith.run.targets import Target, recorded_response, report_on_recorded

if TYPE_CHECKING:
    from pytest_medfaith.run.resources import Resources

FOLDER = "ablation"  # in the cache of the project


@dataclass
class KeptCells:
    """Called with a target, returns its report: kept on disk from an earlier run, or measured now and kept.

    Attributes:
        resources: of the run.
        measure: makes a report.
        kept: how many reports came from the disk.
        damaged: how many rows on the disk were not as they were written; their cases are measured again.
    """

    resources: Resources
    measure: Callable[[Resources, Target], Report] = report_on_recorded
    kept: int = 0
    damaged: int = 0
    _files: dict[Any, tuple[Path, dict[str, str]] | None] = field(default_factory=dict)

    def __call__(self, target: Target) -> Report:
        """Returns the report on `target`; the metrics of a kept report are computed anew."""
        cell = self._cell(target)
        if cell is None:
            return self.measure(self.resources, target)
        path, rows = cell
        name = digest(_asked(self.resources, target))
        if name in rows:
            self.kept += 1
            report = Report.from_dict(json.loads(rows[name]))
            return report.with_(metrics=case_metrics(report, declared=self.resources.metrics))
        report = plain_report(self.measure(self.resources, target))
        rows[name] = json.dumps(report.to_dict(), ensure_ascii=False, allow_nan=False)
        append_sealed(path, name, rows[name])
        return report

    def _cell(self, target: Target) -> tuple[Path, dict[str, str]] | None:
        """Returns the file of the target's row and {digest of case: report}; None for a row not kept."""
        key = target.settings, target.has_answer
        if key not in self._files:
            decides = cell_signature(self.resources, target)
            self._files[key] = None
            if decides is not None:
                path = self.resources.settings.cache / FOLDER / f"{digest(decides)[:32]}.jsonl"
                rows, damaged = read_sealed(path)
                self.damaged += damaged
                self._files[key] = path, rows
        return self._files[key]


def cell_signature(resources: Resources, target: Target) -> dict[str, Any] | None:
    """Returns all that decides the reports of a target's row beside its cases; None where unknown."""
    settings = target.settings
    name, given = settled(settings.retriever, resources.retrieval)
    checker = resources.checker(settings.checker)
    if (
        set(fused_names(name, given)) - BUILT_IN.keys()
        or checker.judge
        or ":" in split_linker(settings.checker)[0]
    ):
        return None
    chunks = resources.searched_chunks(settings, settings.retriever) if settings.corpus else []
    read = resources.read_chunks(settings, settings.retriever) if settings.corpus else []
    given = dataclasses.replace(given, cache=Path(), chunk_lines=None, retriever_settings={}, teacher=None)
    return {
        "package": package_digest(),
        "run": settings.run.to_dict(),
        "contexts": settings.contexts,
        "history": settings.history,
        "has_answer": target.has_answer,
        "chunks": digest([chunk.to_dict() for chunk in chunks]),
        "read": corpus_hash(read),
        "retriever": retriever_signature(settings.retriever, resources.retrieval, size=len(chunks)),
        "encoders": encoder_signatures(settings.retriever, resources.retrieval),
        "settings": dataclasses.asdict(given),
        "checker": checker_signature(checker),
        "safety": resources.rulebook.signature,
        PROCESSOR: processor_kernel(),
        **severity_signature(resources),
        **extractor_signature(resources),
    }


@cache
def package_digest() -> str:
    """Returns a digest of this package's files, so that any change of them measures everything anew."""
    root = Path(__file__).parents[1]
    found = hashlib.sha256()
    for path in sorted(path for path in root.rglob("*") if path.suffix in {".py", ".toml", ".json"}):
        found.update(f"{path.relative_to(root).as_posix()}\x1f".encode())
        found.update(path.read_bytes())
    return found.hexdigest()


def _asked(resources: Resources, target: Target) -> dict[str, Any]:
    """Returns what decides a single report of a row: the case, and the answer that is judged."""
    asked = {"case": target.case.to_dict()}
    if target.has_answer:
        asked["response"] = recorded_response(resources, target).to_dict()
    return asked
