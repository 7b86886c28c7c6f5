"""One spelling for characters that read the same: full-width and circled letters, accents, dashes, case.

`plain_letters` keeps every offset, since claims and findings are spans of the text. `compatible` and `folded`
change lengths. They are for retrieval, where only the words count.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_medfaith import defaults

if TYPE_CHECKING:
    from pytest_medfaith.records import Chunk, Claim

_DRESSED = ("<font>", "<wide>", "<circle>", "<square>")


@lru_cache(maxsize=defaults.TEXTS_KEPT)
def plain_letters(text: str) -> str:
    """Returns `text` with plain letters, digits and marks for full-width and circled ones (as in NFKC).

    Each character stays one character, so that the offsets of both texts are the same. Raised and lowered
    digits stay: "10²" is not "102". Circled digits count things, and stay too.
    """
    return text if text.isascii() else "".join(map(_plain, text))


@lru_cache(maxsize=defaults.WORDS_KEPT)
def _plain(character: str) -> str:
    """Returns the plain character for one in another style, else the character itself."""
    dress = unicodedata.decomposition(character).partition(" ")[0]
    if dress not in _DRESSED:
        return character
    plain = unicodedata.normalize("NFKC", character)
    counts = dress in ("<circle>", "<square>") and not plain.isalpha()
    return plain if len(plain) == 1 and not counts else character


def plain_claim(claim: Claim) -> Claim:
    """Returns `claim` with its text in plain letters."""
    text = plain_letters(claim.text)
    return claim if text == claim.text else claim.with_(text=text)


def plain_chunk(chunk: Chunk) -> Chunk:
    """Returns `chunk` with its text and title in plain letters."""
    text, title = plain_letters(chunk.text), plain_letters(chunk.title)
    return chunk if (text, title) == (chunk.text, chunk.title) else chunk.with_(text=text, title=title)


# Accents. The vowel signs of Indic and other scripts have other codes, and stay.
_MARKS = re.compile("[\u0300-\u036f]")
_DASHES = re.compile("[\u2010-\u2015\u2212\ufe58\ufe63]")
# Letters of names and old spellings that Unicode does not take apart.
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
    """Returns `text` in NFKC, dashes as hyphens, without invisible characters: `ﬁ` is `fi`, `²` is `2`.

    The two signs for micro, in `µg` and `μg`, are one. Case and accents stay:
    an encoder may tell them apart.
    """
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text)
    return _DASHES.sub("-", "".join(sign for sign in text if unicodedata.category(sign) not in ("Cf", "Cs")))


def folded(text: str) -> str:
    """Returns `text` as words are compared: compatible, without case, accents and foreign letters.

    `naïve` and `NAIVE` are the same.
    """
    text = compatible(text).casefold()
    if text.isascii():
        return text
    bare = _MARKS.sub("", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", bare).translate(_LETTERS)
