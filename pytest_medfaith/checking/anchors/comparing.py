"""Comparisons whose sides the evidence swaps: "A helps more than B" against "B helps more than A"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, denials, shared_with
from pytest_medfaith.checking.anchors.same_amount import sides_swapped
from pytest_medfaith.checking.rules.comparisons import Comparison, read_comparisons
from pytest_medfaith.english.opposites import directions
from pytest_medfaith.english.words import content_keys, read_tokens, share
from pytest_medfaith.quantities.fractions import read_multiples

SAME_STATEMENT = 0.6  # of the claim's words that the sentence holds
SAME_MATTER = 0.8  # of the compared words that both hold, where the two sides keep their places
_REVERSED = "claim and evidence compare the other way round"
_EQUAL = re.compile(
    r"\b(?:no (?:significant |clear |important )?(?:difference|advantage|benefit)s?|did not differ|"
    r"(?:was|were|is|are) (?:similar|equal|the same|comparable|no different|no better)\b|"
    r"as (?:\w+ )?(?:frequent|common|effective|likely|often|well|many|good|safe|"
    r"high|low|severe)\w* (?:with|in|as)\b)",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"\b\w+er\b(?=\s+(?:than|with|for|after|in))|\b(?:more|less|fewer|better|worse)\b", re.IGNORECASE
)
_LIVING, _DYING = (
    re.compile(r"\bsurviv\w+", re.IGNORECASE),
    re.compile(r"\b(?:mortality|deaths?|died?|dead)\b", re.IGNORECASE),
)
_AGAINST = re.compile(r"\b(?:vs|versus|compared|as was|as were)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[;,]|\b(?:but|while|whereas|although|though)\b", re.IGNORECASE)


def missing_comparisons(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "comparison" for a comparison that the deciding sentence turns.

    The sentence (`evidence.nearest`) turns "A helps more than B" if it says that B helps more than A, that
    both are equal, or that B alone helps. It turns "twice as likely in men" if it says so of women. At most
    one is yielded.
    """
    sentence, tokens = evidence.nearest, read_tokens(claim)
    if shared_with(claim, 0, 0, sentence) < SAME_STATEMENT:
        return
    alike = denials(claim) == denials(sentence)
    if not (alike or _EQUAL.search(sentence)):
        return
    if any(one.search(claim) and two.search(sentence) for one, two in ((_LIVING, _DYING), (_DYING, _LIVING))):
        return
    known = read_comparisons(read_tokens(sentence))
    for mine in read_comparisons(tokens):
        if (
            any(_is_turned(mine, other, claim, sentence) for other in known)
            or (not known and _is_equal(mine, claim, sentence))
            or _is_of_the_other(mine, sentence)
        ):
            yield Missing("comparison", mine.start, mine.end, note=_REVERSED)
            return
    yield from _turned_multiples(claim, sentence)


def _is_turned(mine: Comparison, other: Comparison, claim: str, sentence: str) -> bool:
    """Returns whether both compare the same two things and point in opposite ways.

    Either the sides are swapped and the direction is the same ("A more than B", "B more than A"), or the
    sides stay and the direction is opposite ("A more than B", "A less than B").

    Args:
        mine: the comparison of the claim.
        other: the comparison of the sentence.
        claim: the text of the claim.
        sentence: the sentence that decided.
    """
    if not mine.sign or not other.sign:
        return False
    if mine.swaps(other):
        sides = (mine.right & other.left) | (other.right & mine.left)
        matter = (mine.left | mine.right) - sides
        same = not matter or share(matter, other.left | other.right) >= SAME_STATEMENT
        return same and not _keeps_sides(mine, other) and mine.sign == other.sign
    if not _keeps_sides(mine, other) or mine.sign == other.sign:
        return False
    ways = [
        directions(word.lower()) for word in (claim[mine.start : mine.end], sentence[other.start : other.end])
    ]
    if all(ways) and not ways[0].keys() & ways[1].keys():
        return False  # "faster" is no opposite of "less time"
    words = (mine.left | mine.right) - {mine.word}
    return share(words, content_keys(sentence)) >= SAME_MATTER and not _has_its_word(mine, sentence)


def _keeps_sides(mine: Comparison, other: Comparison) -> bool:
    """Returns whether both have a word in common on the left side only, and one on the right side only."""
    first = (mine.left - mine.right) & (other.left - other.right)
    second = (mine.right - mine.left) & (other.right - other.left)
    return bool(first and second)


def _has_its_word(mine: Comparison, sentence: str) -> bool:
    """Returns whether the sentence has the claim's word of comparison."""
    return any(token.key == mine.word for token in read_tokens(sentence))


def _is_equal(mine: Comparison, claim: str, sentence: str) -> bool:
    """Returns whether the sentence finds both sides of the claim's comparison equal."""
    if not mine.sign or not _EQUAL.search(sentence) or _EQUAL.search(claim) or _COMPARED.search(sentence):
        return False
    keys = content_keys(sentence)
    if denials(claim) or share((mine.left | mine.right) - {mine.word}, keys) < SAME_MATTER:
        return False
    return bool((mine.left - mine.right) & keys) and share(mine.right - mine.left, keys) >= SAME_MATTER


def _is_of_the_other(mine: Comparison, sentence: str) -> bool:
    """Returns whether a clause says the claim's word of comparison of the claim's second thing alone.

    "..., but relapses were rarer with B" turns "Relapses were rarer with A than with B".
    """
    ends = [0, *(found.end() for found in _CLAUSE.finditer(sentence)), len(sentence)]
    left, right = mine.left - mine.right, mine.right - mine.left
    for start, end in pairwise(ends):
        clause = read_tokens(sentence[start:end])
        if not any(token.key == mine.word for token in clause) or read_comparisons(clause):
            continue
        keys = content_keys(sentence[start:end])
        elsewhere = content_keys(sentence[:start] + " " + sentence[end:]) - keys
        if right and right <= keys and left & elsewhere and not right & elsewhere:
            return bool(left & keys) and not _AGAINST.search(sentence)
    return False


def _turned_multiples(claim: str, sentence: str) -> Iterator[Missing]:
    """Yields "twice" of "men were twice as likely as women" where the sentence says it of women."""
    known = list(read_multiples(sentence))
    for multiple in read_multiples(claim):
        for other in known:
            if multiple.low == other.low and sides_swapped(multiple, claim, other, sentence):
                yield Missing("comparison", multiple.start, multiple.end, note=_REVERSED)
                return
