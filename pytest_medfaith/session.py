"""What one pytest run knows: settings, loaded corpora and models, and the reports that came in."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_medfaith.checking.checker import Checker, load_checker
from pytest_medfaith.checking.policy import Thresholds
from pytest_medfaith.config import Settings, SliceSettings, load_settings
from pytest_medfaith.corpus.jsonl import read_chunks
from pytest_medfaith.datasets.registry import read_cases
from pytest_medfaith.errors import DataError
from pytest_medfaith.evaluation import SliceRun, evaluate_case, read_responses, slice_report
from pytest_medfaith.gates.baseline import read_baseline
from pytest_medfaith.gates.expressions import compared_metrics, parse_gate
from pytest_medfaith.records import Case, Chunk, Report, Response, SliceReport
from pytest_medfaith.retrieval.build import RetrievalSettings, build_retriever
from pytest_medfaith.retrieval.ranking import Retriever

_MARKER_KEYS = ("k", "retriever", "checker", "limit", "gates")


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the command line said; None and empty mean: not said."""

    slices: tuple[str, ...] = ()
    k: int | None = None
    retriever: tuple[str, ...] = ()
    checker: tuple[str, ...] = ()
    limit: int | None = None
    seed: int | None = None
    gates: tuple[str, ...] = ()
    report: Path | None = None
    baseline: Path | None = None
    update_baseline: bool = False
    verbose: bool = False


@dataclass(frozen=True, kw_only=True)
class Target:
    """One test item: a case of a slice under one retriever and checker."""

    settings: SliceSettings
    case: Case

    @property
    def run(self) -> SliceRun:
        """What this item's report is aggregated under."""
        return run_of(self.settings)


def run_of(settings: SliceSettings) -> SliceRun:
    """Returns the row of the card that reports under `settings` belong to."""
    return SliceRun(slice=settings.name, retriever=settings.retriever, checker=settings.checker, k=settings.k)


@dataclass
class MedfaithSession:
    """One run's state. Everything is loaded once per process, when first asked for."""

    root: Path
    options: Options = field(default_factory=Options)
    _reports: dict[tuple[SliceRun, str], Report] = field(default_factory=dict)
    _expected: dict[SliceRun, list[str]] = field(default_factory=dict)
    _collected: set[str] = field(default_factory=set)
    _finished: dict[str, tuple[SliceRun, str]] = field(default_factory=dict)
    _gates: dict[SliceRun, tuple[str, ...]] = field(default_factory=dict)
    _loaded: dict[Any, Any] = field(default_factory=dict)

    @cached_property
    def settings(self) -> Settings:
        """The project's settings."""
        return load_settings(self.root)

    def targets(self, name: str, marker: Mapping[str, Any]) -> list[Target]:
        """Returns one target per case, retriever and checker of slice `name`, as marker, options and configuration say.

        The command line beats the marker, the marker beats the configuration.

        Raises:
            DataError: an unknown slice, a slice without cases, or anything wrong with its files.
            ValueError: an argument of the marker that is not known, or a gate that does not parse.
        """
        configured = self.settings.slice(name)
        marker_gates = gates_of_marker(marker)
        variants = [
            dataclasses.replace(
                configured,
                retriever=retriever,
                checker=checker,
                k=self.options.k or marker.get("k") or configured.k,
                limit=self.options.limit or marker.get("limit") or configured.limit,
                gates=(*configured.gates, *marker_gates, *self.options.gates),
            )
            for retriever, checker in itertools.product(
                self.options.retriever or _listed(marker.get("retriever")) or (configured.retriever,),
                self.options.checker or _listed(marker.get("checker")) or (configured.checker,),
            )
        ]
        if compared_metrics(map(parse_gate, variants[0].gates)) and not self.options.update_baseline:
            read_baseline(self.baseline_path)  # a missing or broken one is said now, not after the run
        cases = self.cases(variants[0])
        return [Target(settings=settings, case=case) for settings in variants for case in cases]

    def cases(self, settings: SliceSettings) -> list[Case]:
        """Returns the cases of a slice, at most `limit`; with a seed on the command line a sample, else the first ones."""
        key = ("cases", settings.cases, settings.limit, self.options.seed)
        if key not in self._loaded:
            cases = list(read_cases(settings.cases, limit=settings.limit, seed=self.options.seed))
            if not cases:
                raise DataError(f"slice {settings.name!r}: {settings.cases} holds no case; a slice without cases can say nothing")
            self._loaded[key] = cases
        return self._loaded[key]  # type: ignore[no-any-return]

    def chunks(self, settings: SliceSettings) -> list[Chunk]:
        """Returns the chunks of a slice's corpus."""
        key = ("chunks", settings.corpus)
        if key not in self._loaded:
            self._loaded[key] = read_chunks(settings.corpus)
        return self._loaded[key]  # type: ignore[no-any-return]

    def retriever(self, settings: SliceSettings) -> Retriever:
        """Returns the slice's retriever over its corpus; k must fit the corpus."""
        chunks = self.chunks(settings)
        if settings.k > len(chunks):
            raise DataError(f"slice {settings.name!r}: k is {settings.k}, but its corpus holds {len(chunks)} chunks; lower k or add chunks")
        key = ("retriever", settings.corpus, settings.retriever)
        if key not in self._loaded:
            self._loaded[key] = build_retriever(settings.retriever, chunks, settings=self.retrieval_settings)
        return self._loaded[key]  # type: ignore[no-any-return]

    @property
    def seed(self) -> int:
        """The seed of every interval and test: the command line's, else the configured one."""
        return self.options.seed if self.options.seed is not None else self.settings.seed

    @property
    def baseline_path(self) -> Path:
        """The baseline file: the command line's, else the configured one."""
        return self.options.baseline or self.settings.baseline

    @property
    def retrieval_settings(self) -> RetrievalSettings:
        """The configured parameters of the built-in retrievers."""
        s = self.settings
        return RetrievalSettings(k1=s.k1, b=s.b, rrf_k=s.rrf_k, weights=s.weights, encoders=s.encoders, cache=s.cache)

    def checker(self, name: str = "default") -> Checker:
        """Returns the checker called `name`, with the configured thresholds and label map and the pair cache."""
        key = ("checker", name)
        if key not in self._loaded:
            s = self.settings
            checker = load_checker(name, label_map=s.label_map, cache=s.cache / "pairs.sqlite", rules_off=s.rules_off)
            entail = s.entail_threshold or checker.thresholds.entail
            contradict = s.contradict_threshold or checker.thresholds.contradict
            self._loaded[key] = dataclasses.replace(checker, thresholds=Thresholds(entail=entail, contradict=contradict))
        return self._loaded[key]  # type: ignore[no-any-return]

    def recorded_response(self, target: Target) -> Response:
        """Returns the recorded response of a target's case.

        Raises:
            DataError: the slice has no recorded responses, or none for this case.
        """
        settings = target.settings
        if settings.responses is None:
            raise DataError(
                f"slice {settings.name!r} has no recorded responses, and no fixture medfaith_rag answers its questions. "
                f'Set responses = "...jsonl" in [tool.medfaith.slices.{settings.name}], or define medfaith_rag in conftest.py'
            )
        key = ("responses", settings.responses, settings.corpus)
        if key not in self._loaded:
            chunks = self.chunks(settings) if settings.corpus else []
            self._loaded[key] = read_responses(settings.responses, chunks)
        responses = self._loaded[key]
        if target.case.id not in responses:
            raise DataError(
                f"{settings.responses}: no response for case {target.case.id!r}; record one, or leave the case out of {settings.cases}"
            )
        return responses[target.case.id]  # type: ignore[no-any-return]

    def expect(self, targets: Iterable[Target]) -> None:
        """Notes which cases will run, so that those that never report are seen to be missing."""
        for target in targets:
            cases = self._expected.setdefault(target.run, [])
            if target.case.id not in cases:
                cases.append(target.case.id)

    def expect_tests(self, test_ids: Iterable[str]) -> None:
        """Notes which tests workers will run; the controller never sees their targets, only their names."""
        self._collected.update(test_ids)

    def add(self, payload: Mapping[str, Any], *, test_id: str = "") -> None:
        """Takes in what one test reported, from this process or a worker's."""
        run = SliceRun(**payload["run"])
        report = Report.from_dict(payload["report"])
        self._gates[run] = tuple(payload["gates"])
        self._reports[run, report.case.id] = report
        self._finished[test_id] = (run, report.case.id)

    def _expect_siblings_of_finished_tests(self) -> None:
        """Works out, from the tests that did finish, which cases the others of the same function stood for."""
        prefix_of: dict[str, tuple[str, SliceRun]] = {}
        for test_id, (run, case_id) in self._finished.items():
            function, _, name = test_id.rstrip("]").partition("[")
            prefix_of[f"{function}[{name.removesuffix(case_id)}"] = (name.removesuffix(case_id), run)
        for test_id in sorted(self._collected - self._finished.keys()):
            fitting = [row for start, row in prefix_of.items() if test_id.startswith(start)]
            if fitting:
                prefix, run = max(fitting, key=lambda row: len(row[0]))
                case_id = test_id.rstrip("]").partition("[")[2].removeprefix(prefix)
                self._expected.setdefault(run, []).append(case_id)

    def slice_reports(self, *, partial: bool = False) -> list[tuple[SliceReport, tuple[str, ...]]]:
        """Returns the aggregated report of every slice that ran with its gates, not judged yet, in the order of the card."""
        self._expect_siblings_of_finished_tests()
        runs = sorted({run for run, _ in self._reports}, key=lambda run: (run.slice, run.retriever, run.checker, run.k))
        reports = []
        for run in runs:
            own = [report for (other, _), report in self._reports.items() if other == run]
            shown = dataclasses.replace(run, checker=own[0].checker)  # a test may have put its own checker in the configured one's place
            summary = slice_report(shown, own, expected=self._expected.get(run, ()), partial=partial, seed=self.seed)
            reports.append((summary, self._gates[run]))
        return reports

    def signature(self, reports: Sequence[SliceReport]) -> dict[str, Any]:
        """Returns what decides the numbers of this run: checkers, thresholds, corpora, seed and versions."""
        from importlib.metadata import version

        from pytest_medfaith.retrieval.index import corpus_hash

        configured = {run.checker for run, _ in self._reports}
        checkers = {name: self.checker(name) for name in sorted({report.checker for report in reports} & configured)}
        slices = {name: self.settings.slice(name) for name in sorted({report.slice for report in reports}) if name in self.settings.slices}
        return {
            "version": version("pytest-medfaith"),
            "checkers": {
                name: {
                    "weights": c.signature,
                    "entail": c.thresholds.entail,
                    "contradict": c.thresholds.contradict,
                    "temperature": c.temperature,
                    "rules": sorted(c.rules),
                }
                for name, c in checkers.items()
            },
            "corpora": {name: corpus_hash(self.chunks(one)) for name, one in slices.items() if one.corpus},
            "seed": self.seed,
        }


def evaluate_target(session: MedfaithSession, target: Target) -> Report:
    """Returns the report on a target's recorded response, with the slice's own retriever and checker."""
    settings = target.settings
    retriever = session.retriever(settings) if settings.corpus else None
    hits = retriever(target.case.question, top_k=settings.k) if retriever else []
    response, checker = session.recorded_response(target), session.checker(settings.checker)
    return evaluate_case(target.case, response, checker=checker, hits=hits, retriever=settings.retriever, k=settings.k)


def payload(target: Target, report: Report) -> dict[str, Any]:
    """Returns what a test sends to the process that sums up: plain lists, dicts, strings and numbers."""
    return {"run": dataclasses.asdict(target.run), "report": report.to_dict(), "gates": list(target.settings.gates)}


def gates_of_marker(marker: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the gate expressions of a marker's arguments: gates=[...], NAME_at_least=x and NAME_at_most=x.

    Raises:
        ValueError: an argument that is neither known nor such a bound.
    """
    gates = list(_listed(marker.get("gates")))
    for key, value in marker.items():
        if key in _MARKER_KEYS:
            continue
        name, sign = (key.removesuffix("_at_least"), ">=") if key.endswith("_at_least") else (key.removesuffix("_at_most"), "<=")
        if name == key:
            raise ValueError(
                f"the marker medfaith got {key}={value!r}; expected {', '.join(_MARKER_KEYS)}, or a bound such as hallucination_at_most=0.05"
            )
        gates.append(f"{name} {sign} {value}")
    return tuple(gates)


def _listed(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)
