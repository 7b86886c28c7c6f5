"""Loads what a run needs: settings, cases, corpora, retrievers, checkers, recorded responses."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_medfaith import defaults
from pytest_medfaith.answers.responses import read_responses
from pytest_medfaith.answers.sampling import temperatures_of
from pytest_medfaith.calibration.applying import calibrated, read_calibration
from pytest_medfaith.checking.variant import split_linker
from pytest_medfaith.claims.limits import LimitedExtractor
from pytest_medfaith.claims.split import extract_claims
from pytest_medfaith.config import Settings, SliceSettings, load_settings
from pytest_medfaith.corpus.recut import recut_chunks
from pytest_medfaith.corpus.windows import WindowSize
from pytest_medfaith.datasets.registry import read_cases
from pytest_medfaith.datasets.skips import Skips
from pytest_medfaith.errors import DataError
from pytest_medfaith.evaluation import Extractor
from pytest_medfaith.gates.kept import kept_baseline
from pytest_medfaith.jsonl import read_chunks
from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.project import declared_metrics
from pytest_medfaith.models.pace import set_pace
from pytest_medfaith.records import Case, Chunk, Hit, Response
from pytest_medfaith.records.stored import Form, Store
from pytest_medfaith.retrieval.build import build_retriever, needs_chunks
from pytest_medfaith.retrieval.context import contextual_chunks
from pytest_medfaith.retrieval.cost import index_bytes, sized, vector_indexes
from pytest_medfaith.retrieval.ranking import Retriever
from pytest_medfaith.retrieval.settings import RetrievalSettings, settled
from pytest_medfaith.retrieval.stores.address import is_store, split_reranker
from pytest_medfaith.retrieval.variant import parse_variant, plain_name
from pytest_medfaith.run.options import Options
from pytest_medfaith.safety.rulebook import Rulebook, load_rulebook
from pytest_medfaith.severity.rules import SeverityRules, load_severity
from pytest_medfaith.teacher.settings import TEACHER

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker
    from pytest_medfaith.rag.reference import ReferenceRag
    from pytest_medfaith.teacher.asking import Teacher

Loaded = TypeVar("Loaded")
_ANY_SENTENCES = 10_000  # of a chunk that is cut anew: its tokens alone bound it


@dataclass
class Resources:
    """Loads what a run asks for, each thing once in a process, when it is first asked for.

    Attributes:
        root: the folder of the project.
        options: of the command line; they beat the settings.
        store: where records of cases are kept: in memory, or in files.
    """

    root: Path
    options: Options = field(default_factory=Options)
    store: Store = field(default_factory=Store)
    _loaded: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    def _once(self, key: Hashable, load: Callable[[], Loaded]) -> Loaded:
        """Returns what `load` gives, called the first time only for each `key`."""
        if key not in self._loaded:
            self._loaded[key] = load()
        return self._loaded[key]  # type: ignore[no-any-return]

    @cached_property
    def settings(self) -> Settings:
        """The settings of the project.

        The rules of safety and severity are read here, too, so that an error in them comes before the first
        test.
        """
        settings = load_settings(self.root)
        load_rulebook(settings.safety)
        load_severity(settings.severity)
        set_pace(threads=settings.threads, batch_size=settings.batch_size)
        return settings

    @property
    def seed(self) -> int:
        """The seed of all resampling: of the command line, else of the settings."""
        return self.options.seed if self.options.seed is not None else self.settings.seed

    @property
    def rules_off(self) -> tuple[str, ...]:
        """Names of the rules that the settings or the command line switch off."""
        return (*self.settings.rules_off, *self.options.rules_off)

    @property
    def rulebook(self) -> Rulebook:
        """The safety rules: the shipped and the project's, without those that are switched off."""
        return load_rulebook(self.settings.safety).without(self.rules_off)

    @property
    def severity(self) -> SeverityRules:
        """The rules that grade errors: the project's, and after them the shipped rules."""
        return load_severity(self.settings.severity)

    @property
    def rules(self) -> dict[str, Any]:
        """Keyword arguments of `evaluate_case` that are the same for every case: rules and metrics."""
        return {"rulebook": self.rulebook, "severity": self.severity, "declared": self.metrics}

    @cached_property
    def metrics(self) -> Mapping[str, Metric]:
        """The metrics by name: the shipped metrics, and those that the settings name.

        Raises:
            DataError: the settings name something that is no metric, or a metric whose name is taken.
        """
        return declared_metrics(self.settings.metrics)

    @property
    def baseline_path(self) -> Path:
        """The baseline file: of the command line, else of the settings.

        Raises:
            MissingBaseline: the command line gives the number of a kept copy, and there is none.
        """
        if self.options.kept_baseline is not None:
            return kept_baseline(self.settings.baseline, self.options.kept_baseline)
        return self.options.baseline or self.settings.baseline

    def cases(self, settings: SliceSettings) -> list[Case]:
        """Returns the cases of a slice, at most `limit`: the first, or a sample where a seed was typed.

        Raises:
            DataError: the slice has no case, or its file cannot be read.
        """
        return self._cases_and_skips(settings)[0]

    def skipped(self, settings: SliceSettings) -> Mapping[str, int]:
        """Returns {reason: how many records of a slice's data set gave no case}."""
        return self._cases_and_skips(settings)[1].counts

    def _cases_and_skips(self, settings: SliceSettings) -> tuple[list[Case], Skips]:
        """Returns the cases of a slice, and the records that gave none."""

        def read() -> tuple[list[Case], Skips]:
            skips = Skips()
            cases = list(
                read_cases(settings.cases, limit=settings.limit, seed=self.options.seed, skips=skips)
            )
            if not cases:
                why = "; ".join(["a slice without cases can say nothing", *skips.lines()])
                raise DataError(f"slice {settings.name!r}: {settings.cases} holds no case; {why}")
            return cases, skips

        return self._once(("cases", settings.cases, settings.limit, self.options.seed), read)

    def chunks(self, settings: SliceSettings) -> list[Chunk]:
        """Returns the chunks of a slice's corpus."""
        return self._once(("chunks", settings.corpus), lambda: read_chunks(settings.corpus))

    def can_retrieve(self, settings: SliceSettings) -> bool:
        """Returns whether a slice has something to search: a corpus, or a store that holds chunks."""
        return bool(settings.corpus) or not needs_chunks(settings.retriever, self.retrieval)

    @property
    def retrieval(self) -> RetrievalSettings:
        """The settings of retrieval, with what the command line says in their place."""
        names = [field.name for field in dataclasses.fields(RetrievalSettings) if field.name != "teacher"]
        configured = {name: getattr(self.settings, name) for name in names}
        return RetrievalSettings(**{**configured, **self.options.retrieval, "teacher": self.teacher})

    @cached_property
    def teacher(self) -> Teacher:
        """The LLM that the settings name; that it cannot be asked shows only when it is."""
        from pytest_medfaith.teacher.asking import Teacher

        return Teacher(self.settings.llm, mode=self.options.llm)

    @property
    def temperatures(self) -> tuple[float, ...]:
        """The temperatures at which a RAG is asked each question; () where it is asked just once.

        Raises:
            DataError: as in `temperatures_of`.
        """
        return temperatures_of(self.settings.consistency, self.settings.temperatures)

    @property
    def extractor(self) -> Extractor:
        """What splits answers into claims, as configured, with limits on their length and number.

        Raises:
            DataError: a folder without a usable student.
        """
        s = self.settings
        limited = s.claim_min_words > 0 or s.max_claims is not None
        return (
            LimitedExtractor(self._extractor, s.claim_min_words, s.max_claims) if limited else self._extractor
        )

    @property
    def _extractor(self) -> Extractor:
        """What splits answers into claims, without limits: the shipped rules, the teacher, or a student."""
        name = self.settings.extractor
        if name == defaults.EXTRACTOR:
            return extract_claims
        if name != TEACHER:
            return self.student_extractor[0]
        from pytest_medfaith.claims.teacher import teacher_extractor

        return self._once(("extractor",), lambda: teacher_extractor(self.teacher))

    @cached_property
    def student_extractor(self) -> tuple[Extractor, str]:
        """The extractor in the folder that the settings name, and the signature of its weights."""
        from pytest_medfaith.claims.student import folder_extractor

        return folder_extractor(self.settings.root / self.settings.extractor)

    def check_teacher(self, settings: SliceSettings, *, uses: Callable[[str], bool] = lambda _: True) -> None:
        """Raises where a slice needs the teacher and it cannot be asked.

        Args:
            settings: of the slice.
            uses: says of a fixture such as "medfaith_checker" whether it is used as the plugin ships it.

        Raises:
            TeacherError: it cannot be asked, as where no model is named or the mode is off.
            MissingExtra: the client of OpenAI is not installed.
        """
        named = {
            "medfaith_checker": split_linker(settings.checker)[0],
            "medfaith_retriever": split_reranker(settings.retriever)[1] or "",
            "medfaith_extractor": self.settings.extractor,
        }
        if any(name == TEACHER and uses(fixture) for fixture, name in named.items()):
            self.teacher.check_ready()

    def searched_chunks(self, settings: SliceSettings, retriever: str) -> list[Chunk]:
        """Returns the chunks that a retriever searches: the slice's, or its corpus cut anew by size.

        Raises:
            DataError: the name of the retriever holds something that is no setting.
        """
        variant, chunks = parse_variant(retriever), self.chunks(settings)
        if variant.size is None:
            return chunks
        shape = WindowSize(size=variant.size, stride=variant.stride or 0, max_sent=_ANY_SENTENCES)
        return self._once(("cut", settings.corpus, shape), lambda: recut_chunks(chunks, shape=shape))

    def read_chunks(self, settings: SliceSettings, retriever: str) -> Sequence[Chunk]:
        """Returns the chunks that a retriever searches, with title and section path before their texts."""
        chunks = self.searched_chunks(settings, retriever)
        given = settled(retriever, self.retrieval)[1]
        key = ("read", settings.corpus, retriever, given.chunk_context)
        return self._once(
            key, lambda: contextual_chunks(chunks, given.chunk_context, lines=given.chunk_lines)
        )

    def retriever(self, settings: SliceSettings) -> Retriever:
        """Returns the slice's retriever, `(query, *, top_k) -> hits`, over its corpus or a store.

        Asked for more hits than there are chunks, it gives all.
        """
        name = settings.retriever
        chunks, given = self.searched_chunks(settings, name) if settings.corpus else [], self.retrieval

        def build() -> Retriever:
            retriever = build_retriever(settings.retriever, chunks, settings=given)
            # A retriever of the package loads its models at the first query.
            if ":" not in plain_name(name) or is_store(name):
                retriever("warm up", top_k=1)

            def search(query: str, *, top_k: int) -> list[Hit]:
                return retriever(query, top_k=min(top_k, len(chunks) or top_k))

            return sized(search, partial(index_bytes, retriever), vector_indexes(retriever))

        return self._once(("retriever", settings.corpus, settings.retriever), build)

    @property
    def reference_rag(self) -> ReferenceRag:
        """The reference RAG as configured; it is given what was retrieved."""
        from pytest_medfaith.rag.reference import needs_teacher, reference_rag

        return self._once(
            ("rag",),
            lambda: reference_rag(
                self.settings.rag,
                load_checker=self.checker,
                extractor=self.extractor,
                teacher=self.teacher if needs_teacher(self.settings.rag) else None,
            ),
        )

    def check_rag(self) -> None:
        """Raises as `check_teacher` where the reference RAG needs the teacher and it cannot be asked."""
        from pytest_medfaith.rag.reference import needs_teacher

        if needs_teacher(self.settings.rag):
            self.teacher.check_ready()

    @cached_property
    def scores(self) -> Path | None:
        """The file in the cache folder that keeps scores of pairs from run to run; there is always one."""
        return self.settings.cache / defaults.PAIR_SCORES

    def checker(self, name: str = defaults.CHECKER) -> Checker:
        """Returns the checker called `name`, with thresholds, rules and calibration as configured.

        Raises:
            DataError: the calibration for this checker was fitted with other weights.
        """
        return self._once(("checker", name), lambda: self._load_checker(name))

    def _load_checker(self, name: str) -> Checker:
        """Returns a new checker, with its calibration and then the thresholds of the settings."""
        from pytest_medfaith.checking.loading import load_checker

        s = self.settings
        checker = load_checker(
            name,
            label_map=s.label_map,
            order=s.order,
            cache=self.scores,
            rules=s.rules,
            rules_off=self.rules_off,
            linker=s.linker,
            root=s.root,
            teacher=self.teacher if split_linker(name)[0] == TEACHER else None,
        )
        for path in s.calibration:
            fitted = read_calibration(path)
            if fitted.checker == split_linker(checker.name)[0]:
                try:
                    plain = dataclasses.replace(checker, name=fitted.checker)
                    checker = dataclasses.replace(calibrated(plain, fitted), name=checker.name)
                except DataError as error:
                    raise DataError(f"{path}: {error}") from None
                break
        configured = {
            "entail": s.entail_threshold,
            "contradict": s.contradict_threshold,
            "odds": s.contradict_odds,
        }
        changes = {key: value for key, value in configured.items() if value is not None}
        if changes and checker.selective:
            raise DataError(
                "the settings hold "
                f"{', '.join(f'{key}_threshold' if key != 'odds' else 'contradict_odds' for key in changes)},"
                " and the calibration promises a risk under thresholds of its own; take these settings out, "
                "or certify again with medfaith calibrate ROWS --risk"
            )
        return dataclasses.replace(checker, thresholds=dataclasses.replace(checker.thresholds, **changes))

    def responses(self, settings: SliceSettings, *, rows: Any = None) -> Mapping[str, Response]:
        """Returns {case id: recorded response}.

        Args:
            settings: of the slice.
            rows: a list of mappings or a table; None reads the slice's file.

        Raises:
            DataError: there are none, or they cannot be read.
        """
        if rows is None and settings.responses is None:
            table = self.settings.table(f"slices.{settings.name}")
            raise DataError(
                f"slice {settings.name!r} has no recorded responses, and no fixture medfaith_rag answers its "
                f'questions. Set responses = "...jsonl" in {table}, or define '
                f"medfaith_rag in conftest.py. To answer them now, by the reference RAG or by yours: "
                f"medfaith run --dataset {settings.name} --rag plain --out runs/{settings.name}"
            )
        source = settings.responses if rows is None else rows

        def read() -> tuple[Any, Mapping[str, Response]]:
            chunks = self.chunks(settings) if settings.corpus else []
            return source, read_responses(
                source, chunks, into=self.store.by_key(Form(Response.to_dict, Response.from_dict))
            )

        # The source is kept with what was read from it: while these rows live, no new rows can get their id.
        key = ("responses", settings.responses if rows is None else id(rows), settings.corpus)
        return self._once(key, read)[1]
