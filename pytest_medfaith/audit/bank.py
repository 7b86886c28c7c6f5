"""The bank: items written by a language model that resemble real errors (`bank.jsonl`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pytest_medfaith.conversion import Record
from pytest_medfaith.jsonl import read_records

BANK = Path(__file__).with_name("bank.jsonl")


@dataclass(frozen=True, kw_only=True)
class BankItem(Record):
    """A passage and the texts that a checker must judge by it.

    `passage` supports `claim`, a free paraphrase, and contradicts `wrong`, which differs from `claim` in what
    `stratum` says. `addition` is plausible, and neither passage states it or its opposite. `near_miss` is a
    passage on a similar matter that supports none of the three: often it holds the wrong value, for something
    else.
    """

    id: str
    stratum: str
    passage: str
    claim: str
    wrong: str
    addition: str
    near_miss: str


@lru_cache(maxsize=1)
def read_bank() -> tuple[BankItem, ...]:
    """Returns the items of the bank, in file order."""
    return tuple(read_records(BANK, BankItem))
