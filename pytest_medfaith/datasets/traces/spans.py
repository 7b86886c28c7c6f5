"""The spans of traces, whoever wrote them, as records of the same kind.

These are read: OpenTelemetry's OTLP in JSON (`resourceSpans`); spans of the OpenTelemetry SDK and of Phoenix,
nested or as flat columns (`attributes.input.value`); Langfuse's observations and traces; LangSmith's runs;
and the pages, traces and sessions that their programs and web services wrap these in.
Attributes follow OpenInference, the GenAI conventions of OpenTelemetry (also as older versions and
OpenLLMetry write them), or Langfuse's names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_medfaith.datasets.traces.values import at, documents_in, listed, looks_retrieved, parsed
from pytest_medfaith.errors import DataError, shown

RETRIEVING, RERANKING, ANSWERING, ASIDE, AROUND = "retriever", "reranker", "llm", "aside", "around"
# What tools call a step -> its kind here. A step of any further name is around other steps, such as a chain,
# an agent or a workflow.
KINDS: Mapping[str, str] = {
    **dict.fromkeys(("retriever", "retrieval"), RETRIEVING),
    **dict.fromkeys(("reranker", "rerank"), RERANKING),
    **dict.fromkeys(
        ("llm", "generation", "chat", "text_completion", "generate_content", "completion"), ANSWERING
    ),
    **dict.fromkeys(
        (
            "embedding",
            "embeddings",
            "tool",
            "execute_tool",
            "evaluator",
            "guardrail",
            "prompt",
            "parser",
            "event",
        ),
        ASIDE,
    ),
}
_INPUTS = (
    "input.value",
    "langfuse.observation.input",
    "langfuse.trace.input",
    "traceloop.entity.input",
    "gen_ai.retrieval.query.text",
)
_OUTPUTS = ("output.value", "langfuse.observation.output", "langfuse.trace.output", "traceloop.entity.output")
_ASKED = ("gen_ai.input.messages", "llm.input_messages", "gen_ai.prompt")
_SAID = ("gen_ai.output.messages", "llm.output_messages", "gen_ai.completion")
_DOCUMENTS = ("retrieval.documents", "gen_ai.retrieval.documents", "reranker.output_documents")
_KIND_NAMES = (
    "openinference.span.kind",
    "langfuse.observation.type",
    "traceloop.span.kind",
    "gen_ai.operation.name",
    "llm.request.type",
)
_MODELS = ("llm.model_name", "gen_ai.response.model", "gen_ai.request.model")
_PARENTS = (
    "parent_id",
    "parentSpanId",
    "parent_span_id",
    "parentObservationId",
    "parent_observation_id",
    "parent_run_id",
)
_STARTS = ("startTime", "start_time", "startTimeUnixNano", "start_time_unix_nano")
_DEEPEST = 100  # runs inside runs
# What a page of a web service, a session or a download holds its spans, observations, traces or runs under.
_PAGES = ("data", "runs", "traces")


@dataclass(frozen=True, kw_only=True)
class Span:
    """A step of a trace.

    `inputs` and `outputs` are the values that may hold the question and the answer, the likeliest first.
    """

    trace: str
    id: str
    parent: str
    kind: str
    start: str
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    documents: tuple[Any, ...]
    model: str = ""
    failed: bool = False


def spans_of(row: Any, *, depth: int = 0) -> Iterator[Span]:
    """Yields the spans that a value of an export holds.

    Args:
        row: the value: a batch of OTLP, a span, an observation, a trace of observations, or a run.
        depth: how many runs are around it.

    Raises:
        DataError: no known shape, or a span without a trace id; the message says what was expected.
    """
    if not isinstance(row, Mapping) or depth > _DEEPEST:
        raise DataError(f"got {shown(row)}, expected a span, an observation or a run as an object")
    batches = row.get("resourceSpans", row.get("resource_spans"))
    if batches is not None:
        yield from _otlp(batches)
    elif isinstance(row.get("spans"), list):
        given = {"traceId": trace} if (trace := _trace_of(row)) else {}
        yield from _each(row["spans"], given, depth)
    elif "run_type" in row:
        yield from _langsmith(row, depth)
    elif isinstance(row.get("observations"), list) or isinstance(row.get("trace"), Mapping):
        yield from _langfuse_trace(row)
    elif "type" in row and ("traceId" in row or "trace_id" in row) and "attributes" not in row:
        yield _langfuse(row)
    elif _trace_of(row) or "attributes" in row or any(key.startswith("attributes.") for key in row):
        yield _otel(row)
    elif (
        held := next((row[key] for key in _PAGES if isinstance(row.get(key), (list, Mapping))), None)
    ) is not None:
        yield from _each(held if isinstance(held, list) else [held], {}, depth)
    elif "id" in row and "timestamp" in row and ("input" in row or "output" in row):
        yield from _langfuse_trace(row)
    else:
        raise DataError(
            f"got {shown(row)}, which is no known span; expected OTLP (resourceSpans), spans with trace_id "
            "and attributes (Phoenix), observations with traceId and type (Langfuse), or runs with trace_id "
            "and run_type (LangSmith)"
        )


def _each(rows: list[Any], given: Mapping[str, Any], depth: int) -> Iterator[Span]:
    """Yields the spans of all `rows`; an object has what is `given` around it, unless it says otherwise."""
    for row in rows:
        yield from spans_of({**given, **row} if isinstance(row, Mapping) else row, depth=depth + 1)


def _otlp(batches: Any) -> Iterator[Span]:
    for batch in _objects(batches, "resourceSpans"):
        names = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
        scopes: Any = next((batch[name] for name in names if name in batch), [])
        for scope in _objects(scopes, "scopeSpans"):
            for span in _objects(scope.get("spans", []), "spans"):
                yield _otel(span)


def _objects(value: Any, name: str) -> list[Mapping[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        raise DataError(f"field {name!r} is {shown(value)}, expected a list of objects")
    return value


def _otel(row: Mapping[str, Any]) -> Span:
    """Returns a span of OpenTelemetry; its attributes are an object, OTLP's list of keys, or columns."""
    columns = {
        key.removeprefix("attributes."): value for key, value in row.items() if key.startswith("attributes.")
    }
    attributes = {**_attributes(row.get("attributes")), **columns}
    for event in parsed(row.get("events")) or ():
        if isinstance(event, Mapping):
            attributes |= {key: value for key, value in _event(event).items() if key not in attributes}
    named = next((found for name in _KIND_NAMES if (found := at(attributes, name))), row.get("span_kind", ""))
    documents = next((found for name in _DOCUMENTS if (found := listed(attributes, name))), [])
    status = at(row, "status.code") or at(row, "status.status_code") or row.get("status_code")
    return _span(
        row,
        kind=str(named).lower(),
        inputs=[
            *(at(attributes, name) for name in _INPUTS),
            *(listed(attributes, name) or at(attributes, name) for name in _ASKED),
        ],
        outputs=[
            *(listed(attributes, name) or at(attributes, name) for name in _SAID),
            *(at(attributes, name) for name in _OUTPUTS),
        ],
        documents=documents,
        model=next((str(found) for name in _MODELS if (found := at(attributes, name))), ""),
        failed=str(status).upper() in ("2", "ERROR", "STATUS_CODE_ERROR"),
    )


def _attributes(value: Any) -> dict[str, Any]:
    """Returns the attributes of a span by name; OTLP's typed values become plain values."""
    value = parsed(value)
    if isinstance(value, list):
        items = [item for item in value if isinstance(item, Mapping)]
        return {str(item.get("key")): _typed(item.get("value")) for item in items}
    return dict(value) if isinstance(value, Mapping) else {}


def _typed(value: Any) -> Any:
    """Returns the plain value of OTLP's {"stringValue": ...}, {"arrayValue": ...} or {"kvlistValue": ...}."""
    if not isinstance(value, Mapping):
        return value
    for name, found in value.items():
        short = name.replace("_", "").lower()
        if short == "arrayvalue":
            if not isinstance(found, Mapping):
                return found
            return [_typed(item) for item in (found.get("values") or ())]
        if short == "kvlistvalue":
            return _attributes(found.get("values")) if isinstance(found, Mapping) else found
        if short.endswith("value"):
            return found
    return None


def _event(event: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the messages of an event under names of attributes; earlier GenAI conventions wrote events."""
    found, name = _attributes(event.get("attributes")), event.get("name")
    if name == "gen_ai.choice":
        message = parsed(found.get("message")) or found.get("content")
        fields = message if isinstance(message, Mapping) else {"content": message}
        return {"gen_ai.completion": [{"role": "assistant", **fields}]}
    if name == "gen_ai.user.message":
        return {"gen_ai.prompt": [{"role": "user", "content": found.get("content")}]}
    return {key: value for key, value in found.items() if key in (*_ASKED, *_SAID)}


def _langfuse(row: Mapping[str, Any]) -> Span:
    return _span(
        row,
        kind=str(row.get("type", "")).lower(),
        inputs=[row.get("input")],
        outputs=[row.get("output")],
        model=str(row.get("model") or row.get("providedModelName") or row.get("provided_model_name") or ""),
        failed=str(row.get("level", "")).upper() == "ERROR",
    )


def _langfuse_trace(row: Mapping[str, Any]) -> Iterator[Span]:
    """Yields a trace of Langfuse as a span around its observations, and those that it holds as objects."""
    trace = row["trace"] if isinstance(row.get("trace"), Mapping) else row
    name = _named(trace.get("id"), "id")
    yield _span(
        {"traceId": name, "id": "", "startTime": trace.get("timestamp")},
        kind="",
        inputs=[trace.get("input")],
        outputs=[trace.get("output")],
    )
    for observation in row.get("observations") or ():
        if isinstance(observation, Mapping):
            yield _langfuse({"traceId": name, **observation})


def _langsmith(row: Mapping[str, Any], depth: int) -> Iterator[Span]:
    yield _span(
        {
            **row,
            "startTime": row.get("dotted_order") or row.get("start_time"),
            "id": row.get("id", row.get("run_id")),
            "parent_run_id": row.get("parent_run_id") or _parent_in_order(row.get("dotted_order")),
        },
        kind=str(row["run_type"]).lower(),
        inputs=[row.get("inputs")],
        outputs=[row.get("outputs")],
        failed=bool(row.get("error")) or row.get("status") == "error",
    )
    given = {"trace_id": _trace_of(row), "parent_run_id": row.get("id")}
    yield from _each(row.get("child_runs") or [], given, depth)


def _parent_in_order(order: Any) -> str:
    """Returns the id of a run's parent in its `dotted_order`, TIME"Z"ID.TIME"Z"ID; "" for a root."""
    _, _, above = str(order or "").rpartition(".")[0].rpartition("Z")
    return above


def _span(
    row: Mapping[str, Any],
    *,
    kind: str,
    inputs: list[Any],
    outputs: list[Any],
    documents: list[Any] | None = None,
    model: str = "",
    failed: bool = False,
) -> Span:
    known = KINDS.get(kind, AROUND)
    told = tuple(value for value in outputs if value not in (None, "", [], {}))
    if known == AROUND and not documents and told and looks_retrieved(told[0]):
        known = RETRIEVING  # a plain span that gave back documents; some integrations know no retrievers
    if known in (RETRIEVING, RERANKING) and not documents and told:
        documents = documents_in(told[0])
    name = row.get("span_id") or row.get("spanId") or at(row, "context.span_id") or row.get("id")
    start = next((row[key] for key in _STARTS if row.get(key)), "")
    return Span(
        trace=_named(_trace_of(row), "trace_id"),
        id=str(name or ""),
        parent=str(next((row[key] for key in _PARENTS if row.get(key)), "")),
        kind=known,
        start=f"{int(start):030d}" if str(start).isdecimal() else str(start),
        inputs=tuple(value for value in inputs if value not in (None, "", [], {})),
        outputs=told,
        documents=tuple(documents or ()),
        model=model,
        failed=failed,
    )


def _trace_of(row: Mapping[str, Any]) -> Any:
    found = row.get("trace_id") or row.get("traceId") or at(row, "context.trace_id")
    return found or (row.get("id") if "run_type" in row and not row.get("parent_run_id") else None)


def _named(value: Any, field: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
        raise DataError(f"field {field!r} is {shown(value)}, expected the id of the trace")
    return str(value)
