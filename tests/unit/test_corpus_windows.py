import warnings
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_medfaith.corpus.tokens import token_offsets
from pytest_medfaith.corpus.windows import WindowSize, windows
from pytest_medfaith.english.sentences import whole_sentences
from pytest_medfaith.models.shipped import MINILM_TOKENIZER

# Written for this test: what a splitter of medical text meets, one sentence a list item.
MEDICAL_TEXTS = [
    ["The U.S. Food and Drug Administration approved it in 2019.", "It is given once daily."],
    ["Dr. Okafor saw him at 5 p.m. on Monday.", "His blood pressure was 150/95 mm Hg."],
    ["Give 0.5 mg/kg i.v. every 8 h.", "Do not exceed 40 mg/day."],
    ["Potassium was 3.4 mmol/L (normal 3.5 to 5.0 mmol/L).", "It was replaced by mouth."],
    ["Smith et al. found no benefit [3].", "Two later trials did [4,5]."],
    ["E. coli and S. aureus grew from both bottles.", "Ceftriaxone was started."],
    ["See Fig. 2 and Table 3 for the doses.", "They were halved in renal failure."],
    ["Adults (i.e. those over 18 yr.) took 5 mg; children took none.", "All were followed for 6 mo."],
    ["Mortality fell (HR 0.71, 95 % CI 0.58 to 0.87; p < 0.001).", "NNT was 21."],
    ["TNF-α rose to 30 ± 5 pg/mL.", "IL-6 did not."],
    ["Does it cross the placenta?", "Yes, in small amounts.", "Stop it!", "Call 911."],
    ["The drug was withdrawn on Jan. 5 after three deaths.", "M.D. Anderson had reported them first."],
    ["Warfarin vs. apixaban was compared in 4,312 patients.", "Bleeding was less with apixaban."],
    ["Take one tablet t.i.d. with food.", "Skip a dose if you feel sick."],
    ["“It hurts here.”", "She pointed to her left side."],
    ["Give Tab. Paracetamol 500 mg, approx. 2 tabs. 8 hourly.", "Then stop."],
    [
        "Aspirin 1 tab. 75 mg and 1 cap. Amoxicillin were given with inj. Ondansetron.",
        "Inj. Pantoprazole followed.",
    ],
    ["At temp. 39 °C Drs. Okafor and Lee were called.", "They came."],
    ["Vit. D deficiency is common.", "A level below 20 ng/mL (50 nmol/L) is low."],
]


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in whole_sentences(text)]


@pytest.mark.parametrize("expected", MEDICAL_TEXTS, ids=lambda parts: parts[0][:20])
def test_no_sentence_of_a_medical_text_is_cut(expected):
    assert sentences(" ".join(expected)) == expected


def test_pysbd_cuts_most_of_these_texts_alike():
    """pySBD expects the same as the cases above; where it differs, it cuts after i.v. or Vit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pysbd import Segmenter
    segmenter = Segmenter(language="en", clean=False)
    alike = [
        [part.strip() for part in segmenter.segment(" ".join(expected))] == expected
        for expected in MEDICAL_TEXTS
    ]
    assert sum(alike) >= 14


@given(st.text(alphabet="AbcU.S 5)(\n?!α", max_size=80))
def test_sentences_are_ordered_trimmed_and_lose_nothing(text):
    spans = whole_sentences(text)
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    left = "".join(
        text[a:b]
        for a, b in zip(
            [0, *(end for _, end in spans)], [*(start for start, _ in spans), len(text)], strict=True
        )
    )
    assert left.strip() == ""


TEXT = (
    "Naïve TNF-α users took 10⁻³ mg/kg (±0.5 µg), i.e. <5%.\nSjögren’s syndrome; pseudohypoparathyroidism — "
    "日本 " + "ACGT" * 40
)


def test_tokens_are_the_tokenizers_own():
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(MINILM_TOKENIZER))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    assert token_offsets(TEXT) == tokenizer.encode(TEXT, add_special_tokens=False).offsets
    assert len(token_offsets((TEXT + " ") * 100)) == 100 * len(token_offsets(TEXT))


def words(text: str) -> list[tuple[int, int]]:
    spans, position = [], 0
    for word in text.split():
        position = text.index(word, position)
        spans.append((position, position + len(word)))
        position += len(word)
    return spans


def lengths(text: str, **shape: int) -> list[list[int]]:
    """Returns, for each window of `text`, the first numbers of its sentences `<number> word word ...`."""
    return [
        [int(part.split()[0]) for part in sentences(text[start:end])]
        for start, end in windows(text, shape=WindowSize(**shape), count_tokens=words)
    ]


def numbered(*sizes: int) -> str:
    return " ".join(f"{number} " + "word " * (size - 2) + "end." for number, size in enumerate(sizes))


def test_windows_hold_as_many_sentences_as_fit_and_overlap_by_whole_ones():
    assert lengths(numbered(*[10] * 8), size=45, stride=20) == [[0, 1, 2, 3], [2, 3, 4, 5], [4, 5, 6, 7]]
    assert lengths(numbered(*[10] * 8), size=45, stride=0) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_max_sent_bounds_a_window_and_the_overlap_is_at_most_half():
    assert lengths(numbered(*[5] * 8), size=500, stride=100, max_sent=4) == [
        [0, 1, 2, 3],
        [2, 3, 4, 5],
        [4, 5, 6, 7],
    ]


def test_the_last_window_reaches_back_to_min_sent():
    assert lengths(numbered(10, 10, 10, 10, 10), size=20, stride=0) == [[0, 1], [2, 3], [3, 4]]
    assert lengths(numbered(10), size=20, stride=5) == [[0]]


def test_size_goes_before_min_sent_and_overlap():
    assert lengths(numbered(18, 18, 18), size=20, stride=10) == [[0], [1], [2]]
    assert lengths(numbered(4, 10, 19, 4), size=20, stride=15, min_sent=1) == [[0, 1], [2], [3]]


def test_a_sentence_longer_than_a_window_is_cut_at_spaces_and_overlaps():
    text = "Short one. " + " ".join(f"w{i}" for i in range(50)) + " end."
    spans = windows(text, shape=WindowSize(size=20, stride=5), count_tokens=words)
    parts = [text[start:end].split() for start, end in spans]
    assert all(len(part) <= 20 for part in parts)
    assert parts[0][:3] == ["Short", "one.", "w0"]
    assert parts[-1][-1] == "end."
    assert all(set(a) & set(b) for a, b in pairwise(parts))


def test_default_windows_of_running_text_are_as_the_defaults_say():
    text = (
        "The patient with chronic lung disease was given prednisolone 40 mg once daily for five days and "
        "improved, although very slowly. " * 100
    )
    spans = windows(text)
    tokens = [len(token_offsets(text[start:end])) for start, end in spans]
    shared = [len(token_offsets(text[b[0] : a[1]])) for a, b in pairwise(spans)]
    assert all(300 <= count <= 512 for count in tokens)
    assert all(100 <= count <= 128 for count in shared)


@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=40),
    st.integers(1, 80),
    st.integers(0, 79),
    st.integers(1, 6),
    st.integers(0, 8),
)
def test_windows_keep_every_promise(sizes, size, stride, min_sent, more):
    text = " ".join("Word " * (count - 1) + "Last." if count > 1 else "One." for count in sizes)
    shape = WindowSize(size=size, stride=min(stride, size - 1), min_sent=min_sent, max_sent=min_sent + more)
    whole = whole_sentences(text)
    starts, ends = {start for start, _ in whole}, {end for _, end in whole}
    spans = windows(text, shape=shape, count_tokens=words)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(spans))
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text)
    for start, end in spans:
        assert len(text[start:end].split()) <= size
    if max(sizes) <= size:
        for start, end in spans:
            assert start in starts
            assert end in ends
            assert sum(start <= first < end for first, _ in whole) <= shape.max_sent
    for a, b in pairwise(spans):
        assert text[a[1] : b[0]].strip() == ""


def test_an_empty_text_has_no_window():
    assert windows("") == []


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ({"size": 0}, "size is 0 tokens, expected at least 1"),
        ({"size": 100, "stride": 100}, "stride is 100 tokens, expected 0 to size - 1 = 99"),
        ({"stride": -1}, "stride is -1"),
        ({"min_sent": 0}, "min_sent is 0 and max_sent 12"),
        ({"min_sent": 5, "max_sent": 4}, "min_sent is 5 and max_sent 4, expected 1 <= min_sent <= max_sent"),
    ],
)
def test_wrong_sizes_are_refused_with_their_value(shape, message):
    with pytest.raises(ValueError, match=message):
        WindowSize(**shape)
