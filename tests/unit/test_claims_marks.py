"""Sentences and marks by hand: where a sentence ends, and what is no word of a claim."""

import json
import re
from pathlib import Path

import pytest

from pytest_medfaith.claims.citations import read_citations
from pytest_medfaith.claims.split import extract_claims, read_answer
from pytest_medfaith.english.sentences import answer_sentences

ROWS = [
    json.loads(line)
    for path in sorted((Path(__file__).parents[1] / "data" / "sentences").glob("*.jsonl"))
    for line in path.read_text(encoding="utf-8").splitlines()
]


def bare(sentences):
    """Returns `sentences` without marks, white space and closing stops; an empty rest is no sentence."""
    texts = (re.sub(r"\W*$", "", "".join(read_citations(sentence).text.split())) for sentence in sentences)
    return [text for text in texts if text]


def cut(text):
    masked = read_citations(text).text
    return [masked[start:end] for start, end in answer_sentences(masked)]


def test_there_are_enough_cases():
    assert len({row["text"] for row in ROWS}) == len(ROWS) >= 200


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["text"][:40])
def test_a_text_has_its_sentences(row):
    assert bare(cut(row["text"])) == bare(row["sentences"])


CLAIMS = {
    "authors behind a sentence": ("Iron lowers fatigue (Smith et al., 2020).", ["Iron lowers fatigue."]),
    "several authors": (
        "Iron lowers fatigue (Smith & Lee, 2019; Hall et al., 2021).",
        ["Iron lowers fatigue."],
    ),
    "an author and a year in square brackets": (
        "Iron lowers fatigue [Smith 2020].",
        ["Iron lowers fatigue."],
    ),
    "what happened in a year, in square brackets": (
        "Iron was sold [Withdrawn 2019].",
        ["Iron was sold [Withdrawn 2019]."],
    ),
    "a raised mark in HTML": (
        "Iron lowers fatigue.<sup>1,2</sup> It is cheap<sup>3</sup>.",
        ["Iron lowers fatigue.", "It is cheap."],
    ),
    "a raised mark in Markdown": (
        "Iron lowers fatigue^1^. It is cheap.",
        ["Iron lowers fatigue.", "It is cheap."],
    ),
    "raised and lowered signs of a word": (
        "CO<sub>2</sub> rises. The BMI is 30 kg/m<sup>2</sup>. Count 10<sup>9</sup>/L.",
        ["CO2 rises.", "The BMI is 30 kg/m².", "Count 10⁹/L."],
    ),
    "tags of a folded part": (
        "<details><summary>Dosing is simple</summary>Adults take 4 g.</details>",
        ["Dosing is simple.", "Adults take 4 g."],
    ),
    "struck-out words": (
        "Metformin is ~~not~~ safe. Take ~~5~~ 50 mg.",
        ["Metformin is safe.", "Take 50 mg."],
    ),
    "words struck out by one tilde": ("Metformin is ~not~ safe.", ["Metformin is safe."]),
    "struck-out words in HTML": (
        "Iron is <s>not</s> safe. Zinc is <del>not</del> safe. Tea is <strike class='x'>not</strike> safe.",
        ["Iron is safe.", "Zinc is safe.", "Tea is safe."],
    ),
    "struck-out words by a style": (
        'Iron is <span style="text-decoration: line-through">not</span> safe.',
        ["Iron is safe."],
    ),
    "struck-out letters": ("Iron is n\u0336o\u0336t\u0336 safe.", ["Iron is safe."]),
    "a struck-out sentence, item and cell": (
        "~~Take 4 g.~~ Take 2 g.\n- ~~aspirin cures~~\n- iron helps\n\n| it | dose |\n| zinc | <s>5</s> 9 |",
        ["Take 2 g.", "Iron helps.", "It: zinc; dose: 9."],
    ),
    "about so much": ("Give ~5 mg to ~10 mg a day.", ["Give ~5 mg to ~10 mg a day."]),
    "a lowered figure between tildes": ("H~2~O is water.", ["H~2~O is water."]),
    "strokes that never end": (
        "Zinc is <s>not safe. Tea is ~~not safe.",
        ["Zinc is not safe.", "Tea is not safe."],
    ),
    "authors in square brackets": ("Iron lowers fatigue [Smith et al. 2020].", ["Iron lowers fatigue."]),
    "a month is no author": ("The label changed (March, 2020).", ["The label changed (March, 2020)."]),
    "authors who are the subject": ("Smith et al. (2020) tested iron.", ["Smith et al. (2020) tested iron."]),
    "search marks": (
        "Iron treats anaemia.\u30104:0\u2020source\u3011 Tea blocks iron.\u30104:1\u2020source\u3011",
        ["Iron treats anaemia.", "Tea blocks iron."],
    ),
    "raised figures": (
        "Iron treats anaemia.\u00b2 Tea blocks iron\u00b3.",
        ["Iron treats anaemia.", "Tea blocks iron."],
    ),
    "a square is no mark": ("The dose is 75 mg/m\u00b2.", ["The dose is 75 mg/m\u00b2."]),
    "a power is no mark": ("Platelets were 20 x 10\u2079/L.", ["Platelets were 20 x 10\u2079/L."]),
    "an address": (
        "Iron treats anaemia, see https://example.org/a?b=2&c=1.",
        ["Iron treats anaemia, see https://example.org/a?b=2&c=1."],
    ),
    "Roman items": (
        "I. Stop aspirin.\nII. Start heparin.\nIII. Check the INR.",
        ["Stop aspirin.", "Start heparin.", "Check the INR."],
    ),
    "a thought": (
        "<think>Aspirin may cure it. Or not.</think>Iron treats anaemia.",
        ["Iron treats anaemia."],
    ),
    "a thought whose first tag is missing": (
        "Aspirin may cure it.\n</think>\nIron treats anaemia.",
        ["Iron treats anaemia."],
    ),
    "an italic disclaimer": (
        "Iron treats anaemia.\n\n_This is not medical advice._",
        ["Iron treats anaemia."],
    ),
    "a copyright": ("Iron treats anaemia.\n\n\u00a9 2024 Clinic", ["Iron treats anaemia."]),
    "a list that a line without a stop leads": (
        "Never combine sildenafil with nitrates\n- glyceryl trinitrate\n- isosorbide",
        ["Never combine sildenafil with nitrates.", "Glyceryl trinitrate.", "Isosorbide."],
    ),
    "a list that gives the dose of what its lead names": (
        "Take metformin\n1. 500 mg\n2. twice a day",
        ["Take metformin: 500 mg.", "Take metformin: 500 mg twice a day."],
    ),
    "a list that says when the dose of its lead is taken": (
        "Take metformin 500 mg\n- in the morning\n- in the evening",
        ["Take metformin 500 mg: in the morning.", "Take metformin 500 mg: in the evening."],
    ),
    "doses below nested and wrapped items": (
        "- Metformin\n  - 500 mg\n  - with meals\n\n1. Aspirin\n   75 mg once a day\n2. Stop iron",
        [
            "Metformin: 500 mg.",
            "Metformin: 500 mg with meals.",
            "Aspirin 75 mg once a day.",
            "Stop iron.",
        ],
    ),
    "a dose on the line below": (
        "Give amoxicillin\n500 mg three times a day.",
        ["Give amoxicillin 500 mg three times a day."],
    ),
    "a sentence about a dose on the line below": (
        "Give amoxicillin\n500 mg is the usual dose.",
        ["Give amoxicillin.", "500 mg is the usual dose."],
    ),
    "numbers that a line end breaks": (
        "The dose is 0.\n5 mg of iron. Take 1,\n000 mg of zinc. Keep the pressure below 140/\n90 mmHg.",
        ["The dose is 0.5 mg of iron.", "Take 1,000 mg of zinc.", "Keep the pressure below 140/90 mmHg."],
    ),
    "units that a line end breaks": (
        "Give 500\nmg of iron. Give 10 micro-\ngrams of salt. Give 5 mg/\nkg of tea. It helped 12\n% of men.",
        [
            "Give 500 mg of iron.",
            "Give 10 micrograms of salt.",
            "Give 5 mg/kg of tea.",
            "It helped 12% of men.",
        ],
    ),
    "a year, an age and a number end a line": (
        "It was sold in 1990.\n5 mg is given. It was tested in 2019,\n100 mg at a time.",
        ["It was sold in 1990.", "5 mg is given.", "It was tested in 2019, 100 mg at a time."],
    ),
    "a line that breaks off above its list": (
        "Do not take ibuprofen if you have\n- an ulcer\n- kidney disease",
        ["Do not take ibuprofen if you have an ulcer.", "Do not take ibuprofen if you have kidney disease."],
    ),
}


def test_a_claim_with_raised_signs_spans_its_markup():
    answer = "CO<sub>2</sub> rises. The BMI is 30 kg/m<sup>2</sup>."
    assert [answer[claim.start : claim.end] for claim in extract_claims(answer)] == [
        "CO<sub>2</sub> rises",
        "The BMI is 30 kg/m<sup>2</sup>",
    ]


def test_struck_out_words_are_listed_and_in_the_span_of_their_claim():
    answer = "Metformin is ~~not~~ safe ~~[2]~~ [1]. ~~Take 4 g.~~"
    read = read_answer(answer)
    assert [(claim.text, answer[claim.start : claim.end], claim.citations) for claim in read.claims] == [
        ("Metformin is safe.", "Metformin is ~~not~~ safe", ("1",))
    ]
    assert [(piece.reason, piece.text) for piece in read.dropped] == [
        ("struck out", "~~not~~"),
        ("struck out", "~~[2]~~"),
        ("struck out", "~~Take 4 g.~~"),
    ]


def test_an_answer_that_is_struck_out_says_nothing_and_declines_nothing():
    read = read_answer("~~Metformin is safe.~~")
    assert (read.claims, read.declines) == ((), False)


def test_a_claim_spans_the_number_that_a_line_end_breaks():
    answer = "The dose is 0.\n5 mg. The limit is 0.\n5."
    read = [(claim.text, answer[claim.start : claim.end]) for claim in extract_claims(answer)]
    assert read == [
        ("The dose is 0.5 mg.", "The dose is 0.\n5 mg"),
        ("The limit is 0.5.", "The limit is 0.\n5"),
    ]


@pytest.mark.parametrize(("answer", "expected"), CLAIMS.values(), ids=CLAIMS)
def test_marks_are_no_words_of_claims(answer, expected):
    assert [claim.text for claim in extract_claims(answer)] == expected


def test_the_items_of_a_list_have_its_first_line_as_context():
    claims = extract_claims("Never combine sildenafil with nitrates\n- glyceryl trinitrate\n- isosorbide")
    assert [claim.context for claim in claims][1:] == ["Never combine sildenafil with nitrates."] * 2


def test_a_thought_is_listed_as_not_checked():
    read = read_answer("<think>Aspirin may cure it.</think>Iron treats anaemia.")
    assert [(piece.reason, piece.text) for piece in read.dropped] == [
        ("reasoning", "<think>Aspirin may cure it.</think>")
    ]


def test_a_thought_that_never_ends_is_part_of_the_answer():
    assert [claim.text for claim in extract_claims("<think>Aspirin cures gout.")] != []
