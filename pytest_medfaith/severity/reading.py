"""What rules of severity see in a text: doses, drugs, years, and phrases in any of their forms."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from pytest_medfaith.english.letters import plain_letters
from pytest_medfaith.entities.linker import KINDS, link
from pytest_medfaith.quantities.quantity import Quantity
from pytest_medfaith.quantities.reader import read_quantities

MOST_CHARACTERS = 4_000  # of a text, as in safety_findings
_DOSED = frozenset(
    {"mass", "volume", "unit", "mass/mass", "unit/mass", "mass/time", "volume/time", "unit/time"}
)
_FORMS = frozenset(
    {"pill", "tablet", "capsule", "dose", "puff", "drop", "injection", "patch", "spray", "sachet", "ampoule"}
)
_YEAR = re.compile(r"(?<![\w.,-])(?:1[5-9]|20)\d\d(?![\w%-]|[.,]\d)")
_DENIAL = re.compile(r"\b(?:no|not|never|none|neither|nor|without|cannot)\b|n't\b", re.IGNORECASE)


@dataclass(frozen=True)
class TextRead:
    """A text that rules of severity look into; `read_text` makes it."""

    text: str

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """The quantities in it."""
        return tuple(read_quantities(self.text))

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of the medical concepts that it names, such as "drug"."""
        return frozenset(mention.kind for mention in link(self.text))

    @property
    def is_denial(self) -> bool:
        """True if it denies an odd number of times."""
        return len(_DENIAL.findall(self.text)) % 2 == 1

    def holds(self, terms: Terms) -> bool:
        """Returns whether it has any of `terms`."""
        return bool(terms.phrases and terms.phrases.search(self.text)) or any(
            THINGS[name](self) for name in terms.things
        )


def read_text(text: str) -> TextRead:
    """Returns the first `MOST_CHARACTERS` of `text`, in plain letters, ready for searching."""
    return TextRead(plain_letters(text[:MOST_CHARACTERS]).strip())


def _is_dose(quantity: Quantity) -> bool:
    """Returns whether a quantity is a dose: a mass, a volume, or a number of tablets or the like."""
    return quantity.dimension in _DOSED or (quantity.dimension == "count" and bool(quantity.heads & _FORMS))


def _quantity(test: Callable[[Quantity], bool]) -> Callable[[TextRead], bool]:
    """Returns a test whether a text has a quantity for which `test` is true."""
    return lambda read: any(map(test, read.quantities))


def _kind(name: str) -> Callable[[TextRead], bool]:
    """Returns a test whether a text names a concept of the kind `name`."""
    return lambda read: name in read.kinds


# {name: test of a text}; a rule asks for these as "#amount".
THINGS: Mapping[str, Callable[[TextRead], bool]] = MappingProxyType(
    {
        "amount": _quantity(_is_dose),
        "frequency": _quantity(lambda quantity: quantity.dimension == "frequency"),
        "duration": _quantity(lambda quantity: quantity.dimension == "time" and quantity.role != "age"),
        "age": _quantity(lambda quantity: quantity.dimension == "time" and quantity.role == "age"),
        "share": _quantity(lambda quantity: quantity.dimension == "fraction"),
        "number": _quantity(lambda _: True),
        "year": lambda read: bool(_YEAR.search(read.text)),
        **{kind: _kind(kind) for kind in KINDS},
    }
)


@dataclass(frozen=True)
class Terms:
    """What a rule looks for.

    Attributes:
        phrases: a pattern of all phrases; None without phrases.
        things: names of `THINGS`.
    """

    phrases: re.Pattern[str] | None
    things: tuple[str, ...]


def compiled_terms(terms: Iterable[str]) -> Terms:
    """Returns `terms` ready for searching.

    "#drug" is any drug, "^stop" is at the beginning of a text, "contraindicat*" is the beginning of a word.

    Raises:
        ValueError: an unknown "#" name, an empty phrase, or fewer than two letters before a "*".
    """
    terms = list(terms)
    things = tuple(term[1:] for term in terms if term.startswith("#"))
    for name in things:
        if name not in THINGS:
            raise ValueError(f"#{name} is unknown, expected one of {', '.join(f'#{one}' for one in THINGS)}")
    patterns = [_pattern(term) for term in terms if not term.startswith("#")]
    return Terms(re.compile("|".join(patterns), re.IGNORECASE) if patterns else None, things)


def _pattern(term: str) -> str:
    """Returns the pattern of a phrase.

    Raises:
        ValueError: an empty phrase, or fewer than two letters before a "*".
    """
    words = plain_letters(term).removeprefix("^").split()
    if not words or any(len(word.rstrip("*")) < (2 if word.endswith("*") else 1) for word in words):
        raise ValueError(f"{term!r} is no phrase; expected words, with two letters or more before a *")
    inner = r"\s+".join(re.escape(word.rstrip("*")) + r"\w*" * word.endswith("*") for word in words)
    before = "^" if term.startswith("^") else r"(?<![^\W_])"
    return rf"{before}{inner}(?![^\W_])"
