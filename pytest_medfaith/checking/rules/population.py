"""Another population: a claim about children, men or mice, evidence about adults, women or people only."""

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

# "The effect was confined to women" says something of men too.
_EXCLUDING = frozenset("confined limited restricted only exclusively except excluding unlike".split())

# Populations of one family exclude each other, unless one holds the other (an infant is a child).
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
    """Returns a finding where claim and sentence are about populations that exclude each other.

    A population that any part of the evidence names is no clash. If the claim is a copy of the sentence apart
    from the population, only the sentences on the same matter are such a part.
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
    return [mention for mention in linker(text) if mention.concept in _FAMILIES]


def _named_in_full(mentions: Sequence[Mention]) -> list[Mention]:
    """Returns `mentions` without nouns of longer names: "premenopausal women" names no women at large."""
    return [
        mention
        for mention in mentions
        if not any(mention.concept in other.wider and mention.start == other.end + 1 for other in mentions)
    ]


def _excluding(
    mention: Mention, stated: Sequence[Mention], known: Sequence[Mention], frame: Frame
) -> Mention | None:
    """Returns a population of the sentence that excludes `mention` and that the claim does not name too."""
    for other in known:
        same_family = _FAMILIES[other.concept] == _FAMILIES[mention.concept]
        if frame.reaches(other.start) and same_family and not any(other.is_related(each) for each in stated):
            return other
    return None
