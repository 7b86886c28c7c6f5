"""An ONNX model folder as a pair scorer: `card.json`, `model.onnx` and, where it is not the shipped one, `tokenizer.json`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import MISSING, dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from pytest_medfaith.checking.cascade import Cascade
from pytest_medfaith.checking.policy import Thresholds
from pytest_medfaith.checking.readable import LONGEST_CLAIM
from pytest_medfaith.checking.similarity import SimilarityShift
from pytest_medfaith.errors import DataError

MODELS = Path(__file__).parent.parent / "models"
SHARED_TOKENIZER = MODELS / "tokenizer" / "tokenizer.json"  # of the two MiniLM students in the wheel


@dataclass(frozen=True)
class ModelCard:
    """What a model folder's card.json says that checking needs: how to read scores, where verdicts begin.

    A card with `windows` is that of a strong model, which reads so many windows of `window_words` words for each claim, after the fast
    student has read everything. Without it the model reads everything itself.
    """

    temperature: float
    entail_threshold: float
    contradict_threshold: float
    contradict_odds: float
    similarity_weight: float
    similarity_even: float
    max_tokens: int
    windows: int = 0
    window_words: int = 0
    fast_weight: float = 0.0

    @property
    def cascade(self) -> Cascade | None:
        """What the last three numbers mean, those of a strong model; None of a model that reads everything."""
        if not self.windows:
            return None
        return Cascade(windows=self.windows, window_words=self.window_words, fast_weight=self.fast_weight)

    @property
    def thresholds(self) -> Thresholds:
        """What the three numbers of verdicts mean together."""
        return Thresholds(
            entail=self.entail_threshold, contradict=self.contradict_threshold, odds=self.contradict_odds
        )

    @property
    def similarity(self) -> SimilarityShift:
        """What the other two mean."""
        return SimilarityShift(weight=self.similarity_weight, even=self.similarity_even)


_NEEDED = tuple(name for name, part in ModelCard.__dataclass_fields__.items() if part.default is MISSING)


def read_card(folder: Path) -> ModelCard:
    """Returns the numbers of `folder`/card.json.

    Raises:
        DataError: no card, or one without a number that is needed.
    """
    path = folder / "card.json"
    try:
        scoring = json.loads(path.read_text(encoding="utf-8"))["scoring"]
        found = {
            name: _number(name, scoring[name])
            for name in ModelCard.__dataclass_fields__
            if name in scoring or name in _NEEDED
        }
        card = ModelCard(**found)
        _ = (card.thresholds, card.cascade)  # numbers without sense are said now
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(
            f"{path}: no usable model card ({error!r}); expected JSON with 'scoring' holding {', '.join(_NEEDED)}"
        ) from error
    return card


def _number(name: str, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{name} is {value!r}, expected a number")  # noqa: TRY004 - the card is wrong, not a type in code
    return value


def score_with_student(model: Path, max_tokens: int, pairs: Sequence[tuple[str, str]]) -> Any:
    """Returns logits, float32 (n, 3) in the order entail, neutral, contradict, of (evidence, claim) pairs.

    The evidence is cut to fit `max_tokens`, never the claim; a claim that takes more than half of them leaves too little room and gives
    NaN. Pairs run one by one, so a pair's logits never depend on the others.
    """
    import numpy as np

    from pytest_medfaith.models.onnx import load_session, run_rows, worker_count

    if not pairs:
        return np.zeros((0, 3), dtype=np.float32)
    session, tokenizer = load_session(model), tokenizer_beside(model)
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


def tokenizer_beside(model: Path) -> Path:
    """Returns the tokenizer file of the ONNX file `model`: the one in its folder, or the shipped students'."""
    own = model.with_name("tokenizer.json")
    return own if own.is_file() else SHARED_TOKENIZER


def pair_row(
    evidence: str,
    claim: str,
    *,
    max_tokens: int,
    tokenizer: Path = SHARED_TOKENIZER,
    claim_tokens: int | None = None,
) -> tuple[list[int], list[int]]:
    """Returns (token ids, token types) of evidence and claim as the tokenizer frames a pair, the evidence cut from its end.

    In training a claim is cut at `claim_tokens`.

    BERT's frame is `[CLS] evidence [SEP] claim [SEP]`, MPNet's `<s> evidence </s></s> claim </s>`.
    """
    start, between, end = _frame(tokenizer)
    room = max_tokens - len(start) - len(between) - len(end)
    claim_ids = _token_ids(claim, tokenizer)[: min(room, claim_tokens or room)]
    evidence_ids = _token_ids(evidence, tokenizer)[: room - len(claim_ids)]
    first = [*start, *evidence_ids, *between]
    second = [*claim_ids, *end]
    return first + second, [0] * len(first) + [1] * len(second)


@lru_cache(maxsize=65_536)
def _token_ids(text: str, tokenizer: Path) -> tuple[int, ...]:
    from pytest_medfaith.models.onnx import load_tokenizer

    return tuple(load_tokenizer(tokenizer).encode(text, add_special_tokens=False).ids)


@lru_cache(maxsize=4)
def _frame(tokenizer: Path) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Returns the special tokens before the evidence, between the two texts, and after the claim."""
    from pytest_medfaith.models.onnx import load_tokenizer

    ids = load_tokenizer(tokenizer).encode("iron", "iron").ids
    word = _token_ids("iron", tokenizer)
    if len(word) != 1 or ids.count(word[0]) != 2:
        raise DataError(
            f"{tokenizer}: not a tokenizer that frames two texts as a pair; expected its post-processor to do so"
        )
    first = ids.index(word[0])
    second = ids.index(word[0], first + 1)
    return tuple(ids[:first]), tuple(ids[first + 1 : second]), tuple(ids[second + 1 :])
