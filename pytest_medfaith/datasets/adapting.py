"""The work behind `medfaith adapt` and `medfaith gold review`.

`adapt` turns a data set into a gold file; the review puts a gold file into a sheet, and the edited sheet back
into the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pytest_medfaith import defaults
from pytest_medfaith.corpus.sources import paths_of
from pytest_medfaith.datasets.gold import read_gold_file
from pytest_medfaith.datasets.registry import Adapter, find_adapter
from pytest_medfaith.datasets.review import Reviewed, apply_review, read_review_sheet, write_review_sheet
from pytest_medfaith.datasets.skips import Skips
from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import atomic_writer, dump_records, write_records
from pytest_medfaith.records import Case, Chunk

R = TypeVar("R", Case, Chunk)

_NO_CLAIM = "none"  # counts cases without claims, where all further counts are of claims by provenance


@dataclass
class Output:
    """A file that `adapt` writes: how many records it got, and what was left out of it.

    Attributes:
        path: where it is written.
        kind: what a record of it is, in messages.
        records: how many it got.
        skips: of the reader, which counts while its records are taken.
    """

    path: Path
    kind: str
    records: int = 0
    skips: Skips = field(default_factory=Skips)

    def write(self, records: Iterator[R], *, read: Path, files: ExitStack) -> None:
        """Writes `records`, which come from `read`, whole or not at all, when `files` is closed.

        Raises:
            DataError: there is no record; the message says what was left out.
        """
        self.records = dump_records(files.enter_context(atomic_writer(self.path)), records)
        if not self.records:
            why = "; ".join(self.skips.lines()) or "the files hold no record; check the path"
            raise DataError(f"{read}: not one {self.kind} to write; {why}")


@dataclass(frozen=True)
class Adapted:
    """What `adapt` wrote.

    Attributes:
        source: the data set.
        cases: the gold file.
        without_claims: how many cases have no gold claim.
        claims: {provenance: gold claims}.
        corpus: the file of chunks; None where none was asked for.
    """

    source: Adapter
    cases: Output
    without_claims: int
    claims: Mapping[str, int]
    corpus: Output | None = None

    def lines(self) -> list[str]:
        """Returns the summary, one fact a line."""
        claims = ", ".join(f"{count:,} {provenance}" for provenance, count in sorted(self.claims.items()))
        cases = f"{self.cases.records:,} cases ({self.without_claims:,} without gold claims)"
        corpus = self.corpus
        return [
            f"wrote {self.cases.path}: {cases}, gold claims: {claims or 'none'}",
            *([f"wrote {corpus.path}: {corpus.records:,} chunks"] if corpus else []),
            *self.cases.skips.lines(),
            *(f"corpus: {line}" for line in (corpus.skips.lines() if corpus else ())),
            f"source: {self.source.title}, {self.source.url}",
            f"licence: {self.source.licence}",
            f"cite: {self.source.citation}",
        ]


def adapt(
    name: str,
    path: Path,
    out: Path,
    *,
    limit: int | None = None,
    seed: int | None = None,
    corpus: Path | None = None,
    cap: int = defaults.GOLD_CLAIMS,
) -> Adapted:
    """Writes the cases of the data set `name` to `out` as JSON Lines, and its documents to `corpus`.

    Both files are written whole, or neither is.

    Args:
        name: of an adapter.
        path: file, folder or archive as the authors publish it.
        out: gold file to write.
        limit: how many cases to take; None takes all.
        seed: with a limit, takes a random part instead of the first cases.
        corpus: chunk file for the data set's documents, all of them whatever the limit; None writes no
            documents.
        cap: most gold claims extracted from an answer.

    Raises:
        DataError: an unknown data set, a `corpus` for a data set without documents, a file to write that is
            read too, no case at all, or a damaged file.
        ValueError: `limit` or `cap` is below 1.
    """
    adapter = find_adapter(name)
    if corpus is not None and not adapter.chunked:
        raise DataError(f"{name} has no documents to write to {corpus}; leave out the corpus")
    _check_targets(path, [out] if corpus is None else [out, corpus])
    cases, chunks = Output(out, "case"), Output(corpus, "document") if corpus is not None else None
    claims = Counter[str]()
    read = adapter.read_with_gold(path, limit=limit, seed=seed, skips=cases.skips, cap=cap)
    with ExitStack() as files:
        cases.write(_counted(read, claims), read=path, files=files)
        if chunks:
            chunks.write(adapter.read_chunks(path, skips=chunks.skips), read=path, files=files)
    return Adapted(adapter, cases, claims.pop(_NO_CLAIM, 0), claims, chunks)


def _check_targets(path: Path, targets: list[Path]) -> None:
    """Raises DataError where the two `targets` are the same file, or a target is a file of `path`."""
    if len({target.resolve() for target in targets}) < len(targets):
        raise DataError(f"{targets[0]}: given for the cases and for the documents; name two files")
    existing = [target for target in targets if target.exists()]
    read = {file.resolve() for file in paths_of(path)} if existing and path.exists() else set()
    for target in existing:
        if target.resolve() in read:
            raise DataError(
                f"{target}: belongs to what is read, {path}, and would be written over; name another file, "
                "best in another folder"
            )


def _counted(cases: Iterator[Case], claims: Counter[str]) -> Iterator[Case]:
    """Yields `cases`, and counts their gold claims by provenance in `claims` as they pass."""
    for case in cases:
        claims.update([claim.provenance for claim in case.gold_claims] or [_NO_CLAIM])
        yield case


def write_gold_review(gold: Path, sheet: Path) -> int:
    """Writes the gold claims of the cases in `gold` to `sheet` for a person to edit; returns how many cases.

    Raises:
        DataError: a file named `sheet` exists already; a damaged gold file.
    """
    if sheet.exists():
        raise DataError(
            f"{sheet}: there already, and may hold a reviewer's edits; apply it, remove it, or give another "
            "name"
        )
    return write_review_sheet(read_gold_file(gold), sheet)


def apply_gold_review(gold: Path, sheet: Path, *, out: Path | None = None) -> Reviewed:
    """Writes the cases of `gold` with the edits of `sheet` to `out`, whole or not at all.

    Args:
        gold: the gold file that the sheet was written from.
        sheet: the edited sheet.
        out: the file to write; None writes over `gold`.

    Raises:
        DataError: `out` is the sheet; further reasons are those of `read_review_sheet` and `apply_review`.
            The gold file is untouched then.
    """
    if (out or gold).resolve() == sheet.resolve():
        raise DataError(
            f"{out or gold}: the reviewed cases would be written over the sheet; name another file"
        )
    reviewed = apply_review(read_gold_file(gold), read_review_sheet(sheet))
    write_records(out or gold, reviewed.cases)
    return reviewed
