"""Numbers that name: stage IV, grade 2, type 1, class III, the 12th week, factor VIII; Greek letters; "any one of" against "at least two of"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, linked, shared_with
from pytest_medfaith.english.stems import word_key
from pytest_medfaith.quantities.roman import NAMED_ROMAN, read_roman, roman_value
from pytest_medfaith.quantities.times import read_labelled_times
from pytest_medfaith.quantities.units import unit_of

SAME_STATEMENT = 0.5  # of the claim's other words that a sentence holds whose label of the same kind takes the place of the claim's

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
# Where the evidence labels nothing of the kind, these are said without a source; "a third dose" and "the fifth week" may be counted.
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
_GREEK = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau
    upsilon phi chi psi omega""".split()
_LETTERS = dict(zip("αβγδεζηθικλμνξοπρστυφχψω", _GREEK, strict=True)) | {"ß": "beta"}
_NAMING = [name for name in _GREEK if len(name) > 3 or name in ("tau", "phi", "rho")]
_GREEK_LETTER = re.compile(
    rf"(?P<sign>[α-ωΑ-Ωß])|(?<![^\W\d_])(?P<name>alfa|{'|'.join(_NAMING)})(?![^\W\d_])", re.IGNORECASE
)
_SUBTYPE = re.compile(r"[-‐–]?(\d{1,2})(?![\w.,]\d|%)")
_MICRO = re.compile(r"[μ]\s?(?:g|m|l|L|mol|M|U|s)\b|[-‐]?[Δδ]\s?(?=\d)")

_COUNTS = {
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "1": 1,
    "2": 2,
    "3": 3,
    "4": 4,
    "5": 5,
    "6": 6,
}
_COUNT = "|".join(_COUNTS)
_SCOPE = re.compile(
    rf"\b(?:any|at least|either) (?P<any>{_COUNT})(?: or more)? of\b|\b(?P<more>{_COUNT}) or more of\b|"
    rf"\b(?P<all>all(?: (?:{_COUNT}))?|both|each) of (?:the following|these|them|the (?:{_COUNT}))\b"
    rf"|\b(?:any|either) of (?:the following|these|them)\b(?!\s+(?!applies\b|is\b|has\b|means\b|does\b|"
    rf"counts\b|suffices\b)\w+s\b)|\bat least (?P<least>{_COUNT}) (?:of )?(?:the following|these)\b|"
    rf"\b(?P<plain>{_COUNT}) of the following\b|\b(?:must|should|need to) (?:meet|have|"
    rf"fulfil) (?P<every>all)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Label:
    """A noun and the number or letter that names one of its kind; `letter` of "stage IIIA" is "a"."""

    noun: str
    number: int
    letter: str
    start: int
    end: int

    def fits(self, other: Label) -> bool:
        """Returns whether both name the same, or one names a part of the other ("stage III", "stage IIIA")."""
        part = self.number > 0 and not (self.letter and other.letter)
        return (
            self.noun == other.noun and self.number == other.number and (self.letter == other.letter or part)
        )


@lru_cache(maxsize=8_192)
def read_labels(text: str) -> tuple[Label, ...]:
    """Returns the labels of `text`; of "stages I to III" all three."""
    found = []
    for match in _LABEL.finditer(text):
        first, second = _value(match, "a"), _value(match, "b")
        if first is None:
            continue
        noun = _noun(match["noun"])
        found.append(Label(noun, *first, match.start(), match.end()))
        if second is not None:
            through = match["joint"] not in ("and", "or", ",", "/") and first[0] < second[0]
            numbers = range(first[0] + 1, second[0] + 1) if through else (second[0],)
            found += [Label(noun, number, second[1], match.start(), match.end()) for number in numbers]
    for match in _ORDINAL.finditer(text):
        if _EVERY.search(text[max(0, match.start() - 8) : match.start()]):
            continue
        earlier = _LISTED.search(text[max(0, match.start() - 24) : match.start()])
        if earlier:
            found.append(
                Label(
                    _noun(match["noun"]),
                    _ORDINALS[earlier["ordinal"].lower()],
                    "",
                    match.start(),
                    match.end(),
                )
            )
        tens = {"twenty-": 20, "thirty-": 30}.get((match["word"] or "").lower(), 0)
        number = int(match["number"]) if match["number"] else tens + _ORDINALS[match["ordinal"].lower()]
        found.append(Label(_noun(match["noun"]), number, "", match.start(), match.end()))
    return tuple(found)


@lru_cache(maxsize=8_192)
def read_named_roman(text: str) -> tuple[tuple[str, int, int, int], ...]:
    """Returns word, number and span of "angiotensin II", "Le Fort I", where the word is none that labels carry (stage, grade)."""
    return tuple(
        (word_key(found["noun"].lower()), roman_value(found["roman"].lower()), *found.span("roman"))
        for found in NAMED_ROMAN.finditer(text)
        if not _LABEL_NOUN.fullmatch(found["noun"])
    )


def missing_roman(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields the Roman numeral of "angiotensin I" where the evidence gives that word other numerals only."""
    known = read_named_roman(evidence.whole)
    for noun, number, start, end in read_named_roman(claim):
        same = {(other, evidence.whole[s:e]) for word, other, s, e in known if word == noun}
        if same and number not in {other for other, _ in same}:
            yield Missing("label", start, end, instead=next(iter(same))[1] if len(same) == 1 else "")


def _noun(noun: str) -> str:
    if noun.lower() == "nyha":
        return word_key("class")
    return word_key(noun.lower().replace("–", "-").split()[-1] if " nerve" in noun.lower() else noun.lower())


def _value(match: re.Match[str], which: str) -> tuple[int, str] | None:
    if match[f"{which}r"]:
        return roman_value(match[f"{which}r"].lower()), (match[f"{which}ra"] or "").lower()
    if match[f"{which}n"]:
        return int(match[f"{which}n"]), (match[f"{which}na"] or "").lower()
    return (0, match[f"{which}l"].lower()) if match[f"{which}l"] else None


def missing_labels(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields the labels of `claim` that the evidence gives to nothing: "stage IV" of "stage II"."""
    stated = read_labels(claim)
    known = (
        [label for text in (evidence.nearest, *evidence.texts) for label in read_labels(text)]
        if stated
        else []
    )
    for label in stated:
        if any(label.fits(other) for other in known) or _otherwise(label, claim, evidence):
            continue
        near = {
            evidence.nearest[other.start : other.end]: other
            for other in read_labels(evidence.nearest)
            if other.noun == label.noun
        }
        alone = (
            len(near) == 1 and shared_with(claim, label.start, label.end, evidence.nearest) >= SAME_STATEMENT
        )
        if near or any(other.noun == label.noun for other in known) or label.noun in _TELLING:
            yield Missing("label", label.start, label.end, instead=next(iter(near)) if alone else "")


def _otherwise(label: Label, claim: str, evidence: Evidence) -> bool:
    """Returns whether the evidence says the label in other words: T2DM for type 2 diabetes, "12 weeks" for the twelfth."""
    words = claim[label.start : label.end].lower()
    if re.search(rf"(?<!\w){re.escape(words)}(?!\w)", evidence.whole, re.IGNORECASE):
        return True
    if label.noun in _TIME_NOUNS and label.noun != "trimester":
        factor = unit_of(label.noun)[0]
        times = [*(t for text in evidence.texts for t in read_labelled_times(text)), *evidence.quantities]
        if label.number == 1 or any(
            other.dimension == "time"
            and min(abs(other.low / factor - label.number), abs(other.high / factor - label.number)) < 0.1
            for other in times
        ):
            return True
    if label.number == -1:
        return True
    # "type 2" of "bipolar II", "Marsh type 3" of "Marsh III"
    unlabelled = not any(other.noun == label.noun for text in evidence.texts for other in read_labels(text))
    if label.number > 0 and unlabelled and float(label.number) in read_roman(evidence.nearest):
        return True
    return any(
        mention.start <= label.start
        and label.end <= mention.end
        and any(mention.is_related(other) for other in evidence.mentions)
        for mention in linked(claim)
    )


@lru_cache(maxsize=8_192)
def read_greek(text: str) -> tuple[tuple[str, str, int, int], ...]:
    """Returns the Greek letters of `text`, spelled or not, each with the key of the word that it belongs to, and its span."""
    masked = _MICRO.sub(lambda found: " " * len(found[0]), text)
    found = []
    for match in _GREEK_LETTER.finditer(masked):
        letter = (
            _LETTERS.get(match["sign"].lower(), "")
            if match["sign"]
            else match["name"].lower().replace("alfa", "alpha")
        )
        if letter and letter != "mu":
            found.append((letter, _companion(masked, match.start(), match.end()), match.start(), match.end()))
    return tuple(found)


_BEFORE = re.compile(r"([^\W_]+)[-‐\s]?$")
_AFTER = re.compile(r"[-‐\s]?\d{0,2}[-‐\s]?([^\W\d_]+)")


def _companion(text: str, start: int, end: int) -> str:
    """Returns the key of the word that a Greek letter stands in: "tnf" of "TNF-α", "blocker" of "β-blocker"."""
    before = _BEFORE.search(text[max(0, start - 24) : start])
    attached = bool(before) and not text[start - 1 : start].isspace()
    after = _AFTER.match(text, end)
    if attached and before:
        return word_key(before[1].lower())
    beside = after or before
    return word_key(beside[1].lower()) if beside else ""


def missing_greek(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields the Greek letters of `claim` that the evidence does not have beside the same word."""
    stated = read_greek(claim)
    known = (
        [(one, word) for text in (evidence.nearest, *evidence.texts) for one, word, *_ in read_greek(text)]
        if stated
        else []
    )
    for letter, companion, start, end in stated:
        letters = {one for one, other in known if other == companion}
        if letter in letters or (not letters and any(one == letter for one, _ in known)):
            continue
        if (
            any(
                mention.start <= start < mention.end and any(mention.is_related(o) for o in evidence.mentions)
                for mention in linked(claim)
            )
            and not letters
        ):
            continue
        if companion and re.search(
            rf"(?<![^\W_]){letter[0].upper()}{companion[0].upper()}[A-Z0-9]*(?![^\W_])", evidence.whole
        ):
            continue  # "AFP" holds the letter of alpha-fetoprotein
        near = {
            evidence.nearest[s:e] for _, other, s, e in read_greek(evidence.nearest) if other == companion
        }
        if near or letters or letter in ("alpha", "beta", "gamma", "delta", "kappa"):
            yield Missing("greek", start, end, instead=next(iter(near)) if len(near) == 1 else "")


@lru_cache(maxsize=8_192)
def read_subtypes(text: str) -> tuple[tuple[str, int, int, int], ...]:
    """Returns letter, number and span of "alpha-2", "β1", "omega-3"."""
    found = []
    for match in _GREEK_LETTER.finditer(_MICRO.sub(lambda micro: " " * len(micro[0]), text)):
        number = _SUBTYPE.match(text, match.end())
        letter = (
            _LETTERS.get(match["sign"].lower(), "")
            if match["sign"]
            else match["name"].lower().replace("alfa", "alpha")
        )
        if letter and number:
            found.append((letter, int(number[1]), match.start(), number.end()))
    return tuple(found)


def missing_subtypes(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields "alpha-1" where the evidence numbers that letter otherwise only: "alpha-2"."""
    known = read_subtypes(evidence.whole)
    for letter, number, start, end in read_subtypes(claim):
        same = {(other, evidence.whole[s:e]) for name, other, s, e in known if name == letter}
        if same and number not in {other for other, _ in same}:
            yield Missing("greek", start, end, instead=next(iter(same))[1] if len(same) == 1 else "")


@lru_cache(maxsize=8_192)
def read_scopes(text: str) -> tuple[tuple[int, int, int], ...]:
    """Returns how many of what follows are needed, 99 for all, each with its span."""
    found = []
    for match in _SCOPE.finditer(text):
        count = match["any"] or match["more"] or match["least"] or match["plain"]
        everything = match["all"] or match["every"]
        found.append(
            (99 if everything else _COUNTS[count.lower()] if count else 1, match.start(), match.end())
        )
    return tuple(found)


def missing_scopes(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields "any one of" where the evidence wants two, or all."""
    stated = read_scopes(claim)
    near = (
        [number for text in (evidence.nearest, *evidence.texts) for number, *_ in read_scopes(text)]
        if stated
        else []
    )
    for number, start, end in stated:
        if near and number not in near:
            inside = read_scopes(evidence.nearest)
            yield Missing(
                "scope",
                start,
                end,
                instead=evidence.nearest[inside[0][1] : inside[0][2]] if len(inside) == 1 else "",
            )
