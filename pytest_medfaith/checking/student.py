"""The shipped NLI student as a pair scorer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from pytest_medfaith.checking.agreement import LinearLayer, features
from pytest_medfaith.errors import DataError

MODELS = Path(__file__).parent.parent / "models"


@dataclass(frozen=True)
class ModelCard:
    """What a model folder's card.json says that checking needs: how to read scores, where verdicts begin.

    `layer` weighs the model's logits with the agreement of words, numbers and vectors; None where the logits stand alone.
    """

    temperature: float
    entail_threshold: float
    contradict_threshold: float
    max_tokens: int
    layer: LinearLayer | None = None


def read_card(folder: Path) -> ModelCard:
    """Returns the numbers of `folder`/card.json.

    Raises:
        DataError: no card, or one without a number that is needed.
    """
    path = folder / "card.json"
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
        layer = card["scoring"].pop("layer", None)
        return ModelCard(**card["scoring"], layer=LinearLayer(**layer) if layer else None)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: no usable model card ({error!r}); expected JSON with 'scoring' holding {', '.join(ModelCard.__dataclass_fields__)}") from error


@lru_cache(maxsize=2)
def weights_signature(folder: Path) -> str:
    """Returns 16 hexadecimal digits that name the bytes of everything that decides a logit: weights, encoder, layer."""
    from pytest_medfaith.models.onnx import ENCODER

    digest = hashlib.sha256(repr(read_card(folder).layer).encode())
    for path in (folder / "model.onnx", ENCODER):
        if not path.is_file():
            raise DataError(f"{path}: no such model file; reinstall pytest-medfaith, or name a model folder that exists")
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def score_with_student(folder: Path, card: ModelCard, pairs: Sequence[tuple[str, str]]) -> Any:
    """Returns logits, float32 (n, 3) in the order entail, neutral, contradict, of (evidence, claim) pairs."""
    import numpy as np

    logits = student_logits(folder / "model.onnx", pairs, max_tokens=card.max_tokens)
    if card.layer is None:
        return logits
    return card.layer(features(pairs, logits, cosines(pairs))).astype(np.float32)


def cosines(pairs: Sequence[tuple[str, str]]) -> Any:
    """Returns the cosine of evidence and claim as sentence vectors: float32 (n,). Equal texts are encoded once."""
    import numpy as np

    from pytest_medfaith.models.onnx import embed_texts

    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    vectors = dict(zip(texts, embed_texts(texts), strict=True))
    return np.array([(vectors[evidence] * vectors[claim]).sum() for evidence, claim in pairs], dtype=np.float32)


def student_logits(model: Path, pairs: Sequence[tuple[str, str]], *, max_tokens: int) -> Any:
    """Returns the bare model's logits, float32 (n, 3) in the order entail, neutral, contradict, of (evidence, claim) pairs.

    The evidence is cut to fit `max_tokens`, never the claim (unless the claim alone is longer). Pairs run one by one, so
    a pair's logits never depend on the others.
    """
    import numpy as np

    from pytest_medfaith.models.onnx import load_session, run_rows, worker_count

    if not pairs:
        return np.zeros((0, 3), dtype=np.float32)
    session = load_session(model)
    rows = [pair_row(evidence, claim, max_tokens=max_tokens) for evidence, claim in pairs]
    longest_first = sorted(range(len(rows)), key=lambda i: -len(rows[i][0]))
    with ThreadPoolExecutor(worker_count()) as workers:
        outputs = list(workers.map(partial(run_rows, session), [rows[i] for i in longest_first]))
    logits = np.zeros((len(rows), 3), dtype=np.float32)
    logits[longest_first] = np.vstack(outputs)
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
