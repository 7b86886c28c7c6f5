"""Strange letters lose no check.

Some lower-case to two characters, some only a pattern takes for others, some are halves of characters.
"""

import pytest

from pytest_medfaith import check_answer, load_checker
from pytest_medfaith.corpus.tokens import token_offsets
from pytest_medfaith.models.onnx import embed_texts
from pytest_medfaith.quantities.units import UNITS, unit_of, unit_pattern
from pytest_medfaith.records import Chunk
from pytest_medfaith.testing import containment_checker


@pytest.mark.parametrize("name", sorted(UNITS))
def test_a_unit_in_letters_that_a_pattern_takes_for_its_own_is_that_unit(name):
    spellings = {name.replace(old, new) for old in "isk" for new in {"i": "İı", "s": "ſ", "k": "K"}[old]} | {
        name.upper()
    }
    for spelling in spellings:
        found = unit_pattern().match(spelling)
        assert found is None or unit_of(found[0])  # what is matched is known


STRANGE = [
    "800 İU a day",
    "800 ıU a day",
    "5 kİlograms",
    "take 2 tabletſ",
    "5 Kg",
    "5 ﬁfths",
    "٥ mg",
    "²⁵ mg",
    "½ tablet",
    "①5 mg",
    "5 ㎎",
]
HALVES = [
    "Iron \ud800 helps",
    "Iron helps\udfff",
    "\udc00Iron helps",
    "Iron \ud83d\ude00 helps",
    "Ir\ud800on helps",
    "\ud800 5 mg \udfff",
]


@pytest.mark.parametrize("text", [*STRANGE, *HALVES], ids=ascii)
@pytest.mark.parametrize("strange", ["answer", "contexts", "question"])
def test_no_letter_stops_a_check(text, strange):
    words = {
        "answer": "Vitamin D is given as 800 IU a day.",
        "contexts": "Vitamin D is 800 IU a day.",
        "question": "Is it 800 IU?",
    }
    words[strange] = f"Vitamin D is given, {text}."
    report = check_answer(
        words["answer"],
        contexts=[words["contexts"]],
        question=words["question"],
        checker=containment_checker(),
    )
    assert report.verdicts


@pytest.mark.parametrize("text", HALVES, ids=ascii)
def test_the_shipped_models_read_halves_as_one_strange_sign(text):
    assert len(embed_texts([text])) == 1
    assert token_offsets(text)[-1][1] <= len(text)
    assert load_checker("default")("Iron helps.", [Chunk(id="a", text=text)]).label != "unscored"
