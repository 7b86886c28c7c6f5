"""Bulk runs without Ray: blocks, checkpoint, order of results, poison, and what is refused before a run."""

import io
import json
import resource
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_medfaith.bulk import ray_bridge
from pytest_medfaith.bulk.blocks import cut_blocks, read_block, single_rows
from pytest_medfaith.bulk.checkpoint import Checkpoint
from pytest_medfaith.bulk.engine import Account, Bulk
from pytest_medfaith.bulk.rate import Rate
from pytest_medfaith.bulk.work import Judged, judge_block, refuse_other
from pytest_medfaith.cli import main
from pytest_medfaith.errors import CannotWrite, DataError, MissingExtra


class Doubling:
    """Work that doubles a number; a text in its place is poison."""

    def begin(self):
        return lambda rows: [{"double": row["n"] * 2 + 0} for _, row in rows]

    def poisoned(self, line, row, why):
        return {"line": line, "why": why, "read": row is not None}


def bridge(*, last_first=False, kills=(), dies_after=None):
    """Returns a bridge within this process; a block with a number of `kills` ends its worker."""
    asked = []

    def judge(path, blocks):
        asked.append(len(blocks))
        work, places = Doubling(), list(enumerate(blocks))
        for done, (place, block) in enumerate(reversed(places) if last_first else places):
            if done == dies_after:
                raise DataError("the cluster went away")
            data = read_block(path, block)
            if not any(b'"n": %d}' % number in data for number in kills):
                yield (
                    place,
                    judge_block(work, work.begin(), data, line=block.line, name="in.jsonl").to_bytes(),
                )

    judge.asked = asked
    return judge


def bulk(folder, judge, **changes):
    return Bulk(
        **{
            "path": folder / "in.jsonl",
            "name": "in.jsonl",
            "work": Doubling(),
            "bridge": judge,
            "checkpoint": Checkpoint(folder / "kept"),
            "rows_a_block": 3,
            **changes,
        }
    )


@pytest.fixture
def numbers(tmp_path):
    (tmp_path / "in.jsonl").write_text("".join(f'{{"n": {n}}}\n' + "\n" * (n == 4) for n in range(10)))
    return tmp_path


def test_blocks_are_the_file_and_blank_lines_are_no_rows(numbers):
    path = numbers / "in.jsonl"
    blocks = list(cut_blocks(path, 3))
    assert [block.rows for block in blocks] == [3, 3, 3, 1]
    assert [block.line for block in blocks] == [1, 4, 8, 11]
    assert b"".join(read_block(path, block) for block in blocks) == path.read_bytes()
    assert [read_block(path, row) for row in single_rows(path, blocks)] == [
        b'{"n": %d}' % n for n in range(10)
    ]


def test_a_block_is_named_by_content_and_place(numbers):
    (numbers / "twice.jsonl").write_text('{"n": 1}\n' * 2)
    first, second = cut_blocks(numbers / "twice.jsonl", 1)
    assert first.digest != second.digest  # the rows without an id are named by their lines


def test_results_are_in_the_order_of_the_rows(numbers):
    account = Account()
    results = list(bulk(numbers, bridge(last_first=True)).results(account))
    assert results == [{"double": 2 * n} for n in range(10)]
    assert (account.rows, account.done, account.kept, account.poison) == (10, 10, 0, [])


def test_a_run_goes_on_where_it_was_and_other_settings_or_rows_do_not(numbers):
    with pytest.raises(DataError, match="went away"):
        list(bulk(numbers, bridge(dies_after=2)).results(Account()))
    again, account = bridge(), Account()
    assert len(list(bulk(numbers, again).results(account))) == 10
    assert (again.asked, account.kept) == ([2], 6)
    other = bridge()
    list(bulk(numbers, other, checkpoint=Checkpoint(numbers / "other")).results(Account()))
    text = (numbers / "in.jsonl").read_text()
    (numbers / "in.jsonl").write_text(text.replace('{"n": 1}', '{"n": 7}'))
    changed = bridge()
    results = list(bulk(numbers, changed).results(Account()))
    assert (other.asked, changed.asked) == ([4], [1])
    assert results[1] == {"double": 14}


def test_a_damaged_block_is_judged_again(numbers):
    list(bulk(numbers, bridge()).results(Account()))
    damaged, *_ = sorted((numbers / "kept").iterdir())
    damaged.write_bytes(damaged.read_bytes()[:-1])
    again = bridge()
    assert list(bulk(numbers, again).results(Account())) == [{"double": 2 * n} for n in range(10)]
    assert again.asked == [1]


def test_a_killed_process_leaves_blocks_that_the_next_run_reads(numbers):
    script = (
        "import os, sys; sys.path[:0] = [sys.argv[1]]; from pathlib import Path; import test_bulk as t\n"
        "from pytest_medfaith.bulk.engine import Account\n"
        "def killed(path, blocks):\n"
        "    for number, found in enumerate(t.bridge()(path, blocks)):\n"
        "        if number == 2: os.kill(os.getpid(), 9)\n"
        "        yield found\n"
        "list(t.bulk(Path(sys.argv[2]), killed).results(Account()))\n"
    )
    call = [sys.executable, "-c", script, str(Path(__file__).parent), str(numbers)]
    assert subprocess.run(call, check=False).returncode == -9
    again = bridge()
    assert list(bulk(numbers, again).results(Account())) == [{"double": 2 * n} for n in range(10)]
    assert again.asked == [2]


def test_poison_is_named_and_the_other_rows_are_judged(numbers):
    text = (numbers / "in.jsonl").read_text().replace('{"n": 2}', '{"n": {}}').replace('{"n": 9}', "{")
    (numbers / "in.jsonl").write_text(text)
    judge, account = bridge(kills=(5,)), Account()
    results = list(bulk(numbers, judge).results(account))
    assert judge.asked == [4, 3]  # the block whose worker died, row by row
    assert [line for line, _ in account.poison] == [3, 7, 11]
    assert "in.jsonl:3: TypeError" in account.poison[0][1]
    assert account.poison[1][1] == "in.jsonl:7: each worker that judged this row died"
    assert "in.jsonl:11: not JSON" in account.poison[2][1]
    assert [row for row in results if "double" in row] == [
        {"double": 2 * n} for n in range(10) if n not in (2, 5, 9)
    ]
    assert [row["read"] for row in results if "why" in row] == [True, True, False]


def test_a_full_disk_is_one_error_and_keeps_what_was_kept(numbers):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, limits[1]))
    import signal

    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with pytest.raises(CannotWrite, match=r"\.block: cannot be written \(File too large\)"):
            list(bulk(numbers, bridge()).results(Account()))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert list((numbers / "kept").iterdir()) == []
    assert len(list(bulk(numbers, bridge()).results(Account()))) == 10


@pytest.mark.parametrize("gone", [False, True])
def test_a_file_that_changes_during_the_run_leaves_no_result_under_the_old_rows(numbers, gone):
    path, whole = numbers / "in.jsonl", (numbers / "in.jsonl").read_bytes()
    honest = bridge()

    def changing(path, blocks):
        for place, results in honest(path, blocks):
            if place == 1:
                path.unlink() if gone else path.write_bytes(whole.replace(b'"n": 4', b'"n": 7'))
            yield place, results

    with pytest.raises(DataError, match=r"in\.jsonl:4: the file has changed since the run began"):
        list(bulk(numbers, changing).results(Account()))
    path.write_bytes(whole)
    account = Account()
    assert list(bulk(numbers, bridge()).results(account)) == [{"double": 2 * n} for n in range(10)]
    assert account.kept == 3  # of the block before the change


def test_judged_blocks_travel_as_they_are():
    judged = Judged([{"probs": 0.1 + 0.2, "id": "ä"}], [(3, "why")])
    assert Judged.from_bytes(judged.to_bytes()) == judged


def test_a_file_without_rows_is_refused(numbers):
    (numbers / "in.jsonl").write_text("\n\n")
    with pytest.raises(DataError, match=r"in\.jsonl: no rows"):
        list(bulk(numbers, bridge()).results(Account()))


def test_a_node_that_would_judge_otherwise_is_refused():
    refuse_other({"package": "a"}, {"package": "a"})
    with pytest.raises(
        DataError, match=r"node \S+ would judge otherwise .*: package is 'b' there, and was 'a'"
    ):
        refuse_other({"package": "b"}, {"package": "a"})


def test_progress_tells_rows_and_rate():
    times, out = iter((0.0, 31.0, 32.0, 62.0)), io.StringIO()
    rate = Rate(out, "rows", clock=lambda: next(times))
    for done in (100, 410, 420):
        rate(Account(rows=1000, kept=100, done=done))
    rate.close()
    assert out.getvalue().splitlines() == [
        "100 of 1,000 rows are kept of an earlier run",
        "410 of 1,000 rows, 10.0 a second, 59 s to go",
        "320 rows judged in 62.0 s, 5.2 a second",
    ]


def check(folder, *arguments, capsys):
    """Returns the exit status of `medfaith check` and what it said."""
    (folder / "rows.jsonl").write_text('{"claim": "Iron helps.", "evidence": "Iron helps."}\n')
    with pytest.raises(SystemExit) as ended:
        main(["check", str(folder / "rows.jsonl"), "--out", str(folder / "out.jsonl"), *arguments])
    return ended.value.code, capsys.readouterr().err


def installed(monkeypatch, version):
    monkeypatch.setattr(ray_bridge, "version", lambda _: version)
    monkeypatch.setattr(ray_bridge, "find_spec", lambda _: True)


def test_without_ray_the_extra_is_named(tmp_path, monkeypatch, capsys):
    def missing(name):
        raise ray_bridge.PackageNotFoundError(name)

    monkeypatch.setattr(ray_bridge, "version", missing)
    status, said = check(tmp_path, "--engine", "ray", capsys=capsys)
    assert (status, said.count("\n")) == (2, 1)
    assert "--engine ray needs the extra 'ray'" in said
    assert "pip install 'pytest-medfaith[ray]'" in said


def test_ray_without_the_packages_of_ray_data_is_not_enough(monkeypatch):
    installed(monkeypatch, "2.60.0")
    monkeypatch.setattr(ray_bridge, "find_spec", lambda name: None if name == "pandas" else True)
    with pytest.raises(MissingExtra, match="extra 'ray'"):
        ray_bridge.check_ray()


def test_an_older_ray_is_refused_and_a_newer_one_is_warned_of(monkeypatch):
    installed(monkeypatch, "2.59.0")
    with pytest.raises(DataError, match=r"Ray 2\.59\.0 is installed, expected 2\.60 or newer"):
        ray_bridge.check_ray()
    installed(monkeypatch, "2.60.3")
    assert ray_bridge.check_ray() == ""
    installed(monkeypatch, "3.0.0")
    assert ray_bridge.check_ray() == "Ray 3.0.0 is untested; this version was tested with Ray 2.60"


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("", "expected host:port"),
        ("nowhere", "expected host:port"),
        ("127.0.0.1:0", "expected host:port"),
        ("ray://127.0.0.1:10001", "of a Ray Client"),
        ("{closed}", "nobody answers there"),
    ],
)
def test_a_bad_address_is_one_error_before_ray_is_asked(address, why, tmp_path, monkeypatch, capsys):
    installed(monkeypatch, "2.60.0")
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        address = address.format(closed=f"127.0.0.1:{bound.getsockname()[1]}")
        status, said = check(tmp_path, "--engine", "ray", "--address", address, capsys=capsys)
    assert (status, said.count("\n")) == (2, 1)
    assert why in said
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--address", "auto"], "--address is given without --engine ray"),
        (["--engine", "dask"], "--engine is 'dask'; expected process or ray"),
        (["--engine", "ray", "--cache", "scores.sqlite"], "--cache is given with --engine ray"),
        (["--engine", "ray", "--checker", "teacher"], "the teacher has one cassette"),
    ],
)
def test_what_workers_cannot_share_is_refused(arguments, why, tmp_path, monkeypatch, capsys):
    installed(monkeypatch, "2.60.0")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    status, said = check(tmp_path, *arguments, capsys=capsys)
    assert status == 2
    assert why in said


@pytest.mark.usefixtures("word_vectors")
def test_parquet_is_read_and_written_as_json_lines_are(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rows = [
        {"id": "a", "claim": "Iron helps.", "evidence": ["Iron helps.", "Tea is hot."]},
        {"id": "b", "claim": "Tea is cold.", "evidence": ["Iron helps."]},
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "rows.parquet")
    for given, out in (("rows.jsonl", "a.jsonl"), ("rows.parquet", "b.jsonl"), ("rows.parquet", "c.parquet")):
        main_to_end(["check", str(tmp_path / given), "--out", str(tmp_path / out), "--checker", "fast"])
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    table = parquet.read_table(tmp_path / "c.parquet").to_pylist()
    assert [{key: value for key, value in row.items() if value is not None} for row in table] == [
        {key: value for key, value in row.items() if value is not None} for row in lines
    ]


def main_to_end(arguments):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert not ended.value.code
