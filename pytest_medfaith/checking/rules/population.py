"""Another population: a claim about children, men or mice where the evidence speaks of adults, women or people only."""

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
LEAST_COVERED = 0.33  # of the claim's other content words

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
    """Returns a finding where the claim is about one population and the sentence about another that excludes it.

    A population that any part of the evidence names is no clash, nor is a claim that names none. Of a claim that copies the sentence but for
    the population, only the sentences that speak of the same matter count as such a part.
    """
    stated = _populations(claim, linker)
    known = _in_full(_populations(evidence, linker)) if stated else []
    laid = frames(claim, evidence) if known else ()
    for frame in laid:
        if any(token.lower in _EXCLUDING for token in frame.sentence.tokens):
            continue
        for mention in stated:
            own = [
                index for index, token in enumerate(frame.claim) if mention.start <= token.start < mention.end
            ]
            if frame.coverage_without(own) < LEAST_COVERED:
                continue
            spoken_of = (
                [one for one in laid if one.coverage_without(own) >= LEAST_COVERED]
                if frame.copies(own)
                else None
            )
            elsewhere = (
                known if spoken_of is None else [other for one in spoken_of for other in _inside(one, known)]
            )
            other = _excluded(mention, _in_full(stated), _inside(frame, known), elsewhere)
            if other:
                return [_finding(mention, other, claim, evidence)]
    return []


def _inside(frame: Frame, mentions: Sequence[Mention]) -> list[Mention]:
    return [mention for mention in mentions if frame.sentence.start <= mention.start < frame.sentence.end]


def _populations(text: str, linker: Linker) -> list[Mention]:
    return [mention for mention in linker(text) if mention.concept in _FAMILIES]


def _in_full(mentions: Sequence[Mention]) -> list[Mention]:
    """Returns `mentions` without the nouns of others: "premenopausal women" speaks of no women at large."""
    return [
        one
        for one in mentions
        if not any(one.concept in other.wider and one.start == other.end + 1 for other in mentions)
    ]


def _excluded(
    mention: Mention, stated: Sequence[Mention], inside: Sequence[Mention], known: Sequence[Mention]
) -> Mention | None:
    if any(mention.is_related(other) for other in known):
        return None
    return next(
        (
            other
            for other in inside
            if _FAMILIES[other.concept] == _FAMILIES[mention.concept]
            and not any(other.is_related(each) for each in stated)
        ),
        None,
    )


def _finding(mention: Mention, other: Mention, claim: str, evidence: str) -> Finding:
    return Finding(
        rule="population",
        message=f"claim is about {claim[mention.start : mention.end]}, evidence is about {evidence[other.start : other.end]}",
        claim_span=(mention.start, mention.end),
        evidence_span=(other.start, other.end),
        effect="weaken",
    )
