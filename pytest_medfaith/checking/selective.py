"""Selective verdicts: a supported or refuted claim below a certified confidence becomes `uncertain`.

Example: with `supported` at 0.91, a claim that is supported at 0.84 becomes uncertain, leaning to supported.
The thresholds come from `medfaith calibrate --risk`.
"""

from __future__ import annotations

from dataclasses import dataclass

from pytest_medfaith.records import Verdict

# Reasons of verdicts by a rule or a quotation: the model's probability does not tell how sure they are.
_WITHOUT_DOUBT = ("decided by the rule", "quoted from the evidence")


@dataclass(frozen=True, kw_only=True)
class Selective:
    """From which confidence on a verdict counts as it is; below, it becomes uncertain.

    Attributes:
        supported: a supported verdict counts above this confidence, 0 to 1; None where all count, and nothing
            is promised of them.
        refuted: the same for refuted verdicts.
        risk: at most this share of the verdicts that count is wrong, for each label, ...
        confidence: ... with this probability over the labels of the calibration.
    """

    supported: float | None
    refuted: float | None
    risk: float
    confidence: float

    def applied(self, verdict: Verdict) -> Verdict:
        """Returns `verdict`, or an uncertain verdict that leans to its label and keeps its score.

        Verdicts with other labels come back unchanged.
        """
        least = {"supported": self.supported, "refuted": self.refuted}.get(verdict.label)
        if least is None or confidence_of(verdict) > least:
            return verdict
        reason = f"uncertain: {verdict.label} at {verdict.score:.2f}, a verdict stands above {least:.2f}"
        return verdict.with_(
            label="uncertain",
            leaning=verdict.label,
            threshold=least,
            reason="; ".join(filter(None, [reason, verdict.reason])),
        )


def confidence_of(verdict: Verdict) -> float:
    """Returns the score of a verdict, 0 to 1; 1 where a medical rule or a quotation decided."""
    return 1.0 if verdict.reason.startswith(_WITHOUT_DOUBT) else verdict.score


def as_leaning(verdict: Verdict) -> Verdict:
    """Returns an uncertain verdict with the label that it leans to, "unsupported" where it leans to none.

    Any other verdict comes back unchanged.
    """
    return verdict.with_(label=verdict.leaning or "unsupported") if verdict.label == "uncertain" else verdict
