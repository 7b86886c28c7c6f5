"""Plants a year that the evidence does not state."""

from __future__ import annotations

import random
import re

from pytest_medfaith.audit.mutation import Mutation, as_inner, clause_of, replaced

KIND = "invented_year"
_YEAR = re.compile(r"\b(?:19[5-9]|20[0-2])\d\b")
_FIRST, _LAST = 1984, 2023


def invent_year(sentence: str, evidence: str, rng: random.Random) -> Mutation | None:
    """Returns `sentence` with another year, which neither it nor the evidence names.

    A sentence without a year gets one: "In 2003, the drug was withdrawn" where it tells of the past, else
    "The drug is safe, according to a 2003 study". None where neither fits.
    """
    known = set(_YEAR.findall(evidence)) | set(_YEAR.findall(sentence))
    year = rng.choice([str(year) for year in range(_FIRST, _LAST + 1) if str(year) not in known])
    stated = _YEAR.search(sentence)
    if stated:
        return replaced(sentence, stated.start(), stated.end(), new=year, kind=KIND)
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
