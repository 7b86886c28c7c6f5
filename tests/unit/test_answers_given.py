"""Answers and contexts as other tools give them, and keys that only look like known ones."""

import json
from types import SimpleNamespace

import pytest

from pytest_medfaith.answers.contexts import as_chunks
from pytest_medfaith.answers.given import CONTEXT_KEYS, near_key
from pytest_medfaith.answers.responses import as_response, read_responses
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk, Hit, Response

IRON = "Iron tablets treat iron deficiency."
HITS = [Hit(chunk=Chunk(id="hit", text="Allopurinol lowers uric acid."), rank=1, score=1.0)]


def texts(given):
    return [chunk.text for chunk in as_response(given, case_id="a", hits=HITS).contexts]


@pytest.mark.parametrize("key", CONTEXT_KEYS)
def test_contexts_are_taken_under_every_known_key(key):
    response = as_response({"answer": IRON, key: [IRON]}, case_id="a", hits=HITS)
    assert [chunk.text for chunk in response.contexts] == [IRON]
    assert response.contexts_from == ("the answer" if key == "contexts" else f"the answer, key {key}")


@pytest.mark.parametrize(
    "given",
    [
        {
            "input": "What?",
            "chat_history": [],
            "context": [SimpleNamespace(page_content=IRON, metadata={"title": "Iron"})],
            "answer": IRON,
        },
        {
            "query": "What?",
            "result": IRON,
            "source_documents": [SimpleNamespace(page_content=IRON, metadata={}, id=None)],
        },
        {
            "user_input": "What?",
            "response": IRON,
            "retrieved_contexts": [IRON],
            "reference": "x",
            "reference_contexts": ["y"],
        },
        {
            "input": "What?",
            "actual_output": IRON,
            "retrieval_context": [IRON],
            "context": ["what it should have read"],
        },
        SimpleNamespace(
            response=IRON,
            source_nodes=[SimpleNamespace(node=SimpleNamespace(text=IRON, node_id="n1"), score=0.5)],
        ),
        SimpleNamespace(answer=IRON, context=[IRON]),
        {
            "answer": SimpleNamespace(content=IRON),
            "documents": [SimpleNamespace(content=IRON, meta={}, id="d1")],
        },
        (IRON, [IRON]),
        (SimpleNamespace(content=IRON), [IRON]),
        {"answer": IRON, "contexts": [IRON], "tokens": 12, "confidence": 0.5},
        {"answer": IRON, "contexts": [IRON], "context": "all of it in one text", "response": object()},
        Response(answer=IRON, contexts=(Chunk(id="a", text=IRON),)),
    ],
)
def test_what_tools_give_back_is_taken(given):
    response = as_response(given, case_id="a", hits=HITS)
    assert (response.answer, [chunk.text for chunk in response.contexts]) == (IRON, [IRON])


@pytest.mark.parametrize(
    "given", [IRON, {"answer": IRON}, {"question": "What?", "answer": IRON}, SimpleNamespace(content=IRON)]
)
def test_an_answer_that_says_nothing_of_contexts_is_judged_by_the_retriever_and_says_so(given):
    response = as_response(given, case_id="a", hits=HITS)
    assert [chunk.id for chunk in response.contexts] == ["hit"]
    assert response.contexts_from == "the slice's retriever"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"answer": IRON, "evidence_used": [IRON]},
            "no contexts under a known key, and 'evidence_used', which is not known",
        ),
        ({"answer": IRON, "retrieved": [IRON], "sources": ["a"]}, "'retrieved', 'sources'"),
        ({"answer": IRON, "contxts": [IRON]}, "key 'contxts' is unknown; did you mean 'contexts'"),
        ({"answer": IRON, "Contexts": [IRON]}, "did you mean 'contexts'"),
        (
            {"answer": IRON, "contexts": None},
            "key 'contexts' is null; expected a list of texts or chunks, \\[\\] where",
        ),
        ({"answer": IRON, "context": None}, "key 'context' is null"),
        ((IRON, None), "key 'contexts' is null"),
        (
            {"answer": IRON, "context": [IRON], "documents": [IRON]},
            "contexts under 'context' and 'documents'; give them once",
        ),
        ({"contexts": [IRON]}, "expected the answer under one of answer, response"),
        ({"answer": None, "contexts": [IRON]}, "the answer, key 'answer', is None; expected its text"),
        ({"answer": IRON, "contexts": IRON}, "contexts is .*; expected a list of texts or chunks"),
        ({"answer": IRON, "context": "one text"}, "contexts is .*; expected a list"),
        (
            {"answer": IRON, "contexts": [5]},
            "context 1 is 5; expected a text, a chunk, or a document or mapping with a text",
        ),
        (None, "the RAG callable returned None"),
        (5, "the RAG callable returned 5"),
        (b"Iron", "the RAG callable returned a bytes"),
        ([IRON], "the RAG callable returned a list"),
        ({}, "the RAG callable returned an empty object"),
    ],
)
def test_what_would_be_judged_by_other_evidence_is_refused(given, said):
    with pytest.raises(DataError, match=said):
        as_response(given, case_id="a", hits=HITS)


def test_an_empty_list_says_that_there_were_none():
    assert texts({"answer": IRON, "contexts": []}) == []
    assert texts({"answer": IRON, "context": []}) == []


def test_a_document_brings_its_id_and_title():
    (chunk,) = as_chunks([SimpleNamespace(page_content=IRON, metadata={"title": "Iron", "page": 3}, id="d1")])
    assert (chunk.id, chunk.title, chunk.text) == ("d1", "Iron", IRON)


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("context", "contexts"),
        ("Context", "contexts"),
        ("contextes", "contexts"),
        ("contxts", "contexts"),
        ("conetxts", "contexts"),
        ("cotnexts", "contexts"),
        ("anwser", "answer"),
        ("case_di", "case_id"),
        ("mdoel", "model"),
        ("team", ""),
        ("ctxs", "contexts"),
        ("retrieved_contexts", "contexts"),
        ("source_documents", "contexts"),
        ("retrieval_context", "contexts"),
        ("documents", "contexts"),
        ("answers", "answer"),
        ("Answer", "answer"),
        ("response", "answer"),
        ("actual_output", "answer"),
        ("caseid", "case_id"),
        ("case-id", "case_id"),
        ("CaseId", "case_id"),
        ("case", "case_id"),
        ("latency", "latency_ms"),
        ("latencyMs", "latency_ms"),
        ("citation", "citations"),
        ("content", ""),
        ("notes", ""),
        ("reviewed_by", ""),
        ("tokens", ""),
        ("retriever", ""),
        ("score", ""),
        ("reference", ""),
    ],
)
def test_a_key_near_a_known_one_is_named(tmp_path, key, meant):
    known = ("answer", "case_id", "contexts", "citations", "model", "latency_ms", "meta")
    assert near_key(key, known) == meant
    path = tmp_path / "responses.jsonl"
    row = {"case_id": "a", "answer": IRON, "contexts": [{"id": "c", "text": IRON}]}
    row = {name: value for name, value in row.items() if name != meant}
    path.write_text(f"{json.dumps({**row, key: 'x'})}\n")
    if not meant:
        assert read_responses(path, [])["a"].extra == {key: "x"}
        return
    with pytest.raises(
        DataError, match=rf"responses\.jsonl:1: key '{key}' is unknown; did you mean '{meant}'\?"
    ):
        read_responses(path, [])


def test_a_near_key_beside_the_right_one_loses_nothing(tmp_path):
    path = tmp_path / "responses.jsonl"
    path.write_text(
        '{"case_id": "a", "answer": "Iron helps.", "contexts": [{"id": "c", "text": "Iron helps."}], '
        '"context": "Iron helps."}\n'
    )
    assert len(read_responses(path, [])["a"].contexts) == 1
