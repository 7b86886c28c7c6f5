"""Traces become responses: every loss of a part is said, and only answers are read as answers."""

import gzip
import json

import pytest
from trace_samples import (
    ANSWER,
    CALL,
    FOUND,
    KIND,
    PASSAGES,
    QUESTION,
    ROOT,
    SHAPES,
    TRACE,
    langfuse,
    langsmith,
    openinference_otlp,
    otlp,
    otlp_span,
)

from pytest_medfaith.datasets.traces.adapting import adapt_traces
from pytest_medfaith.errors import DataError


def adapted(folder, rows, **options):
    """Returns the rows of the responses file that `rows` of spans become, and the lines of the summary."""
    path, out = folder / "spans.jsonl", folder / "responses.jsonl"
    rows = [rows] if isinstance(rows, dict) else rows
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    lines = adapt_traces(path, out, **options).lines()
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()], lines


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_gives_the_same_response(shape, tmp_path):
    (row,), lines = adapted(tmp_path, SHAPES[shape]())
    assert row["trace_id"].removeprefix("0x") == TRACE
    assert (row["case_id"], row["id"]) == (row["trace_id"], row["trace_id"])
    assert (row["question"], row["answer"]) == (QUESTION, ANSWER)
    assert tuple(context["text"] for context in row["contexts"]) == PASSAGES
    assert len({context["id"] for context in row["contexts"]}) == 2
    assert lines == [lines[0]]
    assert ": 1 response of 1 trace in " in lines[0]


def test_the_span_that_answered_is_named(tmp_path):
    spans = {
        shape: adapted(tmp_path, SHAPES[shape]())[0][0]["span_id"].removeprefix("0x") for shape in SHAPES
    }
    assert spans == {
        **dict.fromkeys(("openinference_otlp", "phoenix_columns", "phoenix_nested", "langfuse"), ROOT),
        **dict.fromkeys(("gen_ai_otlp", "gen_ai_numbered", "gen_ai_events", "langfuse_storage"), CALL),
        **dict.fromkeys(("langsmith", "langsmith_tree", "langsmith_page", "langsmith_download"), TRACE),
        **dict.fromkeys(("phoenix_page", "phoenix_program", "langfuse_page"), ROOT),
        **dict.fromkeys(("langfuse_trace", "langfuse_download", "langfuse_session", "langfuse_table"), ""),
    }


@pytest.mark.parametrize("shape", ["phoenix_page", "phoenix_program", "langfuse_download", "langsmith_page"])
def test_a_page_may_be_written_over_many_lines(shape, tmp_path):
    path, out = tmp_path / "page.json", tmp_path / "responses.jsonl"
    path.write_text(json.dumps(SHAPES[shape](), indent=2), encoding="utf-8")
    assert adapt_traces(path, out).written[0].answer == ANSWER


@pytest.mark.parametrize(
    "row",
    [
        {"data": 3},
        {"data": [3]},
        {"runs": [{"id": "a"}]},
        {"id": "a", "input": "q"},
        {"traces": [{"name": "x"}]},
    ],
)
def test_what_a_page_holds_must_be_known(row, tmp_path):
    with pytest.raises(DataError, match="expected"):
        adapted(tmp_path, row)


def test_pages_inside_pages_end(tmp_path):
    row = {"data": []}
    for _ in range(300):
        row = {"data": [row]}
    with pytest.raises(DataError, match="expected a span"):
        adapted(tmp_path, row)


def test_documents_keep_their_ids_and_titles(tmp_path):
    (row,), _ = adapted(tmp_path, SHAPES["openinference_otlp"]())
    assert [context["id"] for context in row["contexts"]] == ["iron-1", "iron-2"]
    (row,), _ = adapted(tmp_path, SHAPES["phoenix_nested"]())
    assert [context["title"] for context in row["contexts"]] == ["Iron", "Iron"]


def turned(trace, rows):
    return [{**row, "traceId": trace} for row in rows]


def test_traces_that_lack_something_are_counted_and_named(tmp_path):
    root, found, call = langfuse()
    rows = [
        *turned("whole", [root, found, call]),
        *turned("bare", [root, call]),
        *turned("empty", [root, {**found, "output": []}]),
        *turned("silent", [{**root, "output": None}, found, {**call, "output": ""}]),
        *turned(
            "failed", [{**root, "level": "ERROR", "output": "Traceback: the model did not answer"}, found]
        ),
        *turned("unasked", [{**root, "input": None}, {**found, "input": None}]),
        *turned(
            "textless",
            [root, {**found, "output": [{"id": "a", "score": 1.0}, {"id": "b", "text": PASSAGES[0]}]}],
        ),
    ]
    written, lines = adapted(tmp_path, rows)
    assert [(row["trace_id"], len(row["contexts"])) for row in written] == [
        ("whole", 2),
        ("bare", 0),
        ("empty", 0),
        ("unasked", 2),
        ("textless", 1),
    ]
    assert lines[0].endswith(": 5 responses of 7 traces in 16 spans")
    assert lines[1:] == [
        "2 traces left out, since no span holds an answer: silent, failed",
        (
            "2 traces without contexts, and failed cases unless the slice says "
            'contexts = "optional": bare, empty'
        ),
        "1 trace without a question: unasked",
        "1 trace with documents that hold no text, which are left out: textless",
    ]


def test_a_file_without_an_answer_is_an_error(tmp_path):
    root, found, _ = langfuse()
    with pytest.raises(
        DataError,
        match=r"spans.jsonl: 2 spans of 1 traces, and none holds an answer; expected the output of a root",
    ):
        adapted(tmp_path, [{**root, "output": None}, found])
    assert not (tmp_path / "responses.jsonl").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"traceId": "a", "type": ', r"spans.jsonl:4: not JSON .*expected one JSON object a line"),
        ("[1, 2]", r"spans.jsonl:4: got a list of 2, expected one JSON object a line"),
        ("7", r"spans.jsonl:4: got 7, expected one JSON object a line"),
        ('{"a": NaN}', r"spans.jsonl:4: not JSON \(NaN is no JSON number\)"),
        (
            '{"question": "Why?"}',
            (
                r"spans.jsonl:4: got an object with 'question', which is no known span; expected OTLP "
                r"\(resourceSpans\)"
            ),
        ),
        (
            '{"resourceSpans": {}}',
            r"spans.jsonl:4: field 'resourceSpans' is an empty object, expected a list of objects",
        ),
        (
            '{"resourceSpans": [{"scopeSpans": [{"spans": [7]}]}]}',
            r"spans.jsonl:4: field 'spans' is a list of 1, expected a list of objects",
        ),
        (
            '{"attributes": {"input.value": "x"}}',
            r"spans.jsonl:4: field 'trace_id' is None, expected the id of the trace",
        ),
        ('{"traceId": {}, "type": "SPAN"}', r"spans.jsonl:4: field 'trace_id' is None"),
        ('{"traceId": true, "type": "SPAN"}', r"spans.jsonl:4: field 'trace_id' is True"),
        (
            '{"run_type": "llm", "trace_id": "a", "child_runs": [3]}',
            r"spans.jsonl:4: got 3, expected a span, an observation or a run",
        ),
    ],
)
def test_a_broken_line_is_an_error_with_its_number(line, message, tmp_path):
    path = tmp_path / "spans.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in langfuse()) + line + "\n")
    with pytest.raises(DataError, match=message):
        adapt_traces(path, tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


def test_bytes_that_are_no_text_and_deep_nesting_are_errors(tmp_path):
    for content in (
        b"\x00\xff\xfe binary",
        b'{"traceId": "a", "type": "SPAN"}\n{"caf\xe9": 1}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
    ):
        (tmp_path / "spans.jsonl").write_bytes(content)
        with pytest.raises(DataError, match=r"spans\.jsonl:"):
            adapt_traces(tmp_path / "spans.jsonl", tmp_path / "out.jsonl")


def test_the_source_is_not_written_over(tmp_path):
    path = tmp_path / "spans.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in langfuse()))
    with pytest.raises(DataError, match="which is the file of traces and would be written over"):
        adapt_traces(path, path)


def test_one_document_and_a_gzipped_one_are_read(tmp_path):
    whole, packed = tmp_path / "spans.json", tmp_path / "spans.jsonl.gz"
    whole.write_text(json.dumps(langsmith(), indent=1))
    packed.write_bytes(gzip.compress("\n".join(map(json.dumps, langsmith())).encode()))
    for path in (whole, packed):
        assert [turn.answer for turn in adapt_traces(path, tmp_path / "out.jsonl").written] == [ANSWER]


def test_what_a_reranker_left_is_what_the_answer_was_given(tmp_path):
    kept = {KIND: "RERANKER", "reranker.output_documents.0.document.content": PASSAGES[1]}
    (row,), _ = adapted(tmp_path, [*openinference_otlp(), otlp(otlp_span("rerank", "r1", ROOT, 4, **kept))])
    assert [context["text"] for context in row["contexts"]] == [PASSAGES[1]]


def test_of_a_retriever_inside_a_retriever_the_outer_counts(tmp_path):
    call, found, root = langsmith()
    inner = {
        **found,
        "id": "inner",
        "parent_run_id": FOUND,
        "outputs": {"documents": [{"page_content": "Copper.", "metadata": {}}]},
    }
    (row,), _ = adapted(tmp_path, [call, inner, found, root])
    assert [context["text"] for context in row["contexts"]] == list(PASSAGES)


def test_contexts_may_stand_beside_the_answer(tmp_path):
    _, _, root = langsmith()
    beside = {"answer": ANSWER, "context": [{"page_content": text, "metadata": {}} for text in PASSAGES]}
    (row,), _ = adapted(tmp_path, [{**root, "outputs": beside}])
    assert (row["answer"], [context["text"] for context in row["contexts"]]) == (ANSWER, list(PASSAGES))


def test_a_tool_an_evaluator_and_an_embedding_answer_nothing(tmp_path):
    root, found, _ = langfuse()
    asides = [
        {**root, "id": kind, "type": kind, "output": "Take 8 g a day."}
        for kind in ("TOOL", "EVALUATOR", "EMBEDDING", "GUARDRAIL", "EVENT")
    ]
    (row,), _ = adapted(tmp_path, [*asides, root, found])
    assert row["answer"] == ANSWER
    with pytest.raises(DataError, match="none holds an answer"):
        adapted(tmp_path, [*asides, found])


def test_of_several_calls_the_last_answers(tmp_path):
    _, found, call = langfuse()
    first = {
        **call,
        "id": "first",
        "startTime": "2",
        "output": {"role": "assistant", "content": "Search for iron."},
    }
    (row,), _ = adapted(tmp_path, [call, first, found])
    assert (row["answer"], row["span_id"]) == (ANSWER, CALL)


def test_a_trace_of_two_turns_gives_two_responses_each_with_its_contexts(tmp_path):
    root, found, _ = langfuse()
    second = [{**root, "id": "r2", "input": "And zinc?", "output": "Zinc shortens colds."}]
    second.append(
        {**found, "id": "f2", "parentObservationId": "r2", "output": ["Zinc was studied in colds."]}
    )
    rows, lines = adapted(tmp_path, [root, found, *second])
    assert [(row["case_id"], row["trace_id"], row["question"]) for row in rows] == [
        (f"{TRACE}/{ROOT}", TRACE, QUESTION),
        (f"{TRACE}/r2", TRACE, "And zinc?"),
    ]
    assert [[context["text"] for context in row["contexts"]] for row in rows] == [
        list(PASSAGES),
        ["Zinc was studied in colds."],
    ]
    assert "2 responses" in lines[0]


def test_spans_that_stand_in_each_other_end(tmp_path):
    root, found, call = langfuse()
    rows, _ = adapted(
        tmp_path, [{**root, "parentObservationId": CALL}, found, {**call, "parentObservationId": ROOT}]
    )
    assert [row["answer"] for row in rows] == [ANSWER]


def test_a_span_that_stands_twice_counts_once_as_it_stood_last(tmp_path):
    root, found, _ = langfuse()
    (row,), _ = adapted(tmp_path, [{**root, "output": "Iron ..."}, found, root, found])
    assert (row["answer"], len(row["contexts"])) == (ANSWER, 2)


def test_one_id_for_several_texts_is_numbered(tmp_path):
    root, found, _ = langfuse()
    (row,), _ = adapted(
        tmp_path,
        [
            root,
            {
                **found,
                "output": [
                    {"id": "leaflet", "text": text, "score": 1.0} for text in (*PASSAGES, PASSAGES[0])
                ],
            },
        ],
    )
    assert [context["id"] for context in row["contexts"]] == ["leaflet", "leaflet#2"]


def test_a_limit_takes_the_first(tmp_path):
    rows, lines = adapted(
        tmp_path, [row for name in ("a", "b", "c") for row in turned(name, langfuse())], limit=2
    )
    assert [row["trace_id"] for row in rows] == ["a", "b"]
    assert "2 responses of 3 traces" in lines[0]
