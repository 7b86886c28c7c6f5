"""Why a chunk was found, as `medfaith retrieve` shows it: matched words, each retriever's best sentence."""

import json

import numpy as np
import pytest

from pytest_medfaith.cli import main
from pytest_medfaith.records import Chunk, Hit
from pytest_medfaith.retrieval import encoders
from pytest_medfaith.retrieval.bm25 import bm25_retriever
from pytest_medfaith.retrieval.encoders import Encoder
from pytest_medfaith.retrieval.matches import Match, find_matches

IRON = Chunk(id="iron", title="Anaemia", text="The dose is 5 mg. Iron is for the blood. It is a metal.")
CHUNKS = [IRON, *(Chunk(id=f"c{i}", text=f"It is for the blood {i}.") for i in range(20))]


def letters(texts):
    """Counts the letters of each text; of a pair those of its text."""
    texts = [text if isinstance(text, str) else text[1] for text in texts]
    rows = [[text.lower().count(chr(97 + i)) for i in range(26)] for text in texts]
    vectors = np.array(rows, dtype=np.float32)
    return vectors / np.maximum(1e-9, np.linalg.norm(vectors, axis=1, keepdims=True))


def encoder(**values):
    return Encoder("letters", "letters", letters, letters, **values)


def matched(query, chunk=IRON, ranks=("bm25",), named=None):
    hit = Hit(chunk=chunk, rank=1, score=1.0, ranks=dict.fromkeys(ranks, 1))
    match = find_matches(query, [hit], CHUNKS, encoders=named or {})[0]
    return match.words, {name: chunk.text[start:end] for name, (start, end) in match.sentences.items()}


def test_rare_words_choose_the_sentence_and_common_words_do_not():
    words, sentences = matched("What is it for the iron, is it a 5mg dose?")
    assert words == ("is", "it", "for", "the", "iron", "a", "5 mg", "dose")
    assert sentences == {"bm25": "The dose is 5 mg."}
    assert matched("is it for the iron")[1] == {"bm25": "Iron is for the blood."}


def test_a_word_of_the_title_matches_and_has_no_sentence():
    assert matched("anaemia") == (("anaemia",), {})


def test_words_are_whole_and_the_first_of_equal_sentences_is_shown():
    assert matched("metal blood", Chunk(id="x", text="Metals. One metal. A metal.")) == (
        ("metal",),
        {"bm25": "One metal."},
    )


@pytest.mark.parametrize("values", [{}, {"metric": "l2"}, {"reads_heads": True}])
def test_the_encoder_chooses_the_sentence_of_a_dense_hit(values):
    words, sentences = matched("a metal", ranks=("dense",), named={"dense": encoder(**values)})
    assert (words, sentences) == ((), {"dense": "It is a metal."})


def test_only_retrievers_that_ranked_the_hit_have_a_sentence():
    both = {"dense:a": encoder(), "dense:b": encoder()}
    _, sentences = matched("a metal", ranks=("bm25s", "dense:b", "my.search:make"), named=both)
    assert sentences.keys() == {"bm25s", "dense:b"}
    assert find_matches("iron", [], CHUNKS, encoders=both) == []


def test_what_bm25_found_shares_a_word_with_the_question():
    hits = bm25_retriever(CHUNKS)("the metal dose", top_k=21)
    matches = find_matches("the metal dose", hits, CHUNKS, encoders={})
    assert len(hits) == 21
    assert all(match.words for match in matches)
    assert matches[0] == Match(words=("the", "metal", "dose"), sentences={"bm25": (0, 17)})


@pytest.fixture
def retrieve(tmp_path, monkeypatch, capsys):
    """Runs the command over a corpus with control characters; returns status, output and errors."""
    monkeypatch.setattr(encoders, "load_encoder", lambda _: encoder())
    monkeypatch.setattr("pytest_medfaith.retrieval.build.load_encoder", lambda _: encoder())
    hostile = IRON.with_(id="a\x1b[31m", text="\x1b[2J Iron\x1b]0;x\x07 \u202eis red. ::error::Zinc is not.")
    rows = [hostile, *CHUNKS[1:3]]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(row.to_dict()) + "\n" for row in rows))

    def run(*arguments):
        given = ["--corpus", str(tmp_path / "corpus.jsonl"), "--cache", str(tmp_path / "cache")]
        with pytest.raises(SystemExit) as status:
            main(["retrieve", *arguments, *given])
        return status.value.code, *capsys.readouterr()

    return run


def test_the_command_shows_why_without_commanding_the_terminal(retrieve):
    status, shown, _ = retrieve("iron", "--k", "1")
    assert status == 0
    assert "(bm25 1 at " in shown
    assert "\n     words: iron\n" in shown
    assert "     sentence (bm25, dense): " in shown
    assert not set(shown) & set("\x1b\x07\u202e")
    assert "\n::error" not in shown


def test_its_json_keeps_the_fields_of_a_hit_and_adds_why(retrieve):
    _, shown, _ = retrieve("iron", "--k", "1", "--json")
    row = json.loads(shown)
    assert list(row) == ["chunk", "rank", "score", "ranks", "scores", "matched_words", "matched_sentences"]
    assert row["matched_words"] == ["iron"]
    assert row["matched_sentences"].keys() == {"bm25", "dense"}
    for sentence in row["matched_sentences"].values():
        assert sentence["text"] == row["chunk"]["text"][sentence["start"] : sentence["end"]]
    assert not set(shown) & set("\x1b\x07\u202e")


def test_more_hits_than_chunks_are_a_note(retrieve):
    status, shown, said = retrieve("blood", "--k", "9", "--retriever", "bm25")
    assert (status, len(shown.splitlines())) == (0, 8)
    assert said == "k is 9 and the corpus holds 3 chunks: all that match are given\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("   ",), "the query is '   '; expected a question or keywords"),
        (("iron", "--k", "0"), "Invalid value for '--k'"),
        (("iron", "--retriever", "dense", "--dense-index", "hsnw"), "the index 'hsnw' cannot be made"),
        (("iron", "--nprobe", "0"), "nprobe is 0, expected a number of 1 or more"),
    ],
)
def test_what_cannot_be_asked_is_said_before_anything_is_encoded(retrieve, tmp_path, arguments, message):
    status, shown, said = retrieve(*arguments)
    assert (status, shown) == (2, "")
    assert message in said
    assert not list(tmp_path.rglob("shard-*"))
