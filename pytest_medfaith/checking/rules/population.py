"""Another population: a claim on children, men or mice, where the evidence is on adults or women only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_medfaith.checking.rules.frames import Frame, frames
from pytest_medfaith.entities.linker import Mention, link
from pytest_medfaith.records import Finding

if TYPE_CHECKING:
    from pytest_medfaith.checking.rules.substitution import Linker

# Fitted on the development part of the written pairs (bench/rules.py).
LEAST_COVERED = 0.33  # of the claim's content words apart from the population

# A sentence with one of these words says something of others too: "The effect was confined to women".
_EXCLUDING = frozenset("confined limited restricted only exclusively except excluding unlike".split())

# Populations of one family exclude each other, unless one is part of the other (an infant is a child).
_FAMILIES: Mapping[str, str] = MappingProxyType(
    {
        member: family
        for family, members in {
            "age": "newborn infant preterm_infant toddler child adolescent young_adult adult older_adult",
            "sex": "man woman",
            "young sex": "boy girl",
            "birth": "pregnant postpartum nonpregnant",
            "menopause": "premenopausal postmenopausal",
            "smoking": "smoker nonsmoker former_smoker",
            "species": "human animal mouse rat",
        }.items()
        for member in members.split()
    }
)


def population(claim: str, evidence: str, *, linker: Linker = link) -> list[Finding]:
    """Returns a finding (effect "weaken") where claim and sentence are on different, exclusive populations.

    Example: "X helps children" against "X helps adults". There is none if any part of the evidence names the
    claim's population. If the claim copies the sentence apart from the population, only sentences on the same
    matter count for this.

    Args:
        claim: the text of the claim.
        evidence: the sentences that speak of it.
        linker: finds the populations in a text.
    """
    stated = _populations(claim, linker)
    known = _named_in_full(_populations(evidence, linker)) if stated else []
    laid = frames(claim, evidence) if known else ()
    for frame in laid:
        if any(token.lower in _EXCLUDING for token in frame.sentence.tokens):
            continue
        for mention in stated:
            indices = frame.indices(mention.start, mention.end)
            if frame.coverage_without(indices) < LEAST_COVERED:
                continue
            named = known
            if frame.copies(indices):
                on_the_matter = [each for each in laid if each.coverage_without(indices) >= LEAST_COVERED]
                named = [other for each in on_the_matter for other in known if each.reaches(other.start)]
            other = None
            if not any(mention.is_related(each) for each in named):
                other = _excluding(mention, _named_in_full(stated), known, frame)
            if other:
                mine, theirs = (mention.start, mention.end), (other.start, other.end)
                message = (
                    f"claim is about {claim[slice(*mine)]}, evidence is about {evidence[slice(*theirs)]}"
                )
                return [
                    Finding(
                        rule="population",
                        message=message,
                        claim_span=mine,
                        evidence_span=theirs,
                        effect="weaken",
                    )
                ]
    return []


def _populations(text: str, linker: Linker) -> list[Mention]:
    """Returns the populations that `text` names."""
    return [mention for mention in linker(text) if mention.concept in _FAMILIES]


def _named_in_full(mentions: Sequence[Mention]) -> list[Mention]:
    """Returns `mentions` without those that are part of a longer name: "women" of "premenopausal women"."""
    return [
        mention
        for mention in mentions
        if not any(mention.concept in other.wider and mention.start == other.end + 1 for other in mentions)
    ]


def _excluding(
    mention: Mention, stated: Sequence[Mention], known: Sequence[Mention], frame: Frame
) -> Mention | None:
    """Returns a population of the sentence that excludes `mention` and that the claim does not name; or None.

    Args:
        mention: a population of the claim.
        stated: all populations of the claim.
        known: the populations of the evidence.
        frame: claim and sentence, aligned.
    """
    for other in known:
        same_family = _FAMILIES[other.concept] == _FAMILIES[mention.concept]
        if frame.reaches(other.start) and same_family and not any(other.is_related(each) for each in stated):
            return other
    return None
