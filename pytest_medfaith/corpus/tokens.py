"""Counts tokens with the tokenizer of the shipped sentence encoder, which is MiniLM's."""

from __future__ import annotations

import re
from functools import lru_cache

from pytest_medfaith.models.onnx import load_tokenizer
from pytest_medfaith.models.whole import whole

_WORD = re.compile(r"\S+")
# A medical corpus of 20 MB has about 100,000 different words with their punctuation; the tokens of these take
# 30 MB.
_WORDS_KEPT = 100_000


def token_offsets(text: str) -> list[tuple[int, int]]:
    """Returns the (start, end) of each token of `text`, in order: characters, half-open.

    Example: [(0, 4), (5, 12)] for "iron tablets". Special tokens such as [CLS] are not among them.
    """
    spans = []
    # WordPiece splits at white space first, so each word can be split alone; most words were seen before.
    for word in _WORD.finditer(text):
        at = word.start()
        spans += [(at + start, at + end) for start, end in _word_offsets(word[0])]
    return spans


@lru_cache(maxsize=_WORDS_KEPT)
def _word_offsets(word: str) -> tuple[tuple[int, int], ...]:
    return tuple(load_tokenizer().encode(whole(word), add_special_tokens=False).offsets)
