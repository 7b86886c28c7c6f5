"""The words for errors, citations and outcomes: each type lists the values that a field may have."""

from __future__ import annotations

from typing import Literal

Risk = Literal["none", "low", "moderate", "high"]
RISKS: tuple[Risk, ...] = ("none", "low", "moderate", "high")
MAJOR: tuple[Risk, ...] = ("moderate", "high")
Category = Literal[
    "fabricated", "wrong detail", "wrong recommendation", "missing context", "overstated", "understated"
]
CATEGORIES: tuple[Category, ...] = (
    "fabricated", "wrong detail", "wrong recommendation", "missing context", "overstated", "understated",
)  # fmt: skip
OTHERWISE = "otherwise"  # no rule knew the claim
REVIEWERS = "reviewers"  # graded by people's labels, in the place of a rule
CitationStatus = Literal[
    "contradicted", "nonexistent", "misattributed", "unsupported", "uncited", "supported"
]
FactSeverity = Literal["major", "minor"]  # of leaving a fact out
Expected = Literal["answer", "abstain", "escalate"]  # what a good answer to a case does
# What the contexts hold of the key facts of a case.
Answerable = Literal["all", "some", "none"]
Outcome = Literal[
    "answered",
    "abstained",
    "should_have_abstained",
    "should_have_answered",
    "escalated",
    "should_have_escalated",
]
