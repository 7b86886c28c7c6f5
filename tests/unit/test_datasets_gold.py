"""Gold claims out of long answers: one a sentence or list item, without repeats, ranked, capped."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_medfaith.datasets.gold import (
    distinct,
    gold_claims,
    rank,
    read_gold_file,
    statements,
    with_gold_claims,
)
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Case, GoldClaim

ANSWER = """Key Points
- Iron-deficiency anemia can make people tired and short of breath.
- Some people crave ice.

Mild iron-deficiency anemia may cause no symptoms at all. What about severe anemia?

Symptoms of a more severe anemia include:
- pale skin
- a fast heartbeat. The pulse races.

For more information, see the page on iron tests."""


def test_one_statement_a_sentence_or_list_item_with_its_lead():
    assert statements(ANSWER) == [
        "Iron-deficiency anemia can make people tired and short of breath.",
        "Some people crave ice.",
        "Mild iron-deficiency anemia may cause no symptoms at all.",
        "Symptoms of a more severe anemia include: pale skin",
        "Symptoms of a more severe anemia include: a fast heartbeat.",
    ]


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("", []),
        ("Overview", []),
        ("What is a fever?", []),
        ("See also the page on fever.", []),
        ("These resources address the diagnosis of fever:\n- Example Clinic: Fever", []),
        ("Fever is a rise of body temperature", []),
        (
            "Fever is a rise of body temperature above its usual range",
            ["Fever is a rise of body temperature above its usual range"],
        ),
        (
            "Children with a fever may\n\n- sweat\n- shiver",
            ["Children with a fever may sweat", "Children with a fever may shiver"],
        ),
        ("Key points\n- sweat\n- Fever makes most children sweat.", ["Fever makes most children sweat."]),
        (
            "1. Drink plenty of water.\n2) Rest in a cool room.",
            ["Drink plenty of water.", "Rest in a cool room."],
        ),
        ("Summary : Fever helps the body fight germs.", ["Fever helps the body fight germs."]),
        ("word " * 70 + "end.", []),
    ],
)
def test_what_states_nothing_is_left_out(answer, found):
    assert statements(answer) == found


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ("Rest helps most sprains heal.", "Rest helps most sprains heal.", 1),
        ("Rest helps most sprains heal.", "rest helps most SPRAINS heal", 1),
        (
            "Cold packs lower the swelling of a sprained ankle.",
            "Cold packs also lower the swelling of a sprained ankle.",
            1,
        ),
        ("The usual dose is 500 mg twice a day.", "The usual dose is 50 mg twice a day.", 2),
        ("Honey is safe for adults with a cough.", "Honey is not safe for adults with a cough.", 2),
        (
            "Salt increases blood pressure in many older adults.",
            "Salt decreases blood pressure in many older adults.",
            2,
        ),
        ("Honey doesn't help a sore throat heal.", "Honey does help a sore throat heal.", 2),
        ("Take the tablet before breakfast with water.", "Take the tablet after breakfast with water.", 2),
        ("Rest helps.", "Rest helps a sprained ankle, as do cold packs and a bandage.", 2),
    ],
)
def test_repeats_go_and_changes_of_sense_stay(first, second, kept):
    assert distinct([first, second]) == [first, second][:kept]


def test_rank_puts_first_what_was_asked_then_what_came_first_and_last_what_points_back():
    found = [
        "Anemia is common.",
        "It is mostly mild.",
        "Iron tablets treat anemia.",
        "Doctors count blood cells.",
    ]
    assert rank(found, question="Which tablets treat anemia?") == [
        "Anemia is common.",
        "Iron tablets treat anemia.",
        "Doctors count blood cells.",
        "It is mostly mild.",
    ]


def test_claims_are_capped_numbered_and_marked_as_extracted():
    claims = gold_claims(ANSWER, question="What are the symptoms of severe anemia?", style="sentences", cap=2)
    assert [(claim.id, claim.provenance, claim.key) for claim in claims] == [
        ("g1", "extracted", True),
        ("g2", "extracted", True),
    ]
    assert claims[0].text == "Symptoms of a more severe anemia include: pale skin" or claims[
        0
    ].text.startswith("Iron-deficiency anemia")
    assert "Symptoms of a more severe anemia include: pale skin" in {claim.text for claim in claims}


def test_the_extractor_makes_the_claims_of_other_sets():
    claims = gold_claims(
        "Yes. Antibiotics do not shorten the common cold, and they can cause diarrhea.",
        question="Do antibiotics help?",
    )
    texts = " | ".join(claim.text for claim in claims)
    assert len(claims) >= 2
    assert "shorten the common cold" in texts
    assert "diarrhea" in texts


@pytest.mark.parametrize("cap", [0, -3])
def test_cap_below_one(cap):
    with pytest.raises(ValueError, match=rf"cap is {cap}, expected 1 or more claims; leave it out for 8"):
        gold_claims("Rest helps.", question="What helps?", cap=cap)


def test_cases_with_claims_or_without_an_answer_stay_as_they_are():
    written = Case(
        id="c1",
        question="What?",
        gold_claims=(GoldClaim(id="g1", text="This.", provenance="human"),),
        reference_answer="That is so.",
    )
    bare = Case(id="c2", question="What?")
    assert with_gold_claims(written, style="claims") is written
    assert with_gold_claims(bare, style="sentences") is bare
    assert with_gold_claims(written.with_(gold_claims=()), style="given").gold_claims == ()


@settings(max_examples=40)
@given(st.text(max_size=300), st.text(max_size=60), st.integers(1, 10))
def test_any_text_gives_at_most_cap_distinct_claims(answer, question, cap):
    claims = gold_claims(answer, question=question, style="sentences", cap=cap)
    assert len(claims) <= cap
    assert len({claim.text for claim in claims}) == len(claims)
    assert [claim.id for claim in claims] == [f"g{number}" for number in range(1, len(claims) + 1)]
    assert claims == gold_claims(answer, question=question, style="sentences", cap=cap)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"gold_claim": [{"id": "g1", "text": "Iron helps."}]},
            "case 'a': key 'gold_claim' is unknown; did you mean 'gold_claims'",
        ),
        ({"Gold-Claims": []}, "did you mean 'gold_claims'"),
        ({"reference_answers": "Iron helps."}, "did you mean 'reference_answer'"),
        ({"reference": ["iron-1"]}, "did you mean 'references'"),
        (
            {"gold_claims": [{"id": "g1", "text": "Iron helps.", "keys": False}]},
            "key 'keys' is unknown; did you mean 'key'",
        ),
    ],
)
def test_a_key_that_looks_like_a_known_one_is_refused(tmp_path, row, message):
    path = tmp_path / "gold.jsonl"
    path.write_text(json.dumps({"id": "a", "question": "What helps?", **row}))
    with pytest.raises(DataError, match=re.escape(message)):
        list(read_gold_file(path))


def test_a_key_of_the_users_own_is_kept(tmp_path):
    path = tmp_path / "gold.jsonl"
    path.write_text(json.dumps({"id": "a", "question": "What helps?", "topic": "iron"}))
    (case,) = read_gold_file(path)
    assert case.extra == {"topic": "iron"}
