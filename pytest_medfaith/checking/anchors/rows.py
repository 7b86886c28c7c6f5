"""Doses that the evidence states for another drug or another age than the claim does.

Example: "A 5 mg" where a row of the evidence says "A 10 mg, B 5 mg".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pytest_medfaith import defaults
from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, linked
from pytest_medfaith.english.sentences import sentence_spans
from pytest_medfaith.entities.linker import Mention
from pytest_medfaith.quantities.quantity import Quantity, same_ends
from pytest_medfaith.quantities.reader import read_quantities

_DOSED = frozenset({"mass", "volume", "unit", "amount", "mass/mass", "frequency", "unit/mass"})
_OF = re.compile(
    r"\s+(?:[\w-]+\s+){0,1}(?:of|for|at|in|with)\s+(?:the\s+|children\s+|adults\s+|people\s+|aged?\s+|"
    r"those\s+)*$",
    re.IGNORECASE,
)
# "10 mg of lutein" is of lutein, also where no table knows lutein.
_OF_ANOTHER = re.compile(r"\s+of\s+(?!the\b|each\b|this\b|these\b|it\b|that\b|which\b)[a-z][\w-]{3,}\b")
_RESPECTIVELY = re.compile(r"\brespectively\b|\beach\b|\bboth\b|\beither\b", re.IGNORECASE)


@dataclass(frozen=True)
class Row:
    """A dose and what it is for: "5 mg of warfarin", "10 mg for those aged 2 to 5".

    Attributes:
        key: the drug or the age.
        dose: the dose; its span counts from the start of `sentence`.
        sentence: the sentence that says so.
    """

    key: Mention | Quantity
    dose: Quantity
    sentence: str


def missing_rows(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "row" for each dose that the evidence states for another drug or age.

    The evidence must have another dose for the claim's drug or age, in the same sentence. `instead` holds
    that dose.
    """
    stated = read_rows(claim)
    known = [row for text in evidence.in_order for row in read_rows(text)] if stated else []
    for row in stated:
        same = [other for other in known if _same_key(row.key, other.key)]
        if isinstance(row.key, Mention):  # rows of the drug itself, before rows of its class
            concept = row.key.concept
            same = [o for o in same if isinstance(o.key, Mention) and o.key.concept == concept] or same
        if not same or any(_same_dose(row.dose, other.dose) for other in same):
            continue
        taken = {other.sentence for other in known if other not in same and _same_dose(row.dose, other.dose)}
        for other in same:
            comparable = other.dose.dimension != "frequency" or row.dose.dimension == "frequency"
            if comparable and other.sentence in taken:
                words = other.sentence[other.dose.start : other.dose.end]
                start = claim.find(row.sentence)
                yield Missing("row", start + row.dose.start, start + row.dose.end, instead=words)
                break


@lru_cache(maxsize=defaults.TEXTS_KEPT)
def read_rows(text: str) -> tuple[Row, ...]:
    """Returns each dose of `text` with the drug that it is of, and again with the age that it is for.

    "5 mg of warfarin" and "warfarin 5 mg" both give warfarin: the drug behind the dose where "of", "for" or
    the like joins them, else the last drug before it in the sentence. A dose without a drug and without an
    age gives no row, and neither does a sentence with "respectively", "each", "both" or "either".
    """
    found: list[Row] = []
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        if _RESPECTIVELY.search(sentence):
            continue
        quantities = read_quantities(sentence)
        ages = [
            quantity
            for quantity in quantities
            if quantity.dimension == "time" and (quantity.low < quantity.high or quantity.role == "age")
        ]
        drugs = [mention for mention in linked(sentence) if mention.kind == "drug"]
        doses = [quantity for quantity in quantities if quantity.dimension in _DOSED]
        for keys in (drugs, ages):
            rows = ((_key_of(dose, keys, sentence), dose) for dose in doses)
            found += [Row(key, dose, sentence) for key, dose in rows if key is not None]
    return tuple(found)


def _key_of(dose: Quantity, keys: Sequence[Mention | Quantity], sentence: str) -> Mention | Quantity | None:
    """Returns the drug or age among `keys` that `dose` is for; None where the sentence names none.

    It is the one behind the dose if "of", "for" or the like joins them, else the last before the dose.
    """
    behind = next((key for key in keys if key.start >= dose.end), None)
    if behind is not None and _OF.fullmatch(sentence, dose.end, behind.start):
        return behind
    if _OF_ANOTHER.match(sentence, dose.end):
        return None
    ahead = [key for key in keys if key.end <= dose.start]
    return ahead[-1] if ahead else None


def _same_key(mine: Mention | Quantity, theirs: Mention | Quantity) -> bool:
    """Returns whether two rows are for the same: related drugs, or equal ages."""
    if isinstance(mine, Mention):
        return isinstance(theirs, Mention) and mine.is_related(theirs)
    return isinstance(theirs, Quantity) and _same_dose(mine, theirs)


def _same_dose(mine: Quantity, theirs: Quantity) -> bool:
    """Returns whether both amounts are equal, as stated or as a total a day."""
    return mine.dimension == theirs.dimension and any(
        same_ends(one, two) for one in mine.readings for two in theirs.readings
    )
