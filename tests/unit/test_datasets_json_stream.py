"""The stream reader agrees with json.loads wherever its blocks are cut, and holds little."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_medfaith.datasets import json_stream
from pytest_medfaith.datasets.json_stream import array_items, object_items, values
from pytest_medfaith.datasets.pubmedqa import read_pubmedqa
from pytest_medfaith.errors import DataError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture(params=[1, 2, 3, 7, 64])
def block(request, monkeypatch):
    monkeypatch.setattr(json_stream, "_BLOCK", request.param)
    return request.param


@given(
    items=st.lists(JSON, max_size=6),
    size=st.integers(1, 40),
    ascii_only=st.booleans(),
    indent=st.sampled_from([None, 2]),
)
def test_array_items_agree_with_json(items, size, ascii_only, indent):
    text = json.dumps(
        {"before": [1, {"items": 2}], "items": items, "after": 1.5e300},
        ensure_ascii=ascii_only,
        indent=indent,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "_BLOCK", size)
        assert [item for _, item in array_items(io.StringIO(text), "f", "items")] == items


@given(entries=st.dictionaries(st.text(), JSON, max_size=6), size=st.integers(1, 40))
def test_object_items_agree_with_json(entries, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "_BLOCK", size)
        found = [(key, value) for _, key, value in object_items(io.StringIO(json.dumps(entries)), "f")]
    assert found == list(entries.items())


@given(items=st.lists(JSON, max_size=6), size=st.integers(1, 40))
def test_values_read_json_lines_and_a_list_alike(items, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "_BLOCK", size)
        lines = "\n".join(json.dumps({"v": item}) for item in items)
        assert [value["v"] for _, value in values(io.StringIO(lines), "f")] == items
        assert [value for _, value in values(io.StringIO(json.dumps(items)), "f")] == items


@pytest.mark.usefixtures("block")
def test_places_count_lines():
    text = '{\n"items": [\n{"a":\n1},\n\n2,\n3]}'
    assert [place for place, _ in array_items(io.StringIO(text), "f", "items")] == ["f:3", "f:6", "f:7"]


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"items": [1, 2', r"f:1: not JSON as expected: the file ends here, expected ',' or '\]'"),
        ('{"items": [1,\n "cut', r"f:2: not JSON: the file ends early"),
        ('{"items": [1,\n', r"f:2: not JSON: the file ends early"),
        ('{"items": [1],', r"f:1: .*the file ends here, expected a field name in double quotes"),
        ('{"items": [1]', r"f:1: .*the file ends here, expected ',' or '\}'"),
        ('{"items": [1]} x', r"f:1: .*got 'x', expected the end of the file"),
        ('{"items": [1, nope]}', r"f:1: not JSON: Expecting value"),
        ('{"items": [1,\nNaN]}', r"f:2: NaN is no JSON number"),
        ("{items: [1]}", r"f:1: .*got 'i', expected a field name in double quotes"),
        ('{"items": ["a\nb"]}', r"f:1: not JSON: Invalid control character"),
    ],
)
def test_damage_is_named_with_its_line(text, message):
    with pytest.raises(DataError, match=message):
        list(array_items(io.StringIO(text), "f", "items"))


def test_deep_nesting_is_an_error():
    with pytest.raises(DataError, match=r"f:1: lists or objects nested too deeply"):
        list(array_items(io.StringIO('{"items": [' + "[" * 100_000), "f", "items"))


def test_an_early_error_is_told_before_the_rest_is_read():
    stream = io.StringIO('{"items": [nope, ' + "1, " * 1_000_000)
    with pytest.raises(DataError, match="Expecting value"):
        list(array_items(stream, "f", "items"))
    assert stream.tell() < 200_000


def test_a_large_file_is_read_in_little_memory(tmp_path):
    file = tmp_path / "ori_pqal.json.gz"
    context = "An invented sentence about sleep that is long enough to fill a file. " * 60
    with gzip.open(file, "wt", compresslevel=1) as out:
        row = {
            "QUESTION": "Does sleep help?",
            "CONTEXTS": [context],
            "LABELS": ["RESULTS"],
            "LONG_ANSWER": "Sleep helps.",
        }
        out.write("{" + ",\n".join(f'"{number}": {json.dumps(row)}' for number in range(1_500)) + "}")
    counter = count()
    tracemalloc.start()
    try:
        for _ in zip(read_pubmedqa(file), counter, strict=False):
            pass
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert next(counter) >= 1_500
    assert peak < 1_000_000, "6 MB of JSON, of which a block and a record are held at a time"
