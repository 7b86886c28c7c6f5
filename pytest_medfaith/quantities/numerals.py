"""Numbers in digits and in words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

LOOK_BACK = 48  # characters before a number that may hold a word that qualifies it

_SMALL = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SIMPLE = {word: float(number) for number, word in enumerate(_SMALL)} | {word: 10.0 * number for number, word in enumerate(_TENS, start=2)}
WORDS = (
    _SIMPLE
    | {f"{ten}-{one}": _SIMPLE[ten] + _SIMPLE[one] for ten in _TENS for one in _SMALL[1:10]}
    | {f"{one} and a half": _SIMPLE[one] + 0.5 for one in _SMALL[1:10]}
    | {"a dozen": 12.0, "a hundred": 100.0, "a thousand": 1e3, "a million": 1e6, "a couple of": 2.0}
)
_GLYPHS = {"½": 1 / 2, "¼": 1 / 4, "¾": 3 / 4, "⅓": 1 / 3, "⅔": 2 / 3}
_SCALES = {"hundred": 100.0, "thousand": 1e3, "million": 1e6, "billion": 1e9}

_GLYPH = f"[{''.join(_GLYPHS)}]"
# Thousands parted by a comma or a blank that does not break, or by a plain blank where three digits cannot be a number: "10 000".
_THOUSANDS = r"\d{1,3}(?:[,\u00a0\u2009\u202f]\d{3})+(?:\.\d+)?|\d{1,3}(?: \d{3})*? 0\d\d(?: \d{3})*(?:\.\d+)?"
_DOUBTFUL = r"\d{1,3}(?: \d{3})+(?:\.\d+)?"  # "2 500": one number, or two as in "take 2 500 mg tablets"
_DIGITS = rf"(?:{_THOUSANDS}|(?P<doubtful>{_DOUBTFUL}))(?!\d)|\d+(?:[.·]\d+)?(?:\s?{_GLYPH})?|\.\d+(?!\.\d)|{_GLYPH}"
_SPELLED = "|".join(re.escape(word) for word in sorted(WORDS, key=len, reverse=True)).replace(r"\ ", r"\s+").replace(r"\-", r"[\s-]")
_NUMERAL = re.compile(
    # digits do not go on a word, a decimal or a name with a hyphen (COVID-19), but "over-65s" holds a number
    rf"(?:(?<![\w.·,])(?:(?<=over-)|(?<=under-)|(?<![^\W\d_][-‐‑/+]))(?P<digits>{_DIGITS})(?!\d)"
    rf"|(?<![\w-])(?:(?P<hundreds>an?|{'|'.join(_SMALL[1:10])})\s+hundred\s+and\s+)?(?P<spelled>{_SPELLED})(?!\w))"
    r"(?:[\s-](?P<scale>hundred|thousand|million|billion)\b)?",
    re.IGNORECASE,
)
_NAME_AFTER = re.compile(r"[A-Z]+\d|-[A-Z]{2}|(?:st|nd|rd|th)\b")


@dataclass(frozen=True)
class Numeral:
    """A number and its span; `step` is half its last written digit: how far rounding may have moved it.

    `doubtful` where a plain blank parts its thousands, so that it may be two numbers.
    """

    value: float
    start: int
    end: int
    step: float
    doubtful: bool = False


@lru_cache(maxsize=8_192)
def read_numerals(text: str) -> tuple[Numeral, ...]:
    """Returns the numbers of `text` in order; numbers within names (COVID-19, CYP2C9, 5-HT, 3rd) are left out."""
    return tuple(_numeral(found) for found in _NUMERAL.finditer(text) if not _NAME_AFTER.match(text, found.end()))


def _numeral(found: re.Match[str]) -> Numeral:
    scale = _SCALES[found["scale"].lower()] if found["scale"] else 1.0
    if found["spelled"]:
        hundreds = 100.0 * _SIMPLE.get(found["hundreds"].lower(), 1.0) if found["hundreds"] else 0.0
        return Numeral((hundreds + _word_value(found["spelled"])) * scale, found.start(), found.end(), 0.5 * scale)
    digits = re.sub(r"[,\s]", "", found["digits"]).replace("·", ".")  # blanks that do not break are white space too
    glyph = _GLYPHS.get(digits[-1], 0.0)
    plain = digits.rstrip("".join(_GLYPHS))
    decimals = len(plain.partition(".")[2])
    value = (float(plain) if plain else 0.0) + glyph
    step = 0.0 if glyph else 0.5 * 10.0**-decimals * scale
    return Numeral(value * scale, found.start(), found.end(), step, doubtful=found["doubtful"] is not None)


def _word_value(spelled: str) -> float:
    words = re.sub(r"\s+", " ", spelled.lower())
    return WORDS[words] if words in WORDS else WORDS[words.replace(" ", "-")]
