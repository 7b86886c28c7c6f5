"""The eleven RAGChecker metrics by their exact per-query formulas (Ru et al. 2024, arXiv:2408.08067), values in [0, 1].

A_i = reference answer entails response claim i, B_j = response entails gold claim j, R_ik = chunk k entails response claim i,
G_jk = chunk k entails gold claim j; F_i = any_k R_ik, C_j = any_k G_jk, rel_k = any_j G_jk.

What cannot be measured is None, never NaN and never 0 by default (the authors' own code writes 0 there):
no response claim (M = 0): precision, f1, both noise sensitivities, hallucination, self_knowledge, faithfulness;
no gold claim (N = 0): recall, f1, claim_recall, context_precision, context_utilization, both noise sensitivities;
no chunk (K = 0): context_precision, and context_utilization since no gold claim is retrieved; every claim is then unfaithful.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pytest_medfaith.metrics.base import Fraction, Metric, entailed_gold, entailing_chunks, recalled_gold
from pytest_medfaith.metrics.claims import RAGCHECKER
from pytest_medfaith.records import Report

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Booleans = npt.NDArray[np.bool_]

PREFIX = "ragchecker."


def ragchecker_metrics(
    *, answer_entails_claims: Any, response_entails_gold: Any, chunks_entail_claims: Any, chunks_entail_gold: Any
) -> dict[str, float | None]:
    """Returns the eleven metrics of one query by name, None where one cannot be measured.

    Args:
        answer_entails_claims: (M,) booleans, A; None where there is no reference answer, which leaves what needs A unmeasured.
        response_entails_gold: (N,) booleans, B.
        chunks_entail_claims: (M, K) booleans, R.
        chunks_entail_gold: (N, K) booleans, G.

    Raises:
        ValueError: an array is not boolean (0 and 1 pass), or the shapes do not agree.
    """
    claims = _booleans(chunks_entail_claims, "chunks_entail_claims", ndim=2)
    gold = _booleans(chunks_entail_gold, "chunks_entail_gold", ndim=2)
    claims, gold = _same_width(claims, gold)
    recalled = _booleans(response_entails_gold, "response_entails_gold", ndim=1)
    _check_rows(recalled, gold, "response_entails_gold", "chunks_entail_gold", "N gold claims")
    values = {
        "recall": _mean(recalled),
        "claim_recall": _mean(gold.any(axis=1)),
        "context_precision": _mean(gold.any(axis=0)) if len(gold) else None,
        "context_utilization": _mean(recalled[gold.any(axis=1)]),
        "faithfulness": _mean(claims.any(axis=1)),
    }
    if answer_entails_claims is not None:
        correct = _booleans(answer_entails_claims, "answer_entails_claims", ndim=1)
        _check_rows(correct, claims, "answer_entails_claims", "chunks_entail_claims", "M response claims")
        values |= _against_reference(correct, claims, gold)
        values["f1"] = _f1(values["precision"], values["recall"])
    return {name: values.get(name) for name in DEFINITIONS}


def _against_reference(correct: Booleans, claims: Booleans, gold: Booleans) -> dict[str, float | None]:
    """Returns the metrics that need A: `correct` (M,), with `claims` (M, K) and `gold` (N, K)."""
    relevant = gold.any(axis=0)
    from_relevant = (claims & relevant).any(axis=1)
    from_irrelevant = (claims & ~relevant).any(axis=1) & ~from_relevant
    faithful = claims.any(axis=1)
    return {
        "precision": _mean(correct),
        "noise_sensitivity_in_relevant": _mean(from_relevant & ~correct) if len(gold) else None,
        "noise_sensitivity_in_irrelevant": _mean(from_irrelevant & ~correct) if len(gold) else None,
        "hallucination": _mean(~faithful & ~correct),
        "self_knowledge": _mean(~faithful & correct),
    }


def _mean(flags: Booleans) -> float | None:
    return float(flags.mean()) if flags.size else None


def _f1(precision: float | None, recall: float | None) -> float | None:
    if precision is None or recall is None:
        return None
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _booleans(values: Any, name: str, *, ndim: int) -> Booleans:
    import numpy as np

    expected = f"expected a boolean array of {ndim} dimension{'s' if ndim > 1 else ''}"
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} has rows of different lengths, {expected}; give every row one value per chunk") from None
    if array.size == 0 and array.ndim == 1 and ndim == 2:  # noqa: PLR2004 - [] stands for no rows
        array = array.reshape(0, 0)
    if array.ndim != ndim:
        raise ValueError(f"{name} has shape {array.shape}, {expected}; give one row per claim")
    if array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
        raise ValueError(f"{name} holds {array.ravel()[:3].tolist()}, {expected}; apply a threshold to scores first")
    return array.astype(np.bool_)


def _same_width(claims: Booleans, gold: Booleans) -> tuple[Booleans, Booleans]:
    """Returns both (rows, K), where an array without rows takes the other's K."""
    if claims.shape[1] == gold.shape[1]:
        return claims, gold
    if not claims.size and not len(claims):
        return claims.reshape(0, 0).repeat(1, axis=0), gold
    return claims, gold
