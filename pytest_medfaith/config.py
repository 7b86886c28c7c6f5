"""Settings from `[tool.medfaith]` in pyproject.toml, or from medfaith.toml, of the project under test."""

from __future__ import annotations

import dataclasses
import math
import sys
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pytest_medfaith import defaults
from pytest_medfaith.defaults import PairOrder, RetrievalFields
from pytest_medfaith.errors import DataError, nearest
from pytest_medfaith.records import HistoryMode, SliceRun
from pytest_medfaith.records.answer_risk import RiskSettings, check_risk
from pytest_medfaith.teacher.settings import RANGES as LLM_RANGES
from pytest_medfaith.teacher.settings import TEACHER, LlmSettings

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# Inclusive ends of numbers; a threshold of 0 would let every pair pass.
_RANGES = {
    "k": (1, math.inf),
    "limit": (1, math.inf),
    "k1": (0.0, math.inf),
    "b": (0.0, 1.0),
    "rrf_k": (1, math.inf),
    "pool": (1, math.inf),
    "rerank_pool": (1, math.inf),
    "store_timeout": (0.1, 3600.0),
    "store_retries": (0, 20),
    "ef_search": (1, math.inf),
    "nprobe": (1, math.inf),
    "claim_min_words": (0, 50),
    "max_claims": (1, math.inf),
    "threads": (1, 1024),
    "batch_size": (1, 4096),
    "entail_threshold": (0.01, 0.99),
    "contradict_threshold": (0.01, 0.99),
    "contradict_odds": (0.1, 10.0),
    "threshold": (0.0, 1.0),
    "sentences": (1, 50),
    "consistency": (0, 20),
    **LLM_RANGES,
}


_nearest = partial(nearest, after=";")
JudgedContexts = Literal["recorded", "retrieved", "per-claim"]
JUDGED_CONTEXTS: tuple[JudgedContexts, ...] = typing.get_args(JudgedContexts)


@dataclass(frozen=True, kw_only=True)
class SliceSettings:
    """A slice as configured; `load_settings` resolves its paths against the file that names them.

    `contexts` says whose contexts the claims are judged by (see `records.ContextsMode`). "required" is
    "recorded"; "optional" is "recorded", and a case may have no contexts. `history` says what the earlier
    turns of a case are (see `records.HistoryMode`).
    """

    name: str
    cases: str
    corpus: tuple[Path, ...] = ()
    responses: Path | None = None
    retriever: str = defaults.RETRIEVER
    checker: str = defaults.CHECKER
    k: int = defaults.K
    limit: int | None = None
    gates: tuple[str, ...] = ()
    contexts: Literal["recorded", "retrieved", "per-claim", "required", "optional"] = "recorded"
    history: HistoryMode = "context"

    @property
    def contexts_mode(self) -> JudgedContexts:
        """Whose contexts the claims are judged by."""
        match self.contexts:
            case "required" | "optional":
                return "recorded"
            case mode:
                return mode

    @property
    def run(self) -> SliceRun:
        """The row of the card to which reports under these settings belong."""
        return SliceRun(
            slice=self.name,
            retriever=self.retriever,
            checker=self.checker,
            k=self.k,
            contexts_mode=self.contexts_mode,
        )

    def with_contexts(self, mode: JudgedContexts) -> SliceSettings:
        """Returns the settings with the contexts mode `mode`; "optional" stays where it has that mode."""
        return self if mode == self.contexts_mode else dataclasses.replace(self, contexts=mode)


RagMode = Literal["plain", "faithful", "confident", "confident-lite"]
RAG_MODES: tuple[RagMode, ...] = typing.get_args(RagMode)


@dataclass(frozen=True, kw_only=True)
class RagSettings:
    """How the reference RAG answers.

    `generator` writes the draft: "extractive" quotes the passages, "teacher" asks the LLM. `checker` verifies
    it in the modes faithful and confident; confident-lite takes "fast". Below `threshold` there is no answer
    in both confident modes. The extractive generator quotes at most `sentences`.
    """

    mode: RagMode = "plain"
    generator: Literal["extractive", "teacher"] = "extractive"
    checker: str = defaults.CHECKER
    threshold: float = defaults.RAG_THRESHOLD
    sentences: int = defaults.RAG_SENTENCES


@dataclass(frozen=True, kw_only=True)
class Settings(RetrievalFields):
    """The settings of a project; `root` is the folder of their file, or where there is none the project's."""

    root: Path
    slices: Mapping[str, SliceSettings] = field(default_factory=dict)
    chunk_lines: str | None = None
    ablation: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    label_map: Mapping[str, str] | None = None
    order: PairOrder = defaults.PAIR_ORDER
    entail_threshold: float | None = None
    contradict_threshold: float | None = None
    contradict_odds: float | None = None
    calibration: tuple[Path, ...] = ()
    labels: Path | None = None
    rules: tuple[str, ...] = ()
    rules_off: tuple[str, ...] = ()
    linker: str = defaults.LINKER
    consistency: int = 0
    temperatures: tuple[float, ...] = defaults.TEMPERATURES
    risk: RiskSettings | None = None
    relevancy: Literal["off", "offline", "teacher"] = "off"
    safety: tuple[Path, ...] = ()
    severity: tuple[Path, ...] = ()
    metrics: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    seed: int = defaults.SEED
    baseline: Path = Path(defaults.BASELINE)
    inconclusive: Literal["warn", "fail", "pass"] = "warn"
    extractor: str = defaults.EXTRACTOR
    claim_min_words: int = defaults.CLAIM_MIN_WORDS
    max_claims: int | None = None
    threads: int | None = None
    batch_size: int = defaults.BATCH_SIZE
    llm: LlmSettings = field(default_factory=LlmSettings)
    rag: RagSettings = field(default_factory=RagSettings)

    def slice(self, name: str) -> SliceSettings:
        """Returns the settings of slice `name`.

        Raises:
            DataError: no such slice; the message lists the slices and the most similar name.
        """
        if name in self.slices:
            return self.slices[name]
        known = ", ".join(sorted(self.slices)) or "none"
        raise DataError(
            f"slice {name!r} is unknown{_nearest(name, self.slices)}; slices configured here: {known}. "
            f"Add {self.table(f'slices.{name}')} with cases and corpus to {_read_table(self.root)[0]}"
        )

    def table(self, name: str) -> str:
        """Returns the head of a table as the file of the settings writes it.

        "slices.kb" is [slices.kb] in medfaith.toml, and [tool.medfaith.slices.kb] in pyproject.toml.
        """
        is_alone = _read_table(self.root)[0].name == "medfaith.toml"
        return f"[{name}]" if is_alone else f"[tool.medfaith.{name}]"


def load_settings(root: Path) -> Settings:
    """Returns the settings of the project at `root`.

    They are medfaith.toml there, else `[tool.medfaith]` of pyproject.toml, else the defaults.

    Raises:
        DataError: a file that is no TOML, an unknown key, a value of the wrong type or out of its range.
    """
    path, table = _read_table(root)
    slices = {
        name: _fill(SliceSettings, {"name": name, **row}, f"{path}: slices.{name}")
        for name, row in _mapping(table.get("slices", {}), f"{path}: slices").items()
    }
    values = {key: value for key, value in table.items() if key != "slices"}
    settings: Settings = _fill(Settings, {"root": root, **values}, str(path))
    for name in settings.ablation.keys() - slices.keys():
        raise DataError(
            f"{path}: ablation.{name} is of no slice{_nearest(name, slices)}; slices configured here: "
            f"{', '.join(sorted(slices)) or 'none'}"
        )
    try:
        check_risk(settings.risk or RiskSettings())
    except ValueError as error:
        raise DataError(f"{path}: risk: {error}") from None
    _check_extractor(settings.extractor, root, path)
    resolved = {name: _resolve(given, root) for name, given in slices.items()}
    return dataclasses.replace(
        settings,
        slices=resolved,
        cache=root / settings.cache,
        chunk_lines=_lines_place(settings.chunk_lines, root),
        calibration=tuple(root / path for path in settings.calibration),
        labels=root / settings.labels if settings.labels else None,
        safety=tuple(root / path for path in settings.safety),
        severity=tuple(root / path for path in settings.severity),
        baseline=root / settings.baseline,
        llm=dataclasses.replace(settings.llm, cassette=root / settings.llm.cassette),
    )


def _check_extractor(name: str, root: Path, path: Path) -> None:
    """Refuses a word that means nothing; a path may lead to a folder that is made later."""
    if (
        name not in (defaults.EXTRACTOR, TEACHER)
        and "/" not in name
        and not (name and (root / name).is_dir())
    ):
        raise DataError(
            f"{path}.extractor is {name!r}, expected one of {defaults.EXTRACTOR}, {TEACHER}, or the folder "
            "of a student"
        )


def command_line_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns settings of the command line by name, checked as those of the file are.

    Args:
        given: setting -> value; what is None or empty was not said. Weights are texts such as "dense=0.7".

    Raises:
        DataError: a value of the wrong type or out of its range.
    """
    hints = typing.get_type_hints(Settings)
    said = {name: value for name, value in given.items() if value not in (None, [], ())}
    if "weights" in said:
        said["weights"] = dict(map(_weight, said["weights"]))
    return {name: _value(value, hints[name], f"command line: {name}") for name, value in said.items()}


def _weight(text: str) -> tuple[str, float]:
    name, equals, number = text.rpartition("=")  # the name of an encoder may hold an equals sign
    try:
        if name and equals:
            return name, float(number)
    except ValueError:
        pass
    raise DataError(f"the weight {text!r} has another form; expected RETRIEVER=NUMBER, as in dense=0.7")


def settings_root(root: Path, started_in: Path) -> Path:
    """Returns the folder whose settings hold: `root`, or if it has none the nearest around `started_in`.

    pytest may take the path of an option, as in --medfaith-report ../out, for a path of tests, and then
    choose a root outside the project.
    """
    around = (started_in, *started_in.parents)
    return next((folder for folder in (root, *around) if is_configured(folder)), root)


def is_configured(root: Path) -> bool:
    """Returns whether the project at `root` configures anything, in medfaith.toml or in pyproject.toml."""
    return bool(_read_table(root)[1])


def _read_table(root: Path) -> tuple[Path, Mapping[str, Any]]:
    for path, keys in ((root / "medfaith.toml", ()), (root / "pyproject.toml", ("tool", "medfaith"))):
        if not path.is_file():
            continue
        try:
            table: Any = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise DataError(f"{path}: not TOML ({error}); mend the file") from error
        for key in keys:
            table = table.get(key, {})
        if table:
            return path, _mapping(table, str(path))
    return root / "pyproject.toml", {}


def _lines_place(given: str | None, root: Path) -> str | None:
    """Returns the file of lines about chunks, relative to the settings; a dotted name stays."""
    return str(root / given) if given and given.endswith(".jsonl") else given


def _mapping(value: object, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise DataError(f"{place} is {value!r}, expected a table")
    return value


def _resolve(settings: SliceSettings, root: Path) -> SliceSettings:
    cases = settings.cases
    scheme, colon, rest = cases.partition(":")
    if scheme != "python":  # which goes before the name of a function
        cases = f"{scheme}:{root / rest}" if colon and len(scheme) > 1 else str(root / cases)
    responses = root / settings.responses if settings.responses else None
    corpus = tuple(root / path for path in settings.corpus)
    return dataclasses.replace(settings, cases=cases, corpus=corpus, responses=responses)


def _fill(kind: type[Any], row: Mapping[str, Any], place: str) -> Any:
    """Returns the settings `kind` of a TOML table, each value checked against its annotation."""
    hints = typing.get_type_hints(kind)
    for key in row:
        if key not in hints:
            of_slice = kind is Settings and key in typing.get_type_hints(SliceSettings)
            hint = " here: it is a key of a slice" if of_slice else _nearest(key, hints)
            raise DataError(f"{place}: key {key!r} is unknown{hint}; known keys: {', '.join(hints)}")
    missing = [
        f.name
        for f in dataclasses.fields(kind)
        if f.default is f.default_factory is dataclasses.MISSING and f.name not in row
    ]
    if missing:
        raise DataError(
            f'{place}: key {missing[0]!r} is missing; expected for example {missing[0]} = "gold/cases.jsonl"'
        )
    return kind(**{key: _value(value, hints[key], f"{place}.{key}") for key, value in row.items()})


def _value(value: Any, kind: Any, place: str) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:  # what a project hands to code of the project
        return value
    if origin in (typing.Union, types.UnionType):
        return _value(value, next(a for a in arguments if a is not type(None)), place)
    if origin is tuple:
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, (list, tuple)):
            raise DataError(f"{place} is {value!r}, expected a list")
        return tuple(_value(item, arguments[0], f"{place}[{i}]") for i, item in enumerate(items))
    if origin is Literal:
        if value not in arguments:
            raise DataError(f"{place} is {value!r}, expected one of {', '.join(arguments)}")
        return value
    if origin is Mapping:
        return {
            key: _value(item, arguments[1], f"{place}.{key}") for key, item in _mapping(value, place).items()
        }
    is_table = dataclasses.is_dataclass(kind)
    return _fill(kind, _mapping(value, place), place) if is_table else _scalar(value, kind, place)


def _scalar(value: Any, kind: Any, place: str) -> Any:
    if kind is Path and isinstance(value, (str, Path)):
        return Path(value)
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind is float and number:
        value = float(value)
    if not isinstance(value, kind) or (kind is int and not number):
        raise DataError(f"{place} is {value!r}, expected {getattr(kind, '__name__', kind)}")
    if number:
        _check_range(value, place)
    return value


def _check_range(value: float, place: str) -> None:
    low, high = _RANGES.get(place.replace(" ", ".").rpartition(".")[2], (-math.inf, math.inf))
    if not (math.isfinite(value) and low <= value <= high):
        ends = (
            f"from {low:g} to {high:g}"
            if math.isfinite(high)
            else f"of {low:g} or more"
            if math.isfinite(low)
            else "that is finite"
        )
        raise DataError(f"{place} is {value!r}, expected a number {ends}")
