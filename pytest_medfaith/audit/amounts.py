"""Plants wrong amounts: a dose ten times too large or small, or a similar unit."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType

from pytest_medfaith.audit.mutation import Mutation, replaced
from pytest_medfaith.quantities.quantity import Quantity
from pytest_medfaith.quantities.reader import read_quantities

DOSE_UP, DOSE_DOWN, UNIT = "dose_up", "dose_down", "unit_swap"

_DOSES = frozenset({"mass", "volume", "unit", "amount", "equivalent", "radiation"})
_NUMBER = re.compile(r"\d{1,3}(?:[,\s]\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|(?<!\d)\.\d+")
# For each unit those that a slip of the pen would write: "mcg" for "mg". For a time it is the next longer or
# shorter unit, a plural for a plural: "days" for "hours".
_UNITS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "mg": ("mcg", "g"),
        "mcg": ("mg",),
        "µg": ("mg",),
        "μg": ("mg",),
        "g": ("mg",),
        "kg": ("g",),
        "ml": ("L",),
        "l": ("mL",),
        "dl": ("mL",),
        "milligram": ("microgram", "gram"),
        "milligrams": ("micrograms", "grams"),
        "microgram": ("milligram",),
        "micrograms": ("milligrams",),
        "gram": ("milligram",),
        "grams": ("milligrams",),
        "milliliter": ("liter",),
        "milliliters": ("liters",),
        "millilitres": ("litres",),
        "liter": ("milliliter",),
        "liters": ("milliliters",),
        "litres": ("millilitres",),
        "mmol": ("mol",),
        "cm": ("mm",),
        "mm": ("cm",),
        "minute": ("hour",),
        "minutes": ("hours",),
        "hour": ("day", "minute"),
        "hours": ("days", "minutes"),
        "day": ("week",),
        "days": ("weeks",),
        "week": ("month", "day"),
        "weeks": ("months", "days"),
        "month": ("year", "week"),
        "months": ("years", "weeks"),
        "year": ("month",),
        "years": ("months",),
    }
)
_UNIT = re.compile(
    r"(?<=[\s\d-])(?:"
    + "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
    + r")(?![\w²³]|/m|\s?Hg)",
    re.IGNORECASE,
)


def dose_up(sentence: str, evidence: str, rng: random.Random) -> Mutation | None:
    """Returns `sentence` with a dose ten times as large, "5 mg" -> "50 mg"; None where it names no dose."""
    return _dose(sentence, evidence, rng, factor=Decimal(10), kind=DOSE_UP)


def dose_down(sentence: str, evidence: str, rng: random.Random) -> Mutation | None:
    """Returns `sentence` with a dose ten times as small, "5 mg" -> "0.5 mg"; None where it names no dose."""
    return _dose(sentence, evidence, rng, factor=Decimal("0.1"), kind=DOSE_DOWN)


def _dose(sentence: str, evidence: str, rng: random.Random, *, factor: Decimal, kind: str) -> Mutation | None:
    def scaled(number: re.Match[str]) -> str:
        value = (Decimal(re.sub(r"[,\s]", "", number[0])) * factor).normalize()
        return f"{value:,f}" if "," in number[0] or value >= 10_000 else f"{value:f}"

    found = []
    for quantity in _quantities(sentence):
        numbers = list(_NUMBER.finditer(sentence, quantity.start, quantity.end))
        if quantity.dimension in _DOSES:
            start, end = numbers[0].start(), numbers[-1].end()
            found.append((start, end, _NUMBER.sub(scaled, sentence[start:end])))
    return _one_of(found, sentence, evidence, rng, kind=kind)


def _one_of(
    found: Sequence[tuple[int, int, str]], sentence: str, evidence: str, rng: random.Random, *, kind: str
) -> Mutation | None:
    """Returns a random one of the changes (start, end, new text) whose amount is not in the evidence.

    None where each new amount is in it.
    """
    stated = {_value(quantity) for quantity in read_quantities(evidence)}
    changes = [replaced(sentence, start, end, new=new, kind=kind) for start, end, new in found]
    unstated = [
        change
        for change in changes
        if not stated
        & {
            _value(quantity)
            for quantity in read_quantities(change.text)
            if quantity.start < change.end and change.start < quantity.end
        }
    ]
    return rng.choice(unstated) if unstated else None


def _value(quantity: Quantity) -> tuple[str, str, str]:
    return quantity.dimension, f"{quantity.low:.6g}", f"{quantity.high:.6g}"


def swap_unit(sentence: str, evidence: str, rng: random.Random) -> Mutation | None:
    """Returns `sentence` with a unit swapped for another of its kind, "5 mg" -> "5 g"; None without one."""
    found = [
        (unit.start(), unit.end(), new)
        for quantity in _quantities(sentence)
        for unit in _UNIT.finditer(sentence, quantity.start, quantity.end)
        for new in _UNITS[unit[0].lower()]
    ]
    return _one_of(found, sentence, evidence, rng, kind=UNIT)


def _quantities(sentence: str) -> Iterator[Quantity]:
    """Yields the quantities that are written in figures, except ages: "12 years old" is a population."""
    for quantity in read_quantities(sentence):
        if quantity.role != "age" and _NUMBER.search(sentence[quantity.start : quantity.end]):
            yield quantity
