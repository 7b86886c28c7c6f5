import hashlib
import re

import numpy as np
import pytest

from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk
from pytest_medfaith.retrieval import index
from pytest_medfaith.retrieval.build import build_retriever
from pytest_medfaith.retrieval.dense import dense_retriever
from pytest_medfaith.retrieval.encoders import Encoder, load_encoder
from pytest_medfaith.retrieval.index import corpus_hash, embed_corpus, index_folder
from pytest_medfaith.retrieval.settings import RetrievalSettings


class CountingEncoder:
    """Gives every text a different unit vector, and counts what it was asked to encode."""

    def __init__(self, *, fail_after=None):
        self.encoded = []
        self.fail_after = fail_after

    def encode(self, texts):
        if self.fail_after is not None and len(self.encoded) + len(texts) > self.fail_after:
            raise KeyboardInterrupt
        self.encoded += texts
        vectors = [
            np.random.default_rng(int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)).normal(size=8)
            for text in texts
        ]
        return np.array([vector / np.linalg.norm(vector) for vector in vectors], dtype=np.float32)

    def as_encoder(self, signature="counting"):
        return Encoder("counting", signature, self.encode, self.encode)


@pytest.fixture
def chunks():
    return [Chunk(id=f"c{i}", text=f"text number {i}") for i in range(10)]


@pytest.fixture(autouse=True)
def small_shards(monkeypatch):
    monkeypatch.setattr(index, "SHARD", 4)


def test_an_unchanged_corpus_is_encoded_once(chunks, tmp_path):
    encoder = CountingEncoder()
    first = embed_corpus(chunks, encoder.as_encoder(), cache=tmp_path)
    second = embed_corpus(chunks, encoder.as_encoder(), cache=tmp_path)
    assert len(encoder.encoded) == 10
    assert np.array_equal(first, second)


@pytest.mark.parametrize("change", [{"text": "other"}, {"id": "z"}, {"title": "New title"}])
def test_a_changed_corpus_is_encoded_again(chunks, tmp_path, change):
    encoder = CountingEncoder()
    embed_corpus(chunks, encoder.as_encoder(), cache=tmp_path)
    changed = [chunks[0].with_(**change), *chunks[1:]]
    assert corpus_hash(changed) != corpus_hash(chunks)
    embed_corpus(changed, encoder.as_encoder(), cache=tmp_path)
    assert len(encoder.encoded) == 20


def test_another_encoder_has_an_index_of_its_own(chunks, tmp_path):
    one, two = CountingEncoder().as_encoder("one"), CountingEncoder().as_encoder("two")
    assert index_folder(tmp_path, chunks, one) != index_folder(tmp_path, chunks, two)


def test_an_interrupted_build_goes_on_where_it_stopped(chunks, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        embed_corpus(chunks, CountingEncoder(fail_after=8).as_encoder(), cache=tmp_path)
    second = CountingEncoder()
    embed_corpus(chunks, second.as_encoder(), cache=tmp_path)
    assert second.encoded == ["text number 8", "text number 9"]
    assert not list(tmp_path.rglob("*.part"))


def test_dense_search_finds_the_chunk_itself_first(chunks, tmp_path):
    hits = dense_retriever(chunks, CountingEncoder().as_encoder(), cache=tmp_path)("text number 7", top_k=3)
    assert hits[0].chunk.id == "c7"
    assert hits[0].score == pytest.approx(1.0, abs=1e-6)


def test_the_shipped_encoder_gives_the_same_bits_whatever_stands_beside_a_text():
    encoder = load_encoder()
    texts = [
        "Metformin lowers blood sugar.",
        "Asthma narrows the airways of the lungs and makes breathing hard.",
        "Iron",
    ]
    together = encoder.encode_documents(texts)
    assert together.shape == (3, 384)
    assert np.allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-5)
    for row, text in zip(together, texts, strict=True):
        assert np.array_equal(encoder.encode_documents([text])[0], row)


def test_the_shipped_encoder_puts_the_same_meaning_nearer():
    query, near, far = load_encoder().encode_queries(
        ["high blood pressure", "hypertension", "a broken wrist"]
    )
    assert query @ near > query @ far + 0.2


@pytest.mark.parametrize("name", ["bm25", "dense", "rrf", "weighted"])
def test_every_retriever_finds_the_plain_answer(name, tmp_path):
    corpus = [
        Chunk(id="metformin", text="Metformin is the first drug given for type 2 diabetes."),
        Chunk(id="inhaler", text="A reliever inhaler opens the airways in asthma."),
        Chunk(id="iron", text="Iron tablets treat iron deficiency anaemia."),
    ]
    retriever = build_retriever(name, corpus, settings=RetrievalSettings(cache=tmp_path))
    assert retriever("Which drug is first for type 2 diabetes?", top_k=2)[0].chunk.id == "metformin"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "bm52",
            "the retriever 'bm52' is unknown; expected one of bm25, dense, rrf, weighted, weighted-minmax, ",
        ),
        ("no_such_module:make", "the retriever 'no_such_module:make' cannot be imported"),
        ("json:no_such_name", "the retriever 'json:no_such_name' cannot be imported"),
        ("sys:maxsize", r"the retriever 'sys:maxsize' is \d+; expected a callable"),
    ],
)
def test_an_unknown_retriever_is_named(name, message, chunks):
    with pytest.raises(ValueError, match=message):
        build_retriever(name, chunks)


def test_an_empty_corpus_is_named():
    with pytest.raises(ValueError, match="the corpus holds no chunk"):
        build_retriever("bm25", [])


def other_index(tmp_path, chunks, *, of=None, signature="counting"):
    """An index of other chunks or of another encoder, put in the place of the index that is asked for."""
    encoder = CountingEncoder().as_encoder(signature)
    embed_corpus(of or chunks, encoder, cache=tmp_path / "other")
    wanted = index_folder(tmp_path, chunks, CountingEncoder().as_encoder())
    wanted.parent.mkdir(parents=True)
    index_folder(tmp_path / "other", of or chunks, encoder).rename(wanted)
    return wanted


def test_the_index_of_another_encoder_is_refused_with_both_fingerprints(chunks, tmp_path):
    folder = other_index(tmp_path, chunks, signature="another")
    digest = corpus_hash(chunks)
    message = (
        f"{folder} is the index of corpus {digest}, encoder another, metric ip, where corpus {digest}, "
        "encoder counting, metric ip is needed; the folder was copied or renamed. Remove it, and it is "
        "built anew"
    )
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        embed_corpus(chunks, CountingEncoder().as_encoder(), cache=tmp_path)


def test_the_index_of_another_corpus_is_refused_with_both_fingerprints(chunks, tmp_path):
    others = [chunk.with_(text="other") for chunk in chunks]
    other_index(tmp_path, chunks, of=others)
    with pytest.raises(
        DataError, match=rf"corpus {corpus_hash(others)}, .* where corpus {corpus_hash(chunks)},"
    ):
        embed_corpus(chunks, CountingEncoder().as_encoder(), cache=tmp_path)


@pytest.mark.parametrize("held", ["", "{", "[]", "[" * 100_000])
def test_an_index_that_does_not_say_what_it_is_of_is_refused(chunks, tmp_path, held):
    encoder = CountingEncoder().as_encoder()
    embed_corpus(chunks, encoder, cache=tmp_path)
    (index_folder(tmp_path, chunks, encoder) / "index.json").write_text(held)
    with pytest.raises(DataError, match=r"is the index of an unknown corpus \(index.json cannot be read\)"):
        embed_corpus(chunks, encoder, cache=tmp_path)


def test_an_index_of_an_earlier_version_is_taken_by_its_folder(chunks, tmp_path):
    embed_corpus(chunks, CountingEncoder().as_encoder(), cache=tmp_path)
    next(tmp_path.rglob("index.json")).unlink()
    again = CountingEncoder()
    embed_corpus(chunks, again.as_encoder(), cache=tmp_path)
    assert again.encoded == []
    assert len(list(tmp_path.rglob("index.json"))) == 1


def test_a_part_of_another_width_is_refused(chunks, tmp_path):
    class Narrower(CountingEncoder):
        def encode(self, texts):
            return super().encode(texts)[:, : 8 - 4 * (len(self.encoded) > 4)]

    with pytest.raises(DataError, match=r"gave vectors of 8 and of 4 numbers; expected the same width"):
        embed_corpus(chunks, Narrower().as_encoder(), cache=tmp_path)


def test_a_question_of_another_width_than_the_index_is_refused(chunks, tmp_path):
    counting = CountingEncoder()
    encoder = Encoder("two", "two", lambda texts: counting.encode(texts)[:, :4], counting.encode)
    with pytest.raises(DataError, match=r"'two' gave a question 4 numbers, and its documents 8"):
        dense_retriever(chunks, encoder, cache=tmp_path)("text", top_k=1)


def test_heads_are_given_apart_to_an_encoder_that_reads_them(tmp_path):
    counting, read = CountingEncoder(), []
    encoder = Encoder(
        "heads",
        "heads",
        counting.encode,
        lambda rows: read.extend(rows) or counting.encode([str(row) for row in rows]),
        reads_heads=True,
    )
    titled = Chunk(id="a", title="Iron µ", text="Once a day.", extra={"prefix": "How to take it"})
    embed_corpus([titled, Chunk(id="b", text="Zinc.")], encoder, cache=tmp_path)
    assert read == [("Iron μ. How to take it", "Once a day."), ("", "Zinc.")]
