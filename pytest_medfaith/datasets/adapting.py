"""The work behind `medfaith adapt` and `medfaith gold review`: from a data set to a gold file, and from a sheet back into it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pytest_medfaith.corpus.sources import paths_of
from pytest_medfaith.datasets.gold import CAP, read_gold_file
from pytest_medfaith.datasets.registry import Adapter, find_adapter
from pytest_medfaith.datasets.review import Reviewed, apply_review, read_review_sheet, write_review_sheet
from pytest_medfaith.datasets.skips import Skips
from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import atomic_writer, dump_records, write_records
from pytest_medfaith.records import Case, Chunk

R = TypeVar("R", Case, Chunk)

_NO_CLAIM = "none"  # counts cases beside the provenances of claims


@dataclass(frozen=True, kw_only=True)
class Adapted:
    """What `adapt` wrote: how many cases, gold claims by provenance and chunks, and what was left out of either file."""

    source: Adapter
    out: Path
    cases: int
    without_claims: int
    claims: Mapping[str, int]
    skips: Skips
    corpus: Path | None = None
    chunks: int = 0
    chunk_skips: Skips = field(default_factory=Skips)

    def lines(self) -> list[str]:
        """Returns the summary, one fact a line."""
        claims = (
            ", ".join(f"{count:,} {provenance}" for provenance, count in sorted(self.claims.items()))
            or "none"
        )
        written = [
            f"wrote {self.out}: {self.cases:,} cases ({self.without_claims:,} without gold claims), gold claims: {claims}"
        ]
        if self.corpus is not None:
            written.append(f"wrote {self.corpus}: {self.chunks:,} chunks")
        facts = [
            f"source: {self.source.title}, {self.source.url}",
            f"licence: {self.source.licence}",
            f"cite: {self.source.citation}",
        ]
        return [
            *written,
            *self.skips.lines(),
            *(f"corpus: {line}" for line in self.chunk_skips.lines()),
            *facts,
        ]


def adapt(
    name: str,
    path: Path,
    out: Path,
    *,
    limit: int | None = None,
    seed: int | None = None,
    corpus: Path | None = None,
    cap: int = CAP,
) -> Adapted:
    """Writes the cases of data set `name` at `path` to `out` as JSON Lines, and its documents to `corpus`: both whole, or neither.

    Args:
        name: one of the adapters.
        path: file, folder or archive as the authors publish it.
        out: gold file to write.
        limit: how many cases to take; None takes all.
        seed: with a limit, takes a random part instead of the first ones.
        corpus: chunk file to write the data set's documents to, all of them whatever the limit; None writes none.
        cap: most gold claims extracted from one answer.

    Raises:
        DataError: an unknown data set, one without documents where `corpus` is given, a file to write that is read too,
            no case at all, or a damaged file.
        ValueError: `limit` or `cap` is below 1.
    """
    adapter = find_adapter(name)
    if corpus is not None and not adapter.chunked:
        raise DataError(f"{name} has no documents to write to {corpus}; leave out the corpus")
    _check_targets(path, [out] if corpus is None else [out, corpus])
    skips, chunk_skips, seen, chunks = Skips(), Skips(), Counter[str](), 0
    cases = _counted(adapter.read_with_gold(path, limit=limit, seed=seed, skips=skips, cap=cap), seen)
    with ExitStack() as files:
        count = dump_records(files.enter_context(atomic_writer(out)), _some(cases, path, "case", skips))
        if corpus is not None:
            documents = adapter.read_chunks(path, skips=chunk_skips)
            chunks = dump_records(
                files.enter_context(atomic_writer(corpus)), _some(documents, path, "document", chunk_skips)
            )
    return Adapted(
        source=adapter,
        out=out,
        cases=count,
        without_claims=seen.pop(_NO_CLAIM, 0),
        claims=seen,
        skips=skips,
        corpus=corpus,
        chunks=chunks,
        chunk_skips=chunk_skips,
    )


def _check_targets(path: Path, targets: list[Path]) -> None:
    """Raises DataError where one of `targets` would be written over the other, or over a file of `path`."""
    if len({target.resolve() for target in targets}) < len(targets):
        raise DataError(f"{targets[0]}: given for the cases and for the documents; name two files")
    there = [target for target in targets if target.exists()]
    read = {file.resolve() for file in paths_of(path)} if there and path.exists() else set()
    for target in there:
        if target.resolve() in read:
            raise DataError(
                f"{target}: belongs to what is read, {path}, and would be written over; name another file, best in another folder"
            )


def _counted(cases: Iterator[Case], seen: Counter[str]) -> Iterator[Case]:
    for case in cases:
        seen.update([claim.provenance for claim in case.gold_claims] or [_NO_CLAIM])
        yield case


def _some(records: Iterator[R], path: Path, kind: str, skips: Skips) -> Iterator[R]:
    """Yields `records`; none at all is an error that says what was left out."""
    found = False
    for record in records:
        found = True
        yield record
    if not found:
        raise DataError(
            f"{path}: not one {kind} to write; "
            + ("; ".join(skips.lines()) or "the files hold no record; check the path")
        )


def write_gold_review(gold: Path, sheet: Path) -> int:
    """Writes the gold claims of the cases in `gold` to `sheet` for a person to edit, and returns how many cases.

    Raises:
        DataError: a sheet, or any file, is there already; a damaged gold file.
    """
    if sheet.exists():
        raise DataError(
            f"{sheet}: there already, and may hold a reviewer's edits; apply it, remove it, or give another name"
        )
    return write_review_sheet(read_gold_file(gold), sheet)


def apply_gold_review(gold: Path, sheet: Path, *, out: Path | None = None) -> Reviewed:
    """Writes the cases of `gold` with the edits of `sheet` to `out`, by default to `gold` itself, whole or not at all.

    Raises:
        DataError: `out` is the sheet; else see `read_review_sheet` and `apply_review`; the gold file is untouched then.
    """
    if (out or gold).resolve() == sheet.resolve():
        raise DataError(
            f"{out or gold}: the reviewed cases would be written over the sheet; name another file"
        )
    reviewed = apply_review(read_gold_file(gold), read_review_sheet(sheet))
    write_records(out or gold, reviewed.cases)
    return reviewed
