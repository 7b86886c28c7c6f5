"""What holds for any text at all."""

import json
import re
from itertools import pairwise
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_medfaith.claims.citations import parse_citations, read_citations
from pytest_medfaith.claims.layout import read_layout
from pytest_medfaith.claims.split import extract_claims, is_refusal
from pytest_medfaith.english.sentences import answer_sentences

WORDS = [
    "metformin",
    "It",
    "they",
    "these",
    "lowers",
    "raises",
    "is",
    "are",
    "may",
    "not",
    "does",
    "and",
    "or",
    "but",
    "which",
    "that",
    "if",
    "in patients",
    "with",
    "of",
    "include",
    "such as",
    "including",
    "between",
    "both",
    "glucose",
    "5 mg",
    "10",
    "95% CI",
    ("side effects"),
    "causing",
    "As",
    "Although",
    "while",
    "because",
    "No",
    "Yes",
    "However",
    "Based on the context",
    "I think",
    "I don't know",
    ("Please consult your doctor"),
    ("e.g."),
    "i.v.",
    "Dr.",
    "mg.",
]
MARKS = [
    ",",
    ".",
    "!",
    "?",
    ":",
    ";",
    "(",
    ")",
    "[",
    "]",
    '"',
    "\u201c",
    "\u201d",
    "\u2019s",
    "**",
    "*",
    "_",
    "#",
    "- ",
    "1. ",
    "2. ",
    "|",
    "---",
    "%",
    "\n",
    "\r\n",
    "\t",
    " ",
    "[1]",
    "[2, 3]",
    "[1-3]",
    "(PMID 1234567)",
    "https://a.b",
    "<b>",
    "<br>",
    "\u00b0",
    "\u00b5g",
    "\u2265",
    "\u00e9",
    "\u4e2d",
    "\U0001f642",
    "\u00a0",
    "\u200b",
    "\x00",
]
WORD = re.compile(r"[^\W_]+")
PIECES = st.sampled_from([*WORDS, *MARKS])
ANSWERS = st.one_of(
    st.text(max_size=120),
    st.lists(PIECES, max_size=30).map(" ".join),
    st.lists(PIECES, max_size=20).map("".join),
)


@settings(max_examples=150, deadline=None)
@given(answer=ANSWERS, question=st.none() | ANSWERS)
def test_claims_of_any_text_are_sound(answer, question):
    claims = extract_claims(answer, question=question)
    assert [claim.id for claim in claims] == [f"c{number}" for number in range(1, len(claims) + 1)]
    assert all(0 <= claim.start < claim.end <= len(answer) for claim in claims)
    assert all(any(map(str.isalnum, answer[claim.start : claim.end])) for claim in claims)
    assert [(claim.start, claim.end) for claim in claims] == sorted(
        (claim.start, claim.end) for claim in claims
    )
    assert all(any(map(str.isalnum, claim.text)) and claim.text == claim.text.strip() for claim in claims)
    assert claims == extract_claims(answer, question=question)


@settings(max_examples=150, deadline=None)
@given(answer=ANSWERS)
def test_a_refusal_and_its_claims_never_agree(answer):
    assert not (is_refusal(answer) and extract_claims(answer))


@settings(max_examples=150, deadline=None)
@given(text=ANSWERS)
def test_sentences_lose_nothing_and_never_overlap(text):
    spans = answer_sentences(text)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert "".join("".join(text[start:end] for start, end in spans).split()) == "".join(text.split())


@settings(max_examples=150, deadline=None)
@given(text=ANSWERS)
def test_layout_and_masks_keep_the_length(text):
    layout = read_layout(text)
    assert len(layout.text) == len(read_citations(text).text) == len(text)
    assert all(0 <= block.start <= block.end <= len(text) for block in layout.blocks)
    assert all(before.end <= after.start for before, after in pairwise(layout.blocks))


@settings(max_examples=150, deadline=None)
@given(text=ANSWERS)
def test_a_sentence_cites_only_what_the_text_cites(text):
    cited = read_citations(text)
    markers = {citation.marker for citation in parse_citations(text)}
    sentences = read_layout(cited.text).sentences
    assert {marker for found in cited.markers_of(sentences) for marker in found} <= markers
    assert {citation.marker for citation in cited.citations} == markers


@settings(max_examples=150, deadline=None)
@given(answer=ANSWERS, question=st.none() | ANSWERS)
def test_the_words_of_a_claim_are_the_answers_own(answer, question):
    said = "".join(f"{answer} {question or ''}".casefold().split())
    assert all(
        word in said
        for claim in extract_claims(answer, question=question)
        for word in WORD.findall(claim.text.casefold())
    )


def test_no_claim_of_the_found_answers_holds_a_word_that_is_not_in_its_answer():
    folder = Path(__file__).parents[2] / "fixtures" / "found" / "newcomer"
    rows = [
        json.loads(line)
        for path in sorted(folder.glob("responses_*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    claims = [(claim, row["answer"]) for row in rows for claim in extract_claims(row["answer"])]
    assert len(claims) >= 300
    added = [
        (claim.text, word)
        for claim, answer in claims
        for word in WORD.findall(claim.text.casefold())
        if word not in set(WORD.findall(answer.casefold()))
    ]
    assert added == []
