"""What a quantity is, and when two quantities may be the same."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

ROUNDING = 0.12  # share of the value, at most: "2 years" may be 22 months, "5 days" is never 4
# The same for times from four weeks to half a year, and for rates of once in four weeks or less: 12 weeks are
# 3 months.
CALENDAR = 0.085
MONTHLY = 1 / 28  # times a day
ROUGHNESS = 0.15  # share of the value, for "about", "half", "a week"
MOST_DOSES = 12  # a day: a dose every two hours
DOSES = frozenset({"mass", "volume", "unit", "amount", "equivalent"})  # the dimensions of what is given
# In these dimensions a bound does not follow from a narrower one: "up to 20 mg" from "up to 10 mg".
_STRICT = frozenset({"mass", "volume", "unit", "time", "frequency", "count"})
_BARE = frozenset({"count", "plain"})
_UNDECIDED = frozenset({"over", "by"})  # bounds of a time that may also say "during"


@dataclass(frozen=True)
class Quantity:
    """A quantity as a text states it, in base units.

    Base units are grams, litres, days, metres, shares from 0 to 1 and times a day; `units` lists them all.
    "0.5 g twice a day" has low and high 0.5, dimension "mass" and times (2, 2).

    Attributes:
        low: the value, or the lower end of a range.
        high: the value, or the upper end of a range.
        dimension: "mass", "time", "fraction", ...; with a denominator "mass/volume". A number without a unit
            is a "count" of things, or "plain".
        start: the first character of its words.
        end: the character after its words.
        bound: "min" for "at least 5" and "more than 5", "max" for "up to 5", else "".
        rough: True after "about", and for words such as "half" and "a week".
        step: how far rounding may have moved the number, in base units.
        times: (lowest, highest) times a day that the amount is given; None where the text does not say.
        per: "dose" for "4 g per dose", "day" for "4 g a day", else "".
        role: what tells quantities apart: "age", "change" (34 % lower), "first" and "second" (130/80),
            "label" (day 28), or "".
        heads: the keys (stems) of the words for the things counted.
        loose: the word of a time's bound that may also mean "during" ("over", "within", "by"), else "".
        course: True where the text tells of a rise from `low` to `high`.
        denied: True where a negation has reversed the bound: "not below 30".
    """

    low: float
    high: float
    dimension: str
    start: int
    end: int
    bound: str = ""
    rough: bool = False
    step: float = 0.0
    times: tuple[float, float] | None = None
    per: str = ""
    role: str = ""
    heads: frozenset[str] = field(default_factory=frozenset)
    loose: str = ""
    course: bool = False
    denied: bool = False

    @property
    def interval(self) -> tuple[float, float]:
        """(least, greatest) value that the statement allows; infinite on the open side of a bound.

        "up to 4 g" allows (-inf, 4).
        """
        return (
            -math.inf if self.bound == "max" else self.low,
            math.inf if self.bound == "min" else self.high,
        )

    @property
    def daily(self) -> Quantity | None:
        """The total a day: 1 g for "0.5 g twice a day".

        None where the text does not say how often the amount is given.
        """
        if self.times is None:
            return None
        return replace(
            self,
            low=self.low * self.times[0],
            high=self.high * self.times[1],
            step=self.step * self.times[1],
            times=None,
        )

    @property
    def readings(self) -> tuple[Quantity, ...]:
        """The amount as stated and, if it is known, the total a day.

        Both 0.5 g and 1 g for "0.5 g twice a day".
        """
        daily = self.daily
        return (self,) if daily is None else (self, daily)


def agree(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether two quantities of the same dimension can both be true: "5 mg" and "up to 10 mg" can.

    Ranges must overlap. "5 mg twice a day" and "10 mg a day" agree: amounts with a known frequency are also
    compared as totals a day. The caller makes sure that the dimensions are the same.
    """
    dose, day = (quantity, other) if quantity.per == "dose" else (other, quantity)
    if (dose.per, day.per) == ("dose", "day") and dose.times is None:  # "4 g per dose" is not "4 g a day"
        return day.high / MOST_DOSES <= dose.high < day.high - max(allowed_error(dose), allowed_error(day))
    if quantity.times and other.times:
        mine, theirs = (Quantity(*times, "frequency", 0, 0) for times in (quantity.times, other.times))
        if _overlap(quantity, other) and _overlap(mine, theirs):
            return True  # "150 mg monthly" is "150 mg every four weeks"
        return _overlap(quantity.daily or quantity, other.daily or other)
    return any(_overlap(mine, theirs) for mine in quantity.readings for theirs in other.readings)


def same_dimension(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether two quantities have the same dimension; counts and plain numbers count as the same."""
    return quantity.dimension == other.dimension or {quantity.dimension, other.dimension} <= _BARE


def opposed_bounds(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether one quantity is a minimum and the other a maximum: "at least 5", "at most 5".

    "Within 2 days" is opposed to "after 2 days" and to "more than 2 days". "Over 2 days" and "by day 2" are
    opposed to nothing: they may also say "during".
    """
    if not (quantity.bound and other.bound):
        return False
    # "At least every 3 hours", a rate, and "no more than 3 hours apart", a time, are the same bound.
    inverse = {quantity.dimension, other.dimension} == {"frequency", "time"}
    if (quantity.bound == other.bound) != inverse:
        return False
    return not {quantity.loose, other.loose} & _UNDECIDED


def differ(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether quantities in the same place of two near-copies differ, even if both could be true.

    "5 mg" and "about 5.2 mg" do not; "5 to 10 mg" and "5 to 20 mg" do.
    """
    if opposed_bounds(quantity, other) or not agree(quantity, other):
        return True
    if quantity.bound != other.bound or (quantity.low == quantity.high) != (other.low == other.high):
        return False
    return not same_ends(quantity, other)


def same_ends(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether lower and upper ends are the same, within the error of rounding.

    "5-10 mg" and "5 to 10 mg" have the same ends.
    """
    allowed = allowed_difference(quantity, other)
    return abs(quantity.low - other.low) <= allowed and abs(quantity.high - other.high) <= allowed


def same_quantity(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether both have the same dimension, role, ends and things counted, and no opposite bounds."""
    if (
        quantity.dimension != other.dimension
        or quantity.role != other.role
        or opposed_bounds(quantity, other)
        or quantity.heads != other.heads
    ):
        return False
    allowed = max(allowed_error(quantity), allowed_error(other), 1e-9 * abs(quantity.high))
    return abs(quantity.low - other.low) <= allowed and abs(quantity.high - other.high) <= allowed


def _overlap(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether the values that both allow overlap, within their error; frequencies do not count."""
    allowed = allowed_difference(quantity, other)
    if quantity.bound and quantity.bound == other.bound:
        difference = other.low - quantity.low if quantity.bound == "min" else quantity.high - other.high
        return abs(difference) <= allowed if quantity.dimension in _STRICT else difference >= -allowed
    if quantity.course and other.course:
        return same_ends(quantity, other)
    (low, high), (other_low, other_high) = quantity.interval, other.interval
    if not quantity.bound and not other.bound and low < high and other_low < other_high:
        return low < other_high and other_low < high  # ranges that only touch are two ranges
    return low <= other_high + allowed and other_low <= high + allowed


def allowed_difference(quantity: Quantity, other: Quantity) -> float:
    """Returns how far apart two equal values may be, in base units: the larger of their errors."""
    return max(allowed_error(quantity), allowed_error(other), 1e-9 * abs(quantity.high))


def allowed_error(quantity: Quantity) -> float:
    """Returns how far off the value may be, in base units: by rounding, and more after "about"."""
    value = max(abs(quantity.low), abs(quantity.high))
    calendar = (quantity.dimension == "time" and 28 <= value <= 185) or (
        quantity.dimension == "frequency" and 0 < value <= MONTHLY
    )
    share = ROUGHNESS if quantity.rough else CALENDAR if calendar else 0.0
    return 1.02 * max(min(quantity.step, ROUNDING * value), share * value)
