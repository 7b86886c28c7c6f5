"""An audit of checkers whose behaviour is known, on a small corpus."""

from dataclasses import replace

import pytest

from pytest_medfaith.audit.results import UNCHANGED, count_claims
from pytest_medfaith.audit.run import audit_checker
from pytest_medfaith.audit.sampling import sample_claims
from pytest_medfaith.errors import DataError
from pytest_medfaith.metrics.audit import AUDIT_KINDS, AUDIT_METRICS
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


def audit(label_of, *, limit=5):
    return audit_checker(scripted_checker(label_of), CORPUS, limit=limit)


def test_a_checker_that_supports_everything_catches_nothing_and_never_raises_an_alarm():
    metrics = audit(lambda *_: "entail").metrics
    assert (metrics["audit.recall"].value, metrics["audit.false_alarms"].value) == (0, 0)
    assert metrics["audit.recall"].low == 0
    assert 0 < metrics["audit.recall"].high < 0.3


def test_a_checker_that_supports_nothing_catches_all_and_flags_all():
    found = audit(lambda *_: "neutral")
    assert (found.metrics["audit.recall"].value, found.metrics["audit.false_alarms"].value) == (1, 1)
    counts = count_claims(found.claims)
    assert (counts.flagged, counts.unsupported, counts.refuted) == (counts.claims, counts.claims, 0)


def test_a_checker_that_sees_negations_only_catches_that_kind_only():
    found = audit(lambda _, claim: "contradict" if " not " in claim or "a cure" in claim else "entail")
    metrics = found.metrics
    assert metrics["audit.recall.negation"].value == 1
    assert {
        metrics[f"audit.recall.{kind}"].value
        for kind in ("direction", "dose_up", "drug_swap", "other_document")
    } == {0}
    counts = count_claims(found.of("negation"))
    assert (counts.refuted, counts.unsupported) == (counts.claims, 0)
    n = len(found.mutated)
    assert metrics["audit.recall"].value == pytest.approx(len(found.of("negation")) / n)
    assert metrics["audit.recall"].n == n


def test_rules_are_told_apart_from_the_model():
    checker = replace(
        scripted_checker(lambda *_: "entail"), rules=frozenset({"negation", "direction", "numbers"})
    )
    found = audit_checker(checker, CORPUS, limit=5)
    caught = [claim for claim in found.mutated if claim.label == "refuted"]
    assert {claim.kind for claim in caught} >= {"negation", "dose_up"}
    assert all(claim.model_supports and claim.rules for claim in caught)


def test_claims_that_cannot_be_scored_count_in_nothing():
    found = audit_checker(
        scripted_checker(lambda *_: "entail"), [*CORPUS, Chunk(id="empty", text="...")], limit=5
    )
    assert count_claims(found.claims).unscored == 0
    unscored = found.with_(
        claims=tuple(claim.with_(label="unscored") for claim in found.claims),
        strata=tuple(claim.with_(label="unscored") for claim in found.strata),
    )
    assert {value.value for value in unscored.metrics.values()} == {None}


def test_the_same_seed_gives_the_same_claims_in_whatever_order_the_corpus_comes():
    one = sample_claims(CORPUS, limit=2, seed=7)
    assert one == sample_claims(CORPUS[::-1], limit=2, seed=7)
    assert one != sample_claims(CORPUS, limit=2, seed=8)
    assert [claim.id for claim in one] == list(dict.fromkeys(claim.id for claim in one))


def test_limit_bounds_every_kind_and_four_times_as_many_are_left_unchanged():
    claims = sample_claims(CORPUS, limit=1, seed=0)
    for kind in AUDIT_KINDS:
        assert sum(claim.kind == kind for claim in claims) <= 1
    assert 1 < sum(claim.kind == UNCHANGED for claim in claims) <= 4


def test_claims_say_where_they_come_from_and_what_was_changed():
    for claim in sample_claims(CORPUS, limit=4, seed=0):
        chunk_text, text = TEXTS[claim.chunk_id], claim.text
        assert (claim.sentence in chunk_text) == (claim.kind != "other_document")
        assert text != claim.sentence or claim.kind == "other_document"
        if claim.kind in ("dose_up", "dose_down"):
            assert text[claim.start : claim.end + 4] not in chunk_text  # the number and its unit


def test_a_sentence_that_the_chunk_happens_to_hold_is_not_foreign_to_it():
    repeated = Chunk(id="repeated", text=TEXTS["gout"], url="https://example.org/repeated")
    claims = sample_claims([CORPUS[2], repeated], limit=5, seed=0)
    assert not [claim for claim in claims if claim.kind == "other_document"]


def test_a_corpus_without_prose_is_an_error():
    with pytest.raises(
        DataError, match=r"none of the 1 chunks holds a sentence to audit with; expected English prose"
    ):
        audit_checker(scripted_checker(lambda *_: "entail"), [Chunk(id="table", text="5 | 6 | 7")])


def test_every_metric_of_an_audit_is_declared():
    assert set(audit(lambda *_: "entail").metrics) == set(AUDIT_METRICS)
