"""The words of the design as frozen dataclasses that go to and from plain dicts.

Offsets are characters, half-open. Probabilities are ordered entail, neutral, contradict. Keys of a file that a
record does not know are kept in `extra` and written back.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pytest_medfaith.conversion import Record

LABELS = ("entail", "neutral", "contradict")
VERDICTS = ("supported", "refuted", "unsupported", "unscored")
VerdictLabel = Literal["supported", "refuted", "unsupported", "unscored"]
Authority = Literal["guideline", "systematic_review", "rct", "cohort", "review", "site"]


@dataclass(frozen=True, kw_only=True)
class Chunk(Record):
    """One unit of a corpus. `start` and `end` say where `text` stands in its source document, where that is known."""

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
    """A chunk as retrieved: its rank from 1, its fused score, and the rank each retriever gave it."""

    chunk: Chunk
    rank: int
    score: float
    ranks: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class GoldClaim(Record):
    """A statement that a correct answer must make (`key`) or may make; `provenance` says who wrote it."""

    id: str
    text: str
    key: bool = True
    provenance: str = ""


@dataclass(frozen=True, kw_only=True)
class Case(Record):
    """One test item of a slice. `references` are ids of relevant chunks, or PMIDs."""

    id: str
    question: str
    slice: str = ""
    gold_claims: tuple[GoldClaim, ...] = ()
    reference_answer: str | None = None
    references: tuple[str, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Response(Record):
    """What the RAG system said for a case. `contexts` are the chunks it was given, in rank order; `contexts_from` says who gave them."""

    answer: str
    case_id: str = ""
    contexts: tuple[Chunk, ...] = ()
    contexts_from: str = ""
    citations: tuple[str, ...] = ()
    model: str = ""
    latency_ms: float | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Claim(Record):
    """One atomic statement of an answer; `start`, `end` are its span there, `citations` the markers of its sentence.

    `context` holds the words before it that a reader needs, as they stand in the answer: the sentence that names what "it" is.
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
    """Words of an answer that no claim checks, where they stand, and why: "greeting", "question", "repeated" and the like."""

    text: str
    span: tuple[int, int]
    reason: str


@dataclass(frozen=True, kw_only=True)
class PairScore(Record):
    """What a checker says of one (claim, chunk) pair; `span` is the best evidence inside the chunk's text."""

    claim_id: str
    chunk_id: str
    probs: tuple[float, float, float]
    label: Literal["entail", "neutral", "contradict"]
    logits: tuple[float, float, float] | None = None
    span: tuple[int, int] | None = None
    case_id: str = ""


@dataclass(frozen=True, kw_only=True)
class Finding(Record):
    """A medical rule that fired on a claim: the clashing words of the claim and of the evidence."""

    rule: str
    message: str
    claim_span: tuple[int, int] | None = None
    evidence_span: tuple[int, int] | None = None
    chunk_id: str = ""
    effect: Literal["refute", "weaken", "note"] = "note"


@dataclass(frozen=True, kw_only=True)
class Verdict(Record):
    """A claim's outcome over all its chunks.

    `score` is the probability behind the verdict (entail when supported, contradict when refuted, else the best entail);
    `chunk_id`, `span` point at the decisive evidence; `conflict` says that another chunk says the opposite.
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


@dataclass(frozen=True, kw_only=True)
class MetricValue(Record):
    """A metric over `n` cases: its value and 95 % interval; `value` is None where nothing could be measured."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0

    def __str__(self) -> str:
        return "-" if self.value is None else f"{self.value:.3f}"


@dataclass(frozen=True, kw_only=True)
class Entailments(Record):
    """Who entails what in one case: M response claims, N gold claims, K chunks (the response's contexts, in their order).

    `reference_claims` (M) is None where the case has neither a reference answer nor gold claims.
    """

    chunk_claims: tuple[tuple[bool, ...], ...] = ()  # (M, K)
    chunk_gold: tuple[tuple[bool, ...], ...] = ()  # (N, K)
    answer_gold: tuple[bool, ...] = ()  # (N,)
    reference_claims: tuple[bool, ...] | None = None  # (M,)


def _metric(name: str, definition: str) -> property:
    return property(
        lambda self: self._value(name),
        doc=f"{definition}; None for a refusal, and where nothing could be measured.",
    )


class Measured:
    """The metrics that are asked for most, as attributes; `metrics` holds all of them."""

    faithfulness = _metric("faithfulness", "The share of scored claims that the contexts support")
    hallucination = _metric("hallucination", "The share of scored claims that the contexts refute")
    claim_recall = _metric("claim_recall", "The share of key gold claims that the answer makes")
    context_precision = _metric("context_precision", "The share of contexts that entail a gold claim")
    context_utilization = _metric("context_utilization", "The share of claims that some context entails")
    citation_support = _metric("citation_support", "The share of cited sentences that what they cite entails")
    citation_coverage = _metric("citation_coverage", "The share of sentences with a citation")
    safety_error_rate = _metric("safety_error_rate", "The share of claims that break a safety rule")


@dataclass(frozen=True, kw_only=True, repr=False)
class Report(Measured, Record):
    """One response, fully checked. `metrics` holds per-case values; a metric that does not apply is absent, never NaN.

    `verdicts` are of the response's claims over its contexts, `gold_verdicts` of the gold claims over the answer. Where a retriever was
    `searched` and there are no `hits`, it found nothing. `contexts_optional` says that it was said on purpose that an answer may have
    none. `dropped` is what no claim was made of.

    `faithfulness`, `hallucination`, `claim_recall`, `context_precision`, `context_utilization`, `citation_support`, `citation_coverage` and
    `safety_error_rate` are attributes, too: None for a refusal, and where nothing could be measured.
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
    contexts_optional: bool = False
    retriever: str = ""
    checker: str = ""
    k: int | None = None
    dropped: tuple[Dropped, ...] = ()

    def _value(self, name: str) -> float | None:
        return self.metrics.get(name)

    def __repr__(self) -> str:
        labels = [verdict.label for verdict in self.verdicts]
        counts = ", ".join(f"{labels.count(label)} {label}" for label in VERDICTS if label in labels)
        return f"<Report on {self.case.id!r}: {counts or ('abstained' if self.abstained else 'no claims')}>"


@dataclass(frozen=True, kw_only=True)
class GateResult(Record):
    """What one gate expression answered."""

    expression: str
    outcome: Literal["pass", "fail", "inconclusive"]
    value: float | None = None
    message: str = ""


@dataclass(frozen=True, kw_only=True, order=True)
class SliceRun:
    """What tells one row of the card from another: a slice under one retriever, checker and k. Runs sort as the card does."""

    slice: str
    retriever: str
    checker: str
    k: int

    def __str__(self) -> str:
        return f"slice {self.slice!r}, retriever {self.retriever!r}, checker {self.checker!r} and k={self.k}"

    def to_dict(self) -> dict[str, Any]:
        """Returns the four names as plain values."""
        return dataclasses.asdict(self)

    def equals_but_for_checker(self, other: SliceRun) -> bool:
        """Returns whether two runs differ in nothing but their checker: a test may put another in the configured one's place."""
        return (self.slice, self.retriever, self.k) == (other.slice, other.retriever, other.k)


@dataclass(frozen=True, kw_only=True)
class SliceRecord(Record):
    """A record about one slice run: a slice report, an entry of a baseline. Files hold the four names of the run as fields."""

    slice: str
    retriever: str
    checker: str
    k: int

    @property
    def run(self) -> SliceRun:
        """The key under which everything about this slice run is found."""
        return SliceRun(slice=self.slice, retriever=self.retriever, checker=self.checker, k=self.k)


@dataclass(frozen=True, kw_only=True)
class SliceReport(Measured, SliceRecord):
    """All reports of a slice under one retriever and checker, with the aggregated metrics and judged gates.

    `skipped` counts, by reason, the records of a data set that were left out while the slice's cases were read. The attributes of a `Report`,
    such as `faithfulness`, are there for the slice. `definitions` says, by name, what the metrics of the project measure.
    """

    reports: tuple[Report, ...] = ()
    metrics: Mapping[str, MetricValue] = field(default_factory=dict)
    macro: Mapping[str, MetricValue] = field(default_factory=dict)
    definitions: Mapping[str, str] = field(default_factory=dict)
    gates: tuple[GateResult, ...] = ()
    missing: tuple[str, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    partial: bool = False

    def _value(self, name: str) -> float | None:
        return self.metrics[name].value if name in self.metrics else None
