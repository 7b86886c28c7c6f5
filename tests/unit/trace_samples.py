"""A trace of a small RAG as tools export it: a root, a retriever with two passages, and a call of a model."""

from __future__ import annotations

import json
from typing import Any

QUESTION = "What treats iron deficiency?"
ANSWER = "Iron tablets treat iron deficiency."
PASSAGES = (
    "Iron tablets treat iron deficiency. They are taken on an empty stomach.",
    "Vitamin C helps the body take up iron.",
)
PROMPT = [
    {"role": "system", "content": "Answer from the passages."},
    {"role": "user", "content": f"{' '.join(PASSAGES)}\n\n{QUESTION}"},
]
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
ROOT, FOUND, CALL = "00f067aa0ba902b7", "11f067aa0ba902b7", "22f067aa0ba902b7"


def documents(**beside: Any) -> dict[str, Any]:
    """Returns the passages as attributes of OpenInference, numbered."""
    rows = {f"retrieval.documents.{i}.document.content": text for i, text in enumerate(PASSAGES)}
    return {**rows, **{f"retrieval.documents.{i}.document.id": f"iron-{i + 1}" for i in range(2)}, **beside}


def otlp_value(value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        return {"arrayValue": {"values": [otlp_value(item) for item in value]}}
    if isinstance(value, dict):
        return {
            "kvlistValue": {
                "values": [{"key": key, "value": otlp_value(item)} for key, item in value.items()]
            }
        }
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}


def otlp_span(name: str, span: str, parent: str, start: int, **attributes: Any) -> dict[str, Any]:
    listed = [{"key": key, "value": otlp_value(value)} for key, value in attributes.items()]
    ids = {"traceId": TRACE, "spanId": span, "parentSpanId": parent}
    return {
        **ids,
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(start),
        "attributes": listed,
        "status": {},
    }


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    return {
        "resourceSpans": [
            {"resource": {"attributes": []}, "scopeSpans": [{"scope": {"name": "rag"}, "spans": list(spans)}]}
        ]
    }


KIND = "openinference.span.kind"


def openinference_otlp() -> list[dict[str, Any]]:
    root = otlp_span("query", ROOT, "", 1, **{KIND: "CHAIN", "input.value": QUESTION, "output.value": ANSWER})
    found = otlp_span(
        "retrieve", FOUND, ROOT, 2, **{KIND: "RETRIEVER", "input.value": QUESTION, **documents()}
    )
    said = {
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "not this",
    }
    return [otlp(found), otlp(root, otlp_span("llm", CALL, ROOT, 3, **{KIND: "LLM", **said}))]


def gen_ai_otlp() -> list[dict[str, Any]]:
    asked = json.dumps([{"role": "user", "parts": [{"type": "text", "content": QUESTION}]}])
    said = json.dumps(
        [
            {
                "role": "assistant",
                "parts": [{"type": "reasoning", "content": "Hm."}, {"type": "text", "content": ANSWER}],
            }
        ]
    )
    rows = json.dumps(
        [{"id": f"iron-{i}", "score": 0.9, "content": text} for i, text in enumerate(PASSAGES, start=1)]
    )
    http = otlp_span("POST /ask", ROOT, "", 1, **{"http.request.method": "POST"})
    found = otlp_span(
        "retrieval",
        FOUND,
        ROOT,
        2,
        **{"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": rows},
    )
    call = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m-1",
        "gen_ai.input.messages": asked,
        "gen_ai.output.messages": said,
    }
    return [otlp(http, found, otlp_span("chat", CALL, ROOT, 3, **call))]


def gen_ai_numbered() -> list[dict[str, Any]]:
    call = {"llm.request.type": "chat", "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": QUESTION}
    said = {"gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": ANSWER}
    found = {
        "traceloop.span.kind": "task",
        "traceloop.entity.output": json.dumps([{"page_content": text, "metadata": {}} for text in PASSAGES]),
    }
    return [otlp(otlp_span("find", FOUND, "", 2, **found), otlp_span("chat", CALL, "", 3, **call, **said))]


def gen_ai_events() -> list[dict[str, Any]]:
    """The span of the SDK's console exporter, with the events of earlier conventions."""
    events = [
        {"name": "gen_ai.user.message", "attributes": {"content": QUESTION}},
        {
            "name": "gen_ai.choice",
            "attributes": {"index": 0, "message": json.dumps({"role": "assistant", "content": ANSWER})},
        },
    ]
    ids = {"trace_id": f"0x{TRACE}", "span_id": f"0x{CALL}"}
    call = {
        "name": "chat",
        "context": ids,
        "parent_id": None,
        "start_time": "2",
        "attributes": {"gen_ai.operation.name": "chat"},
        "events": events,
    }
    found = {
        "name": "find",
        "context": {**ids, "span_id": f"0x{FOUND}"},
        "parent_id": None,
        "start_time": "1",
    }
    return [{**found, "attributes": {KIND: "RETRIEVER", **documents()}, "events": []}, call]


def phoenix_columns() -> list[dict[str, Any]]:
    """Rows of Phoenix's table of spans, as pandas writes them."""
    rows = [
        {"document.content": text, "document.id": f"iron-{i}", "document.score": 0.9}
        for i, text in enumerate(PASSAGES, start=1)
    ]
    names = {"context.trace_id": TRACE, "status_code": "OK", "events": []}
    root = {
        "context.span_id": ROOT,
        "parent_id": None,
        "span_kind": "CHAIN",
        "start_time": "2026-01-01T00:00:01",
    }
    found = {
        "context.span_id": FOUND,
        "parent_id": ROOT,
        "span_kind": "RETRIEVER",
        "start_time": "2026-01-01T00:00:02",
    }
    said = {
        "attributes.output.value": json.dumps({"answer": ANSWER}),
        "attributes.input.value": json.dumps({"question": QUESTION}),
    }
    return [
        {**names, **root, **said, "attributes.retrieval.documents": None},
        {**names, **found, "attributes.retrieval.documents": rows, "attributes.input.value": QUESTION},
    ]


def phoenix_nested() -> list[dict[str, Any]]:
    rows = [{"document": {"content": text, "metadata": json.dumps({"title": "Iron"})}} for text in PASSAGES]
    names = {"context": {"trace_id": TRACE, "span_id": ROOT}, "parent_id": None, "start_time": "1"}
    root = {
        KIND: "AGENT",
        "input": {"value": QUESTION},
        "output": {"value": ANSWER, "mime_type": "text/plain"},
    }
    inner = {"openinference": {"span": {"kind": "RETRIEVER"}}, "retrieval": {"documents": rows}}
    return [
        {**names, "attributes": root},
        {
            "context": {"trace_id": TRACE, "span_id": FOUND},
            "parent_id": ROOT,
            "start_time": "2",
            "attributes": inner,
        },
    ]


def langfuse() -> list[dict[str, Any]]:
    row = {"traceId": TRACE, "level": "DEFAULT"}
    return [
        {
            **row,
            "id": ROOT,
            "type": "SPAN",
            "parentObservationId": None,
            "startTime": "1",
            "input": {"args": [QUESTION], "kwargs": {}},
            "output": ANSWER,
        },
        {
            **row,
            "id": FOUND,
            "type": "RETRIEVER",
            "parentObservationId": ROOT,
            "startTime": "2",
            "input": QUESTION,
            "output": list(PASSAGES),
        },
        {
            **row,
            "id": CALL,
            "type": "GENERATION",
            "parentObservationId": ROOT,
            "startTime": "3",
            "model": "m-1",
            "input": PROMPT,
            "output": {"role": "assistant", "content": ANSWER},
        },
    ]


def langfuse_storage() -> list[dict[str, Any]]:
    """Rows as the export to storage writes them: names with underscores, inputs and outputs as texts."""
    found = [
        {"page_content": text, "metadata": {"id": i}, "type": "Document"} for i, text in enumerate(PASSAGES)
    ]
    row = {"trace_id": TRACE, "level": "DEFAULT"}
    return [
        {
            **row,
            "id": CALL,
            "type": "GENERATION",
            "parent_observation_id": None,
            "start_time": "2026-01-01 00:00:03.000000",
            "input": json.dumps([{"role": "user", "content": QUESTION}]),
            "output": ANSWER,
        },
        {
            **row,
            "id": FOUND,
            "type": "SPAN",
            "parent_observation_id": None,
            "start_time": "2026-01-01 00:00:02.000000",
            "input": QUESTION,
            "output": json.dumps(found),
        },
    ]


def langfuse_trace() -> list[dict[str, Any]]:
    rows = langfuse()[1:]
    return [
        {"trace": {"id": TRACE, "input": QUESTION, "output": ANSWER, "timestamp": "0"}, "observations": rows}
    ]


def langsmith() -> list[dict[str, Any]]:
    found = [{"page_content": text, "metadata": {"title": "Iron"}, "type": "Document"} for text in PASSAGES]
    call = {
        "generations": [
            [
                {
                    "text": ANSWER,
                    "type": "ChatGeneration",
                    "message": {"lc": 1, "id": ["x", "AIMessage"], "kwargs": {"content": ANSWER}},
                }
            ]
        ]
    }
    prompt = {
        "messages": [[{"lc": 1, "id": ["x", "HumanMessage"], "kwargs": {"content": " ".join(PASSAGES)}}]]
    }
    return [
        {
            "id": CALL,
            "trace_id": TRACE,
            "parent_run_id": TRACE,
            "run_type": "llm",
            "dotted_order": "1.3",
            "inputs": prompt,
            "outputs": call,
        },
        {
            "id": FOUND,
            "trace_id": TRACE,
            "parent_run_id": TRACE,
            "run_type": "retriever",
            "dotted_order": "1.2",
            "inputs": {"query": QUESTION},
            "outputs": {"documents": found},
        },
        {
            "id": TRACE,
            "trace_id": TRACE,
            "parent_run_id": None,
            "run_type": "chain",
            "dotted_order": "1",
            "inputs": {"question": QUESTION},
            "outputs": {"output": ANSWER},
        },
    ]


def langsmith_tree() -> list[dict[str, Any]]:
    call, found, root = langsmith()
    ids = ("trace_id", "parent_run_id")
    children = [{key: value for key, value in run.items() if key not in ids} for run in (call, found)]
    return [{**{key: value for key, value in root.items() if key != "trace_id"}, "child_runs": children}]


# What programs and web services of the three tools wrap their spans in, with the fields that they leave
# empty.


def phoenix_page() -> dict[str, Any]:
    """A page of Phoenix's web service: attributes are flat, lists are numbered keys."""
    row = {"status_code": "OK", "status_message": "", "events": [], "end_time": "2026-01-01T00:00:09+00:00"}
    root = {
        "id": "U3Bhbjox",
        "name": "query",
        "context": {"trace_id": TRACE, "span_id": ROOT},
        "span_kind": "CHAIN",
        "parent_id": None,
        "start_time": "2026-01-01T00:00:01+00:00",
        "attributes": {
            "input.value": QUESTION,
            "input.mime_type": "text/plain",
            "output.value": ANSWER,
            KIND: "CHAIN",
        },
    }
    found = {
        "id": "U3Bhbjoy",
        "name": "retrieve",
        "context": {"trace_id": TRACE, "span_id": FOUND},
        "span_kind": "RETRIEVER",
        "parent_id": ROOT,
        "start_time": "2026-01-01T00:00:02+00:00",
        "attributes": {"input.value": QUESTION, KIND: "RETRIEVER", **documents()},
    }
    return {"data": [{**row, **root}, {**row, **found}], "next_cursor": None}


def phoenix_program() -> list[dict[str, Any]]:
    """What Phoenix's program for the command line prints: traces with their spans."""
    return [
        {
            "traceId": TRACE,
            "status": "OK",
            "duration": 1250,
            "startTime": "2026-01-01T00:00:01Z",
            "spans": phoenix_page()["data"],
        }
    ]


def langfuse_page() -> dict[str, Any]:
    """A page of Langfuse's web service: inputs and outputs are JSON in texts, much is null."""
    empty = dict.fromkeys(
        (
            "completionStartTime",
            "modelParameters",
            "version",
            "statusMessage",
            "promptId",
            "modelId",
            "inputPrice",
            "totalPrice",
        )
    )
    row = {
        **empty,
        "traceId": TRACE,
        "projectId": "p1",
        "environment": "production",
        "level": "DEFAULT",
        "metadata": {},
        "usageDetails": {},
        "costDetails": {},
        "tags": [],
    }
    found = [
        {"page_content": text, "metadata": {"title": "Iron"}, "type": "Document", "id": None}
        for text in PASSAGES
    ]
    return {
        "data": [
            {
                **row,
                "id": CALL,
                "type": "GENERATION",
                "name": "ChatModel",
                "parentObservationId": ROOT,
                "startTime": "2026-01-01T00:00:03.000Z",
                "providedModelName": "m-1",
                "input": json.dumps({"messages": PROMPT}),
                "output": json.dumps({"role": "assistant", "content": ANSWER}),
            },
            {
                **row,
                "id": FOUND,
                "type": "RETRIEVER",
                "name": "VectorStoreRetriever",
                "parentObservationId": ROOT,
                "startTime": "2026-01-01T00:00:02.000Z",
                "input": json.dumps(QUESTION),
                "output": json.dumps(found),
            },
            {
                **row,
                "id": ROOT,
                "type": "CHAIN",
                "name": "rag",
                "parentObservationId": None,
                "startTime": "2026-01-01T00:00:01.000Z",
                "input": json.dumps({"question": QUESTION}),
                "output": json.dumps({"answer": ANSWER}),
            },
        ],
        "meta": {"page": 1, "limit": 50, "totalItems": 3, "totalPages": 1},
    }


def langfuse_download() -> dict[str, Any]:
    """A trace as Langfuse's page lets it be downloaded, with its scores."""
    trace = {
        "id": TRACE,
        "name": "rag",
        "timestamp": "2026-01-01T00:00:01.000Z",
        "input": QUESTION,
        "output": ANSWER,
        "sessionId": None,
        "release": None,
        "userId": None,
        "metadata": None,
        "tags": [],
        "public": False,
        "scores": [],
        "latency": 2.1,
    }
    return {**trace, "observations": langfuse_page()["data"]}


def langfuse_session() -> dict[str, Any]:
    return {
        "id": "session-1",
        "createdAt": "2026-01-01T00:00:00.000Z",
        "projectId": "p1",
        "traces": [langfuse_download()],
    }


def langfuse_table() -> list[dict[str, Any]]:
    """Rows of Langfuse's table of traces; the output holds the contexts, since no row holds observations."""
    said = json.dumps(
        {"answer": ANSWER, "context": [{"page_content": text, "metadata": {}} for text in PASSAGES]}
    )
    return [
        {
            "id": TRACE,
            "name": "rag",
            "timestamp": "2026-01-01 00:00:01.000000",
            "project_id": "p1",
            "user_id": None,
            "tags": [],
            "input": QUESTION,
            "output": said,
        }
    ]


def langsmith_page() -> dict[str, Any]:
    """Runs as LangSmith's web service sends them: the parent is in the order alone, much is null."""
    empty = dict.fromkeys(
        (
            "serialized",
            "child_runs",
            "child_run_ids",
            "reference_example_id",
            "total_cost",
            "first_token_time",
            "manifest_id",
        )
    )
    order = [
        f"20260101T00000{number}000000Z{name}" for number, name in enumerate((TRACE, FOUND, CALL), start=1)
    ]
    runs = [
        {
            **empty,
            "error": None,
            "status": "success",
            "session_id": "s",
            "parent_run_ids": [TRACE] * (run["id"] != TRACE),
            **{key: value for key, value in run.items() if key != "parent_run_id"},
            "dotted_order": order[0]
            if run["id"] == TRACE
            else f"{order[0]}.{order[1 + (run['id'] == CALL)]}",
        }
        for run in langsmith()
    ]
    return {"runs": runs, "cursors": {"next": None}}


def langsmith_download() -> dict[str, Any]:
    """What scripts over LangSmith's client write: traces with their runs inside, and facts of the export."""
    return {"export_metadata": {"total_traces": 1}, "traces": langsmith_tree()}


SHAPES = {
    shape.__name__: shape
    for shape in (
        openinference_otlp,
        gen_ai_otlp,
        gen_ai_numbered,
        gen_ai_events,
        phoenix_columns,
        phoenix_nested,
        langfuse,
        langfuse_storage,
        langfuse_trace,
        langsmith,
        langsmith_tree,
        phoenix_page,
        phoenix_program,
        langfuse_page,
        langfuse_download,
        langfuse_session,
        langfuse_table,
        langsmith_page,
        langsmith_download,
    )
}
