"""How risky an answer is: a score from 0 to 1, a flag, and the parts that they come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pytest_medfaith.conversion import Record

Flag = Literal["LOW", "CAUTION", "HIGH"]
FLAGS: tuple[Flag, ...] = ("LOW", "CAUTION", "HIGH")
PARTS = ("consistency", "retrieval", "critic")


@dataclass(frozen=True, kw_only=True)
class RiskSettings:
    """How the risk of an answer is computed, and from which risk on it is flagged.

    The risk is the weighted mean of its parts, 0 to 1. With `caution` 0.3 and `high` 0.6, a risk of 0.4 is
    flagged CAUTION.

    By default both thresholds are 0.3, so that CAUTION is never given. They were found by `medfaith calibrate
    corpus_samples --tune --checker fast --limit 25`, and are equal because the planted errors there lie far
    from the right answers.

    Attributes:
        consistency: weight of what further answers say, 0 or more; at least one weight is above 0.
        retrieval: weight of how well the contexts support the claims, 0 or more.
        critic: weight of what the checker says, 0 or more.
        caution: the risk from which on the flag is CAUTION, above 0.
        high: the risk from which on the flag is HIGH, from `caution` to 1.
    """

    consistency: float = 0.30
    retrieval: float = 0.35
    critic: float = 0.35
    caution: float = 0.30
    high: float = 0.30


def check_risk(settings: RiskSettings) -> None:
    """Raises ValueError where no risk can be computed with these settings.

    Raises:
        ValueError: a weight below 0, no weight above 0, or thresholds that are not 0 < caution <= high <= 1.
    """
    weights = {name: getattr(settings, name) for name in PARTS}
    if not all(0 <= weight < float("inf") for weight in weights.values()) or not sum(weights.values()):
        raise ValueError(
            f"the weights of risk are {weights}; expected numbers of 0 or more, at least a single one above 0"
        )
    if not 0 < settings.caution <= settings.high <= 1:
        raise ValueError(
            f"the thresholds of risk are caution {settings.caution} and high {settings.high}; expected "
            "0 < caution <= high <= 1"
        )


@dataclass(frozen=True, kw_only=True)
class AnswerRisk(Record):
    """The risk of an answer, which is that of its riskiest claim.

    Attributes:
        score: 0 to 1.
        flag: LOW, CAUTION or HIGH.
        claim: the id of the riskiest claim; "" where the risk was made of parts alone.
        parts: {part: its risk, 0 to 1}, of the parts that were measured.
        missing: parts that were not measured; the weights of the others were scaled up to a sum of 1.
        overrides: rules that fired, by which the risk is 1 whatever the parts say.
    """

    score: float
    flag: Flag
    claim: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
