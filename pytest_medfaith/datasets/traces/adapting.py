"""The work behind `medfaith adapt traces`: turns a file of spans into a file of responses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_medfaith.corpus.sources import is_archive, source_files
from pytest_medfaith.datasets.files import open_text
from pytest_medfaith.datasets.json_stream import values
from pytest_medfaith.datasets.traces.joining import Turn, turns
from pytest_medfaith.datasets.traces.spans import Span, spans_of
from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import read_rows, refuse_overwriting, write_records


@dataclass(frozen=True, kw_only=True)
class AdaptedTraces:
    """What `adapt_traces` wrote, and the turns that were left out or lack something."""

    out: Path
    spans: int
    traces: int
    written: Sequence[Turn]
    unanswered: Sequence[Turn]

    def lines(self) -> list[str]:
        """Returns the summary, one fact a line; every trace that lacks something is named."""
        bare = [turn for turn in self.written if not turn.contexts]
        unasked = [turn for turn in self.written if not turn.question]
        textless = [turn for turn in self.written if turn.textless and turn.contexts]
        facts = (
            ("left out, since no span holds an answer", self.unanswered),
            ('without contexts, and failed cases unless the slice says contexts = "optional"', bare),
            ("without a question", unasked),
            ("with documents that hold no text, which are left out", textless),
        )
        of = f"{_counted(self.traces, 'trace')} in {_counted(self.spans, 'span')}"
        lines = [f"wrote {self.out}: {_counted(len(self.written), 'response')} of {of}"]
        for what, found in facts:
            if found:
                names = ", ".join(turn.id for turn in found)
                lines.append(f"{_counted(len(found), 'trace')} {what}: {names}")
        return lines


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def adapt_traces(path: Path, out: Path, *, limit: int | None = None) -> AdaptedTraces:
    """Writes the responses that the traces in `path` hold to `out` as JSON Lines, whole or not at all.

    A response without contexts is written too: a check must see an answer that nothing was retrieved for.

    Args:
        path: spans as JSON Lines, or as a single JSON document; also gzipped.
        out: the responses file; its rows serve as cases too.
        limit: takes the first so many responses; None takes all.

    Raises:
        DataError: no such file, a line that is no JSON or no known span, no answer in any trace, or an `out`
            that is `path`.
    """
    refuse_overwriting({"--out": out}, {"the file of traces": path})
    spans = list(read_spans(path))
    found = list(turns(spans))
    written = [turn for turn in found if turn.answer][:limit]
    unanswered = [turn for turn in found if not turn.answer]
    if not written:
        raise DataError(
            f"{path}: {len(spans)} spans of {len(found)} traces, and none holds an answer; expected the "
            "output of a root or LLM span, such as output.value, gen_ai.output.messages, output or outputs. "
            "Was the recording of contents switched on?"
        )
    write_records(out, [turn.to_dict() for turn in written])
    return AdaptedTraces(
        out=out,
        spans=len(spans),
        traces=len({turn.trace for turn in found}),
        written=written,
        unanswered=unanswered,
    )


def read_spans(path: Path) -> Iterator[Span]:
    """Yields the spans of a file of JSON Lines, or of a file that is a single JSON document.

    Raises:
        DataError: no such file, a line that is no JSON or no known span; the message names file and line.
    """
    if not path.is_file():
        raise DataError(f"{path}: no such file; expected an export of spans as JSON Lines")
    for place, row in _rows(path):
        try:
            found = [span for item in (row if isinstance(row, list) else [row]) for span in spans_of(item)]
        except DataError as error:
            raise DataError(f"{place}: {error}") from None
        yield from found


def _rows(path: Path) -> Iterator[tuple[str, Any]]:
    """Yields ("path:line", value); a file whose first line is no whole object is a single document."""
    if not is_archive(path) and _is_whole(path):
        yield from ((f"{path}:{number}", row) for number, row in read_rows(path))
        return
    for file in source_files(path):
        with open_text(file) as stream:
            yield from values(stream, file.place)


def _is_whole(path: Path) -> bool:
    """Returns whether the first line of `path` is a whole JSON object."""
    with path.open("rb") as lines:
        first = next((line for line in lines if line.strip()), b"")
    try:
        return isinstance(json.loads(first.decode("utf-8-sig")), dict)
    except (ValueError, RecursionError):
        return False
