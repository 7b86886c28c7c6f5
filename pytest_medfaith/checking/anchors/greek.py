"""Greek letters in names: "β-blocker" against "alpha-blocker", "alpha-1" against "alpha-2"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from pytest_medfaith import defaults
from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, mentions_at, only_of, renumbered
from pytest_medfaith.english.stems import word_key

_GREEK = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau
    upsilon phi chi psi omega""".split()
_LETTERS = dict(zip("αβγδεζηθικλμνξοπρστυφχψω", _GREEK, strict=True)) | {"ß": "beta"}
# Spelled names of two or three letters are parts of other words.
_NAMING = [name for name in _GREEK if len(name) > 3 or name in ("tau", "phi", "rho")]
# These letters tell names apart. They need evidence even where no text has a Greek letter beside the word.
_TELLING = frozenset("alpha beta gamma delta kappa".split())
_GREEK_LETTER = re.compile(
    rf"(?P<sign>[α-ωΑ-Ωß])|(?<![^\W\d_])(?P<name>alfa|{'|'.join(_NAMING)})(?![^\W\d_])", re.IGNORECASE
)
# In "μg" and "δ 5" the letter names nothing.
_MICRO = re.compile(r"[μ]\s?(?:g|m|l|L|mol|M|U|s)\b|[-‐]?[Δδ]\s?(?=\d)")
_SUBTYPE = re.compile(r"[-‐–]?(\d{1,2})(?![\w.,]\d|%)")
_BEFORE = re.compile(r"([^\W_]+)[-‐\s]?$")
_AFTER = re.compile(r"[-‐\s]?\d{0,2}[-‐\s]?([^\W\d_]+)")


def missing_greek(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "greek" for each Greek letter that the evidence lacks at the same word.

    Example: the "β" of "β-blocker" where the evidence has "alpha-blocker" only. An abbreviation may hold the
    letter: "AFP" has that of "alpha-fetoprotein".
    """
    stated = read_greek(claim)
    known = [found for text in evidence.in_order for found in read_greek(text)] if stated else []
    for letter, companion, start, end in stated:
        letters = {other for other, word, *_ in known if word == companion}
        if letter in letters:
            continue
        if not letters:
            is_elsewhere = any(other == letter for other, *_ in known)
            if is_elsewhere or any(map(evidence.names, mentions_at(claim, start))):
                continue
        # "AFP" holds the letter of alpha-fetoprotein.
        short = rf"(?<![^\W_]){letter[0].upper()}{companion[:1].upper()}[A-Z0-9]*(?![^\W_])"
        if companion and re.search(short, evidence.whole):
            continue
        nearest = evidence.nearest
        near = {nearest[s:e] for _, word, s, e in read_greek(nearest) if word == companion}
        if near or letters or letter in _TELLING:
            yield Missing("greek", start, end, instead=only_of(near))


def missing_subtypes(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` for "alpha-1" where the evidence has this letter with other numbers: "alpha-2"."""
    yield from renumbered("greek", read_subtypes(claim), read_subtypes(evidence.whole), evidence.whole)


@lru_cache(maxsize=defaults.TEXTS_KEPT)
def read_greek(text: str) -> tuple[tuple[str, str, int, int], ...]:
    """Returns the Greek letters of `text`, as signs or in words, except mu.

    Returns:
        (letter, word, start, end) of each, in order: ("beta", "blocker", 0, 1) for "β-blocker". The word is
        the key (stem) of the word beside the letter, "" without one; the span is that of the letter.
    """
    masked = _masked(text)
    found = []
    for match in _GREEK_LETTER.finditer(masked):
        letter = _letter(match)
        if letter and letter != "mu":
            found.append((letter, _companion(masked, *match.span()), *match.span()))
    return tuple(found)


@lru_cache(maxsize=defaults.TEXTS_KEPT)
def read_subtypes(text: str) -> tuple[tuple[str, int, int, int], ...]:
    """Returns (letter, number, start, end) of "alpha-2", "β1" and "omega-3": ("alpha", 2, 0, 7)."""
    found = []
    for match in _GREEK_LETTER.finditer(_masked(text)):
        letter, number = _letter(match), _SUBTYPE.match(text, match.end())
        if letter and number:
            found.append((letter, int(number[1]), match.start(), number.end()))
    return tuple(found)


def _masked(text: str) -> str:
    """Returns `text` with blanks for letters that are part of a unit ("μg") or a sign ("δ 5")."""
    return _MICRO.sub(lambda found: " " * len(found[0]), text)


def _letter(match: re.Match[str]) -> str:
    """Returns the English name of the matched letter: "beta" for "β"; "" for an unknown sign."""
    if match["sign"]:
        return _LETTERS.get(match["sign"].lower(), "")
    return match["name"].lower().replace("alfa", "alpha")


def _companion(text: str, start: int, end: int) -> str:
    """Returns the key of the word beside a Greek letter: "tnf" in "TNF-α", "blocker" in "β-blocker".

    It is "" where no word is beside the letter.
    """
    before = _BEFORE.search(text[max(0, start - 24) : start])
    is_attached = not text[start - 1 : start].isspace()
    word = before if is_attached and before else _AFTER.match(text, end) or before
    return word_key(word[1].lower()) if word else ""
