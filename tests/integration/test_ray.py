"""--engine ray on a cluster of two nodes: what a single process gives, whatever dies on the way."""

import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pytest_medfaith.bulk.ray_bridge import QUIET, environment
from pytest_medfaith.cli import main

pytestmark = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs the extra ray")
SAME = (
    "report.json",
    "card.md",
    "claims.csv",
    "snippets.jsonl",
    "responses.jsonl",
    "claims.jsonl",
    "pairs.jsonl",
)
PATIENCE = 300  # seconds for a step of Ray on a loaded machine
CLI = "from pytest_medfaith.cli import main; main()"
# A judge of one's project: a claim that says so ends its worker, once or each time, or raises.
JUDGE = """
import os, pathlib

def judge(claim, chunks):
    text = claim.text
    if "raises" in text:
        raise RuntimeError("no such claim")
    once = pathlib.Path(__file__).with_name("died")
    if "kills always" in text or ("kills once" in text and not once.exists()):
        once.touch()
        os._exit(1)
    return "supported" if chunks and text in chunks[0].text else "unsupported"
"""


CASES = 12
BRIDGED = environment() | {"RAY_gcs_rpc_server_reconnect_timeout_s": "5"}


def jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def many_cases(root):
    """Writes the cases of the project again and again, under names whose order is not that of the file."""
    for name, key in (("gold.jsonl", "id"), ("responses.jsonl", "case_id")):
        rows = [json.loads(line) for line in (root / name).read_text().splitlines()]
        again = [{**rows[n % 3], key: f"{rows[n % 3][key]}-{n}"} for n in range(CASES)]
        (root / name).write_text(jsonl(again))


class Cluster:
    """The cluster of `ray_cluster.py`, and whether it reports to Ray's makers."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("ray_cluster.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=BRIDGED,
        )
        self.address, _, self.habit = self.process.stdout.readline().strip().partition(" ")
        assert self.address, "the cluster did not start"

    def lose_head(self):
        self.process.stdin.write("head\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "gone\n"

    def close(self):
        self.process.communicate(timeout=PATIENCE)


@pytest.fixture(scope="module")
def cluster():
    """Started once: to start Ray, and a worker, takes longer than all rows together."""
    cluster = Cluster()
    yield cluster
    cluster.close()


def run(*arguments, folder):
    """Returns the exit status of the command, in this process, started in `folder`."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        main([str(one) for one in arguments])
    except SystemExit as ended:
        return ended.code or 0
    finally:
        os.chdir(before)
    return 0


def test_dead_workers_and_poison_stop_no_other_row(cluster, tmp_path, capfd):
    (tmp_path / "judges_of_rows.py").write_text(JUDGE)
    claims = {number: f"Claim {number} holds." for number in range(24)}
    good = {**claims, 7: "Claim 7 kills once."}
    bad = {3: "Claim 3 raises.", 12: "Claim 12 kills always."}
    rows = {
        n: {"id": n, "claim": text, "evidence": f"It says: {text}"} for n, text in {**good, **bad}.items()
    }
    (tmp_path / "rows.jsonl").write_text(jsonl(rows.values()) + '{"claim": 1}\nno json\n')
    ray = ("--engine", "ray", "--address", cluster.address, "--block-rows", "5")
    command = ("check", "rows.jsonl", "--checker", "judges_of_rows:judge", "--root", tmp_path)
    assert run(*command, "--out", "ray.jsonl", *ray, folder=tmp_path) == 1
    said = capfd.readouterr().err
    assert (tmp_path / "died").exists()
    assert "Ray 2." in said
    assert "up to 2 workers on 2 nodes" in said
    assert "rows.jsonl:4: the checker 'judges_of_rows:judge' raised RuntimeError: no such claim" in said
    assert "rows.jsonl:13: each worker that judged this row died" in said
    assert "rows.jsonl:25: field 'evidence' is missing" in said
    assert "rows.jsonl:26: not JSON" in said
    assert "4 of 26 rows could not be judged" in said
    results = [json.loads(line) for line in (tmp_path / "ray.jsonl").read_text().splitlines()]
    assert [row["id"] for row in results] == [*range(24), "line-25", "line-26"]
    poison = {3, 12, "line-25", "line-26"}
    assert {row["id"] for row in results if row["label"] == "unscored"} == poison
    (tmp_path / "rows.jsonl").write_text(jsonl(row for name, row in rows.items() if name not in poison))
    assert run(*command, "--out", "one.jsonl", folder=tmp_path) == 0
    judged = [row for row in results if row["id"] not in poison]
    assert jsonl(judged) == (tmp_path / "one.jsonl").read_text()


def test_nothing_is_reported_to_the_makers_of_ray(cluster):
    """Ray reads its switch when it is imported, and again when a cluster starts."""
    assert os.environ.get("RAY_USAGE_STATS_ENABLED") is None  # so the switch is that of the bridge
    assert QUIET.items() <= environment().items()
    assert cluster.habit == "quiet"


def test_a_cluster_that_goes_away_is_one_error_and_the_next_run_ends_as_a_single_process(
    cluster, plain_project, capfd
):
    """The first half of the slice is measured on two nodes, the second half by a Ray of this machine."""
    root = plain_project.path
    many_cases(root)
    plain_project.configure('checker = "fast"\ngates = ["hallucination <= 0.1", "faithfulness >= 0.1"]\n')
    command = ("evaluate", "mini", "--retriever", "bm25", "--retriever", "rrf", "--root", str(root))
    ray = ("--engine", "ray", "--block-rows", "1", "--report", str(root / "ray"))
    process = subprocess.Popen(
        [sys.executable, "-c", CLI, *command, *ray, "--address", cluster.address],
        cwd=root,
        env=BRIDGED,
        stderr=subprocess.PIPE,
        text=True,
    )
    kept = root / ".medfaith_cache" / "bulk"
    end = time.monotonic() + PATIENCE
    while len(list(kept.glob("*/*.block"))) < 3:
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.02)
    cluster.lose_head()
    *_, last = process.communicate(timeout=PATIENCE)[1].splitlines()
    assert process.returncode == 2
    assert last.startswith(
        f"medfaith: the Ray cluster at {cluster.address} went away before all blocks were judged"
    )
    assert not (root / "ray" / "signature.json").exists()
    blocks = len(list(kept.glob("*/*.block")))
    assert 3 <= blocks < 2 * CASES
    assert run(*command, "--report", root / "one", folder=root) == 1
    card = capfd.readouterr().out
    assert run(*command, *ray, "--workers", "1", folder=root) == 1
    said = capfd.readouterr()
    assert f"{blocks} of {2 * CASES} cases are kept of an earlier run" in said.err
    assert said.out == card
    for name in SAME:
        assert (root / "ray" / name).read_bytes() == (root / "one" / name).read_bytes(), name
    one, other = (
        json.loads((root / name / "signature.json").read_text())["signature"] for name in ("one", "ray")
    )
    assert one == other
    assert list(kept.iterdir()) == []
