"""Turns pages into a file of chunks: reads documents, cuts them, and drops near-duplicates if asked.

All goes in a stream, so memory does not hold the whole corpus.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pytest_medfaith.corpus.cut import Prefix, chunk_document, document_name, unbroken
from pytest_medfaith.corpus.dedup import Dropped, Method, drop_near_duplicates
from pytest_medfaith.corpus.documents import SUFFIXES, documents_of
from pytest_medfaith.corpus.pdf_docx import PDF_DOCX_SUFFIXES
from pytest_medfaith.corpus.sections import Document
from pytest_medfaith.corpus.sources import SourceFile, paths_of, source_files
from pytest_medfaith.corpus.tokens import token_offsets
from pytest_medfaith.corpus.windows import CountTokens, WindowSize
from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import atomic_writer
from pytest_medfaith.records import Chunk

# A larger file may hold a whole year of abstracts. This process reads it record by record; workers only cut
# the documents.
_LARGE_FILE = 4_000_000  # bytes
_TASK_BYTES = 500_000
_TASK_FILES = 64
_TASKS_AHEAD = 3  # tasks that may wait for each worker


@dataclass(frozen=True)
class ChunkSummary:
    """What was written.

    Attributes:
        out: the file of chunks.
        documents: documents with text, and `characters` their length together.
        chunks: chunks in the file.
        skipped: {reason: how many files, documents or parts held nothing to chunk}.
        dropped: the near-duplicates that were left out.
    """

    out: Path
    documents: int
    chunks: int
    characters: int
    skipped: Mapping[str, int]
    dropped: tuple[Dropped, ...] = ()

    def __str__(self) -> str:
        """Returns a line such as "out/nih.jsonl: 12 chunks of 3 documents, 1 skipped (empty answer)"."""
        parts = [f"{self.chunks} chunks of {self.documents} documents"]
        parts += [f"{len(self.dropped)} near-duplicates dropped"] * bool(self.dropped)
        parts += [f"{count} skipped ({reason})" for reason, count in sorted(self.skipped.items())]
        return f"{self.out}: " + ", ".join(parts)


@dataclass(frozen=True)
class _Task:
    """A piece of work for a process: files to read and cut, or documents that only need to be cut.

    `size` is how many bytes of the source it covers, for progress.
    """

    files: tuple[SourceFile, ...] = ()
    documents: tuple[Document, ...] = ()
    size: int = 0


@dataclass(frozen=True)
class _Cut:
    """The chunks of a document, each as a line of JSON.

    `file`, `item` and `line` say where the document is from, see `Document`. `name` is its part of the
    chunks' ids; another document may have the same. `characters` is the length of its text.
    """

    file: str
    item: str
    line: int
    name: str
    characters: int
    lines: tuple[str, ...]
    skipped: Mapping[str, int]


def chunk_source(
    src: Path,
    *,
    source: str,
    out: Path,
    shape: WindowSize | None = None,
    prefix: Prefix | None = None,
    dedup: Method | None = None,
    dedup_threshold: float | None = None,
    workers: int = 1,
    count_tokens: CountTokens = token_offsets,
    progress: Callable[[int, int], None] | None = None,
) -> ChunkSummary:
    """Cuts the pages of `src` into chunks, and writes them to `<out>/<name of src>.jsonl`.

    The file is written whole or not at all. Ids are `<source>/<document>-NNN`; the document is its path below
    `src` without suffix, or its id in a file of many. `chunk.start` and `chunk.end` are offsets into the
    document's normalised text, see `original_span`. Sections named Abstract stay whole.

    Args:
        src: a page, or a folder or archive (.tar.*, .zip) of pages, of the formats in `documents.SUFFIXES`.
        source: name of the corpus, such as `statpearls`.
        out: the folder to write to, or a .jsonl file.
        shape: how large a chunk may be; None takes the defaults.
        prefix: "title" keeps title and section path in `extra["prefix"]`; a function (document's text, chunk)
            -> line, called in this process, returns what to keep there.
        dedup: "minhash", or an embedding function; `<name>.dropped.csv` lists the dropped chunks.
        dedup_threshold: the similarity from which `drop_near_duplicates` drops a chunk.
        workers: processes that read and cut, each a document at a time; the result does not depend on it.
        count_tokens: returns a text's token spans; a module-level function where `workers` is above 1.
        progress: called with (bytes done, bytes in all).

    Raises:
        DataError: nothing to chunk in `src`, or a malformed file; the message names file and place.
        MissingExtra: a PDF or DOCX without the extra `pdf`, "minhash" without the extra `dedup`.
        ValueError: an argument out of its range.
    """
    run = _Run(src, _target(src, source, out, workers))
    cut = partial(_cut_task, source=source, shape=shape, prefix=prefix, count_tokens=count_tokens)
    clean = None if dedup is None else partial(_deduplicated, method=dedup, threshold=dedup_threshold)
    return run.write(cut, clean, workers=1 if callable(prefix) else workers, progress=progress)


def _target(src: Path, source: str, out: Path, workers: int) -> Path:
    """Returns the file to write.

    Raises:
        ValueError: the file lies in `src` and would be read too, or another argument is wrong.
    """
    if re.fullmatch(r"[\w.-]+", source) is None:
        raise ValueError(
            f"source is {source!r}, expected a name of letters, digits, '_', '-' and '.', such as statpearls"
        )
    if workers < 1:
        raise ValueError(f"workers is {workers}, expected at least 1")
    if src.is_dir() and out.resolve().is_relative_to(src.resolve()):
        raise ValueError(
            f"out {out} lies inside {src}, whose files would hold their own chunks the next time; choose a "
            "folder beside it"
        )
    name = src.resolve().name
    stem = name if src.is_dir() else re.sub(r"(?:\.tar)?\.\w+$", "", name)
    target = out if out.suffix == ".jsonl" else out / f"{stem or source}.jsonl"
    if target.resolve() == src.resolve():
        raise ValueError(
            f"the chunks of {src} would be written over it; choose another folder, or name a .jsonl file"
        )
    return target


def _tasks(src: Path, skip: Callable[[str], None]) -> Iterator[_Task]:
    """Yields the work of `src` in order, in pieces of about half a megabyte.

    `skip` is told of unknown files.
    """
    files: list[SourceFile] = []
    for file in source_files(src):
        if file.suffix not in SUFFIXES:
            skip(f"files of type {file.suffix or '(none)'}")
            continue
        # This process reads PDF and DOCX, whose models are loaded once, and files too large to hold whole.
        large = file.suffix in {".xml", ".nxml", ".jsonl"} and _bytes([file]) > _LARGE_FILE
        alone = large or file.suffix in PDF_DOCX_SUFFIXES
        if files and (alone or len(files) == _TASK_FILES or _bytes(files) > _TASK_BYTES):
            yield _Task(files=tuple(files), size=sum(waiting.size for waiting in files))
            files = []
        if alone:
            yield from _document_tasks(file)
        else:
            files.append(file)
    if files:
        yield _Task(files=tuple(files), size=sum(file.size for file in files))


def _bytes(files: list[SourceFile]) -> int:
    return sum(file.size if file.data is None else len(file.data) for file in files)


def _document_tasks(file: SourceFile) -> Iterator[_Task]:
    """Yields the documents of a file that this process reads itself, in pieces of 64."""
    waiting: list[Document] = []
    left = file.size
    for document in documents_of(file):
        waiting.append(document)
        if len(waiting) == _TASK_FILES:
            # Characters in the place of bytes are near enough for a progress bar.
            share = min(left, sum(len(document.text) for document in waiting))
            yield _Task(documents=tuple(waiting), size=share)
            waiting, left = [], left - share
    yield _Task(documents=tuple(waiting), size=left)


def _cut_task(
    task: _Task, *, source: str, shape: WindowSize | None, prefix: Prefix | None, count_tokens: CountTokens
) -> tuple[int, list[_Cut]]:
    """Returns (size of the task, its documents cut into chunks)."""
    documents = task.documents or (document for file in task.files for document in documents_of(file))
    cut = []
    for document in documents:
        chunks = chunk_document(
            document, source=source, shape=shape, prefix=prefix, count_tokens=count_tokens
        )
        cut.append(
            _Cut(
                file=document.file,
                item=document.item,
                line=document.line,
                name=document_name(document),
                characters=len(document.text),
                lines=tuple(map(_line, chunks)),
                skipped=document.skipped,
            )
        )
    return task.size, cut


def _deduplicated(lines: Iterator[str], **how: Any) -> Iterator[str]:
    """Yields those lines whose chunks are no near-duplicates; `how` is for `drop_near_duplicates`."""
    return map(_line, drop_near_duplicates(map(_chunk, lines), **how))


def _line(chunk: Chunk) -> str:
    return json.dumps(chunk.to_dict(), ensure_ascii=False, allow_nan=False)


def _chunk(line: str) -> Chunk:
    return Chunk.from_dict(json.loads(line))


def _in_order(
    work: Callable[[_Task], Any], tasks: Iterator[_Task], *, workers: int, closing: ExitStack
) -> Iterator[Any]:
    """Yields the result of `work` for each task, in order, computed by `workers` processes.

    Few tasks are taken ahead, so that memory does not fill. `closing` ends the processes.
    """
    if workers == 1:
        yield from map(work, tasks)
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # spawn: a fork of a process that runs threads (a tokenizer, a progress display) can hang
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    closing.callback(pool.shutdown, wait=True, cancel_futures=True)
    waiting: deque[Any] = deque()
    for task in tasks:
        waiting.append(pool.submit(work, task))
        if len(waiting) > workers * _TASKS_AHEAD:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _shown(
    results: Iterable[tuple[int, list[_Cut]]], *, total: int, progress: Callable[[int, int], None] | None
) -> Iterator[_Cut]:
    """Yields the documents of `results`, and tells `progress` the bytes done of `total`."""
    done = 0
    for size, cut in results:
        yield from cut
        done = min(done + size, total)
        if progress is not None and size and done < total:
            progress(done, total)
    if progress is not None:
        progress(total, total)


class _Run:
    """Writes the chunks of `src` to `target` with unique ids, and counts what becomes of the documents."""

    def __init__(self, src: Path, target: Path) -> None:
        self.src, self.target = src, target
        self.documents = self.written = self.characters = 0
        self.skipped: Counter[str] = Counter()
        self.dropped: list[Dropped] = []
        self._names: set[bytes] = set()

    def write(
        self,
        cut: Callable[[_Task], tuple[int, list[_Cut]]],
        clean: Callable[..., Iterator[str]] | None,
        *,
        workers: int,
        progress: Callable[[int, int], None] | None,
    ) -> ChunkSummary:
        """Writes the chunks and the list of dropped ones, and returns the summary.

        Args:
            cut: reads and cuts a task.
            clean: drops near-duplicates from lines of chunks; None drops nothing.
            workers: processes that cut.
            progress: called with (bytes done, bytes in all).

        Raises:
            DataError: no document held text.
        """
        with ExitStack() as closing:
            results = _in_order(cut, _tasks(self.src, self.skip), workers=workers, closing=closing)
            total = sum(path.stat().st_size for path in paths_of(self.src))
            lines = self.named(_shown(results, total=total, progress=progress))
            if clean:
                lines = clean(lines, on_drop=self.dropped.append)
            written = closing.enter_context(atomic_writer(self.target))
            for line in lines:
                written.write(line + "\n")
                self.written += 1
            reasons = [f"{count} skipped ({reason})" for reason, count in sorted(self.skipped.items())]
            if not self.written:
                why, kinds = "; ".join(["", *reasons]), ", ".join(sorted(SUFFIXES))
                raise DataError(f"{self.src}: holds no text to chunk{why}; expected pages in {kinds}")
        _write_dropped(self.target.with_suffix(".dropped.csv"), self.dropped if clean else None)
        return ChunkSummary(
            self.target,
            self.documents,
            self.written,
            self.characters,
            dict(self.skipped),
            tuple(self.dropped),
        )

    def skip(self, reason: str) -> None:
        """Counts a file or document that held nothing to chunk."""
        self.skipped[reason] += 1

    def named(self, cuts: Iterable[_Cut]) -> Iterator[str]:
        """Yields the chunks of `cuts` as lines of JSON, with unique ids.

        If `a.html` and `a.md` are both named "a", the second keeps its suffix.

        Raises:
            DataError: two documents have the same id.
        """
        for cut in cuts:
            self.skipped.update(cut.skipped)
            if not cut.lines:
                self.skip("documents without text")
                continue
            self.documents += 1
            self.characters += cut.characters
            if self._is_new(cut.name):
                yield from cut.lines
            elif not cut.item and self._is_new(unbroken(cut.file)):
                for chunk in map(_chunk, cut.lines):
                    before = len(f"{chunk.source}/")
                    number = chunk.id[before + len(cut.name) :]
                    yield _line(chunk.with_(id=f"{chunk.source}/{unbroken(cut.file)}{number}"))
            else:
                place = f"{cut.file}:{cut.line}" if cut.line else cut.file
                raise DataError(
                    f"{place}: a document {cut.name!r} was read already; ids must be unique, so remove one "
                    "of the two"
                )

    def _is_new(self, name: str) -> bool:
        # A digest, since there may be millions of names.
        """Returns whether no document had this name before, and remembers it."""
        mark = hashlib.blake2b(name.encode(), digest_size=8).digest()
        if mark in self._names:
            return False
        self._names.add(mark)
        return True


def _write_dropped(path: Path, dropped: list[Dropped] | None) -> None:
    """Writes the list of dropped chunks as CSV; None removes the list of an earlier run."""
    if dropped is None:
        path.unlink(missing_ok=True)
        return
    with atomic_writer(path) as out:
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(["dropped", "kept", "similarity", "method"])
        rows.writerows((row.id, row.kept, row.similarity, row.method) for row in dropped)
