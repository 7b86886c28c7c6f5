"""The bank of items in the manner of real errors: `bank.jsonl` beside this module, written by a language model and checked by tests."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pytest_medfaith.jsonl import read_records
from pytest_medfaith.records import Record

BANK = Path(__file__).with_name("bank.jsonl")


@dataclass(frozen=True, kw_only=True)
class BankItem(Record):
    """A passage with a claim that paraphrases it freely, the claim with one change, an addition, and a passage on a like matter.

    `passage` supports `claim` and contradicts `wrong`, which differs in what `stratum` says. `addition` is plausible, and neither passage
    says it or its opposite. `near_miss` supports none of the three: it often holds the wrong value, of something else.
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
