"""The reference RAG quotes and cites, keeps what is supported, and refuses where its confidence is low."""

import json

import bags
import pytest

from pytest_medfaith.checking.judge import as_checker
from pytest_medfaith.claims.split import extract_claims, is_refusal
from pytest_medfaith.config import RagSettings
from pytest_medfaith.errors import TeacherError
from pytest_medfaith.rag.account import account_of
from pytest_medfaith.rag.coverage import passage_coverage, word_coverage
from pytest_medfaith.rag.quoting import quoted_answer
from pytest_medfaith.rag.reference import ReferenceRag, rag_checker
from pytest_medfaith.rag.verifying import Verifier
from pytest_medfaith.records import Chunk, Hit, Verdict
from pytest_medfaith.teacher.settings import LlmSettings
from pytest_medfaith.teacher.writing import GENERATE_PROMPT
from pytest_medfaith.testing import containment_checker

pytestmark = pytest.mark.usefixtures("word_vectors")
IRON = Chunk(
    id="iron",
    title="Iron",
    text="Iron tablets treat iron deficiency. They are taken on an empty stomach [12].",
)
ASTHMA = Chunk(
    id="asthma", text="A reliever inhaler opens the airways in asthma. Cold air can set off asthma."
)
QUESTION = "What treats iron deficiency?"


class Writer:
    """A teacher that writes what it is told to; "rewriter" gives the text of the second kind of request."""

    def __init__(self, draft, rewritten=None):
        self.settings, self.said = LlmSettings(model="writer-7b"), {"generator": draft, "rewriter": rewritten}
        self.asked = []

    def ask_one(self, item):
        self.asked.append(item.role)
        if self.said[item.role] is None:
            raise TeacherError(f"the teacher gave no usable {item.role}")
        return item.read(self.said[item.role])


def answer(mode="plain", *, draft=None, rewritten=None, chunks=(IRON, ASTHMA), checker=None, **settings):
    teacher = Writer(draft, rewritten) if draft is not None else None
    given = RagSettings(mode=mode, generator="teacher" if teacher else "extractive", **settings)
    verifier = Verifier(checker or containment_checker(), extract_claims) if rag_checker(given) else None
    rag = ReferenceRag(given, verifier=verifier, teacher=teacher, embed=bags.embed_texts)
    hits = [Hit(chunk=chunk, rank=rank, score=1.0) for rank, chunk in enumerate(chunks, start=1)]
    response = rag.answer(QUESTION, hits, case_id="iron")
    return response, account_of(response)


def test_the_extractive_answer_quotes_and_cites_without_the_citations_of_the_source():
    response, account = answer()
    assert response.answer == "Iron tablets treat iron deficiency [1]."
    assert (response.citations, response.case_id, account.refused) == (("iron",), "iron", "")
    assert response.model == "medfaith extractive"


def test_a_sentence_that_needs_the_sentence_before_is_quoted_with_it():
    said = quoted_answer("Are they taken on an empty stomach?", [IRON], embed=bags.embed_texts)
    assert said == "Iron tablets treat iron deficiency [1]. They are taken on an empty stomach [1]."


def test_a_sentence_of_two_passages_is_quoted_once_with_both():
    twin = IRON.with_(id="twin", text="Iron tablets treat iron deficiency.")
    assert answer(chunks=(IRON, twin))[0].answer == "Iron tablets treat iron deficiency [1][2]."


def test_nothing_retrieved_and_nothing_that_fits_are_refusals():
    for chunks, why in (((), "the retriever found nothing"), ((ASTHMA,), "no sentence of the passages fits")):
        response, account = answer(chunks=chunks)
        assert is_refusal(response.answer)
        assert account.refused.startswith(why)
        assert not response.citations


def test_faithful_drops_what_the_passages_do_not_say_and_tells_why():
    draft = "Iron tablets treat iron deficiency [1]. Moonlight cures iron deficiency [1]."
    response, account = answer("faithful", draft=draft, rewritten="Moonlight cures everything [1].")
    assert response.answer == "Iron tablets treat iron deficiency [1]."
    assert [one.text for one in account.dropped] == ["Moonlight cures iron deficiency [1]."]
    assert account.dropped[0].reason.startswith("unsupported")
    assert (account.claims, account.supported, account.draft) == (2, 1, draft)


def test_a_rewrite_by_the_teacher_is_used_only_where_all_of_it_is_supported():
    draft = "Iron tablets treat iron deficiency [1]. Moonlight cures iron deficiency [1]."
    good = "Iron deficiency: iron tablets treat iron deficiency [1]."
    assert answer("faithful", draft=draft, rewritten=good)[0].answer == good
    bad = f"{good} Moonlight helps too [1]."
    assert "Moonlight" not in answer("faithful", draft=draft, rewritten=bad)[0].answer


def test_a_draft_of_which_nothing_is_supported_is_a_refusal():
    response, account = answer("faithful", draft="Moonlight cures iron deficiency [1].")
    assert is_refusal(response.answer)
    assert account.refused == "the passages support no sentence of the draft"


def test_confidence_is_half_faithfulness_and_half_coverage_and_decides():
    draft = "Iron tablets treat iron deficiency [1]. Moonlight cures iron deficiency [1]."
    _, account = answer("confident", draft=draft, rewritten="Iron tablets treat iron deficiency [1].")
    assert account.faithfulness == 0.5
    assert account.confidence == pytest.approx(0.25 + 0.5 * account.coverage)
    low, high = account.confidence - 0.01, account.confidence + 0.01
    rewritten = "Iron tablets treat iron deficiency [1]."
    assert not is_refusal(answer("confident", draft=draft, rewritten=rewritten, threshold=low)[0].answer)
    refused, account = answer("confident", draft=draft, rewritten=rewritten, threshold=high)
    assert is_refusal(refused.answer)
    assert "is below the threshold" in account.refused


def test_confident_lite_measures_coverage_by_words():
    _, account = answer("confident-lite", threshold=0.0)
    assert account.coverage == word_coverage(QUESTION, [IRON, ASTHMA]) == 1.0
    assert rag_checker(RagSettings(mode="confident-lite", checker="default")) == "fast"


def test_words_that_are_spread_over_passages_cover_less_than_in_a_single_passage():
    question, spread = "Does cold air treat iron deficiency?", [IRON, ASTHMA]
    assert word_coverage(question, spread) == 1.0
    assert passage_coverage(question, spread, embed=bags.embed_texts) < 1.0
    assert word_coverage(question, []) == passage_coverage(question, [], embed=bags.embed_texts) == 0.0


def test_uncited_sentences_are_given_a_citation_and_told_apart():
    draft = "Iron tablets treat iron deficiency [1]. They are taken on an empty stomach."
    response, account = answer(draft=draft)
    assert (
        response.answer == "Iron tablets treat iron deficiency [1]. They are taken on an empty stomach [1]."
    )
    assert [(one.text, one.marker) for one in account.assigned] == [
        ("They are taken on an empty stomach.", "1")
    ]


def test_a_teacher_that_writes_or_judges_nothing_is_an_error_and_no_answer():
    with pytest.raises(TeacherError):
        answer(draft="x", chunks=(IRON,), mode="faithful", checker=_lost("teacher"))
    rag = ReferenceRag(RagSettings(generator="teacher"), embed=bags.embed_texts)
    with pytest.raises(TeacherError, match=r"\[tool.medfaith.llm\]"):
        rag.answer(QUESTION, [Hit(chunk=IRON, rank=1, score=1.0)])


def test_an_unscored_claim_of_another_checker_is_not_kept():
    response, account = answer("faithful", checker=_lost("mine"))
    assert is_refusal(response.answer)
    assert account.supported == 0


def _lost(name):
    def judge(claim, _):
        return Verdict(claim=claim, label="unscored", reason="no reply")

    return as_checker(judge, name=name)


def test_the_signature_names_what_decides_an_answer():
    signatures = {
        answer(mode, threshold=threshold, sentences=sentences)[1].signature
        for mode, threshold, sentences in (
            ("plain", 0.1, 3),
            ("plain", 0.1, 4),
            ("confident", 0.1, 3),
            ("confident", 0.2, 3),
        )
    }
    assert len(signatures) == 4
    assert answer(threshold=0.1)[1].signature == answer(threshold=0.2)[1].signature  # plain has no threshold


TURNS = (
    {"role": "user", "content": "What treats iron deficiency?"},
    {"role": "assistant", "content": "Moonlight treats iron deficiency."},
)


@pytest.mark.parametrize("mode", ["plain", "faithful"])
def test_a_follow_up_is_answered_on_the_topic_of_the_turn_before_and_no_turn_is_a_source(mode):
    iron = IRON.with_(text="Iron tablets treat iron deficiency in pregnancy.")
    asthma = ASTHMA.with_(text="A reliever inhaler is used in pregnancy.")
    verifier = Verifier(containment_checker(), extract_claims) if mode == "faithful" else None
    rag = ReferenceRag(RagSettings(mode=mode, sentences=1), verifier=verifier, embed=bags.embed_texts)
    hits = [Hit(chunk=chunk, rank=rank, score=1.0) for rank, chunk in enumerate((asthma, iron), start=1)]
    response = rag.answer("And in pregnancy?", hits, turns=TURNS)
    assert response.answer == "Iron tablets treat iron deficiency in pregnancy [2]."
    assert "Moonlight" not in response.answer


def test_a_teacher_reads_the_turns_and_without_turns_the_same_request_as_ever():
    rag = ReferenceRag(RagSettings(generator="teacher"), teacher=Writer("x"), embed=bags.embed_texts)
    asked = []
    rag.teacher.ask_one = lambda item: asked.append(item) or "Iron tablets [1]."
    hits = [Hit(chunk=IRON, rank=1, score=1.0)]
    rag.answer("And in pregnancy?", hits, turns=TURNS)
    rag.answer("And in pregnancy?", hits)
    (_, system), (_, user) = asked[0].messages
    assert "They are no source" in system
    assert json.loads(user)["earlier_turns"] == list(TURNS)
    assert json.loads(user)["question"] == "What treats iron deficiency? And in pregnancy?"
    (_, system), (_, user) = asked[1].messages
    assert system == GENERATE_PROMPT
    assert json.loads(user).keys() == {"question", "passages"}
