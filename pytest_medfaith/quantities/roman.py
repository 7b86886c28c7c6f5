"""Roman numerals after a word: "stage II", "angiotensin I"."""

from __future__ import annotations

import re
from functools import lru_cache

from pytest_medfaith import defaults

_VALUES = {"i": 1, "v": 5, "x": 10}
NAMED_ROMAN = re.compile(
    r"(?<![\w-])(?P<noun>(?:[^\W\d_]\w+-)?[^\W\d_][\w]{2,})[\s-](?P<roman>(?=[XVI])X{0,2}(?:IX|IV|V?I{0,3}))(?![\w'’]|[.,]\d|"
    r"[-–][A-Z])"
)


def roman_value(text: str) -> int:
    """Returns the number of a Roman numeral of the letters i, v and x: 4 for "iv", 0 for "".

    Raises:
        KeyError: another letter, or a capital.
    """
    values = [_VALUES[letter] for letter in text]
    return sum(-value if value < max(values[place:]) else value for place, value in enumerate(values))


@lru_cache(maxsize=defaults.TEXTS_KEPT)
def read_roman(text: str) -> frozenset[float]:
    """Returns the numbers that `text` has as Roman numerals after a word: {2.0} for "Marsh II".

    The numerals are in capitals, from I to XXIX, behind a word of three letters or more; "a II" has none.
    """
    return frozenset(float(roman_value(found["roman"].lower())) for found in NAMED_ROMAN.finditer(text))
