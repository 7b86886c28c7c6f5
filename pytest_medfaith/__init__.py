"""Checks, claim by claim and offline, whether a medical RAG system says things that its evidence does not.

The public names below are imported when they are first used (PEP 562). So importing the package, which
pytest does in every run, costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_medfaith.asserts import (
        assert_abstains,
        assert_cited,
        assert_claim_recall,
        assert_context_precision,
        assert_context_utilization,
        assert_faithfulness,
        assert_no_hallucination,
        assert_no_major_omission,
        assert_no_safety_errors,
        check_answer,
    )
    from pytest_medfaith.checking.checker import Checker
    from pytest_medfaith.checking.loading import load_checker
    from pytest_medfaith.claims.split import extract_claims
    from pytest_medfaith.records import Case, Chunk, Claim, GoldClaim, Report, Response, SliceReport, Verdict
    from pytest_medfaith.retrieval.build import build_retriever

_HOMES = {
    "assert_abstains": "asserts",
    "assert_cited": "asserts",
    "assert_claim_recall": "asserts",
    "assert_context_precision": "asserts",
    "assert_context_utilization": "asserts",
    "assert_faithfulness": "asserts",
    "assert_no_hallucination": "asserts",
    "assert_no_major_omission": "asserts",
    "assert_no_safety_errors": "asserts",
    "check_answer": "asserts",
    "Checker": "checking.checker",
    "load_checker": "checking.loading",
    "extract_claims": "claims.split",
    "build_retriever": "retrieval.build",
    "Case": "records",
    "Chunk": "records",
    "Claim": "records",
    "GoldClaim": "records",
    "Report": "records",
    "Response": "records",
    "SliceReport": "records",
    "Verdict": "records",
}

__all__ = [
    "Case",
    "Checker",
    "Chunk",
    "Claim",
    "GoldClaim",
    "Report",
    "Response",
    "SliceReport",
    "Verdict",
    "assert_abstains",
    "assert_cited",
    "assert_claim_recall",
    "assert_context_precision",
    "assert_context_utilization",
    "assert_faithfulness",
    "assert_no_hallucination",
    "assert_no_major_omission",
    "assert_no_safety_errors",
    "build_retriever",
    "check_answer",
    "extract_claims",
    "load_checker",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'pytest_medfaith' has no attribute {name!r}")
    return getattr(importlib.import_module(f"pytest_medfaith.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
