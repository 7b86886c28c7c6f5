"""The time of the steps of a retrieval, and the size of an index."""

import time

import pytest

from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk
from pytest_medfaith.retrieval.bm25 import bm25_retriever
from pytest_medfaith.retrieval.build import build_retriever
from pytest_medfaith.retrieval.cost import index_bytes, measured_steps, sized, timed
from pytest_medfaith.retrieval.settings import RetrievalSettings

CHUNKS = [Chunk(id=str(number), text=f"Iron tablet {number} treats anaemia.") for number in range(30)]


def test_each_step_is_timed_and_the_whole():
    with measured_steps() as steps:
        for _ in range(2):
            with timed("encode"):
                time.sleep(0.01)
        time.sleep(0.01)
    assert set(steps) == {"encode", "total"}
    assert 20 <= steps["encode"] <= steps["total"] - 10


def test_nothing_is_noted_where_nothing_is_measured():
    with timed("search"):
        pass
    with measured_steps() as steps:
        pass
    assert set(steps) == {"total"}


def test_a_step_that_fails_is_timed_and_the_measurement_ends():
    with pytest.raises(ValueError, match="no"), measured_steps() as steps, timed("search"):
        raise ValueError("no")
    assert set(steps) == {"search", "total"}
    with timed("search"):
        pass
    assert steps.keys() == {"search", "total"}


@pytest.mark.parametrize(
    ("name", "told"),
    [("bm25", {"search"}), ("dense", {"encode", "search"}), ("rrf", {"encode", "search", "fuse"})],
)
def test_the_built_in_retrievers_tell_their_steps(tmp_path, name, told):
    retriever = build_retriever(name, CHUNKS, settings=RetrievalSettings(cache=tmp_path))
    with measured_steps() as steps:
        assert retriever("What treats anaemia?", top_k=3)
    assert set(steps) == told | {"total"}
    assert sum(steps[step] for step in told) <= steps["total"]


def test_an_index_grows_with_its_corpus_and_fusions_hold_all_of_theirs(tmp_path):
    def size(name, chunks=CHUNKS):
        return index_bytes(build_retriever(name, chunks, settings=RetrievalSettings(cache=tmp_path)))

    assert size("dense") == 30 * 384 * 4
    assert 0 < size("bm25", CHUNKS[:3]) < size("bm25")
    assert size("rrf") == size("weighted") == size("bm25") + size("dense")


def test_a_retriever_may_not_know_its_size():
    assert index_bytes(lambda *_, **__: []) is None
    assert index_bytes(None) is None
    assert index_bytes(sized(bm25_retriever(CHUNKS), 7)) == 7


@pytest.mark.parametrize("told", ["12", -1, True, 1.5])
def test_a_size_that_is_no_number_of_bytes_is_an_error(told):
    with pytest.raises(DataError, match=r"index_bytes of .*expected a whole number of 0 or more"):
        index_bytes(sized(lambda *_, **__: [], told))
