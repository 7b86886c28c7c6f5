"""Splits a statement where "and", "but" or "or" joins two things that are said of its subject.

Example: "X lowers A and raises B" says "X lowers A" and "X raises B".
"""

from __future__ import annotations

from dataclasses import dataclass

from pytest_medfaith.english import lexicon
from pytest_medfaith.english.conjugation import noun_verbs
from pytest_medfaith.english.grammar import Clause, Part
from pytest_medfaith.english.lexicon import word_set
from pytest_medfaith.english.phrases import Phrase, borrowed, has_pair, holds, places, trimmed
from pytest_medfaith.english.verbs import (
    auxiliary_form,
    begins_object,
    ends_open,
    forms,
    is_adverb,
    is_auxiliary,
)

_REPEATABLE = word_set("for in by to from on through as during after")
_LIMITING = word_set("never not rarely seldom hardly scarcely barely longer")
_INVERTED = word_set("should were had")
# After these words the second verb needs the negation too: "Don't crush or chew" never says "chew".
_DO = word_set("do don't")
_BEFORE_BARE_VERB = lexicon.MODALS | word_set("to do does did don't doesn't didn't help helps please")


@dataclass(frozen=True)
class _Parallel:
    """A second predicate, such as "raises B" after "X lowers A and".

    Attributes:
        joint: the index of the joining word or comma.
        begin: the index of the second verb.
        match: the index of the first verb, in whose place the second one goes.
    """

    joint: int
    begin: int
    match: int


def split_predicates(whole: Part) -> list[Part]:
    """Splits "X lowers A and raises B" into "X lowers A" and "X raises B"; [whole] where nothing is joined.

    The second verb takes the place of the nearest verb in the same form, and gets all words before that verb:
    "X can lower A and raise B" gives "X can raise B". Words that belong together by "if", "who" or a negation
    stay together, and so does a choice with "or".
    """
    words, clause = whole.words, whole.clause
    inverted = words[0].lower in _INVERTED  # "Should pain come on, ring ... and say ..."
    if clause is None or inverted or holds(words, lexicon.PAIRING) or has_pair(words, "not", "only"):
        return [whole]
    parallel = _first_parallel(clause)
    if parallel is None:
        return [whole]
    first = Part(trimmed(words[: parallel.joint]))
    second = Part((*borrowed(words[: parallel.match]), *words[parallel.joint + 1 :]))
    return [*split_predicates(first), *split_predicates(second)]


def _first_parallel(clause: Clause) -> _Parallel | None:
    """Returns the first place where a second predicate may be split off, or None."""
    words = clause.words
    for joint in places(words, (",", "and", "or", "but"), clause.main + 1, len(words) - 1):
        behind = words[joint + 1].lower
        if behind == "so" or (words[joint].text == "," and behind in ("and", "or", "but")):
            continue
        begin = joint + 1
        while begin < len(words) - 1 and is_adverb(words[begin]) and words[begin].lower != "not":
            begin += 1
        match = _match(clause, joint, begin)
        if match is None or not _may_part(clause, _Parallel(joint, begin, match)):
            continue
        if words[joint].text != "," or _joined_later(clause, begin):
            return _Parallel(joint, begin, match)
    return None


def _joined_later(clause: Clause, begin: int) -> bool:
    """Returns whether an "and" with a verb follows, so that a comma before it can part predicates too."""
    later = places(clause.words, ("and", "or"), begin, len(clause.words) - 1)
    return any(_match(clause, joint, joint + 1) is not None for joint in later)


def _match(clause: Clause, joint: int, begin: int) -> int | None:
    """Returns the index of the nearest verb before `joint` in a form of the word at `begin`, or None."""
    wanted = frozenset() if clause.words[begin].inside else _forms_behind_joint(clause.words, begin)
    verbs = range(joint - 1, clause.main - 1, -1) if wanted else ()
    free = (index for index in verbs if not clause.words[index].inside)
    return next((index for index in free if _forms_in_place(clause, index) & wanted), None)


def _forms_behind_joint(words: Phrase, index: int) -> frozenset[str]:
    """Returns the forms in which the word at `index`, after an "and", can be a verb, by the word after it."""
    word = words[index]
    if auxiliary_form(word) is not None:
        return frozenset({"finite", "base"} if word.lower in ("have", "do") else {"finite"})
    if word.lower == "be":
        return frozenset({"base"})
    can_be, noun = forms(word), word.lower in noun_verbs()
    after = words[index + 1] if index + 1 < len(words) else None
    objects = after is not None and begins_object(after)
    found: set[str] = set()
    if "s" in can_be and (
        not noun or objects or (after is not None and after.lower in ("in", "from", "by", "as", "to"))
    ):
        found.add("s")
    if "base" in can_be and (objects or (not noun and after is not None and after.text not in ".,;")):
        found |= {"base", "plural"}
    if "past" in can_be and objects:
        found.add("past")
    elif "part" in can_be and not objects:
        found.add("part")
    return frozenset(found)


def _forms_in_place(clause: Clause, index: int) -> frozenset[str]:
    """Returns the forms that the verb at `index` may have there; empty for a word that is no verb."""
    word = clause.words[index]
    verb = next((verb for verb in clause.verbs if verb.index == index), None)
    if verb is not None and word.lower in _DO:
        return frozenset({"finite"})
    if verb is not None and verb.form == "base":
        return frozenset({"base"})
    if verb is not None:
        any_number = {"s", "plural"} if verb.form in ("modal", "past") else set()
        past = {"past"} if word.lower in ("was", "were") else set()
        return frozenset({"finite", verb.form, *any_number, *past})
    behind = (clause.words[place] for place in range(index - 1, -1, -1))
    before = next((word for word in behind if not is_adverb(word)), None)
    if before is None:
        return frozenset()
    if before.lower in _BEFORE_BARE_VERB and ("base" in forms(word) or word.lower in ("be", "have")):
        return frozenset({"base"})
    participle = "part" in forms(word) and is_auxiliary(before) and before.lower not in lexicon.MODALS
    return frozenset({"part"}) if participle else frozenset()


def _may_part(clause: Clause, parallel: _Parallel) -> bool:
    """Returns whether each of the two predicates is true without the other."""
    words, joint, match = clause.words, parallel.joint, parallel.match
    told = any(not is_adverb(word) and word.text != "," for word in words[match + 1 : joint])
    # "X runs, adds up to 7 hours and ends": what "ends" borrows would end with "runs,".
    listed = match > clause.subject_end and words[match - 1].text == ","
    if not told or listed or ends_open(words[:joint]) or _begins_anew(words[match:joint]):
        return False
    doubtful = (
        _is_adjective(clause, parallel)
        or _nested_purpose(clause, parallel)
        or (words[joint - 1].text == "," and _two_levels(clause, parallel))
    )
    return not _conditional(clause, parallel) and not doubtful and _joint_allows(clause, parallel)


def _begins_anew(words: Phrase) -> bool:
    """Returns whether an order or explanation begins among `words`: "will burn, so keep out and wear"."""
    so = any(words[comma + 1].lower == "so" for comma in places(words, ",", 0, len(words) - 1))
    return so or holds(words, ":;")


def _joint_allows(clause: Clause, parallel: _Parallel) -> bool:
    """Returns whether the joining word lets both predicates be true.

    An "or" does so only under "may" or a negation, an "and" only without a negation.
    """
    begin = clause.subject_end if clause.subject else 0
    before = {word.lower for word in clause.words[begin : parallel.match + 2]}
    negated = bool(lexicon.NEGATIONS & before)
    if clause.words[parallel.joint].lower == "or":
        return negated or bool(lexicon.TENTATIVE & before)
    shared = clause.words[max(0, min(begin, parallel.match - 2)) : parallel.match]
    limiting = _LIMITING if clause.subject else lexicon.NEGATIONS | _LIMITING
    if any(word.lower in limiting for word in shared) or (clause.subject and clause.subject[0].lower == "no"):
        return False
    return not negated or "finite" in _forms_in_place(clause, parallel.match)


def _is_adjective(clause: Clause, parallel: _Parallel) -> bool:
    """Returns whether the second "verb" may be an adjective, as in "without delay and lower costs"."""
    words = clause.words
    far = any(word.lower in lexicon.PREPOSITIONS - {"to"} for word in words[parallel.match : parallel.joint])
    adjective = words[parallel.begin].lower in lexicon.ADJECTIVE_VERBS
    return adjective and (far or is_adverb(words[parallel.begin - 1]))


def _nested_purpose(clause: Clause, parallel: _Parallel) -> bool:
    """Returns whether a bare verb could go with either of two "to": "ask a vet to find it and seek help"."""
    words, match = clause.words, parallel.match
    if "base" not in _forms_in_place(clause, match) or words[match - 1].lower != "to":
        return False
    return any(
        "base" in _forms_in_place(clause, index) and words[index - 1].lower == "to"
        for index in range(clause.main, match)
    )


def _two_levels(clause: Clause, parallel: _Parallel) -> bool:
    """Returns whether a bare verb could go with two verbs: "may find it hard to breathe, or wake"."""
    if "base" not in _forms_in_place(clause, parallel.match):
        return False
    bare = [index for index in range(clause.main, parallel.joint) if "base" in _forms_in_place(clause, index)]
    return len({clause.words[index - 1].lower == "to" for index in bare}) > 1


def _conditional(clause: Clause, parallel: _Parallel) -> bool:
    """Returns whether an "if" or a "that" may govern one of the two predicates, or both."""
    words = clause.words
    for index in places(words, lexicon.SUBORDINATORS, clause.main + 1, parallel.match):
        # What "studies show that ..." reports does not depend on it.
        if words[index].lower != "that" or words[index - 1].lower not in lexicon.ATTRIBUTIONS:
            return True
    between = places(words, lexicon.STRONG_CONDITIONS - {"until"}, parallel.match + 1, parallel.joint)
    if any(condition < verb.index < parallel.joint for condition in between for verb in clause.verbs):
        return True
    # An "if ..." at the end of the last predicate may hold for all of them.
    closing = places(words, lexicon.STRONG_CONDITIONS, parallel.begin + 1)
    return bool(closing) and not _joined_later(clause, closing[-1])


def split_repeated(whole: Part) -> list[Part]:
    """Splits "X helps for A and for B", and "if A or if B", where the joined word is repeated.

    [whole] for any other sentence, and for a sentence with a negation or a word such as "both".
    """
    words, clause = whole.words, whole.clause
    if clause is None or any(word.lower in lexicon.NEGATIONS | lexicon.PAIRING for word in words):
        return [whole]
    for joint in places(words, ("and", "or"), clause.main + 1, len(words) - 2):
        again = words[joint + 1].lower
        if again not in (_REPEATABLE if words[joint].lower == "and" else lexicon.STRONG_CONDITIONS):
            continue
        first = max(places(words, (again,), clause.main + 1, joint), default=None)
        if first is None or (again in _REPEATABLE and any(map(auxiliary_form, words[first:joint]))):
            continue
        rest = Part((*borrowed(words[:first]), *words[joint + 1 :]))
        return [Part(trimmed(words[:joint])), *split_repeated(rest)]
    return [whole]
