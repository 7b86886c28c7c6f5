"""The fields of requests and responses, by which FastAPI checks requests and writes openapi.json."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Text = Annotated[str, Field(min_length=1)]


class Passage(BaseModel):
    """A passage that an answer was based on; only its text is needed."""

    model_config = ConfigDict(extra="forbid")

    text: Text
    id: str = ""
    title: str = ""
    source: str = ""
    url: str = ""


class CheckRequest(BaseModel):
    """An answer, and the passages that it was based on."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "question": "How is letrozole started?",
                    "answer": "Letrozole is started at 25 mg once a day.",
                    "contexts": ["Letrozole: 2.5 mg once daily."],
                }
            ]
        },
    )

    answer: Text
    contexts: list[Text | Passage] | None = Field(
        default=None,
        description="The passages. Without them the retriever of the served slice finds some for the "
        "question.",
    )
    question: str = ""


class CheckResponse(BaseModel):
    """A checked answer.

    `report` is the case as in report.json. `verdicts` hold each claim's evidence and the words that
    contradict it. `contexts_from` says where the contexts are from, `latency_ms` how long it took, waiting
    included.
    """

    checker: str
    signature: str
    contexts_from: str
    contexts: list[dict[str, Any]]
    report: dict[str, Any]
    verdicts: list[dict[str, Any]]
    latency_ms: float


class PredictRequest(BaseModel):
    """A question and an answer; without an answer, the reference RAG answers from the slice's corpus."""

    model_config = ConfigDict(extra="forbid")

    question: Text
    answer: str = ""
    contexts: list[Text | Passage] | None = None


class PredictResponse(BaseModel):
    """The risk of an answer, in the fields of MedCAFAS; a part of the risk that was not measured is null."""

    question: str
    answer: str
    risk_flag: Literal["LOW", "CAUTION", "HIGH"]
    risk_score: float
    confidence: float
    explanation: str
    breakdown: dict[str, Any]
    citations: list[dict[str, Any]]
    claim_breakdown: list[dict[str, Any]]
    temporal_flags: list[dict[str, Any]]
    latency_ms: float


class Problem(BaseModel):
    """Why there is no result.

    `id` names a fault of the server in its log, and is null for any other error.
    """

    error: str
    id: str | None = None


class Health(BaseModel):
    """What the server judges with, and how many requests are judged or wait (`line`)."""

    status: Literal["ok"] = "ok"
    version: str
    checker: str
    signature: str
    slice: str
    line: int
