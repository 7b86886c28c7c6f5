"""Conjugates the verbs of the claim lexicon: base form from any finite form, and back."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from pytest_medfaith.english import lexicon

FORMS = ("base", "s", "past")


@lru_cache(maxsize=1)
def _conjugations() -> Mapping[str, tuple[str, str]]:
    """Returns base -> (third person, past)."""
    found = {}
    for word, can_be in lexicon.verb_forms().items():
        base = lexicon.finite_of_participle(word, "base") if "ing" in can_be else None
        if base:
            found[base] = (
                lexicon.finite_of_participle(word, "s") or "",
                lexicon.finite_of_participle(word, "past") or "",
            )
    return found


@lru_cache(maxsize=1)
def _bases() -> Mapping[tuple[str, str], str]:
    return {
        (form, word): base
        for base, both in _conjugations().items()
        for form, word in zip(FORMS, (base, *both), strict=True)
    }


def base_of(word: str, form: str) -> str | None:
    """Returns the base of a lower-case verb in `form` ("base", "s" or "past"); None for a verb that the lexicon does not know."""
    return _bases().get((form, word))


def in_form(base: str, form: str) -> str | None:
    """Returns the base form `base` as "s" or "past"; None for an unknown verb."""
    both = _conjugations().get(base)
    return None if both is None else dict(zip(FORMS, (base, *both), strict=True))[form]
