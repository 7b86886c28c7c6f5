"""What a quantity is, and when two quantities can be the same."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

ROUNDING = 0.12  # of the value at most: "2 years" may be 22 months, "5 days" is never 4
# Of times from four weeks to half a year, and of rates of once in four weeks or less: 12 weeks are 3 months.
CALENDAR = 0.085
MONTHLY = 1 / 28  # times a day
ROUGHNESS = 0.15  # of the value, for "about", "half", "a week"
MOST_DOSES = 12  # a day: a dose every two hours
DOSES = frozenset({"mass", "volume", "unit", "amount", "equivalent"})  # the dimensions of what is given
# "Up to 20 mg" does not follow from "up to 10 mg"; of shares and pressures a wider bound does.
_STRICT = frozenset({"mass", "volume", "unit", "time", "frequency", "count"})
_BARE = frozenset({"count", "plain"})
_UNDECIDED = frozenset({"over", "by"})  # bounds of a time that may also say "during"


@dataclass(frozen=True)
class Quantity:
    """A quantity as a text states it, in base units: times in days, shares from 0 to 1, frequencies per day.

    Attributes:
        low: the value, or the lower end of a range.
        high: the value, or the upper end of a range.
        dimension: "mass", "time", "fraction", ...; with a denominator "mass/volume". A number without a unit
            is a "count" of things, or "plain".
        start: the first character of its words.
        end: the character after its words.
        bound: "min" for "at least 5" and "more than 5", "max" for "up to 5", else empty.
        rough: True after "about", and for words such as "half" and "a week".
        step: how far rounding may have moved the number.
        times: how often a day the amount is given, lowest and highest; None where the text does not say.
        per: "dose" for "4 g per dose", "day" for "4 g a day", else empty.
        role: what sets quantities apart: "age", "change" (34 % lower), "first" and "second" (130/80), or "".
        heads: the keys of the words for the things counted.
        loose: the word of a time's bound that may also say "during" ("over", "within", "by"), else empty.
        course: True where the text tells a rise from `low` to `high`.
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
        """The values that the statement allows: open-ended for a bound."""
        return (
            -math.inf if self.bound == "max" else self.low,
            math.inf if self.bound == "min" else self.high,
        )

    @property
    def daily(self) -> Quantity | None:
        """The amount a day; None where the text does not say how often the amount is given."""
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
        """The amount as stated and, where it is known, the amount a day."""
        daily = self.daily
        return (self,) if daily is None else (self, daily)


def agree(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether two quantities of one dimension can be true together: "5 mg" and "up to 10 mg" can.

    Ranges must overlap. "5 mg twice a day" and "10 mg a day" can be true together: amounts whose frequency
    is known are also compared as amounts a day. Callers see to it that the dimensions are the same.
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
    """Returns whether two quantities measure the same; counts and plain numbers do."""
    return quantity.dimension == other.dimension or {quantity.dimension, other.dimension} <= _BARE


def opposed_bounds(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether one quantity is a minimum and the other a maximum.

    "Within 2 days" is opposed to "after 2 days" and to "more than 2 days". "Over 2 days" and "by day 2" are
    opposed to nothing: they may also say "during".
    """
    if not (quantity.bound and other.bound) or quantity.bound == other.bound:
        return False
    return not {quantity.loose, other.loose} & _UNDECIDED


def differ(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether quantities in one place of two copies are not the same, even if both could be true."""
    if opposed_bounds(quantity, other) or not agree(quantity, other):
        return True
    if quantity.bound != other.bound or (quantity.low == quantity.high) != (other.low == other.high):
        return False
    return not same_ends(quantity, other)


def same_ends(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether lower and upper ends are the same, as far as both are exact."""
    allowed = allowed_difference(quantity, other)
    return abs(quantity.low - other.low) <= allowed and abs(quantity.high - other.high) <= allowed


def same_quantity(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether two texts state the same quantity, of the same things, with no opposite bounds."""
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
    """Returns how far apart two equal values may lie: the larger error, or the last bits of arithmetic."""
    return max(allowed_error(quantity), allowed_error(other), 1e-9 * abs(quantity.high))


def allowed_error(quantity: Quantity) -> float:
    """Returns how far off the value may be: its rounding, more where the text says "about"."""
    value = max(abs(quantity.low), abs(quantity.high))
    calendar = (quantity.dimension == "time" and 28 <= value <= 185) or (
        quantity.dimension == "frequency" and 0 < value <= MONTHLY
    )
    share = ROUGHNESS if quantity.rough else CALENDAR if calendar else 0.0
    return 1.02 * max(min(quantity.step, ROUNDING * value), share * value)
