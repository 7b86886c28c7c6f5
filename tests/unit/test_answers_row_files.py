"""Cases and responses from CSV, Parquet, JSON and tables, with keys of this project, ragas and deepeval."""

import csv
import json
import sys
from types import SimpleNamespace as Thing

import pytest

from pytest_medfaith.answers.responses import read_responses
from pytest_medfaith.answers.row_files import read_row_file
from pytest_medfaith.datasets.registry import read_cases
from pytest_medfaith.errors import DataError, MissingExtra
from pytest_medfaith.records import Chunk

IRON = "Iron tablets treat iron deficiency."
QUESTION = "What treats iron deficiency?"
ID = "what-treats-iron-deficiency-a5f4de"
RAGAS = {
    "user_input": QUESTION,
    "response": IRON,
    "retrieved_contexts": [IRON],
    "reference": "Iron.",
    "reference_contexts": ["x"],
}
DEEPEVAL = {
    "input": QUESTION,
    "actual_output": IRON,
    "expected_output": "Iron.",
    "retrieval_context": [IRON],
    "context": ["what it should have read"],
    "comments": None,
    "source_file": None,
}


class Frame:
    """A pandas DataFrame, as far as rows go."""

    columns = ("question",)

    def __init__(self, rows):
        self._rows = rows

    def to_dict(self, orient):
        assert orient == "records"
        return self._rows


def jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def case_of(source):
    (case,) = read_cases(str(source))
    return case


def response_of(source, chunks=()):
    ((case_id, response),) = read_responses(source, chunks).items()
    return case_id, response.answer, [chunk.text for chunk in response.contexts]


def write_csv(path, rows, **layout):
    """Writes rows as the csv module does, lists by Python's str: this is what ragas' to_csv does."""
    with path.open("w", newline="", encoding=layout.pop("encoding", "utf-8")) as out:
        writer = csv.DictWriter(out, fieldnames=list(rows[0]), **layout)
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.mark.parametrize("row", [RAGAS, DEEPEVAL], ids=["ragas", "deepeval"])
@pytest.mark.parametrize("kind", ["jsonl", "json", "json-goldens", "csv"])
def test_files_of_other_tools_are_cases_and_responses(tmp_path, row, kind):
    path = tmp_path / f"rows.{kind.partition('-')[0]}"
    if kind == "jsonl":
        jsonl(path, [row])
    elif kind == "csv":
        write_csv(path, [row])
    else:
        path.write_text(json.dumps([row] if kind == "json" else {"goldens": [row]}))
    case = case_of(path)
    assert (case.question, case.reference_answer) == (QUESTION, "Iron.")
    assert (
        not {"answer", "contexts", "response", "actual_output", "retrieved_contexts"} & case.to_dict().keys()
    )
    assert response_of(path) == (case.id, IRON, [IRON])
    assert case.id.startswith("what-treats-iron-deficiency-")


def test_an_id_is_made_of_the_question_and_the_same_in_both_files(tmp_path):
    cases = write_csv(
        tmp_path / "cases.csv", [{"question": QUESTION}, {"question": QUESTION.replace("iron", "zinc")}]
    )
    responses = write_csv(
        tmp_path / "responses.csv", [{"question": f" {QUESTION}\n", "answer": IRON, "contexts": [IRON]}]
    )
    first, second = read_cases(str(cases))
    assert first.id != second.id
    assert list(read_responses(responses, [])) == [first.id]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_as_spreadsheets_write_it(tmp_path, encoding, delimiter):
    rows = [
        {
            "case_id": "a",
            "answer": "Naïve; 5 µg, daily.\nTwice.",
            "contexts": json.dumps([IRON, {"id": "c", "text": "µg"}]),
        }
    ]
    path = write_csv(tmp_path / "r.csv", rows, encoding=encoding, delimiter=delimiter)
    assert response_of(path) == ("a", "Naïve; 5 µg, daily.\nTwice.", [IRON, "µg"])


def test_cells_hold_what_they_hold(tmp_path):
    path = write_csv(
        tmp_path / "r.csv",
        [
            {
                "case_id": "a",
                "answer": "[1] Iron.",
                "contexts": '["iron-1", "other"]',
                "latency_ms": "12.5",
                "model": "",
                "note": "[x",
            }
        ],
    )
    response = read_responses(path, [Chunk(id="iron-1", text=IRON)])["a"]
    assert (response.answer, response.latency_ms, response.model, response.extra) == (
        "[1] Iron.",
        12.5,
        "",
        {"note": "[x"},
    )
    assert [(chunk.id, chunk.text) for chunk in response.contexts] == [
        ("iron-1", IRON),
        ("context-2", "other"),
    ]


def test_gold_claims_of_a_table_may_be_texts(tmp_path):
    path = write_csv(
        tmp_path / "c.csv", [{"id": "a", "question": QUESTION, "gold_claims": json.dumps([IRON])}]
    )
    (claim,) = case_of(path).gold_claims
    assert (claim.id, claim.text, claim.key) == ("g1", IRON, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            b"case_id,answer,contexts\na,Iron,Iron tablets\n",
            r"r\.csv:2: column 'contexts' is 'Iron tablets', expected a JSON list",
        ),
        (
            b"case_id,answer,contexts\na,Iron,\"['a'\"\n",
            r"r\.csv:2: column 'contexts' is .* expected a JSON list",
        ),
        (b"case_id,answer,contexts\na,Iron,\"['']\"\n", r"r\.csv:2: context 'context-1' has no text"),
        (
            b"case_id,answer,conetxts\na,Iron,\"['b']\"\n",
            r"r\.csv:2: key 'conetxts' is unknown; did you mean 'contexts'",
        ),
        (
            b"case_id,answer,latency_ms\na,Iron,fast\n",
            r"r\.csv:2: column 'latency_ms' is 'fast', expected a number",
        ),
        (b"case_id,answer\na,Iron,tablets\n", r"r\.csv:2: the row has 3 cells, expected 2"),
        (b"case_id,answer\na\n", r"r\.csv:2: the row has 1 cells, expected 2"),
        (
            b"case_id,answer,answer\na,b,c\n",
            r"r\.csv:1: the heading has 'case_id', 'answer', 'answer'; expected a name for each",
        ),
        (b"", r"r\.csv:1: the heading has nothing"),
        (b'case_id,answer\na,"Iron\n', r"r\.csv:2: not CSV \(unexpected end of data\)"),
        (
            b"case_id,answer\na,Na\xefve\n",
            r"r\.csv:2: byte b'\\xef' is not UTF-8; save the file as UTF-8 \(in Excel: CSV UTF-8\)",
        ),
        (b"answer\nIron\n", r"r\.csv:2: the row has no question, and no id"),
        (b"case_id,contexts\na,\"['b']\"\n", r"r\.csv:2: field 'answer' is missing"),
        (b"case_id,answer\na,Iron\na,Zinc\n", r"r\.csv:3: case 'a' is answered on an earlier line already"),
    ],
)
def test_a_broken_csv_is_one_line(tmp_path, text, said):
    path = tmp_path / "r.csv"
    path.write_bytes(text)
    with pytest.raises(DataError, match=said):
        read_responses(path, [])


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({**RAGAS, "response": None}, "the row holds an object with .*; expected the answer under one of"),
        ({**RAGAS, "retrieved_contexts": ["Iron.", " "]}, "context 'context-2' has no text"),
        (
            {**RAGAS, "user_input": [{"content": "What?", "type": "human"}]},
            r"the question, key 'user_input', is a list of 1 turns of a conversation; expected one question",
        ),
        ({**RAGAS, "user_input": ""}, "the question, key 'user_input', is ''; expected its text"),
        (
            {"case_id": "a", "answer": IRON, "conetxts": [IRON]},
            "key 'conetxts' is unknown; did you mean 'contexts'",
        ),
        (
            {"case_id": "a", "answer": IRON, "contexts": [{"id": "c", "text": ""}]},
            "context 'c' has no text; leave it out",
        ),
        ({"case_id": "a", "answer": IRON, "contexts": [""]}, "context 'context-1' has no text; leave it out"),
        ({"case_id": "a", "answer": IRON, "contexts": [5]}, "context 1 is 5; expected a text"),
        ({"question": QUESTION, "response": IRON}, "key 'response' is unknown; did you mean 'answer'"),
    ],
)
def test_a_broken_row_is_one_line(tmp_path, row, said):
    with pytest.raises(DataError, match=rf"rows\.jsonl:1: {said}"):
        read_responses(jsonl(tmp_path / "rows.jsonl", [row]), [])


def test_deepevals_context_is_not_what_was_retrieved(tmp_path):
    row = {**DEEPEVAL, "retrieval_context": None}
    with pytest.raises(
        DataError,
        match="has a context, which is what its answer should have been based on, and no retrieval_context",
    ):
        read_responses(jsonl(tmp_path / "rows.jsonl", [row]), [])


@pytest.mark.parametrize(
    "make",
    [
        list,
        Frame,
        lambda rows: Thing(to_pylist=lambda: rows),
        lambda rows: Thing(to_dicts=lambda: rows),
        tuple,
    ],
)
def test_rows_in_memory(make):
    table = make(
        [{"question": QUESTION, "answer": IRON, "contexts": [IRON], "score": float("nan"), "when": Thing()}]
    )
    name, answer, contexts = response_of(table)
    assert (answer, contexts) == (IRON, [IRON])
    assert name.startswith("what-treats-iron-deficiency-")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([5], "row 1 is 5, expected a mapping"),
        ("rows", "expected a list or a table"),
        ({}, "a list or a table"),
    ],
)
def test_what_is_no_row(rows, said):
    with pytest.raises(DataError, match=said):
        read_responses(rows, [])


def test_cases_of_a_function(tmp_path, monkeypatch):
    (tmp_path / "my_rows.py").write_text(
        f"async def cases():\n    return [{{'question': {QUESTION!r}, 'reference_answer': {IRON!r}}}]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert case_of("python:my_rows:cases").reference_answer == IRON
    for spec in ("python:my_rows:none", "python:no_such:cases", "python:my_rows", "python:"):
        with pytest.raises(
            DataError,
            match=r"the cases 'python:.*' cannot be imported .*; expected python:package\.module:function",
        ):
            case_of(spec)


def test_a_json_file_may_be_json_lines(tmp_path):
    assert case_of(jsonl(tmp_path / "rows.json", [{"id": "a", "question": QUESTION}])).id == "a"
    (tmp_path / "bad.json").write_text("[5]")
    with pytest.raises(DataError, match=r"bad\.json: row 1 is 5, expected an object"):
        case_of(tmp_path / "bad.json")


@pytest.mark.parametrize("suffix", ["csv", "parquet", "json", "jsonl"])
def test_a_missing_file_is_named(tmp_path, suffix):
    with pytest.raises(DataError, match=rf"none\.{suffix}: no such file"):
        read_responses(tmp_path / f"none.{suffix}", [])


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "r.parquet").write_bytes(b"PAR1")
    with pytest.raises(
        MissingExtra,
        match=r"^reading .*r\.parquet needs the extra 'data'.*pip install 'pytest-medfaith\[data\]'$",
    ):
        read_responses(tmp_path / "r.parquet", [])


def test_parquet(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    pyarrow = pytest.importorskip("pyarrow")
    rows = [
        {
            "case_id": "a",
            "answer": IRON,
            "contexts": [{"id": "c", "text": IRON, "title": None}],
            "latency_ms": 12,
            "model": None,
        },
        {
            "case_id": "b",
            "answer": IRON,
            "contexts": [{"id": "d", "text": IRON, "title": "Iron"}],
            "latency_ms": None,
            "model": "m",
        },
    ]
    path = tmp_path / "r.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    first, second = read_responses(path, []).values()
    assert (first.latency_ms, first.contexts[0].title, second.contexts[0].title, second.model) == (
        12.0,
        "",
        "Iron",
        "m",
    )
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(DataError, match=r"r\.parquet: cannot be read as Parquet"):
        read_responses(path, [])


def test_places_are_lines_of_the_file(tmp_path):
    path = write_csv(tmp_path / "r.csv", [{"a": "one\ntwo"}, {"a": "three"}])
    assert [(place.rpartition(":")[2], row) for place, row in read_row_file(path)] == [
        ("3", {"a": "one\ntwo"}),
        ("4", {"a": "three"}),
    ]
