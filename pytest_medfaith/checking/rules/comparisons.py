"""What is compared with what: "A caused more X than B", "A rather than B", "compared with B, A lowered X"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_medfaith.english.opposites import directions
from pytest_medfaith.english.words import Token, share

_ENDS = frozenset(";:.()")
_CLAUSE = frozenset(",;:.()")
# Words of a comparison that point neither way but have an opposite of their own.
_RANKED = {
    "superior": 1,
    "inferior": -1,
    "safer": 1,
    "riskier": -1,
    "stronger": 1,
    "weaker": -1,
    "likelier": 1,
    "rarer": -1,
    "cheaper": -1,
    "preferred": 1,
    "preferable": 1,
    "favoured": 1,
    "favored": 1,
    "commoner": 1,
    "fewer": -1,
}
_GROUPS = ("amount", "quality", "speed", "length", "frequency", "strength", "severity")
SAME_MATTER = 0.6  # of the words that are compared, the two sides aside, that both comparisons have
_DEGREES = {"further": 1, "more": 1, "less": -1}  # straight before "than"
_SIDED = frozenset("with in on by for among after under from".split())
_FARTHEST = 9  # words from the word of comparison to its "than"


@dataclass(frozen=True)
class Comparison:
    """The words that are compared, `left` with `right`, the way the comparison points (1, -1, 0 for a choice), and the words that say it."""

    left: frozenset[str]
    right: frozenset[str]
    sign: int
    word: str
    start: int
    end: int

    def swaps(self, other: Comparison) -> bool:
        """Returns whether each side of this comparison stands on the opposite side of `other`."""
        return bool(self.right & (other.left - other.right)) and bool(other.right & (self.left - self.right))


def read_comparisons(tokens: Sequence[Token]) -> list[Comparison]:
    """Returns the comparisons that a sentence makes, in order."""
    return [found for index in range(len(tokens)) if (found := _at(tokens, index)) is not None]


def _at(tokens: Sequence[Token], index: int) -> Comparison | None:
    size, choice = _connector(tokens, index)
    if not size:
        return None
    behind, ahead = list(_until(tokens[index + size :], _ENDS)), list(_until(reversed(tokens[:index]), _ENDS))
    if not ahead:  # "Compared with B, A ..."
        parted = next((place for place, token in enumerate(behind) if token.lower == ","), None)
        if parted is None:
            return None
        behind, ahead = behind[:parted], list(reversed(behind[parted + 1 :]))
    elif "," in [token.lower for token in behind]:
        behind = behind[: [token.lower for token in behind].index(",")]
    word, sign = (tokens[index], 0) if choice else _pointing(ahead)
    left, right = _keys(ahead) - {word.key}, _keys(behind)
    return (
        Comparison(left, right, sign, "" if choice else word.key, word.start, word.end)
        if left and right
        else None
    )


def _connector(tokens: Sequence[Token], index: int) -> tuple[int, bool]:
    """Returns how many words at `index` join two things that are compared, 0 for none, and whether they choose one of the two."""
    lower = [token.lower for token in tokens[index : index + 2]]
    before = tokens[index - 1].lower if index else ""
    if lower in (["rather", "than"], ["instead", "of"]):
        return 2, True
    if lower[0] == "than" and before not in ("rather", "other") and not _bounds(tokens, index):
        return 1, False
    if lower in (["compared", "with"], ["compared", "to"], ["relative", "to"]):
        return 2, False
    if lower[0] in ("versus", "vs"):
        return 1, False
    return (
        (1, False)
        if (before, lower[0])
        in (
            ("superior", "to"),
            ("inferior", "to"),
            ("preferred", "over"),
            ("preferable", "to"),
            ("preferred", "to"),
            ("favoured", "over"),
        )
        else (0, False)
    )


def _bounds(tokens: Sequence[Token], index: int) -> bool:
    """Returns whether a "than" belongs to a number: "more than 5"."""
    following = tokens[index + 1].lower if index + 1 < len(tokens) else ""
    return not following or (
        following[0].isdigit()
        and not any(token.lower == "than" for token in tokens[index + 1 :])
        and tokens[index - 1].lower
        in ("more", "less", "greater", "higher", "lower", "fewer", "older", "younger")
    )


def _until(tokens: Iterator[Token] | Sequence[Token], ends: frozenset[str]) -> Iterator[Token]:
    """Yields tokens up to the first of `ends`; what stands in brackets is passed over."""
    inside = False
    for token in tokens:
        if token.lower in "()":
            inside = not inside
        elif token.lower in ends - {"(", ")"} and not inside:
            return
        elif not inside:
            yield token


def _pointing(ahead: Sequence[Token]) -> tuple[Token, int]:
    """Returns the word nearest before the connector that points a way, and which; the nearest word and 0 where none does."""
    near = ahead[:_FARTHEST]
    for place, token in enumerate(
        near
    ):  # "lowered cholesterol less than", "fell more with A than": the verb's way, by degree
        if token.lower in _DEGREES and (place == 0 or near[place - 1].lower in _SIDED):
            verb = next(
                (sign for other in near[place + 1 :] if (sign := directions(other.lower).get("amount", 0))), 1
            )
            return token, _DEGREES[token.lower] * verb
    compared = next(
        (token for token in near if token.lower in ("more", "fewer", "less") or _is_comparative(token.lower)),
        None,
    )
    for place, token in enumerate(near):
        if (
            compared is not None
            and token is not compared
            and not _is_comparative(token.lower)
            and place < near.index(compared)
        ):
            continue  # "fewer major bleeds than": what is compared is the number
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


def _is_comparative(word: str) -> bool:
    return word.endswith("er") and (word in _RANKED or any(group in directions(word) for group in _GROUPS))


def _keys(tokens: Sequence[Token]) -> frozenset[str]:
    return frozenset(
        token.key for token in tokens if token.key and (token.content or token.lower[0].isdigit())
    )


def relation(
    mine: Sequence[Token], theirs: Sequence[Token]
) -> tuple[str, Comparison | None, Comparison | None]:
    """Returns how two sentences compare: "turned" where sides are swapped and the way is one, "same" where both are swapped, else an empty text.

    A sentence that compares more than once, or something else than the claim does, says nothing of it.
    """
    for one in read_comparisons(mine):
        for other in read_comparisons(theirs):
            if not one.swaps(other):
                continue
            if one.sign * other.sign < 0:
                return "same", one, other
            if (
                one.sign == other.sign
                and (one.sign or one.word == other.word)
                and _of_one_matter(one, other, mine, theirs)
            ):
                return "turned", one, other
    return "", None, None


def _of_one_matter(
    one: Comparison, other: Comparison, mine: Sequence[Token], theirs: Sequence[Token]
) -> bool:
    """Returns whether most words of the claim's comparison, the two sides aside, stand in the sentence's, which points a way no more often."""
    sides = (one.right & other.left) | (other.right & one.left)
    topic = (one.left | one.right) - sides
    alike = not topic or share(topic, other.left | other.right) >= SAME_MATTER
    return alike and _ways(theirs) <= _ways(mine)


def _ways(tokens: Sequence[Token]) -> int:
    return sum(
        token.lower in _RANKED or any(group in directions(token.lower) for group in _GROUPS)
        for token in tokens
    )
