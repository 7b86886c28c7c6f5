"""Conjugates the verbs of the lexicon: the base of a finite form, and back."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from pytest_medfaith.english import lexicon

FORMS = ("base", "s", "past")


@lru_cache(maxsize=1)
def _conjugations() -> Mapping[str, tuple[str, ...]]:
    """Returns {base: (base, third person singular, past)}."""
    found = {}
    for word, can_be in lexicon.verb_forms().items():
        base = lexicon.finite_of_participle(word, "base") if "ing" in can_be else None
        if base:
            found[base] = tuple(lexicon.finite_of_participle(word, form) or "" for form in FORMS)
    return found


@lru_cache(maxsize=1)
def _bases() -> Mapping[tuple[str, str], str]:
    return {
        (form, word): base
        for base, words in _conjugations().items()
        for form, word in zip(FORMS, words, strict=True)
    }


def base_of(word: str, form: str) -> str | None:
    """Returns the base of the lower-case verb `word`, "lower" for "lowers"; None for an unknown verb.

    `form` is the form of `word`: "base", "s" or "past".
    """
    return _bases().get((form, word))


def in_form(base: str, form: str) -> str | None:
    """Returns the verb `base` as "base", "s" or "past", "lowers" for "lower"; None for an unknown verb."""
    words = _conjugations().get(base)
    return words[FORMS.index(form)] if words else None
