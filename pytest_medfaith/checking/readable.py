"""Which texts no checker can judge: without a word, too long, or in a script that the model never saw."""

from __future__ import annotations

from functools import lru_cache

MAX_CHARACTERS = 4_000  # a longer claim is no single statement, and models would read only a part of it
LONGEST_CLAIM = 0.5  # of the tokens that a model reads; the rest must hold a window of evidence
LEAST_LATIN = 0.8  # of the letters: names and symbols in other scripts are few
_GREEK = ("\u0370", "\u03ff")


@lru_cache(maxsize=16_384)
def unusable_text(text: str, what: str, *, latin_only: bool = False) -> str:
    """Returns why `text` cannot be judged, or an empty string.

    Args:
        text: of a claim or of evidence.
        what: "claim" or "evidence". Only a claim can be too long; evidence is read in windows.
        latin_only: whether the model reads Latin script only. Greek letters in Latin text are symbols
            (TNF-α).
    """
    if not any(character.isalnum() for character in text):
        return f"the {what} holds no word"
    if what == "claim" and len(text) > MAX_CHARACTERS:
        return f"the claim has {len(text)} characters, more than {MAX_CHARACTERS}"
    if latin_only and _latin_share(text) < LEAST_LATIN:
        return f"the {what} is not in Latin script, the only one that this checker reads"
    return ""


def _latin_share(text: str) -> float:
    """Returns which share of the letters of `text` is Latin; 1 without letters."""
    letters = [character for character in text if character.isalpha()]
    latin = sum(map(_is_latin, letters))
    foreign = sum(
        not _is_latin(character) and not (latin and _GREEK[0] <= character <= _GREEK[1])
        for character in letters
    )
    return latin / (latin + foreign) if latin + foreign else 1.0


def _is_latin(character: str) -> bool:
    """Returns whether a letter is Latin: Basic to Extended-B, Additional, Extended-C, -D, or full width."""
    return (
        character < "\u0250"
        or "\u1e00" <= character <= "\u1eff"
        or "\u2c60" <= character <= "\u2c7f"
        or "\ua720" <= character <= "\ua7ff"
        or "\uff21" <= character <= "\uff5a"
    )
