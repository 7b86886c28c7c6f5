"""Quantifiers ("all", "most", "any") that the evidence rules out: "all patients" against "two of three"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from pytest_medfaith import defaults
from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, shared_with
from pytest_medfaith.quantities.numerals import number_of
from pytest_medfaith.quantities.reader import read_quantities

_HALF = 0.5
SAME_STATEMENT = 0.5  # of the claim's words that the sentence holds
_NUMBER = "one|two|three|four|five|six|seven|eight|nine|ten"
_PER_TIME = (
    r"(?!\s+(?:other\s+)?(?:second|minute|hour|day|night|morning|evening|week|month|year|time|dose|meal|"
    r"visit|\d|(?:two|three|four|five|six|seven|eight|ten|twelve)\s+(?:hours|days|weeks|months|years))s?\b)"
)
# Each group of the pattern is a quantifier. "At all", "overall", "not all" and "each day" do not count.
_READ = re.compile(
    rf"(?P<none>\b(?:none of|no one|nobody|neither(?=\s+\w+\s)(?!\s+\w+\s+nor))\b)"
    rf"|(?P<few>\b(?:few(?!er)|a minority of|only a few|hardly any)\b)"
    rf"|(?P<most>\b(?:most(?=\s+(?:of|adults|people|patients|children|women|men|users|cases|infants|"
    rf"\w+s\b))(?!\s+(?:common|likely|often))|(?:a|the) majority of|"
    rf"(?<![^.;:\s]\s)(?<![^\s.;:])most(?=\s+[a-z]+\s+[a-z]+s\b)(?!\s+(?:common|likely|often)))\b)"
    rf"|(?P<some>\b(?:several|some of|many)\b)"
    rf"|(?P<least>\b(?:at least|a minimum of|no fewer than)\s+(?P<least_n>{_NUMBER}|"
    rf"\d)(?=\s+(?:of\b|criteri|features|signs|symptoms|findings|(?:\w+\s+)?(?:criteria|features|signs|"
    rf"symptoms|findings|seizures|factors))))"
    rf"|(?P<least_or>\b(?P<or_n>{_NUMBER})\s+or\s+(?:more|all(?:\s+(?:{_NUMBER}))?)(?=\s+of\b))"
    rf"|(?P<at_most>\b(?:at most|no more than|not more than)\s+(?P<most_n>{_NUMBER}|\d)\s+of\b)"
    rf"|(?P<of>\b(?:any\s+|only\s+|just\s+)?(?P<n>{_NUMBER}|\d)\s+(?:or more\s+)?(?:out of|of)\s+(?:the\s+|"
    rf"these\s+|those\s+)?(?P<m>{_NUMBER}|following|\d)\b)"
    rf"|(?P<any>\b(?:any (?:single|one)|either(?=\s+(?:of\b|one\b|[\w\s]{{2,40}}\bor\b))|just one|only one|"
    rf"one [\w-]+(?: [\w-]+)? (?:alone|on its own|is enough|suffices)|any of|alone suffices|on its own)\b)"
    rf"|(?P<all>\b(?<!not )(?<!at )(?:all(?=\s+(?:of|the|these|those|{_NUMBER}|\d|[a-z]{{4,}}))|"
    rf"all of these|both(?=\s)|every{_PER_TIME}|each{_PER_TIME}(?=\s+(?:of|\w+))|everybody|everyone)\b)",
    re.IGNORECASE,
)
# quantifier of the claim: the quantifiers of the evidence that rule it out
_CLASHES = {
    "all": {"any", "most", "few", "none", "part", "some", "at_most", "least"},
    "none": {"all", "most", "some", "few", "part", "any"},
    "few": {"all", "most", "none"},
    "most": {"few", "none"},
    "any": {"all", "least", "part"},
    "part": {"all", "any", "none", "part", "least", "at_most"},
    "some": {"all", "none"},
    "least": {"all", "any", "part", "at_most", "least"},
    "at_most": {"all", "least"},
}


@lru_cache(maxsize=defaults.TEXTS_KEPT)
def read_quantifiers(text: str) -> tuple[tuple[str, float, int, int], ...]:
    """Returns the quantifiers of `text`: words that say how many of a group are meant.

    "At least two of the criteria" is ("least", 2, 0, 12), and "most patients" is ("most", 0, 0, 4).

    Returns:
        (name, number, start, end) of each, in the order of the text. The name is "all", "most", "some",
        "few", "none", "any", "part" ("two of three"), "least" or "at_most". The number is 0 where the
        quantifier has no number. `text[start:end]` are its words.
    """
    found = []
    for match in _READ.finditer(text):
        name, number = str(match.lastgroup), 0.0
        if match["of"]:
            number = number_of(match["n"])
            is_all = match["m"].lower() != "following" and number_of(match["m"]) <= number
            is_any = number == 1 and not match["of"].lower().startswith(("only", "just"))
            name = "all" if is_all else "any" if is_any else "part"
        elif match["least"]:
            number = number_of(match["least_n"])
            name = "any" if number == 1 else "least"
        elif match["least_or"]:
            number = number_of(match["or_n"])
            name = "any" if number == 1 else "least"
        elif match["at_most"]:
            name, number = "at_most", number_of(match["most_n"])
        found.append((name, number, *match.span()))
    return tuple(found)


def missing_quantifiers(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "quantifier" where the evidence rules out the claim's quantifier.

    Example: "all patients" where the deciding sentence, `evidence.nearest`, says "few patients". Both texts
    must have a single quantifier.
    """
    stated, known = read_quantifiers(claim), read_quantifiers(evidence.nearest)
    if len(stated) == 1 and not known:
        yield from _most_of_few(claim, stated[0], evidence.nearest)
    if len(stated) != 1 or len(known) != 1 or shared_with(claim, 0, 0, evidence.nearest) < SAME_STATEMENT:
        return
    (mine, number, start, end), (theirs, other, first, last) = stated[0], known[0]
    same_number = number == other and (mine == theirs or {mine, theirs} == {"part", "least"})
    if not same_number and theirs in _CLASHES.get(mine, ()):  # "two of three" is "at least two of three"
        note = f"claim says {claim[start:end]}, evidence says {evidence.nearest[first:last]}"
        yield Missing("quantifier", start, end, note=note)


def _most_of_few(claim: str, stated: tuple[str, float, int, int], sentence: str) -> Iterator[Missing]:
    """Yields "most" where the only share of the sentence is less than a half, and "few" where it is more."""
    name, _, start, end = stated
    shares = [each for each in read_quantities(sentence) if each.dimension == "fraction" and not each.role]
    if len(shares) != 1 or shared_with(claim, 0, 0, sentence) < SAME_STATEMENT:
        return
    share = shares[0]
    is_most = name == "most" or (name == "all" and claim[start:end].lower().startswith("all"))
    if (is_most and share.high < _HALF) or (name == "few" and share.low > _HALF):
        note = f"claim says {claim[start:end]}, evidence says {sentence[share.start : share.end]}"
        yield Missing("quantifier", start, end, note=note)
