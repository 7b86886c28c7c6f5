"""Rewords a sentence without changing its meaning: a clause moved, a synonym, a short form written out."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from types import MappingProxyType

from pytest_medfaith.audit.mutation import as_inner, capitalised, words_of
from pytest_medfaith.audit.synonyms import with_synonyms
from pytest_medfaith.english.conjugation import verb_forms
from pytest_medfaith.english.grammar import read_clause
from pytest_medfaith.entities.abbreviations import find_abbreviations

MOST_SYNONYMS = 2  # a light rewording: the sentence stays recognisable

# Short forms that mean one thing in all of medicine.
_LONG_FORMS: Mapping[str, str] = MappingProxyType(
    {
        "BMI": "body mass index",
        "COPD": "chronic obstructive pulmonary disease",
        "ECG": "electrocardiogram",
        "MRI": "magnetic resonance imaging",
        "NSAIDs": "nonsteroidal anti-inflammatory drugs",
        "LDL": "low-density lipoprotein",
        "HDL": "high-density lipoprotein",
        "eGFR": "estimated glomerular filtration rate",
        "SSRIs": "selective serotonin reuptake inhibitors",
        "ICU": "intensive care unit",
        "PCOS": "polycystic ovary syndrome",
        "CKD": "chronic kidney disease",
        "FEV1": "forced expiratory volume in one second",
    }
)
_OPENING = re.compile(
    r"(?P<opening>(?:In|Among|For|During|After|Before|With|If|When|Because|Although) [^,;:()]{3,60}), "
    r"(?P<rest>[^;:]+)\."
)
_CLOSING = re.compile(r"(?P<main>[^,;:()]{12,}?) (?P<clause>(?:if|when|because|although) [^,;:]{6,})\.")
_MEDIAL = re.compile(r"[,;:]|\b(?:and|but|or|which|who|that|than)\b")
_PASSIVE = re.compile(
    r"(?P<patient>[^,;:()]{3,70}?) (?:was|were) (?P<verb>\w+) by (?P<agent>[^,;:()]{3,60})\."
)


def paraphrase(sentence: str, evidence: str, rng: random.Random, *, most: int = MOST_SYNONYMS) -> str:
    """Returns `sentence` reworded: at most one change of order or voice, and up to `most` synonyms.

    A sentence to which no change applies comes back as it is.
    """
    orders = [
        reordered
        for change in (front_clause_last, last_clause_first, active_voice)
        if (reordered := change(sentence, evidence))
    ]
    text = rng.choice(orders) if orders else sentence
    return with_synonyms(with_long_form(text, evidence), rng, most=most)


def front_clause_last(sentence: str, evidence: str) -> str | None:
    """Returns "A is B in adults." for "In adults, A is B."; None for a sentence of another form.

    None also where "A is B" has no main verb, holds further clauses, or points back ("it").
    """
    found = _OPENING.fullmatch(sentence)
    if (
        not found
        or _MEDIAL.search(found["rest"])
        or read_clause(words_of(found["rest"])) is None
        or _refers(found["rest"])
    ):
        return None
    return f"{capitalised(found['rest'])} {as_inner(found['opening'], evidence)}."


def last_clause_first(sentence: str, evidence: str) -> str | None:
    """Returns "If B, A." for "A if B."; None where it is not clear to what the condition belongs."""
    found = _CLOSING.fullmatch(sentence)
    if (
        not found
        or _refers(found["clause"].split(" ", 1)[1])
        or _MEDIAL.search(found["main"])
        or read_clause(words_of(found["main"])) is None
    ):
        return None
    if read_clause(words_of(found["clause"].split(" ", 1)[1])) is None:
        return None
    return f"{capitalised(found['clause'])}, {as_inner(found['main'], evidence)}."


def active_voice(sentence: str, evidence: str) -> str | None:
    """Returns "B reduced A." for "A was reduced by B."; None for another sentence.

    The past and the participle of the verb must be one form, and B must be no amount.
    """
    found = _PASSIVE.fullmatch(sentence)
    if (
        not found
        or _refers(found["patient"])
        or _MEDIAL.search(found["patient"])
        or re.search(r"\d|ing\b", found["agent"])
    ):
        return None
    if not {"past", "part"} <= verb_forms().get(found["verb"].lower(), frozenset()) or re.match(
        r"(?:about|half|a third)\b", found["agent"]
    ):
        return None
    return f"{capitalised(found['agent'])} {found['verb']} {as_inner(found['patient'], evidence)}."


def _refers(text: str) -> bool:
    """Returns whether `text` begins with a word that points back."""
    return text.split(" ", 1)[0].lower() in {
        "it",
        "they",
        "he",
        "she",
        "its",
        "their",
        "this",
        "these",
        "those",
        "there",
        "not",
    }


def with_long_form(sentence: str, evidence: str) -> str:
    """Returns `sentence` with its first short form written out, "BMI" as "body mass index".

    The long form is that of the evidence, or of a list of common short forms. A sentence that has no short
    form, or has the long form already, is returned as it is.
    """
    for short, long in {**_LONG_FORMS, **find_abbreviations(evidence)}.items():
        found = re.search(rf"(?<![\w(/-]){re.escape(short)}(?![\w)/-])", sentence)
        if found and long.lower() not in sentence.lower():
            new = capitalised(long) if not found.start() else long
            return sentence[: found.start()] + new + sentence[found.end() :]
    return sentence
