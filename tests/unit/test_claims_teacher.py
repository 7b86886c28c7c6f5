"""The teacher as extractor: nothing that the rules find is lost, and nothing is made up."""

import json

import pytest

pytest.importorskip("openai", reason="comes with the extra llm")

from pytest_medfaith.claims.teacher import teacher_extractor
from pytest_medfaith.errors import TeacherError
from pytest_medfaith.records import Chunk
from pytest_medfaith.retrieval.build import build_retriever
from pytest_medfaith.retrieval.settings import RetrievalSettings
from pytest_medfaith.teacher.asking import Teacher
from pytest_medfaith.teacher.settings import LlmSettings
from pytest_medfaith.teacher.writing import context_line, generated_response

ANSWER = "Metformin lowers glucose [1]. It does not cause weight gain. Take 500 mg once a day [2]."


@pytest.fixture
def teacher(server, tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return Teacher(
        LlmSettings(model="m", base_url=server.url, cassette=tmp_path / "c.jsonl", retries=0), mode="live"
    )


def claims(*texts):
    return lambda _: json.dumps({"claims": texts})


def test_claims_have_spans_citations_and_names_in_the_place_of_it(server, teacher):
    server.reply = claims(
        "Metformin lowers glucose.", "Metformin does not cause weight gain.", "Take 500 mg once a day."
    )
    found = teacher_extractor(teacher)(ANSWER, question="What does metformin do?")
    assert [claim.text for claim in found] == [
        "Metformin lowers glucose.",
        "Metformin does not cause weight gain.",
        "Take 500 mg once a day.",
    ]
    assert [claim.id for claim in found] == ["c1", "c2", "c3"]
    assert ANSWER[slice(found[0].start, found[0].end)] == "Metformin lowers glucose"
    assert ANSWER[slice(found[1].start, found[1].end)] == "It does not cause weight gain"
    assert [claim.citations for claim in found] == [("1",), (), ("2",)]


@pytest.mark.parametrize(
    ("said", "lost"),
    [
        (["Metformin lowers glucose.", "Take 500 mg once a day."], "It does not cause weight gain."),
        (
            ["Metformin lowers glucose.", "It causes weight gain.", "Take 500 mg once a day."],
            "It does not cause weight gain.",
        ),
        (
            ["Metformin lowers glucose.", "It does not cause weight gain.", "Take it once a day."],
            "Take 500 mg once a day.",
        ),
        ([], "Metformin lowers glucose."),
    ],
)
def test_what_the_teacher_leaves_out_or_turns_is_a_claim_by_the_rules(server, teacher, said, lost):
    server.reply = claims(*said)
    assert lost in [claim.text for claim in teacher_extractor(teacher)(ANSWER)]


@pytest.mark.parametrize(
    "said",
    [
        ["Insulin is a peptide hormone."],
        ["Metformin lowers glucose.", "Take 850 mg once a day."],
        ["It is."],
    ],
)
def test_what_the_answer_does_not_say_is_refused(server, teacher, said):
    server.reply = claims(*said)
    with pytest.raises(
        TeacherError, match="the teacher gave no usable extractor: its replies cannot be used"
    ):
        teacher_extractor(teacher)(ANSWER)
    assert len(server.requests) == 2
    assert teacher.take_use().failed == 1


def test_a_claim_a_line_is_taken_and_a_refusal_to_answer_is_not(server, teacher):
    server.reply = lambda _: (
        "- Metformin lowers glucose.\n- It does not cause weight gain.\n- Take 500 mg once a day."
    )
    assert len(teacher_extractor(teacher)(ANSWER)) == 3
    server.reply = lambda _: "I cannot help with that."
    with pytest.raises(TeacherError, match="the answer does not make claim 1"):
        teacher_extractor(teacher)(ANSWER + " Swallow it whole.")


def test_an_answer_without_a_statement_is_not_sent(server, teacher):
    assert teacher_extractor(teacher)("I could not find this in the documents provided.") == []
    assert server.requests == []


CHUNKS = [
    Chunk(id="a", text="Iron is a metal, and zinc is too."),
    Chunk(id="b", text="Iron tablets treat iron deficiency."),
    Chunk(id="c", text="Asthma is a disease."),
]


def test_the_teacher_reranks_by_name(server, teacher):
    def grade(asked):
        passages = json.loads(asked["messages"][1]["content"])["passages"]
        return json.dumps(
            {
                "grades": [
                    {"passage": one["passage"], "grade": 9 * ("treat" in one["text"])} for one in passages
                ]
            }
        )

    server.reply = grade
    settings = RetrievalSettings(teacher=teacher)
    hits = build_retriever("bm25+teacher", CHUNKS, settings=settings)("iron metal zinc", top_k=2)
    assert [(hit.chunk.id, hit.ranks) for hit in hits] == [
        ("b", {"bm25": 2, "teacher": 1}),
        ("a", {"bm25": 1, "teacher": 2}),
    ]
    assert [hit.score for hit in hits] == [pytest.approx(10 / 11), pytest.approx(1 / 11)]


def test_a_reranker_that_fails_is_an_error_and_no_order(server, teacher):
    server.reply = lambda _: '{"grades": []}'
    with pytest.raises(
        TeacherError,
        match=r"did not grade the passages for 'iron'.*one grade for each of the passages 1 to 2",
    ):
        build_retriever("bm25+teacher", CHUNKS, settings=RetrievalSettings(teacher=teacher))("iron", top_k=2)
    with pytest.raises(
        TeacherError, match=r"the reranker 'teacher' asks an LLM, which is set up in \[tool.medfaith.llm\]"
    ):
        build_retriever("bm25+teacher", CHUNKS)


def test_the_teacher_writes_answers_with_citations_and_lines_for_passages(server, teacher):
    response = generated_response(teacher, "What treats iron deficiency?", CHUNKS[1:], case_id="iron")
    assert (response.answer, response.citations) == ("Iron tablets treat iron deficiency. [1]", ("b",))
    assert (response.model, response.case_id, response.contexts) == ("m", "iron", tuple(CHUNKS[1:]))
    assert (
        context_line(teacher, "It is a metal.", title="Iron", document="Iron. It is a metal.")
        == "This passage is about iron."
    )
    assert "response_format" not in server.requests[0]
    server.reply = lambda _: "Iron [7]."
    with pytest.raises(TeacherError, match=r"no usable generator: .*cites passage \[7\]"):
        generated_response(teacher, "Why?", CHUNKS)


def test_several_answers_of_the_teacher_are_samples_and_each_is_in_the_cassette(server, tmp_path):
    settings = LlmSettings(model="m", base_url=server.url, cassette=tmp_path / "c.jsonl", retries=0)
    recording = Teacher(settings, mode="record")
    response = generated_response(recording, "Why?", CHUNKS[1:], temperatures=(0, 0.8, 0.8))
    recording.save()
    assert [(one["temperature"], one["seed"]) for one in server.requests] == [(0, 0), (0.8, 1), (0.8, 2)]
    assert len(response.samples) == 2
    assert len((tmp_path / "c.jsonl").read_text().splitlines()) == 3
    server.close()
    again = generated_response(
        Teacher(settings, mode="replay"), "Why?", CHUNKS[1:], temperatures=(0, 0.8, 0.8)
    )
    assert again == response
