"""Tries to get a green from rows that judge retrieval.

Such rows have nothing found, nothing to judge by, a failure, or edited cells.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

from pytest_medfaith.cli import main
from pytest_medfaith.run.resources import Resources
from pytest_medfaith.testing import containment_checker

CHUNKS = [
    {"id": "iron", "title": "Iron", "text": "Iron tablets treat iron deficiency.", "year": 2020},
    {"id": "gout", "title": "Gout", "text": "Allopurinol lowers uric acid in gout.", "year": 2001},
    {"id": "cold", "title": "Cold", "text": "Zinc was studied in colds.", "year": 2001},
]
CASES = [
    {
        "id": "a",
        "question": "iron deficiency",
        "gold_claims": [{"id": "g", "text": "Iron tablets treat iron deficiency."}],
        "references": ["iron"],
    },
    {
        "id": "b",
        "question": "uric acid",
        "gold_claims": [{"id": "g", "text": "Allopurinol lowers uric acid in gout."}],
        "references": ["gout"],
    },
]
ANSWERS = [
    {"case_id": "a", "answer": "Iron tablets treat iron deficiency.", "contexts": [{"id": "iron"}]},
    {"case_id": "b", "answer": "Allopurinol lowers uric acid in gout.", "contexts": [{"id": "gout"}]},
]
SEARCH = """
from pytest_medfaith.records import Hit

def nothing(_chunks):
    return lambda _query, **_: []

def wrong(chunks):
    return lambda _query, *, top_k: [Hit(chunk=chunks[-1], rank=1, score=1.0)]

def broken(_chunks):
    def search(_query, *, top_k):
        raise RuntimeError("gone")
    return search

def stops(chunks):
    def search(query, *, top_k):
        if "uric" in query:
            raise RuntimeError("gone")
        return wrong(chunks)(query, top_k=top_k)
    return search
"""
GOOD, ANSWERED = 'gates = ["rchunk.hit@k >= 0.5"]', 'gates = ["faithfulness >= 0.5"]'
Change = Callable[[Path], None]


def _without(key: str) -> Change:
    def change(folder: Path) -> None:
        rows = [{name: value for name, value in row.items() if name != key} for row in CASES]
        _write(folder / "gold.jsonl", rows)

    return change


def _edit_cells(folder: Path) -> None:
    """Ablates once, and edits what is kept of each case: every hit is an r-chunk now."""
    _status(folder, ["ablation", "--retrieval-only", "--k", "1", "--k", "2"])
    for path in (folder / ".medfaith_cache" / "ablation").glob("*.jsonl"):
        path.write_text(path.read_text(encoding="utf-8").replace("false", "true"), encoding="utf-8")


TRIES: dict[str, tuple[list[str], str, Change | None]] = {
    "a retriever that finds nothing": (
        ["evaluate", "--retrieval-only", "--retriever", "search:nothing"],
        GOOD,
        None,
    ),
    "a retriever that finds what is wrong": (
        ["evaluate", "--retrieval-only", "--retriever", "search:wrong"],
        GOOD,
        None,
    ),
    "cases without gold claims": (["evaluate", "--retrieval-only"], GOOD, _without("gold_claims")),
    "cases without references": (
        ["evaluate", "--retrieval-only"],
        'gates = ["recall@k >= 0.1"]',
        _without("references"),
    ),
    "recall over a single retriever": (
        ["evaluate", "--retrieval-only"],
        'gates = ["rchunk.recall@k >= 0.1"]',
        None,
    ),
    "a filter that matches nothing": (["evaluate", "--retrieval-only", "--filter", "year=1900"], GOOD, None),
    "a filter that leaves out the evidence": (
        ["evaluate", "--contexts", "retrieved", "--filter", "year=2020"],
        'gates = ["faithfulness >= 0.9"]',
        None,
    ),
    "claims judged by nothing found": (
        ["evaluate", "--contexts", "retrieved", "--retriever", "search:nothing"],
        ANSWERED,
        None,
    ),
    "claims judged one by one by nothing found": (
        ["evaluate", "--contexts", "per-claim", "--retriever", ("search:nothing")],
        ANSWERED,
        None,
    ),
    "claims judged by what is wrong": (
        ["evaluate", "--contexts", "per-claim", "--retriever", "search:wrong"],
        ANSWERED,
        None,
    ),
    "an ablation with a row that raises": (
        ["ablation", "--retrieval-only", "--retriever", "bm25", "--retriever", "search:broken"],
        GOOD,
        None,
    ),
    "an ablation whose first row raises": (
        ["ablation", "--retrieval-only", "--retriever", "search:broken", "--retriever", "bm25"],
        GOOD,
        None,
    ),
    "an ablation with a row that raises on its last case": (
        ["ablation", "--retrieval-only", "--retriever", "bm25", "--retriever", "search:stops"],
        "",
        None,
    ),
    "an ablation with a bad row behind a good row": (
        ["ablation", "--retrieval-only", "--retriever", "bm25", "--retriever", "search:wrong"],
        GOOD,
        None,
    ),
    "an ablation of rows that are one": (
        [
            "ablation",
            "--retrieval-only",
            "--retriever",
            "bm25",
            "--encoder",
            "default",
            "--encoder",
            "e5-base",
        ],
        GOOD,
        None,
    ),
    "an ablation over a value that is unknown": (
        ["ablation", "--retrieval-only", "--chunk-context", "all", "--chunk-context", "path"],
        GOOD,
        None,
    ),
    "an ablation whose cells were edited": (
        ["ablation", "--retrieval-only", "--k", "1", "--k", "2"],
        'gates = ["rchunk.precision@k >= 0.9"]',
        _edit_cells,
    ),
}


def _write(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@contextlib.contextmanager
def _project(gates: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        folder, before = Path(name), Path.cwd()
        (folder / "corpus").mkdir()
        for place, rows in (("corpus/chunks", CHUNKS), ("gold", CASES), ("answers", ANSWERS)):
            _write(folder / f"{place}.jsonl", rows)
        (folder / "search.py").write_text(SEARCH, encoding="utf-8")
        (folder / "pyproject.toml").write_text(
            '[tool.medfaith.slices.mini]\ncases = "gold.jsonl"\ncorpus = ["corpus"]\nresponses = '
            '"answers.jsonl"\n'
            f'retriever = "bm25"\nk = 2\n{gates}\n',
            encoding="utf-8",
        )
        os.chdir(folder)
        sys.path.insert(0, name)
        try:
            yield folder
        finally:
            os.chdir(before)
            sys.path.remove(name)
            sys.modules.pop("search", None)


def _status(folder: Path, arguments: list[str]) -> int:
    """Returns the exit status of a command in the project, which judges by shared words."""
    checker = dataclasses.replace(containment_checker(), name="default")
    command, *rest = arguments
    told = [command, "mini", *rest, "--root", str(folder)]
    with (
        mock.patch.object(Resources, "checker", return_value=checker),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        try:
            main(told)
        except SystemExit as end:
            return int(end.code or 0)
    return 0


def tries() -> list[str]:
    return list(TRIES)


def green(name: str) -> str:
    """Returns "is green" where a try ends with the exit status 0."""
    arguments, gates, change = TRIES[name]
    with _project(gates) as folder:
        if change:
            change(folder)
        return "" if _status(folder, arguments) else "is green"


def sound_run() -> int:
    """Returns the exit status of a run that is green for good reasons."""
    with _project(GOOD) as folder:
        return _status(folder, ["ablation", "--retrieval-only", "--k", "1", "--k", "2"])
