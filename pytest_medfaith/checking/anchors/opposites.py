"""Opposite instructions: "on an empty stomach" against "with food", "at once" against "gradually".

Each pair in `WAYS` has two ways to do a thing that exclude each other. A claim of one way is not supported if
its deciding sentence has the opposite way and no text of the evidence has the claim's way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, shared_with
from pytest_medfaith.checking.rules.denials import negations
from pytest_medfaith.english.conditions import read_conditions
from pytest_medfaith.english.words import read_tokens

SAME_STATEMENT = 0.25  # of the claim's words, without those for the way, that the sentence holds
_ENDING = r"(?:stop\w*|discontinu\w+|withdraw\w*|c[oa]me off|reduc\w+|wean\w*|lower\w*|taper\w*|quit\w*)"


@dataclass(frozen=True)
class Ways:
    """Two ways to do a thing that exclude each other: "with food", "on an empty stomach".

    Attributes:
        one: the pattern of the first way.
        other: the pattern of the second way.
        negated: True where negations are part of the ways: "not enough". Else texts that deny are left alone.
    """

    one: re.Pattern[str]
    other: re.Pattern[str]
    negated: bool = False


def _ways(one: str, other: str, *, negated: bool = False) -> Ways:
    """Returns the pair of ways with these patterns, at word boundaries and in either case."""
    return Ways(
        re.compile(rf"\b(?:{one})\b", re.IGNORECASE), re.compile(rf"\b(?:{other})\b", re.IGNORECASE), negated
    )


WAYS = (
    _ways(
        r"(?:on|with) an empty stomach|fasting|fasted|without food|(?:before|ahead of|away from|between) "
        r"(?:food|(?:\w+ )?meals?|eating|breakfast)|before (?:or|and) (?:\w+ ){0,3}after",
        r"(?:before|ahead of) [^.;]*\bor\b[^.;]*\bafter|"
        r"with (?:or (?:just |straight )?after )?(?:food|(?:a |your |the |each |every )?(?:\w+ )?meals?|"
        r"breakfast|something to eat|a snack)|after (?:food|meals?|eating|breakfast)|at (?:mealtimes?|meals)|"
        r"on a full stomach",
    ),
    _ways(
        r"(?:bolt )?upright|s[ia]t(?:ting)?(?: \w+){0,3} up|standing(?: up)?",
        r"supine|l(?:ie|ies|ay|ying) (?:\w+ ){0,2}(?:flat|down|back)|flat on (?:\w+ )?back|lying|"
        r"on (?:his|her|their|the|your) back|face up",
    ),
    _ways(
        r"in the mornings?|(?:each|every) morning|on waking",
        r"in the evenings?|at (?:night|bedtime)|(?:each|every) (?:evening|night)|nightly|before bed",
    ),
    _ways(
        rf"{_ENDING}\b[^.;]*\b(?:at once|abruptly|suddenly|straight ?away|overnight|immediately|in one go|"
        rf"right away)|(?:abrupt|sudden|immediate)(?:ly)? (?:stop\w*|withdraw\w*|discontinu\w*)",
        rf"{_ENDING}\b[^.;]*\b(?:gradual(?:ly)?|slow(?:ly)?|"
        rf"over (?:several|at least|\d+|two|three|four|some|a "
        rf"few|weeks|months)|step ?wise|in steps|step by step)|taper\w*|(?:gradual|slow)(?:ly)? "
        rf"(?:stop\w*|reduc\w+|withdraw\w*|lower\w*|discontinu\w*)",
    ),
    _ways(
        r"no (?:hurry|rush)|not urgent|(?:can|may|should) wait|at leisure|delay\w* until|"
        r"hold (?:\w+ ){0,4}until|"
        r"wait (?:for|until|till) (?:the )?(?:results?|tests?)",
        r"(?:do not|don't|never) (?:wait|delay)|without (?:waiting|delay)|"
        r"(?:start|begin|give|treat)\w* early|"
        r"at once|immediately|straight ?away|as soon as possible|(?:should|must) not be delayed",
        negated=True,
    ),
    _ways(
        r"enough (?:on (?:its|their) own|by (?:itself|themselves)|alone)|"
        r"(?:alone|on (?:its|their) own|by (?:itself|themselves))\b[^.;]{0,30}\b(?:enough|suffic\w+|can rule|"
        r"rules? (?:it )?out|confirms?|proves?|will do)|suffices?|(?:is|are) (?:enough|sufficient)",
        r"(?:not|never) (?:be )?(?:enough|sufficient)|insufficient|not (?:a |the )?sole|"
        r"not be (?:used|relied on|given)[^.;]{0,20}alone|"
        r"(?:alone|on (?:its|their) own|by (?:itself|themselves)) "
        r"(?:is|are|do(?:es)?|can) ?not|not (?:\w+ ){0,3}alone|not on (?:its|their) own|"
        r"(?:is|are) an addition|"
        r"not by (?:itself|themselves)",
        negated=True,
    ),
)


def missing_ways(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "way" for each way of `claim` whose opposite the deciding sentence has.

    Example: "on an empty stomach" where `evidence.nearest` says "with food". Nothing is yielded if a text of
    the evidence has the claim's way too, or if claim or sentence denies.
    """
    for ways in WAYS:
        for mine, theirs in ((ways.one, ways.other), (ways.other, ways.one)):
            found, known = mine.search(claim), theirs.search(evidence.nearest)
            if (
                not found
                or not known
                or theirs.search(claim)
                or _is_conceded(evidence.nearest, known.start())
            ):
                continue
            if any(mine.search(text) for text in evidence.in_order):
                continue
            if _denies(claim, ways, found) or (not ways.negated and _negates(evidence.nearest)):
                continue
            if shared_with(claim, *found.span(), evidence.nearest) >= SAME_STATEMENT:
                note = f"claim says {found[0]}, evidence says {known[0]}"
                yield Missing("way", *found.span(), note=note)


def _is_conceded(sentence: str, place: int) -> bool:
    """Returns whether the way at `place` is said together with its opposite: "with or without food"."""
    return any(
        one.both_ways and one.start <= place < one.end and place < one.end - len(one.words)
        for one in read_conditions(sentence)
    )


def _denies(claim: str, ways: Ways, found: re.Match[str]) -> bool:
    """Returns whether the claim denies the way that `found` matched: "does not wait for results"."""
    rest = claim[: found.start()] + claim[found.end() :] if ways.negated else claim
    return _negates(rest)


def _negates(text: str) -> bool:
    """Returns whether `text` denies something. "Keep" does not count: "keep lying" denies nothing."""
    tokens = read_tokens(text)
    return any(not tokens[index].lower.startswith("keep") for index in negations(tokens))
