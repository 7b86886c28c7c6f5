"""The teacher asks a server on loopback that answers well, badly or not at all: no fault is an answer."""

import json
import logging
import socket
import time
import traceback

import llm_server
import pytest
from llm_server import FAULTS, KEY, TEXTS

pytest.importorskip("openai", reason="comes with the extra llm")

from pytest_medfaith.checking.loading import load_checker
from pytest_medfaith.checking.rules import RULE_NAMES
from pytest_medfaith.errors import DataError, MissingExtra, TeacherError
from pytest_medfaith.records import Chunk, Claim
from pytest_medfaith.teacher import asking
from pytest_medfaith.teacher.asking import Teacher, asking_for
from pytest_medfaith.teacher.budget import Pace
from pytest_medfaith.teacher.settings import LlmSettings, mode_of

CHUNKS = [
    Chunk(id="a", text="Iron tablets treat iron deficiency. They are taken on an empty stomach."),
    Chunk(id="b", text="Cold air can set off asthma."),
]
TRUE, FALSE, OPEN = (
    Claim(id=f"c{number}", text=text)
    for number, text in enumerate(
        ["Iron tablets treat iron deficiency.", "Moonlight sets off asthma.", "Zinc helps."], start=1
    )
)


@pytest.fixture
def teacher_of(server, tmp_path):
    """Returns a teacher of the server; everything else of the settings can be said."""

    def make(mode="live", **more):
        given = {
            "model": "judge-7b",
            "base_url": server.url,
            "key_env": "HOUSE_KEY",
            "cassette": tmp_path / "c.jsonl",
            "retries": 1,
            "timeout": 5.0,
        }
        return Teacher(LlmSettings(**{**given, **more}), mode=mode)

    return make


def judged(teacher, *claims, chunks=CHUNKS):
    """Returns the verdicts on claims as an evaluation asks for them: all pairs first, then claim by claim."""
    checker = load_checker("teacher", teacher=teacher)
    checker.score([(claim, chunk) for claim in claims for chunk in chunks])
    return [checker.decide(claim, [], chunks) for claim in claims]


def test_a_claim_is_supported_refuted_or_open_by_quoted_words(server, teacher_of):
    true, false, left_open = judged(teacher_of(), TRUE, FALSE, OPEN)
    assert (true.label, true.chunk_id, true.supporting, true.score) == ("supported", "a", ("a",), 1.0)
    assert CHUNKS[0].text[slice(*true.span)] == "Iron tablets treat iron deficiency"
    assert (false.label, false.chunk_id, false.span) == ("refuted", "a", (0, len(CHUNKS[0].text) - 1))
    assert (left_open.label, left_open.score, left_open.span) == ("unsupported", 0.0, None)
    assert len(server.requests) == 3
    sent = server.requests[0]
    assert (sent["model"], sent["temperature"], sent["seed"]) == ("judge-7b", 0.0, 0)
    assert sent["response_format"] == {"type": "json_object"}


DOSE = [Chunk(id="d", title="Dose", text="Keep it dry. Take 2.5 mg once a day with food. Ask first.")]


@pytest.mark.parametrize(
    ("claim", "label", "rule"),
    [
        ("Take 2.5 mg once a day with food.", "supported", None),
        ("Take 25 mg once a day with food.", "refuted", "numbers"),
        ("Do not take 2.5 mg once a day with food.", "refuted", "negation"),
    ],
)
def test_the_medical_rules_take_back_what_a_teacher_supports_against_the_words_that_it_quotes(
    server, teacher_of, claim, label, rule
):
    quote = "once a day with food"
    server.reply = lambda _: json.dumps(
        {"label": "entail", "evidence": [{"passage": 1, "stance": "entail", "quote": quote}]}
    )
    checker = load_checker("teacher", teacher=teacher_of())
    verdict = checker(claim, DOSE)
    assert (verdict.label, verdict.chunk_id) == (label, "d")
    assert [finding.rule for finding in verdict.findings] == ([rule] if rule else [])
    off = load_checker("teacher", teacher=teacher_of(), rules_off=(*RULE_NAMES,))
    assert off(claim, DOSE).label == "supported"
    assert off.rule_signatures != checker.rule_signatures


@pytest.mark.parametrize("flavour", llm_server.FLAVOURS)
def test_servers_differ_in_small_ways_and_the_verdicts_do_not(server, teacher_of, flavour):
    server.flavour = flavour
    teacher = teacher_of(concurrency=1)
    assert [one.label for one in judged(teacher, TRUE, FALSE, OPEN)] == [
        "supported",
        "refuted",
        "unsupported",
    ]
    use = teacher.take_use()
    assert (use.asked, use.failed, use.repaired) == (3, 0, 0)
    assert use.is_estimated == (flavour == "ollama")
    assert use.not_taken == (("response_format",) if flavour == "ollama" else ())
    assert use.tokens_in == 300 if flavour != "ollama" else use.tokens_in > 300
    assert len(server.requests) == 3 + (flavour == "ollama")  # response_format is tried once


@pytest.mark.parametrize("fault", FAULTS)
def test_no_fault_becomes_an_answer(server, teacher_of, fault):
    server.faults, server.always = [fault], True
    teacher = teacher_of(timeout=0.2 if fault == "slow" else 5.0)
    (verdict,) = judged(teacher, TRUE)
    assert verdict.label == "unscored"
    assert verdict.reason.startswith("the teacher gave no usable judgement: ")
    assert verdict.score == 0.0
    use = teacher.take_use()
    assert (use.failed, use.repaired) == (1, int(fault in TEXTS))
    assert len(server.requests) == (2 if fault != "html" else 1)  # a retry, or a repair
    assert KEY not in verdict.reason


@pytest.mark.parametrize("fault", ["429", "500", "cut", *TEXTS])
def test_a_single_fault_is_overcome(server, teacher_of, fault):
    server.faults = [fault]
    teacher = teacher_of()
    assert judged(teacher, TRUE)[0].label == "supported"
    use = teacher.take_use()
    assert (use.failed, use.repaired) == (0, int(fault in TEXTS))


def test_a_repair_says_what_was_wrong(server, teacher_of):
    server.faults = ["label"]
    judged(teacher_of(), TRUE)
    first, second = server.requests
    assert second["messages"][:2] == first["messages"]
    assert second["messages"][2] == {"role": "assistant", "content": '{"label": "certainly", "evidence": []}'}
    assert (
        "field 'label' is 'certainly', expected one of entail, neutral, contradict"
        in second["messages"][3]["content"]
    )


def test_retry_after_is_waited_for(server, teacher_of, monkeypatch):
    monkeypatch.setattr(llm_server, "RETRY_AFTER", "0.4")
    server.faults = ["429"]
    begun = time.perf_counter()
    assert judged(teacher_of(), TRUE)[0].label == "supported"
    assert time.perf_counter() - begun >= 0.4


@pytest.mark.parametrize("fault", ["401", "404"])
def test_a_wrong_key_or_model_ends_it_at_once_and_the_key_is_in_no_message(server, teacher_of, fault):
    server.faults, server.always = [fault], True
    with pytest.raises(
        TeacherError, match=rf"answered {fault} \(.*refused, .*\[secret\].*check the model's name"
    ) as caught:
        judged(teacher_of(concurrency=1), TRUE, FALSE, OPEN)
    assert len(server.requests) == 1
    told = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    assert KEY not in "".join(told.format())


def test_a_server_that_is_gone_is_not_asked_for_every_claim(server, teacher_of):
    server.faults, server.always = ["500"], True
    claims = [Claim(id=f"c{n}", text=f"Iron helps {n}.") for n in range(12)]
    teacher = teacher_of(retries=0, concurrency=1)
    assert {one.label for one in judged(teacher, *claims)} == {"unscored"}
    assert len(server.requests) == asking.GIVES_UP
    assert teacher.take_use().failed == 12


def test_a_request_that_is_refused_says_nothing_of_the_next(server, teacher_of):
    server.faults = ["400"] * 8  # the first is tried again without response_format
    claims = [Claim(id=f"c{n}", text=f"Iron helps {n}.") for n in range(8)]
    labels = [one.label for one in judged(teacher_of(retries=0, concurrency=1), *claims)]
    assert labels == ["unscored"] * 7 + ["unsupported"]


@pytest.mark.parametrize("text", ["\ud800 half", "\x1b[31m red", "::error::x", "\u2028 line", "a\x00b"])
def test_strange_letters_in_a_reply_are_recorded_and_replayed(server, teacher_of, text):
    server.reply = lambda asked: f"{text}\n{llm_server.reply(asked)}"
    recorded = teacher_of("record")
    verdicts = judged(recorded, TRUE)
    recorded.save()
    assert judged(teacher_of("replay"), TRUE) == verdicts
    assert verdicts[0].label == "supported"


def test_the_key_is_sent_and_is_nowhere_else(server, teacher_of, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    server.reply = lambda asked: llm_server.reply(asked) + f" {KEY} sk-abcdefghijklmnopqrstuvwx"
    teacher = teacher_of("record")
    claim = Claim(
        id="c1", text="Iron tablets treat iron deficiency.", context="sk-proj-abcdefghijklmnopqrstuvwx"
    )
    checker = load_checker("teacher", teacher=teacher)
    verdict = checker(claim, CHUNKS)
    teacher.save()
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    told = [
        caplog.text,
        (tmp_path / "c.jsonl").read_text(),
        verdict.reason,
        checker.signature,
        repr(teacher.settings),
    ]
    told += [json.dumps(server.requests), json.dumps(teacher.take_use().to_dict())]
    assert [text for text in told if KEY in text or "abcdefghijklmnopqrstuvwx" in text] == []
    assert "[secret]" in (tmp_path / "c.jsonl").read_text()


def test_samples_vote_and_the_spread_is_shown(server, teacher_of):
    neutral = '{"label": "neutral", "evidence": []}'
    server.reply = lambda asked: neutral if asked["seed"] == 8 else llm_server.reply(asked)
    teacher = teacher_of(samples=3, seed=7, temperature=0.8)
    (verdict,) = judged(teacher, TRUE)
    assert (verdict.label, verdict.score) == ("supported", pytest.approx(2 / 3))
    assert verdict.reason == "of 3 samples 2 entail, 1 neutral"
    assert sorted(asked["seed"] for asked in server.requests) == [7, 8, 9]
    assert teacher.take_use().agreements == (0.6667,)


def test_of_a_tie_the_more_careful_label_is_taken(server, teacher_of):
    server.reply = lambda asked: (
        '{"label": "neutral", "evidence": []}' if asked["seed"] else llm_server.reply(asked)
    )
    assert judged(teacher_of(samples=2), TRUE)[0].label == "unsupported"


def test_an_item_that_lost_a_sample_is_unscored(server, teacher_of):
    server.reply = lambda asked: "no" if asked["seed"] == 1 else llm_server.reply(asked)
    teacher = teacher_of(samples=3)
    assert judged(teacher, TRUE)[0].label == "unscored"
    assert teacher.take_use().failed == 1


def test_several_requests_are_under_way_and_no_more_than_allowed(server, teacher_of):
    server.reply = lambda asked: time.sleep(0.03) or llm_server.reply(asked)
    judged(teacher_of(concurrency=3), *[Claim(id=f"c{n}", text=f"Iron helps {n}.") for n in range(9)])
    assert 2 <= server.most <= 3


def test_the_pace_spreads_requests_evenly():
    now, slept = [10.0], []
    pace = Pace(120, clock=lambda: now[0], sleep=slept.append)
    for _ in range(3):
        pace.wait()
    now[0] += 60
    pace.wait()
    assert slept == [0.5, 1.0]


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        ({"token_budget": 3600}, "the budget of 3,600 tokens is spent"),
        (
            {"money_budget": 0.0036, "price_in": 1.0, "price_out": 1.0, "currency": "EUR"},
            "the budget of 0.0036 EUR is spent",
        ),
    ],
)
def test_a_budget_is_never_overdrawn_and_what_it_does_not_hold_is_unscored(
    server, teacher_of, budget, message
):
    teacher = teacher_of(concurrency=4, reply_tokens=2048, **budget)
    claims = [Claim(id=f"c{n}", text=f"Iron helps {n}.") for n in range(8)]
    labels = [one.label for one in judged(teacher, *claims)]
    use = teacher.take_use()
    assert 1 <= len(server.requests) < 8
    assert labels.count("unscored") == 8 - len(server.requests) == use.failed
    assert list(use.failures) == [message]
    assert use.tokens_in + use.tokens_out == 120 * len(server.requests) <= 3600


def test_workers_share_the_budget(teacher_of, monkeypatch):
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "4")
    shared = teacher_of(token_budget=1000, money_budget=1.0, concurrency=2, requests_per_minute=60.0).settings
    assert (shared.token_budget, shared.money_budget, shared.concurrency) == (250, 0.25, 1)
    assert shared.requests_per_minute == 15.0


def test_a_recording_is_replayed_without_a_socket_a_key_or_the_client(
    server, teacher_of, tmp_path, monkeypatch
):
    recorded = teacher_of("record", price_in=1.0, price_out=2.0)
    verdicts = judged(recorded, TRUE, FALSE, OPEN)
    recorded.save()
    first = (tmp_path / "c.jsonl").read_text()
    sent = len(server.requests)

    def no_socket(*_, **__):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", no_socket)
    monkeypatch.delenv("HOUSE_KEY")
    monkeypatch.setitem(__import__("sys").modules, "openai", None)
    teacher = teacher_of("replay", base_url="http://elsewhere.invalid/v1", price_in=1.0, price_out=2.0)
    assert judged(teacher, OPEN, FALSE, TRUE) == verdicts[::-1]
    use = teacher.take_use()
    assert (use.asked, use.replayed, use.latencies_ms, use.money) == (0, 3, (), 0.00042)
    assert len(server.requests) == sent
    assert (tmp_path / "c.jsonl").read_text() == first
    with (
        asking_for("new-case"),
        pytest.raises(
            TeacherError,
            match=r"case 'new-case': the cassette .*c\.jsonl holds no answer to this request of the judge on "
            r"claim 'c9' .*--medfaith-llm record",
        ),
    ):
        judged(teacher, Claim(id="c9", text="Something else."))


def test_record_asks_only_for_what_the_cassette_lacks_and_is_sorted(server, teacher_of, tmp_path):
    for claims in ((TRUE,), (FALSE, TRUE), (OPEN,)):
        teacher = teacher_of("record")
        judged(teacher, *claims)
        teacher.save()
    assert len(server.requests) == 3
    rows = [json.loads(line) for line in (tmp_path / "c.jsonl").read_text().splitlines()]
    assert len(rows) == 3
    assert [row["key"] for row in rows] == sorted(row["key"] for row in rows)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"model": ""}, "the teacher has no model"),
        ({"mode": "off"}, "the mode of the LLM is off"),
        ({"mode": "replay"}, "there is no cassette .*c.jsonl to replay"),
        (
            {"base_url": "", "key_env": "NO_SUCH_KEY"},
            "asks https://api.openai.com/v1, and NO_SUCH_KEY is not set",
        ),
    ],
)
def test_a_teacher_that_cannot_be_asked_says_so_before_the_first_request(server, teacher_of, more, message):
    with pytest.raises(TeacherError, match=message):
        judged(teacher_of(**more), TRUE)
    assert server.requests == []


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"key_env": "sk-abcdefghijklmnopqrstuvwx"}, "llm] key_env is no name of an environment variable"),
        ({"base_url": "localhost:11434"}, "is no address of http or https"),
        ({"money_budget": 1.0}, "no prices are set"),
    ],
)
def test_settings_that_make_no_teacher_are_refused_without_the_key(teacher_of, more, message):
    with pytest.raises(DataError, match=message) as caught:
        judged(teacher_of(**more), TRUE)
    assert "abcdefghijklmnopqrstuvwx" not in str(caught.value)


def test_without_the_client_the_extra_is_named(teacher_of, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "openai", None)
    with pytest.raises(MissingExtra, match=r"needs the extra 'llm'"):
        judged(teacher_of(), TRUE)


def test_without_a_word_a_cassette_is_replayed_and_ci_asks_nothing(tmp_path):
    settings = LlmSettings(cassette=tmp_path / "c.jsonl")
    assert mode_of(settings, {}) == "live"
    assert mode_of(settings, {"CI": "true"}) == "off"
    settings.cassette.touch()
    assert mode_of(settings, {"CI": "true"}) == mode_of(settings, {}) == "replay"
