"""How risky an answer is: whether it agrees with itself, what was found for it, how a checker judges it.

Example: a claim that no other answer says (1.0), whose words the contexts hold (0.2) and which the checker
supports at 0.9 (0.1) has the risk 0.30 * 1.0 + 0.35 * 0.2 + 0.35 * 0.1 = 0.405. `risk_of` is a pure function
of such parts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from pytest_medfaith.english.words import content_keys, share
from pytest_medfaith.entities.linker import link
from pytest_medfaith.metrics.base import claim_verdicts
from pytest_medfaith.metrics.safety import SAFETY_PREFIX
from pytest_medfaith.records.answer_risk import PARTS, AnswerRisk, Flag, RiskSettings, check_risk

if TYPE_CHECKING:
    from pytest_medfaith.records import Chunk, Report, Verdict

# Rules that no agreement outweighs: checking/overrides, and the safety rules.
OVERRIDING = ("future", "trial", "question")
UNSUPPORTED = 0.5  # the least risk that the critic sees in a claim that is not supported
_DECIMALS = 6


def risk_of(
    parts: Mapping[str, float | None],
    settings: RiskSettings,
    *,
    overrides: Collection[str] = (),
    claim: str = "",
) -> AnswerRisk:
    """Returns the risk that the parts make.

    A part of None, or one that is left out, was not measured: the weights of the others are scaled up, and
    the record names it. Without any part the risk is 1, since nothing says that it is less.

    Args:
        parts: the risk of consistency, retrieval and critic, each 0 to 1.
        settings: weights and thresholds.
        overrides: names of rules whose findings make the risk 1.
        claim: the id of the claim that the parts are of.

    Raises:
        ValueError: an unknown part, a part outside of 0 to 1, or settings that `check_risk` refuses.
    """
    check_risk(settings)
    for name, value in parts.items():
        if name not in PARTS or not (value is None or 0 <= value <= 1):
            raise ValueError(
                f"the part {name!r} is {value!r}; expected {', '.join(PARTS)}, each from 0 to 1 or None"
            )
    known = {name: value for name in PARTS if (value := parts.get(name)) is not None}
    weights = {name: getattr(settings, name) for name in known}
    total = sum(weights.values())
    score = sum(weights[name] * known[name] for name in known) / total if total else 1.0
    score = 1.0 if overrides else round(min(1.0, score), _DECIMALS)
    return AnswerRisk(
        score=score,
        flag="HIGH" if overrides else flag_of(score, settings),
        claim=claim,
        parts={name: round(value, _DECIMALS) for name, value in known.items()},
        missing=tuple(name for name in PARTS if name not in known),
        overrides=tuple(dict.fromkeys(overrides)),
    )


def flag_of(score: float, settings: RiskSettings) -> Flag:
    """Returns the flag of a score: HIGH from `high` on, CAUTION from `caution` on, else LOW."""
    return "HIGH" if score >= settings.high else "CAUTION" if score >= settings.caution else "LOW"


def report_risk(report: Report, settings: RiskSettings) -> AnswerRisk | None:
    """Returns the risk of a report's answer: the risk of its riskiest claim; None without claims."""
    risks = [_claim_risk(verdict, report, settings) for verdict in claim_verdicts(report)]
    return max(risks, key=lambda risk: risk.score, default=None)


def _claim_risk(verdict: Verdict, report: Report, settings: RiskSettings) -> AnswerRisk:
    parts = {
        "consistency": _inconsistency(verdict, report.consistency),
        "retrieval": uncovered(verdict.claim.in_context, report.response.contexts),
        "critic": disbelief(verdict),
    }
    return risk_of(parts, settings, overrides=overriding(verdict), claim=verdict.claim.id)


def overriding(verdict: Verdict) -> list[str]:
    """Returns the names of the rules that fired on a claim and make its risk 1, such as a safety rule."""
    rules = [finding.rule for finding in verdict.findings]
    return [rule for rule in rules if rule in OVERRIDING or rule.startswith(SAFETY_PREFIX)]


def disbelief(verdict: Verdict) -> float:
    """Returns how little the checker believes a claim, 0 to 1: the part "critic" of the risk.

    It is 1 for a claim that is refuted or unscored, else 1 - P(entail), and at least 0.5 where the claim is
    not supported, since a rule may have taken back what the model believed.
    """
    if verdict.label in ("refuted", "unscored"):
        return 1.0
    doubt = 1.0 - verdict.score
    return doubt if verdict.label == "supported" else max(UNSUPPORTED, doubt)


def uncovered(claim: str, contexts: Collection[Chunk]) -> float:
    """Returns which share of a claim the contexts leave open, 0 to 1: the part "retrieval" of the risk.

    It is the share of its words that are missing from the context with the most of them. Where the claim
    names drugs, diseases and the like, it is the mean of that share and the share of missing concepts;
    another name of a concept, its class or a member of it counts as found. Without contexts it is 1.
    """
    texts = [f"{chunk.title}\n{chunk.text}" for chunk in contexts]
    if not texts:
        return 1.0
    wanted = content_keys(claim)
    words = 1.0 - max(share(wanted, content_keys(text)) for text in texts) if wanted else 0.0
    named = link(claim)
    if not named:
        return words
    known = [mention for text in texts for mention in link(text)]
    lost = sum(not any(mention.is_related(other) for other in known) for mention in named)
    return (words + lost / len(named)) / 2


def _inconsistency(verdict: Verdict, consistency: Mapping[str, object]) -> float | None:
    samples, supported = consistency.get("samples"), consistency.get("supported", {})
    if not isinstance(samples, int) or not samples or not isinstance(supported, Mapping):
        return None
    return 1.0 - float(supported.get(verdict.claim.id, 0)) / samples
