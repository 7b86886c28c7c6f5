"""An encoder behind an OpenAI-compatible endpoint: a loopback server answers well, badly or not at all."""

import json
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

pytest.importorskip("openai", reason="comes with the extra llm")

from pytest_medfaith.errors import DataError, MissingExtra
from pytest_medfaith.records import Chunk
from pytest_medfaith.retrieval import endpoint_encoder
from pytest_medfaith.retrieval.dense import dense_retriever
from pytest_medfaith.retrieval.encoders import encoder_signature, load_encoder

WIDTH = 6


def vector_of(text):
    """Letters counted: not of length 1, and another for each text of the tests."""
    return [float(text.lower().count(letter)) for letter in "aeinrz"]


class Server:
    """Answers as OpenAI's API does; `answer` may change what it says, `failures` come first."""

    def __init__(self):
        self.requests, self.failures = [], []
        self.answer = lambda rows: {"data": rows}
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.requests.append((self.path, dict(self.headers), asked))
                if server.failures:
                    self.reply(*server.failures.pop(0))
                    return
                rows = [
                    {"object": "embedding", "index": i, "embedding": vector_of(text)}
                    for i, text in enumerate(asked["input"])
                ]
                self.reply(200, json.dumps(server.answer(rows)))

            def reply(self, status, body):
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("retry-after-ms", "1")
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()


@pytest.fixture
def server(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    found = Server()
    yield found
    found.http.shutdown()
    found.http.server_close()


def unit(text, width=WIDTH):
    cut = np.array(vector_of(text)[:width])
    return cut / np.linalg.norm(cut)


def test_texts_become_vectors_of_length_1_in_their_order(server, monkeypatch):
    monkeypatch.setattr(endpoint_encoder, "BATCH", 2)
    server.answer = lambda rows: {"data": rows[::-1]}
    texts = ["Iron.", "Zinc", "Air and rain", "Nine", "Ear"]
    vectors = load_encoder(f"openai=embed,{server.url}").encode_documents(texts)
    assert vectors.dtype == np.float32
    for text, vector in zip(texts, vectors, strict=True):
        assert vector == pytest.approx(unit(text), abs=1e-6)
    assert [(path, asked["model"], len(asked["input"])) for path, _, asked in server.requests] == [
        ("/v1/embeddings", "embed", 2),
        ("/v1/embeddings", "embed", 2),
        ("/v1/embeddings", "embed", 1),
    ]
    assert "dimensions" not in server.requests[0][2]


@pytest.mark.parametrize("cuts", [True, False])
def test_dimensions_are_asked_for_and_cut_where_the_server_does_not(server, cuts):
    if cuts:
        server.answer = lambda rows: {"data": [{**row, "embedding": row["embedding"][:3]} for row in rows]}
    vector = load_encoder(f"openai=embed@3,{server.url}").encode_queries(["Air in Iran"])[0]
    assert vector == pytest.approx(unit("Air in Iran", 3), abs=1e-6)
    assert server.requests[0][2]["dimensions"] == 3


def test_it_retrieves_and_an_index_is_asked_for_once(server, tmp_path):
    chunks = [
        Chunk(id="iron", text="Iron."),
        Chunk(id="zinc", text="Zinc, zinc."),
        Chunk(id="air", text="Air."),
    ]
    for _ in range(2):
        encoder = load_encoder(f"openai=embed,{server.url}")
        hits = dense_retriever(chunks, encoder, cache=tmp_path)("zinc", top_k=1)
        assert hits[0].chunk.id == "zinc"
    assert [len(asked["input"]) for *_, asked in server.requests] == [3, 1, 1]


def test_the_key_is_sent_where_there_is_one(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    load_encoder(f"openai=embed,{server.url}").encode_queries(["Iron."])
    sent = {name.lower(): value for name, value in server.requests[0][1].items()}
    assert sent["authorization"] == "Bearer sk-mine"


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_server_that_is_busy_is_asked_again(server, status):
    server.failures = [(status, "{}")] * endpoint_encoder.RETRIES
    vectors = load_encoder(f"openai=embed,{server.url}").encode_queries(["Iron."])
    assert vectors[0] == pytest.approx(unit("Iron."), abs=1e-6)
    assert len(server.requests) == endpoint_encoder.RETRIES + 1


@pytest.mark.parametrize(
    ("status", "body", "tries", "message"),
    [
        (
            500,
            '{"error": {"message": "out of\\nmemory"}}',
            4,
            (
                r"answered 500 \(.*out of.*memory.*\) after 4 "
                r"tries at most"
            ),
        ),
        (404, '{"error": {"message": "no model embed"}}', 1, r"answered 404 \(.*no model embed"),
        (401, "{}", 1, "answered 401"),
        (400, "x" * 5000, 1, "answered 400"),
    ],
)
def test_a_server_that_refuses_is_one_message(server, status, body, tries, message):
    server.failures = [(status, body)] * 10
    with pytest.raises(DataError, match=message) as caught:
        load_encoder(f"openai=embed,{server.url}").encode_queries(["Iron."])
    assert len(server.requests) == tries
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600
    assert f"the encoder 'openai=embed,{server.url}'" in str(caught.value)


def test_a_server_that_says_the_key_again_does_not_bring_it_into_the_message(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "mine-0123456789")
    server.failures = [(401, '{"error": {"message": "wrong key mine-0123456789"}}')]
    with pytest.raises(DataError, match=r"answered 401 \(.*wrong key \[secret\]") as caught:
        load_encoder(f"openai=embed,{server.url}").encode_queries(["Iron."])
    assert "mine-0123456789" not in "".join(traceback.format_exception(caught.value))


def changed(**row_changes):
    return lambda rows: {"data": [{**row, **row_changes} for row in rows]}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda rows: {"data": rows[1:]}, "gave 1 vectors for 2 texts"),
        (lambda rows: {"data": rows + rows}, "gave 4 vectors for 2 texts"),
        (lambda rows: {"data": [rows[0], {**rows[1], "index": 7}]}, "gave 2 vectors for 2 texts"),
        (
            lambda rows: {"data": [rows[0], {**rows[1], "embedding": [1.0]}]},
            "gave vectors of 1 and 6 numbers",
        ),
        (changed(embedding=[0.0] * WIDTH), "a vector of length 0"),
        (changed(embedding=[float("nan")] * WIDTH), "not finite"),
        (changed(embedding=[float("inf")] + [1.0] * (WIDTH - 1)), "not finite"),
        (changed(embedding="words"), "gave no list of vectors"),
        (changed(embedding=None), "gave no list of vectors"),
        (lambda _rows: {"data": None}, "gave no list of vectors"),
        (lambda _rows: {}, "gave no list of vectors"),
        (lambda _rows: [], "gave no list of vectors"),
        (lambda _rows: "a page", "gave no list of vectors"),
    ],
)
def test_an_answer_without_sense_is_one_message(server, answer, message):
    server.answer = answer
    with pytest.raises(DataError, match=message) as caught:
        load_encoder(f"openai=embed,{server.url}").encode_documents(["Iron.", "Zinc."])
    assert "\n" not in str(caught.value)


def test_fewer_dimensions_than_were_asked_for_are_refused(server):
    with pytest.raises(DataError, match="gave 6 dimensions where 9 were asked for"):
        load_encoder(f"openai=embed@9,{server.url}").encode_queries(["Iron."])


def test_a_server_that_is_not_there_is_one_message(server, monkeypatch):
    monkeypatch.setattr(endpoint_encoder, "RETRIES", 0)
    server.http.shutdown()
    server.http.server_close()
    with pytest.raises(DataError, match=r"cannot be reached \(.*\) after 1 tries; start the server"):
        load_encoder(f"openai=embed,{server.url}").encode_queries(["Iron."])


@pytest.mark.parametrize(
    "given",
    ["", "embed@0", "embed@x", "embed@", "a b", "embed,localhost:1", "embed,ftp://a/b", "embed,http://"],
)
@pytest.mark.usefixtures("server")
def test_another_form_is_refused(given):
    for use in (load_encoder, encoder_signature):
        with pytest.raises(
            DataError, match=r"has another form; expected openai=MODEL, openai=MODEL@DIMENSIONS"
        ):
            use(f"openai={given}")


@pytest.mark.usefixtures("server")
def test_without_a_key_nothing_is_sent_to_openai():
    with pytest.raises(DataError, match=r"asks https://api.openai.com/v1, and OPENAI_API_KEY is not set"):
        load_encoder("openai=text-embedding-3-small")


def test_the_address_may_be_that_of_the_environment(server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    load_encoder("openai=embed").encode_queries(["Iron."])
    assert len(server.requests) == 1


def test_the_signature_names_model_dimensions_and_address_but_no_password():
    assert (
        encoder_signature("openai=embed@3,http://me:secret@localhost:1/v1/")
        == "openai|embed|3|http://localhost:1/v1"
    )
    assert encoder_signature("openai=embed,http://h/v1") == "openai|embed|whole|http://h/v1"


def test_without_the_client_the_extra_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtra, match=r"needs the extra 'llm'.*pip install 'pytest-medfaith\[llm\]'"):
        load_encoder("openai=embed,http://localhost:1/v1")
