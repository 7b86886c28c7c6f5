"""A store in memory for tests: it does what the three stores do, and fails when it is told to."""

import re

import numpy as np

from pytest_medfaith.retrieval.encoders import Encoder
from pytest_medfaith.retrieval.stores import opening
from pytest_medfaith.retrieval.stores.base import ALL, Found, Only, StoreFault

ADDRESS = "qdrant+http://localhost:6333/drugs"
NAME = f"store:{ADDRESS}"


class MemoryStore:
    """Holds rows in a dict.

    `before`, where it is set, is called with each method's name before it does anything.
    """

    searches = ("vector", "words")

    def __init__(self):
        self.rows, self.held, self.before, self.asked = {}, None, None, []

    def _ask(self, method):
        self.asked.append(method)
        if self.before:
            self.before(method)

    def state(self):
        self._ask("state")
        return self.held

    def create(self, state, *, dimension, metric):
        self._ask("create")
        assert (dimension, metric) == (state["dimension"], state["metric"])
        if self.held is None:
            self.held = dict(state)

    def write_state(self, state):
        self._ask("write_state")
        self.held = dict(state)

    def digests(self, keys):
        self._ask("digests")
        return {key: self.rows[key].digest for key in keys if key in self.rows}

    def upsert(self, rows):
        for row in rows:  # a batch may be written in part
            self._ask("upsert")
            self.rows[row.key] = row

    def count(self, only=ALL):
        self._ask("count")
        return len(self._kept(only))

    def _kept(self, only: Only):
        low, high = only.from_year or 0, only.to_year or 9999
        years = only.from_year is not None or only.to_year is not None
        return [
            row
            for row in self.rows.values()
            if (not only.sources or row.source in only.sources)
            and (not years or (row.year is not None and low <= row.year <= high))
        ]

    def by_vector(self, vector, *, metric, top_k, only=ALL):
        self._ask("by_vector")
        measure = np.dot if metric == "ip" else lambda a, b: -np.linalg.norm(np.array(a) - b)
        return self._best(lambda row: float(measure(row.vector, vector)), top_k, only)

    def by_words(self, words, *, top_k, only=ALL):
        self._ask("by_words")
        return self._best(lambda row: float(len(set(words.split()) & set(row.words.split()))), top_k, only)

    def _best(self, score, top_k, only):
        found = [Found(row.chunk, row.digest, score(row)) for row in self._kept(only)]
        return sorted(found, key=lambda one: -one.score)[:top_k]

    def index_bytes(self):
        return 1000

    def close(self):
        self._ask("close")


def put_in_place(monkeypatch, store):
    """Every address of Qdrant leads to `store` from now on, and no test waits."""
    monkeypatch.setitem(opening._OPENERS, "qdrant", lambda _address, _timeout: store)
    monkeypatch.setattr(opening.time, "sleep", store.asked.append)
    return store


class Letters:
    """Encodes a text as counts of six letters, scaled to length 1, and counts what it encoded."""

    def __init__(self, width=6):
        self.encoded, self.width = 0, width

    def __call__(self, texts):
        self.encoded += len(texts)
        counts = [
            [len(re.findall(letter, text.lower())) + 1e-3 for letter in "aeinrz"[: self.width]]
            for text in texts
        ]
        vectors = np.array(counts, dtype=np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def encoder(self, signature="letters", metric="ip"):
        return Encoder("letters", signature, self, self, metric=metric)


def failing(reason, *, times, may_pass=True):
    """Returns what makes the first requests fail with a fault that may pass, or may not."""
    left = [times]

    def before(_method):
        if left[0]:
            left[0] -= 1
            raise StoreFault(reason, may_pass=may_pass)

    return before
