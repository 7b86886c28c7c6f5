"""Numbers in digits and in words: "2,500", "1.5 × 10⁶", "two and a half", "zero point two five"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

LOOK_BACK = 48  # characters before a number in which words such as "at least" are looked for

_SMALL = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen""".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SIMPLE = {word: float(number) for number, word in enumerate(_SMALL)} | {
    word: 10.0 * number for number, word in enumerate(_TENS, start=2)
}
WORDS = (
    _SIMPLE
    | {f"{ten}-{one}": _SIMPLE[ten] + _SIMPLE[one] for ten in _TENS for one in _SMALL[1:10]}
    | {f"{one} and a half": _SIMPLE[one] + 0.5 for one in _SMALL[1:10]}
    | {"a dozen": 12.0, "a hundred": 100.0, "a thousand": 1e3, "a million": 1e6, "a couple of": 2.0}
    | {"nought": 0.0, "naught": 0.0}
)
_GLYPHS = {"½": 1 / 2, "¼": 1 / 4, "¾": 3 / 4, "⅓": 1 / 3, "⅔": 2 / 3}
_SCALES = {"hundred": 100.0, "thousand": 1e3, "million": 1e6, "billion": 1e9}
_PARTS = {"half": 1 / 2, "quarter": 1 / 4, "quarters": 3 / 4}
_ZEROS = {"nought": "0", "naught": "0", "oh": "0"}  # zeros after "point", read aloud
_SPOKEN = {word: str(digit) for digit, word in enumerate(_SMALL[:10])} | _ZEROS

_GLYPH = f"[{''.join(_GLYPHS)}]"
# A comma or a no-break blank separates thousands. So does a plain blank before a 0: "10 000" is one number.
_THOUSANDS = (
    r"\d{1,3}(?:[,\u00a0\u2009\u202f]\d{3})+(?:\.\d+)?|\d{1,3}(?: \d{3})*? 0\d\d(?: \d{3})*(?:\.\d+)?"
)
_DOUBTFUL = r"\d{1,3}(?: \d{3})+(?:\.\d+)?"  # "2 500" is 2,500, or two numbers as in "take 2 500 mg tablets"
# "1.5 × 10⁶", "10^9/L", "3 x 10(9)", and "× 109" where a page lost its raised digits.
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
_LOWERED = str.maketrans(_RAISED, "0123456789-")
_POWER = rf"10\s?(?:\^|\*\*)\s?\(?(?P<caret>[-−–]?\d{{1,2}})\)?|10(?P<raised>[{_RAISED}]{{1,3}})"
_EXPONENT = (
    rf"(?:\s?[×x*·]\s?(?:{_POWER}|10\((?P<bracket>[-−–]?\d{{1,2}})\)|10(?P<flat>[1-9]\d?)(?!\d))|"
    rf"[eE](?P<e>[-+−]?\d{{1,2}})(?![\w.]))"
)
_BARE_POWER = rf"(?<![\w.])(?:{_POWER.replace('?P<caret>', '?P<alone>').replace('?P<raised>', '?P<high>')})"
_DIGITS = (
    rf"(?:{_THOUSANDS}|(?P<doubtful>{_DOUBTFUL}))(?!\d)|\d+(?:[.·]\d+)?(?:\s?{_GLYPH})?|\.\d+(?!\.\d)|"
    rf"{_GLYPH}"
)
_SPELLED = (
    "|".join(re.escape(word) for word in sorted(WORDS, key=len, reverse=True))
    .replace(r"\ ", r"\s+")
    .replace(r"\-", r"[\s-]")
)
# "Two and a half", "2 and a quarter", "ten and three quarters"; not "a dose of 2 and a half-life of 3 hours".
_PART = r"\s+and\s+(?:(?:an?|one)[\s-]+(?P<part>half|quarter)|three[\s-]+(?P<parts>quarters))(?![\w-])"
_POINT = rf"\s+point(?P<point>(?:[\s-]+(?:{'|'.join(_SPOKEN)}))+)(?![\w-])"  # "zero point two five"
_NUMERAL = re.compile(
    # Digits that continue a word, a decimal or a name (COVID-19) are no number; "over-65s" has a number.
    rf"(?:{_BARE_POWER}|(?<![\w.·,])(?:(?<=over-)|(?<=under-)|(?<=\d-to-)|"
    rf"(?<![^\W\d_][-‐‑/+]))(?P<digits>{_DIGITS})(?!\d)(?:{_EXPONENT})?"
    rf"|(?<![\w-])(?:(?P<hundreds>an?|"
    rf"{'|'.join(_SMALL[1:10])})\s+hundred\s+and\s+)?(?P<spelled>{_SPELLED})(?!\w)"
    rf"(?:{_POINT})?)(?:{_PART})?"
    r"(?:[\s-](?P<scale>hundred|thousand|million|billion)\b)?",
    re.IGNORECASE,
)
# A hyphen is a minus after a word ("of -2.5", "below -1"), a bracket or a sign of comparison.
_NEGATIVE_AFTER = re.compile(r"(?:[(\[<>=≤≥~:|→⇒]\s?|(?<!\w)[^\W\d_]{2,}\s)$")
_MINUS_WORD = re.compile(r"\b(?:minus|negative)\s+$", re.IGNORECASE)
_BELOW_ZERO = re.compile(r"\s*(?:[^\W\d_]{1,10}\d?[^\W\d_]?\s+){1,2}below zero\b", re.IGNORECASE)
_MEASURED = re.compile(r"\d\s?[^\W\d_]{1,12}\s$")  # "5 mg -10 mg" is a range
_NO_RANGE = re.compile(r"(?:^|[^\d\s%])\s*$")
_FREEZING = re.compile(r"\b(?:below|above) zero$", re.IGNORECASE)
_NAME_AFTER = re.compile(r"[A-Z]+\d|-[A-Z]{2}|(?:st|nd|rd|th)\b")


@dataclass(frozen=True)
class Numeral:
    """A number in a text: 2.5 in "2.5 mg".

    Attributes:
        value: the number.
        start: its first character, with a minus.
        end: the character after it.
        step: half a unit of its last written digit, 0.05 for "2.5": how far rounding may have moved the
            number.
        doubtful: True where a plain blank separates thousands: "2 500" may be two numbers.
    """

    value: float
    start: int
    end: int
    step: float
    doubtful: bool = False


@lru_cache(maxsize=1_024)
def read_numerals(text: str) -> tuple[Numeral, ...]:
    """Returns the numbers of `text` in order, in digits or in words: 25 for "twenty-five".

    Numbers in names (COVID-19, 5-HT, 3rd) are left out.
    """
    return tuple(
        _numeral(found)
        for found in _NUMERAL.finditer(text)
        if not _NAME_AFTER.match(text, found.end()) and not _FREEZING.search(text, 0, found.end())
    )


def number_of(word: str) -> float:
    """Returns the number of a single spelled word or of plain digits: 2.0 for "two", "2" and "2.0".

    Raises:
        ValueError: `word` is neither. "2,500" is not plain digits; `read_numerals` reads such numbers.
    """
    lower = word.lower()
    return WORDS[lower] if lower in WORDS else float(word)


def _numeral(found: re.Match[str]) -> Numeral:
    """Returns the number that a match of `_NUMERAL` writes."""
    if power := found["alone"] or found["high"]:
        return Numeral(10.0 ** _exponent(power), found.start(), found.end(), 0.0)
    scale = _SCALES[found["scale"].lower()] if found["scale"] else 1.0
    if found["spelled"]:
        words = re.sub(r"\s+", " ", found["spelled"].lower())
        value = WORDS[words] if words in WORDS else WORDS[words.replace(" ", "-")]
        if found["hundreds"]:
            value += 100.0 * _SIMPLE.get(found["hundreds"].lower(), 1.0)
        spoken = "".join(_SPOKEN[word] for word in re.findall(r"\w+", (found["point"] or "").lower()))
        value += float(f"0.{spoken or 0}") + _part(found)
        step = 0.0 if value % 1 and not spoken else 0.5 * 10.0 ** -len(spoken)
        return Numeral(value * scale, found.start(), found.end(), step * scale)
    digits = re.sub(r"[,\s]", "", found["digits"]).replace("·", ".")  # \s holds the no-break blanks too
    glyph = _GLYPHS.get(digits[-1], 0.0) + _part(found)
    plain = digits.rstrip("".join(_GLYPHS))
    decimals = len(plain.partition(".")[2])
    value = (float(plain) if plain else 0.0) + glyph
    power = next((found[name] for name in ("caret", "raised", "bracket", "flat", "e") if found[name]), "")
    scale *= 10.0 ** _exponent(power) if power else 1.0
    step = 0.0 if glyph else 0.5 * 10.0**-decimals * scale
    sign, start = _sign(found.string, found.start(), found.end())
    return Numeral(sign * value * scale, start, found.end(), step, doubtful=found["doubtful"] is not None)


def _part(found: re.Match[str]) -> float:
    """Returns 0.5 for the "and a half" after a number, 0 where no such part follows."""
    return _PARTS.get((found["part"] or found["parts"] or "").lower(), 0.0)


def _exponent(power: str) -> int:
    """Returns an exponent as a number: -6 for "⁻⁶"."""
    return int(power.translate(_LOWERED).replace("−", "-").replace("–", "-"))


def _sign(text: str, start: int, end: int) -> tuple[float, int]:
    """Returns (-1, place of the minus) for "-2.5", else (1, `start`), also after the dash of a range."""
    if word := _MINUS_WORD.search(text, max(0, start - LOOK_BACK), start):
        return -1.0, word.start()
    if _BELOW_ZERO.match(text, end):
        return -1.0, start
    minus = text[start - 1 : start]
    if not minus or minus not in "-−–":
        return 1.0, start
    ahead = text[max(0, start - 1 - LOOK_BACK) : start - 1]
    if minus == "−":
        negative = _NO_RANGE.search(ahead)
    else:
        negative = None if _MEASURED.search(ahead) else _NEGATIVE_AFTER.search(ahead)
    return (-1.0, start - 1) if negative else (1.0, start)
