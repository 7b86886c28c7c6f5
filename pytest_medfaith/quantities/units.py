"""A small exact table of the units that medical texts use: name, factor to the base unit, dimension.

pint knows most of these units, but takes half a second to import: a third of what checking an answer may
cost. It does not read "mcg", "IU" as clinicians mean it, or "mL/min/1.73 m2". A comparison test checks every
row that pint knows against pint.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

_SECOND, _DAY = 1 / 86_400, 1.0
_FEW_NAMES: Mapping[tuple[str, float], str] = {
    # mass, in grams
    ("mass", 1e3): "kg kgs kilo kilos kilogram kilograms kilogramme kilogrammes",
    ("mass", 1.0): "g gm gms gr gram grams gramme grammes",
    ("mass", 1e-3): "mg mgs milligram milligrams milligramme milligrammes",
    ("mass", 1e-6): "mcg ug µg μg microg microgram micrograms microgramme microgrammes",
    ("mass", 1e-9): "ng nanogram nanograms nanogramme nanogrammes",
    ("mass", 1e-12): "pg picogram picograms picogramme picogrammes",
    ("mass", 453.59237): "lb lbs pound pounds",
    ("mass", 28.349523125): "oz ounce ounces",
    ("mass", 6350.29318): "stone",
    # volume, in litres
    ("volume", 1.0): "l liter liters litre litres",
    ("volume", 1e-1): "dl deciliter deciliters decilitre decilitres",
    ("volume", 1e-3): "ml mls cc milliliter milliliters millilitre millilitres",
    ("volume", 1e-6): "mm3 mm³ µl μl ul mcl microliter microliters microlitre microlitres",
    ("volume", 5e-3): "tsp teaspoon teaspoons teaspoonful teaspoonfuls",
    ("volume", 15e-3): "tbsp tablespoon tablespoons tablespoonful tablespoonfuls",
    # time, in days; a month is a twelfth of a year
    ("time", _SECOND / 1000): "ms msec millisecond milliseconds",
    ("time", _SECOND): "s sec secs second seconds",
    ("time", 60 * _SECOND): "min mins minute minutes",
    ("time", 3600 * _SECOND): "h hr hrs hour hours",
    ("time", _DAY): "d day days night nights",
    ("time", 7.0): "wk wks week weeks",
    ("time", 14.0): "fortnight fortnights",
    ("time", 365.25 / 12): "mo mos mth mths month months",
    ("time", 365.25): "y yr yrs year years",
    ("time", 3652.5): "decade decades",
    # length, in metres
    ("length", 1e3): "km kilometer kilometers kilometre kilometres",
    ("length", 1.0): "m meter meters metre metres",
    ("length", 1e-2): "cm centimeter centimeters centimetre centimetres",
    ("length", 1e-3): "mm millimeter millimeters millimetre millimetres",
    ("length", 1e-6): "µm μm um micron microns micrometer micrometers micrometre micrometres",
    ("length", 1e-9): "nm nanometer nanometers nanometre nanometres",
    ("length", 0.0254): "inch inches",
    ("length", 0.3048): "ft foot feet",
    ("length", 1609.344): "mile miles",
    # area, in square metres
    ("area", 1.0): "m2 m²",
    ("area", 1e-4): "cm2 cm²",
    ("area", 1e-6): "mm2 mm²",
    # amount of substance, in moles; equivalents and international units are dimensions by themselves
    ("amount", 1.0): "mol mole moles",
    ("amount", 1e-3): "mmol millimol millimole millimoles",
    ("amount", 1e-6): "µmol μmol umol micromol micromole micromoles",
    ("amount", 1e-9): "nmol nanomol nanomole nanomoles",
    ("amount", 1e-12): "pmol picomol picomole picomoles",
    ("equivalent", 1e-3): "meq milliequivalent milliequivalents",
    ("unit", 1.0): "iu u unit units international-unit international-units",
    ("unit", 1e-3): "miu mu milliunit milliunits",
    ("unit", 1e3): "kiu",
    # pressure, in millimetres of mercury
    ("pressure", 1.0): "mmhg",
    ("pressure", 7.500616827): "kpa kilopascal kilopascals",
    ("pressure", 0.735559240): "cmh2o",
    ("energy", 1.0): "kcal kilocalorie kilocalories calorie calories",
    ("energy", 0.2390057361): "kj kilojoule kilojoules",
    ("radiation", 1.0): "gy gray",
    ("radiation", 1e-2): "cgy",
    ("equivalent dose", 1e-3): "msv millisievert millisieverts",
    ("refraction", 1.0): "dioptre dioptres diopter diopters",
    ("beats", 1.0): "bpm",
    ("loudness", 1.0): "db decibel decibels",
    ("temperature", 1.0): "°c celsius",
    ("fraction", 1e-2): "% percent pct",
    ("fraction", 1e-3): "‰",
    ("points", 1e-2): "percentage-point percentage-points percent-point percent-points",
    ("copies", 1.0): "copies",
    ("cells", 1.0): "cell cells",
}
_SPACED = {
    "mm hg": "mmhg",
    "cm h2o": "cmh2o",
    "centimetre of water": "cmh2o",
    "centimetres of water": "cmh2o",
    "centimeter of water": "cmh2o",
    "centimeters of water": "cmh2o",
    "cm of water": "cmh2o",
    "degrees below zero celsius": "celsius",
    "degrees celsius below zero": "celsius",
    "degrees above zero celsius": "celsius",
    "degrees celsius above zero": "celsius",
    "per cent": "percent",
    "percentage point": "percentage-point",
    "percentage points": "percentage-points",
    "percent points": "percent-points",
    "international unit": "international-unit",
    "international units": "international-units",
    "degrees celsius": "celsius",
    "degrees c": "celsius",
    "° c": "°c",
    "beats per minute": "bpm",
    "beats a minute": "bpm",
    "square meter": "m2",
    "square metre": "m2",
    "square meters": "m2",
    "square metres": "m2",
}
UNITS: Mapping[str, tuple[float, str]] = MappingProxyType(
    {name: (factor, dimension) for (dimension, factor), names in _FEW_NAMES.items() for name in names.split()}
)
FAHRENHEIT = frozenset({"°f", "fahrenheit", "degrees f", "degrees fahrenheit", "° f"})


# A pattern that ignores case matches these as i, s and k, but `lower` does not turn them into i, s and k.
_SAME_AS = str.maketrans({"İ": "i", "ſ": "s", "K": "k", "ı": "i"})


@lru_cache(maxsize=1)
def unit_pattern() -> re.Pattern[str]:
    """Returns a pattern that matches the longest unit name at a place, up to a word's end."""
    names = sorted([*UNITS, *_SPACED, *FAHRENHEIT], key=len, reverse=True)
    alternatives = "|".join(re.escape(name).replace(r"\ ", r"[\s-]+") for name in names)
    return re.compile(rf"(?:{alternatives})(?![^\W_])", re.IGNORECASE)


def unit_of(name: str) -> tuple[float, str]:
    """Returns (factor to the base unit, dimension) of a unit name that `unit_pattern` has matched.

    (0.001, "mass") for "mg". Fahrenheit has the dimension "fahrenheit", as no factor converts it.
    """
    lower = re.sub(r"[\s-]+", " ", name.translate(_SAME_AS).lower())
    if lower in FAHRENHEIT:
        return 1.0, "fahrenheit"
    lower = _SPACED.get(lower, lower.replace(" ", "-"))
    return UNITS[lower]
