"""Reads the recipe of a training, a TOML file, and the pairs of its sources.

A recipe holds sources, phases and settings.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_medfaith.errors import DataError
from training.pairs import Pair, is_share
from training.readers import READERS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NLI = Path(__file__).parent / "recipes" / "nli.toml"


@dataclass(frozen=True)
class Phase:
    """A part of a training, on stated shares of the sources.

    Attributes:
        name: of the phase and its folder.
        epochs: passes over the shares.
        learning_rate: peak rate of AdamW.
        shares: {source: share of its pairs}; above 1 repeats the source.
        contrast: weight of the loss between minimal pairs, beside the loss of each pair.
        average: earlier phases; the mean of their weights and this phase's is what the phase leaves behind.
        matrix_rate: peak rate of Muon for the layers' matrices; None uses AdamW for all weights.
        batch_tokens: tokens of a step; None takes the recipe's.
    """

    name: str
    epochs: int
    learning_rate: float
    shares: dict[str, float]
    contrast: float = 0.0
    average: tuple[str, ...] = ()
    matrix_rate: float | None = None
    batch_tokens: int | None = None


@dataclass(frozen=True)
class Recipe:
    """Everything that decides the weights, apart from the data files.

    Attributes:
        base: model folder, or installed package with a model, that training starts from.
        sources: {name: its table in the recipe}.
        phases: in order.
        seed: of all random choices.
        max_tokens: tokens of a pair.
        batch_tokens: tokens of a step.
        label_smoothing: of the cross-entropy, 0 to 1.
        dropout: of the model, 0 to 1.
        freeze: weights whose names hold one of these texts do not train.
    """

    base: str
    sources: dict[str, dict[str, Any]]
    phases: list[Phase]
    seed: int = 13
    max_tokens: int = 192
    batch_tokens: int = 2048
    label_smoothing: float = 0.0
    dropout: float = 0.0
    freeze: list[str] = field(default_factory=list)


def read_recipe(path: Path, *, data: Path, repo: Path) -> Recipe:
    """Returns the recipe in the TOML file `path`, with `{data}` and `{repo}` replaced by folders.

    A source names a `path` or several `paths`; some readers need `texts` too. A source with `like = "NAME"`
    reads the same files as the source NAME, split in the same way, with another reader. A phase with `like =
    "NAME"` and `times = FACTOR` has the shares of the earlier phase NAME times FACTOR; shares that it names
    itself replace these or are added.

    Raises:
        ValueError: a source is like an unknown source, or a phase averages with, or is like, a phase that
            does not come before it.
    """
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    for source in table["sources"].values():
        if "like" in source:
            if source["like"] not in table["sources"]:
                raise ValueError(
                    f"a source is like {source['like']!r}; expected one of {', '.join(table['sources'])}"
                )
            source.update(table["sources"][source["like"]] | source)
        source["options"] = (
            {"texts": Path(source["texts"].format(data=data, repo=repo))} if "texts" in source else {}
        )
        source["paths"] = [
            path.format(data=data, repo=repo) for path in source.get("paths") or [source["path"]]
        ]
    phases: dict[str, Phase] = {}
    for row in table.pop("phases"):
        like, times = row.pop("like", None), row.pop("times", 1.0)
        unknown = {*row.get("average", ()), *([like] if like else [])} - phases.keys()
        if unknown:
            raise ValueError(
                f"phase {row['name']!r} is like, or averages with, {', '.join(sorted(unknown))}; "
                "expected phases that come before it"
            )
        if like:
            scaled = {name: times * share for name, share in phases[like].shares.items()}
            row["shares"] = scaled | row.get("shares", {})
        phases[row["name"]] = Phase(**row)
    return Recipe(phases=[*phases.values()], **table)


@dataclass(frozen=True)
class Sources:
    """Pairs by source, in three parts.

    Attributes:
        train: to train the weights on.
        calibration: to fit temperature and thresholds on.
        held_out: only to measure on.
    """

    train: dict[str, list[Pair]]
    calibration: dict[str, list[Pair]]
    held_out: dict[str, list[Pair]]


def load_sources(recipe: Recipe) -> Sources:
    """Returns the pairs of every source in three parts; pairs of a group are always in the same part.

    A source with `held_out_one_in = n` holds out the groups with crc32 % n == 0. A source with
    `calibration_one_in = m` keeps for calibration, of the rest, the groups with crc32 % m == 1.
    """
    sources = Sources({}, {}, {})
    for name, source in recipe.sources.items():
        parts = (sources.train, sources.calibration, sources.held_out)
        for part in parts:
            part[name] = []
        for pair in _pairs_of(name, source):
            held_out = "held_out_one_in" in source and is_share(pair.group, one_in=source["held_out_one_in"])
            calibrates = "calibration_one_in" in source and is_share(
                pair.group, one_in=source["calibration_one_in"], remainder=1
            )
            parts[2 if held_out else 1 if calibrates else 0][name].append(pair)
    return sources


def _pairs_of(name: str, source: dict[str, Any]) -> Iterator[Pair]:
    """Yields the pairs of a source; an exception in its reader becomes a DataError that names the file."""
    if source["reader"] not in READERS:
        raise DataError(
            f"source {name!r} names the reader {source['reader']!r}; expected one of {', '.join(READERS)}"
        )
    path = ""
    try:
        for path in source["paths"]:
            yield from READERS[source["reader"]](Path(path), **source.get("options", {}))
    except (LookupError, TypeError, AttributeError, ValueError, csv.Error) as error:
        raise DataError(
            f"{path}: the reader {source['reader']!r} cannot read it ({error!r}); "
            "training/readers.py names what each reader reads"
        ) from error
