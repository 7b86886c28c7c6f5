"""A single thing where the evidence asks for several: "a single crisis" against "three or more crises"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, shared_with
from pytest_medfaith.checking.rules.denials import negations
from pytest_medfaith.english.stems import word_key
from pytest_medfaith.english.words import Token, read_tokens

SAME_STATEMENT = 0.3  # of the claim's words, apart from the single thing, that the sentence holds
_SINGLE = re.compile(
    r"\b(?P<sure>a single|any one|any single|just one|only one|a lone)\s+(?!of\b|or\b|to\b|in\b|and\b)|"
    r"\bone\s+(?!of\b|or\b|to\b|in\b|and\b|hundred\b|thousand\b)",
    re.IGNORECASE,
)
_SUFFICES = re.compile(r"\b(?:enough|suffic\w+|needed|required|qualif\w+|counts?)\b", re.IGNORECASE)
_SEVERAL = re.compile(
    r"(?<!\bor )(?<!\bto )(?<![-–/.,\d])"
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|[2-9]|1[0-2])"
    r"(?:\s+or\s+more)?(?:\s+(?!of\b|or\b|and\b|unless\b|that\b|which\b|to\b|in\b)[a-z][\w-]*){0,2}\s*$",
    re.IGNORECASE,
)
_AHEAD = 45  # characters before a noun in which its number may be
_WORDS = 4  # words of the claim behind "a single", among which the noun may be
_ENDS = frozenset("of or is to that for with before after than in on and has may can a the if when".split())
_UNCOUNTED = frozenset(
    map(word_key, "day hour week month year minute second time dose patient person people group".split())
)


def missing_singles(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "single" for "a single crisis" where the evidence asks for several.

    Example: "three or more crises" in the deciding sentence, `evidence.nearest`. At most one is yielded. A
    bare "one crisis" counts only in a claim with "enough", "required" or the like.
    """
    if negations(read_tokens(claim)):
        return
    for found in _SINGLE.finditer(claim):
        if not found["sure"] and not _SUFFICES.search(claim):
            continue
        for noun in _nouns(claim, found.end()):
            several = _counted(noun, evidence.nearest)
            if several and shared_with(claim, found.start(), found.end(), evidence.nearest) >= SAME_STATEMENT:
                note = f"claim says {claim[found.start() : noun.end]}, evidence says {several}"
                yield Missing("single", found.start(), noun.end, note=note)
                return


def _nouns(claim: str, start: int) -> list[Token]:
    """Returns the content words behind the offset `start` ("a single") that may be the thing counted."""
    nouns: list[Token] = []
    for token in [token for token in read_tokens(claim) if token.start >= start][:_WORDS]:
        if not token.key or token.lower in _ENDS:
            break
        nouns += [token] if token.content and token.key not in _UNCOUNTED else []
    return nouns


def _counted(noun: Token, sentence: str) -> str:
    """Returns the words with which `sentence` counts several of `noun`: "three or more crises".

    "" where the noun is missing or has no such number at one of its places.
    """
    words = ""
    for token in read_tokens(sentence):
        if token.key == noun.key:
            before = sentence[max(0, token.start - _AHEAD) : token.start]
            several = _SEVERAL.search(before)
            if not several:
                return ""
            words = words or before[several.start() :] + token.text
    return words.strip()
