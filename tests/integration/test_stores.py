"""A run of pytest asks a store by its address: without a corpus here, and with one error where it is down."""

import json

import pytest

STORE = '''
import numpy as np
from pytest_medfaith.retrieval.encoders import Encoder
from pytest_medfaith.retrieval.stores import loading, opening, searching
from pytest_medfaith.retrieval.stores.base import Found, StoreFault


class Memory:
    """Holds rows; where it is down, each request fails."""

    searches = ("vector",)

    def __init__(self):
        self.rows, self.held, self.is_down = {}, None, False

    def state(self):
        if self.is_down:
            raise StoreFault("cannot be reached (refused)", may_pass=True)
        return self.held

    def create(self, state, *, dimension, metric):
        self.held = dict(state)

    def write_state(self, state):
        self.held = dict(state)

    def digests(self, keys):
        return {}

    def upsert(self, rows):
        self.rows.update({row.key: row for row in rows})

    def count(self, only=()):
        return len([row for row in self.rows.values() if not only or row.source in only.sources])

    def by_vector(self, vector, *, metric, top_k, only=()):
        kept = [row for row in self.rows.values() if not only or row.source in only.sources]
        found = [Found(row.chunk, row.digest, float(np.dot(row.vector, vector))) for row in kept]
        return sorted(found, key=lambda one: -one.score)[:top_k]

    def index_bytes(self):
        return 77

    def close(self):
        pass


def encode(texts):
    words = ("iron", "asthma", "gout", "acid")
    counts = np.array([[text.lower().count(word) + 0.01 for word in words] for text in texts])
    return (counts / np.linalg.norm(counts, axis=1, keepdims=True)).astype("float32")


STORE, ENCODER = Memory(), Encoder("words", "words", encode, encode)
opening._OPENERS["qdrant"] = lambda address, timeout: STORE
searching.encoder_signature, searching.load_encoder = (lambda name: "words"), (lambda name: ENCODER)


def load(chunks):
    from pytest_medfaith.retrieval.stores.address import parse_address

    store = opening.open_store(parse_address("qdrant+http://h/drugs"))
    loading.load_store(store, lambda: iter(chunks), ENCODER)
'''
CONFTEST = """
from pathlib import Path
import my_store
from pytest_medfaith.jsonl import read_chunks

my_store.load(read_chunks([Path("{corpus}")]))
my_store.STORE.is_down = {down}
"""
SLICE = """
[tool.medfaith]
store_retries = 0

[tool.medfaith.slices.remote]
cases = "gold.jsonl"
retriever = "{name}"
k = 2
"""
TEST = """
import pytest

@pytest.mark.medfaith("remote")
def test_hits(medfaith_hits):
    assert medfaith_hits is not None
"""


@pytest.fixture
def remote(project):
    def write(name="store:qdrant+http://h/drugs", *, down=False):
        (project.path / "my_store.py").write_text(STORE)
        conftest = project.CONFTEST + CONFTEST.format(corpus=project.path / "corpus", down=down)
        (project.path / "conftest.py").write_text(conftest)
        project.configure(SLICE.format(name=name))
        (project.path / "test_remote.py").write_text(TEST)
        return lambda *more: project.run("test_remote.py", *more)

    return write


def test_a_slice_without_a_corpus_is_searched_in_its_store(remote, project, workers):
    run = remote("store:qdrant+http://h/drugs?source=nothing")
    found = run("--medfaith-report", "out", "--medfaith-retriever", "store:qdrant+http://h/drugs", *workers)
    found.assert_outcomes(passed=3)
    rows = [json.loads(line) for line in (project.path / "out" / "snippets.jsonl").read_text().splitlines()]
    assert {row["case_id"]: row["hits"][0]["chunk"]["id"][:4] for row in rows} == {
        "iron": "iron",
        "asthma": "asth",
        "gout": "gout",
    }
    signature = json.loads((project.path / "out" / "signature.json").read_text())["signature"]
    held = signature["retrievers"]["remote"]["store:qdrant+http://h/drugs"]["stores"]
    assert "(5 chunks), encoder words, 4 dimensions, ip" in held["store:qdrant+http://h/drugs"]


def test_a_filter_that_matches_nothing_is_a_single_note(remote):
    found = remote("store:qdrant+http://h/drugs?source=nothing")()
    found.assert_outcomes(passed=3)
    note = (
        "no chunk of the store qdrant+http://h:6333/drugs is of source nothing, so no question has a hit "
        "there"
    )
    assert found.stdout.str().count(note) == 1


def test_a_store_that_is_down_is_one_error_before_the_first_test(remote):
    found = remote(down=True)()
    said = found.stdout.str() + found.stderr.str()
    assert said.count("the store qdrant+http://h:6333/drugs cannot be reached (refused); start it") == 1
    assert found.ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize("how", ["settings", "option", "fused"])
def test_a_password_in_a_name_is_refused_and_nowhere_told(remote, project, how):
    secret = "store:qdrant+http://me:pa-s3cret@h/drugs"  # noqa: S105
    run = remote(secret if how == "settings" else "rrf" if how == "fused" else "bm25")
    more = {"option": ["--medfaith-retriever", secret], "fused": ["--medfaith-fuse", secret]}.get(how, [])
    found = run("--medfaith-report", "out", "-v", *more)
    assert found.ret != pytest.ExitCode.OK
    said = found.stdout.str() + found.stderr.str()
    assert "the address of a store holds a password" in said
    assert "pa-s3cret" not in said
    written = [path for path in (project.path / "out").rglob("*") if path.is_file()]
    assert not [path for path in written if "pa-s3cret" in path.read_text()]
