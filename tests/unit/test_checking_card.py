"""Every fitted constant is in a card; the shipped cards name each of them."""

import dataclasses
import json

import pytest

from pytest_medfaith.checking.card import read_card, tokenizer_of
from pytest_medfaith.checking.cascade import Cascade
from pytest_medfaith.checking.loading import load_checker
from pytest_medfaith.errors import DataError
from pytest_medfaith.models.shipped import FAST_CHECKER, MINILM_TOKENIZER, default_weights
from pytest_medfaith.scoring.reading import AS_SHIPPED, ReadingSettings

SCORING = {
    "temperature": 1.0,
    "entail_threshold": 0.4,
    "contradict_threshold": 0.4,
    "contradict_odds": 1.0,
    "similarity_weight": 0.0,
    "similarity_even": 0.4,
    "max_tokens": 128,
}


@pytest.fixture
def folder(tmp_path):
    def write(**card):
        (tmp_path / "card.json").write_text(json.dumps({"scoring": SCORING} | card))
        return tmp_path

    return write


def test_what_a_card_leaves_out_has_the_documented_default(folder):
    card = read_card(folder())
    assert (card.reading, card.cascade, card.latin_only) == (AS_SHIPPED, None, True)
    assert read_card(folder(reading={"doubt": 0.25})).reading == ReadingSettings(doubt=0.25)


def test_the_shipped_cards_hold_the_constants_that_their_checkers_read_by():
    fast = json.loads((FAST_CHECKER / "card.json").read_text())
    assert fast["reading"].keys() == {each.name for each in dataclasses.fields(ReadingSettings)}
    strong = json.loads((default_weights() / "card.json").read_text())
    assert strong["scoring"].keys() >= {each.name for each in dataclasses.fields(Cascade)}
    assert read_card(FAST_CHECKER).reading == read_card(default_weights()).reading == AS_SHIPPED


def test_the_signatures_of_the_shipped_checkers_are_those_of_before():
    assert load_checker("fast").signature == "8fd9a7783197b7bc|c11e2fb0d0f1c8c6/128|4.0|0.45"
    assert load_checker().signature.endswith("|Cascade(windows=5, window_words=100, fast_weight=0.6)")


def test_a_number_that_joined_the_cascade_later_is_signed_where_it_differs():
    assert Cascade(decision_bonus=0.5).signature == (
        "Cascade(windows=5, window_words=100, fast_weight=0.0, decision_bonus=0.5)"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scoring": {**SCORING, "windows": 5, "least_probability": 2}}, "expected a number between 0 and 1"),
        ({"reading": {"nearness": 0.3}}, "reading holds 'nearness', expected an object of long_words"),
        ({"reading": []}, "reading is [], expected an object"),
        ({"reading": {"unread_logits": [1, 2]}}, "unread_logits is [1, 2], expected three numbers"),
        ({"reading": {"window_words": 0}}, "window_words is 0, expected a number of 1 or more"),
        ({"reading": {"doubt": True}}, "doubt is True, expected a number"),
        ({"reading": {"least_similarity": float("nan")}}, "least_similarity is nan, expected finite numbers"),
        ({"scoring": {**SCORING, "similarity_weight": None}}, "similarity_weight is None, expected a number"),
        ({"latin_only": 1}, "latin_only is 1, expected true or false"),
    ],
)
def test_a_number_without_sense_is_named(folder, change, message):
    with pytest.raises(DataError, match="no usable model card") as raised:
        read_card(folder(**change))
    assert message in str(raised.value)


def test_a_card_of_old_keys_names_the_key_that_is_missing(folder):
    old = {name.replace("similarity", "nearness"): value for name, value in SCORING.items()}
    with pytest.raises(DataError, match="similarity_weight"):
        read_card(folder(scoring=old))


def test_a_folder_has_a_tokenizer_or_says_which_shipped_one_it_reads_with(folder):
    with pytest.raises(DataError, match=r'no tokenizer\.json; expected .* "tokenizer": "minilm"'):
        tokenizer_of(folder())
    with pytest.raises(DataError, match="its card names the tokenizer 'bert'"):
        tokenizer_of(folder(tokenizer="bert"))
    assert tokenizer_of(folder(tokenizer="minilm")) == MINILM_TOKENIZER
    (folder() / "tokenizer.json").write_text("{}")
    assert tokenizer_of(folder(tokenizer="minilm")).parent == folder()
    assert tokenizer_of(FAST_CHECKER) == MINILM_TOKENIZER
    assert tokenizer_of(default_weights()) == default_weights() / "tokenizer.json"
