"""The kinds of planted errors by name, in the order in which a card shows them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pytest_medfaith.audit import amounts, negate, swap, turn, years
from pytest_medfaith.audit.mutation import Operator

OPERATORS: Mapping[str, Operator] = MappingProxyType(
    {
        negate.KIND: negate.negate,
        turn.KIND: turn.turn,
        swap.DRUG: swap.swap_drug,
        amounts.DOSE_UP: amounts.dose_up,
        amounts.DOSE_DOWN: amounts.dose_down,
        amounts.UNIT: amounts.swap_unit,
        swap.POPULATION: swap.swap_population,
        years.KIND: years.invent_year,
    }
)
