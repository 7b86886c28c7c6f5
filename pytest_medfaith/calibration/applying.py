"""Writes and reads the file of `medfaith calibrate`, and applies it to a checker."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_medfaith.calibration.isotonic import Isotonic
from pytest_medfaith.checking.policy import Thresholds
from pytest_medfaith.checking.selective import Selective
from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import write_text

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker

FORMAT_VERSION = 1
_NUMBERS = ("temperature", "entail_threshold", "contradict_threshold", "contradict_odds")
_ALWAYS = ("risk", "confidence")  # of a promise
_AGAIN = "write it again with medfaith calibrate"


@dataclass(frozen=True, kw_only=True)
class FittedCalibration:
    """What was fitted for a checker.

    Attributes:
        checker: its name.
        weights: the signature of the weights that it was fitted for.
        temperature: the logits are divided by it before the softmax.
        thresholds: from which probability on a chunk supports or refutes a claim.
        isotonic: curves that correct the probabilities at `temperature`; None where none were fitted.
        selective: from which confidence verdicts stand, else they are "uncertain"; None where all stand.
        rules: the rules and the linker under which `selective` was certified.
    """

    checker: str
    weights: str
    temperature: float
    thresholds: Thresholds
    isotonic: Isotonic | None = None
    selective: Selective | None = None
    rules: tuple[str, ...] = ()


def calibrated(checker: Checker, fitted: FittedCalibration) -> Checker:
    """Returns `checker` with the fitted temperature, curves and thresholds.

    Raises:
        DataError: they were fitted for another checker, or for other weights of this checker.
    """
    if (checker.name, checker.signature) != (fitted.checker, fitted.weights):
        raise DataError(
            f"the calibration was fitted for checker {fitted.checker!r} with weights {fitted.weights}, but "
            f"this is {checker.name!r} with {checker.signature}; fit it again with medfaith calibrate ROWS "
            f"--checker {checker.name}"
        )
    if fitted.selective and deciding_rules(checker) != fitted.rules:
        changed = sorted(set(deciding_rules(checker)) ^ set(fitted.rules))
        raise DataError(
            f"the calibration promises a risk for verdicts under other rules: {', '.join(changed)} differ; "
            f"certify it again with medfaith calibrate ROWS --checker {checker.name} --risk "
            f"{fitted.selective.risk:g}, or set the rules as they were"
        )
    return dataclasses.replace(
        checker,
        temperature=fitted.temperature,
        thresholds=fitted.thresholds,
        isotonic=fitted.isotonic,
        selective=fitted.selective,
    )


def deciding_rules(checker: Checker) -> tuple[str, ...]:
    """Returns what decides a checker's verdicts beside its model: a text for each rule, then its linker.

    The last is "linker default", for example.
    """
    return (*checker.rule_signatures, f"linker {checker.linker}")


def write_calibration(path: Path, fitted: FittedCalibration, *, facts: Mapping[str, Any]) -> None:
    """Writes `fitted` to the JSON file `path`, with `facts` about how it was made and measured.

    A file that is there is replaced.

    Raises:
        ValueError: a number in `facts` that is not finite.
    """
    row = {
        "format_version": FORMAT_VERSION,
        "checker": fitted.checker,
        "weights": fitted.weights,
        "method": "isotonic" if fitted.isotonic else "temperature",
        "temperature": fitted.temperature,
        "entail_threshold": fitted.thresholds.entail,
        "contradict_threshold": fitted.thresholds.contradict,
        "contradict_odds": fitted.thresholds.odds,
        "isotonic": fitted.isotonic.to_dict() if fitted.isotonic else None,
        **_selective_row(fitted),
        **facts,
    }
    write_text(path, json.dumps(row, ensure_ascii=False, allow_nan=False, indent=1) + "\n")


def _selective_row(fitted: FittedCalibration) -> dict[str, Any]:
    if fitted.selective is None:
        return {}
    return {"selective": {**dataclasses.asdict(fitted.selective), "rules": list(fitted.rules)}}


def _read_selective(path: Path, row: Any) -> tuple[Selective | None, tuple[str, ...]]:
    if row is None:
        return None, ()
    row = row if isinstance(row, dict) else {}
    numbers = {name: row.get(name) for name in ("supported", "refuted", "risk", "confidence")}
    rules = row.get("rules")
    shares = all(_is_share(value) for name, value in numbers.items() if value is not None or name in _ALWAYS)
    named = isinstance(rules, list) and all(isinstance(name, str) for name in rules)
    if not (shares and named) or (numbers["supported"], numbers["refuted"]) == (None, None):
        raise DataError(
            f"{path}: selective is {row!r}, expected risk, confidence, rules, and a threshold of supported "
            f"or of refuted verdicts from 0 to 1; {_AGAIN} --risk"
        )
    return Selective(**numbers), tuple(rules or ())  # checked above


def _is_share(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1


def read_calibration(path: Path) -> FittedCalibration:
    """Returns what `write_calibration` wrote.

    Raises:
        DataError: no such file, no JSON, or a value that is missing or of another form; the message names
            file, key and value.
    """
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(
            f"{path}: no calibration can be read there ({error}); write one with medfaith calibrate ROWS "
            f"--out {path}"
        ) from None
    if not isinstance(row, dict) or row.get("format_version") != FORMAT_VERSION:
        found = row.get("format_version") if isinstance(row, dict) else row
        raise DataError(f"{path}: format_version is {found!r}, expected {FORMAT_VERSION}; {_AGAIN}")
    for key in ("checker", "weights"):
        if not isinstance(row.get(key), str):
            raise DataError(f"{path}: {key} is {row.get(key)!r}, expected text; {_AGAIN}")
    row.setdefault("contradict_odds", 1.0)  # files of before there were odds
    for key in _NUMBERS:
        value = row.get(key)
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 < value < float("inf"):
            raise DataError(f"{path}: {key} is {value!r}, expected a number above 0; {_AGAIN}")
    try:
        entail, contradict, odds = (row[key] for key in _NUMBERS[1:])
        thresholds = Thresholds(entail=entail, contradict=contradict, odds=odds)
        isotonic = Isotonic.from_dict(row["isotonic"]) if row.get("isotonic") else None
    except (ValueError, AttributeError) as error:
        raise DataError(f"{path}: {error}; {_AGAIN}") from None
    selective, rules = _read_selective(path, row.get("selective"))
    return FittedCalibration(
        checker=row["checker"],
        weights=row["weights"],
        temperature=row["temperature"],
        thresholds=thresholds,
        isotonic=isotonic,
        selective=selective,
        rules=rules,
    )
