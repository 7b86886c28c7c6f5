"""One spelling for what reads the same, so that a question finds a passage however either of them was typed."""

from __future__ import annotations

import re
import unicodedata

_MARKS = re.compile(
    "[\u0300-\u036f]"
)  # accents; the vowel signs of Indic and other scripts lie elsewhere, and stay
_DASHES = re.compile("[\u2010-\u2015\u2212\ufe58\ufe63]")
# Letters that Unicode does not take apart, as names and old spellings hold them.
_LETTERS = str.maketrans(
    {
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "ħ": "h",
        "ı": "i",
        "æ": "ae",
        "œ": "oe",
        "þ": "th",
        "’": "'",
        "‘": "'",
        "ʼ": "'",
    }
)


def compatible(text: str) -> str:
    """Returns `text` in NFKC, without what shows nothing, dashes as hyphens; `µg` and `μg`, `ﬁ` and `fi`, `²` and `2` are the same.

    Case and accents stay: an encoder may tell them apart.
    """
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text)
    return _DASHES.sub("-", "".join(sign for sign in text if unicodedata.category(sign) not in ("Cf", "Cs")))


def folded(text: str) -> str:
    """Returns `text` as words are compared: compatible, without case, accents and letters of one language; `naïve` and `NAIVE` are the same."""
    text = compatible(text).casefold()
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFD", text))).translate(
        _LETTERS
    )
