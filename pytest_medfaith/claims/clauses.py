"""Splits a sentence into atomic statements. Each rule takes the words of one statement and returns one or several.

No rule splits where the parts might not hold on their own: inside brackets and quotes, under "if", "who" and other conditions,
under "between", "both", "either", "combined with", and in dose lists. A rule that is not sure returns what it was given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pytest_medfaith.claims import lexicon
from pytest_medfaith.claims.grammar import FINITE, Clause, Form, Verb, auxiliary_form, finite_verbs, forms, is_adverb, is_auxiliary, is_content, read_clause
from pytest_medfaith.claims.words import Phrase, Word, carried, inserted

_JOINING = frozenset("and but".split())
_CLAUSE_JOINTS = frozenset("and but so yet whereas while although though because".split())
_TOGETHER = frozenset("both either neither nor between respectively together combination combined combining plus versus vs".split())
_ATTRIBUTIONS = frozenset(
    "show shows showed shown suggest suggests suggested find finds found report reports reported indicate indicates indicated demonstrate demonstrates "
    "demonstrated conclude concludes concluded recommend recommends recommended state states stated reveal reveals revealed evidence believed thought known".split()
)


def split_statement(words: Phrase) -> list[Phrase]:
    """Returns the atomic statements of a sentence's `words`, in the order of their own words."""
    statements = [words]
    for rule in (split_asides, split_predicates, split_lists):
        statements = [part for statement in statements for part in rule(statement)]
    return statements


def split_clauses(words: Phrase) -> list[Phrase]:
    """Returns the clauses of `words` that "and", "but", ";" and the like join, each with a subject and a verb of its own."""
    verbs = finite_verbs(words)
    for joint in _clause_joints(words):
        before, after = words[: joint.start], words[joint.end :]
        if _ends_open(before) or not any(verb.index < joint.start and not verb.subordinate for verb in verbs):
            continue
        right = read_clause(after)
        if right.main is None or not right.subject or not _stands_alone(right, joint):
            continue
        return [_trim(before), *split_clauses(after)]
    return [words]
