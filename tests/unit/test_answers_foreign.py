"""Answers, documents and tables of RAG tools, known by their shape; stand-ins have the same attributes."""

import dataclasses
import typing
from types import SimpleNamespace as Thing

import pytest

from pytest_medfaith import assert_faithfulness, assert_no_hallucination, check_answer
from pytest_medfaith.answers.contexts import as_chunks
from pytest_medfaith.answers.foreign import fields_of, text_of
from pytest_medfaith.answers.responses import as_response
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk, Hit, Response
from pytest_medfaith.testing import containment_checker

IRON = "Iron tablets treat iron deficiency."
GOUT = "Allopurinol lowers uric acid."
HITS = [Hit(chunk=Chunk(id="hit", text=GOUT), rank=1, score=1.0)]
CHECKER = containment_checker()


class Node:
    """A LlamaIndex node that holds its text behind a method."""

    node_id = "n1"

    def __init__(self, text=IRON):
        self._text = text
        self.metadata = {"title": "Iron"}

    def get_content(self):
        return self._text


class Prediction:
    """DSPy's way: entries that are attributes too."""

    def __init__(self, **entries):
        self._store = entries

    def keys(self):
        return self._store.keys()

    def items(self):
        return self._store.items()

    def __getattr__(self, name):
        try:
            return self.__dict__["_store"][name]
        except KeyError:
            raise AttributeError(name) from None


class Frame:
    """A table of pandas: iterated it gives the names of its columns."""

    columns = ("text", "id")

    def __iter__(self):
        return iter(self.columns)

    def to_dict(self, orient):
        assert orient == "records"
        return [{"text": IRON, "id": "a"}, {"text": GOUT, "id": "b"}]


class Message:
    """LangChain's AIMessage: content beside methods and properties."""

    def __init__(self, content):
        self.content = content

    def text(self):
        return self.content


@dataclasses.dataclass
class TestCase:
    __test__ = False

    input: str
    actual_output: str | None
    context: list | None = None
    retrieval_context: list | None = None


@dataclasses.dataclass
class Sample:
    user_input: str
    response: str | None = None
    retrieved_contexts: list | None = None
    reference_contexts: list | None = None


class Named(typing.NamedTuple):
    contexts: list
    answer: str


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (IRON, IRON),
        (Message(IRON), IRON),
        (Message([{"type": "text", "text": "Iron "}, {"type": "text", "text": "helps."}]), "Iron helps."),
        (
            Message([{"type": "thinking", "thinking": "Hm.", "text": "8 g"}, {"type": "text", "text": IRON}]),
            IRON,
        ),
        (Message(["Iron ", "helps."]), "Iron helps."),
        (Thing(text=IRON), IRON),
        (Thing(message=Thing(content=IRON), raw={}), IRON),
        (Thing(choices=[Thing(message=Thing(content=IRON))]), IRON),
        ({"choices": [{"message": {"role": "assistant", "content": IRON}}]}, IRON),
        (Thing(output_text=IRON, text=Thing(format="text")), IRON),
        (Message(""), ""),
        (5, 5),
    ],
)
def test_the_text_of_a_message(message, text):
    assert text_of(message) == text


@pytest.mark.parametrize(
    "blocks", [[], [{"type": "image_url", "image_url": "x"}], [{"type": "reasoning", "text": "Hm."}], [5]]
)
def test_a_message_without_text_is_no_empty_answer(blocks):
    with pytest.raises(DataError, match="the answer is a Message whose content holds no text"):
        text_of(Message(blocks))


@pytest.mark.parametrize(
    ("document", "name"),
    [
        (
            Thing(page_content=IRON, metadata={"title": "Iron", "url": "https://example.org"}, id=None),
            "context-1",
        ),
        (Thing(page_content=IRON, metadata={}, id="d"), "d"),
        (Thing(page_content=IRON, metadata={}, id=7), "7"),
        (Thing(node=Thing(text=IRON, id_="n", metadata={}), score=0.5), "n"),
        (Thing(node=Node(), score=0.5), "n1"),
        (Node(), "n1"),
        (Thing(text=IRON, node_id="n"), "n"),
        (Thing(content=IRON, meta={"url": "x"}, id="h"), "h"),
        (Thing(context=IRON, source="a.md"), "context-1"),
        ((Thing(page_content=IRON, metadata={}), 0.7), "context-1"),
        ((IRON, 0.7), "context-1"),
        ({"page_content": IRON, "metadata": {"title": "Iron"}, "type": "Document"}, "context-1"),
        ({"content": IRON, "meta": {}, "id": "h"}, "h"),
        ({"node": {"text": IRON, "id_": "n"}, "score": 0.5}, "n"),
        (
            {
                "lc": 1,
                "type": "constructor",
                "id": ["langchain"],
                "kwargs": {"page_content": IRON, "metadata": {}},
            },
            "context-1",
        ),
        ({"document.content": IRON, "document.id": "d", "document.score": 0.5}, "d"),
        ({"long_text": IRON, "pid": 3}, "context-1"),
    ],
)
def test_documents_become_chunks(document, name):
    (chunk,) = as_chunks([document])
    assert (chunk.text, chunk.id) == (IRON, name)
    report = check_answer(IRON, [document], checker=CHECKER)
    assert report.faithfulness == 1.0


@pytest.mark.parametrize(
    "document",
    [
        Thing(page_content=None, metadata={}),
        Thing(metadata={}, id="d"),
        Thing(content=None, blob=b"x", meta={}),
        {"id": "d", "metadata": {}},
        {"page_content": [IRON]},
        {},
        [IRON],
        [[IRON]],
        5,
        None,
        b"Iron",
        object(),
    ],
)
def test_a_document_without_text_is_no_context(document):
    with pytest.raises(
        DataError,
        match=r"^context 1 is [^\n]+; expected a text, a chunk, or a document or mapping with a text$",
    ):
        as_chunks([document])


@pytest.mark.parametrize(
    "document",
    [
        "",
        " \n",
        Thing(page_content=" ", metadata={}),
        Node(""),
        {"content": ""},
        Chunk(id="context-1", text=""),
    ],
)
def test_an_empty_document_is_no_context(document):
    with pytest.raises(DataError, match=r"^context '(context-1|n1)' has no text; leave it out"):
        as_chunks([document])
    with pytest.raises(DataError, match="has no text"):
        assert_no_hallucination(Response(answer=IRON, contexts=(document,)), checker=CHECKER)


@pytest.mark.parametrize(
    "contexts",
    [
        IRON,
        b"Iron",
        {"documents": [[IRON]]},
        {IRON},
        frozenset([IRON]),
        5,
        object(),
        Thing(page_content=IRON),
        Node(),
        Chunk(id="a", text=IRON),
    ],
)
def test_contexts_are_a_list(contexts):
    with pytest.raises(
        DataError, match=r"^contexts is [^\n]+; expected a list of texts or chunks(?:, or a table)?$"
    ):
        as_chunks(contexts)


def test_tables_are_read_by_rows():
    assert [chunk.id for chunk in as_chunks(Frame())] == ["a", "b"]
    assert [chunk.text for chunk in as_chunks(Thing(to_pylist=lambda: [{"text": IRON}]))] == [IRON]
    assert [chunk.text for chunk in as_chunks(Thing(to_dicts=lambda: [{"text": IRON}]))] == [IRON]


def test_a_document_found_twice_counts_once():
    assert [
        chunk.id
        for chunk in as_chunks(
            [{"id": "b", "text": IRON}, {"id": "a", "text": GOUT}, {"id": "b", "text": IRON}]
        )
    ] == [
        "b",
        "a",
    ]


@pytest.mark.parametrize(
    "answer",
    [
        TestCase("What?", IRON, retrieval_context=[IRON]),
        TestCase(
            "What?",
            IRON,
            retrieval_context=[Thing(context=IRON, source="a")],
            context=["what it should have read"],
        ),
        Sample("What?", IRON, [IRON], ["what it should have read"]),
        Prediction(answer=IRON, context=[IRON], reasoning="Hm."),
        Prediction(answer=IRON, passages=[{"long_text": IRON, "score": 3.0}]),
        Thing(response=IRON, source_nodes=[Thing(node=Node(), score=0.5)], metadata={}),
        Thing(data=IRON, query="What?", documents=[Thing(content=IRON, meta={}, id="h")], meta={}),
        {"replies": [Message(IRON)], "documents": [Thing(content=IRON, meta={}, id="h")]},
        {"answer": Message(IRON), "context": [Thing(page_content=IRON, metadata={})]},
        Named(contexts=[IRON], answer=IRON),
    ],
)
def test_answers_of_other_tools_bring_their_contexts(answer):
    response = as_response(answer, case_id="a", hits=HITS)
    assert (response.answer, [chunk.text for chunk in response.contexts]) == (IRON, [IRON])
    assert_faithfulness(answer, checker=CHECKER)
    with pytest.raises(AssertionError, match="faithfulness is"):
        assert_faithfulness(answer, contexts=[GOUT], checker=CHECKER)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            TestCase("What?", IRON, context=[IRON]),
            "context, which is what its answer should have been based on, and no retrieval_context",
        ),
        ({"actual_output": IRON, "context": [IRON]}, "and no retrieval_context"),
        (TestCase("What?", IRON), "key 'retrieval_context' is null"),
        (TestCase("What?", None, retrieval_context=[IRON]), "the RAG callable returned a TestCase"),
        (Sample("What?", IRON), "key 'retrieved_contexts' is null"),
        (Sample([Message("What?"), Message(IRON)]), "the RAG callable returned a Sample"),
        (Prediction(answer=IRON, evidence=[IRON]), "no contexts under a known key, and 'evidence'"),
        (Thing(answer=IRON, evidence=[IRON]), "no contexts under a known key, and 'evidence'"),
        (Thing(answer=5, contexts=[IRON]), "the answer, key 'answer', is 5; expected its text"),
        ({"answer": [IRON], "contexts": [[IRON]]}, "the answer, key 'answer', is a list of 1"),
        ({"replies": [Message(IRON), Message(GOUT)], "documents": []}, "key 'replies', is a list of 2"),
        ({"answer": b"Iron", "contexts": [IRON]}, "the answer, key 'answer', is a bytes"),
        ({"documents": [[IRON]], "answer": IRON}, "context 1 is a list of 1"),
        (
            Response(answer=None, contexts=(Chunk(id="a", text=IRON),)),
            "the answer is None; expected its text",
        ),
        (Response(answer=5), "the answer is 5; expected its text"),
        (([IRON], IRON), "key 'answer', is a list of 1"),
        (Thing(samples=[Sample("What?", IRON, [IRON])]), "the RAG callable returned a SimpleNamespace"),
    ],
)
def test_what_would_be_judged_by_something_else_is_refused(answer, said):
    with pytest.raises(DataError, match=said):
        as_response(answer, case_id="a", hits=HITS)


async def _pieces():
    yield IRON


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (_pieces, "an async generator, which gives an answer in pieces; expected the whole text"),
        (lambda: (piece for piece in [IRON]), "a generator, which gives an answer in pieces"),
    ],
)
def test_an_answer_in_pieces_is_none(make, said):
    with pytest.raises(DataError, match=said):
        as_response(make(), case_id="a", hits=HITS)
    with pytest.raises(DataError, match=said):
        as_response({"answer": make(), "contexts": [IRON]}, case_id="a")
    with pytest.raises(ValueError, match=f"the answer is {said}"):
        assert_faithfulness(make(), contexts=[IRON], checker=CHECKER)
    with pytest.raises(DataError, match=f"the answer is {said}"):
        assert_faithfulness(Response(answer=make(), contexts=[IRON]), checker=CHECKER)


def test_a_message_needs_contexts_as_its_text_does():
    assert_faithfulness(Message(IRON), [IRON], checker=CHECKER)
    with pytest.raises(ValueError, match="contexts is missing"):
        assert_faithfulness(Message(IRON), checker=CHECKER)
    with pytest.raises(AssertionError, match="the answer is empty"):
        assert_faithfulness(Message(""), contexts=[IRON], checker=CHECKER)
    with pytest.raises(AssertionError, match="there are no contexts"):
        assert_faithfulness(Thing(answer=IRON, contexts=[]), checker=CHECKER)


def test_plain_texts_in_a_response_are_chunks():
    assert_faithfulness(Response(answer=IRON, contexts=(IRON, Thing(page_content=GOUT))), checker=CHECKER)


def test_the_fields_of_an_object():
    assert fields_of(Named([1], 2)) == {"contexts": [1], "answer": 2}
    assert fields_of(Prediction(answer=1)) == {"answer": 1}
    assert fields_of(Sample("a")).keys() == {
        "user_input",
        "response",
        "retrieved_contexts",
        "reference_contexts",
    }
    assert fields_of({"a": 1}) == {"a": 1}
