"""The card of a model folder: the numbers that were fitted to its weights, and the tokenizer it reads with.

A folder is a checker if it holds `card.json`, `model.onnx` and `tokenizer.json`. The card must have
`scoring`. What its `reading` leaves out has the default of `ReadingSettings`:

    {"scoring": {"max_tokens": 512, "temperature": 1.3, "entail_threshold": 0.36,
                 "contradict_threshold": 0.26, "contradict_odds": 1.3, "similarity_weight": 4.0,
                 "similarity_even": 0.45},
     "reading": {"sentence_share": 0.3},
     "latin_only": true}

A strong model reads after the shipped small model. Its `scoring` also has the numbers of `Cascade`.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_medfaith.checking.cascade import Cascade
from pytest_medfaith.checking.policy import Thresholds
from pytest_medfaith.errors import DataError
from pytest_medfaith.models.shipped import MINILM_TOKENIZER
from pytest_medfaith.scoring.reading import AS_SHIPPED, ReadingSettings
from pytest_medfaith.scoring.similarity import SimilarityShift

_SHIPPED_TOKENIZERS = {"minilm": MINILM_TOKENIZER}


@dataclass(frozen=True, kw_only=True)
class ModelCard:
    """The contents of a model folder's card.json, as far as checking needs them.

    Attributes:
        max_tokens: the most tokens of evidence and claim together that the model reads.
        temperature: logits are divided by it before the softmax.
        entail_threshold: `Thresholds.entail`.
        contradict_threshold: `Thresholds.contradict`.
        contradict_odds: `Thresholds.odds`.
        similarity_weight: `SimilarityShift.weight`.
        similarity_even: `SimilarityShift.even`.
        cascade: how much a strong model reads after the small one; None for a model that reads everything.
        reading: how the model reads evidence.
        latin_only: True if it reads Latin script only. Its scores of other scripts have no meaning.
    """

    max_tokens: int
    temperature: float
    entail_threshold: float
    contradict_threshold: float
    contradict_odds: float
    similarity_weight: float
    similarity_even: float
    cascade: Cascade | None = None
    reading: ReadingSettings = AS_SHIPPED
    latin_only: bool = True

    @property
    def thresholds(self) -> Thresholds:
        """The probabilities from which on a chunk supports or refutes a claim."""
        return Thresholds(
            entail=self.entail_threshold, contradict=self.contradict_threshold, odds=self.contradict_odds
        )

    @property
    def similarity(self) -> SimilarityShift:
        """How the similarity of claim and chunk changes the logit of neutral."""
        return SimilarityShift(weight=self.similarity_weight, even=self.similarity_even)


_NEEDED = tuple(each.name for each in dataclasses.fields(ModelCard) if each.default is dataclasses.MISSING)


def read_card(folder: Path) -> ModelCard:
    """Returns the contents of `folder`/card.json.

    Raises:
        DataError: there is no card, a needed number is missing, `reading` has an unknown key, or a number
            makes no sense. The message names the key.
    """
    path = folder / "card.json"
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
        scoring = row["scoring"]
        cascade = [each.name for each in dataclasses.fields(Cascade) if each.name in scoring]
        card = ModelCard(
            **{name: _number(name, scoring[name]) for name in _NEEDED},
            cascade=Cascade(**{name: _number(name, scoring[name]) for name in cascade})
            if scoring.get("windows")
            else None,
            reading=_reading(row.get("reading", {})),
            latin_only=_flag("latin_only", row.get("latin_only", True)),
        )
        _ = card.thresholds  # numbers without sense are said now
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(
            f"{path}: no usable model card ({error!r}); expected JSON with 'scoring' holding "
            f"{', '.join(_NEEDED)}"
        ) from error
    return card


def _reading(row: Any) -> ReadingSettings:
    """Returns the card's object `reading` as settings. Raises ValueError for unknown keys and wrong types."""
    known = [each.name for each in dataclasses.fields(ReadingSettings)]
    if not isinstance(row, Mapping) or row.keys() - set(known):
        odd = f"holds {min(row.keys() - set(known))!r}" if isinstance(row, Mapping) else f"is {row!r}"
        raise ValueError(f"reading {odd}, expected an object of {', '.join(known)}")
    numbers = {name: _number(name, value) for name, value in row.items() if name != "unread_logits"}
    if "unread_logits" in row:
        logits = row["unread_logits"]
        if not isinstance(logits, list) or len(logits) != 3:
            raise ValueError(f"unread_logits is {logits!r}, expected three numbers")
        numbers["unread_logits"] = tuple(_number("unread_logits", each) for each in logits)
    return ReadingSettings(**numbers)


def _number(name: str, value: Any) -> Any:
    """Returns `value`.

    Raises ValueError, with the key `name`, where it is not a number; true and false are not.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        # The card is wrong, not a type in code.
        raise ValueError(f"{name} is {value!r}, expected a number")  # noqa: TRY004
    return value


def _flag(name: str, value: Any) -> bool:
    """Returns `value`. Raises ValueError, with the key `name`, where it is neither true nor false."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} is {value!r}, expected true or false")  # noqa: TRY004
    return value


def tokenizer_of(folder: Path) -> Path:
    """Returns the path of a model folder's tokenizer: its tokenizer.json, or the shipped file its card names.

    A card names a shipped tokenizer as `"tokenizer": "minilm"`.

    Raises:
        DataError: the folder has no tokenizer.json, and its card names no shipped tokenizer.
    """
    beside = folder / "tokenizer.json"
    if beside.is_file():
        return beside
    try:
        named = json.loads((folder / "card.json").read_text(encoding="utf-8")).get("tokenizer")
    except (OSError, ValueError, AttributeError, RecursionError):
        named = None
    if not isinstance(named, str) or named not in _SHIPPED_TOKENIZERS:
        said = f", and its card names the tokenizer {named!r}" if named is not None else ""
        raise DataError(
            f"{folder}: no tokenizer.json{said}; expected the model's tokenizer beside its weights, or in "
            f'card.json "tokenizer": "{next(iter(_SHIPPED_TOKENIZERS))}" for the shipped tokenizer'
        )
    return _SHIPPED_TOKENIZERS[named]
