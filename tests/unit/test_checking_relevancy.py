"""Answer relevancy, offline and by a teacher: what cannot be read is 0, a missing answer is no number."""

import bags
import pytest

from pytest_medfaith.checking.relevancy import relevancy_of
from pytest_medfaith.claims.answered import answered_questions
from pytest_medfaith.claims.split import extract_claims
from pytest_medfaith.metrics.registry import METRICS
from pytest_medfaith.records import Case, Claim, Report, Response
from pytest_medfaith.scoring.similarity import Vectors
from pytest_medfaith.teacher.asking import Settled
from pytest_medfaith.teacher.questioning import read_questions
from pytest_medfaith.teacher.replies import ReplyError
from pytest_medfaith.teacher.settings import LlmSettings

pytestmark = pytest.mark.usefixtures("word_vectors")
QUESTION = "How is gout treated?"
RIGHT = "Gout is treated with allopurinol. An attack of gout is treated with colchicine."
WRONG = "Asthma narrows the airways. Cold air can set off asthma."


class Writer:
    """A teacher whose replies are given, a reply for each sample; None is a reply that cannot be used."""

    def __init__(self, *replies):
        self.settings, self.replies, self.asked = LlmSettings(samples=len(replies)), replies, []

    def ask(self, items):
        self.asked += items
        return [
            Settled(None, "it timed out") if reply is None else Settled(items[0].read(reply))
            for reply in self.replies
        ]


def relevancy(answer, question=QUESTION, **more):
    claims = extract_claims(answer, question=question)
    return relevancy_of(question, answer, claims, vectors=Vectors(), **more)


def values(told):
    report = Report(
        case=Case(id="x", question=QUESTION), response=Response(answer=RIGHT), relevancy=told.to_dict()
    )
    names = [name for name in METRICS if name.startswith("answer_relevancy")]
    assert len(names) == 3
    return [METRICS[name].value(report) for name in names]


def test_the_right_answer_is_more_relevant_than_the_answer_to_another_question():
    right, wrong = values(relevancy(RIGHT)), values(relevancy(WRONG))
    assert right[0] > wrong[0]
    assert right[1] > wrong[1]
    assert right[2] is wrong[2] is None


def test_an_answer_with_another_answer_behind_it_is_less_relevant():
    padded = values(relevancy(f"{RIGHT} {WRONG}"))
    assert padded[0] < values(relevancy(RIGHT))[0]
    assert padded[1] < values(relevancy(RIGHT))[1]


@pytest.mark.parametrize(
    ("text", "context", "expected"),
    [
        (
            "Metformin lowers insulin levels.",
            "",
            (
                "Is it true that metformin lowers insulin levels?",
                "What lowers insulin levels?",
                "What does metformin do?",
            ),
        ),
        (
            "COPD is treated with tiotropium.",
            "",
            (
                "Is it true that COPD is treated with tiotropium?",
                "What is treated with tiotropium?",
                "What is COPD?",
            ),
        ),
        (
            "In adults, fever is common.",
            "",
            ("Is it true that in adults, fever is common?", "In adults, what is common?", "What is fever?"),
        ),
        (
            "Take it with food.",
            "Metformin is a tablet.",
            (
                "Metformin is a tablet. Is it true that take it with food?",
                "Metformin is a tablet. What should be done, and how? Take it with food?",
            ),
        ),
        ("Up to 4 g a day", "", ("Is it true that up to 4 g a day?",)),
    ],
)
def test_questions_are_built_from_the_clause_of_a_claim(text, context, expected):
    assert answered_questions(Claim(id="1", text=text, context=context)) == expected


@pytest.mark.parametrize("answer", ["", "Hello! I hope this helps.", "?"])
def test_an_answer_without_claims_is_not_relevant_at_all(answer):
    told = relevancy_of(QUESTION, answer, [], vectors=Vectors())
    assert values(told)[:2] == [0.0, 0.0]


def test_claims_and_questions_that_the_encoder_cannot_read_count_as_zero():
    claims = [
        Claim(id="1", text="Gout is treated with allopurinol."),
        Claim(id="2", text="痛风用别嘌醇治疗。"),
    ]
    told = relevancy_of(QUESTION, "x", claims, vectors=Vectors())
    alone = relevancy_of(QUESTION, "x", claims[:1], vectors=Vectors())
    assert told.claims == {"1": alone.claims["1"], "2": 0.0}
    assert told.agreement == pytest.approx(alone.agreement / 2)
    assert told.unread == "1 of 2 claims cannot be read"
    foreign = relevancy_of("痛风怎么治疗？", "x", claims, vectors=Vectors())
    assert (foreign.agreement, foreign.claims) == (0.0, {"1": 0.0, "2": 0.0})
    assert "not in Latin script" in foreign.unread


REPLY = (
    '{"evasive": %s, "questions": '
    '["How is gout treated?", "Which drug treats gout?", "What is colchicine for?"]}'
)


def test_a_teacher_is_asked_for_questions_and_never_shown_the_question():
    teacher = Writer(REPLY % "false")
    told = relevancy(RIGHT, question="How is gout treated today?", teacher=teacher)
    asked = ["How is gout treated?", "Which drug treats gout?", "What is colchicine for?"]
    mine = bags.embed_texts(["How is gout treated today?", *asked])
    assert told.teacher == pytest.approx(float((mine[1:] @ mine[0]).mean()), abs=1e-3)
    assert (list(told.generated), told.evasive, told.unscored) == (asked, False, "")
    (item,) = teacher.asked
    assert "today" not in "".join(text for _, text in item.messages)


def test_an_evasive_answer_has_no_relevancy_and_samples_are_averaged():
    told = relevancy(RIGHT, teacher=Writer(REPLY % "true"))
    assert (values(told)[2], told.evasive) == (0.0, True)
    half = relevancy(RIGHT, teacher=Writer(REPLY % "true", REPLY % "false"))
    whole = relevancy(RIGHT, teacher=Writer(REPLY % "false"))
    assert half.teacher == pytest.approx(whole.teacher / 2, abs=1e-6)
    assert not half.evasive


@pytest.mark.parametrize("replies", [(None,), (REPLY % "false", None)])
def test_a_teacher_without_a_usable_reply_leaves_no_number(replies):
    told = relevancy(RIGHT, teacher=Writer(*replies))
    assert told.unscored == "the teacher gave no usable questions: it timed out"
    assert values(told)[2] is None
    assert values(told)[0] == values(relevancy(RIGHT))[0]


@pytest.mark.parametrize(
    "reply",
    [
        '{"questions": ["How?", "Why?", "When?"]}',
        '{"evasive": "no", "questions": ["How?", "Why?", "When?"]}',
        '{"evasive": false, "questions": ["How?", "Why?"]}',
        '{"evasive": false, "questions": ["How?", "How?", "Why?"]}',
        '{"evasive": false, "questions": ["How?", "Why?", " ? "]}',
        '{"evasive": false, "questions": []}',
        "How is gout treated?",
        "",
    ],
)
def test_replies_in_another_form_are_asked_for_again(reply):
    with pytest.raises(ReplyError):
        read_questions(reply)
