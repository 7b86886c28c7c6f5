"""The forms of the lexicon's verbs: which forms a word can be, and a verb in another form.

The forms are base ("lower"), s ("lowers"), past ("lowered"), part (past participle, "lowered") and ing
("lowering").
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from pytest_medfaith.english import lexicon

FORMS = ("base", "s", "past")  # the finite forms; the others are "part", the past participle, and "ing"


@lru_cache(maxsize=1)
def verb_forms() -> Mapping[str, frozenset[str]]:
    """Returns {word: the forms that it can be}: {"s"} for "lowers", {"past", "part"} for "lowered".

    The forms are "base", "s", "past", "part" and "ing". Words are in lower case; others than those of the
    lexicon's verbs are missing.
    """
    found: dict[str, set[str]] = {}
    for words in _conjugations().values():
        for form, word in words.items():
            found.setdefault(word, set()).add(form)
    return {word: frozenset(forms) for word, forms in found.items()}


@lru_cache(maxsize=1)
def noun_verbs() -> frozenset[str]:
    """Returns the base and -s forms that are nouns as often as verbs, such as "causes" and "use"."""
    return lexicon.NOUN_VERBS | frozenset(map(_third_person, lexicon.NOUN_VERBS))


@lru_cache(maxsize=1)
def _conjugations() -> Mapping[str, Mapping[str, str]]:
    """Returns {verb: {form: word}}."""
    found = {}
    for verb in sorted(lexicon.VERBS | lexicon.NOUN_VERBS):
        past, part = lexicon.IRREGULAR.get(verb) or (_past(verb), _past(verb))
        found[verb] = {"base": verb, "s": _third_person(verb), "past": past, "part": part, "ing": _ing(verb)}
    return found


@lru_cache(maxsize=1)
def _bases() -> Mapping[tuple[str, str], str]:
    """Returns {(form, word): verb}."""
    return {(form, word): verb for verb, words in _conjugations().items() for form, word in words.items()}


def base_of(word: str, form: str) -> str | None:
    """Returns the base of the lower-case verb `word`: "lower" for "lowers"; None for an unknown verb.

    `form` is the form of `word`: "base", "s", "past", "part" or "ing".
    """
    return _bases().get((form, word))


def in_form(base: str, form: str) -> str | None:
    """Returns the verb `base` in the form `form`: "lowers" for "lower" and "s"; None for an unknown verb."""
    words = _conjugations().get(base)
    return words[form] if words else None


def _third_person(verb: str) -> str:
    """Returns the third person of a verb: "carries" for "carry"."""
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")


def _past(verb: str) -> str:
    """Returns the past of a regular verb: "stopped" for "stop"."""
    if verb in lexicon.DOUBLED:
        return verb + verb[-1] + "ed"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + ("d" if verb.endswith("e") else "ed")


def _ing(verb: str) -> str:
    """Returns the -ing form of a verb: "stopping" for "stop"."""
    if verb in lexicon.DOUBLED:
        return verb + verb[-1] + "ing"
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    return (verb[:-1] if verb.endswith("e") and not verb.endswith("ee") else verb) + "ing"
