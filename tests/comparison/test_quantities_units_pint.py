"""Our unit table against pint's, for every unit that both know by the same name."""

import pytest

from pytest_medfaith.quantities.units import UNITS, unit_of

pint = pytest.importorskip("pint", reason="compares our units with pint's, which is not installed")

BASE = {
    "mass": "gram",
    "volume": "liter",
    "time": "day",
    "length": "meter",
    "area": "meter**2",
    "amount": "mole",
    "pressure": "mmHg",
    "energy": "kilocalorie",
    "radiation": "gray",
    "equivalent dose": "sievert",
}
# Units that pint writes in another way, or for which our name means another unit.
PINT_NAMES = {
    "mcg": "microgram",
    "ug": "microgram",
    "microg": "microgram",
    "kgs": "kg",
    "mgs": "mg",
    "gm": "gram",
    "gms": "gram",
    "gr": "gram",
    "cc": "cm**3",
    "mls": "ml",
    "mcl": "microliter",
    "ul": "microliter",
    "wk": "week",
    "wks": "week",
    "mo": "month",
    "mos": "month",
    "mth": "month",
    "mths": "month",
    "yr": "year",
    "yrs": "year",
    "y": "year",
    "hrs": "hour",
    "hr": "hour",
    "h": "hour",
    "mins": "minute",
    "secs": "second",
    "sec": "second",
    "s": "second",
    "ms": "millisecond",
    "msec": "millisecond",
    "d": "day",
    "nights": "day",
    "night": "day",
    "mm3": "mm**3",
    "mm³": "mm**3",
    "m2": "m**2",
    "m²": "m**2",
    "cm2": "cm**2",
    "cm²": "cm**2",
    "mm2": "mm**2",
    "mm²": "mm**2",
    "um": "micrometer",
    "umol": "micromole",
    "micromol": "micromole",
    "micromoles": "micromole",
    "calorie": "kilocalorie",
    "calories": "kilocalorie",
    "mmhg": "mmHg",
    "cmh2o": "cmH2O",
    "kpa": "kPa",
    "kj": "kJ",
    "gy": "gray",
    "cgy": "cGy",
    "msv": "mSv",
    "dl": "dL",
    "l": "L",
    "ml": "mL",
}


# A medicine spoon holds 5 mL and a tablespoon 15 mL everywhere; pint has the spoons of American kitchens.
SPOONS = ("tsp", "tbsp", "teaspoon", "tablespoon")


def _pint_factor(registry, name, base):
    try:
        return registry.Quantity(1, PINT_NAMES.get(name, name)).to(base).magnitude
    except (pint.UndefinedUnitError, pint.DimensionalityError):
        return None


def test_every_unit_that_pint_knows_has_pints_factor():
    registry = pint.UnitRegistry()
    compared = 0
    for name, (factor, dimension) in UNITS.items():
        compares = dimension in BASE and not name.startswith(SPOONS)
        theirs = _pint_factor(registry, name, BASE[dimension]) if compares else None
        if theirs is not None:
            compared += 1
            assert factor == pytest.approx(theirs, rel=1e-6), name
    assert compared >= 150


def test_fahrenheit_is_left_to_the_reader():
    assert unit_of("°F") == (1.0, "fahrenheit")
    assert unit_of("degrees  Fahrenheit")[1] == "fahrenheit"
