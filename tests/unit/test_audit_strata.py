"""The claims of the strata, and what an audit makes of them with checkers whose behaviour is known."""

from collections import Counter
from pathlib import Path

import pytest

from pytest_medfaith.audit.bank import read_bank
from pytest_medfaith.audit.run import audit_checker
from pytest_medfaith.audit.strata import BESIDE, sample_strata
from pytest_medfaith.english.words import content_keys, share
from pytest_medfaith.gates.expressions import asks_for_audit, parse_gate
from pytest_medfaith.jsonl import read_chunks
from pytest_medfaith.metrics.audit import BANK_STRATA, NEAR_MISS, STRATA, TWO_CHUNKS
from pytest_medfaith.records import Chunk
from pytest_medfaith.testing import scripted_checker

pytestmark = pytest.mark.usefixtures("word_vectors")
TEXTS = {
    "asthma": "Inhaled budesonide 200 micrograms twice daily lowers the risk of attacks in adults. There is "
    "no cure for asthma.",
    "iron": "Doctors often give iron tablets to women with low iron. Treatment lasts for about 3 months in "
    "most of them.",
    "gout": "Allopurinol lowers uric acid in gout. The usual dose is 300 mg once daily in adults with normal "
    "kidneys.",
    "rhythm": "Apixaban 5 mg twice daily prevented strokes in older adults. Bleeding was reduced by "
    "apixaban.",
}
CORPUS = [Chunk(id=name, text=text, url=f"https://example.org/{name}") for name, text in TEXTS.items()]
SAMPLES = Path(__file__).parents[2] / "corpus_samples"
WRONG = {item.wrong for item in read_bank()}


@pytest.fixture(scope="module")
def questions():
    return sample_strata(CORPUS, limit=3, seed=0)


def test_every_item_gives_an_error_a_faithful_claim_and_an_addition(questions):
    counts = Counter((question.claim.stratum, question.claim.role) for question in questions)
    assert {
        counts[stratum, role]
        for stratum in (*BANK_STRATA, NEAR_MISS)
        for role in ("error", "faithful", "addition")
    } == {3}
    assert counts[TWO_CHUNKS, "error"] == counts[TWO_CHUNKS, "faithful"] == 3
    ids = [question.claim.id for question in questions]
    assert len(set(ids)) == len(ids)


def test_items_of_the_bank_stand_among_passages_of_the_corpus(questions):
    items = {item.id: item for item in read_bank()}
    for claim, chunks in questions:
        if claim.stratum == TWO_CHUNKS:
            continue
        item = items[claim.id.split("/")[1]]
        texts = [chunk.text for chunk in chunks]
        assert item.passage in texts
        assert (item.near_miss in texts) == (claim.stratum == NEAR_MISS)
        of_corpus = [chunk for chunk in chunks if chunk.id in TEXTS]
        assert len(of_corpus) == BESIDE
        assert all(
            share(content_keys(text), content_keys(chunk.text)) < 0.4
            for chunk in of_corpus
            for text in (item.claim, item.wrong, item.addition)
        )
        assert claim.chunk_ids == tuple(chunk.id for chunk in chunks)


def test_the_passage_does_not_always_come_first():
    places = {
        [chunk.id.startswith("medfaith-bank/") for chunk in chunks].index(True)
        for claim, chunks in sample_strata(CORPUS, limit=9, seed=0)
        if claim.stratum in BANK_STRATA
    }
    assert places == {0, 1, 2}


def test_two_chunks_are_joined_and_one_half_changed():
    by_role = {}
    for claim, chunks in sample_strata(read_chunks([SAMPLES]), limit=10, seed=1):
        if claim.stratum == TWO_CHUNKS:
            by_role.setdefault(claim.chunk_ids, {})[claim.role] = claim.text
            assert len({chunk.url or chunk.id for chunk in chunks}) == 2
    assert len(by_role) == 10
    for texts in by_role.values():
        assert all(", and " in text and text.endswith(".") for text in texts.values())
        first = texts["faithful"].split(", and ")[0]
        assert all(text.startswith(first) for text in texts.values())
        assert len(set(texts.values())) == len(texts)


def test_the_near_miss_items_are_of_all_strata():
    drawn = [
        claim
        for claim, _ in sample_strata(CORPUS, limit=9, seed=4)
        if claim.stratum == NEAR_MISS and claim.role == "error"
    ]
    assert {claim.id.split("/")[1].rpartition("-")[0] for claim in drawn} == set(BANK_STRATA)


def test_the_same_seed_gives_the_same_questions_in_whatever_order_the_corpus_comes():
    one = sample_strata(CORPUS, limit=2, seed=7)
    assert one == sample_strata(CORPUS[::-1], limit=2, seed=7)
    assert one != sample_strata(CORPUS, limit=2, seed=8)


def test_a_passage_of_the_corpus_that_may_decide_a_claim_stands_beside_no_item():
    item = read_bank()[0]
    repeated = Chunk(id="repeated", text=item.passage, url="https://example.org/repeated")
    for claim, chunks in sample_strata([*CORPUS, repeated], limit=20, seed=0):
        if claim.id.split("/")[1] == item.id:
            assert "repeated" not in [chunk.id for chunk in chunks]


def test_a_corpus_of_a_single_document_joins_nothing():
    assert not [
        question
        for question in sample_strata(CORPUS[:1], limit=5, seed=0)
        if question.claim.stratum == TWO_CHUNKS
    ]


@pytest.mark.parametrize(
    ("label_of", "caught", "flagged", "decided"),
    [(lambda *_: "entail", 0, 0, 1), (lambda *_: "neutral", 1, 1, 0), (lambda *_: "contradict", 1, 1, 1)],
    ids=["supports all", "supports nothing", "refutes all"],
)
def test_a_checker_that_says_the_same_of_everything_is_seen_through(label_of, caught, flagged, decided):
    metrics = audit_checker(scripted_checker(label_of), CORPUS, limit=2).metrics
    assert {metrics[f"audit.caught.{stratum}"].value for stratum in STRATA} | {
        metrics["audit.caught"].value
    } == {caught}
    assert {metrics[f"audit.flagged.{stratum}"].value for stratum in STRATA} | {
        metrics["audit.flagged"].value
    } == {flagged}
    assert {metrics[f"audit.decided.{stratum}"].value for stratum in STRATA} | {
        metrics["audit.decided"].value
    } == {decided}


def test_a_checker_that_knows_the_bank_is_right_in_every_stratum_of_it():
    right = {item.claim for item in read_bank()}

    def label_of(_, claim):
        return "entail" if claim in right else "contradict" if claim in WRONG else "neutral"

    metrics = audit_checker(scripted_checker(label_of), CORPUS, limit=4).metrics
    for stratum in (*BANK_STRATA, NEAR_MISS):
        got = [metrics[f"audit.{name}.{stratum}"] for name in ("caught", "flagged", "decided")]
        assert [one.value for one in got] == [1, 0, 0]
        assert [one.n for one in got] == [4, 4, 4]


@pytest.mark.parametrize(
    "gate", ["audit.caught.number >= 0.9", "audit.flagged.near_miss <= 0.1", "audit.decided <= 0.12"]
)
def test_strata_are_gated_by_name(gate):
    assert parse_gate(gate).expression == gate
    assert asks_for_audit([gate])
