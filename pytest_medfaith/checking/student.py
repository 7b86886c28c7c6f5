"""An ONNX file as a checker's model: evidence and claim become a row of tokens, the row three logits."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from pytest_medfaith import defaults
from pytest_medfaith.checking.card import tokenizer_of
from pytest_medfaith.checking.readable import LONGEST_CLAIM
from pytest_medfaith.errors import DataError
from pytest_medfaith.models.shipped import MINILM_TOKENIZER


def score_with_student(
    model: Path, max_tokens: int, pairs: Sequence[tuple[str, str]], *, tokenizer: Path | None = None
) -> Any:
    """Returns logits, float32 (n, 3) in the order entail, neutral, contradict, of (evidence, claim) pairs.

    Each pair runs by itself, so its logits never depend on other pairs.

    Args:
        model: the ONNX file.
        max_tokens: the most tokens of a pair. The evidence is cut to fit, never the claim. A claim that takes
            more than half of them gives NaN, since it leaves too little room.
        pairs: (evidence, claim) of each.
        tokenizer: its file; where None, that of the model's folder, or the shipped one that its card names.

    Raises:
        DataError: weights or tokenizer are missing or broken.
    """
    import numpy as np

    from pytest_medfaith.models.onnx import load_session, run_rows, worker_count

    if not pairs:
        return np.zeros((0, 3), dtype=np.float32)
    session, tokenizer = load_session(model), tokenizer or tokenizer_of(model.parent)
    rows = {
        i: pair_row(evidence, claim, max_tokens=max_tokens, tokenizer=tokenizer)
        for i, (evidence, claim) in enumerate(pairs)
        if len(_token_ids(claim, tokenizer)) <= LONGEST_CLAIM * max_tokens
    }
    longest_first = sorted(rows, key=lambda i: -len(rows[i][0]))
    with ThreadPoolExecutor(worker_count()) as workers:
        outputs = list(workers.map(partial(run_rows, session), [rows[i] for i in longest_first]))
    logits = np.full((len(pairs), 3), np.nan, dtype=np.float32)
    for i, output in zip(longest_first, outputs, strict=True):
        logits[i] = output[0]
    return logits


def pair_row(
    evidence: str,
    claim: str,
    *,
    max_tokens: int,
    tokenizer: Path = MINILM_TOKENIZER,
    claim_tokens: int | None = None,
) -> tuple[list[int], list[int]]:
    """Returns (token ids, token types) of evidence and claim, with the special tokens of the tokenizer.

    BERT reads `[CLS] evidence [SEP] claim [SEP]`, MPNet `<s> evidence </s></s> claim </s>`. The type is 0 up
    to the mark after the evidence, then 1.

    Args:
        evidence: is cut at its end, so that the row fits.
        claim: is kept whole, except in training.
        max_tokens: the most tokens of the row.
        tokenizer: the file of the tokenizer.
        claim_tokens: the most tokens of the claim, in training; None for no limit but the row's.
    """
    start, between, end = _frame(tokenizer)
    room = max_tokens - len(start) - len(between) - len(end)
    claim_ids = _token_ids(claim, tokenizer)[: min(room, claim_tokens or room)]
    evidence_ids = _token_ids(evidence, tokenizer)[: room - len(claim_ids)]
    first = [*start, *evidence_ids, *between]
    second = [*claim_ids, *end]
    return first + second, [0] * len(first) + [1] * len(second)


@lru_cache(maxsize=defaults.TEXTS_KEPT)
def _token_ids(text: str, tokenizer: Path) -> tuple[int, ...]:
    """Returns the token ids of `text` without special tokens."""
    from pytest_medfaith.models.onnx import load_tokenizer

    return tuple(load_tokenizer(tokenizer).encode(text, add_special_tokens=False).ids)


@lru_cache(maxsize=4)
def _frame(tokenizer: Path) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Returns the special tokens before the evidence, between the two texts, and after the claim.

    Raises:
        DataError: the tokenizer does not put two texts into one row.
    """
    from pytest_medfaith.models.onnx import load_tokenizer

    ids = load_tokenizer(tokenizer).encode("iron", "iron").ids
    word = _token_ids("iron", tokenizer)
    if len(word) != 1 or ids.count(word[0]) != 2:
        raise DataError(
            f"{tokenizer}: not a tokenizer that frames two texts as a pair; expected its post-processor to "
            "do so"
        )
    first = ids.index(word[0])
    second = ids.index(word[0], first + 1)
    return tuple(ids[:first]), tuple(ids[first + 1 : second]), tuple(ids[second + 1 :])
