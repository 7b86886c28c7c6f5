"""A mutation, which is a sentence with a planted error, and the small edits that mutations are made of."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from pytest_medfaith.english import lexicon
from pytest_medfaith.english.conjugation import noun_verbs
from pytest_medfaith.english.grammar import Clause, read_clause
from pytest_medfaith.english.phrases import Phrase, places, read_words
from pytest_medfaith.english.verbs import forms


@dataclass(frozen=True)
class Mutation:
    """A sentence with a single change, of a kind such as "negation".

    `text[start:end]`, half-open, is the change; it is empty where words were taken out.
    """

    text: str
    kind: str
    start: int
    end: int


# (sentence, the evidence it comes from, random numbers) -> the changed sentence, or None where the kind does
# not apply.
Operator = Callable[[str, str, random.Random], Mutation | None]

_JOINTS = frozenset((",", ";", "and", "or", "but", "than", "as", "because", "before", "after"))
_VOWEL_SOUND = re.compile(r"[aeioAEIO]|u(?!ni|s[aeu]|r[aeiou])|hour|[FHLMNRSX](?:[A-Z]|\b)")


def replaced(sentence: str, start: int, end: int, *, new: str, kind: str) -> Mutation:
    """Returns the mutation of `kind` that puts `new` in place of `sentence[start:end]`.

    Blanks, capitals and articles are put right: "an aspirin" becomes "a statin".
    """
    before, after = sentence[:start], sentence[end:]
    if not new:
        before, after = (before.rstrip(), after) if before.strip() else ("", after.lstrip())
    elif sentence[start:end][:1].isupper() and before.strip() == "":
        new = capitalised(new)
    article = re.search(r"\b([Aa])n? $", before)
    if new and article and start != end:
        before = before[: article.start()] + article[1] + ("n " if _VOWEL_SOUND.match(new) else " ")
    if not before and not new:
        after = capitalised(after)
    return Mutation(before + new + after, kind, len(before), len(before) + len(new))


def article_for(word: str) -> str:
    """Returns "an" where `word` begins with the sound of a vowel ("hour", "MRI"), else "a" ("unit")."""
    return "an" if _VOWEL_SOUND.match(word) else "a"


def capitalised(text: str) -> str:
    """Returns `text` with a capital first letter."""
    return text[:1].upper() + text[1:]


def as_inner(sentence: str, evidence: str) -> str:
    """Returns `sentence` as it follows "In 2019, ": without its capital, unless it begins with a name."""
    first = re.match(r"[A-Z][a-z]+\b(?!['’]s)", sentence)
    if sentence[:2] in ("A ", "I "):
        return sentence if sentence[0] == "I" else "a" + sentence[1:]
    if (
        not first
        or re.search(rf"[a-z,;(] ?{re.escape(first[0])}\b", evidence)
        or re.match(r"[-\d]| [A-Z][a-z]", sentence[first.end() :])
    ):
        return sentence
    return sentence[0].lower() + sentence[1:]


def words_of(sentence: str) -> Phrase:
    """Returns the words and marks of `sentence` with their places in it."""
    return read_words(sentence, 0, len(sentence))


def clause_of(sentence: str) -> Clause | None:
    """Returns the clause of `sentence`; None without a main verb, and where the word found may be no verb."""
    clause = read_clause(words_of(sentence))
    if clause is None or _in_opening(clause) or _is_participle(clause) or _is_noun(clause):
        return None
    return clause


def _in_opening(clause: Clause) -> bool:
    """Returns whether the verb belongs to an opening clause: "When treatments have not helped, ..."."""
    first = clause.words[0].lower
    return (first in lexicon.SUBORDINATORS or first in ("before", "after", "as")) and not places(
        clause.words, ",", end=clause.main
    )


def _is_participle(clause: Clause) -> bool:
    """Returns whether the verb may be a participle: "medicines called X lower", "women aged 50 need"."""
    if clause.form != "past" or "part" not in forms(clause.words[clause.main]):
        return False
    later = any(
        verb.index > clause.main and not verb.subordinate and verb.form != "past" for verb in clause.verbs
    )
    return later or clause.words[clause.main].lower == "aged"


def _is_noun(clause: Clause) -> bool:
    """Returns whether the verb may be a noun because another verb follows: "levels reported were low"."""
    if clause.form == "base":
        return False
    after = clause.words[clause.main + 1 : clause.main + 2]
    if clause.words[clause.main].lower in noun_verbs() and after and forms(after[0]) == {"past", "part"}:
        return True
    later = next(
        (verb.index for verb in clause.verbs if verb.index > clause.main and not verb.subordinate), None
    )
    if later is None:
        return False
    between = clause.words[clause.main + 1 : later]
    return not any(
        word.lower in _JOINTS or word.lower in lexicon.SUBORDINATORS or word.lower in lexicon.ATTRIBUTIONS
        for word in between
    )
