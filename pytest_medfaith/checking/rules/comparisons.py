"""Reads comparisons: "A caused more X than B", "A rather than B", "compared with B, A lowered X"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pytest_medfaith.english.opposites import directions
from pytest_medfaith.english.words import Token, share, weight
from pytest_medfaith.quantities.numerals import WORDS

SAME_MATTER = 0.6  # of the compared words, apart from the two sides, that both comparisons have
_FARTHEST = 9  # words from the word of comparison to its "than"
_ENDS = frozenset(";:.")
_CLAUSE_ENDS = frozenset(",;:()")
# Words that rank but have no direction by themselves (opposites.py).
_RANKED = dict.fromkeys(
    "superior safer stronger likelier preferred preferable favoured favored commoner".split(), 1
) | dict.fromkeys("inferior riskier weaker rarer cheaper fewer".split(), -1)
_GROUPS = ("amount", "quality", "speed", "length", "frequency", "strength", "severity")
_COMPARING = frozenset({"amount", "quality", "speed", "length", "frequency"})
_DEGREES = {"further": 1, "more": 1, "less": -1}  # straight before "than"
_SIDED = frozenset("with in on by for among after under from".split())
_CHOICES = (["rather", "than"], ["instead", "of"])
_SET_AGAINST = (["compared", "with"], ["compared", "to"], ["relative", "to"])
_RANKED_OVER = (
    ("superior", "to"),
    ("inferior", "to"),
    ("preferred", "over"),
    ("preferable", "to"),
    ("preferred", "to"),
    ("favoured", "over"),
)
_OUTDOING = frozenset("outperforms outperformed outperform surpasses surpassed surpass".split())
_BOUNDING = frozenset("more less greater higher lower fewer older younger".split())
BOUND_AFTER_THAN = frozenset("half halved a one".split())


@dataclass(frozen=True)
class Comparison:
    """A comparison that a sentence makes: "A caused more bleeding than B".

    Attributes:
        left: the keys (stems) of the words on the first side: "A caused bleeding".
        right: the keys of the words on the second side: "B".
        sign: 1 for more, -1 for less, 0 for a choice ("A rather than B") or an unknown direction.
        word: the key of the word of comparison ("more"); "" for a choice.
        start: the first character of that word.
        end: the character after it.
    """

    left: frozenset[str]
    right: frozenset[str]
    sign: int
    word: str
    start: int
    end: int

    def swaps(self, other: Comparison) -> bool:
        """Returns whether each comparison has a right side that is on the left side of the other."""
        return bool(self.right & (other.left - other.right)) and bool(other.right & (self.left - self.right))

    def mirrors(self, other: Comparison) -> bool:
        """Returns whether the two point in opposite ways, as "A is longer" and "B is shorter" do."""
        return self.sign * other.sign < 0


def swapped_comparisons(
    claim: Sequence[Token], sentence: Sequence[Token]
) -> tuple[Comparison, Comparison] | None:
    """Returns a comparison of the claim and one of the sentence whose sides are swapped; else None.

    If one mirrors the other, both say the same: "A is longer than B", "B is shorter than A". Else both point
    in the same way and contradict each other. A sentence that compares something else, or makes more
    comparisons than the claim, gives None.
    """
    stated = read_comparisons(claim)
    known = read_comparisons(sentence) if stated else []
    for one in stated:
        for other in known:
            if not one.swaps(other):
                continue
            if one.mirrors(other):
                return one, other
            same_way = one.sign == other.sign and (one.sign or one.word == other.word)
            if same_way and _same_matter(one, other) and _count_ways(sentence) <= _count_ways(claim):
                return one, other
    return None


def read_comparisons(tokens: Sequence[Token]) -> list[Comparison]:
    """Returns the comparisons that a sentence makes, in order.

    "Apixaban caused less bleeding than warfarin." compares by "less", which points down (-1), with warfarin
    on the right.
    """
    return [found for index in range(len(tokens)) if (found := _comparison_at(tokens, index)) is not None]


def _same_matter(one: Comparison, other: Comparison) -> bool:
    """Returns whether two comparisons share the words that are not part of their swapped sides."""
    sides = (one.right & other.left) | (other.right & one.left)
    matter = (one.left | one.right) - sides
    return not matter or share(matter, other.left | other.right) >= SAME_MATTER


def _count_ways(tokens: Iterable[Token]) -> int:
    """Returns how many words point up or down, as "more" and "safer" do."""
    return sum(token.lower in _RANKED or _has_direction(token.lower) for token in tokens)


def _has_direction(word: str) -> bool:
    """Returns whether a word points up or down in one of the groups that can be compared."""
    return any(group in directions(word) for group in _GROUPS)


def _comparison_at(tokens: Sequence[Token], index: int) -> Comparison | None:
    """Returns the comparison whose joining words ("than", "compared with") begin at `index`, or None."""
    size, is_choice = _joint(tokens, index)
    if not size:
        return None
    behind, ahead = list(_clause(tokens[index + size :])), list(_clause(reversed(tokens[:index])))
    comma = next((place for place, token in enumerate(behind) if token.lower == ","), None)
    if not ahead:  # "Compared with B, A ..."
        if comma is None:
            return None
        ahead = list(reversed(behind[comma + 1 :]))
    word, sign = (tokens[index], 0) if is_choice else _word_of_comparison(ahead)
    if tokens[index].lower in _OUTDOING:
        word, sign = tokens[index], 1
    left, right = _side(ahead) - {word.key}, _side(behind[:comma])
    if not left or not right:
        return None
    return Comparison(left, right, sign, "" if is_choice else word.key, word.start, word.end)


def _joint(tokens: Sequence[Token], index: int) -> tuple[int, bool]:
    """Returns how many words at `index` join two compared things, and whether they choose the first thing.

    (1, False) for "than", (2, True) for "rather than", (0, False) for other words.
    """
    words = [token.lower for token in tokens[index : index + 2]]
    before = tokens[index - 1].lower if index else ""
    if words in _CHOICES:
        return 2, True
    if words in _SET_AGAINST:
        return 2, False
    is_than = words[0] == "than" and before not in ("rather", "other") and not _is_bound(tokens, index)
    single = is_than or words[0] in ("versus", "vs", *_OUTDOING) or (before, words[0]) in _RANKED_OVER
    return (1, False) if single else (0, False)


def _is_bound(tokens: Sequence[Token], than: int) -> bool:
    """Returns whether the "than" at this index belongs to a number: "more than 5"."""
    if than + 1 == len(tokens):
        return True
    later = tokens[than + 1 :]
    bounds = later[0].lower[0].isdigit() and tokens[than - 1].lower in _BOUNDING
    return bounds and not any(token.lower == "than" for token in later)


def _clause(tokens: Iterable[Token]) -> Iterator[Token]:
    """Yields tokens up to the first that ends the clause, without those in brackets."""
    inside = False
    for token in tokens:
        if token.lower in "()":
            inside = not inside
        elif not inside:
            if token.lower in _ENDS:
                return
            yield token


def _word_of_comparison(ahead: Sequence[Token]) -> tuple[Token, int]:
    """Returns the nearest word before the joint that points up or down, and its sign, 1 or -1.

    Without such a word it returns the nearest word, and 0.

    Args:
        ahead: the words before the joint ("than"), the nearest first; not empty.
    """
    near = ahead[:_FARTHEST]
    for place, token in enumerate(near):
        if token.lower in _DEGREES and (place == 0 or near[place - 1].lower in _SIDED):
            # "Lowered cholesterol less than" and "fell more with A than" have the verb's sign times the
            # degree's.
            verbs = (directions(other.lower).get("amount", 0) for other in near[place + 1 :])
            return token, _DEGREES[token.lower] * next(filter(None, verbs), 1)
    comparative = next(
        (
            place
            for place, token in enumerate(near)
            if token.lower in ("more", "fewer", "less")
            or (token.lower.endswith("er") and (token.lower in _RANKED or _has_direction(token.lower)))
        ),
        0,
    )
    # In "fewer major bleeds than" the number is compared: words after the comparative do not point.
    for place, token in enumerate(near[comparative:], start=comparative):
        following = ahead[place + 1] if place + 1 < len(ahead) else token
        if following.lower in ("more", "less"):  # "more often", "less effective"
            return following, 1 if following.lower == "more" else -1
        if token.lower in _RANKED:
            return token, _RANKED[token.lower]
        found = directions(token.lower)
        sign = next((found[group] for group in _GROUPS if group in found), 0)
        if sign:
            return token, sign
    return ahead[0], 0


def _side(tokens: Iterable[Token]) -> frozenset[str]:
    """Returns the keys of the content words and numbers on a side of a comparison."""
    return frozenset(
        token.key for token in tokens if token.key and (token.content or token.lower[0].isdigit())
    )


@dataclass(frozen=True)
class ThanComparison:
    """The comparison of "A is higher than B".

    Attributes:
        word: the comparative, "higher".
        left: the keys (stems) of the content words before "than".
        right: the keys of the content words after it, in its clause.
    """

    word: Token
    left: frozenset[str]
    right: frozenset[str]

    def is_reversed_in(self, other: ThanComparison) -> bool:
        """Returns whether words from each side of "than" are on the opposite side alone in `other`.

        General words ("patients") do not suffice: on each side their weights must sum to 1 (see `weight`).
        """
        moved_ahead = self.right & (other.left - other.right)
        moved_behind = (self.left - self.right) & other.right
        return sum(map(weight, moved_ahead)) >= 1 and sum(map(weight, moved_behind)) >= 1


def read_than_comparison(tokens: Sequence[Token]) -> ThanComparison | None:
    """Returns the comparison of a sentence with a single "than" and a single comparative, else None."""
    than = comparing_than(tokens)
    if than is None or sum(token.lower == "than" for token in tokens) != 1:
        return None
    comparatives = [
        token
        for before, token in zip((None, *tokens), tokens[:than], strict=False)
        if directions(token.lower).keys() & _COMPARING
        and not (before and before.lower in ("more", "less"))  # "more often" is a single comparative
    ]
    if len(comparatives) != 1:  # "lowers relapses more than" points in two ways
        return None
    (word,) = comparatives
    end = next(
        (index for index in range(than + 1, len(tokens)) if tokens[index].lower in _CLAUSE_ENDS), len(tokens)
    )
    left = frozenset(token.key for token in tokens[:than] if token.content and token is not word)
    return ThanComparison(
        word, left, frozenset(token.key for token in tokens[than + 1 : end] if token.content)
    )


def comparing_than(tokens: Sequence[Token]) -> int | None:
    """Returns the index of the first "than" that compares two things, unlike "more than 10%"; or None."""
    for index, token in enumerate(tokens[:-1]):
        following = tokens[index + 1].lower
        is_value = following[0].isdigit() or following in BOUND_AFTER_THAN or following in WORDS
        if token.lower == "than" and not is_value:
            return index
    return None
