"""The shipped NLI student as a pair scorer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from pytest_medfaith.checking.nearness import Nearness
from pytest_medfaith.checking.policy import Thresholds
from pytest_medfaith.checking.readable import LONGEST_CLAIM
from pytest_medfaith.errors import DataError

MODELS = Path(__file__).parent.parent / "models"


@dataclass(frozen=True)
class ModelCard:
    """What a model folder's card.json says that checking needs: how to read scores, where verdicts begin."""

    temperature: float
    entail_threshold: float
    contradict_threshold: float
    contradict_odds: float
    nearness_weight: float
    nearness_even: float
    max_tokens: int

    @property
    def thresholds(self) -> Thresholds:
        """What the three numbers of verdicts mean together."""
        return Thresholds(entail=self.entail_threshold, contradict=self.contradict_threshold, odds=self.contradict_odds)

    @property
    def nearness(self) -> Nearness:
        """What the other two mean."""
        return Nearness(weight=self.nearness_weight, even=self.nearness_even)


def read_card(folder: Path) -> ModelCard:
    """Returns the numbers of `folder`/card.json.

    Raises:
        DataError: no card, or one without a number that is needed.
    """
    path = folder / "card.json"
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
        return ModelCard(**{name: card["scoring"][name] for name in ModelCard.__dataclass_fields__})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{path}: no usable model card ({error!r}); expected JSON with 'scoring' holding {', '.join(ModelCard.__dataclass_fields__)}"
        ) from error


def score_with_student(model: Path, max_tokens: int, pairs: Sequence[tuple[str, str]]) -> Any:
    """Returns logits, float32 (n, 3) in the order entail, neutral, contradict, of (evidence, claim) pairs.

    The evidence is cut to fit `max_tokens`, never the claim; a claim that takes more than half of them leaves too little room and gives
    NaN. Pairs run one by one, so a pair's logits never depend on the others.
    """
    import numpy as np

    from pytest_medfaith.models.onnx import load_session, run_rows, worker_count

    if not pairs:
        return np.zeros((0, 3), dtype=np.float32)
    session = load_session(model)
    rows = {
        i: pair_row(evidence, claim, max_tokens=max_tokens)
        for i, (evidence, claim) in enumerate(pairs)
        if len(_token_ids(claim)) <= LONGEST_CLAIM * max_tokens
    }
    longest_first = sorted(rows, key=lambda i: -len(rows[i][0]))
    with ThreadPoolExecutor(worker_count()) as workers:
        outputs = list(workers.map(partial(run_rows, session), [rows[i] for i in longest_first]))
    logits = np.full((len(pairs), 3), np.nan, dtype=np.float32)
    for i, output in zip(longest_first, outputs, strict=True):
        logits[i] = output[0]
    return logits


def pair_row(evidence: str, claim: str, *, max_tokens: int) -> tuple[list[int], list[int]]:
    """Returns (token ids, token types) of `[CLS] evidence [SEP] claim [SEP]`, the evidence cut from its end."""
    claim_ids = _token_ids(claim)[: max_tokens - 3]
    evidence_ids = _token_ids(evidence)[: max_tokens - 3 - len(claim_ids)]
    start, end = _markers()
    ids = [start, *evidence_ids, end, *claim_ids, end]
    return ids, [0] * (len(evidence_ids) + 2) + [1] * (len(claim_ids) + 1)


@lru_cache(maxsize=65_536)
def _token_ids(text: str) -> tuple[int, ...]:
    from pytest_medfaith.models.onnx import load_tokenizer

    return tuple(load_tokenizer().encode(text, add_special_tokens=False).ids)


@lru_cache(maxsize=1)
def _markers() -> tuple[int, int]:
    from pytest_medfaith.models.onnx import load_tokenizer

    tokenizer = load_tokenizer()
    return tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
