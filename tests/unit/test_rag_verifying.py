"""Only sentences whose claims are all supported stay, and no sentence that has lost its meaning."""

import pytest

from pytest_medfaith.claims.split import extract_claims
from pytest_medfaith.rag.verifying import BEREFT, LEADS_NOWHERE, UNCHECKED, Verifier, supported_part
from pytest_medfaith.records import Chunk
from pytest_medfaith.testing import scripted_checker

pytestmark = pytest.mark.usefixtures("word_vectors")


def kept_of(answer, false):
    """Returns what stays of an answer, and the reasons, where claims with the word `false` are refuted."""
    checker = scripted_checker(lambda _, claim: "contradict" if false in claim else "entail")
    chunk = Chunk(id="a", text="Iron tablets treat iron deficiency.")
    verdicts = Verifier(checker, extract_claims).verdicts(answer, "What treats it?", [chunk])
    kept, dropped = supported_part(answer, verdicts)
    return kept, {one.text: one.reason for one in dropped}


def test_a_supported_answer_stays_as_it_is():
    answer = "Iron tablets treat iron deficiency [1]. Vitamin C helps the body take up iron [2]."
    assert kept_of(answer, "Moonlight") == (answer, {})


def test_a_sentence_with_an_unsupported_claim_goes_with_its_citation():
    kept, dropped = kept_of(
        "Iron treats anemia [1]. Moonlight sets off asthma [2]. Tea lowers it.", "Moonlight"
    )
    assert kept == "Iron treats anemia [1]."
    assert list(dropped) == ["Moonlight sets off asthma [2].", "Tea lowers it."]
    assert dropped["Moonlight sets off asthma [2]."].startswith("refuted")
    assert dropped["Tea lowers it."] == BEREFT  # "it" would now mean something else


def test_half_of_a_sentence_never_stays():
    kept, dropped = kept_of("Iron treats anemia and Moonlight sets off asthma [1].", "Moonlight")
    assert kept == ""
    assert len(dropped) == 1


def test_what_nobody_checked_does_not_stay():
    kept, dropped = kept_of("Iron treats anemia [1]. I hope this helps!", "Moonlight")
    assert kept == "Iron treats anemia [1]."
    assert dropped == {"I hope this helps!": UNCHECKED}


def test_a_line_that_introduces_a_list_stays_with_an_item_and_goes_with_the_last():
    answer = "Do not take these with iron tablets:\n- Moonlight\n- black tea\n"
    kept, _ = kept_of(answer, "Moonlight")
    assert kept == "Do not take these with iron tablets:\n- black tea"
    kept, dropped = kept_of(answer, "iron")
    assert kept == ""
    assert LEADS_NOWHERE in dropped.values()


def test_items_go_with_the_line_that_says_what_they_are():
    kept, _ = kept_of("Moonlight cures anemia in two ways:\n\nIron treats anemia.", "Moonlight")
    assert "Moonlight" not in kept


@pytest.mark.parametrize("answer", ["", "   ", "[1]", "## Iron"])
def test_nothing_is_made_of_nothing(answer):
    assert kept_of(answer, "Moonlight")[0] == ""
