"""The eleven RAGChecker metrics by their exact formulas for one query, values in [0, 1].

Source: Ru et al. 2024, arXiv:2408.08067.

* A_i: the reference answer entails response claim i
* B_j: the response entails gold claim j
* R_ik: chunk k entails response claim i, and F_i = any_k R_ik
* G_jk: chunk k entails gold claim j, C_j = any_k G_jk, and rel_k = any_j G_jk

What cannot be measured is None, never NaN and never 0 by default (the authors' code writes 0 there):

* no response claim (M = 0): precision, f1, both noise sensitivities, hallucination, self_knowledge,
  faithfulness
* no gold claim (N = 0): recall, f1, claim_recall, context_precision, context_utilization, both noise
  sensitivities
* no chunk (K = 0): context_precision
* no gold claim in any chunk: context_utilization

Without chunks no claim is faithful.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal

from pytest_medfaith.metrics.base import (
    RAGCHECKER,
    Fraction,
    Matrix,
    Metric,
    entailed_gold,
    entailing_chunks,
    misaligned,
    recalled_gold,
)
from pytest_medfaith.records.labels import OPEN

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from pytest_medfaith.records import Report

    Booleans = npt.NDArray[np.bool_]

PREFIX = "ragchecker."
_DEFINITIONS: dict[str, tuple[Literal["higher", "lower"], str]] = {
    "precision": ("higher", "mean A: response claims that the reference answer entails"),
    "recall": ("higher", "mean B: gold claims that the response entails"),
    "f1": ("higher", "harmonic mean of precision and recall"),
    "claim_recall": ("higher", "mean C: gold claims that a chunk entails"),
    "context_precision": ("higher", "mean rel: chunks that entail a gold claim"),
    "context_utilization": (
        "higher",
        "sum(C and B) / sum C: gold claims in the chunks that the response entails",
    ),
    "noise_sensitivity_in_relevant": (
        "lower",
        "mean(any_k(rel and R) and not A): wrong claims that come from relevant chunks",
    ),
    "noise_sensitivity_in_irrelevant": (
        "lower",
        (
            "mean(any_k(not rel and R) and not any_k(rel and R) and not A): wrong claims that come from "
            "irrelevant chunks alone"
        ),
    ),
    "hallucination": ("lower", "mean(not F and not A): wrong claims that no chunk entails"),
    "self_knowledge": ("lower", "mean(not F and A): right claims that no chunk entails"),
    "faithfulness": ("higher", "mean F: response claims that a chunk entails"),
}


def ragchecker_metrics(
    *,
    answer_entails_claims: Any,
    response_entails_gold: Any,
    chunks_entail_claims: Any,
    chunks_entail_gold: Any,
) -> dict[str, float | None]:
    """Returns the eleven metrics of one query by name; what cannot be measured is None.

    Args:
        answer_entails_claims: (M,) booleans, A; None where there is no reference answer, and then what needs
            A is None.
        response_entails_gold: (N,) booleans, B.
        chunks_entail_claims: (M, K) booleans, R; `[]` where M = 0.
        chunks_entail_gold: (N, K) booleans, G; `[]` where N = 0.

    Raises:
        ValueError: an array is not boolean (0 and 1 pass), or the shapes do not agree.
    """
    claims = _booleans(chunks_entail_claims, "chunks_entail_claims", ndim=2)
    gold = _booleans(chunks_entail_gold, "chunks_entail_gold", ndim=2)
    if claims.shape[1] != gold.shape[1] and (0, 0) not in (claims.shape, gold.shape):
        raise ValueError(
            f"chunks_entail_claims is {claims.shape} and chunks_entail_gold {gold.shape}, expected (M, K) "
            "and (N, K); give both the same K chunks"
        )
    recalled = _booleans(response_entails_gold, "response_entails_gold", ndim=1)
    _check_rows(recalled, "response_entails_gold", gold, "chunks_entail_gold", "(N,) and (N, K)")
    values = {
        "recall": _mean(recalled),
        "claim_recall": _mean(gold.any(axis=1)),
        "context_precision": _mean(gold.any(axis=0)) if len(gold) else None,
        "context_utilization": _mean(recalled[gold.any(axis=1)]),
        "faithfulness": _mean(claims.any(axis=1)),
    }
    if answer_entails_claims is not None:
        correct = _booleans(answer_entails_claims, "answer_entails_claims", ndim=1)
        _check_rows(correct, "answer_entails_claims", claims, "chunks_entail_claims", "(M,) and (M, K)")
        values |= _against_reference(correct, claims, gold)
        precision, recall = values["precision"], values["recall"]
        if precision is not None and recall is not None:
            both = precision + recall
            values["f1"] = 2 * precision * recall / both if both else 0.0
    return {name: values.get(name) for name in _DEFINITIONS}


def _against_reference(correct: Booleans, claims: Booleans, gold: Booleans) -> dict[str, float | None]:
    """Returns the metrics that need the reference answer, f1 aside."""
    faithful = claims.any(axis=1)
    values = {
        "precision": _mean(correct),
        "hallucination": _mean(~faithful & ~correct),
        "self_knowledge": _mean(~faithful & correct),
    }
    if len(gold) and len(claims):
        from_relevant = claims[:, gold.any(axis=0)].any(axis=1)
        values["noise_sensitivity_in_relevant"] = _mean(from_relevant & ~correct)
        values["noise_sensitivity_in_irrelevant"] = _mean(faithful & ~from_relevant & ~correct)
    return values


def _mean(flags: Booleans | np.bool_) -> float | None:
    return float(flags.mean()) if flags.size else None


def _booleans(values: Any, name: str, *, ndim: int) -> Booleans:
    """Returns `values` as a boolean array; any other values or dimensions are a ValueError about `name`."""
    import numpy as np

    expected = f"expected a boolean array of shape {'(rows, chunks)' if ndim > 1 else '(claims,)'}"
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(
            f"{name} has rows of different lengths, {expected}; give every row one value per chunk"
        ) from None
    if array.shape == (0,) and ndim > 1:
        array = array.reshape(0, 0)
    if array.ndim != ndim:
        raise ValueError(f"{name} has shape {array.shape}, {expected}; give one row per claim")
    if array.dtype != np.bool_ and not all(value in (0, 1) for value in array.flat):
        raise ValueError(
            f"{name} holds {array.ravel()[:3].tolist()}, {expected}; turn scores into booleans by a "
            "threshold first"
        )
    return array.astype(np.bool_)


def _check_rows(vector: Booleans, name: str, matrix: Booleans, matrix_name: str, expected: str) -> None:
    if len(vector) != len(matrix):
        raise ValueError(
            f"{name} is {vector.shape} and {matrix_name} {matrix.shape}, expected {expected}; give one row "
            "per claim"
        )


@lru_cache(maxsize=1)  # the eleven metrics of a case are measured one after the other
def _measured(
    correct: tuple[bool, ...] | None, recalled: tuple[bool, ...], claims: Matrix, gold: Matrix
) -> dict[str, float | None]:
    """Returns the eleven metrics of tuples of booleans: A, B, R and G of the module's docstring."""
    return ragchecker_metrics(
        answer_entails_claims=correct,
        response_entails_gold=recalled,
        chunks_entail_claims=claims,
        chunks_entail_gold=gold,
    )


def _of_report(report: Report) -> dict[str, float | None]:
    """Returns the eleven metrics of `report` over its scored claims; what nobody measured is None."""
    rows = () if report.abstained else entailing_chunks(report)
    correct = report.entailments.reference_claims if rows else ()
    recalled, gold = recalled_gold(report), entailed_gold(report)
    if rows is None:
        rows = ()
    if recalled is None or gold is None:
        recalled, gold = (), ()
    if correct is not None and len(correct) != len(rows):
        raise misaligned(report, "reference_claims", f"{len(correct)} long", f"{len(rows)} response claims")
    scored = [i for i in range(len(rows)) if report.verdicts[i].label not in OPEN]
    return _measured(
        None if correct is None else tuple(correct[i] for i in scored),
        tuple(recalled),
        tuple(tuple(rows[i]) for i in scored),
        tuple(map(tuple, gold)),
    )


def _measured_as(name: str, report: Report) -> Fraction | None:
    value = _of_report(report)[name]
    return None if value is None else (value, 1.0)


METRICS = tuple(
    Metric(
        name=f"{PREFIX}{name}",
        family="ragchecker",
        direction=direction,
        definition=f"{definition}; mean over cases, micro and macro alike",
        source=RAGCHECKER,
        per_case=partial(_measured_as, name),
        either_way=name == "self_knowledge",
    )
    for name, (direction, definition) in _DEFINITIONS.items()
)
