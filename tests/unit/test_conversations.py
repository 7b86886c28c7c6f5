"""Earlier turns of a conversation: they say what "it" is, and support nothing unless a setting says so."""

import csv
import io
from types import SimpleNamespace

import pytest

from pytest_medfaith.answers.responses import ask, read_responses
from pytest_medfaith.answers.turns import as_turns
from pytest_medfaith.asserts import check_answer
from pytest_medfaith.cards.conversations_csv import conversations_csv
from pytest_medfaith.claims.history import asked_in
from pytest_medfaith.config import load_settings
from pytest_medfaith.conversations import check_conversation
from pytest_medfaith.datasets.gold import read_gold_file
from pytest_medfaith.english.words import content_words
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Case, Response, SliceReport
from pytest_medfaith.run.targets import with_recorded_history
from pytest_medfaith.testing import scripted_checker

LIMIT = "Adults may take up to 4 g of paracetamol a day."
WRONG = "10 g of paracetamol a day is fine."


def user(text):
    return {"role": "user", "content": text}


def assistant(text, **more):
    return {"role": "assistant", "content": text, **more}


def label(evidence, claim):
    """Says what the words say: a claim is entailed where the evidence holds all of them."""
    return "entail" if content_words(claim) <= content_words(evidence) else "neutral"


CHECKER = scripted_checker(label)


def verdicts(answer, question, history, mode="context", contexts=(LIMIT,)):
    report = check_answer(
        answer,
        contexts=list(contexts) or None,
        question=question,
        history=history,
        history_mode=mode,
        checker=CHECKER,
    )
    return [(verdict.claim.text, verdict.label, verdict.claim.context) for verdict in report.verdicts]


# What earlier turns must never do.


@pytest.mark.parametrize("mode", ["context", "ignore"])
@pytest.mark.parametrize("turn", [user(WRONG), assistant(WRONG)], ids=["user", "assistant"])
def test_what_was_said_before_does_not_support_its_repetition(turn, mode):
    history = [turn, user("Thank you."), assistant("You are welcome.")]
    ((text, found, _),) = verdicts(WRONG, "How much may I take?", history, mode)
    assert (text, found) == (WRONG, "unsupported")


def test_as_evidence_the_user_s_words_count_and_the_assistant_s_do_not():
    asked = "What do you know of me?"
    said = "You weigh 80 kg."
    assert verdicts(said, asked, [user("You weigh 80 kg.")], "evidence")[0][1] == "supported"
    assert verdicts(said, asked, [user("You weigh 80 kg.")])[0][1] == "unsupported"
    assert verdicts(said, asked, [user("Hello."), assistant(said)], "evidence")[0][1] == "unsupported"
    assert verdicts(said, asked, [user("You weigh 80 kg?")], "evidence")[0][1] == "unsupported"


def test_the_history_never_takes_the_place_of_contexts():
    report = check_answer(
        WRONG, contexts=None, question="So?", history=[user(WRONG)], history_mode="evidence", checker=CHECKER
    )
    assert report.response.contexts == ()
    assert [verdict.label for verdict in report.verdicts] == ["unsupported"]


def test_a_plain_yes_to_what_the_user_states_is_a_claim():
    ((text, found, _),) = verdicts("Yes, that's right.", WRONG, [user("Hello!"), assistant("Hello.")])
    assert "10 g of paracetamol a day is fine" in text
    assert found == "unsupported"


def test_yes_behind_an_earlier_statement_is_read_with_it():
    ((text, _, context),) = verdicts("Yes.", "Is that right?", [user(WRONG), assistant("Hm.")])
    assert WRONG in f"{context} {text}"


def test_the_safety_rules_read_what_the_user_said_earlier():
    history = [user("I am 30 weeks pregnant."), assistant("Congratulations!")]
    told, untold = (
        check_answer(
            "Yes, you can take ibuprofen.",
            contexts=["You can take ibuprofen."],
            question="Can I take ibuprofen?",
            history=earlier,
            checker=CHECKER,
        )
        for earlier in (history, [])
    )
    assert any(finding.rule.startswith("safety") for one in told.verdicts for finding in one.findings)
    assert not any(finding.rule.startswith("safety") for one in untold.verdicts for finding in one.findings)


# What earlier turns are for.


def test_earlier_turns_say_what_it_is():
    history = [user("Does metformin lower glucose?"), assistant("Metformin lowers glucose.")]
    ((_, _, context),) = verdicts("It is safe from 10 years.", "And for children?", history)
    assert context == "Does metformin lower glucose? Metformin lowers glucose. And for children?"
    ((_, _, ignored),) = verdicts("It is safe from 10 years.", "And for children?", history, "ignore")
    assert ignored == "And for children?"


def test_a_fragment_is_read_with_what_was_asked():
    history = [user("What helps with a headache?"), assistant("Paracetamol helps.")]
    ((text, _, context),) = verdicts("Up to 4 g a day.", "How much of it?", history)
    assert (text, context.split(". ")[0]) == (
        "Up to 4 g a day.",
        "What helps with a headache? Paracetamol helps",
    )


def test_a_question_that_says_all_needs_no_earlier_question():
    history = [user("What does metformin do?"), assistant("Metformin lowers glucose.")]
    assert (
        asked_in("How much ibuprofen may an adult take?", as_turns(history))
        == "How much ibuprofen may an adult take?"
    )


def test_without_a_history_nothing_changes():
    assert asked_in(WRONG, ()) == WRONG
    assert verdicts("Yes.", WRONG, []) == []


def test_a_long_conversation_leaves_room_for_the_claim():
    history = [user(f"I take medicine number {number} every single day of the week.") for number in range(40)]
    assert len(asked_in("Is it safe?", as_turns(history)).split()) < 70


# Whole conversations.

MESSAGES = [
    {"role": "system", "content": "You are kind."},
    user("What is the most paracetamol a day?"),
    assistant("Adults may take up to 4 g of paracetamol a day.", contexts=[LIMIT]),
    user("My neighbour says that 10 g of paracetamol a day is fine."),
    assistant(f"Yes. {WRONG}", contexts=[LIMIT]),
]


def test_a_conversation_has_a_report_for_each_answer_and_its_own():
    report = check_conversation(MESSAGES, checker=CHECKER, name="chat-1")
    assert [one.case.id for one in report.reports] == ["turn-01", "turn-02"]
    assert [one.faithfulness for one in report.reports] == [1.0, 0.0]
    assert 0 < report.faithfulness < 1
    assert report.reports[1].case.history == as_turns(MESSAGES[:3])


def test_the_conversations_of_a_run_are_a_table():
    report = check_conversation(MESSAGES, checker=CHECKER, name="chat-1")
    (row,) = csv.DictReader(io.StringIO(conversations_csv([report])))
    assert (row["conversation"], row["turns"], row["supported"], row["first_error"]) == (
        "chat-1",
        "2",
        "1",
        "turn-02",
    )
    plain = SliceReport(
        slice="s",
        retriever="",
        checker="",
        k=1,
        reports=(report.reports[0].with_(case=Case(id="a", question="b")),),
    )
    assert list(csv.DictReader(io.StringIO(conversations_csv([plain])))) == []


@pytest.mark.parametrize(
    ("messages", "contexts", "message"),
    [
        ([user("Hello")], None, "holds no answer of the assistant"),
        ([user("Hello"), assistant("Take 5 mg.")], None, "answer of turn-01 has no contexts"),
        (
            [user("Hello"), assistant("Take 5 mg.")],
            [[], []],
            "contexts is for 2 answers, and messages holds 1",
        ),
    ],
)
def test_a_conversation_that_cannot_be_checked(messages, contexts, message):
    with pytest.raises(ValueError, match=message):
        check_conversation(messages, contexts, checker=CHECKER)


def test_an_unknown_mode_is_an_error():
    with pytest.raises(
        ValueError, match="history_mode is 'contexts'; expected one of context, evidence, ignore"
    ):
        check_answer("Yes.", contexts=[LIMIT], history=[], history_mode="contexts", checker=CHECKER)


# Forms of turns, in files and from other tools.


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "Is it safe?"},
        {"role": "user", "content": [{"type": "text", "text": "Is it safe?"}]},
        {"type": "human", "content": "Is it safe?"},
        SimpleNamespace(role="user", content="Is it safe?"),
        SimpleNamespace(type="human", content="Is it safe?"),
    ],
)
def test_forms_of_a_message(message):
    assert as_turns([message]) == (user("Is it safe?"),)


def test_system_prompts_tools_and_empty_messages_are_no_turns():
    calls = {"role": "assistant", "content": None, "tool_calls": []}
    assert as_turns([{"role": "system", "content": "x"}, calls, {"role": "tool", "content": "y"}]) == ()


@pytest.mark.parametrize(
    "messages",
    ["Is it safe?", [["user", "x"]], [{"role": "boss", "content": "x"}], [{"role": "user", "content": 5}]],
)
def test_broken_turns_are_errors(messages):
    with pytest.raises(DataError, match="expected a"):
        as_turns(messages)


def test_cases_hold_a_history_or_messages():
    rows = [
        {"id": "a", "question": "Is it safe?", "history": [user("Does it help?")], "conversation": "chat"},
        {
            "id": "b",
            "messages": [user("Does it help?"), assistant("Yes."), user("Is it safe?"), assistant("No.")],
        },
        {"id": "c", "user_input": [{"type": "human", "content": "Is it safe?"}], "reference": "Yes."},
    ]
    first, second, third = read_gold_file(rows)
    assert (first.history, first.conversation) == ((user("Does it help?"),), "chat")
    assert (second.question, second.history) == (
        "Is it safe?",
        (user("Does it help?"), assistant("Yes.")),
    )
    assert (third.question, third.reference_answer) == ("Is it safe?", "Yes.")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "a", "question": "x", "messages": [user("y")]}, "has both 'messages' and 'question'"),
        ({"id": "a", "messages": [assistant("y")]}, "no message of the user"),
        ({"id": "a", "question": "x", "history": [{"role": "boss", "content": "y"}]}, r"history\[0\]"),
        ({"id": "a", "question": "x", "history": "y"}, "column 'history' is 'y'"),
    ],
)
def test_cases_with_broken_messages(row, message):
    with pytest.raises(DataError, match=message):
        list(read_gold_file([row]))


def test_responses_hold_messages_that_end_with_the_answer():
    messages = [user("Does it help?"), assistant("Yes."), user("Is it safe?"), assistant("No.")]
    response = read_responses([{"case_id": "a", "messages": messages, "contexts": ["x"]}], [])["a"]
    assert response.answer == "No."
    case = Case(id="a", question="Is it safe?")
    assert with_recorded_history(case, response).history == as_turns(messages[:2])
    with pytest.raises(DataError, match="two histories"):
        with_recorded_history(case.with_(history=(user("Something else"),)), response)
    with pytest.raises(DataError, match="no message of the assistant"):
        read_responses([{"case_id": "a", "messages": messages[:3], "contexts": ["x"]}], [])
    beside = read_responses([{"case_id": "a", "answer": "Yes.", "messages": messages, "contexts": ["x"]}], [])
    assert beside["a"].answer == "Yes."


def test_a_rag_gets_the_history_or_is_refused():
    given = [user("Does it help?")]
    assert ask(lambda question, history: (question, history), "Is it safe?", given) == ("Is it safe?", given)
    assert ask(lambda question: question, "Is it safe?") == "Is it safe?"
    with pytest.raises(DataError, match=r"1 earlier turns, and medfaith_rag takes no history"):
        ask(lambda question: question, "Is it safe?", given)


def test_the_setting_of_a_slice(tmp_path):
    text = '[slices.s]\ncases = "a.jsonl"\nhistory = "{}"\n'
    (tmp_path / "medfaith.toml").write_text(text.format("evidence"))
    assert load_settings(tmp_path).slice("s").history == "evidence"
    (tmp_path / "medfaith.toml").write_text(text.format("contexts"))
    with pytest.raises(DataError, match="history is 'contexts', expected one of context, evidence, ignore"):
        load_settings(tmp_path)


def test_case_and_response_of_an_ordinary_row_are_as_before():
    assert Case(id="a", question="b").to_dict() == {"id": "a", "question": "b"}
    assert Response(answer="a").to_dict() == {"answer": "a"}
