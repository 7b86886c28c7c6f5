"""Numbers that name ("stage IV", "type 1", "the 12th week") or that say how many of a list are needed.

"Type II shows low levels" is not supported by evidence that says so of type I, nor "any one of" by evidence
that says "at least two of".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from pytest_medfaith import defaults
from pytest_medfaith.checking.anchors.evidence import (
    Evidence,
    Missing,
    mentions_at,
    only_of,
    renumbered,
    shared_with,
)
from pytest_medfaith.english.stems import word_key
from pytest_medfaith.english.words import content_keys, weight
from pytest_medfaith.quantities.roman import NAMED_ROMAN, read_roman, roman_value
from pytest_medfaith.quantities.times import read_labelled_times
from pytest_medfaith.quantities.units import unit_of

# Share of the claim's words, apart from the label, that a sentence must hold. Then both are on the same
# matter, and the label of the sentence is compared with that of the claim.
SAME_STATEMENT = 0.5

_ORDINALS = {
    word: number
    for number, word in enumerate(
        """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
        fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth""".split(),
        start=1,
    )
} | {"thirtieth": 30, "fortieth": 40, "last": -1, "final": -1}
_NAMED = (
    r"stages?|grades?|types?|class(?:es)?|phases?|categor(?:y|ies)|factors?|schedules?|tiers?|steps?|"
    r"groups?|levels?|NYHA|Child[-–\s]Pugh|Mobitz|(?:cranial )?nerves?|CN|Gleason|ASA|CEAP|Fontaine|Killip|"
    r"Tanner|degree|generation|isoforms?|subtypes?|serotypes?|genotypes?|serogroups?|trimesters?|cycles?"
)
_VALUE = (
    r"(?:(?P<{0}r>(?=[XVI])(?:X{{0,2}}(?:IX|IV|V?I{{0,3}})))(?P<{0}ra>[a-cA-C])?|"
    r"(?P<{0}n>\d{{1,2}})(?P<{0}na>[a-eA-E])?|(?P<{0}l>[A-E]))(?![\w%]|[.,]\d|[-–][A-HJ-UWYZ])"
)
_LABEL = re.compile(
    rf"(?<![\w-])(?i:(?P<noun>{_NAMED}))[\s-]+(?:(?i:class|stage|grade|group|type|score|numbers?|"
    rf"no\.)\s+)?{_VALUE.format('a')}"
    rf"(?:\s*(?P<joint>[-–/]|to|and|or|,)\s*{_VALUE.format('b')})?"
)
_LABEL_NOUN = re.compile(rf"(?:{_NAMED})", re.IGNORECASE)
# Labels with these nouns need evidence even where no text has a label with this noun. "A third dose" and
# "the fifth week" do not need it: a reader may count them.
_TELLING = frozenset(
    map(word_key, "stage grade type class phase category nyha child-pugh mobitz schedule".split())
)
_TIME_NOUNS = frozenset("week day month year hour trimester".split())
_ORDINAL = re.compile(
    rf"(?<![\w-])(?:(?P<word>(?:twenty|thirty)-)?(?P<ordinal>{'|'.join(_ORDINALS)})|"
    rf"(?P<number>\d{{1,3}})(?:st|nd|rd|th))[\s-]+"
    r"(?P<noun>weeks?|days?|months?|years?|hours?|trimesters?|degree|generation|cycles?|doses?|stages?|"
    r"phases?|grades?|class(?:es)?|cranial nerve|nerve|drug|agent|option|visit)\b",
    re.IGNORECASE,
)
_EVERY = re.compile(r"\b(?:every|each)\s+$", re.IGNORECASE)
_LISTED = re.compile(rf"\b(?P<ordinal>{'|'.join(_ORDINALS)})\s*(?:,|and|or|to)\s*$", re.IGNORECASE)
_COUNTS = {
    word: count
    for words in ("one two three four five six", "1 2 3 4 5 6")
    for count, word in enumerate(words.split(), start=1)
}
_ALL = 99
_COUNT = "|".join(_COUNTS)
_SCOPE = re.compile(
    rf"\b(?:any|at least|either) (?P<any>{_COUNT})(?: or more)? of\b|"
    rf"\b(?P<more>{_COUNT}) or (?:more|all(?: (?:{_COUNT}))?) of\b|"
    rf"\b(?P<all>all(?: (?:{_COUNT}))?|both|each) of (?:the following|these|them|the (?:{_COUNT}))\b"
    rf"|\b(?:any|either) of (?:the following|these|them)\b(?!\s+(?!applies\b|is\b|has\b|means\b|does\b|"
    rf"counts\b|suffices\b)\w+s\b)|\bat least (?P<least>{_COUNT}) (?:of )?(?:the following|these)\b|"
    rf"\b(?P<plain>{_COUNT}) of the following\b|\b(?:must|should|need to) (?:meet|have|"
    rf"fulfil) (?P<every>all)\b",
    re.IGNORECASE,
)


# By so much must the claim's words in clauses on other labels outweigh its words in clauses on its label.
_AHEAD = 2.0
_SAID_BEHIND = 2  # so many words behind a label say something of it
_JOINT = re.compile(r"[;,:\n|]|\b(?:and|but|while|whereas)\b", re.IGNORECASE)
_TOGETHER = re.compile(r"\b(?:respectively|both|each|either|than|versus|vs)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Label:
    """A noun with a number or letter that names a kind: "stage IIIA", "type 1", "the 12th week".

    Attributes:
        noun: the key (stem) of the noun.
        number: the number; 0 for a letter alone, -1 for "last".
        letter: "a" in "stage IIIA"; "" without a letter.
        start: the first character of the label's words.
        end: the character after them.
    """

    noun: str
    number: int
    letter: str
    start: int
    end: int

    def fits(self, other: Label) -> bool:
        """Returns whether both labels name the same kind, or one a part of the other: "stage III", "IIIA"."""
        is_part = self.number > 0 and not (self.letter and other.letter)
        same = self.noun == other.noun and self.number == other.number
        return same and (self.letter == other.letter or is_part)


def missing_labels(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "label" for each label of `claim` that the evidence does not have.

    Example: "stage IV" where the evidence says "stage II". A label may be said in other words ("12 weeks" for
    "the twelfth week"). Most nouns need evidence only where it has a label with the same noun.

    `instead` holds the label of the deciding sentence, if it has a single one with the noun and says else the
    same.
    """
    stated = read_labels(claim)
    known = [label for text in evidence.in_order for label in read_labels(text)] if stated else []
    for label in stated:
        if any(label.fits(other) for other in known) or _is_said_otherwise(label, claim, evidence):
            continue
        nearest = evidence.nearest
        near = {nearest[o.start : o.end] for o in read_labels(nearest) if o.noun == label.noun}
        if near or any(other.noun == label.noun for other in known) or label.noun in _TELLING:
            same = shared_with(claim, label.start, label.end, nearest) >= SAME_STATEMENT
            yield Missing("label", label.start, label.end, instead=only_of(near) if same else "")


def missing_roman(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` for the numeral of "angiotensin I" where the evidence has "angiotensin II" only.

    The kind is "label". A word that the evidence has without a numeral, or not at all, yields nothing.
    """
    yield from renumbered("label", read_named_roman(claim), read_named_roman(evidence.whole), evidence.whole)


def missing_scopes(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "scope" for "any one of" where the evidence wants two, or all."""
    stated = read_scopes(claim)
    known = {number for text in evidence.in_order for number, *_ in read_scopes(text)} if stated else set()
    for number, start, end in stated:
        if known and number not in known:
            near = [evidence.nearest[s:e] for _, s, e in read_scopes(evidence.nearest)]
            yield Missing("scope", start, end, instead=only_of(near))


@lru_cache(maxsize=defaults.TEXTS_KEPT)
def read_labels(text: str) -> tuple[Label, ...]:
    """Returns the labels of `text`: those with a noun first ("stage II"), then ordinals ("second stage").

    "Stages I to III" gives three labels with the same span. "Every second week" gives none.
    """
    found = []
    for match in _LABEL.finditer(text):
        first, second = _value(match, "a"), _value(match, "b")
        if first is None:
            continue
        noun = _noun(match["noun"])
        found.append(Label(noun, *first, *match.span()))
        if second is not None:
            is_range = match["joint"] not in ("and", "or", ",", "/") and first[0] < second[0]
            numbers = range(first[0] + 1, second[0] + 1) if is_range else (second[0],)
            found += [Label(noun, number, second[1], *match.span()) for number in numbers]
    for match in _ORDINAL.finditer(text):
        if _EVERY.search(text[max(0, match.start() - 8) : match.start()]):
            continue
        noun = _noun(match["noun"])
        if earlier := _LISTED.search(text[max(0, match.start() - 24) : match.start()]):
            found.append(Label(noun, _ORDINALS[earlier["ordinal"].lower()], "", *match.span()))
        tens = {"twenty-": 20, "thirty-": 30}.get((match["word"] or "").lower(), 0)
        number = int(match["number"]) if match["number"] else tens + _ORDINALS[match["ordinal"].lower()]
        found.append(Label(noun, number, "", *match.span()))
    return tuple(found)


@lru_cache(maxsize=defaults.TEXTS_KEPT)
def read_named_roman(text: str) -> tuple[tuple[str, int, int, int], ...]:
    """Returns (word, number, start, end) of each Roman numeral that names: "angiotensin II", "Le Fort I".

    The word is its key (stem), and the span is that of the numeral. Labels such as "stage II" are left out.
    """
    return tuple(
        (word_key(found["noun"].lower()), roman_value(found["roman"].lower()), *found.span("roman"))
        for found in NAMED_ROMAN.finditer(text)
        if not _LABEL_NOUN.fullmatch(found["noun"])
    )


@lru_cache(maxsize=defaults.TEXTS_KEPT)
def read_scopes(text: str) -> tuple[tuple[int, int, int], ...]:
    """Returns (count, start, end) of each phrase that says how many things of a list are needed.

    The count is 2 for "at least two of the following", 1 for "any of these" and 99 for "all of the
    following".
    """
    found = []
    for match in _SCOPE.finditer(text):
        count = match["any"] or match["more"] or match["least"] or match["plain"]
        wanted = _ALL if match["all"] or match["every"] else _COUNTS[count.lower()] if count else 1
        found.append((wanted, *match.span()))
    return tuple(found)


def _noun(noun: str) -> str:
    """Returns the key (stem) of a label's noun; "NYHA" counts as "class", "cranial nerve" as "nerve"."""
    lower = noun.lower()
    if lower == "nyha":
        return word_key("class")
    return word_key(lower.replace("–", "-").split()[-1] if " nerve" in lower else lower)


def _value(match: re.Match[str], which: str) -> tuple[int, str] | None:
    """Returns (number, letter) of the first ("a") or second ("b") label of a match; None without it.

    (3, "a") for "stage IIIA", (0, "b") for "class B".
    """
    if match[f"{which}r"]:
        return roman_value(match[f"{which}r"].lower()), (match[f"{which}ra"] or "").lower()
    if match[f"{which}n"]:
        return int(match[f"{which}n"]), (match[f"{which}na"] or "").lower()
    return (0, match[f"{which}l"].lower()) if match[f"{which}l"] else None


def _is_said_otherwise(label: Label, claim: str, evidence: Evidence) -> bool:
    """Returns whether the evidence says the label in other words: "12 weeks" for "the twelfth week"."""
    words = claim[label.start : label.end].lower()
    if label.number == -1 or re.search(rf"(?<!\w){re.escape(words)}(?!\w)", evidence.whole, re.IGNORECASE):
        return True
    # "The first dose at 8 weeks and the second at 12" has a second dose.
    ordinal, has_noun = words.split()[0], any(o.noun == label.noun for o in read_labels(evidence.nearest))
    if (
        ordinal in _ORDINALS
        and has_noun
        and re.search(rf"\bthe {ordinal}\b", evidence.nearest, re.IGNORECASE)
    ):
        return True
    if label.noun in _TIME_NOUNS - {"trimester"} and (label.number == 1 or _is_a_time_of(evidence, label)):
        return True
    # "Type 2" may be the II of "bipolar II".
    has_labels = any(other.noun == label.noun for text in evidence.texts for other in read_labels(text))
    if label.number > 0 and not has_labels and float(label.number) in read_roman(evidence.nearest):
        return True
    named = (each for each in mentions_at(claim, label.start) if label.end <= each.end)
    return any(map(evidence.names, named))


def _is_a_time_of(evidence: Evidence, label: Label) -> bool:
    """Returns whether the evidence states a time of that many units: 12 weeks for "the 12th week"."""
    factor = unit_of(label.noun)[0]
    labelled = (time for text in evidence.texts for time in read_labelled_times(text))
    return any(
        other.dimension == "time"
        and min(abs(other.low / factor - label.number), abs(other.high / factor - label.number)) < 0.1
        for other in (*labelled, *evidence.quantities)
    )


@dataclass(frozen=True)
class _Part:
    """A label, and the keys (stems) of the content words that a text says of it."""

    label: Label
    keys: frozenset[str]


def missing_labelled(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "label" for a label where the evidence says the claim of another label.

    Example: the claim is "Type II shows low levels", and the deciding sentence (`evidence.nearest`) says
    "Type I shows low levels, type II is normal". At most one is yielded.
    """
    sentence = evidence.nearest
    if _TOGETHER.search(claim) or _TOGETHER.search(sentence):
        return
    known = list(read_parts(sentence))
    if len({(part.label.number, part.label.letter) for part in known}) < 2:
        return
    for mine in read_parts(claim):
        own = [part for part in known if mine.label.fits(part.label)]
        others = [part for part in known if part not in own and part.label.noun == mine.label.noun]
        if not own or not others:
            continue
        said = frozenset[str]().union(*(part.keys for part in own))
        said_of_others = frozenset[str]().union(*(part.keys for part in others))
        here = sum(map(weight, mine.keys & said - said_of_others))
        there = sum(map(weight, mine.keys & said_of_others - said))
        if there >= here + _AHEAD or (not here and there >= 1):
            note = f"the evidence says this of another {mine.label.noun}"
            yield Missing("label", mine.label.start, mine.label.end, note=note)
            return


def read_parts(text: str) -> Iterator[_Part]:
    """Yields each label of `text` with the words of its clause and of later clauses without a label.

    "Type 1 lacks insulin, type 2 resists it" gives type 1 with "lacks insulin", and type 2 with "resists".
    Reading stops at a clause with two labels, since nothing tells which of them its words are about.
    """
    labels = [label for label in read_labels(text) if label.number > 0]
    ends = [0, *(joint.end() for joint in _JOINT.finditer(text)), len(text)]
    label, keys = None, frozenset[str]()
    for start, end in pairwise(ends):
        inside = [each for each in labels if start <= each.start < end]
        words = content_keys(text[start:end])
        if len(inside) > 1:
            return
        if inside:
            if label is not None:
                yield _Part(label, keys)
            # In "disease type I is mild" the words before the first label name the matter.
            behind = content_keys(text[inside[0].end : end])
            keys = behind if label is None and len(behind) >= _SAID_BEHIND else words
            label = inside[0]
        elif label is not None:
            keys |= words
    if label is not None:
        yield _Part(label, keys)
