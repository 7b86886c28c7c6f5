"""Arrows and steps that the evidence reverses: "↑ potassium" of "lowers potassium", "5 → 10" of "10 to 5"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from pytest_medfaith import defaults
from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, shared_with
from pytest_medfaith.english.opposites import directions
from pytest_medfaith.english.sentences import part_around
from pytest_medfaith.english.words import content_keys, read_tokens
from pytest_medfaith.quantities.quantity import same_ends
from pytest_medfaith.quantities.reader import read_quantities

_NEAR = 5  # words around a word in which its direction may be said
_ARROW = re.compile(r"(?P<up>[↑⇑⬆▲])|(?P<down>[↓⇓⬇▼])")
_ROW_ENDS = re.compile(r"[;,\n|]")
_STEP = re.compile(
    r"(?P<left>[\w.,%/-]+)\s*(?:→|⇒|->|➔|⟶)\s*(?P<right>[\w.,%/-]+)|"
    r"\bfrom\s+(?P<from>[\w.%/-]+)(?:\s+[\w/%]+){0,2}?\s+to\s+(?P<to>[\w.%/-]+)",
    re.IGNORECASE,
)
_NUMBER = r"\d[\d.,]*(?<![.,])"
_UNIT = r"(?:\s?[^\W\d][\w/%²³^-]*|\s?%)"
_NUMBER_STEP = re.compile(
    rf"(?P<left>{_NUMBER}){_UNIT}{{0,3}}\s*(?:→|⇒|->|➔|⟶)\s*(?P<right>{_NUMBER})"
    rf"|\bfrom\s+(?P<from>{_NUMBER}){_UNIT}{{0,4}}?\s+to\s+(?P<to>{_NUMBER})"
    rf"|(?P<before>{_NUMBER}){_UNIT}{{0,2}}?\s+before\s+(?:and|but|versus|vs\.?)\s+(?P<after>{_NUMBER})"
    rf"{_UNIT}{{0,2}}?\s+after\b",
    re.IGNORECASE,
)
_CHAIN = re.compile(r"\s*(?:→|⇒|->|➔|⟶)\s*")
_CLAUSE_END = re.compile(r"[;,:\n|]|\b(?:and|but|while|whereas)\b", re.IGNORECASE)
_IN_ORDER = re.compile(
    r"\b(?:first|then|next|followed by|finally|lastly?|later|second|third|subsequently|starts? with|"
    r"starting with|last)\b",
    re.IGNORECASE,
)
_BACKWARDS = re.compile(r"\b(?:after|preceded|before|until|rather|instead)\b", re.IGNORECASE)


def missing_arrows(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` for each arrow or step of `claim` that the deciding sentence reverses.

    Examples: "↑ potassium" against "lowers potassium", "raises potassium" against "↓ potassium", the step "5
    → 10" against "10 to 5", the chain "A → B → C" against "first B, then A". The kind is "order" for a chain,
    else "arrow". The deciding sentence is `evidence.nearest`.
    """
    sentence = evidence.nearest
    stated = read_arrows(claim)
    for sign, key, start, end in stated:
        if any(other == key and turned == -sign for turned, other, *_ in stated):
            continue  # of two things: which of them the sentence says it of is not read here
        said = _signs_of(key, sentence)
        if said and sign not in said:
            yield Missing("arrow", start, end, instead="less" if sign > 0 else "more")
    for sign, key, start, end in () if _ARROW.search(claim) else read_arrows(sentence):
        if _signs_of(key, claim) == {-sign} and shared_with(claim, 0, 0, sentence) > 0:
            for token in read_tokens(claim):
                if directions(token.lower).get("amount") == -sign:
                    yield Missing("arrow", token.start, token.end, instead=sentence[start:end])
                    break
    yield from _missing_steps(claim, sentence)
    yield from _missing_chains(claim, sentence)


def _missing_steps(claim: str, sentence: str) -> Iterator[Missing]:
    """Yields the first step of `claim` that the sentence takes backwards: "5 → 10" against "from 10 to 5"."""
    for pattern in (_STEP, _NUMBER_STEP):
        known = {_step(found) for found in pattern.finditer(sentence)}
        for found in pattern.finditer(claim):
            left, right = _step(found)
            if (right, left) in known and (left, right) not in known:
                yield Missing("arrow", *found.span(), instead=f"{right} to {left}")
                return


def _missing_chains(claim: str, sentence: str) -> Iterator[Missing]:
    """Yields each chain of steps that the sentence has in another order: "A → B" for "first B, then A"."""
    if not _IN_ORDER.search(sentence) or _BACKWARDS.search(sentence):
        return
    for row in re.finditer(r"[^;\n|]+", claim):
        steps = _CHAIN.split(row[0].rpartition(": ")[2])
        if len(steps) == 1:
            continue
        places = [_place(step, steps, sentence) for step in steps]
        found = [place for place in places if place is not None]
        if len(found) > 1 and found != sorted(found):
            note = "claim and evidence have the steps in another order"
            yield Missing("order", *row.span(), note=note)


def _place(step: str, steps: Sequence[str], sentence: str) -> int | None:
    """Returns the offset in `sentence` of an amount or word that only `step` has among `steps`; else None."""
    others = [other for other in steps if other is not step]
    amounts, known = read_quantities(step), read_quantities(sentence)
    for amount in amounts:
        theirs = [each for other in others for each in read_quantities(other)]
        if any(same_ends(amount, each) for each in theirs if each.dimension == amount.dimension):
            continue
        same = [each for each in known if each.dimension == amount.dimension and same_ends(amount, each)]
        if len(same) == 1:
            return same[0].start
    keys = content_keys(step) - frozenset().union(*map(content_keys, others))
    places = [token.start for token in read_tokens(sentence) if token.key in keys]
    return min(places, default=None)


@lru_cache(maxsize=defaults.TEXTS_KEPT)
def read_arrows(text: str) -> tuple[tuple[int, str, int, int], ...]:
    """Returns the arrows of `text` that say "more" or "less", in order.

    Returns:
        (sign, key, start, end) of each: 1 for "↑" and -1 for "↓", the key (stem) of the word that the arrow
        is about, and the span of the arrow. The word is the first content word behind the arrow in its row,
        else the last before it; "" without such a word.
    """
    tokens = [token for token in read_tokens(text) if token.content]
    found = []
    for arrow in _ARROW.finditer(text):
        start, end = part_around(text, *arrow.span(), ends=_ROW_ENDS)
        following = [token.key for token in tokens if arrow.end() <= token.start < end]
        ahead = [token.key for token in tokens if start <= token.start < arrow.start()]
        key = (following or ahead[-1:] or [""])[0]
        found.append((1 if arrow["up"] else -1, key, *arrow.span()))
    return tuple(found)


def _signs_of(key: str, text: str) -> set[int]:
    """Returns the signs, 1 for more and -1 for less, that `text` gives to the word with the key `key`.

    Arrows decide where the word has any. Else words such as "lowers" in its clause or near it do; they count
    only if all of them agree. Empty where `text` does not say.
    """
    signs = {sign for sign, other, *_ in read_arrows(text) if other == key}
    if signs:
        return signs
    tokens = read_tokens(text)
    for place, token in enumerate(tokens):
        if token.key == key:
            if within := _signs_within(token.start, text):
                signs |= within
                continue
            near = (directions(other.lower) for other in tokens[max(0, place - _NEAR) : place + _NEAR])
            signs |= {sign for found in near if (sign := found.get("amount") or found.get("level"))}
    return signs if len(signs) == 1 else set()


def _signs_within(position: int, text: str) -> set[int]:
    """Returns the signs (1 more, -1 less) of the words in the clause around the offset `position`."""
    start, end = part_around(text, position, position, ends=_CLAUSE_END)
    said = (directions(token.lower) for token in read_tokens(text[start:end]))
    return {sign for found in said if (sign := found.get("amount") or found.get("level"))}


def _step(found: re.Match[str]) -> tuple[str, str]:
    """Returns both ends of "5 → 10", "from 5 to 10" or "5 before and 10 after": ("5", "10")."""
    left, right = (end for end in found.groups() if end)
    return left.lower().strip(".,"), right.lower().strip(".,")
