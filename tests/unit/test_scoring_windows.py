import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_medfaith.english.sentences import sentence_spans
from pytest_medfaith.scoring.reading import best_sentence, window_around
from pytest_medfaith.scoring.windows import coverage, evidence_sentences, evidence_windows

FILLER = "The clinic keeps a register of everyone who was seen there during the whole of that year. "
PROOF = "Letrozole is started at 2.5 mg once a day for five days."


def sentences(text):
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Take 2.5 mg. Then stop.", ["Take 2.5 mg.", "Then stop."]),
        (
            "Give it i.v. Adults get 1 g, e.g. Before surgery.",
            ["Give it i.v. Adults get 1 g, e.g. Before surgery."],
        ),
        ("First line\nSecond line\n\nThird", ["First line", "Second line", "Third"]),
        (
            "It works [1]. Dr. Osler agrees (see Fig. 2). Good.",
            ["It works [1].", "Dr. Osler agrees (see Fig. 2).", "Good."],
        ),
        ("It works. [1] The rest follows.", ["It works. [1]", "The rest follows."]),
        ("No. Flu is not a cold.", ["No.", "Flu is not a cold."]),
        ("No. 5 is the last. Drug no. IV too.", ["No. 5 is the last.", "Drug no. IV too."]),
        ("   ", []),
    ],
)
def test_sentences(text, expected):
    assert sentences(text) == expected


@given(st.text(max_size=400))
def test_sentences_lose_nothing_but_white_space(text):
    spans = sentence_spans(text)
    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())
    assert all(left[1] <= right[0] for left, right in itertools.pairwise(spans))


def test_a_short_text_is_one_window():
    assert [window.text for window in evidence_windows(f"{PROOF} It is stopped then.")] == [
        f"{PROOF} It is stopped then."
    ]


def test_windows_overlap_and_cover_every_sentence_of_a_long_text():
    text = " ".join(f"Sentence number {i} stands here with some ten words in it." for i in range(30))
    windows = evidence_windows(text)
    covered = {sentence for window in windows for sentence in sentences(window.text)}
    assert covered == set(sentences(text))
    assert all(later.start < earlier.end for earlier, later in itertools.pairwise(windows))
    assert all(text[window.start : window.end] == window.text for window in windows)


CLAIM = "Letrozole starts at 2.5 mg a day"


def by_words(_):
    return 0.0


@pytest.mark.parametrize("place", [0, 7, 15])
def test_the_best_sentence_is_the_proof_wherever_it_stands_and_the_window_around_it_holds_it(place):
    text = FILLER * place + PROOF + " " + FILLER * (15 - place)
    best = best_sentence(CLAIM, text, cosine=by_words)
    assert best.text == text[best.start : best.end] == PROOF
    window = window_around(best, CLAIM, of=text)
    assert PROOF in window.text
    assert window in evidence_windows(text)


def test_of_two_windows_that_hold_the_sentence_the_one_that_covers_more_of_the_claim_is_read():
    text = f"{FILLER * 10}{PROOF} {FILLER * 6}It is a drug for women who do not ovulate. {FILLER * 20}"
    sentence = best_sentence(CLAIM, text, cosine=by_words)
    holding = [
        window
        for window in evidence_windows(text)
        if window.start <= sentence.start and sentence.end <= window.end
    ]
    assert len(holding) == 2
    assert "ovulate" in window_around(sentence, CLAIM + " in women who do not ovulate", of=text).text
    assert window_around(sentence, CLAIM, of=text) == holding[0]


def test_a_blank_text_has_no_best_sentence():
    assert best_sentence(CLAIM, "  ", cosine=by_words) is None


def test_a_sentence_in_other_words_is_chosen_where_it_is_nearer():
    other = "The first dose is two and a half milligrams."
    cosines = {PROOF: 0.4, other: 0.6}
    assert best_sentence(CLAIM, f"{PROOF} {other}", cosine=cosines.get).text == other
    cosines[PROOF] = 0.5
    assert (
        best_sentence(CLAIM, f"{PROOF} {other}", cosine=cosines.get).text == PROOF
    )  # its words tip the scale


def test_coverage_is_the_weighted_share_of_words_the_text_holds():
    text = "Iron helps. Iron treats anaemia."
    assert coverage("anaemia iron", "anaemia iron", of=text) == 1.0
    assert coverage("zinc", "anaemia", of=text) == 0.0
    assert 0.5 < coverage("anaemia iron", "anaemia", of=text) < 1.0


def test_a_sentence_without_end_is_cut_between_words_and_read_to_its_last():
    text = "filler words without any stop " * 130 + "letrozole starts at 2.5 mg a day"
    assert len(sentences(text)) == 1
    best = best_sentence(CLAIM, text, cosine=by_words)
    assert best.text.endswith("letrozole starts at 2.5 mg a day")
    assert len(best.text.split()) <= 60
    assert window_around(best, CLAIM, of=text).text.endswith(best.text)
    assert " ".join(piece.text for piece in evidence_sentences(text)) == text


@pytest.mark.parametrize(
    "text", [" " * 100_000 + "x", "." * 100_000, "a. " * 50_000, "\n" * 100_000, "x" * 100_000, "] " * 50_000]
)
def test_hostile_texts_are_read_in_time_that_grows_with_their_length(text):
    assert sentence_spans(text) is not None
    assert evidence_windows(text) is not None
