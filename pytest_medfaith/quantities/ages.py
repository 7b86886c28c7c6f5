"""Ages in words, without a number and unit: "in their eighties", "the first birthday", "under-fives"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_medfaith.quantities.quantity import Quantity

_YEAR = 365.25  # days
_TENS = {
    word: tens * 10
    for tens, word in enumerate(
        "twenties thirties forties fifties sixties seventies eighties nineties".split(), 2
    )
}
_LATIN = {word: tens * 10 for tens, word in enumerate("quadr quinqu sex septu oct non".split(), 4)}
_ORDINALS = {
    word: number
    for number, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
        "fourteenth fifteenth sixteenth seventeenth eighteenth".split(),
        1,
    )
}
_PLURALS = {
    word: number
    for number, word in enumerate(
        "twos threes fours fives sixes sevens eights nines tens elevens twelves".split(), 2
    )
}
_LAST = 9  # years from the first to the last age of a decade
_DECADE = re.compile(
    rf"\b(?:in )?(?:their|his|her|your|my)\s+(?P<tens>{'|'.join(_TENS)}|[2-9]0['’]?s)\b"
    rf"|\b(?P<latin>{'|'.join(_LATIN)})[ao]genarians?\b",
    re.IGNORECASE,
)
_BIRTHDAY = re.compile(
    rf"\b(?:(?P<word>{'|'.join(_ORDINALS)})|(?P<digits>\d{{1,2}})(?:st|nd|rd|th))\s+birthday\b", re.IGNORECASE
)
_UNDER = re.compile(rf"\b(?:under|over)[\s-](?P<years>{'|'.join(_PLURALS)})\b", re.IGNORECASE)
IN_DECADES = re.compile(r"(?:ies|0['’]?s|[ao]genarians?)$", re.IGNORECASE)


def read_ages_in_words(text: str) -> Iterator[Quantity]:
    """Yields the ages that `text` has in words, in days: 80 to 89 years for "people in their 80s".

    "Octogenarians", "the 18th birthday" and "under-fives" are read too; the "under" is no part of the age.
    """
    for found in _DECADE.finditer(text):
        if found["latin"]:
            first = _LATIN[found["latin"].lower()]
        else:
            said = found["tens"].lower()
            first = _TENS[said] if said in _TENS else int(said[:2])
        yield _age(first, first + _LAST, *found.span())
    for found in _BIRTHDAY.finditer(text):
        years = int(found["digits"]) if found["digits"] else _ORDINALS[found["word"].lower()]
        yield _age(years, years, *found.span())
    for found in _UNDER.finditer(text):
        years = _PLURALS[found["years"].lower()]
        yield _age(years, years, *found.span("years"))


def _age(first: int, last: int, start: int, end: int) -> Quantity:
    """Returns the age from `first` to `last` years at `start:end` of a text."""
    return Quantity(first * _YEAR, last * _YEAR, "time", start, end, role="age")
