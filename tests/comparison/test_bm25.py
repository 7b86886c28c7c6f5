"""Our BM25 against the formula written out."""

import math

import pytest

from pytest_medfaith.english.words import search_words
from pytest_medfaith.records import Chunk
from pytest_medfaith.retrieval.bm25 import bm25_retriever

TEXTS = [
    "Metformin lowers blood sugar and is the first drug in type 2 diabetes.",
    "Insulin lowers blood sugar when tablets are not enough.",
    "Ramipril lowers blood pressure; lowers it more with a diuretic.",
    "Iron tablets are taken on an empty stomach.",
]


@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (1.2, 0.75), (0.1, 0.0)])
@pytest.mark.parametrize("query", ["what lowers blood sugar", "blood pressure", "iron iron tablets"])
def test_scores_are_those_of_the_formula(k1, b, query):
    documents = [search_words(text) for text in TEXTS]
    average = sum(map(len, documents)) / len(documents)
    expected = {}
    for number, document in enumerate(documents):
        score = 0.0
        for word in search_words(query):
            containing = sum(word in other for other in documents)
            if containing:
                idf = math.log(1 + (len(documents) - containing + 0.5) / (containing + 0.5))
                frequency = document.count(word)
                score += idf * frequency * (k1 + 1) / (frequency + k1 * (1 - b + b * len(document) / average))
        expected[f"c{number}"] = score
    retriever = bm25_retriever([Chunk(id=f"c{i}", text=text) for i, text in enumerate(TEXTS)], k1=k1, b=b)
    for hit in retriever(query, top_k=len(TEXTS)):
        assert hit.score == pytest.approx(expected[hit.chunk.id], abs=1e-12)
