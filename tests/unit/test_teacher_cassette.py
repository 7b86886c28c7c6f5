"""A cassette is sorted, whole, written by several processes at a time, and refuses what was edited."""

import json
import multiprocessing

import pytest

from pytest_medfaith.errors import DataError
from pytest_medfaith.teacher.cassette import Cassette, read_cassette
from pytest_medfaith.teacher.exchange import Answer, request_of


def request(number, **parameters):
    return request_of("m", (("user", f"{number}"),), {"seed": 0, **parameters}, key_env="NO_KEY")


def record(path, numbers):
    cassette = Cassette(path)
    for number in numbers:
        cassette.add("judge", request(number), Answer(text=f"answer {number}"))
    cassette.save()


def test_the_key_is_of_model_messages_and_parameters():
    keys = {request(1).key, request(2).key, request(1, temperature=0.5).key, request(1).with_(model="n").key}
    assert len(keys) == 4
    assert request(1).key == request(1).key
    assert request(1, a=1, b=2).key == request(1, b=2, a=1).key


def test_two_processes_record_into_one_file_and_nothing_is_lost(tmp_path):
    path = tmp_path / "c.jsonl"
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=record, args=(path, range(start, 40, 2))) for start in (0, 1)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert sorted(row["answer"]["text"] for row in rows) == sorted(f"answer {number}" for number in range(40))
    assert [row["key"] for row in rows] == sorted(row["key"] for row in rows)
    assert [found.name for found in tmp_path.iterdir()] == ["c.jsonl"]


def test_the_same_exchanges_make_the_same_bytes_in_any_order(tmp_path):
    record(tmp_path / "a.jsonl", range(12))
    record(tmp_path / "b.jsonl", reversed(range(12)))
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_a_long_recording_is_on_disk_before_it_ends(tmp_path):
    cassette = Cassette(tmp_path / "c.jsonl")
    for number in range(8):
        cassette.add("judge", request(number), Answer(text="x"))
    assert len(read_cassette(tmp_path / "c.jsonl")) == 8


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            lambda row: row["request"]["messages"][0].update(content="9"),
            r"c.jsonl:1: the exchange .* is not as it was recorded",
        ),
        (
            lambda row: row["answer"].update(text="entail"),
            "is not as it was recorded, so it was edited; remove the line",
        ),
        (lambda row: row.update(role="extractor"), "is not as it was recorded"),
        (lambda row: row["answer"].pop("text"), "field 'text' is missing"),
        (lambda row: row["answer"].update(tokens_in="many"), "a whole number"),
        (lambda row: row.pop("request"), "field 'request' is missing"),
    ],
)
def test_a_line_that_was_edited_is_refused(tmp_path, edit, message):
    record(tmp_path / "c.jsonl", [1])
    row = json.loads((tmp_path / "c.jsonl").read_text())
    edit(row)
    (tmp_path / "c.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(DataError, match=message):
        read_cassette(tmp_path / "c.jsonl")


def test_two_answers_to_a_request_as_a_merge_leaves_them_are_refused(tmp_path):
    record(tmp_path / "c.jsonl", [1])
    line = (tmp_path / "c.jsonl").read_text()
    other = Cassette(tmp_path / "d.jsonl")
    other.add("judge", request(1), Answer(text="answer 2"))
    other.save()
    (tmp_path / "c.jsonl").write_text(line + (tmp_path / "d.jsonl").read_text())
    with pytest.raises(DataError, match=r"c.jsonl:2: .* has a different answer on an earlier line"):
        read_cassette(tmp_path / "c.jsonl")
