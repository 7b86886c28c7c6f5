"""The records that everything is passed around as: case, response, claim, verdict, report.

All are frozen, and go to and from plain dicts (`from_dict`, `to_dict`); keys that a record does not know are
kept in `extra`. Offsets and spans are characters, half-open. Probabilities are ordered entail, neutral,
contradict.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pytest_medfaith.conversion import Record
from pytest_medfaith.records import grades, measured
from pytest_medfaith.records.judged import Attribution as Attribution
from pytest_medfaith.records.judged import Severity as Severity
from pytest_medfaith.records.labels import VERDICTS as VERDICTS
from pytest_medfaith.records.labels import HistoryMode as HistoryMode
from pytest_medfaith.records.labels import VerdictLabel as VerdictLabel
from pytest_medfaith.records.measured import Measured as Measured
from pytest_medfaith.records.measured import gold_id as gold_id
from pytest_medfaith.records.retrieved import Retrieval as Retrieval
from pytest_medfaith.records.retrieved import VectorIndex as VectorIndex
from pytest_medfaith.records.slice_run import ContextsMode as ContextsMode
from pytest_medfaith.records.slice_run import SliceRun as SliceRun
from pytest_medfaith.records.slice_run import run_of

LABELS = ("entail", "neutral", "contradict")
Authority = Literal["guideline", "systematic_review", "rct", "cohort", "review", "site"]


@dataclass(frozen=True, kw_only=True)
class Chunk(Record):
    """A passage: one unit of a corpus, or one context of an answer.

    Attributes:
        id: unique in its corpus or answer.
        text: what is searched and judged.
        url: where it was published; "" where unknown, as for every text below.
        title: of its document.
        section_path: headings above it, the outermost first.
        source: name of its corpus.
        authority: kind of publication, for `guideline_adherence`; None where unknown.
        year: of publication.
        pmid: its number in PubMed.
        start: where `text` begins in its document, in characters; None where unknown.
        end: where it ends there.
    """

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
    """A chunk that a retriever found: its rank, from 1, and its score, where more is better.

    `ranks` and `scores` hold {retriever: rank or score that it gave}, where several retrievers were fused.
    Files of earlier versions have no `scores`.
    """

    chunk: Chunk
    rank: int
    score: float
    ranks: Mapping[str, int] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class GoldClaim(Record):
    """A fact that a correct answer must state (`key`) or may state.

    `severity` is "major" where leaving the fact out could change what is done for a patient, None where
    nobody said. `provenance` says who wrote the claim.
    """

    id: str
    text: str
    key: bool = True
    severity: grades.FactSeverity | None = None
    provenance: str = ""


@dataclass(frozen=True, kw_only=True)
class Case(Record):
    """A test case: a question, and what is known about a good answer to it.

    Attributes:
        slice: the named set of cases that it belongs to.
        gold_claims: facts that a correct answer must or may state.
        reference_answer: a model answer; None where there is none.
        references: ids of relevant chunks, or their PMIDs.
        history: earlier turns of the conversation, the earliest first: mappings with `role` ("user" or
            "assistant") and `content`.
        conversation: the name of the conversation; "" for none.
        expects: "answer", "abstain" or "escalate"; None where the gold claims tell what a good answer does.
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
    """What the RAG system said for a case.

    Attributes:
        case_id: the case that it answers.
        contexts: the chunks that it was written from, in the order of their rank.
        contexts_from: who gave the contexts, for the card; "" where unknown.
        citations: what the answer cites, where it was recorded apart from its text.
        model: that wrote it.
        latency_ms: milliseconds to the answer; None where not measured.
        samples: more answers to the same question, which show whether it stays with its claims.
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
    """A single checkable statement of an answer, such as that metformin lowers glucose.

    `start` and `end` are its span in the answer, both 0 where it has none. `citations` are its markers, such
    as "2" of "[2]". `context` holds words from before it that a reader needs, such as the sentence that names
    what "it" is.
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
    """What a checker says of one claim and one chunk.

    `probs` and `logits` are ordered entail, neutral, contradict; `label` is the most probable, and `span` the
    best evidence in the chunk's text, None where unknown.
    """

    claim_id: str
    chunk_id: str
    probs: tuple[float, float, float]
    label: Literal["entail", "neutral", "contradict"]
    logits: tuple[float, float, float] | None = None
    span: tuple[int, int] | None = None
    case_id: str = ""


@dataclass(frozen=True, kw_only=True)
class Finding(Record):
    """A medical or safety rule that fired on a claim, as where "25 mg" stands against "2.5 mg".

    The spans are those of the words that disagree, in claim and chunk. `effect` says what the rule did to the
    verdict: "refute" it, "weaken" it to unsupported, or only "note" the finding.
    """

    rule: str
    message: str
    claim_span: tuple[int, int] | None = None
    evidence_span: tuple[int, int] | None = None
    chunk_id: str = ""
    effect: Literal["refute", "weaken", "note"] = "note"


@dataclass(frozen=True, kw_only=True)
class Verdict(Record):
    """The outcome of a claim over all its contexts, such as "supported" or "refuted".

    Attributes:
        score: the probability behind the label: of contradict for refuted, else the highest of entail.
        threshold: the score from which on the label is given.
        chunk_id: the context that decided; "" for none.
        span: the decisive evidence in it; None where unknown.
        reason: why the claim is unscored, or what else there is to say.
        conflict: whether another context states the opposite.
        joint: whether only several contexts together decided.
        supporting: ids of all contexts that entail the claim.
        findings: the rules that fired.
        attribution: what its citations are worth; None where the answer cites nothing.
        severity: how bad the error is; None where there is no error, or nobody graded it.
        leaning: the label that an uncertain claim would have else; "" for every other claim.
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
    """Who entails what in a case with M claims, N gold claims and K contexts, in their order.

    Attributes:
        chunk_claims: (M, K) which contexts entail a claim.
        chunk_gold: (N, K) which contexts entail a gold claim.
        answer_gold: (N,) which gold claims the answer states.
        reference_claims: (M,) which claims the reference answer entails, or the gold claims without one; None
            where there is neither.
        same_gold: (N,) the place of the first gold claim that says the same in other names of drugs and
            diseases; () where none does.
        same_chunks: (K,) likewise of contexts.
        renamed_claims: (M, K) which contexts entail a claim only once its names are theirs; () where none
            does.
    """

    chunk_claims: tuple[tuple[bool, ...], ...] = ()  # (M, K)
    chunk_gold: tuple[tuple[bool, ...], ...] = ()  # (N, K)
    answer_gold: tuple[bool, ...] = ()  # (N,)
    reference_claims: tuple[bool, ...] | None = None  # (M,)
    same_gold: tuple[int, ...] = ()  # (N,)
    same_chunks: tuple[int, ...] = ()  # (K,)
    renamed_claims: tuple[tuple[bool, ...], ...] = ()  # (M, K), () where none does


@dataclass(frozen=True, kw_only=True, repr=False)
class Report(Measured, Record):
    """One response, fully checked: verdicts on its claims, and its metrics.

    Attributes:
        verdicts: on the claims of the answer, judged by the contexts.
        gold_verdicts: on the gold claims, judged by the answer; () for a refusal.
        pairs: the scores behind the verdicts.
        hits: what the retriever found for the question.
        searched: whether a retriever was asked, so that no hits means that it found nothing.
        metrics: {name: value of this case}; a metric that does not apply is missing, never NaN.
        abstained: whether the answer is a refusal.
        selective: whether verdicts may be "uncertain".
        outcome: what became of the case, such as "answered"; None for a failed answer.
        answerable: how many key facts the contexts hold: "all", "some", "none"; None where nothing tells.
        contexts_optional: whether the caller allowed an answer without contexts.
        contexts_mode: whose contexts judged the claims.
        retrieval: what the retriever brought, where its hits were judged.
        dropped: words of the answer of which no claim was made.
        llm: what a teacher was asked (`teacher.use`); empty for nothing.
        consistency: what further answers say (`checking.consistency`).
        relevancy: how the answer speaks of its question (`checking.relevancy`).
        risk: an `AnswerRisk` as a dict; empty where it was not computed.
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
    """The outcome of a gate, a rule for a whole slice such as "hallucination <= 0.05".

    `value` is the metric that was measured, None where there is none; `message` says why it failed.
    """

    expression: str
    outcome: Literal["pass", "fail", "inconclusive"]
    value: float | None = None
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class SliceRecord(Record):
    """Base of records about one row of the card: a slice under a retriever, checker, k and contexts mode."""

    slice: str
    retriever: str
    checker: str
    k: int
    contexts_mode: ContextsMode = "recorded"

    run = property(run_of)


@dataclass(frozen=True, kw_only=True)
class SliceReport(Measured, SliceRecord):
    """All reports of a slice under one retriever and checker, its metrics summed up and its gates judged.

    Its properties, such as `faithfulness`, are the values of `metrics`.

    Attributes:
        reports: one for each case, by case id.
        metrics: {name: value over all claims}, each with an interval.
        macro: {name: mean of the values of the cases}.
        definitions: {name of a metric of the project: what it measures}.
        gates: their outcomes; () until they are judged.
        missing: ids of cases that were expected and have no report.
        skipped: {reason: how many records were left out when the cases were read}.
        partial: whether the run was cut short or a case is missing.
        place: of the row in an ablation, from 0.
        failure: why no case could be measured; "" where some were.
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
