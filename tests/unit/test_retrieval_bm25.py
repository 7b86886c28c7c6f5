import pytest

from pytest_medfaith.english.words import search_words
from pytest_medfaith.records import Chunk
from pytest_medfaith.retrieval.bm25 import bm25_retriever, searchable_text


def chunks(*texts: str) -> list[Chunk]:
    return [Chunk(id=f"c{i}", text=text) for i, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("HER2-positive tumours", ["her2-positive", "tumours"]),
        ("1,25-OH vitamin D", ["1,25-oh", "vitamin", "d"]),
        ("IL-6 and TNF-α", ["il-6", "and", "tnf-α"]),
        ("5 mg", ["5 mg"]),
        ("5mg twice", ["5 mg", "twice"]),
        ("2.5 mg/kg/day.", ["2.5 mg/kg/day"]),
        ("50% of 120 patients", ["50 %", "of", "120", "patients"]),
        ("beta-blocker", ["beta", "blocker"]),
        ("140/90 mmHg", ["140/90", "mmhg"]),
        ("", []),
    ],
)
def test_the_tokenizer_keeps_what_medicine_writes_as_one_word(text, tokens):
    assert search_words(text) == tokens


def test_a_dose_finds_its_chunk_however_it_is_spaced():
    retriever = bm25_retriever(
        chunks("Give 50 mg once a day.", "Give 5 mg once a day.", "Give it with food.")
    )
    assert retriever("dose 5mg", top_k=1)[0].chunk.id == "c1"


@pytest.mark.parametrize(
    ("title", "extra", "read"),
    [
        ("", {}, "Once a day."),
        ("Iron", {}, "Iron. Once a day."),
        ("Iron", {"prefix": "Iron > Dose"}, "Iron > Dose. Once a day."),
        ("Iron", {"prefix": "How children take it"}, "Iron. How children take it. Once a day."),
        ("", {"prefix": "Dose"}, "Dose. Once a day."),
        ("Iron", {"prefix": ["kept", "by", "another", "tool"]}, "Iron. Once a day."),
    ],
)
def test_title_and_context_are_read_before_the_text(title, extra, read):
    assert searchable_text(Chunk(id="a", title=title, text="Once a day.", extra=extra)) == read


def test_a_word_of_the_section_finds_the_chunk_that_says_it_only_in_its_context():
    corpus = [
        *chunks("Give it with food.", "Keep it dry."),
        Chunk(id="c2", text="Once a day.", extra={"prefix": "Iron > Dose"}),
    ]
    assert bm25_retriever(corpus)("iron dose", top_k=1)[0].chunk.id == "c2"


def test_ties_keep_corpus_order_and_ranks_start_at_one():
    hits = bm25_retriever(chunks("iron", "iron", "iron"))("iron", top_k=3)
    assert [(hit.chunk.id, hit.rank) for hit in hits] == [("c0", 1), ("c1", 2), ("c2", 3)]


def test_b_holds_long_chunks_back():
    corpus = chunks("iron", "iron " + "other words stand here " * 30, "zinc", "copper")
    level = [hit.score for hit in bm25_retriever(corpus, b=0.0)("iron", top_k=2)]
    held = [hit.score for hit in bm25_retriever(corpus, b=1.0)("iron", top_k=2)]
    assert level[0] == pytest.approx(level[1])
    assert held[0] > held[1] * 2


@pytest.mark.parametrize("k", [0, 4])
def test_k_outside_the_corpus_is_an_error(k):
    with pytest.raises(ValueError, match=rf"k is {k}, but the corpus holds 3 chunks; expected 1 <= k <= 3"):
        bm25_retriever(chunks("a", "b", "c"))("a", top_k=k)


def test_an_empty_query_is_an_error():
    with pytest.raises(ValueError, match="the query is '  '"):
        bm25_retriever(chunks("a", "b"))("  ", top_k=1)


def test_parameters_out_of_range_are_an_error():
    with pytest.raises(ValueError, match=r"k1 is 0 and b is 0.4; expected k1 > 0"):
        bm25_retriever(chunks("a"), k1=0)
