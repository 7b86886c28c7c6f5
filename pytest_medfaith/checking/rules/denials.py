"""The words of a sentence that negate, and the word that each of them negates.

"Do not take it" has the negation "not", which negates "take".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_medfaith.english.words import Token

REACH = 4  # words from a negation to the word that it negates
ENDS = frozenset(",;:()–—")
NOT = frozenset(
    """not no never cannot can't don't doesn't didn't isn't aren't wasn't weren't won't shouldn't needn't
    mustn't couldn't wouldn't hasn't haven't""".split()
)
# These words negate too, but rarely the statement itself: "patients without fever".
LESS_PLAIN = frozenset(
    """without none neither nor nothing nobody lack lacks lacked lacking absence absent missing
    free rarely seldom hardly unlikely impossible untrue myth keeps keep stops stop prevents
    prevent prevented""".split()
)
REFUSING = frozenset(
    """avoid avoids avoided avoiding contraindicated contraindication unsafe unsuitable inappropriate
    inadvisable unnecessary prohibited forbidden banned discouraged withheld fails failed fail unable
    ineffective""".split()
)
_NEAR_NEGATIONS = REFUSING | LESS_PLAIN
# "Recommends against" denies what "recommends" says. "Warns against" is a negation too, but says the same as
# "warns of".
SPEAKING = frozenset(
    """recommend recommends recommended recommending recommendation recommendations advise advises advised
    advising advice argue argues argued arguing argument arguments""".split()
)
_WARNING = frozenset("warn warns warned warning warnings caution cautions cautioned cautioning".split())
_BEFORE_AGAINST = SPEAKING | _WARNING
_ADVISED = frozenset(
    "patients people women men adults children parents users doctors clinicians physicians them us".split()
)
_EITHER = frozenset("without absent none absence".split())
_TIMES = frozenset("hour hours day days week weeks month months year years".split())
_FAILING = frozenset("fail fails failed".split())
_CASES = frozenset("if when where once".split())
COMPARATIVES = frozenset("more less fewer later longer sooner earlier higher lower greater".split())
_NO_NEGATION_BEFORE = COMPARATIVES | frozenset(
    "only just matter one doubt exceed least all every everyone always".split()
)
# "But not in children" and "not by itself" set a part of the sentence apart, which a claim need not repeat.
_CONTRAST = frozenset(
    "in by with to at on for when if what because from of during after before as than".split()
)
# A clause after these words only tells which thing is meant: "a cut that has not healed".
_RELATIVE = frozenset("that which who whose".split())
_PASSED_OVER = frozenset(
    """be been being is are was were have has had having do does did a an the any to yet also so very more
    likely""".split()
)


def negations(tokens: Sequence[Token]) -> list[int]:
    """Returns the indices of the words that negate; "not only" and "no more than" do not.

    "Avoid", "without" and "recommends against" negate as well.
    """
    return [
        index
        for index, token in enumerate(tokens)
        if (
            (token.lower in _NEAR_NEGATIONS and not fails_in_condition(tokens, index))
            and not is_either_way(tokens, index)
        )
        or _negates(tokens, index)
        or _is_off(tokens, index)
    ]


def _is_off(tokens: Sequence[Token], index: int) -> bool:
    """Returns whether the word is the "off" of "two weeks off antibiotics", which says without them."""
    timed = index > 0 and tokens[index - 1].lower in _TIMES
    return timed and tokens[index].lower == "off" and index + 1 < len(tokens) and bool(tokens[index + 1].key)


def fails_in_condition(tokens: Sequence[Token], index: int) -> bool:
    """Returns whether the word at `index` is the "fail" of "if these fail", which denies nothing."""
    ahead = {token.lower for token in tokens[max(0, index - 2) : index]}
    return tokens[index].lower in _FAILING and bool(ahead & _CASES)


def is_either_way(tokens: Sequence[Token], index: int) -> bool:
    """Returns whether the word at `index` is the "not" of "or not" or the "without" of "with or without"."""
    before = tokens[index - 1].lower if index else ""
    return (before in ("or", "and") and tokens[index].lower in _EITHER) or (
        before == "or" and tokens[index].lower.replace("’", "'") in NOT
    )


def negated_words(tokens: Sequence[Token]) -> Mapping[int, int]:
    """Returns {index of a negating word: index of the word that it negates}.

    In "do not take it" {1: 2}. Negations of a group ("not in children") or of a relative clause are left out.
    """
    found = {}
    for index in range(len(tokens) - 1):
        if (verb := verb_of_against(tokens, index)) is not None:
            if tokens[verb].lower in SPEAKING:
                found[index] = verb
            continue
        is_relative = any(token.lower in _RELATIVE for token in tokens[max(0, index - 2) : index])
        if not _negates(tokens, index) or tokens[index + 1].lower in _CONTRAST or is_relative:
            continue
        for place in range(index + 1, min(index + 1 + REACH, len(tokens))):
            lower = tokens[place].lower
            if lower in ENDS:
                break
            if tokens[place].key and lower not in _PASSED_OVER and not lower.endswith("ly"):
                found[index] = place
                break
    return found


def verb_of_against(tokens: Sequence[Token], index: int) -> int | None:
    """Returns the index of the verb of an "against" at `index`: "recommends against", "advise users against".

    None for any other word than "against", and for a verb that neither speaks nor warns.
    """
    if tokens[index].lower != "against":
        return None
    for place in reversed(range(index)):
        lower = tokens[place].lower
        if lower not in _ADVISED and not lower.endswith("ly"):
            return place if lower in _BEFORE_AGAINST else None
    return None


def _negates(tokens: Sequence[Token], index: int) -> bool:
    """Returns whether the word at `index` is a denying "not" or the like, or the "against" of such a verb.

    "Not more than 5" denies nothing.
    """
    if tokens[index].lower.replace("’", "'") not in NOT:
        return verb_of_against(tokens, index) is not None
    before = tokens[index - 1].lower if index else ""
    following, after = (
        tokens[place].lower if place < len(tokens) else "" for place in (index + 1, index + 2)
    )
    # "Not more than 5" is a bound, while "not more frequent than with placebo" denies.
    is_bound = following in _NO_NEGATION_BEFORE and (
        following not in COMPARATIVES or not after or after == "than"
    )
    return not is_bound and before != "or"
