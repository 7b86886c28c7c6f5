"""Letters and digits in other dress (full-width, mathematical, circled) become plain ones before anything reads a text."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from pytest_medfaith.records import Chunk, Claim

_DRESSED = ("<font>", "<wide>", "<circle>", "<square>")


@lru_cache(maxsize=4_096)
def plain_letters(text: str) -> str:
    """Returns `text` as NFKC writes its full-width, mathematical, circled and squared letters, digits and marks.

    Each character stays one character, so that offsets into either text are those of the other. Raised and lowered digits keep their dress: "10²"
    is not "102". Circled digits count things, and stay too.
    """
    return text if text.isascii() else "".join(map(_plain, text))


@lru_cache(maxsize=8_192)
def _plain(character: str) -> str:
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
