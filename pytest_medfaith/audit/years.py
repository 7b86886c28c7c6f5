"""Gives a sentence a year that its evidence does not state."""

from __future__ import annotations

import random
import re

from pytest_medfaith.audit.mutation import Mutation, as_inner, clause_of, replaced

KIND = "invented_year"
_YEAR = re.compile(r"\b(?:19[5-9]|20[0-2])\d\b")
_FIRST, _LAST = 1984, 2023


def invent_year(sentence: str, evidence: str, rng: random.Random) -> Mutation | None:
    """Returns `sentence` with its year changed; without one, as of a year where it tells of the past, else of a study of a year."""
    known = set(_YEAR.findall(evidence)) | set(_YEAR.findall(sentence))
    year = rng.choice([str(year) for year in range(_FIRST, _LAST + 1) if str(year) not in known])
    own = _YEAR.search(sentence)
    if own:
        return replaced(sentence, own.start(), own.end(), new=year, kind=KIND)
    clause = clause_of(sentence)
    if clause is None or not sentence.endswith("."):
        return None
    if clause.words[clause.main].lower in ("was", "were") or clause.form == "past":
        opening = f"In {year}, "
        return Mutation(opening + as_inner(sentence, evidence), KIND, 0, len(opening) - 2)
    if clause.form == "base" or ";" in sentence:
        return None
    return replaced(
        sentence,
        len(sentence) - 1,
        len(sentence) - 1,
        new=rng.choice([f", according to a {year} study", f", as a review of {year} states"]),
        kind=KIND,
    )
