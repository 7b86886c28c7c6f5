"""The server: what it answers, what it refuses, and what it never says."""

from __future__ import annotations

import asyncio
import json
import logging
import threading

import httpx
import pytest

from pytest_medfaith.asserts import check_answer
from pytest_medfaith.cards.json_card import case_row
from pytest_medfaith.checking.judge import as_checker
from pytest_medfaith.errors import DataError
from pytest_medfaith.serve.app import make_app
from pytest_medfaith.serve.limits import Limits
from pytest_medfaith.serve.service import Service

ANSWER = "Letrozole is started at 25 mg once a day. It must not be taken in pregnancy."
CONTEXTS = ["Letrozole: 2.5 mg once daily.", "It must not be taken in pregnancy."]
SECRET = "the patient is Jane Roe"  # noqa: S105 - a text that no log may hold


def judge(claim, chunks):
    """Supports a claim that stands in a passage, and refutes any other."""
    return "supported" if any(claim.text in chunk.text for chunk in chunks) else "refuted"


def served(tmp_path, *, judge=judge, slice_name="", **limits):
    service = Service(tmp_path, slice_name, limits=Limits(**limits))
    service.__dict__["checker"] = as_checker(judge, name="scripted")
    return service


def asking(service, *requests, token="", hosts=(), at_once=False):
    """Returns the responses to `requests`, (method, path, arguments of httpx), in turn or at once."""

    async def ask():
        transport = httpx.ASGITransport(app=make_app(service, token=token, hosts=hosts))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as client:
            sent = [client.request(method, path, **given) for method, path, given in requests]
            return await asyncio.gather(*sent) if at_once else [await one for one in sent]

    return asyncio.run(ask())


def check(service, **body):
    return asking(service, ("POST", "/check", {"json": body}))[0]


def events_of(text):
    pieces = [piece.split("\n") for piece in text.strip().split("\n\n")]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in pieces]


def test_a_check_is_that_of_the_assertions(tmp_path):
    got = check(served(tmp_path), answer=ANSWER, contexts=CONTEXTS, question="How is it taken?")
    wanted = check_answer(
        ANSWER, CONTEXTS, question="How is it taken?", checker=as_checker(judge, name="scripted")
    )
    assert wanted.faithfulness == 0.5

    body = got.json()
    assert got.status_code == 200
    assert body["checker"] == "scripted"
    expected = case_row(wanted.with_(case=wanted.case.with_(id="answer")))
    assert body["report"] == json.loads(json.dumps(expected))
    assert body["verdicts"] == json.loads(json.dumps([verdict.to_dict() for verdict in wanted.verdicts]))


def test_a_stream_tells_each_verdict_and_ends_with_the_same_report(tmp_path):
    service, body = served(tmp_path), {"answer": ANSWER, "contexts": CONTEXTS}
    whole, stream = asking(
        service, ("POST", "/check", {"json": body}), ("POST", "/check/stream", {"json": body})
    )

    assert stream.headers["content-type"].startswith("text/event-stream")
    events = events_of(stream.text)
    assert [name for name, _ in events] == ["claims", "verdict", "verdict", "report"]
    assert [claim["text"] for claim in events[0][1]] == [
        row["text"] for row in whole.json()["report"]["claims"]
    ]
    told, final = [data for name, data in events if name == "verdict"], whole.json()["verdicts"]
    assert [(one["claim"], one["label"]) for one in told] == [(one["claim"], one["label"]) for one in final]
    assert all(one["provisional"] for one in told)
    assert events[-1][1]["verdicts"] == final
    assert [one["rule"] for one in final[0]["findings"]] == ["safety.dose"]  # which a verdict's event lacks
    assert events[-1][1]["report"] == whole.json()["report"]


CITED = "Letrozole is started at 25 mg once a day [2]. It must not be taken in pregnancy [1]."


@pytest.mark.parametrize("answer", [ANSWER, CITED])
@pytest.mark.usefixtures("word_vectors")
def test_verdicts_of_a_model_are_streamed_claim_by_claim_and_are_those_of_the_whole(answer):
    from pytest_medfaith.checking.checker import Checker
    from pytest_medfaith.claims.split import extract_claims
    from pytest_medfaith.serve.streamed import streamed

    def logits(pairs, **_):
        """Supports what stands in the passage, refutes another dose, and leaves the rest open."""
        return [
            (4.0, 0.0, 0.0)
            if claim in text
            else (0.0, 0.0, 4.0)
            if "mg" in text and "mg" in claim
            else (0.0, 4.0, 0.0)
            for text, claim in pairs
        ]

    model, told, scored = Checker("scripted", "1", logits), [], []

    class Watching(Checker):
        def score(self, pairs, *, progress=None):
            scored.append([claim.id for claim, _ in pairs])
            return super().score(pairs, progress=progress)

    watched = Watching("scripted", "1", logits)
    whole = check_answer(answer, CONTEXTS, checker=model)
    report = check_answer(answer, CONTEXTS, checker=streamed(watched, told.append, extract_claims(answer)))

    assert report == whole
    assert [verdict.claim.id for verdict in told] == ["c1", "c2"]
    assert [set(ids) for ids in scored if ids][:2] == [{"c1"}, {"c2"}]


def test_a_claim_that_cites_the_wrong_passage_has_the_status_of_a_run(tmp_path):
    """The first claim cites a passage that leaves the claim open, and another passage refutes the claim.

    The cited passage does not contradict the claim, so the claim's citation counts as unsupported.
    """
    from pytest_medfaith.checking.loading import load_checker

    service = served(tmp_path)
    service.__dict__["checker"] = load_checker("fast")
    got = check(service, answer=CITED, contexts=CONTEXTS).json()["verdicts"]
    wanted = check_answer(CITED, CONTEXTS, checker=load_checker("fast")).verdicts
    assert got == json.loads(json.dumps([verdict.to_dict() for verdict in wanted]))
    assert (got[0]["label"], got[0]["attribution"]["status"]) == ("refuted", "unsupported")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"answer": ANSWER}, "contexts is missing"),
        ({"contexts": CONTEXTS}, "answer: Field required"),
        ({"answer": "", "contexts": CONTEXTS}, "answer: String should have at least 1 character"),
        ({"answer": ANSWER, "context": CONTEXTS}, "context: Extra inputs are not permitted"),
        ({"answer": ANSWER, "contexts": [{"text": "x", "txt": 1}]}, "txt: Extra inputs are not permitted"),
        ({"answer": ANSWER, "contexts": [" "]}, "context"),
        ({"answer": 5, "contexts": CONTEXTS}, "answer: Input should be a valid string"),
    ],
)
def test_a_request_that_cannot_be_read_is_told_which_field(tmp_path, body, said):
    response = check(served(tmp_path), **body)
    assert response.status_code == 422
    assert said in response.json()["error"]


@pytest.mark.parametrize("content", ["{", "[]", "NaN", '{"answer": "\\ud800", "contexts": ["x"]}', ""])
def test_a_body_that_is_no_request_is_refused_without_an_echo(tmp_path, content):
    [response] = asking(
        served(tmp_path),
        ("POST", "/check", {"content": content, "headers": {"content-type": "application/json"}}),
    )
    assert response.status_code == 422
    assert response.json()["error"]


def test_what_is_no_text_no_address_or_no_method_is_refused_in_the_same_form(tmp_path):
    answers = asking(
        served(tmp_path),
        ("POST", "/check", {"content": b"u\xf0Z", "headers": {"content-type": "application/json"}}),
        ("GET", "/nowhere", {}),
        ("GET", "/check", {}),
    )
    assert [one.status_code for one in answers] == [400, 404, 405]
    assert all(one.json()["error"] for one in answers)


def test_an_answer_of_too_many_claims_or_contexts_is_refused(tmp_path):
    service = served(tmp_path, claims=2, contexts=3)
    many = check(service, answer=ANSWER + " It is an aromatase inhibitor.", contexts=CONTEXTS)
    assert (many.status_code, many.json()["error"]) == (422, "the answer makes 3 claims; expected at most 2")
    wide = check(service, answer=ANSWER, contexts=["Letrozole."] * 4)
    assert (wide.status_code, wide.json()["error"]) == (422, "there are 4 contexts; expected at most 3")


def test_a_large_body_is_refused_whether_or_not_it_tells_its_length(tmp_path):
    async def in_pieces():
        for _ in range(50):
            yield b"x" * 100

    service = served(tmp_path, body_bytes=1000)
    told, untold = asking(
        service,
        ("POST", "/check", {"content": b"x" * 1001}),
        ("POST", "/check", {"content": in_pieces()}),
    )
    assert (told.status_code, untold.status_code) == (413, 413)
    assert told.json()["error"] == "the body is too large; expected at most 1,000 bytes"


def test_a_body_that_does_not_come_is_given_up(tmp_path):
    async def slowly():
        yield b"{"
        await asyncio.sleep(5)

    service = served(tmp_path, body_seconds=0.05)
    [response] = asking(service, ("POST", "/check", {"content": slowly()}))
    assert response.status_code == 408


def test_a_token_is_needed_for_all_but_the_page_and_the_health(tmp_path, monkeypatch):
    import hmac

    compared, compare = [], hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", lambda a, b: compared.append(1) or compare(a, b))
    header = {"headers": {"authorization": "Bearer secret"}}
    wrong = {"headers": {"authorization": "Bearer secreT"}}
    bare = {"headers": {"authorization": "secret"}}
    paths = ["/metrics", "/openapi.json", "/check", "/check/stream", "/nowhere"]
    answers = asking(
        served(tmp_path),
        *[("GET", path, given) for path in paths for given in ({}, wrong, bare)],
        ("GET", "/health", {}),
        ("GET", "/", {}),
        ("GET", "/metrics", header),
        token="secret",  # noqa: S106
    )
    assert [one.status_code for one in answers] == [401] * 15 + [200] * 3
    assert answers[0].headers["www-authenticate"] == "Bearer"
    assert compared


def test_a_page_of_another_site_cannot_ask_by_another_name(tmp_path):
    known = ("127.0.0.1", "localhost", "[::1]")
    names = {"127.0.0.1:8765": 200, "localhost": 200, "[::1]:8765": 200, "evil.example": 421, "": 421}
    answers = asking(
        served(tmp_path), *[("GET", "/health", {"headers": {"host": name}}) for name in names], hosts=known
    )
    assert [one.status_code for one in answers] == list(names.values())


def test_the_page_loads_nothing_from_elsewhere_and_may_not_be_framed(tmp_path):
    [page] = asking(served(tmp_path), ("GET", "/", {}))
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "http://" not in page.text.replace("https?:", "").replace("http://www.w3.org", "")
    assert "access-control-allow-origin" not in page.headers


def test_a_full_line_refuses_and_says_when_to_come_back(tmp_path):
    judging, go_on = threading.Event(), threading.Event()

    def slow(_claim, _chunks):
        judging.set()
        go_on.wait(10)
        return "supported"

    async def ask():
        transport = httpx.ASGITransport(app=make_app(served(tmp_path, judge=slow, waiting=1)))
        body = {"answer": ANSWER, "contexts": CONTEXTS}
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
            first = asyncio.create_task(client.post("/check", json=body))
            await asyncio.to_thread(judging.wait, 10)
            second = asyncio.create_task(client.post("/check", json=body))
            for _ in range(1000):
                if (await client.get("/health")).json()["line"] == 2:
                    break
            third, stream = (
                await client.post("/check", json=body),
                await client.post("/check/stream", json=body),
            )
            go_on.set()
            return await first, await second, third, stream, await client.get("/health")

    first, second, third, stream, health = asyncio.run(ask())
    assert (first.status_code, second.status_code) == (200, 200)
    assert third.status_code == 429
    assert int(third.headers["retry-after"]) >= 1
    assert events_of(stream.text)[-1][1]["status"] == 429
    assert health.json()["line"] == 0


def test_a_check_that_takes_too_long_ends_before_its_next_claim(tmp_path):
    seen, go_on = [], threading.Event()

    def slow(claim, _chunks):
        seen.append(claim.text)
        go_on.wait(10)
        return "unsupported"

    async def ask():
        app = make_app(served(tmp_path, judge=slow, seconds=0.1))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://x") as client:
            late = await client.post("/check", json={"answer": ANSWER, "contexts": CONTEXTS})
            go_on.set()
            for _ in range(1000):
                if (await client.get("/health")).json()["line"] == 0:
                    return late
                await asyncio.sleep(0.005)
            return None

    late = asyncio.run(ask())
    assert late.status_code == 504
    assert len(seen) == 1  # the second claim was never judged


def test_an_unforeseen_fault_is_logged_by_its_kind_and_no_text_is_ever_logged(tmp_path, caplog):
    def broken(claim, _chunks):
        raise RuntimeError(f"cannot judge {claim.text}")

    class Torn:
        def __call__(self, _claim, _chunks):
            return "supported"

    caplog.set_level(logging.DEBUG)
    service = served(tmp_path)
    service.__dict__["checker"] = as_checker(Torn(), name="torn")
    service.check = lambda asked, _told: (_ for _ in ()).throw(KeyError(asked.answer))
    body = {"answer": SECRET, "contexts": [SECRET], "question": SECRET}
    whole, stream = asking(
        service, ("POST", "/check", {"json": body}), ("POST", "/check/stream", {"json": body})
    )
    assert whole.status_code == 500
    assert whole.json()["id"] in caplog.text
    assert "KeyError" in caplog.text
    assert events_of(stream.text)[-1][1]["status"] == 500
    judged = check(served(tmp_path, judge=broken), **body)
    assert judged.status_code in {422, 500}
    assert SECRET not in caplog.text
    assert SECRET not in whole.text + stream.text


def test_figures_count_routes_and_verdicts_and_hold_no_path_of_a_client(tmp_path):
    *_, figures = asking(
        served(tmp_path),
        ("POST", "/check", {"json": {"answer": ANSWER, "contexts": CONTEXTS}}),
        ("GET", f"/{SECRET}", {}),
        ("POST", "/check", {"content": b"x" * 1_000_001}),
        ("GET", "/metrics", {}),
    )
    assert 'medfaith_requests_total{path="/check",status="200"} 1.0' in figures.text
    assert 'medfaith_requests_total{path="unknown",status="404"} 1.0' in figures.text
    assert 'medfaith_requests_total{path="unknown",status="413"} 1.0' in figures.text
    assert 'medfaith_claims_total{label="supported"} 1.0' in figures.text
    assert "Jane" not in figures.text


def test_a_served_slice_finds_the_passages_itself(tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        "[tool.medfaith.slices.drugs]\ncases = 'cases.jsonl'\ncorpus = ['corpus.jsonl']\nretriever = 'bm25'\n"
        "k = 1\n",
        encoding="utf-8",
    )
    (tmp_path / "cases.jsonl").write_text('{"id": "1", "question": "q"}\n', encoding="utf-8")
    rows = [
        {"id": "a", "text": "Letrozole must not be taken in pregnancy."},
        {"id": "b", "text": "Ice is cold."},
    ]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    service = served(tmp_path, slice_name="drugs")
    found = check(
        service,
        answer="Letrozole must not be taken in pregnancy.",
        question="Is letrozole safe in pregnancy?",
    )
    assert found.status_code == 200, found.text
    assert [chunk["id"] for chunk in found.json()["contexts"]] == ["a"]
    assert found.json()["verdicts"][0]["label"] == "supported"
    assert found.json()["contexts_from"] == "the slice's retriever"
    told = predict(service, question="Is letrozole safe in pregnancy?").json()
    assert told["answer"].startswith("Letrozole must not be taken in pregnancy")
    assert [one["verdict"] for one in told["claim_breakdown"]] == ["SUPPORTED"]
    unasked = check(service, answer=ANSWER)
    assert unasked.json()["error"] == "question is empty; it is what the passages are searched for"


def predict(service, **body):
    return asking(service, ("POST", "/predict", {"json": body}))[0]


def test_a_prediction_has_the_fields_of_medcafas_and_says_what_is_missing(tmp_path):
    answer = "Letrozole is started at 25 mg once a day. It cured all in a trial that was published in 2093."
    found = predict(served(tmp_path), question="How is it taken?", answer=answer, contexts=CONTEXTS).json()
    assert (found["risk_flag"], found["risk_score"], found["confidence"]) == ("HIGH", 1.0, 0.0)
    assert found["breakdown"]["verdict_counts"] == {"SUPPORTED": 0, "CONTRADICTED": 2, "UNSUPPORTED": 0}
    assert found["breakdown"]["missing"] == ["consistency"]
    assert found["breakdown"]["consistency_score"] is None
    assert [one["verdict"] for one in found["claim_breakdown"]] == ["CONTRADICTED"] * 2
    assert [one["answer"] for one in found["citations"]] == CONTEXTS


def test_a_date_that_has_not_come_is_flagged_and_is_the_whole_risk():
    from pytest_medfaith.checking.loading import load_checker
    from pytest_medfaith.records.answer_risk import RiskSettings
    from pytest_medfaith.serve.prediction import prediction

    text = "Letrozole cured all patients in a trial that was published in 2093."
    checker = load_checker("fast")
    report = check_answer(text, ["Letrozole must not be taken in pregnancy."], checker=checker)
    found = prediction(report, RiskSettings())
    assert [(flag["claim"], flag["year"]) for flag in found["temporal_flags"]] == [(text, 2093)]
    assert (found["risk_flag"], found["breakdown"]["temporal_risk"]) == ("HIGH", 1.0)
    assert found["breakdown"]["overrides"] == ["future"]


@pytest.mark.parametrize(
    ("answer", "flag", "score"),
    [("I don't know.", "LOW", 0.0), ("Thanks for asking!", "HIGH", 1.0)],
)
def test_an_answer_without_claims_is_of_no_risk_only_as_a_refusal(tmp_path, answer, flag, score):
    found = predict(served(tmp_path), question="q", answer=answer, contexts=CONTEXTS).json()
    assert (found["risk_flag"], found["risk_score"]) == (flag, score)


def test_a_question_alone_is_answered_from_the_served_slice_and_needs_one(tmp_path):
    bare = predict(served(tmp_path), question="Is letrozole safe in pregnancy?")
    assert (bare.status_code, bare.json()["error"][:20]) == (422, "contexts is missing;")


def test_a_slice_without_a_corpus_cannot_be_served(tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        "[tool.medfaith.slices.bare]\ncases = 'cases.jsonl'\n", encoding="utf-8"
    )
    with pytest.raises(DataError, match="nothing to retrieve from"):
        Service(tmp_path, "bare").load()


@pytest.mark.parametrize("wrong", [0, -1, float("inf"), float("nan")])
def test_a_limit_that_bounds_nothing_is_refused(wrong):
    with pytest.raises(ValueError, match="the limit seconds is"):
        Limits(seconds=wrong)


def test_openapi_says_what_is_taken_and_given(tmp_path):
    [given] = asking(served(tmp_path), ("GET", "/openapi.json", {}))
    paths = given.json()["paths"]
    assert {"/check", "/check/stream", "/health", "/metrics"} <= paths.keys()
    assert {"200", "401", "413", "422", "429", "504"} <= paths["/check"]["post"]["responses"].keys()
