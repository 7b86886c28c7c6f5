"""A corpus of chunks, cut anew for an ablation over chunk size."""

import pytest

from pytest_medfaith.corpus.chunk import chunk_source
from pytest_medfaith.corpus.recut import recut_chunks
from pytest_medfaith.corpus.windows import WindowSize
from pytest_medfaith.jsonl import read_chunks
from pytest_medfaith.metrics.retrieval import ranked_gains
from pytest_medfaith.records import Chunk

PAGE = (
    "# Iron\n\n## Dose\n\n" + " ".join(f"Tablet number {i} is taken on day {i}." for i in range(1, 25)) + "\n"
)


@pytest.fixture
def page(tmp_path):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "iron.md").write_text(PAGE)
    return tmp_path


def chunked(page, size, stride):
    shape = WindowSize(size=size, stride=stride, max_sent=100)
    summary = chunk_source(page / "pages", source="clinic", out=page / f"{size}-{stride}", shape=shape)
    return read_chunks([summary.out])


@pytest.mark.parametrize(("size", "stride"), [(30, 10), (80, 20), (500, 0)])
def test_neighbours_are_joined_so_that_the_page_is_cut_as_if_it_had_been_cut_so_first(page, size, stride):
    once = recut_chunks(chunked(page, 40, 12), shape=WindowSize(size=size, stride=stride, max_sent=100))
    expected = chunked(page, size, stride)
    assert [(chunk.text, chunk.start, chunk.end) for chunk in once] == [
        (chunk.text, chunk.start, chunk.end) for chunk in expected
    ]
    assert len({chunk.id for chunk in once}) == len(once)


def test_a_cut_that_changes_nothing_gives_the_same_chunks(page):
    chunks = chunked(page, 40, 12)
    assert recut_chunks(chunks, shape=WindowSize(size=40, stride=12, max_sent=100)) == chunks


def test_chunks_of_unknown_place_or_another_section_are_not_joined():
    text = "Iron is taken once a day. It is taken with water."
    chunks = [Chunk(id="a", text=text), Chunk(id="b", text=text)]
    assert recut_chunks(chunks, shape=WindowSize(size=500, stride=0)) == chunks
    placed = [
        Chunk(
            id=name,
            text=text,
            section_path=(name,),
            start=start,
            end=start + len(text),
            extra={"document": "d"},
        )
        for name, start in (("a", 0), ("b", len(text) + 1))
    ]
    assert recut_chunks(placed, shape=WindowSize(size=500, stride=0)) == placed


def test_a_new_chunk_has_the_label_of_the_chunk_that_it_was_cut_from():
    text = "Iron is taken once a day. It is taken with water. It is kept dry."
    cut = recut_chunks([Chunk(id="a", text=text)], shape=WindowSize(size=8, stride=0, min_sent=1))
    assert [chunk.extra for chunk in cut] == [{"cut_from": "a"}] * 3
    assert ranked_gains(cut, {"a": 1.0}) == [1.0, 0.0, 0.0]
