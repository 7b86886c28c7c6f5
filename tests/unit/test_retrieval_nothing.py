"""Retrieval gives no credit for nothing, finds what is written differently, and mends a damaged index."""

import unicodedata
import warnings

import numpy as np
import pytest

from pytest_medfaith.english.letters import compatible, folded
from pytest_medfaith.english.words import search_words
from pytest_medfaith.errors import CannotWrite, DataError
from pytest_medfaith.evaluation import evaluate_case
from pytest_medfaith.records import Case, Chunk, Response
from pytest_medfaith.retrieval import index
from pytest_medfaith.retrieval.bm25 import bm25_retriever
from pytest_medfaith.retrieval.dense import dense_retriever
from pytest_medfaith.retrieval.encoders import Encoder
from pytest_medfaith.retrieval.fusion import fused_retriever, weighted_fusion
from pytest_medfaith.retrieval.index import embed_corpus, index_folder
from pytest_medfaith.testing import containment_checker


def chunks(*texts):
    return [Chunk(id=f"c{i}", text=text) for i, text in enumerate(texts)]


@pytest.mark.parametrize(
    "query", ["zinc", "?!", "§", "42", "Zink und Kupfer", "αβγ", "薬", "\u200b.", "a" * 5000, "ironic"]
)
def test_a_question_that_matches_nothing_has_no_hits(query):
    retriever = bm25_retriever(chunks("Iron helps.", "Iron tablets.", "Iron."))
    assert retriever(query, top_k=3) == []
    assert fused_retriever({"bm25": retriever}, size=3)(query, top_k=3) == []
    assert fused_retriever({"bm25": retriever}, size=3, fuse=weighted_fusion)(query, top_k=3) == []


def test_only_the_chunks_that_match_are_hits():
    hits = bm25_retriever(chunks("Iron helps.", "Zinc helps.", "Iron tablets and water."))("iron", top_k=3)
    assert [hit.chunk.id for hit in hits] == ["c0", "c2"]
    assert all(hit.score > 0 for hit in hits)


def test_the_lowest_of_two_rankings_is_still_found():
    retriever = bm25_retriever(chunks("iron iron", "iron and much else that is longer", "zinc"))
    hits = fused_retriever({"bm25": retriever}, size=3, fuse=weighted_fusion)("iron", top_k=3)
    assert [hit.chunk.id for hit in hits] == ["c0", "c1"]
    assert all(hit.score > 0 for hit in hits)
    alone = fused_retriever({"bm25": retriever}, size=3, fuse=weighted_fusion)("zinc", top_k=3)
    assert [(hit.chunk.id, hit.score) for hit in alone] == [("c2", 1.0)]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_recall_of_a_search_that_finds_nothing_does_not_hang_on_the_order_of_a_file(order):
    texts = [Chunk(id=f"c{i}", text=f"Iron {i}.") for i in order]
    case = Case(id="a", question="zinc?", references=("c0",))
    response = Response(answer="Iron 0.", contexts=(texts[0], texts[1], texts[2]))
    hits = bm25_retriever(texts)(case.question, top_k=3)
    report = evaluate_case(case, response, checker=containment_checker(), hits=hits, k=3)
    assert (report.metrics["recall@k"], report.metrics["ndcg@k"]) == (0.0, 0.0)


def test_without_a_retriever_the_contexts_are_ranked():
    case = Case(id="a", question="zinc?", references=("c0",))
    response = Response(answer="Iron 0.", contexts=(Chunk(id="c0", text="Iron 0."),))
    assert evaluate_case(case, response, checker=containment_checker(), k=3).metrics["recall@k"] == 1.0
    assert (
        evaluate_case(case, response, checker=containment_checker(), hits=[], k=3).metrics["recall@k"] == 0.0
    )


SAME = [
    ("50 µg", "50 μg"),
    ("50 µg", "50 mcg"),
    ("50µg", "50 ug"),
    ("5 µmol/l", "5 μmol/l"),
    ("naive", "naïve"),
    ("Ménière", "Meniere"),
    ("Sjögren", "SJOGREN"),
    ("Sjo\u0308gren", "Sjögren"),
    ("Guillain-Barré", "Guillain‑Barre"),
    ("COVID‐19", "COVID-19"),
    ("IL–6", "IL-6"),
    ("ﬁbrosis", "fibrosis"),
    ("kg/m²", "kg/m2"),
    ("ＭＲＩ", "mri"),
    ("café\u0301".replace("é\u0301", "e\u0301"), "CAFÉ"),
    ("Straße", "STRASSE"),
    ("İnsulin", "insulin"),
    ("Løgstrup", "Logstrup"),
    ("œdema", "oedema"),
    ("Crohn’s", "Crohn's"),
    ("met\u00adformin", "metformin"),
    ("zero\u200bwidth", "zerowidth"),
    ("Ångström", "A\u030angstro\u0308m"),
    ("Ω", "Ω"),
    ("ά", "α\u0301"),
]


@pytest.mark.parametrize(("one", "two"), SAME, ids=ascii)
def test_two_spellings_find_each_other(one, two):
    assert search_words(one) == search_words(two) != []
    for question, text in ((one, two), (two, one)):
        hits = bm25_retriever(chunks("nothing here", f"about {text} today"))(question, top_k=2)
        assert [hit.chunk.id for hit in hits] == ["c1"]


@pytest.mark.parametrize("text", ["हिन्दी", "ไทย", "日本語", "العربية", "עברית", "한국어", "Ελληνικά"])
def test_words_of_every_script_stay_words(text):
    assert folded(unicodedata.normalize("NFD", text)) == folded(text) != ""
    assert bm25_retriever(chunks("x", text))(text, top_k=2)[0].chunk.id == "c1"


def test_what_is_compatible_keeps_case_and_accents():
    assert compatible("Ménière µg – ﬁ") == "Ménière μg - fi"


class Letters:
    """Counts letters: as simple as an encoder can be. Counts what it read."""

    def __init__(self, change=lambda vectors: vectors):
        self.read = []
        self.change = change

    def __call__(self, texts):
        self.read += texts
        vectors = np.array(
            [[text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyzμ"] for text in texts],
            dtype=np.float32,
        )
        return self.change(vectors / np.maximum(1e-9, np.linalg.norm(vectors, axis=1, keepdims=True)))

    def encoder(self):
        return Encoder("letters", "letters", self, self)


@pytest.fixture(autouse=True)
def small_shards(monkeypatch):
    monkeypatch.setattr(index, "SHARD", 2)


def test_a_dense_search_that_matches_nothing_has_no_hits(tmp_path):
    search = dense_retriever(chunks("aaa", "bbb"), Letters().encoder(), cache=tmp_path)
    assert search("ccc", top_k=2) == []
    assert [hit.chunk.id for hit in search("bc", top_k=2)] == ["c1"]


def test_an_encoder_sees_one_spelling(tmp_path):
    encoder = Letters()
    search = dense_retriever(chunks("5 µg"), encoder.encoder(), cache=tmp_path)
    assert search("5 μg", top_k=1)[0].score == pytest.approx(1.0)
    assert encoder.read == ["5 μg", "5 μg"]


def _cut(path):
    path.write_bytes(path.read_bytes()[:-40])


def _npy(vectors):
    return lambda path: np.save(path, vectors, allow_pickle=False)


DAMAGES = {
    "cut": _cut,
    "empty": lambda path: path.write_bytes(b""),
    "a byte": lambda path: path.write_bytes(path.read_bytes()[:-50] + b"\x01" + path.read_bytes()[-49:]),
    "zeros": lambda path: path.write_bytes(b"\0" * path.stat().st_size),
    "text": lambda path: path.write_text("gone"),
    "a row missing": _npy(np.ones((1, 27), dtype=np.float32)),
    "a row too many": _npy(np.ones((3, 27), dtype=np.float32)),
    "nan": _npy(np.full((2, 27), np.nan, dtype=np.float32)),
    "another width": _npy(np.ones((2, 5), dtype=np.float32)),
    "one dimension": _npy(np.ones(2, dtype=np.float32)),
    "no rows": _npy(np.ones((0, 27), dtype=np.float32)),
    "no seal": lambda path: path.write_bytes(path.read_bytes()[:-32]),
    "html": lambda path: path.write_text("<html>"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_part_of_an_index_is_said_and_made_again(tmp_path, damage):
    texts = chunks("aaa", "bbb", "ccc", "ddd", "eee")
    whole = embed_corpus(texts, Letters().encoder(), cache=tmp_path)
    damage(sorted(tmp_path.rglob("shard-*.npy"))[1])
    again = Letters()
    with pytest.warns(UserWarning, match="1 of the 3 parts of the index were damaged"):
        assert np.array_equal(embed_corpus(texts, again.encoder(), cache=tmp_path), whole)
    assert again.read == ["ccc", "ddd"]
    third = Letters()
    assert np.array_equal(embed_corpus(texts, third.encoder(), cache=tmp_path), whole)
    assert third.read == []


def test_where_warnings_are_errors_the_next_run_is_fine(tmp_path):
    texts = chunks("aaa", "bbb")
    embed_corpus(texts, Letters().encoder(), cache=tmp_path)
    next(tmp_path.rglob("shard-*.npy")).write_bytes(b"")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            embed_corpus(texts, Letters().encoder(), cache=tmp_path)
        embed_corpus(texts, Letters().encoder(), cache=tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda vectors: vectors * np.nan, "not finite"),
        (lambda vectors: vectors / 0, "not finite"),
        (lambda vectors: vectors[:-1], r"shape \(1, 27\) for 2 texts"),
        (lambda vectors: vectors[:, :0], r"shape \(2, 0\)"),
        (lambda vectors: vectors[0], r"shape \(27,\)"),
        (lambda vectors: vectors[None], r"shape \(1, 2, 27\)"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_an_encoder_that_gives_nonsense_is_named_and_nothing_is_kept(tmp_path, change, message):
    with pytest.raises(DataError, match=f"the encoder 'letters' gave .*{message}"):
        embed_corpus(chunks("aaa", "bbb"), Letters(change).encoder(), cache=tmp_path)
    assert not list(tmp_path.rglob("*.npy"))


def test_a_question_whose_vector_is_not_finite_is_an_error(tmp_path):
    good, bad = Letters(), Letters(lambda vectors: vectors * np.nan)
    search = dense_retriever(chunks("aaa"), Encoder("letters", "letters", bad, good), cache=tmp_path)
    with pytest.raises(DataError, match="not finite"):
        search("a", top_k=1)


def test_a_cache_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(CannotWrite, match="cannot be written"):
        embed_corpus(chunks("aaa"), Letters().encoder(), cache=tmp_path / "cache")


def test_the_folder_of_a_plain_corpus_is_where_it_was(tmp_path):
    assert index_folder(tmp_path, chunks("5 µg"), Letters().encoder()) == index_folder(
        tmp_path, chunks("5 μg"), Letters().encoder()
    )
