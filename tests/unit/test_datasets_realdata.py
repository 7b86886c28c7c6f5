"""Fingerprints on the data sets as published: counts, ids and hashes of the first, tenth and last record; no text of theirs is kept here.

A hash is over question and answer without white space, so that layout may improve while the words must stay.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pytest

from pytest_medfaith.datasets import Skips, adapters, read_cases
from pytest_medfaith.records import Case

DATA = os.environ.get("MEDFAITH_DATA")

pytestmark = [
    pytest.mark.realdata,
    pytest.mark.skipif(not DATA, reason="MEDFAITH_DATA names no folder with the public data sets"),
]


@dataclass(frozen=True)
class Published:
    path: str
    cases: int
    records: tuple[tuple[str, str], ...]  # (id, hash) of the first, tenth and last case
    skipped: dict[str, int]
    chunks: int = 0


PUBLISHED = {
    "bioasq": Published(
        "bioasq",
        1497,
        (
            ("bioasq/5be48c39133db5eb7800001d", "36841c94fedb"),
            ("bioasq/5c58474786df2b9174000001", "929196d6261a"),
            ("bioasq/604b8cf71cb411341a000171", "a635a4449983"),
        ),
        {},
        13233,
    ),
    "medquad": Published(
        "medquad/medquad_xml.tar.gz",
        15049,
        (
            ("medquad/CancerGov/0000024_1-1", "673f12354f66"),
            ("medquad/CancerGov/0000031_1-2", "a6ed844ce58b"),
            ("medquad/NHLBI/0000091-8", "3fae9af21bf5"),
        ),
        {"empty answer": 17353},
        15049,
    ),
    "pubmedqa": Published(
        "pubmedqa",
        1000,
        (
            ("pubmedqa/21645374", "3798cede41c7"),
            ("pubmedqa/10966337", "4186e52b3103"),
            ("pubmedqa/17559449", "0fd9988147ed"),
        ),
        {},
        3358,
    ),
    "liveqa": Published(
        "liveqa",
        104,
        (("liveqa/TQ1", "9ba2a2ec4604"), ("liveqa/TQ10", "8696b456f00c"), ("liveqa/TQ104", "0c7c8342df74")),
        {},
        167,
    ),
    "meddialog": Published(
        "meddialog",
        603,
        (
            ("meddialog/1", "5ee070845013"),
            ("meddialog/10", "e0bee4230ee0"),
            ("meddialog/603", "496e2d55634a"),
        ),
        {"id used before": 1},
        0,
    ),
    "healthsearchqa": Published(
        "healthsearchqa",
        3173,
        (
            ("healthsearchqa/1", "5a439d9457ac"),
            ("healthsearchqa/10", "e5531e81288b"),
            ("healthsearchqa/3173", "b8c5611b88b9"),
        ),
        {"empty question": 1263},
        0,
    ),
    "ms2": Published(
        "ms2",
        357,
        (
            ("ms2/29843175", "3920c59f2b4e"),
            ("ms2/CD006919", "5285184b1ddb"),
            ("ms2/CD004329", "071c97d2b5fe"),
        ),
        {},
        20,
    ),
    "kqa": Published(
        "kqa",
        201,
        (("kqa/1", "d5644fb1629e"), ("kqa/10", "9fdac5e13d7e"), ("kqa/201", "a0cce428bc73")),
        {},
        0,
    ),
}


def _hash(case: Case) -> str:
    words = "".join(f"{case.question}{case.reference_answer or ''}".split())
    return hashlib.sha256(words.encode()).hexdigest()[:12]


@lru_cache
def _read(name: str) -> tuple[list[Case], Skips]:
    skips = Skips()
    return list(adapters()[name].read(Path(DATA, PUBLISHED[name].path), skips=skips)), skips


@pytest.mark.parametrize("name", PUBLISHED)
def test_cases(name):
    published, (cases, skips) = PUBLISHED[name], _read(name)
    assert len(cases) == published.cases
    assert tuple((case.id, _hash(case)) for case in (cases[0], cases[9], cases[-1])) == published.records
    assert dict(skips.counts) == published.skipped


@pytest.mark.parametrize("name", [name for name, published in PUBLISHED.items() if published.chunks])
def test_chunks(name):
    ids = [chunk.id for chunk in adapters()[name].read_chunks(Path(DATA, PUBLISHED[name].path))]
    assert len(ids) == len(set(ids)) == PUBLISHED[name].chunks


def test_bioasq_holds_all_four_types_in_one_shape_each():
    shapes = {}
    for case in _read("bioasq")[0]:
        exact = case.meta.get("exact_answer")
        shapes.setdefault(case.meta["type"], set()).add(exact if isinstance(exact, str) else type(exact))
        assert all(reference.isdigit() for reference in case.references)
    assert shapes == {"yesno": {"yes", "no"}, "factoid": {list}, "list": {list}, "summary": {type(None)}}


def test_pubmedqa_decisions():
    decisions = [case.meta["decision"] for case in _read("pubmedqa")[0]]
    assert {word: decisions.count(word) for word in set(decisions)} == {"yes": 552, "no": 338, "maybe": 110}


def test_kqa_statements():
    claims = [claim for case in _read("kqa")[0] for claim in case.gold_claims]
    assert (sum(claim.key for claim in claims), sum(not claim.key for claim in claims)) == (889, 697)


def test_medquad_sources_keep_their_addresses():
    sources = {}
    for case in _read("medquad")[0]:
        assert case.meta["url"].startswith("http")
        sources[case.meta["source"]] = sources.get(case.meta["source"], 0) + 1
    assert sources == {
        "CancerGov": 729,
        "GARD": 5389,
        "GHR": 5430,
        "MPlusHealthTopics": 981,
        "NIDDK": 1192,
        "NIHSeniorHealth": 769,
        "NHLBI": 559,
    }


def test_ms2_review_has_its_twenty_studies():
    (case,) = adapters()["ms2"].read(Path(DATA, "ms2/sample.json"))
    assert (len(case.references), case.meta["studies"]) == (20, 20)
    assert case.reference_answer.startswith("This systematic review suggests")


@pytest.mark.parametrize("name", ["medquad", "bioasq", "pubmedqa", "liveqa"])
def test_sampled_cases_get_gold_claims(name):
    cases = list(read_cases(f"{name}:{PUBLISHED[name].path}", root=Path(DATA), limit=30, seed=1))
    assert len(cases) == 30
    assert sum(bool(case.gold_claims) for case in cases) >= 26
    assert all(len(case.gold_claims) <= 8 for case in cases)
