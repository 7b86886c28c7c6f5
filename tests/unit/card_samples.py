"""Slice reports made by hand for the tests of the cards."""

from __future__ import annotations

import random

from pytest_medfaith.records import (
    Case,
    Chunk,
    Claim,
    Entailments,
    Finding,
    GateResult,
    GoldClaim,
    Hit,
    MetricValue,
    PairScore,
    Report,
    Response,
    SliceReport,
    Verdict,
)

METFORMIN = Chunk(
    id="site/pcos-04",
    title="Medicines for PCOS",
    url="https://example.org/pcos#medicines",
    text="Several medicines are used. Metformin lowers insulin levels in women with PCOS. "
    "It may also help with weight.",
    source="site",
)
LETROZOLE = Chunk(
    id="statpearls/pcos-02",
    title="Inducing ovulation",
    url="https://example.org/ovulation",
    text="Letrozole is started at 2.5 mg once a day for five days. "
    "A <script>alert('chunk')</script> tag stands in this text.",
)
ANSWER = (
    "Metformin raises insulin levels in women with PCOS [1]. Letrozole is started at 2.5 mg once a day [2]. "
    "A 2031 trial proved it cures PCOS."
)


def span_of(text: str, piece: str) -> tuple[int, int]:
    start = text.index(piece)
    return start, start + len(piece)


def claim(name: str, text: str, *citations: str) -> Claim:
    start, end = span_of(ANSWER, text)
    return Claim(id=name, text=text, start=start, end=end, citations=citations)


REFUTED = Verdict(
    claim=claim("c1", "Metformin raises insulin levels in women with PCOS", "[1]"),
    label="refuted",
    score=0.97,
    threshold=0.5,
    chunk_id=METFORMIN.id,
    span=span_of(METFORMIN.text, "Metformin lowers insulin levels in women with PCOS."),
    conflict=True,
    supporting=(LETROZOLE.id,),
    findings=(
        Finding(
            rule="direction",
            message="the claim says up, the evidence says down",
            claim_span=(10, 16),
            evidence_span=span_of(METFORMIN.text, "lowers"),
            chunk_id=METFORMIN.id,
            effect="refute",
        ),
    ),
)
SUPPORTED = Verdict(
    claim=claim("c2", "Letrozole is started at 2.5 mg once a day", "[2]"),
    label="supported",
    score=0.93,
    threshold=0.5,
    chunk_id=LETROZOLE.id,
    span=span_of(LETROZOLE.text, "Letrozole is started at 2.5 mg once a day for five days."),
    supporting=(LETROZOLE.id,),
)
INVENTED = Verdict(
    claim=claim("c3", "A 2031 trial proved it cures PCOS."),
    label="unsupported",
    score=0.04,
    threshold=0.5,
    chunk_id=METFORMIN.id,
    reason="no chunk entails or contradicts it",
)
UNSCORED = INVENTED.with_(label="unscored", score=0.0, chunk_id="", reason="longer than the checker reads")


GOLD = (
    GoldClaim(id="g1", text="Metformin lowers insulin levels.", provenance="llm-written"),
    GoldClaim(id="g2", text="Letrozole starts at 2.5 mg.", key=False, provenance="clinician"),
)
GOLD_VERDICT = Verdict(claim=Claim(id="g1", text=GOLD[0].text), label="refuted", score=0.9, chunk_id="answer")
HITS = (
    Hit(chunk=METFORMIN, rank=1, score=0.03, ranks={"bm25": 1, "dense": 2}),
    Hit(chunk=LETROZOLE, rank=2, score=0.02),
)
CONTRADICTED = PairScore(
    claim_id="c1",
    chunk_id=METFORMIN.id,
    probs=(0.01, 0.02, 0.97),
    logits=(-2.0, -1.0, 3.0),
    label="contradict",
)
ENTAILED = PairScore(
    claim_id="c2", chunk_id=LETROZOLE.id, probs=(0.93, 0.05, 0.02), logits=(3.0, 0.0, -1.0), label="entail"
)


def case_report(
    name: str = "pcos-1", *, verdicts: tuple[Verdict, ...] = (REFUTED, SUPPORTED, INVENTED)
) -> Report:
    return Report(
        case=Case(
            id=name,
            slice="medquad-nih",
            question="Which medicines treat PCOS?",
            gold_claims=GOLD,
            references=(METFORMIN.id,),
            meta={"condition": "pcos"},
        ),
        response=Response(
            answer=ANSWER,
            case_id=name,
            contexts=(METFORMIN, LETROZOLE),
            citations=("[1]", "[2]"),
            model="recorded",
            latency_ms=12.5,
        ),
        verdicts=verdicts,
        gold_verdicts=(GOLD_VERDICT,),
        entailments=Entailments(
            chunk_claims=((False, False), (False, True), (False, False))[: len(verdicts)],
            chunk_gold=((True, False), (False, True)),
            answer_gold=(False, True),
            reference_claims=(False, True, False)[: len(verdicts)],
        ),
        pairs=(CONTRADICTED.with_(case_id=name), ENTAILED.with_(case_id=name)),
        hits=HITS,
        metrics={"faithfulness": 1 / 3, "hallucination": 1 / 3, "latency_ms": 12.5},
        retriever="rrf",
        checker="nli-student",
        k=10,
    )


def refusal(name: str = "pcos-2") -> Report:
    report = case_report(name, verdicts=())
    return report.with_(
        response=Response(answer="I do not know.", case_id=name, contexts=(METFORMIN,)),
        gold_verdicts=(),
        entailments=Entailments(chunk_gold=((True,), (False,)), answer_gold=(False, False)),
        pairs=(),
        metrics={"abstention": 1.0},
        abstained=True,
    )


def value(
    name: str, value: float | None, low: float | None = None, high: float | None = None, *, n: int = 3
) -> MetricValue:
    return MetricValue(name=name, value=value, low=low, high=high, n=n)


METRICS = {
    metric.name: metric
    for metric in (
        value("recall@k", 0.91, 0.85, 0.96),
        value("ndcg@k", 0.812, 0.75, 0.87),
        value("faithfulness", 0.82, 0.76, 0.88, n=2),
        value("hallucination", 0.004, 0.0, 0.01, n=2),
        value("claim_recall", 0.6, 0.5, 0.7),
        value("context_precision", None, n=0),
        value("latency_ms", 12.5, 11.0, 14.0),
    )
}


def slice_sample(
    *, retriever: str = "rrf", checker: str = "nli-student", k: int = 10, **changes: object
) -> SliceReport:
    """Returns three cases: one with a claim of each verdict, one refusal, one with an unscored claim."""
    reports = (
        case_report("pcos-1"),
        refusal("pcos-2"),
        case_report("pcos-3", verdicts=(SUPPORTED, UNSCORED)),
    )
    report = SliceReport(
        slice="medquad-nih",
        retriever=retriever,
        checker=checker,
        k=k,
        reports=tuple(report.with_(retriever=retriever, checker=checker, k=k) for report in reports),
        metrics=METRICS,
        macro={"faithfulness": value("faithfulness", 0.8, n=2)},
        gates=(
            GateResult(expression="faithfulness >= 0.80", outcome="pass", value=0.82),
            GateResult(
                expression="hallucination <= 0.001",
                outcome="fail",
                value=0.004,
                message="hallucination is 0.004; wanted at most 0.001",
            ),
            GateResult(
                expression="claim_recall >= 0.5 at 95%",
                outcome="inconclusive",
                value=0.6,
                message="too few cases",
            ),
        ),
    )
    return report.with_(skipped={"id used before": 1, "empty answer": 1200}, **changes)


def large_case(number: int) -> Report:
    """Returns a case with 5 claims and 10 chunks of about 250 words that no other case shares."""
    source = random.Random(number)
    words = (
        "insulin",
        "metformin",
        "levels",
        "women",
        "trial",
        "dose",
        "daily",
        "risk",
        "heart",
        "failure",
        "of",
        "in",
        "with",
        "and",
        "the",
    )
    sentences = [" ".join(source.choices(words, k=18)).capitalize() + "." for _ in range(5)]
    contexts = tuple(
        Chunk(
            id=f"pubmed/{number}-{i}",
            title=f"Title {i}",
            text=" ".join(source.choices(words, k=250)),
            url="https://example.org",
        )
        for i in range(10)
    )
    answer, verdicts = "", []
    for i, sentence in enumerate(sentences):
        claim = Claim(id=f"c{i}", text=sentence, start=len(answer), end=len(answer) + len(sentence))
        label = source.choices(["supported", "refuted", "unsupported"], [8, 1, 1])[0]
        verdicts.append(
            Verdict(claim=claim, label=label, score=source.random(), chunk_id=contexts[i].id, span=(0, 80))
        )
        answer += f"{sentence} [{i + 1}] "
    return Report(
        case=Case(id=f"case-{number:04}", question=" ".join(source.choices(words, k=12)) + "?"),
        response=Response(answer=answer, contexts=contexts),
        verdicts=tuple(verdicts),
    )
