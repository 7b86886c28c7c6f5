"""How risky an answer is: its score, its flag, and what they come from."""

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

    The default thresholds were found by `medfaith calibrate corpus_samples --tune --checker fast --limit 25`.
    They are equal, because the planted errors there lie far from the right answers. So CAUTION is never
    given by default.

    Attributes:
        consistency: the weight of the part `consistency`, 0 or more; a single weight at least is above 0.
        retrieval: the weight of the part `retrieval`, 0 or more.
        critic: the weight of the part `critic`, 0 or more.
        caution: the risk from which on the flag is CAUTION, above 0.
        high: the risk from which on the flag is HIGH, from `caution` to 1.
    """

    consistency: float = 0.30
    retrieval: float = 0.35
    critic: float = 0.35
    caution: float = 0.30
    high: float = 0.30


def check_risk(settings: RiskSettings) -> None:
    """Refuses settings by which no risk can be told.

    Raises:
        ValueError: a weight below 0 or no weight at all, or thresholds that are not 0 < caution <= high <= 1.
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
    """The risk of an answer: that of its riskiest claim.

    Attributes:
        score: 0 to 1.
        flag: LOW, CAUTION or HIGH.
        claim: the id of the riskiest claim; empty where a risk was made of parts alone.
        parts: {part: its risk, 0 to 1}, of those that were measured.
        missing: parts that were not; the weights of the others were scaled up to a sum of 1.
        overrides: rules by whose findings the risk is 1 whatever the parts say.
    """

    score: float
    flag: Flag
    claim: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
