"""What a quantity is, and when two of them can be the same."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

ROUNDING = 0.12  # of the value at most: "2 years" may be 22 months, "5 days" is never 4
CALENDAR = 0.085  # of times from four weeks to half a year, and of what is done every four weeks or rarer: 12 weeks are 3 months
MONTHLY = 1 / 28  # times a day
ROUGHNESS = 0.15  # of the value, for "about", "half", "a week"
MOST_DOSES = 12  # a day: one every two hours
_STRICT = frozenset(
    {"mass", "volume", "unit", "time", "frequency", "count"}
)  # "up to 20 mg" does not follow from "up to 10 mg"


@dataclass(frozen=True)
class Quantity:
    """A quantity as a text states it, in base units (units.py): times in days, shares from 0 to 1, frequencies per day.

    `low` and `high` differ for a range. `bound` is "min" for "at least 5" and "more than 5", "max" for "up to 5". `step` is how far
    rounding may have moved the number. `times` says how often a day an amount is given. `per` is "dose" for "4 g per dose" and "day" for
    "4 g a day". `role` parts what cannot be compared: "age", "change" (34 % lower), "first" and "second" (130/80). `heads` are the keys
    of the things counted. `loose` is the word of a time's bound that need not bound it ("over", "within", "by", "after"). `course` marks a
    rise from `low` to `high`; `denied` a bound that a negation turned round ("not below 30").
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
        """The amount a day, where it is known how often it is given."""
        if self.times is None:
            return None
        return replace(
            self,
            low=self.low * self.times[0],
            high=self.high * self.times[1],
            step=self.step * self.times[1],
            times=None,
        )


def agree(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether both can be true; amounts with a frequency are compared as amounts a day."""
    dose, day = (quantity, other) if quantity.per == "dose" else (other, quantity)
    if (dose.per, day.per) == ("dose", "day") and dose.times is None:  # "4 g per dose" is not "4 g a day"
        return day.high / MOST_DOSES <= dose.high < day.high - max(allowed_error(dose), allowed_error(day))
    if quantity.times and other.times:
        if _overlap(quantity, other) and _overlap(_rate(quantity.times), _rate(other.times)):
            return True  # "150 mg monthly" is "150 mg every four weeks"
        return _overlap(quantity.daily or quantity, other.daily or other)
    return any(
        _overlap(mine, theirs)
        for mine in (quantity, quantity.daily)
        if mine
        for theirs in (other, other.daily)
        if theirs
    )


def _rate(times: tuple[float, float]) -> Quantity:
    return Quantity(*times, "frequency", 0, 0)


def opposed(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether one is a minimum and the other a maximum; of times only where both bounds compare, or name "before" and "after"."""
    if not (quantity.bound and other.bound) or quantity.bound == other.bound:
        return False
    return not (quantity.loose or other.loose) or {quantity.loose, other.loose} in (
        {"before", "after"},
        {"until", "after"},
    )


def differ(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether two quantities at one place of two copies are not the same, be it that both could be true."""
    if opposed(quantity, other):
        return True
    if quantity.bound != other.bound or (quantity.low == quantity.high) != (other.low == other.high):
        return not agree(quantity, other)
    allowed = max(allowed_error(quantity), allowed_error(other), 1e-9 * abs(quantity.high))
    return (
        not agree(quantity, other)
        or abs(quantity.low - other.low) > allowed
        or abs(quantity.high - other.high) > allowed
    )


def same_quantity(quantity: Quantity, other: Quantity) -> bool:
    """Returns whether two texts state the same quantity, of the same things, with no opposite bounds."""
    if (
        quantity.dimension != other.dimension
        or quantity.role != other.role
        or opposed(quantity, other)
        or quantity.heads != other.heads
    ):
        return False
    allowed = max(allowed_error(quantity), allowed_error(other), 1e-9 * abs(quantity.high))
    return abs(quantity.low - other.low) <= allowed and abs(quantity.high - other.high) <= allowed


def _overlap(quantity: Quantity, other: Quantity) -> bool:
    allowed = max(allowed_error(quantity), allowed_error(other), 1e-9 * abs(quantity.high))
    if quantity.bound and quantity.bound == other.bound:
        difference = other.low - quantity.low if quantity.bound == "min" else quantity.high - other.high
        return abs(difference) <= allowed if quantity.dimension in _STRICT else difference >= -allowed
    if quantity.course and other.course:
        return abs(quantity.low - other.low) <= allowed and abs(quantity.high - other.high) <= allowed
    (low, high), (other_low, other_high) = quantity.interval, other.interval
    if not quantity.bound and not other.bound and low < high and other_low < other_high:
        return low < other_high and other_low < high  # ranges that only touch are two ranges
    return low <= other_high + allowed and other_low <= high + allowed


def allowed_error(quantity: Quantity) -> float:
    """Returns how far off the value may be: its rounding, more where the text says "about"."""
    value = max(abs(quantity.low), abs(quantity.high))
    calendar = (quantity.dimension == "time" and 28 <= value <= 185) or (
        quantity.dimension == "frequency" and 0 < value <= MONTHLY
    )
    share = ROUGHNESS if quantity.rough else CALENDAR if calendar else 0.0
    return 1.02 * max(min(quantity.step, ROUNDING * value), share * value)
