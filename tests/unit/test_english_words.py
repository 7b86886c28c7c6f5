"""What each reader of words makes of one text, as the table of the module's docstring says."""

import re

import pytest

from pytest_medfaith.english import words
from pytest_medfaith.english.lexicon import COMMON_WORDS, FUNCTION_WORDS
from pytest_medfaith.english.stems import light_stem, singular, singulars, verb_stems, word_key

TEXT = "IL-6, the patient's 2.5 mg/kg beta-blocker"
TABLE = dict(re.findall(r"^(\w+)  .*  +(IL.*|il.*)$", words.__doc__, re.MULTILINE))
READERS = {
    "read_tokens": lambda text: [token.text for token in words.read_tokens(text)],
    "content_words": lambda text: sorted(words.content_words(text), key=text.lower().index),
    "plain_words": lambda text: words.plain_words(text).split(),
    "search_words": lambda text: " ".join(words.search_words(text)).split(),
    "STATED": words.STATED.findall,
    "SHINGLED": words.SHINGLED.findall,
    "SPOKEN": words.SPOKEN.findall,
    "LETTERS": words.LETTERS.findall,
    "pieces_of": lambda text: [piece for piece, _, _ in words.pieces_of(text)],
}


def test_the_table_lists_every_reader():
    assert TABLE.keys() == READERS.keys()


@pytest.mark.parametrize("name", READERS)
def test_a_reader_takes_the_words_that_the_table_says(name):
    assert READERS[name](TEXT) == TABLE[name].split()


def test_pieces_know_their_places():
    assert [TEXT[start:end] == piece for piece, start, end in words.pieces_of(TEXT)] == [True] * 11


def test_the_common_words_are_function_words():
    assert COMMON_WORDS < FUNCTION_WORDS


def test_stems_say_what_the_forms_of_a_word_share():
    assert word_key("treated") == word_key("treatment") == "treat"
    assert word_key("haemorrhage") == word_key("hemorrhage")
    assert [light_stem(word) for word in ("stopped", "studies", "doses", "gas")] == [
        "stopp",
        "stud",
        "doses"[:4],
        "gas",
    ]
    assert [singular(word) for word in ("Tablets", "virus", "diagnosis", "its")] == [
        "tablet",
        "virus",
        "diagnosis",
        "its",
    ]
    assert list(singulars("doses")) == ["doses", "dose", "dos"]
    assert verb_stems("find") & verb_stems("found")
    assert not verb_stems("exceed") & verb_stems("led")
