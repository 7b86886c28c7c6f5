"""A teacher's replies are read strictly: one JSON object, known labels, quotes that the evidence holds."""

import json

import pytest

from pytest_medfaith.teacher.extraction import read_claims
from pytest_medfaith.teacher.judging import read_judgement
from pytest_medfaith.teacher.quotes import find_quote
from pytest_medfaith.teacher.ranking import read_grades
from pytest_medfaith.teacher.replies import ReplyError
from pytest_medfaith.teacher.use import LlmUse, family_of, sum_uses, use_lines
from pytest_medfaith.teacher.writing import read_answer, read_line

PASSAGES = (
    "Take 2.5 mg once a day, not 10 mg.\nNever with “strong” inhibitors – ask first.",
    "Metformin lowers glucose.",
)


def reply(label, *evidence):
    rows = [{"passage": number, "stance": stance, "quote": quote} for number, stance, quote in evidence]
    return json.dumps({"label": label, "evidence": rows})


GOOD = reply("entail", (2, "entail", "Metformin lowers glucose"))


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Here it is:\n{GOOD}\nI hope that helps.",
        f'<think>Perhaps {{"label": "contradict"}}</think>{GOOD}',
        f"<think>a</think> <think>b</think>\n{GOOD}",
        GOOD.replace("Metformin lowers glucose", "  'metformin  lowers glucose.'…"),
    ],
)
def test_a_reply_is_read_past_what_stands_around_it(text):
    judgement = read_judgement(text, passages=PASSAGES)
    assert (judgement.label, [(one.passage, one.span) for one in judgement.quotes]) == (
        "entail",
        [(1, (0, 24))],
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the reply is empty"),
        ("<think>so</think>", "the reply is empty"),
        ("<think>it goes on", "ends within its reasoning"),
        (f"<think>a</think><think>{GOOD}", "ends within its reasoning"),
        ("entail", "holds no JSON object"),
        ('{"label": "entail"', "the JSON cannot be read"),
        ("{" * 5000, "the JSON cannot be read"),
        (GOOD + GOOD, "more than one JSON object"),
        ('{"label": "neutral", "label": "entail", "evidence": []}', "a key is in the JSON object twice"),
        ('{"label": "neutral", "evidence": [], "score": Infinity}', "Infinity is no JSON number"),
        ('{"evidence": []}', "field 'label' is missing"),
        ('{"label": null}', "field 'label' is missing"),
        ('{"label": ["entail"]}', "field 'label' is"),
        ('{"label": "supported"}', "expected one of entail, neutral, contradict"),
        ('{"label": "entail", "evidence": "all"}', "field 'evidence' is 'all', expected a list"),
        (
            '{"label": "entail", "evidence": [{"passage": "2", "stance": "entail", "quote": "x"}]}',
            ("a whole number"),
        ),
        (reply("entail"), 'without evidence of the stance "entail"'),
        (reply("entail", (2, "part", "Metformin lowers glucose")), "from two passages"),
        (reply("entail", (1, "part", "Take 2.5 mg once"), (1, "part", "not 10 mg")), "from two passages"),
        (reply("entail", (2, "contradict", "Metformin lowers glucose")), 'the stance "entail"'),
        (reply("contradict"), 'the stance "contradict"'),
        (reply("neutral", (2, "entail", "Metformin lowers glucose")), "expected an empty list"),
        (reply("entail", (3, "entail", "Metformin lowers glucose")), "a number from 1 to 2"),
        (reply("entail", (0, "entail", "Metformin lowers glucose")), "a number from 1 to 2"),
        (reply("entail", (1, "entail", "Metformin lowers glucose")), "does not stand in passage 1"),
        (reply("entail", (2, "entail", "Metformin ... glucose")), "does not stand in passage 2"),
        (reply("entail", (2, "entail", "")), "does not stand in passage 2"),
        (reply("entail", (2, "entail", "lowers")), "shorter than 3 words"),
        (
            reply("entail", (2, "entail", "lowers"), (2, "entail", "Metformin lowers glucose")),
            ("shorter than 3 words"),
        ),
    ],
)
def test_anything_else_is_refused_and_says_why(text, message):
    with pytest.raises(ReplyError, match=message):
        read_judgement(text, passages=PASSAGES)


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("Take 2.5 mg once a day", "Take 2.5 mg once a day"),
        ("take 2.5 MG\nonce", "Take 2.5 mg once"),
        ('"strong" inhibitors - ask first.', "strong” inhibitors – ask first"),
        (".5 mg once", None),
        ("5 mg once a day", None),
        ("Take 2.5 m", None),
        ("Take 25 mg once", None),
        ("not 10 mg.", "not 10 mg"),
        ("not 1", None),
        (".*", None),
        ("…", None),
    ],
)
def test_a_quote_stands_in_a_text_word_for_word_and_no_number_in_a_longer_one(quote, found):
    span = find_quote(quote, PASSAGES[0])
    assert (PASSAGES[0][slice(*span)] if span else None) == found


@pytest.mark.parametrize(
    "text", [".5 mg a day", "2-5 mg a day", "2–5 mg a day", "−5 mg a day", "1,5 mg a day", "15 mg a day"]
)
def test_a_number_is_quoted_whole(text):
    assert find_quote("5 mg a day", text) is None
    assert find_quote(text, text) == (0, len(text))
    assert find_quote(f"{text} of 2", f"{text} of 2-5") is None
    assert find_quote(f"{text} of 2", f"{text} of 2.5") is None
    assert find_quote(f"{text} of 2", f"{text} of 2. Then") is not None


def test_claims_come_as_json_or_a_claim_a_line():
    assert read_claims('{"claims": ["A  b.", "C.", "A b."]}') == ["A b.", "C."]
    assert read_claims("<think>x</think>\n- A b.\n\n2. C.\n* D 5 mg.") == ["A b.", "C.", "D 5 mg."]
    for text, message in [
        ("", "empty"),
        ('{"claims": "A"}', "expected a list"),
        ('{"claims": [1]}', "expected text"),
        ('{"claims": [" "]}', "a claim is empty"),
    ]:
        with pytest.raises(ReplyError, match=message):
            read_claims(text)


def grades(*pairs):
    return json.dumps({"grades": [{"passage": passage, "grade": grade} for passage, grade in pairs]})


def test_each_passage_has_one_grade():
    assert read_grades(grades((2, 0), (1, 10)), size=2) == [10, 0]
    for text, message in [
        (grades((1, 3)), "one grade for each of the passages 1 to 2"),
        (grades((1, 3), (1, 4)), "one grade for each"),
        (grades((1, 3), (2, 11)), "from 0 to 10"),
        (grades((1, 3), (2, -1)), "from 0 to 10"),
        (grades((1, 3), (2, True)), "a whole number"),
        (grades((1, 3), (2, 2.5)), "a whole number"),
    ]:
        with pytest.raises(ReplyError, match=message):
            read_grades(text, size=2)


def test_an_answer_cites_what_is_there_and_a_line_is_one_line():
    assert read_answer("<think>x</think>Iron helps [2].", size=2) == "Iron helps [2]."
    with pytest.raises(ReplyError, match=r"cites passage \[3\], and there are 2"):
        read_answer("Iron helps [3].", size=2)
    assert read_line(" About iron. ") == "About iron."
    for text, message in [("a\nb", "several lines"), ("word " * 81, "has 81 words"), ("", "empty")]:
        with pytest.raises(ReplyError, match=message):
            read_line(text)


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", "llama"),
        ("llama3.1:70b", "llama"),
        ("openai/gpt-4o-mini-2024-07-18", "gpt"),
        ("o3-mini", "gpt"),
        ("Qwen2.5", "qwen"),
        ("", ""),
        ("70b", ""),
    ],
)
def test_a_family_is_told_by_the_name(model, family):
    assert family_of(model) == family


def test_what_several_cases_took_is_summed_and_said():
    one = LlmUse(
        model="m",
        asked=2,
        tokens_in=1000,
        tokens_out=50,
        money=0.25,
        currency="EUR",
        latencies_ms=(10.0, 30.0),
        agreements=(1.0,),
        failures={"slow": 1},
    )
    other = LlmUse(
        model="m",
        replayed=1,
        repaired=1,
        tokens_in=5,
        is_estimated=True,
        money=0.5,
        currency="EUR",
        agreements=(0.6,),
        failures={"slow": 2, "gone": 1},
        same_family="llama2",
    )
    assert use_lines(sum_uses([])) == use_lines(sum_uses([LlmUse()])) == []
    assert use_lines(sum_uses([one, LlmUse(), other])) == [
        (
            "teacher m: 3 requests (1 replayed); 1 asked again for a usable reply; 1,005 tokens in, 50 out, "
            "estimated; 0.7500 EUR; 10 / 30 ms at p50 / p95"
        ),
        "teacher: all samples agree on 1 of 2 items; least agreement 0.60",
        "UNANSWERED: the teacher gave no usable answer to 4 of its items: 3 because slow; 1 because gone",
        (
            "WARNING: the judge m is of the family of llama2, which wrote the answers; a model favours "
            "answers like its own (allow_same_family = true takes this line away)"
        ),
    ]
