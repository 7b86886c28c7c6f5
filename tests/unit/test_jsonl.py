import json

import pytest

from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import read_chunks, read_records, write_records
from pytest_medfaith.records import Chunk


def test_what_is_written_is_read_back(tmp_path):
    rows = [
        Chunk(id="a", text="α-synuclein ≥ 5 µg", title="Text"),
        Chunk(id="b", text="B", extra={"kept": [1]}),
    ]
    assert write_records(tmp_path / "c.jsonl", rows) == 2
    assert list(read_records(tmp_path / "c.jsonl", Chunk)) == rows


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b'{"id": "a", "text": "x"}\n{"id": "b", text}',
            (
                r"c\.jsonl:2: not JSON \(Expecting property name enclosed in double quotes at column 13\); "
                "expected one JSON object a line"
            ),
        ),
        (b'["a"]', r"c\.jsonl:1: got a list of 1, expected one JSON object a line"),
        (
            rb'{"id": "a", "text": "x \ud83d y"}',
            r"c\.jsonl:1: \\ud83d is half of a character and cannot be written as UTF-8",
        ),
        (b"[" * 100_000, r"c\.jsonl:1: not JSON \(maximum recursion depth"),
        (b'{"id": "a", "text": "caf\xe9"}', r"c\.jsonl:1: byte b'\\xe9' at column 25 is not UTF-8"),
        (
            b'{"id": "a", "text": "x"}\n\n{"id": "a", "text": "y"}',
            r"c\.jsonl:3: id 'a' was used on line 1 already",
        ),
        (b'{"id": "a", "text": NaN}', r"c\.jsonl:1: not JSON \(NaN is no JSON number\)"),
        (b'{"id": "a", "text": ["x"]}', r"c\.jsonl:1: field 'text' is a list of 1, expected text"),
        (b'{"id": "a", "text": "  "}', r"chunk 'a' has no text"),
        (b"", r"holds no chunk; an empty corpus can support nothing"),
    ],
)
def test_bad_lines_are_named(tmp_path, content, message):
    path = tmp_path / "c.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_chunks([path])


def test_an_escaped_pair_of_surrogates_is_one_character(tmp_path):
    (tmp_path / "c.jsonl").write_bytes(rb'{"id": "a", "text": "x \ud83d\ude00"}')
    assert read_chunks([tmp_path / "c.jsonl"])[0].text == "x \U0001f600"


def test_a_missing_file_and_a_folder_without_files_are_named(tmp_path):
    with pytest.raises(DataError, match=r"gone\.jsonl: no such file"):
        read_chunks([tmp_path / "gone.jsonl"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"empty: the corpus folder holds no \.jsonl file"):
        read_chunks([tmp_path / "empty"])


def test_an_id_in_two_files_is_an_error(tmp_path):
    for name in ("one.jsonl", "two.jsonl"):
        (tmp_path / name).write_text(json.dumps({"id": "a", "text": "x"}))
    with pytest.raises(DataError, match=r"two\.jsonl: chunk id 'a' is used in another file"):
        read_chunks([tmp_path])


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path):
    path = tmp_path / "c.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id": "a", "text": "x"}\r\n{"id": "b", "text": "y"}\r\n')
    assert [chunk.id for chunk in read_chunks([path])] == ["a", "b"]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "c.jsonl"
    path.write_text("old")

    def broken():
        yield Chunk(id="a", text="x")
        raise RuntimeError("disk")

    with pytest.raises(RuntimeError, match="disk"):
        write_records(path, broken())
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["c.jsonl"]
