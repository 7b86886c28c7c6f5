import sys

import numpy as np
import pytest

from pytest_medfaith.corpus.dedup import Dropped, drop_near_duplicates
from pytest_medfaith.errors import MissingExtra
from pytest_medfaith.records import Chunk

TEXT = (
    "Metformin is the first drug for most adults with type 2 diabetes, because it lowers glucose, does not "
    "raise weight and costs little. It is started at 500 mg once daily with food and raised slowly, so that "
    "the stomach gets used to it. Kidney function is checked before the first dose and every year after "
    "that, and more often in older people."
)


def run(*texts: str, **options) -> tuple[list[str], list[Dropped]]:
    titles = options.pop("titles", [""] * len(texts))
    chunks = [
        Chunk(id=f"s/d-{i}", text=text, title=title)
        for i, (text, title) in enumerate(zip(texts, titles, strict=True))
    ]
    dropped: list[Dropped] = []
    kept = [chunk.id for chunk in drop_near_duplicates(chunks, on_drop=dropped.append, **options)]
    return kept, dropped


def test_minhash_drops_near_copies_and_says_for_what():
    near = TEXT.replace("costs little", "costs very little")
    kept, dropped = run(TEXT, "Aspirin thins the blood.", near, TEXT.upper(), TEXT)
    assert kept == ["s/d-0", "s/d-1"]
    assert [(row.id, row.kept, row.method) for row in dropped] == [
        (f"s/d-{i}", "s/d-0", "minhash") for i in (2, 3, 4)
    ]
    assert 0.9 <= dropped[0].similarity < 1
    assert dropped[2].similarity == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("500 mg", "850 mg"),
        ("500 mg", "500 g"),
        ("does not raise", "does raise"),
        ("glucose", "sugar in the blood " * 8),
    ],
)
def test_texts_that_say_something_else_are_kept(old, new):
    kept, dropped = run(TEXT, TEXT.replace(old, new))
    assert (len(kept), dropped) == (2, [])


def test_pages_of_one_pattern_about_two_diseases_are_kept():
    pattern = "{} is rare. " + TEXT
    kept, _ = run(
        pattern.format("Empty sella"),
        pattern.format("Lateral meningocele"),
        titles=["Empty sella", "Lateral meningocele"],
    )
    assert len(kept) == 2


def test_the_threshold_moves_what_is_dropped():
    near = TEXT.replace("older people", "older people and in frail ones who take many other drugs at once")
    assert len(run(TEXT, near)[0]) == 2
    assert len(run(TEXT, near, threshold=0.7)[0]) == 1
    with pytest.raises(ValueError, match=r"threshold is 1\.5, expected a similarity above 0"):
        run(TEXT, threshold=1.5)


def test_cosine_drops_what_an_encoder_finds_alike():
    vectors = {"a": [1, 0], "b": [0.99, 0.14], "c": [0.9, 0.43], "d 5 mg": [1, 0], "e": [0, 0], "f": [0, 0]}
    kept, dropped = run(*vectors, method=lambda texts: np.array([vectors[text] for text in texts]))
    assert kept == ["s/d-0", "s/d-2", "s/d-3", "s/d-4", "s/d-5"]
    assert dropped == [Dropped("s/d-1", "s/d-0", 0.99, "cosine")]


def test_cosine_compares_across_batches():
    texts = [f"text {chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(150)]
    kept, dropped = run(
        *texts, texts[3], method=lambda batch: np.eye(200)[[texts.index(text) for text in batch]]
    )
    assert len(kept) == 150
    assert (dropped[0].id, dropped[0].kept) == ("s/d-150", "s/d-3")


@pytest.mark.parametrize("wrong", [np.zeros(1), np.full((1, 2), np.nan), np.zeros((2, 2))])
def test_an_encoder_that_returns_something_else_is_refused(wrong):
    with pytest.raises(
        ValueError, match=r"embedding of 1 texts has shape .* expected \(1, d\) of finite numbers"
    ):
        run("a", method=lambda _: wrong)


def test_without_datasketch_the_install_line_is_given(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasketch", None)
    with pytest.raises(MissingExtra, match=r"pip install 'pytest-medfaith\[dedup\]'"):
        run(TEXT)
