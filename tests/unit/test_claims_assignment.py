"""Uncited sentences get the citation of a neighbour whose passage speaks of their matter, and no other."""

import bags
import pytest

from pytest_medfaith.claims.assignment import assign_citations

IRON = "Iron tablets treat iron deficiency. They are taken on an empty stomach."
ASTHMA = "A reliever inhaler opens the airways in asthma. Cold air can set off asthma."


def assigned(answer, **passages):
    known = {name.removeprefix("p"): text for name, text in passages.items()}
    found = assign_citations(answer, known, embed=bags.embed_texts)
    return {answer[one.start : one.end]: one.marker for one in found}


def test_a_sentence_gets_the_citation_of_the_neighbour_that_speaks_of_its_matter():
    answer = (
        "Iron tablets treat iron deficiency [1]. They are taken on an empty stomach. "
        "Cold air can set off asthma. A reliever inhaler opens the airways in asthma [2]."
    )
    assert assigned(answer, p1=IRON, p2=ASTHMA) == {
        "They are taken on an empty stomach.": "1",
        "Cold air can set off asthma.": "2",
    }


def test_what_its_author_cited_is_not_assigned_again():
    assert (
        assigned(
            "Cold air can set off asthma [1]. Iron tablets treat iron deficiency [2].", p1=IRON, p2=ASTHMA
        )
        == {}
    )


def test_a_passage_on_another_matter_is_not_assigned():
    assert assigned("Iron tablets treat iron deficiency [1]. Gout hurts at night.", p1=IRON) == {}


def test_only_the_nearest_cited_sentences_are_neighbours():
    answer = (
        "They are taken on an empty stomach. A reliever inhaler opens the airways in asthma [2]. "
        "Iron tablets treat iron deficiency [1]."
    )
    assert assigned(answer, p1=IRON, p2=ASTHMA) == {}


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "Iron tablets treat iron deficiency.",  # nobody cites
        "Iron tablets treat iron deficiency [7]. Iron tablets treat iron deficiency.",  # no passage 7
        "# Iron tablets treat iron deficiency\n\nIron tablets treat iron deficiency [1].",  # a heading
        "Iron tablets treat iron deficiency [1]. Do iron tablets treat iron deficiency?",
        "Iron tablets treat iron deficiency:\n- iron tablets [1]",
    ],
)
def test_what_states_nothing_or_has_no_cited_neighbour_gets_none(answer):
    assert assigned(answer, p1=IRON) == {}


def test_a_citation_of_several_sources_gives_the_most_similar_of_them():
    answer = "Both are common [1][2]. Cold air can set off asthma."
    (found,) = assign_citations(answer, {"1": IRON, "2": ASTHMA}, embed=bags.embed_texts)
    assert (found.marker, found.similarity) == ("2", pytest.approx(1.0))


def test_a_passage_without_text_is_never_the_most_similar():
    assert assigned("Iron tablets treat iron deficiency [1]. They are taken daily.", p1=" ") == {}
