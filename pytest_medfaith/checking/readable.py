"""Texts that no checker can judge: without a word, too long, or in a script that the model does not know."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import groupby

from pytest_medfaith import defaults

MAX_CHARACTERS = 4_000  # a longer claim is no single statement, and models would read only a part of it
LONGEST_CLAIM = 0.5  # of the tokens that a model reads; the rest is for some sentences of evidence
LEAST_LATIN = 0.8  # of the letters: names and symbols in other scripts are few
_GREEK = ("\u0370", "\u03ff")
_SYMBOL = 2  # Greek letters of a word that are symbols: TNF-α, αβ
# Words in other scripts, at most: names are single words, a whole foreign sentence has more.
_MOST_FOREIGN, _MOST_IN_A_ROW = 2, 1
_BRAILLE = ("\u2801", "\u28ff")
# Characters that no reader sees and that models may read. The flags of England, Scotland and Wales have them
# too.
_HIDDEN = re.compile("(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0020-\U000e007e]")


@lru_cache(maxsize=defaults.TEXTS_KEPT)
def unusable_text(text: str, what: str, *, latin_only: bool = False) -> str:
    """Returns why `text` cannot be judged, or "".

    Args:
        text: the text of a claim or of evidence.
        what: "claim" or "evidence". Only a claim can be too long; evidence is read piece by piece.
        latin_only: True if the model reads Latin script only. Greek letters in Latin text are symbols
            (TNF-α).
    """
    if not any(character.isalnum() for character in text):
        return f"the {what} holds no word"
    if what == "claim" and len(text) > MAX_CHARACTERS:
        return f"the claim has {len(text)} characters, more than {MAX_CHARACTERS}"
    if what == "claim" and _HIDDEN.search(text):
        return "the claim holds letters that nobody sees"
    if latin_only and (_latin_share(text) < LEAST_LATIN or (what == "claim" and _holds_foreign_words(text))):
        return f"the {what} is not in Latin script, the only one that this checker reads"
    return ""


def _holds_foreign_words(text: str) -> bool:
    """Returns whether `text` has more than two words in other scripts, or two in a row."""
    if text.isascii():
        return False
    foreign = [_is_foreign(word) for word in text.split()]
    in_a_row = max((sum(group) for _, group in groupby(foreign)), default=0)
    return sum(foreign) > _MOST_FOREIGN or in_a_row > _MOST_IN_A_ROW


def _is_foreign(word: str) -> bool:
    """Returns whether a word has letters of other scripts; up to two Greek letters are symbols."""
    foreign = [letter for letter in word if _is_letter(letter) and not _is_latin(letter)]
    greek = sum(_GREEK[0] <= letter <= _GREEK[1] for letter in foreign)
    return len(foreign) > greek or greek > _SYMBOL


def _is_letter(character: str) -> bool:
    """Returns whether a character is a letter. Braille signs count as letters."""
    return character.isalpha() or _BRAILLE[0] <= character <= _BRAILLE[1]


def _latin_share(text: str) -> float:
    """Returns the share of Latin letters among the letters of `text`, 0 to 1; 1 without letters.

    Greek letters do not count in a text that also has Latin letters.
    """
    letters = [character for character in text if _is_letter(character)]
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
