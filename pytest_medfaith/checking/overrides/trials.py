"""Registered trials that cannot exist: no register has given out the number NCT99999999."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date

# The numbers of trials in ClinicalTrials.gov, ISRCTN, EudraCT and the registers of Australia, China, Germany,
# India and Japan.
REGISTERED = re.compile(
    r"(?<![\w-])(?:NCT\s?\d{8}|ISRCTN\s?\d{6,8}|(?:EudraCT|"
    r"EU CT)(?:\s+number)?:?\s*\d{4}-\d{6}-\d{2}(?:-\d{2})?|ACTRN\s?\d{14}|ChiCTR(?:-\w+-)?\s?\d{8,10}|"
    r"DRKS\s?\d{8}|"
    r"CTRI/\d{4}/\d{2,3}/\d{6}|UMIN\s?\d{9}|jRCT\w?\d{9,10})(?!\w)",
    re.IGNORECASE,
)
# ClinicalTrials.gov had reached NCT07000000 by the middle of 2025, and gives out some 500,000 numbers a year.
# Twice that pace leaves room.
_NCT_START, _NCT_YEAR, _NCT_PACE = 7_000_000, 2025, 1_000_000
_FIRST_NCT = 102  # NCT00000102 is the lowest number of the register
# The German and the Japanese register number their trials one by one, and have some ten thousands.
_MOST_COUNTED = 1_000_000
_MONTHS = 12


def impossible_trials(text: str, *, latest: date) -> Iterator[tuple[int, int, str]]:
    """Yields (start, end, why) of each registered number in `text` that cannot have been given out.

    "EudraCT 2041-001234-12" begins with its year, so nobody has it before 2041.

    Args:
        text: a claim.
        latest: the last day that does not count as the future.
    """
    for found in REGISTERED.finditer(text):
        number = plain_number(found[0])
        why = next((check(number, latest) for name, check in _CHECKS.items() if number.startswith(name)), "")
        if not why and not any(digit in "123456789" for digit in number):
            why = "no register gives out a number of zeros"
        if why:
            yield found.start(), found.end(), why


def plain_number(number: str) -> str:
    """Returns the number of a trial in capitals without spaces and marks: "NCT01234567"."""
    return re.sub(r"[^A-Z0-9]", "", number.upper().replace("NUMBER", ""))


def _nct(number: str, latest: date) -> str:
    """Returns why ClinicalTrials.gov cannot have given out the number; "" if it can."""
    value, most = int(number[3:]), _NCT_START + _NCT_PACE * max(1, latest.year - _NCT_YEAR + 1)
    if value > most:
        return f"ClinicalTrials.gov has given out no number above NCT{most:08d}"
    return "" if value >= _FIRST_NCT else f"the numbers of ClinicalTrials.gov begin at NCT{_FIRST_NCT:08d}"


def _year(digits: str, latest: date) -> str:
    """Returns why a number of this year ("2041" or "41") cannot exist; "" if the year has come."""
    year = int(digits) if len(digits) == 4 else 2000 + int(digits)
    return f"its number is of the year {year}, which has not come" if year > latest.year else ""


def _eudract(number: str, latest: date) -> str:
    """Returns why a European number cannot exist, by its first four digits, the year; "" if it can."""
    return _year(re.sub(r"\D", "", number)[:4], latest)


def _australian(number: str, latest: date) -> str:
    """Returns why an Australian number cannot exist, by its beginning and its year; "" if it can."""
    digits = number.removeprefix("ACTRN")
    return _year(digits[3:5], latest) if digits.startswith("126") else "its numbers begin with ACTRN126"


def _chinese(number: str, latest: date) -> str:
    """Returns why a Chinese number cannot exist, by its year; "" if it can, or if it may have no year."""
    digits = re.sub(r"\D", "", number)
    return _year(digits[:2], latest) if len(digits) == 10 or digits[:2] <= "30" else ""


def _indian(number: str, latest: date) -> str:
    """Returns why an Indian number cannot exist, by its year and month; "" if it can."""
    digits = number.removeprefix("CTRI")
    month = int(digits[4:-6])
    if not 1 <= month <= _MONTHS:
        return f"its number names the month {month}"
    return _year(digits[:4], latest)


def _counted(number: str, _latest: date) -> str:
    """Returns why a register that counts its trials cannot have given out the number; "" if it can."""
    value = int(re.sub(r"\D", "", number))
    return "its register has given out no number that high" if value > _MOST_COUNTED else ""


_CHECKS: Mapping[str, Callable[[str, date], str]] = {
    "NCT": _nct,
    "EUDRACT": _eudract,
    "EUCT": _eudract,
    "ACTRN": _australian,
    "CHICTR": _chinese,
    "CTRI": _indian,
    "DRKS": _counted,
    "UMIN": _counted,
}
