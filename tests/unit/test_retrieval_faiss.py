"""Indexes of FAISS: what each kind finds, what is kept, and what is refused."""

import json
import os
import re
import shutil
import time
import warnings
from pathlib import Path

import faiss
import numpy as np
import pytest

from pytest_medfaith import defaults
from pytest_medfaith.cards.summary import retrieval_lines
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Case, Chunk, Report, Response, Retrieval, SliceReport, VectorIndex
from pytest_medfaith.retrieval import faiss_index, index, index_kinds
from pytest_medfaith.retrieval.cost import index_bytes, vector_indexes
from pytest_medfaith.retrieval.dense import dense_retriever
from pytest_medfaith.retrieval.encoders import Encoder
from pytest_medfaith.retrieval.faiss_index import open_index
from pytest_medfaith.retrieval.fusion import fused_retriever
from pytest_medfaith.retrieval.index import embed_corpus, index_folder
from pytest_medfaith.retrieval.index_kinds import IndexChoice, factory_string
from pytest_medfaith.retrieval.index_recall import measure_recall
from pytest_medfaith.retrieval.notes import size_notes
from pytest_medfaith.retrieval.settings import RetrievalSettings

WIDTH = 16
CHUNKS = [Chunk(id=f"c{i}", text=f"Sentence {i}.") for i in range(300)]
KINDS = ("flat", "hnsw", "sq8", "IVF8,Flat", "IVF4,PQ4np")


class Numbered:
    """Gives the text "Sentence 7." the seventh of fixed random vectors, and counts the documents."""

    def __init__(self, *, metric="ip", signature="numbered", seed=0):
        vectors = np.random.default_rng(seed).normal(size=(2000, WIDTH)).astype(np.float32)
        self.vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        self.documents = []
        self.encoder = Encoder("numbered", signature, self.vectors_of, self.read, metric=metric)

    def vectors_of(self, texts):
        return self.vectors[[int(re.findall(r"\d+", text + " 0")[0]) for text in texts]]

    def read(self, documents):
        self.documents += documents
        return self.vectors_of(documents)


def opened(tmp_path, kind, encoder=None, chunks=CHUNKS, **search):
    given = encoder or Numbered()
    return open_index(chunks, given.encoder, cache=tmp_path, choice=IndexChoice(kind=kind, **search))


def file_of(tmp_path, kind, suffix=".faiss"):
    return next(tmp_path.rglob(f"{kind}{suffix}"))


@pytest.mark.parametrize(
    ("kind", "size", "factory"),
    [
        ("flat", 10, "Flat"),
        ("hnsw", 10, "HNSW32"),
        ("sq8", 10, "SQ8"),
        ("OPQ16,IVF4,PQ16", 10, "OPQ16,IVF4,PQ16"),
        ("ivfpq", 9_983, "Flat"),
        ("ivfpq", 9_984, "IVF256,PQ96np"),
        ("ivfpq", 135_000, "IVF1470,PQ96np"),
        ("ivfpq", 1_000_000, "IVF4000,PQ96np"),
    ],
)
def test_a_short_name_is_a_factory_string_of_the_right_size(kind, size, factory):
    assert factory_string(kind, size=size, width=384) == factory


@pytest.mark.parametrize("width", [1, 3, 6, 100, 257, 768])
def test_ivfpq_suits_any_width(width):
    factory = factory_string("ivfpq", size=20_000, width=width)
    assert faiss.index_factory(width, factory).d == width


def test_a_corpus_too_small_for_ivfpq_is_said_and_searched_exactly(tmp_path):
    settings = RetrievalSettings(dense_index="ivfpq")
    note = (
        "the index 'ivfpq' is trained on at least 9984 chunks, and the corpus holds 300: its search is exact"
    )
    assert [note in said for said in size_notes("rrf", settings, size=300)] == [True]
    assert size_notes("bm25", settings, size=300) == size_notes("dense", settings, size=10_000) == []
    held = opened(tmp_path, "ivfpq")
    assert (held.told, type(held.index)) == (None, faiss.IndexFlatIP)


@pytest.mark.parametrize("metric", ["ip", "l2"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_finds_a_chunk_by_the_metric_of_its_encoder(tmp_path, kind, metric):
    choice = IndexChoice(kind=kind, nprobe=8)
    search = dense_retriever(CHUNKS, Numbered(metric=metric).encoder, cache=tmp_path, choice=choice)
    hits = search("Which is number 7?", top_k=5)
    assert [hit.chunk.id for hit in hits[:1]] == ["c7"]
    assert 0.85 < hits[0].score < 1.05
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert file_of(tmp_path, re.sub(r"\W+", "-", kind)).stat().st_size > 0


def test_flat_is_the_default_and_finds_what_the_products_say(tmp_path):
    given = Numbered()
    search = dense_retriever(CHUNKS, given.encoder, cache=tmp_path)
    products = given.vectors[:300] @ given.vectors[400]
    best = np.argsort(-products)[:10]
    hits = search("number 400", top_k=10)
    assert [hit.chunk.id for hit in hits] == [f"c{i}" for i in best]
    assert np.allclose([hit.score for hit in hits], products[best], atol=1e-6)
    assert index_bytes(search) == 300 * WIDTH * 4
    assert vector_indexes(search) == {}


@pytest.mark.parametrize("kind", KINDS)
def test_an_index_is_built_once_and_read_without_encoding(tmp_path, kind):
    opened(tmp_path, kind)
    written = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")}
    again = Numbered()
    held = opened(tmp_path, kind, again)
    assert again.documents == []
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")} == written
    assert held.index.ntotal == 300


@pytest.mark.parametrize("kind", ["hnsw", "IVF4,PQ4np"])
def test_the_same_corpus_gives_the_same_bytes_whatever_the_threads(tmp_path, kind):
    before = faiss.omp_get_max_threads()
    built = []
    for threads in (1, 4):
        faiss.omp_set_num_threads(threads)
        opened(tmp_path / str(threads), kind)
        assert faiss.omp_get_max_threads() == threads
        built.append(file_of(tmp_path / str(threads), re.sub(r"\W+", "-", kind)).read_bytes())
    faiss.omp_set_num_threads(before)
    assert built[0] == built[1]


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="only Linux tells what is mapped")
@pytest.mark.parametrize("kind", KINDS)
def test_an_index_is_mapped_into_memory(tmp_path, kind):
    held = opened(tmp_path, kind)
    path = file_of(tmp_path, re.sub(r"\W+", "-", kind))
    assert str(path) in Path("/proc/self/maps").read_text()
    assert held.index.ntotal == 300


def _cut(path):
    path.write_bytes(path.read_bytes()[:-100])


def _altered(path):
    held = bytearray(path.read_bytes())
    held[len(held) // 2] ^= 1
    path.write_bytes(held)


def _told(path, **values):
    beside = path.with_suffix(".json")
    beside.write_text(json.dumps(json.loads(beside.read_text()) | values))


DAMAGES = {
    "cut": _cut,
    "a bit": _altered,
    "empty": lambda path: path.write_bytes(b""),
    "no json": lambda path: path.with_suffix(".json").write_text("{"),
    "a list": lambda path: path.with_suffix(".json").write_text("[]"),
    "no recall": lambda path: _told(path, recall={"efSearch=256": {}}),
    "recall of words": lambda path: _told(path, recall={"efSearch=256": {"10": "all", "queries": 9}}),
    "deep": lambda path: path.with_suffix(".json").write_text("[" * 100_000),
}


@pytest.mark.parametrize("kind", ["flat", "hnsw"])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_index_is_said_and_made_again(tmp_path, kind, damage):
    opened(tmp_path, kind)
    whole = file_of(tmp_path, kind).read_bytes()
    damage(file_of(tmp_path, kind))
    again = Numbered()
    with pytest.warns(UserWarning, match=rf"{kind}.faiss: the index was damaged or cut short"):
        opened(tmp_path, kind, again)
    assert again.documents == []
    assert file_of(tmp_path, kind).read_bytes() == whole
    opened(tmp_path, kind, again)


def test_where_warnings_are_errors_the_next_run_finds_a_whole_index(tmp_path):
    opened(tmp_path, "hnsw")
    _cut(file_of(tmp_path, "hnsw"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="was made again"):
            opened(tmp_path, "hnsw")
        assert opened(tmp_path, "hnsw").index.ntotal == 300


def test_an_approximate_index_cannot_be_passed_off_as_exact(tmp_path):
    opened(tmp_path, "hnsw")
    _told(file_of(tmp_path, "hnsw"), factory="Flat")
    assert opened(tmp_path, "hnsw").told.factory == "HNSW32"


def test_an_index_without_the_file_that_tells_of_it_is_not_taken(tmp_path):
    opened(tmp_path, "hnsw")
    _cut(file_of(tmp_path, "hnsw"))
    file_of(tmp_path, "hnsw", ".json").unlink()
    held = opened(tmp_path, "hnsw")
    assert held.told.recall["10"] > 0.99


def test_an_index_of_another_version_of_faiss_is_built_again(tmp_path, monkeypatch):
    opened(tmp_path, "hnsw")
    monkeypatch.setattr(faiss_index, "faiss_version", lambda: "99.0")
    again = Numbered()
    opened(tmp_path, "hnsw", again)
    of = json.loads(file_of(tmp_path, "hnsw", ".json").read_text())["of"]
    assert (of["faiss"], of["dimension"]) == ("99.0", WIDTH)
    assert again.documents == []


@pytest.mark.parametrize("what", ["corpus", "encoder"])
def test_an_index_of_something_else_is_refused_with_both_fingerprints(tmp_path, what):
    others = [chunk.with_(text=chunk.text + " ") for chunk in CHUNKS] if what == "corpus" else CHUNKS
    other = Numbered(signature="other" if what == "encoder" else "numbered")
    opened(tmp_path / "other", "hnsw", other, others)
    folder = index_folder(tmp_path, CHUNKS, Numbered().encoder)
    embed_corpus(CHUNKS, Numbered().encoder, cache=tmp_path)
    for path in (tmp_path / "other").rglob("hnsw.*"):
        shutil.copy(path, folder)
    found = index.fingerprint(others, other.encoder)[what]
    wanted = index.fingerprint(CHUNKS, Numbered().encoder)[what]
    with pytest.raises(
        DataError, match=rf"{what} {found}, .* where .*{what} {wanted}, .* the file was copied"
    ):
        opened(tmp_path, "hnsw")


def test_a_shard_of_something_else_is_never_mixed_in(tmp_path, monkeypatch):
    monkeypatch.setattr(index, "SHARD", 100)
    others = Numbered(signature="other", seed=1)
    embed_corpus(CHUNKS, others.encoder, cache=tmp_path / "other")
    given = Numbered()
    whole = embed_corpus(CHUNKS, given.encoder, cache=tmp_path)
    folder = index_folder(tmp_path, CHUNKS, given.encoder)
    shutil.copy(next((tmp_path / "other").rglob("shard-00001.npy")), folder)
    shutil.copy(folder / "shard-00000.npy", folder / "shard-00002.npy")
    again = Numbered()
    with pytest.warns(UserWarning, match="2 of the 3 parts of the index") as said:
        assert np.array_equal(embed_corpus(CHUNKS, again.encoder, cache=tmp_path), whole)
    assert re.search(
        r"A part is of corpus \w+, .*encoder other.*, where corpus \w+, encoder numbered",
        str(said[0].message),
    )
    assert again.documents == [chunk.text for chunk in CHUNKS[100:]]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("hsnw", r"the index 'hsnw' cannot be made for vectors of 16 numbers, metric ip \(could not parse"),
        ("", "could not parse index string"),
        ("IVF8,PQ5", "should be a multiple of the number of subquantizers"),
        (
            "IVF500,Flat",
            r"cannot be built over 300 chunks \(Number of training points \(300\) should be at least",
        ),
        ("PQ4np", None),
        ("PQ4x9np", "cannot be built over 300 chunks"),
    ],
)
def test_a_factory_string_that_does_not_suit_is_an_error(tmp_path, kind, message):
    given = Numbered()
    if message is None:
        assert opened(tmp_path, kind, given).told.factory == kind
        return
    with pytest.raises(DataError, match=message):
        opened(tmp_path, kind, given)
    assert bool(given.documents) == (
        "built over" in message
    )  # what cannot be made is refused before encoding


def test_recall_is_the_share_of_exact_hits_that_are_found(tmp_path):
    given = Numbered()
    poor = opened(tmp_path, "IVF64,Flat", given, nprobe=1)
    rich = opened(tmp_path, "IVF64,Flat", given, nprobe=64)
    texts = faiss_index.sampled_queries(CHUNKS)
    shares = []
    for query in given.vectors_of(texts):
        best = set(np.argsort(-(given.vectors[:300] @ query))[:10])
        faiss.ParameterSpace().set_index_parameter(poor.index, "nprobe", 1)
        shares.append(len(best & set(poor.index.search(query[None], 10)[1][0])) / 10)
    assert poor.told.recall == {"10": pytest.approx(np.mean(shares), abs=1e-4)}
    assert 0.1 < poor.told.recall["10"] < 0.9
    assert rich.told.recall == {"10": 1.0}
    assert (poor.told.search, poor.told.queries) == ({"nprobe": 1}, 200)
    assert len(given.documents) == 300  # the second search was measured without encoding the corpus again
    kept = json.loads(file_of(tmp_path, "IVF64-Flat", ".json").read_text())["recall"]
    assert kept.keys() == {"nprobe=1", "nprobe=64"}


@pytest.mark.parametrize("by_distance", [False, True])
def test_recall_at_100_needs_a_large_corpus_and_any_copy_of_a_passage_will_do(by_distance):
    vectors = np.repeat(Numbered().vectors[:50], 20, axis=0)  # each 20 times
    built = faiss.IndexFlatL2(WIDTH) if by_distance else faiss.IndexFlatIP(WIDTH)
    built.add(vectors)

    class LastCopies:
        def search(self, queries, depth):
            scores, places = built.search(queries, depth)
            return scores, places - places % 20 + 19 - places % 20

    queries = Numbered(seed=3).vectors[:30]
    assert measure_recall(LastCopies(), vectors, queries, by_distance=by_distance) == {"10": 1.0, "100": 1.0}
    for size, depths in ((999, {"10"}), (4, {"4"})):
        few = faiss.IndexFlatIP(WIDTH)
        few.add(vectors[:size])
        assert measure_recall(few, vectors[:size], queries, by_distance=False) == dict.fromkeys(depths, 1.0)


def test_what_was_left_by_a_killed_process_is_removed_and_what_is_written_now_is_not(tmp_path):
    folder = index_folder(tmp_path, CHUNKS, Numbered().encoder)
    folder.mkdir(parents=True)
    left, now = folder / ".shard-00000.npy.aa.part", folder / ".shard-00001.npy.bb.part"
    left.touch()
    now.touch()
    os.utime(left, (time.time() - 7200,) * 2)
    embed_corpus(CHUNKS, Numbered().encoder, cache=tmp_path)
    assert (left.exists(), now.exists()) == (False, True)


def test_fusions_pass_on_what_is_told_of_their_indexes_and_cards_show_it(tmp_path):
    search = dense_retriever(CHUNKS, Numbered().encoder, cache=tmp_path, choice=IndexChoice(kind="hnsw"))
    told = vector_indexes(fused_retriever({"dense": search}, size=300))
    assert told == {
        "dense": VectorIndex(factory="HNSW32", search={"efSearch": 256}, recall={"10": 1.0}, queries=200)
    }
    assert index_bytes(search) == file_of(tmp_path, "hnsw").stat().st_size
    case = Case(id="iron", question="?")
    cost = Retrieval.from_dict(Retrieval(index_bytes=index_bytes(search), indexes=told).to_dict())
    report = Report(case=case, response=Response(case_id="iron", answer=""), retrieval=cost)
    one = SliceReport(slice="mini", retriever="rrf", checker="", k=5, reports=(report,), contexts_mode="none")
    assert retrieval_lines(one)[-1] == (
        "dense by HNSW32 (efSearch 256): recall@10 1.000 of exact search, on 200 sentences of the corpus"
    )


def test_defaults_are_those_of_the_short_names():
    assert defaults.INDEX in index_kinds.SHORT_NAMES
    assert defaults.EF_SEARCH >= defaults.POOL
