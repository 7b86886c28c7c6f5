"""Requests that nobody should send: each is refused in the form of all errors, and none is a fault (5xx)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_serve import ANSWER, CONTEXTS, served

from pytest_medfaith.serve.app import make_app

JSON = {"content-type": "application/json"}
BODY = {"question": "How is it taken?", "answer": ANSWER, "contexts": CONTEXTS}
POSTS = ("/check", "/check/stream", "/predict")
DEEP = "[" * 100_000


def with_value(field: str, text: str) -> str:
    """Returns a body as JSON whose field holds the JSON `text`."""
    return json.dumps({**BODY, field: "@"}).replace('"@"', text)


VALUES = [
    *("null", "true", "0", "-1", "1e999", "1e-999", "NaN", "-Infinity", "{}", "[]", "[[]]", '""', '" "'),
    *('"\\ud800"', '"\\udfff\\ud800"', '"\\u0000"', '"\\u202e"', '["\\ud800"]', '{"text": "\\ud800"}'),
    *("9" * 5000, "-" + "9" * 400, "1" + "0" * 310, '"' + "9" * 5000 + '"', DEEP, '{"text":' * 50_000),
    *('[{"text": "x", "id": "1"}, {"text": "y", "id": "1"}]', '[{"text": null}]', "[null]", '[""]', '["x"'),
    *(
        '[{"\\ud800": 1, "text": "x"}]',
        '{"\\ud800": 1}',
        '[{"text": "x", "id": 5}]',
        '["' + "x" * 9999 + '"]',
    ),
]


def asking(service, *requests, token=""):
    """Returns the responses to `requests`, in turn; an exception of the application is a response 500."""

    async def ask():
        transport = httpx.ASGITransport(make_app(service, token=token), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as client:
            return [await client.request(method, path, **given) for method, path, given in requests]

    return asyncio.run(ask())


def refused_or_judged(response) -> bool:
    """Returns whether a response is one that a client can read: a result, or why there is none."""
    if response.headers.get("content-type", "").startswith("text/event-stream"):
        return '"status": 5' not in response.text
    has_body = response.status_code != 200 and response.request.method != "HEAD"
    return response.status_code < 500 and (not has_body or bool(response.json()["error"]))


@pytest.mark.parametrize("path", POSTS)
def test_values_of_any_kind_are_judged_or_refused(tmp_path, path):
    bodies = [
        with_value(field, text) for field in ("question", "answer", "contexts", "more") for text in VALUES
    ]
    answers = asking(
        served(tmp_path), *[("POST", path, {"content": body, "headers": JSON}) for body in bodies]
    )
    wrong = [
        (one.status_code, body[:80])
        for one, body in zip(answers, bodies, strict=True)
        if not refused_or_judged(one)
    ]
    assert wrong == []
    assert {one.status_code for one in answers} >= {200, 400, 422}


@pytest.mark.parametrize("path", POSTS)
def test_bytes_of_any_kind_are_refused(tmp_path, path):
    whole = json.dumps(BODY).encode()
    bodies = [
        *(
            b"",
            b"\x00",
            b"null",
            b'"',
            b"\xff\xfe",
            b"\xed\xa0\x80",
            whole[:-1],
            whole + b"x",
            b"[" * 200_000,
        ),
        *(
            whole.replace(b"How", b"\xff"),
            b"\xef\xbb\xbf" + whole,
            whole.decode().encode("utf-16"),
            b"{}" * 9,
        ),
    ]
    kinds = [{}, JSON, {"content-type": "text/plain"}, {"content-type": "application/x-www-form-urlencoded"}]
    kinds += [{"content-type": "multipart/form-data"}, {"content-type": b"application/json; charset=\xff"}]
    sent = [(body, kind) for body in bodies for kind in kinds]
    answers = asking(
        served(tmp_path), *[("POST", path, {"content": body, "headers": kind}) for body, kind in sent]
    )
    wrong = [
        (one.status_code, given[0][:30], given[1])
        for one, given in zip(answers, sent, strict=True)
        if not refused_or_judged(one)
    ]
    assert wrong == []
    assert sum(one.status_code == 200 for one in answers) <= 6  # UTF-16 is JSON, too


def test_methods_headers_and_paths_of_any_kind_are_refused(tmp_path):
    methods = ("HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "GET")
    asked = [(method, path, {}) for method in methods for path in (*POSTS, "/", "/nowhere", "/%ff/%00", "//")]
    lengths = [("content-length", length) for length in ("-1", "1e3", "9" * 5000, "abc", "+5", "\xb2")]
    tokens = [("authorization", f"Bearer{rest}") for rest in (" \xff", "", " " + "x" * 9999)]
    for name, value in [*lengths, *tokens, ("authorization", ""), ("authorization", "Basic x")]:
        given = {"content": b"{}", "headers": {**JSON, name: value.encode("latin-1")}}
        asked += [("POST", path, given) for path in POSTS]
    for token in ("", "se\xe9cret"):
        answers = asking(served(tmp_path), *asked, token=token)
        wrong = [
            (one.status_code, sent[:2])
            for one, sent in zip(answers, asked, strict=True)
            if not refused_or_judged(one)
        ]
        assert wrong == []
        assert {one.status_code for one in answers} >= ({401} if token else {404, 405, 413, 422})


TEXTS = st.text(st.characters(), max_size=30) | st.sampled_from(
    ["", " ", "1.", "[1]", "\n- ", "25 mg", "…", "\x00"]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
PASSAGES = st.dictionaries(
    st.sampled_from(["text", "id", "title", "source", "url", "x"]), SCALARS, max_size=4
)
ANY = st.recursive(
    SCALARS | PASSAGES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner),
    max_leaves=5,
)
BODIES = st.fixed_dictionaries(
    {},
    optional={
        "question": TEXTS | ANY,
        "answer": TEXTS | ANY,
        "contexts": st.lists(TEXTS | PASSAGES, max_size=3) | ANY,
        "more": ANY,
    },
)


def test_bodies_that_are_nearly_right_are_judged_or_refused(tmp_path_factory):
    service = served(Path(tmp_path_factory.mktemp("served")))
    statuses = set()

    @settings(max_examples=15, deadline=None, database=None)
    @given(st.lists(BODIES | ANY, min_size=5, max_size=5))
    def ask(bodies):
        texts = [json.dumps(body) for body in bodies]
        answers = asking(
            service,
            *[
                ("POST", path, {"content": text, "headers": JSON})
                for text in texts
                for path in ("/check", "/predict")
            ],
        )
        assert [one.text for one in answers if not refused_or_judged(one)] == []
        statuses.update(one.status_code for one in answers)

    ask()
    assert 422 in statuses
