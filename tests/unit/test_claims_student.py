"""A student as the extractor: it loses nothing, empty words are no claims, and other folders are refused."""

import json

import pytest

from pytest_medfaith.claims.student import folder_extractor, student_claims
from pytest_medfaith.claims.tagging import spans_of_tags, stretches, tags_of_spans
from pytest_medfaith.config import load_settings
from pytest_medfaith.errors import DataError
from pytest_medfaith.models.shipped import FAST_CHECKER
from pytest_medfaith.records import Claim
from pytest_medfaith.run.resources import Resources

ANSWER = "Metformin cures cancer in adults. Zinc does not harm the heart."


def marking(*texts):
    """Returns what a student that marks these words gives."""
    spans = [(ANSWER.index(text), ANSWER.index(text) + len(text)) for text in texts]
    claims = [Claim(id="", text=ANSWER[a:b], start=a, end=b) for a, b in spans]
    return lambda *_: claims


def texts(*marked):
    return [claim.text for claim in student_claims(marking(*marked), ANSWER)]


def test_words_that_say_nothing_are_no_claims_and_the_whole_statement_stays_one():
    """Evidence on metformin and on cancer holds both halves; supported half by half, they hide the error."""
    assert texts("Metformin", "cancer in adults", "Zinc does not harm the heart") == [
        "Metformin cures cancer in adults.",
        "Zinc does not harm the heart",
    ]


def test_what_a_student_leaves_out_or_shortens_by_a_not_is_a_claim_by_the_rules():
    assert texts() == ["Metformin cures cancer in adults.", "Zinc does not harm the heart."]
    assert "Zinc does not harm the heart." in texts("harm the heart")


def test_a_claim_that_is_written_again_and_again_counts_once():
    assert texts(*["Zinc does not harm the heart"] * 9).count("Zinc does not harm the heart") == 1


def test_a_refusal_is_not_given_to_the_student():
    assert student_claims(lambda *_: pytest.fail("asked"), "I do not know.") == []


def test_tags_and_spans_are_each_others_inverse():
    offsets = [(0, 0), (0, 4), (5, 10), (10, 11), (12, 16), (17, 21), (0, 0)]
    tags = tags_of_spans(offsets, [(0, 10), (12, 21)])
    assert tags == ["O", "B", "I", "O", "B", "I", "O"]
    assert spans_of_tags(offsets, tags) == [(0, 10), (12, 21)]
    assert spans_of_tags(offsets, ["O", "I", "I", "O", "I", "B", "O"]) == [(0, 10), (12, 16), (17, 21)]
    assert tags_of_spans(offsets, [(0, 16), (5, 21)]) == [
        "O",
        "B",
        "I",
        "I",
        "I",
        "B",
        "O",
    ]  # the second has what is left


def test_a_model_reads_whole_sentences_as_many_as_fit():
    text = "One two three. Four five. " + "Six seven eight nine ten eleven twelve. Thirteen."
    found = [text[a:b] for a, b in stretches(text, lambda part: len(part.split()), most=5)]
    assert found == ["One two three. Four five.", "Six seven eight nine ten eleven twelve.", "Thirteen."]


@pytest.mark.parametrize(
    ("card", "message"),
    [
        (None, "is no model folder; expected a folder with card.json"),
        ({"scoring": {}}, "kind is None and tags are None; expected 'tagger'"),
        ({"kind": "tagger", "tags": ["B", "I", "O"], "max_tokens": 64}, "tags are"),
        ({"kind": "tagger", "tags": ["O", "B", "I"], "max_tokens": 2}, "max_tokens is 2"),
        ({"kind": "tagger", "tags": ["O", "B", "I"], "max_tokens": 64}, "no such model file"),
    ],
)
def test_a_folder_that_is_no_extractor_is_one_message(tmp_path, card, message):
    if card is not None:
        (tmp_path / "card.json").write_text(json.dumps(card))
    with pytest.raises(DataError, match=message):
        folder_extractor(tmp_path)


def test_a_checker_is_no_extractor():
    with pytest.raises(DataError, match="kind is None"):
        folder_extractor(FAST_CHECKER)


def test_a_misspelt_extractor_is_refused_with_the_settings_and_a_missing_folder_when_it_is_used(tmp_path):
    (tmp_path / "medfaith.toml").write_text('extractor = "defualt"\n')
    with pytest.raises(
        DataError, match="extractor is 'defualt', expected one of default, teacher, or the folder"
    ):
        load_settings(tmp_path)
    (tmp_path / "medfaith.toml").write_text('extractor = "students/gone"\n')
    with pytest.raises(DataError, match="students/gone is no model folder"):
        _ = Resources(root=tmp_path).extractor
