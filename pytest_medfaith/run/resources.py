"""What one pytest run knows: settings, loaded corpora and models, and the reports that came in."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_medfaith.answers.responses import read_responses
from pytest_medfaith.calibration.applying import calibrated, read_calibration
from pytest_medfaith.checking.checker import Checker
from pytest_medfaith.checking.rules import load_rules, switched_on
from pytest_medfaith.checking.similarity import encoder_signature
from pytest_medfaith.config import Settings, SliceSettings, load_settings
from pytest_medfaith.datasets.registry import read_cases
from pytest_medfaith.datasets.skips import Skips
from pytest_medfaith.errors import DataError
from pytest_medfaith.evaluation import evaluate_case
from pytest_medfaith.gates.baseline import read_baseline
from pytest_medfaith.gates.expressions import compared_metrics, parse_gate
from pytest_medfaith.gates.kept import kept_baseline
from pytest_medfaith.gates.matching import check_before_run
from pytest_medfaith.jsonl import read_chunks
from pytest_medfaith.records import Case, Chunk, Hit, Report, Response, SliceRun
from pytest_medfaith.retrieval.build import ENCODING, RetrievalSettings, build_retriever
from pytest_medfaith.retrieval.ranking import Retriever
from pytest_medfaith.run.collected import Ledger
from pytest_medfaith.run.marker import count_of_marker, gates_of_marker, listed
from pytest_medfaith.safety.rulebook import Rulebook, load_rulebook


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
    rules_off: tuple[str, ...] = ()
    report: Path | None = None
    baseline: Path | None = None
    kept_baseline: int | None = None
    update_baseline: bool = False
    audit: bool = False
    verbose: bool = False


@dataclass(frozen=True, kw_only=True)
class Target:
    """One test item: a case of a slice under one retriever and checker."""

    settings: SliceSettings
    case: Case

    @property
    def run(self) -> SliceRun:
        """What this item's report is aggregated under."""
        return self.settings.run


@dataclass
class MedfaithSession:
    """One run's state. Everything is loaded once per process, when first asked for."""

    root: Path
    options: Options = field(default_factory=Options)
    ledger: Ledger = field(default_factory=Ledger)
    _loaded: dict[Any, Any] = field(default_factory=dict)

    @cached_property
    def settings(self) -> Settings:
        """The project's settings. A rulebook that they name and that cannot be read is an error here, before the first test."""
        settings = load_settings(self.root)
        load_rulebook(settings.safety)
        return settings

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
                k=self.options.k or count_of_marker(marker, "k") or configured.k,
                limit=self.options.limit or count_of_marker(marker, "limit") or configured.limit,
                gates=(*configured.gates, *marker_gates, *self.options.gates),
            )
            for retriever, checker in itertools.product(
                self.options.retriever or listed(marker.get("retriever")) or (configured.retriever,),
                self.options.checker or listed(marker.get("checker")) or (configured.checker,),
            )
        ]
        for gate in variants[0].gates:
            parse_gate(gate)  # one that does not parse is said now, not after the run
        switched_on(load_rules(self.settings.rules), off=self.rules_off)  # a wrong name is said now
        cases = self.cases(variants[0])
        return [Target(settings=settings, case=case) for settings in variants for case in cases]

    def cases(self, settings: SliceSettings) -> list[Case]:
        """Returns the cases of a slice, at most `limit`; with a seed on the command line a sample, else the first ones."""
        return self._read(settings)[0]

    def skipped(self, settings: SliceSettings) -> Mapping[str, int]:
        """Returns how many records of the slice's data set were skipped while its cases were read, by reason."""
        return self._read(settings)[1].counts

    def _read(self, settings: SliceSettings) -> tuple[list[Case], Skips]:
        key = ("cases", settings.cases, settings.limit, self.options.seed)
        if key not in self._loaded:
            skips = Skips()
            cases = list(
                read_cases(settings.cases, limit=settings.limit, seed=self.options.seed, skips=skips)
            )
            if not cases:
                why = "; ".join(["a slice without cases can say nothing", *skips.lines()])
                raise DataError(f"slice {settings.name!r}: {settings.cases} holds no case; {why}")
            self._loaded[key] = cases, skips
        return self._loaded[key]  # type: ignore[no-any-return]

    def chunks(self, settings: SliceSettings) -> list[Chunk]:
        """Returns the chunks of a slice's corpus."""
        key = ("chunks", settings.corpus)
        if key not in self._loaded:
            self._loaded[key] = read_chunks(settings.corpus)
        return self._loaded[key]  # type: ignore[no-any-return]

    def retriever(self, settings: SliceSettings) -> Retriever:
        """Returns the slice's retriever over its corpus; a k above the corpus gives all of it (`remarks` says so once)."""
        chunks = self.chunks(settings)
        key = ("retriever", settings.corpus, settings.retriever)
        if key not in self._loaded:
            self._loaded[key] = _capped(
                build_retriever(settings.retriever, chunks, settings=self.retrieval_settings),
                size=len(chunks),
            )
        return self._loaded[key]  # type: ignore[no-any-return]

    @property
    def seed(self) -> int:
        """The seed of every interval and test: the command line's, else the configured one."""
        return self.options.seed if self.options.seed is not None else self.settings.seed

    @property
    def baseline_path(self) -> Path:
        """The baseline file: the command line's, which may be a kept copy of the configured one, else that one itself.

        Raises:
            MissingBaseline: no copy is kept under the number.
        """
        if self.options.kept_baseline is not None:
            return kept_baseline(self.settings.baseline, self.options.kept_baseline)
        return self.options.baseline or self.settings.baseline

    @property
    def rules_off(self) -> tuple[str, ...]:
        """Names of the rules that are switched off, in the settings or on the command line."""
        return (*self.settings.rules_off, *self.options.rules_off)

    @property
    def rulebook(self) -> Rulebook:
        """The safety rules: the shipped ones and the project's own, less those that are switched off."""
        return load_rulebook(self.settings.safety).without(self.rules_off)

    @property
    def retrieval_settings(self) -> RetrievalSettings:
        """The configured parameters of the retrievers."""
        names = [field.name for field in dataclasses.fields(RetrievalSettings)]
        return RetrievalSettings(**{name: getattr(self.settings, name) for name in names})

    def checker(self, name: str = "default") -> Checker:
        """Returns the checker called `name` with the pair cache, and as configured: label map, rules, calibration, thresholds."""
        key = ("checker", name)
        if key not in self._loaded:
            from pytest_medfaith.checking.loading import load_checker

            s = self.settings
            cache = s.cache / "pairs.sqlite"
            checker = load_checker(
                name,
                label_map=s.label_map,
                cache=cache,
                rules=s.rules,
                rules_off=self.rules_off,
                linker=s.linker,
                root=s.root,
            )
            checker = self._calibrated(checker)
            given = {
                "entail": s.entail_threshold,
                "contradict": s.contradict_threshold,
                "odds": s.contradict_odds,
            }
            thresholds = dataclasses.replace(
                checker.thresholds, **{key: value for key, value in given.items() if value is not None}
            )
            self._loaded[key] = dataclasses.replace(checker, thresholds=thresholds)
        return self._loaded[key]  # type: ignore[no-any-return]

    def _calibrated(self, checker: Checker) -> Checker:
        """Returns `checker` under the calibration that was fitted for it, where one is configured."""
        for path in self.settings.calibration:
            fitted = read_calibration(path)
            if fitted.checker == checker.name:
                try:
                    return calibrated(checker, fitted)
                except DataError as error:
                    raise DataError(f"{path}: {error}") from None
        return checker

    def responses(self, settings: SliceSettings) -> Mapping[str, Response]:
        """Returns the recorded responses of a slice by case id.

        Raises:
            DataError: there are none, or their file cannot be read.
        """
        if settings.responses is None:
            raise DataError(
                f"slice {settings.name!r} has no recorded responses, and no fixture medfaith_rag answers its questions. "
                f'Set responses = "...jsonl" in [tool.medfaith.slices.{settings.name}], or define medfaith_rag in conftest.py'
            )
        key = ("responses", settings.responses, settings.corpus)
        if key not in self._loaded:
            chunks = self.chunks(settings) if settings.corpus else []
            self._loaded[key] = read_responses(settings.responses, chunks)
        return self._loaded[key]  # type: ignore[no-any-return]

    def recorded_response(self, target: Target, *, rows: Any = None) -> Response:
        """Returns the recorded response of a target's case: of `rows` where given, a list of mappings or a table, else of the slice's file.

        Raises:
            DataError: the slice has no recorded responses, or none for this case.
        """
        settings = target.settings
        responses = self.responses(settings) if rows is None else self._responses_of_rows(rows, settings)
        if target.case.id not in responses:
            place = settings.responses if rows is None else "the rows of medfaith_rag"
            raise DataError(
                f"{place}: no response for case {target.case.id!r}; record one, or leave the case out of {settings.cases}"
            )
        return responses[target.case.id]

    def _responses_of_rows(self, rows: Any, settings: SliceSettings) -> Mapping[str, Response]:
        key = ("rows", id(rows), settings.corpus)
        if key not in self._loaded:
            chunks = self.chunks(settings) if settings.corpus else []
            self._loaded[key] = (
                rows,
                read_responses(rows, chunks),
            )  # the rows are kept, so that no others get their id
        return self._loaded[key][1]  # type: ignore[no-any-return]

    def expect(self, targets: Iterable[Target], *, test_id: str = "") -> None:
        """Notes which cases will run, so that those that never report are seen to be missing."""
        for target in targets:
            skipped, size = self.skipped(target.settings), len(self.cases(target.settings))
            self.ledger.expect(
                target.run,
                [target.case.id],
                gates=target.settings.gates,
                test_id=test_id,
                skipped=skipped,
                size=size,
            )

    def check_baseline(self) -> None:
        """Finds out before the first case whether the gates that compare can be judged, as far as that can be known.

        Raises:
            MissingBaseline: no baseline, none of an expected slice, one of another set-up or of other cases.
            DataError: a baseline that cannot be read, or one to be written of a part of a slice's cases.
        """
        if self.options.update_baseline:
            self._check_whole()
            return
        rows = [
            (run, case_ids, compared_metrics(map(parse_gate, gates)))
            for run, case_ids, gates in self.ledger.expected()
        ]
        compared = [row for row in rows if row[2]]
        if not compared:
            return
        baseline = read_baseline(self.baseline_path)
        for run, case_ids, metrics in compared:
            check_before_run(
                baseline, run, signature=self.signature([run]), case_ids=case_ids, metrics=metrics
            )

    def _check_whole(self) -> None:
        """Refuses a baseline of some of a slice's cases, which would take the place of that of all."""
        for run, case_ids, _ in self.ledger.expected():
            if len(case_ids) < self.ledger.size(run):
                raise DataError(
                    f"slice {run.slice!r}: {len(case_ids)} of its {self.ledger.size(run)} cases are selected, and --medfaith-update-baseline "
                    "would put them in the place of all. Run it without -k, --lf or --deselect; limit in the settings, or --medfaith-limit, "
                    "makes a smaller slice"
                )

    def signed(self, checker: Checker, *, configured: str) -> dict[str, Any] | None:
        """Returns the signature of a checker that a test put in the place of the `configured` one, None of that one itself.

        Raises:
            DataError: it is another one and has the configured one's name.
        """
        if checker.name != configured:
            return checker_signature(checker)
        if checker is not self.checker(configured) and checker_signature(checker) != checker_signature(
            self.checker(configured)
        ):
            raise DataError(
                f"the fixture medfaith_checker gives a checker of its own that is called {configured!r} as the configured one; baselines and "
                "cards tell checkers apart by name, so give it another: dataclasses.replace(checker, name=...)"
            )
        return None

    def configured_checkers(self) -> set[str]:
        """Returns the names of the checkers that settings, marker or command line name; a test may put another in their place."""
        return {run.checker for run, _, _ in self.ledger.expected()} | {
            run.checker for run in self.ledger.runs()
        }

    def signature(self, rows: Iterable[SliceRun]) -> dict[str, Any]:
        """Returns what decides the numbers of `rows` of the card: checkers, thresholds, corpora, encoders, seed and versions.

        A checker that a test put in the configured one's place is known once it has answered; before that it is left out.
        """
        from importlib.metadata import version

        from pytest_medfaith.retrieval.encoders import encoder_signature
        from pytest_medfaith.retrieval.index import corpus_hash

        rows = list(rows)
        checkers = {
            name: self.checker(name)
            for name in sorted({row.checker for row in rows} & self.configured_checkers())
        }
        slices = {
            name: self.settings.slice(name)
            for name in sorted({row.slice for row in rows})
            if name in self.settings.slices
        }
        return {
            "version": version("pytest-medfaith"),
            "checkers": {name: checker_signature(checker) for name, checker in checkers.items()}
            | {row.checker: known for row in rows if (known := self.ledger.checkers.get(row.checker))},
            "corpora": {name: corpus_hash(self.chunks(one)) for name, one in slices.items() if one.corpus},
            "encoders": {
                retriever: {name: encoder_signature(name) for name in self.settings.encoders}
                for retriever in sorted({row.retriever for row in rows} & set(ENCODING))
            },
            "safety": self.rulebook.signature,
            "seed": self.seed,
        }


def checker_signature(checker: Checker) -> dict[str, Any]:
    """Returns what of a checker decides its verdicts, as plain values."""
    return {
        "weights": checker.signature,
        "encoder": encoder_signature(),  # what of contexts is read
        "entail": checker.thresholds.entail,
        "contradict": checker.thresholds.contradict,
        "odds": checker.thresholds.odds,
        "temperature": checker.temperature,
        "isotonic": checker.isotonic.signature if checker.isotonic else None,
        "rules": checker.rule_signatures,
        "linker": checker.linker,
    }


def _capped(retriever: Retriever, *, size: int) -> Retriever:
    """Returns a retriever that gives all chunks where it is asked for more than there are."""

    def search(query: str, *, top_k: int) -> list[Hit]:
        return retriever(query, top_k=min(top_k, size))

    return search


def evaluate_target(session: MedfaithSession, target: Target) -> Report:
    """Returns the report on a target's recorded response, with the slice's own retriever and checker."""
    settings = target.settings
    retriever = session.retriever(settings) if settings.corpus else None
    hits = retriever(target.case.question, top_k=settings.k) if retriever else None
    response, checker = session.recorded_response(target), session.checker(settings.checker)
    report = evaluate_case(
        target.case,
        response,
        checker=checker,
        hits=hits,
        retriever=settings.retriever,
        k=settings.k,
        rulebook=session.rulebook,
    )
    return report.with_(contexts_optional=settings.contexts == "optional")


def payload(target: Target, report: Report, *, checker: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Returns what a test sends to the process that sums up: plain lists, dicts, strings and numbers.

    Args:
        target: slice, retriever, checker and case of the test.
        report: what it measured.
        checker: the signature of a checker that the test put in the configured one's place.

    Raises:
        DataError: a RAG, retriever, checker or extractor gave a value that is none of these. Numbers of numpy become plain ones.
    """
    try:
        text = json.dumps(report.to_dict(), default=_plain, allow_nan=False, ensure_ascii=False)
        text.encode()  # half of a surrogate pair ends here
        row = json.loads(text)
        Report.from_dict(row)
    except (TypeError, ValueError, DataError) as error:
        raise DataError(
            f"case {report.case.id!r} cannot be summed up: {error}; give plain texts, finite numbers, lists and objects"
        ) from error
    return {
        "run": target.run.to_dict(),
        "report": row,
        "gates": list(target.settings.gates),
        "checker": checker,
    }


def _plain(value: Any) -> Any:
    if hasattr(value, "item"):  # a scalar of numpy or torch
        return value.item()
    raise TypeError(f"it holds a {type(value).__name__}")
