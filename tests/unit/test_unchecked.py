"""What no claim was made of is listed with its reason, counted, and may be bounded by a gate."""

import csv
import io
import json
import re

import pytest

from pytest_medfaith import check_answer
from pytest_medfaith.cards.csv_claims import claims_csv
from pytest_medfaith.cards.explanation import explain_unchecked
from pytest_medfaith.cards.html import html_report
from pytest_medfaith.claims.split import extract_claims, read_answer
from pytest_medfaith.evaluation import slice_report
from pytest_medfaith.gates.expressions import parse_gate
from pytest_medfaith.records import SliceRun
from pytest_medfaith.testing import containment_checker

PASSAGE = "Iron tablets treat iron deficiency."


def report_on(answer, **options):
    return check_answer(answer, contexts=[PASSAGE], checker=containment_checker(), **options)


def test_greetings_and_questions_are_listed_with_their_reason():
    report = report_on("Great question! Iron tablets treat iron deficiency. Would you like to know more?")
    assert [verdict.label for verdict in report.verdicts] == ["supported"]
    assert [(piece.text, piece.reason) for piece in report.dropped] == [
        ("Great question!", "greeting"),
        ("Would you like to know more?", "question"),
    ]
    assert report.metrics["unchecked_share"] == pytest.approx(8 / 13)


@pytest.mark.parametrize(
    "opening",
    [
        "Feel free to take 10 g of paracetamol a day.",
        "Let's start letrozole at 25 mg once a day.",
        "Let me tell you that isotretinoin is safe in pregnancy.",
        "Thank you for asking, letrozole is started at 25 mg",
        "I'm glad to say that 10 g of paracetamol a day is fine.",
        "I don't know the exact number, so take 10 g of paracetamol a day.",
        "I'm not sure, so start with 25 mg of letrozole a day.",
        "The documents do not mention any risk of isotretinoin in pregnancy, so it is safe to take.",
        "I cannot say this enough: letrozole is started at 25 mg once a day.",
        "I can't help but recommend letrozole 25 mg",
        "There is no information in the context against isotretinoin in pregnancy, which makes it safe.",
        "I am not a doctor, but you can take 8 g of paracetamol a day.",
        "Ask your pharmacist and take 8 g of paracetamol a day.",
        "**Maximum dose: 8 g of paracetamol a day**",
        "Adults may take 8 g of paracetamol a day, right?",
    ],
)
def test_small_talk_and_refusals_are_no_cover(opening):
    report = report_on(f"Iron tablets treat iron deficiency. {opening}")
    assert not report.abstained
    assert [verdict.label for verdict in report.verdicts][1:] != []
    assert "unsupported" in {verdict.label for verdict in report.verdicts}
    assert not report_on(opening).abstained


@pytest.mark.parametrize(
    "refusal",
    [
        "I don't have enough information to answer this question. Please contact your pharmacy.",
        "I cannot find this in the documents provided. Please check your local formulary.",
        "As an AI language model, I cannot give medical advice. Please consult your doctor.",
    ],
)
def test_a_refusal_that_says_nothing_else_is_an_abstention(refusal):
    report = report_on(refusal)
    assert report.abstained
    assert report.verdicts == ()
    assert {piece.reason for piece in report.dropped} >= {"refusal"}


def test_what_is_said_again_counts_once():
    answer = " ".join(["Iron tablets treat iron deficiency."] * 19 + ["Iron tablets cure gout."])
    report = report_on(answer)
    assert [verdict.label for verdict in report.verdicts] == ["supported", "unsupported"]
    assert [piece.reason for piece in report.dropped] == ["repeated"] * 18


def test_a_claim_keeps_the_answers_words_and_has_the_sentence_before_as_context():
    first, second = extract_claims("Metformin is a biguanide. It lowers glucose.")
    assert (first.text, first.context) == ("Metformin is a biguanide.", "")
    assert (second.text, second.context) == ("It lowers glucose.", "Metformin is a biguanide.")


@pytest.mark.parametrize(
    "heading",
    [
        "# Overview. Adults may take 8 g.",
        "## Dosing! Adults may take 8 g",
        "# Is it safe? Adults may take 8 g",
    ],
)
def test_no_sentence_of_a_heading_passes_unread(heading):
    claims = extract_claims(f"{heading}\n\nIron helps the blood.")
    assert [claim.text for claim in claims] == ["Adults may take 8 g.", "Iron helps the blood."]


def test_the_spans_of_claims_and_dropped_words_are_the_answers_own():
    answer = "Hello! Iron tablets treat iron deficiency. Hope this helps!"
    read = read_answer(answer)
    assert all(answer[slice(*piece.span)] == piece.text for piece in read.dropped)
    assert [answer[claim.start : claim.end] for claim in read.claims] == [
        "Iron tablets treat iron deficiency"
    ]


def test_a_gate_may_bound_it():
    gate = parse_gate("unchecked_share <= 0.2")
    assert (gate.metric, gate.bound) == ("unchecked_share", 0.2)


def test_the_table_of_claims_lists_what_was_not_checked():
    report = report_on("Great question! Iron tablets treat iron deficiency.")
    table = claims_csv([slice_report(SliceRun(slice="s", retriever="", checker="scripted", k=1), [report])])
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [(row["verdict"], row["claim"], row["reason"]) for row in rows][-1] == (
        "unchecked",
        "Great question!",
        "greeting",
    )


CHATTY = "Great question! Iron tablets treat iron deficiency. Would you like to know more?"


def test_the_page_says_what_was_not_checked_with_reason_and_share():
    page = html_report(
        [slice_report(SliceRun(slice="s", retriever="", checker="", k=1), [report_on(CHATTY)])]
    )
    (case,) = json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1]
    )["cases"]
    assert [(piece["text"], piece["reason"], CHATTY[slice(*piece["span"])]) for piece in case["dropped"]] == [
        ("Great question!", "greeting", "Great question!"),
        ("Would you like to know more?", "question", "Would you like to know more?"),
    ]
    assert case["unchecked"] == "0.62"


def test_the_account_says_what_was_not_checked_with_reason_and_share():
    clean = report_on("Iron tablets treat iron deficiency.")
    assert len(clean.verdicts) == 1
    assert explain_unchecked([report_on(CHATTY), clean]) == (
        "2 pieces of 1 answer not checked\n\n"
        "UNCHECKED   Great question! (greeting)\n"
        "UNCHECKED   Would you like to know more? (question)\n"
        "    0.62 of the answer's words"
    )
