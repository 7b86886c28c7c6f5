"""Arrows and steps that the evidence reverses: "↑ potassium" of "lowers potassium", "5 → 10" of "10 to 5"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, shared_with
from pytest_medfaith.english.opposites import directions
from pytest_medfaith.english.words import read_tokens

_NEAR = 5  # words around a word in which its direction may be said
_ARROW = re.compile(r"(?P<up>[↑⇑⬆▲])|(?P<down>[↓⇓⬇▼])")
_ROW_ENDS = re.compile(r"[;,\n|]")
_STEP = re.compile(
    r"(?P<left>[\w.,%/-]+)\s*(?:→|⇒|->|➔|⟶)\s*(?P<right>[\w.,%/-]+)|"
    r"\bfrom\s+(?P<from>[\w.%/-]+)(?:\s+[\w/%]+){0,2}?\s+to\s+(?P<to>[\w.%/-]+)",
    re.IGNORECASE,
)


def missing_arrows(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields the arrows and steps of `claim` that the sentence which decided reverses."""
    sentence = evidence.nearest
    for sign, key, start, end in read_arrows(claim):
        said = _signs_of(key, sentence)
        if said and sign not in said:
            yield Missing("arrow", start, end, instead="less" if sign > 0 else "more")
    for sign, key, start, end in () if _ARROW.search(claim) else read_arrows(sentence):
        if _signs_of(key, claim) == {-sign} and shared_with(claim, 0, 0, sentence) > 0:
            for token in read_tokens(claim):
                if directions(token.lower).get("amount") == -sign:
                    yield Missing("arrow", token.start, token.end, instead=sentence[start:end])
                    break
    known = {_step(found) for found in _STEP.finditer(sentence)}
    for found in _STEP.finditer(claim):
        left, right = _step(found)
        if (right, left) in known and (left, right) not in known:
            yield Missing("arrow", *found.span(), instead=f"{right} to {left}")


@lru_cache(maxsize=8_192)
def read_arrows(text: str) -> tuple[tuple[int, str, int, int], ...]:
    """Returns the arrows that say "more" (1) or "less" (-1), each with the key of its word, and its span."""
    tokens = [token for token in read_tokens(text) if token.content]
    found = []
    for arrow in _ARROW.finditer(text):
        start = max((end.end() for end in _ROW_ENDS.finditer(text, 0, arrow.start())), default=0)
        end = next((end.start() for end in _ROW_ENDS.finditer(text, arrow.end())), len(text))
        following = [token.key for token in tokens if arrow.end() <= token.start < end]
        ahead = [token.key for token in tokens if start <= token.start < arrow.start()]
        key = (following or ahead[-1:] or [""])[0]
        found.append((1 if arrow["up"] else -1, key, *arrow.span()))
    return tuple(found)


def _signs_of(key: str, text: str) -> set[int]:
    """Returns the signs that `text` gives to the word of `key`: by arrows, else by the only sign near it."""
    signs = {sign for sign, other, *_ in read_arrows(text) if other == key}
    if signs:
        return signs
    tokens = read_tokens(text)
    for place, token in enumerate(tokens):
        if token.key == key:
            near = (directions(other.lower) for other in tokens[max(0, place - _NEAR) : place + _NEAR])
            signs |= {sign for found in near if (sign := found.get("amount") or found.get("level"))}
    return signs if len(signs) == 1 else set()


def _step(found: re.Match[str]) -> tuple[str, str]:
    """Returns the two ends of "5 → 10" or "from 5 to 10"."""
    left, right = found["left"] or found["from"], found["right"] or found["to"]
    return left.lower().strip(".,"), right.lower().strip(".,")
