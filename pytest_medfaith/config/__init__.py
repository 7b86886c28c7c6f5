"""The settings of a project: `[tool.medfaith]` of its pyproject.toml, or its medfaith.toml.

`load_settings` returns them as a `Settings`, with a `SliceSettings` for each slice.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pytest_medfaith import defaults
from pytest_medfaith.config.reading import Place, as_table, fill, nearest_setting, read_table, read_value
from pytest_medfaith.defaults import PairOrder, RetrievalFields
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import HistoryMode, SliceRun
from pytest_medfaith.records.answer_risk import RiskSettings, check_risk
from pytest_medfaith.teacher.settings import TEACHER, LlmSettings

JudgedContexts = Literal["recorded", "retrieved", "per-claim"]
JUDGED_CONTEXTS: tuple[JudgedContexts, ...] = typing.get_args(JudgedContexts)


@dataclass(frozen=True, kw_only=True)
class SliceSettings:
    """The settings of a slice, a named set of cases: the table `[tool.medfaith.slices.NAME]`.

    Attributes:
        name: of the slice, "medquad-nih" for `[tool.medfaith.slices.medquad-nih]`.
        cases: the file of cases, or "ADAPTER:PATH" for a data set, as in "medquad:data/medquad".
        corpus: files and folders of chunks to search; () for none.
        responses: the file of recorded answers; None where the RAG answers while the tests run.
        retriever: what finds chunks for a question: "bm25", "dense", "rrf", "weighted", or a dotted name.
        checker: what judges claims: "default", "fast", "teacher", a model folder, or a dotted name.
        k: how many chunks are retrieved for a question, 1 or more.
        limit: the most cases that run; None for all.
        gates: rules that the whole slice must pass, such as "hallucination <= 0.05".
        contexts: whose contexts the claims are judged by, see `records.ContextsMode`. "required" is a second
            name of "recorded". "optional" is "recorded" for a slice whose answers may have no contexts.
        history: what the earlier turns of a case's conversation count for, see `records.HistoryMode`.

    `load_settings` has made relative paths absolute, from the folder of the settings file.
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
        """Whose contexts judge the claims; "recorded" where `contexts` is "required" or "optional"."""
        match self.contexts:
            case "required" | "optional":
                return "recorded"
            case mode:
                return mode

    @property
    def run(self) -> SliceRun:
        """The key of the card's row that shows what this slice measures under these settings."""
        return SliceRun(
            slice=self.name,
            retriever=self.retriever,
            checker=self.checker,
            k=self.k,
            contexts_mode=self.contexts_mode,
        )

    def with_contexts(self, mode: JudgedContexts) -> SliceSettings:
        """Returns the settings with the contexts mode `mode`.

        "optional" stays where `mode` is "recorded", which it is a kind of.
        """
        return self if mode == self.contexts_mode else dataclasses.replace(self, contexts=mode)


RagMode = Literal["plain", "faithful", "confident", "confident-lite"]
RAG_MODES: tuple[RagMode, ...] = typing.get_args(RagMode)


@dataclass(frozen=True, kw_only=True)
class RagSettings:
    """How the reference RAG, which the package ships, answers: the table `[tool.medfaith.rag]`.

    Attributes:
        mode: what is done with a draft. "plain" gives it as it is. "faithful" drops what the passages do not
            support. "confident" and "confident-lite" decline where the confidence is below `threshold`.
        generator: what writes the draft: "extractive" quotes sentences of the passages, "teacher" asks the
            LLM.
        checker: verifies the draft in the modes "faithful" and "confident"; "confident-lite" takes "fast".
        threshold: the least confidence, 0 to 1: half the draft's faithfulness and half its coverage of the
            question.
        sentences: the most sentences that the extractive generator quotes, 1 to 50.
    """

    mode: RagMode = "plain"
    generator: Literal["extractive", "teacher"] = "extractive"
    checker: str = defaults.CHECKER
    threshold: float = defaults.RAG_THRESHOLD
    sentences: int = defaults.RAG_SENTENCES


@dataclass(frozen=True, kw_only=True)
class Settings(RetrievalFields):
    """The settings of a project; docs/options.md says what each is for.

    Attributes:
        root: the folder of the settings file; where there is no such file, the folder of the project.
        slices: {name: settings of the slice}.
        chunk_lines: a .jsonl file of lines about chunks, or a dotted name, which a retriever reads; None for
            none.
        ablation: {slice: {axis: value or values}}, what `medfaith ablation` compares.
        llm: how the LLM that judges, splits or writes (the teacher) is asked.
        rag: how the reference RAG answers.

    Thresholds that are None are those of the checker's model card. Paths are absolute once loaded.
    """

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
            f"slice {name!r} is unknown{nearest_setting(name, self.slices)}; "
            f"slices configured here: {known}. "
            f"Add {self.table(f'slices.{name}')} with cases and corpus to {read_table(self.root)[0]}"
        )

    def table(self, name: str) -> str:
        """Returns the head of a table as the settings file of this project writes it.

        "slices.kb" is "[slices.kb]" in medfaith.toml, and "[tool.medfaith.slices.kb]" in pyproject.toml.
        """
        _, keys, _ = read_table(self.root)
        return f"[{'.'.join((*keys, name))}]"


def load_settings(root: Path) -> Settings:
    """Returns the settings of the project in the folder `root`, its paths made absolute.

    They are those of medfaith.toml there, else of `[tool.medfaith]` in pyproject.toml, else the defaults.

    Raises:
        DataError: a file that is no TOML, an unknown key, a value of the wrong type or out of its range. The
            message names file, table and key.
    """
    path, keys, table = read_table(root)
    place = Place(str(path), keys)
    place = dataclasses.replace(place, homes=_homes(place))
    of_slices = place.within("slices")
    slices = {
        name: fill(SliceSettings, as_table(row, at := of_slices.within(name)), at, given={"name": name})
        for name, row in as_table(table.get("slices", {}), of_slices).items()
    }
    values = {key: value for key, value in table.items() if key != "slices"}
    settings: Settings = fill(Settings, values, place, given={"root": root})
    for name in settings.ablation.keys() - slices.keys():
        raise DataError(
            f"{place.within('ablation', name).table()} is of no slice{nearest_setting(name, slices)}; "
            f"slices configured here: {', '.join(sorted(slices)) or 'none'}"
        )
    try:
        check_risk(settings.risk or RiskSettings())
    except ValueError as error:
        raise DataError(f"{place.within('risk').table()}: {error}") from None
    _check_extractor(settings.extractor, root, place.within("extractor"))
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


def _homes(top: Place) -> dict[str, str]:
    """Returns {key: where it belongs}, as in {"samples": "[tool.medfaith.llm]", "cases": "a slice"}.

    A key of several tables belongs to the first of them: a slice, the table `top`, llm, rag, risk.
    """
    tables = (
        (SliceSettings, "a slice"),
        (Settings, top.head or f"the top of {Path(top.source).name}"),
        (LlmSettings, top.within("llm").head),
        (RagSettings, top.within("rag").head),
        (RiskSettings, top.within("risk").head),
    )
    homes = {key: home for kind, home in reversed(tables) for key in typing.get_type_hints(kind)}
    if not top.keys:
        homes["tool"] = "pyproject.toml; write [llm] here, not [tool.medfaith.llm]"
    for given in ("root", "name", "slices"):
        homes.pop(given, None)  # no keys of a table of settings
    return homes


def _check_extractor(name: str, root: Path, place: Place) -> None:
    """Raises DataError where `name` is neither a known extractor nor looks like a folder.

    "teachr" is refused. "models/student" passes even where it does not exist: it may be made later.
    """
    if (
        name not in (defaults.EXTRACTOR, TEACHER)
        and "/" not in name
        and not (name and (root / name).is_dir())
    ):
        raise DataError(
            f"{place} is {name!r}, expected one of {defaults.EXTRACTOR}, {TEACHER}, or the folder "
            "of a student"
        )


def command_line_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns {setting: value} of what the command line says, checked as settings in a file are.

    Args:
        given: {setting: value as typed}; None, [] and () mean that nothing was typed. Weights are texts such
            as "dense=0.7".

    Raises:
        DataError: a value of the wrong type or out of its range.
    """
    hints = typing.get_type_hints(Settings)
    said = {name: value for name, value in given.items() if value not in (None, [], ())}
    if "weights" in said:
        said["weights"] = dict(map(_weight, said["weights"]))
    place = Place("command line")
    return {name: read_value(value, hints[name], place.within(name)) for name, value in said.items()}


def _weight(text: str) -> tuple[str, float]:
    """Returns ("dense", 0.7) for "dense=0.7"; any other form is a DataError."""
    name, equals, number = text.rpartition("=")  # the name of an encoder may hold an equals sign
    try:
        if name and equals:
            return name, float(number)
    except ValueError:
        pass
    raise DataError(f"the weight {text!r} has another form; expected RETRIEVER=NUMBER, as in dense=0.7")


def settings_root(root: Path, started_in: Path) -> Path:
    """Returns the folder of the settings that hold for a run.

    It is `root`, pytest's root folder, where settings are there. Else it is the nearest folder with settings
    at or above `started_in`, and `root` where there is none. The search is needed because pytest may take the
    path of an option, as in --medfaith-report ../out, for a path of tests, and choose a root outside the
    project.
    """
    around = (started_in, *started_in.parents)
    return next((folder for folder in (root, *around) if is_configured(folder)), root)


def is_configured(root: Path) -> bool:
    """Returns whether medfaith.toml, or `[tool.medfaith]` of pyproject.toml, in `root` sets anything."""
    return bool(read_table(root)[2])


def _lines_place(given: str | None, root: Path) -> str | None:
    """Returns the path of a .jsonl file with `root` before it; a dotted name and None as they are."""
    return str(root / given) if given and given.endswith(".jsonl") else given


def _resolve(settings: SliceSettings, root: Path) -> SliceSettings:
    """Returns the settings of a slice with `root` before its relative paths, also behind "ADAPTER:"."""
    cases = settings.cases
    scheme, colon, rest = cases.partition(":")
    if scheme != "python":  # which goes before the name of a function
        cases = f"{scheme}:{root / rest}" if colon and len(scheme) > 1 else str(root / cases)
    responses = root / settings.responses if settings.responses else None
    corpus = tuple(root / path for path in settings.corpus)
    return dataclasses.replace(settings, cases=cases, corpus=corpus, responses=responses)
