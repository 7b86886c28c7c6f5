"""What retrieval reads of a chunk before its text, and that nobody else reads it."""

import json
import sys
import types

import pytest

from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk
from pytest_medfaith.retrieval.bm25 import searchable_text
from pytest_medfaith.retrieval.build import build_retriever
from pytest_medfaith.retrieval.context import contextual_chunks
from pytest_medfaith.retrieval.index import corpus_hash
from pytest_medfaith.retrieval.settings import RetrievalSettings
from pytest_medfaith.retrieval.signature import retriever_signature

DOSE = Chunk(id="dose", title="Iron", section_path=("Treatment", "Dose"), text="One tablet a day.")
ZINC = Chunk(id="zinc", title="Zinc", section_path=("Zinc", "Uses"), text="One tablet against colds a day.")
CHUNKS = [DOSE, ZINC]


def read(context, chunk=DOSE, **given):
    return searchable_text(contextual_chunks([chunk], context, **given)[0])


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ("path", "Iron > Treatment > Dose. One tablet a day."),
        ("title", "Iron. One tablet a day."),
        ("none", "One tablet a day."),
    ],
)
def test_the_context_is_read_before_the_text(context, expected):
    assert read(context) == expected


def test_a_title_that_the_path_begins_with_is_read_once():
    assert read("path", ZINC) == "Zinc > Uses. One tablet against colds a day."


def test_what_chunking_kept_is_read_once_and_not_without_context():
    kept = DOSE.with_(extra={"prefix": "Iron > Treatment > Dose"})
    assert read("path", kept) == "Iron > Treatment > Dose. One tablet a day."
    told = DOSE.with_(extra={"prefix": "About anaemia"})
    assert read("path", told) == "Iron > Treatment > Dose. About anaemia. One tablet a day."
    assert read("none", told) == "One tablet a day."


@pytest.mark.parametrize("name", ["bm25", "rank-bm25", "bm25s"])
def test_hits_hold_the_chunks_of_the_corpus(name):
    found = build_retriever(name, CHUNKS)("treatment", top_k=2)
    assert [hit.chunk for hit in found] == [DOSE]
    assert found[0].chunk.extra == {}
    settings = RetrievalSettings(chunk_context="title")
    assert build_retriever(name, CHUNKS, settings=settings)("treatment", top_k=2) == []


def test_a_name_with_settings_reads_as_they_say():
    assert build_retriever("bm25[context=none]", CHUNKS)("iron", top_k=2) == []
    assert build_retriever("bm25[context=title]", CHUNKS)("iron", top_k=2)[0].chunk == DOSE


def test_index_and_signature_tell_contexts_apart():
    kinds = ("path", "title", "none")
    assert len({corpus_hash(contextual_chunks(CHUNKS, kind)) for kind in kinds}) == 3
    signed = [retriever_signature(f"bm25[context={kind}]", RetrievalSettings(), size=2) for kind in kinds]
    assert [row["chunk_context"] for row in signed] == list(kinds)


def test_lines_about_chunks_are_read_from_a_file_and_from_a_callable(tmp_path, monkeypatch):
    path = tmp_path / "lines.jsonl"
    path.write_text(json.dumps({"id": "dose", "line": "For anaemia."}) + "\n")
    found = build_retriever("bm25", CHUNKS, settings=RetrievalSettings(chunk_lines=str(path)))
    assert [hit.chunk for hit in found("anaemia", top_k=2)] == [DOSE]
    module = types.ModuleType("lines_of_mine")
    module.write = lambda chunk: f"Question about {chunk.id}s."
    monkeypatch.setitem(sys.modules, "lines_of_mine", module)
    found = build_retriever("bm25", CHUNKS, settings=RetrievalSettings(chunk_lines="lines_of_mine:write"))
    assert [hit.chunk for hit in found("zincs", top_k=2)] == [ZINC]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"id": "dose"}], "lines.jsonl:1: got .*expected"),
        ([{"id": "gone", "line": "x"}], "lines.jsonl:1: the corpus holds no chunk 'gone'"),
        (
            [{"id": "dose", "line": "x"}, {"id": "dose", "line": "y"}],
            "lines.jsonl:2: the chunk 'dose' has two",
        ),
    ],
)
def test_lines_that_do_not_fit_are_an_error(rows, message, tmp_path):
    path = tmp_path / "lines.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(DataError, match=message):
        contextual_chunks(CHUNKS, "path", lines=str(path))


def test_a_line_that_is_no_text_and_an_unknown_context_are_errors(monkeypatch):
    module = types.ModuleType("lines_of_mine")
    module.write = lambda _chunk: None
    monkeypatch.setitem(sys.modules, "lines_of_mine", module)
    with pytest.raises(DataError, match="gave None for the chunk 'dose'"):
        contextual_chunks(CHUNKS, "path", lines="lines_of_mine:write")
    with pytest.raises(DataError, match="chunk_context is 'all'; expected one of path, title, none"):
        contextual_chunks(CHUNKS, "all")
