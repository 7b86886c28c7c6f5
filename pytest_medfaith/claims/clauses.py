"""Splits a sentence where "and", "but" or a semicolon joins statements that each hold on their own.

Each rule takes the words of one statement and returns one or several. A rule that is not sure returns what it was given: no
rule splits inside brackets and quotes, nor conditions ("in people who smoke and drink"), nor what a negation holds together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_medfaith.claims import lexicon
from pytest_medfaith.claims.grammar import Clause, auxiliary_form, forms, is_adverb, is_auxiliary, ends_open, is_content, read_clause
from pytest_medfaith.claims.words import Phrase, Word, carried

_JOINTS = frozenset("and but so yet whereas while although though".split())
_CONCESSIVE = frozenset("although though while whereas".split())
STRONG_CONDITIONS = frozenset("if when whenever unless until provided".split())
_JOINED_PAIRS = frozenset("neither either both nor".split())
_REPEATABLE = frozenset("for in by to from on through as during after".split())
_QUESTION_WORDS = frozenset("that which who whether how why what whatever whoever".split())
_OPENING_WORDS = frozenset("after before until because as although though".split())


@dataclass(frozen=True)
class _Joint:
    """Where two clauses may part: the words from `start` to `end` join them."""

    start: int
    end: int
    comma: bool
    word: str


def split_clauses(words: Phrase) -> list[Phrase]:
    """Returns the clauses of `words` that have a subject and a verb of their own; an opening "In adults," goes with each."""
    concessive = _split_concessive(words)
    if concessive:
        return [part for clause in concessive for part in split_clauses(clause)]
    left = read_clause(words)
    for joint in _joints(words):
        if left.main is None or joint.start <= left.main:
            continue
        right = read_clause(words[joint.end :])
        if _parts(left, joint, right):
            lead = carried(words[: left.lead]) if right.lead == 0 and words[0].lower in lexicon.PREPOSITIONS | lexicon.CONDITIONS else ()
            return [trimmed(words[: joint.start]), *split_clauses((*lead, *words[joint.end :]))]
    return [words]


def _split_concessive(words: Phrase) -> list[Phrase]:
    """Splits "Although A, B", which states both."""
    if not words or words[0].lower not in _CONCESSIVE:
        return []
    whole = read_clause(words)
    if whole.main is None or whole.lead < 2 or words[whole.lead - 1].text != ",":  # noqa: PLR2004
        return []
    first = read_clause(words[1 : whole.lead - 1])
    return [first.words, words[whole.lead :]] if first.main is not None and first.subject else []


def _joints(words: Phrase) -> Iterator[_Joint]:
    for index, word in enumerate(words[:-1]):
        if word.inside:
            continue
        if word.text == ";":
            skip = 2 if words[index + 1].lower in _JOINTS else 1
            yield _Joint(index, index + skip, comma=True, word=";")
        elif word.text == "," and words[index + 1].lower == "even" and index + 2 < len(words) and words[index + 2].lower == "though":
            yield _Joint(index, index + 3, comma=True, word="though")
        elif word.text == "," and words[index + 1].lower in _JOINTS:
            yield _Joint(index, index + 2, comma=True, word=words[index + 1].lower)
        elif word.lower in _JOINTS and word.lower not in ("so", "yet", "while") and (index == 0 or words[index - 1].text != ","):
            yield _Joint(index, index + 1, comma=False, word=word.lower)


def _parts(left: Clause, joint: _Joint, right: Clause) -> bool:
    if right.main is None or not right.subject or not any(is_content(word) or word.lower in lexicon.PRONOUNS for word in right.subject):
        return False
    if right.words[0].lower in _QUESTION_WORDS or (not joint.comma and _in_series(left, joint)) or _has_pair(left.words, "not", "only"):
        return False
    if any(word.text in ",;" and not word.inside for word in right.subject) or right.subject[-1].lower in ("and", "or", "but"):
        return False
    if any(word.lower in _OPENING_WORDS for word in right.subject) or right.subject[0].lower in lexicon.PREPOSITIONS or _is_bare_verb(right.subject[0]):
        return False
    if ends_open(left.words[: joint.start]) or (not joint.comma and _open_as(left, joint.start)):
        return False
    governed = [verb for verb in left.verbs if (left.main or 0) < verb.index < joint.start and verb.subordinate]
    if joint.word in (";", "but", "whereas") or not governed:
        return joint.comma or not _conditional(right)
    return joint.comma and not _conditional(left, until=joint.start) and left.words[governed[-1].index - 1].lower in lexicon.RELATIVES


def _in_series(left: Clause, joint: _Joint) -> bool:
    """Returns whether an "and" without a comma may join words rather than clauses: after "both", or after "A, B" with no verb."""
    words = left.words[left.main or 0 : joint.start]
    if any(word.text == ":" and not word.inside for word in words):
        return True
    comma = max((index for index, word in enumerate(words) if word.text == "," and not word.inside), default=None)
    since = words[(comma or 0) + 1 :]
    if any(word.lower in _JOINED_PAIRS or word.lower == "between" for word in since):
        return True
    return comma is not None and not any(verb.index > (left.main or 0) + comma for verb in left.verbs if verb.index < joint.start)


def _is_bare_verb(word: Word) -> bool:
    return bool({"base", "s"} & forms(word)) and word.lower not in lexicon.noun_verbs() | lexicon.ADJECTIVE_VERBS


def _open_as(left: Clause, end: int) -> bool:
    """Returns whether an "as" before `end` opens a clause whose verb is still to come, as in "X failed as A and B were ill"."""
    place = next((index for index in range(end - 1, left.main or 0, -1) if left.words[index].lower in ("as", "than")), None)
    return place is not None and not any(verb.index > place for verb in left.verbs if verb.index < end)


def _conditional(clause: Clause, until: int | None = None) -> bool:
    after = clause.words[clause.main or 0 : until]
    return any(word.lower in STRONG_CONDITIONS | {"whether", "because"} and not word.inside for word in after)


def trimmed(words: Phrase) -> Phrase:
    """Returns `words` without marks and joining words at the end."""
    end = len(words)
    while end and (words[end - 1].text in ",;:–—-" or words[end - 1].lower in ("and", "or", "but")):
        end -= 1
    return words[:end]


@dataclass(frozen=True)
class _Parallel:
    """A second predicate: it begins at `begin`, behind the joint at `joint`, and stands where the verb at `match` stands."""

    joint: int
    begin: int
    match: int


def split_predicates(words: Phrase) -> list[Phrase]:
    """Splits "X lowers A and raises B" into "X lowers A" and "X raises B": the second verb takes the place of the one it is parallel to."""
    if any(word.lower in _JOINED_PAIRS for word in words) or _has_pair(words, "not", "only"):
        return [words]
    clause = read_clause(words)
    if clause.main is None:
        return [words]
    for parallel in _parallels(clause):
        first = trimmed(words[: parallel.joint])
        second = (*carried(words[: parallel.match]), *words[parallel.begin :])
        return [*split_predicates(first), *split_predicates(second)]
    return [words]


def _has_pair(words: Phrase, first: str, second: str) -> bool:
    return any(a.lower == first and b.lower == second for a, b in zip(words, words[1:], strict=False))


def _parallels(clause: Clause) -> Iterator[_Parallel]:
    words, main = clause.words, clause.main or 0
    for index in range(main + 1, len(words) - 1):
        word = words[index]
        joins = word.lower in ("and", "or", "but") or (word.text == "," and words[index + 1].lower not in ("and", "or", "but"))
        if word.inside or not joins:
            continue
        begin = index + 1
        while begin < len(words) - 1 and is_adverb(words[begin]) and words[begin].lower != "not":
            begin += 1
        match = _parallel_verb(clause, index, begin)
        if match is None or not _may_part(clause, index, begin, match):
            continue
        if word.text == "," and not any(_parallel_verb(clause, later, later + 1) is not None for later in range(begin, len(words) - 1) if words[later].lower in ("and", "or")):
            continue
        yield _Parallel(index, index + 1, match)


def _parallel_verb(clause: Clause, joint: int, begin: int) -> int | None:
    """Returns the place of the nearest verb before `joint` whose form the word at `begin` shares, or None."""
    words, main = clause.words, clause.main or 0
    if begin >= len(words) or words[begin].inside:
        return None
    wanted = _forms_behind_joint(words, begin)
    for index in range(joint - 1, main - 1, -1):
        if not words[index].inside and _forms_in_place(clause, index) & wanted:
            return index
    return None


def _forms_behind_joint(words: Phrase, index: int) -> frozenset[str]:
    """Returns the forms in which the word behind an "and" can be a verb there, judged by the word that follows."""
    word, after = words[index], words[index + 1] if index + 1 < len(words) else None
    auxiliary = auxiliary_form(word)
    if auxiliary is not None:
        return frozenset({"finite", "base"} if word.lower in ("have", "do") else {"finite"})
    if word.lower == "be":
        return frozenset({"base"})
    can_be, objects = forms(word), after is not None and _begins_object(after)
    found: set[str] = set()
    if "s" in can_be and (word.lower not in lexicon.noun_verbs() or objects or (after is not None and after.lower in ("in", "from", "by", "as", "to"))):
        found.add("s")
    if "base" in can_be and (objects or (word.lower not in lexicon.noun_verbs() and after is not None and after.text not in ".,;")):
        found |= {"base", "plural"}
    if "past" in can_be and objects:
        found.add("past")
    elif "part" in can_be and not objects:
        found.add("part")
    return frozenset(found)


def _begins_object(word: Word) -> bool:
    return word.lower in lexicon.DETERMINERS or word.lower in ("it", "them", "you") or word.text[:1].isdigit() or (is_content(word) and any(map(str.isalnum, word.text)))


def _forms_in_place(clause: Clause, index: int) -> frozenset[str]:
    """Returns the form that the verb at `index` has where it stands; empty for any other word."""
    words = clause.words
    verb = next((verb for verb in clause.verbs if verb.index == index), None)
    if verb is not None and verb.form == "base":
        return frozenset({"base"})
    if verb is not None:
        past = verb.form == "past" or words[index].lower in ("was", "were")
        return frozenset({"finite", verb.form, *(["past"] if past else []), *(["s", "plural"] if verb.form in ("modal", "past") else [])})
    can_be = forms(words[index])
    before = index - 1
    while before >= 0 and is_adverb(words[before]):
        before -= 1
    if before < 0:
        return frozenset()
    previous = words[before]
    if ("base" in can_be or words[index].lower in ("be", "have")) and (previous.lower in lexicon.MODALS or previous.lower in ("to", "do", "does", "did", "don't", "doesn't", "didn't", "help", "helps", "please")):
        return frozenset({"base"})
    if "part" in can_be and is_auxiliary(previous) and previous.lower not in lexicon.MODALS:
        return frozenset({"part"})
    return frozenset()


def _may_part(clause: Clause, joint: int, begin: int, match: int) -> bool:
    """Returns whether both halves hold on their own: no condition governs both, and no negation or "or" joins them."""
    words, main = clause.words, clause.main or 0
    between = [word for word in words[match + 1 : joint] if not is_adverb(word) and word.text != ","]
    if words[begin].lower in lexicon.ADJECTIVE_VERBS and (
        is_adverb(words[begin - 1]) or any(word.lower in lexicon.PREPOSITIONS - {"to"} for word in words[match:joint])
    ):
        return False
    if words[joint - 1].text == "," and _two_levels(clause, joint, match):
        return False
    if not between or ends_open(words[:joint]) or _governed(clause, main, match) or _governed(clause, match, joint, only=STRONG_CONDITIONS, last=True):
        return False
    if _closing_condition(clause, begin):
        return False
    prefix = [word.lower for word in words[clause.subject_end : match + 2]]
    negated = bool(lexicon.NEGATIONS & set(prefix))
    finite = bool(_forms_in_place(clause, match) & {"finite"})
    kind = words[joint].lower
    if kind == "or":
        return negated or bool(lexicon.TENTATIVE & set(prefix))
    return finite or not negated


def _two_levels(clause: Clause, joint: int, match: int) -> bool:
    """Returns whether a bare verb behind `joint` could go with another verb than `match`: "may find it hard to breathe, or wake"."""
    if "base" not in _forms_in_place(clause, match):
        return False
    bare = [index for index in range(clause.main or 0, joint) if "base" in _forms_in_place(clause, index)]
    return len({clause.words[index - 1].lower == "to" for index in bare}) > 1


def _closing_condition(clause: Clause, begin: int) -> bool:
    """Returns whether the last of the joined predicates ends in "if ...", which may hold for all of them."""
    words = clause.words
    conditions = [index for index in range(begin + 1, len(words)) if words[index].lower in STRONG_CONDITIONS and not words[index].inside]
    return bool(conditions) and not any(
        words[index].lower in ("and", "or") and _parallel_verb(clause, index, index + 1) is not None for index in range(conditions[-1], len(words) - 1)
    )


def _governed(clause: Clause, start: int, end: int, *, only: frozenset[str] = lexicon.SUBORDINATORS, last: bool = False) -> bool:
    """Returns whether a subordinating word between `start` and `end` governs what follows; "shows that" does not count."""
    words = clause.words
    for index in range(start + 1, end):
        if words[index].inside or words[index].lower not in only or (last and words[index].lower == "until"):
            continue
        if words[index].lower == "that" and words[index - 1].lower in lexicon.ATTRIBUTIONS:
            continue
        if not last or any(verb.index > index for verb in clause.verbs if verb.index < end):
            return True
    return False


def split_repeated(words: Phrase) -> list[Phrase]:
    """Splits "for A and for B", and "if A or if B", where the joined word is said twice."""
    clause = read_clause(words)
    if clause.main is None:
        return [words]
    for index in range(clause.main + 1, len(words) - 2):
        joint, again = words[index], words[index + 1].lower
        if joint.inside or not ((joint.lower == "and" and again in _REPEATABLE) or (joint.lower == "or" and again in STRONG_CONDITIONS)):
            continue
        first = next((place for place in range(index - 1, clause.main, -1) if words[place].lower == again and not words[place].inside), None)
        if first is None or any(auxiliary_form(word) for word in words[first:index] if again in _REPEATABLE) or lexicon.NEGATIONS & {word.lower for word in words}:
            continue
        second = (*carried(words[:first]), *words[index + 1 :])
        return [trimmed(words[:index]), *split_repeated(second)]
    return [words]
