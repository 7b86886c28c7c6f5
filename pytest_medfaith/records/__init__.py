"""The records that everything is passed around as: case, response, claim, verdict, report.

They go to and from plain dicts; unknown keys are kept in `extra`. Spans are characters, half-open.
Probabilities are ordered entail, neutral, contradict.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pytest_medfaith.conversion import Record
from pytest_medfaith.records import grades, measured
from pytest_medfaith.records.labels import VERDICTS as VERDICTS
from pytest_medfaith.records.labels import HistoryMode as HistoryMode
from pytest_medfaith.records.labels import VerdictLabel as VerdictLabel
from pytest_medfaith.records.measured import Measured as Measured
from pytest_medfaith.records.measured import gold_id as gold_id
from pytest_medfaith.records.slice_run import ContextsMode as ContextsMode
from pytest_medfaith.records.slice_run import SliceRun as SliceRun
from pytest_medfaith.records.slice_run import run_of

LABELS = ("entail", "neutral", "contradict")
Authority = Literal["guideline", "systematic_review", "rct", "cohort", "review", "site"]


@dataclass(frozen=True, kw_only=True)
class Chunk(Record):
    """A passage of a corpus, or a context of an answer; `start`, `end` are its span in its document."""

    id: str
    text: str
    url: str = ""
    title: str = ""
    section_path: tuple[str, ...] = ()
    source: str = ""
    authority: Authority | None = None
    year: int | None = None
    pmid: str | None = None
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, kw_only=True)
class Hit(Record):
    """A chunk that a retriever found, with its rank from 1 and its score; a higher score is better.

    `ranks` and `scores` hold {retriever: rank or score that it gave}; earlier versions wrote no `scores`.
    """

    chunk: Chunk
    rank: int
    score: float
    ranks: Mapping[str, int] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class GoldClaim(Record):
    """A fact that a correct answer must state (`key`) or may state; `provenance` says who wrote it.

    Leaving out a fact of `severity` "major" could change what is done for a patient.
    """

    id: str
    text: str
    key: bool = True
    severity: grades.FactSeverity | None = None
    provenance: str = ""


@dataclass(frozen=True, kw_only=True)
class Case(Record):
    """A test case: a question, and what is known of a good answer. `references` are chunk ids or PMIDs.

    `history` holds the earlier turns of the conversation, the earliest first: mappings with `role`, "user" or
    "assistant", and `content`. `conversation` is its name, "" for none. `expects` says what a good answer
    does, where the gold claims do not tell.
    """

    id: str
    question: str
    slice: str = ""
    gold_claims: tuple[GoldClaim, ...] = ()
    reference_answer: str | None = None
    references: tuple[str, ...] = ()
    history: tuple[Mapping[str, Any], ...] = ()
    conversation: str = ""
    expects: grades.Expected | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Response(Record):
    """What the RAG system said for a case; `latency_ms` is None where nobody measured it.

    `contexts` are the chunks it was given, by rank; `contexts_from` says by whom; `samples` are more answers.
    """

    answer: str
    case_id: str = ""
    contexts: tuple[Chunk, ...] = ()
    contexts_from: str = ""
    citations: tuple[str, ...] = ()
    model: str = ""
    latency_ms: float | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    samples: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Claim(Record):
    """A checkable statement of an answer; `start`, `end` are its span there, both 0 where it has none.

    `context` holds the words before it that a reader needs: the sentence that names what "it" is.
    """

    id: str
    text: str
    start: int = 0
    end: int = 0
    citations: tuple[str, ...] = ()
    context: str = ""

    @property
    def in_context(self) -> str:
        """The claim as a model reads it: "[Metformin is a biguanide.] It lowers glucose."."""
        return f"[{self.context}] {self.text}" if self.context else self.text


@dataclass(frozen=True, kw_only=True)
class Dropped(Record):
    """Words of an answer that no claim checks; `reason` says why, as "greeting", "question", "repeated"."""

    text: str
    span: tuple[int, int]
    reason: str


@dataclass(frozen=True, kw_only=True)
class PairScore(Record):
    """What a checker says of a claim and a chunk; `span` is the best evidence in the chunk."""

    claim_id: str
    chunk_id: str
    probs: tuple[float, float, float]
    label: Literal["entail", "neutral", "contradict"]
    logits: tuple[float, float, float] | None = None
    span: tuple[int, int] | None = None
    case_id: str = ""


@dataclass(frozen=True, kw_only=True)
class Finding(Record):
    """A rule that fired on a claim: the words of claim and evidence that disagree ("25 mg", "2.5 mg")."""

    rule: str
    message: str
    claim_span: tuple[int, int] | None = None
    evidence_span: tuple[int, int] | None = None
    chunk_id: str = ""
    effect: Literal["refute", "weaken", "note"] = "note"


@dataclass(frozen=True, kw_only=True)
class Attribution(Record):
    """What the contexts that a claim cites say of it; an answer without any citation has none.

    `cited` is {marker: ids of the contexts that it means}; of these `helping` support the claim, alone or
    only together. `elsewhere` are ids of contexts that support it and are not cited. `assigned` is, for an
    uncited claim, what the more similar of its cited neighbours cites. Claims of a sentence share its number,
    from 0.
    """

    status: grades.CitationStatus
    cited: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    helping: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    assigned: tuple[str, ...] = ()
    sentence: int = 0


@dataclass(frozen=True, kw_only=True)
class Severity(Record):
    """How bad a refuted or unsupported claim is.

    Categories and risks are those of MedVAL (Aali et al. 2025, arXiv:2507.03152) that an error of a single
    claim can have. An error is major where its risk is moderate or high: unnoticed, it could change what is
    done for a patient, as CREOLA calls an error major (Asgari et al. 2025, npj Digit Med 8:274).

    `risk` is what could happen to a patient if nobody noticed the error. `rule` is the id of the rule that
    gave it, "otherwise" where none did, "reviewers" where labels did, `by_rules` what a rule gave before.
    """

    category: grades.Category
    risk: grades.Risk
    rule: str = ""
    by_rules: grades.Risk | None = None

    @property
    def is_major(self) -> bool:
        """Whether the error could change what is done for a patient."""
        return self.risk in grades.MAJOR

    def __str__(self) -> str:
        return f"{'major' if self.is_major else 'minor'}: {self.category}, risk {self.risk}"


@dataclass(frozen=True, kw_only=True)
class Verdict(Record):
    """The outcome of a claim over all its contexts, such as "supported" or "refuted".

    `score` is the probability behind the label: of contradict for refuted, else the highest of entail.
    `chunk_id` and `span` point at the decisive evidence; `supporting` are ids of all contexts that entail the
    claim. `conflict`: another context states the opposite; `joint`: only several together decided. `severity`
    is None where there is no graded error. `leaning` is the label that an uncertain claim would have else.
    """

    claim: Claim
    label: VerdictLabel
    score: float = 0.0
    threshold: float = 0.5
    chunk_id: str = ""
    span: tuple[int, int] | None = None
    reason: str = ""
    conflict: bool = False
    joint: bool = False
    supporting: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    attribution: Attribution | None = None
    severity: Severity | None = None
    leaning: Literal["", "supported", "refuted"] = ""


@dataclass(frozen=True, kw_only=True)
class MetricValue(Record):
    """A metric over `n` cases, with the ends of its 95 % interval; None where nothing could be measured."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0

    def __str__(self) -> str:
        return "-" if self.value is None else f"{self.value:.3f}"


@dataclass(frozen=True, kw_only=True)
class Entailments(Record):
    """Which contexts entail each of M claims (`chunk_claims`: M rows of K) and N gold claims (`chunk_gold`).

    `answer_gold` (N) and `reference_claims` (M; None for no reference answer and no gold claims): what these
    entail. `same_gold` (N), `same_chunks` (K): place of the first text that says the same in other names, ()
    for none. `renamed_claims` (M rows of K): contexts that entail a claim only once its names are theirs.
    """

    chunk_claims: tuple[tuple[bool, ...], ...] = ()  # (M, K)
    chunk_gold: tuple[tuple[bool, ...], ...] = ()  # (N, K)
    answer_gold: tuple[bool, ...] = ()  # (N,)
    reference_claims: tuple[bool, ...] | None = None  # (M,)
    same_gold: tuple[int, ...] = ()  # (N,)
    same_chunks: tuple[int, ...] = ()  # (K,)
    renamed_claims: tuple[tuple[bool, ...], ...] = ()  # (M, K), () where none does


@dataclass(frozen=True, kw_only=True)
class VectorIndex(Record):
    """An approximate index of vectors, named as in FAISS ("HNSW32"), and how much of exact search it finds.

    `search` holds parameters such as {"efSearch": 128}. `recall` is {"10": the share, 0 to 1, of the 10 best
    hits of exact search that it finds, "100": of the 100 best}, measured on `queries` sentences of the
    corpus.
    """

    factory: str
    search: Mapping[str, int] = field(default_factory=dict)
    recall: Mapping[str, float] = field(default_factory=dict)
    queries: int = 0


@dataclass(frozen=True, kw_only=True)
class Retrieval(Record):
    """What a retriever brought for a case, judged chunk by chunk, and what it cost.

    It is empty where recorded contexts are judged. Gold claims have the ids that `gold_id` gives them.

    Attributes:
        gold: {chunk id: (N,) which gold claims the chunk alone entails}, of every hit in the pool.
        grades: {chunk id: 2 decisive, 1 supportive, 0 neither}, by the keywords of the case.
        refuting: {claim id: ids of the chunks that refute it}.
        claims: {claim id: ids of the chunks found for it, best first}, where each claim was searched for.
        pool: the retrievers whose hits were judged together; () until the run is summed up.
        steps_ms: {step of the question's retrieval: milliseconds}, and under "total" all of it.
        index_bytes: the size of the index; None where the retriever does not tell it.
        indexes: {name of a dense retriever: its approximate index}; exact search is not listed.
    """

    gold: Mapping[str, tuple[bool, ...]] = field(default_factory=dict)
    grades: Mapping[str, float] = field(default_factory=dict)
    refuting: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    claims: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pool: tuple[str, ...] = ()
    steps_ms: Mapping[str, float] = field(default_factory=dict)
    index_bytes: int | None = None
    indexes: Mapping[str, VectorIndex] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, repr=False)
class Report(Measured, Record):
    """One response, fully checked: verdicts on its claims, and its metrics.

    `metrics` is {name: value of this case}; a metric that does not apply is missing, never NaN. `verdicts`
    judge the claims by the contexts, `gold_verdicts` the gold claims by the answer. `searched` without
    `hits`: nothing was found. `contexts_optional`: the caller allowed an answer without contexts.
    `contexts_mode` says whose contexts judged, `retrieval` what the retriever brought, `llm` what a teacher
    was asked (`teacher.use`), `consistency` what further answers say, `relevancy` how the answer speaks of
    its question; `risk` is an `AnswerRisk`. `selective`: verdicts may be uncertain. No claim was made of the
    words in `dropped`.
    """

    case: Case
    response: Response
    verdicts: tuple[Verdict, ...] = ()
    gold_verdicts: tuple[Verdict, ...] = ()
    entailments: Entailments = field(default_factory=Entailments)
    pairs: tuple[PairScore, ...] = ()
    hits: tuple[Hit, ...] = ()
    searched: bool = False
    metrics: Mapping[str, float] = field(default_factory=dict)
    abstained: bool = False
    selective: bool = False
    outcome: grades.Outcome | None = None
    answerable: grades.Answerable | None = None
    contexts_optional: bool = False
    retriever: str = ""
    checker: str = ""
    k: int | None = None
    contexts_mode: ContextsMode = "recorded"
    retrieval: Retrieval = field(default_factory=Retrieval)
    dropped: tuple[Dropped, ...] = ()
    llm: Mapping[str, Any] = field(default_factory=dict)
    consistency: Mapping[str, Any] = field(default_factory=dict)
    relevancy: Mapping[str, Any] = field(default_factory=dict)
    risk: Mapping[str, Any] = field(default_factory=dict)

    @property
    def has_answer(self) -> bool:
        """Whether the report judges an answer; False where it judges only what a retriever found."""
        return self.contexts_mode != "none"

    __repr__ = measured.case_text


@dataclass(frozen=True, kw_only=True)
class GateResult(Record):
    """The outcome of a gate, a rule for a slice such as "hallucination <= 0.05"."""

    expression: str
    outcome: Literal["pass", "fail", "inconclusive"]
    value: float | None = None
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class SliceRecord(Record):
    """A record about a row of the card, such as an entry of a baseline."""

    slice: str
    retriever: str
    checker: str
    k: int
    contexts_mode: ContextsMode = "recorded"

    run = property(run_of)


@dataclass(frozen=True, kw_only=True)
class SliceReport(Measured, SliceRecord):
    """All reports of a slice under one retriever and checker, with metrics over all and judged gates.

    Its properties, such as `faithfulness`, are values of `metrics`; `macro` holds means over cases. `skipped`
    is {reason: records left out when cases were read}, `place` the row of an ablation from 0, `definitions`
    {metric of the project: its meaning}, `failure` why no case was measured.
    """

    reports: tuple[Report, ...] = ()
    metrics: Mapping[str, MetricValue] = field(default_factory=dict)
    macro: Mapping[str, MetricValue] = field(default_factory=dict)
    definitions: Mapping[str, str] = field(default_factory=dict)
    gates: tuple[GateResult, ...] = ()
    missing: tuple[str, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    partial: bool = False
    place: int = 0
    failure: str = ""

    def _value(self, name: str) -> float | None:
        return self.metrics[name].value if name in self.metrics else None
