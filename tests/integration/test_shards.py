"""--medfaith-shard I/N and `medfaith merge`: the shards of a run, joined, are the run of a single process."""

import json
import re

import pytest

from pytest_medfaith.cli import main

# iron is in shard 3/3, asthma and gout in 1/3, and 2/3 has no case; all three are in 2/2.
SAME = (
    "report.json",
    "card.md",
    "claims.csv",
    "snippets.jsonl",
    "responses.jsonl",
    "claims.jsonl",
    "pairs.jsonl",
)
GATES = 'gates = ["hallucination <= 0.3", "faithfulness >= 0.5"]\n'
TEST = """
import pytest

@pytest.mark.medfaith("mini")
def test_measured(medfaith_report):
    pass
"""


@pytest.fixture
def shards(project):
    """Returns a function that runs some shards of the project, each into a folder of its name."""
    project.test(TEST)
    project.configure(GATES)

    def run(of, *arguments, only=None):
        results = []
        for index in only or range(1, of + 1):
            folder = ("--medfaith-shard", f"{index}/{of}", "--medfaith-report", f"shard-{index}")
            results.append(project.run(*folder, *arguments))
        return results

    return run


def merge(project, *folders, arguments=()):
    """Returns the exit status of the command."""
    names = [str(project.path / name) for name in folders]
    with pytest.raises(SystemExit) as ended:
        main(["merge", *names, "--root", str(project.path), *arguments])
    return ended.value.code or 0


def whole_signature(folder):
    return json.loads((folder / "signature.json").read_text())["signature"]


TIMES = re.compile(r"latency|_ms$|_p\d\d$")  # names of what clocks measure


def timeless(value):
    """Returns what JSON holds without what clocks measured."""
    if isinstance(value, dict):
        return {key: timeless(one) for key, one in value.items() if not TIMES.search(key)}
    return [timeless(one) for one in value] if isinstance(value, list) else value


def read(path):
    if path.suffix == ".jsonl":
        return [timeless(json.loads(line)) for line in path.read_text().splitlines()]
    return timeless(json.loads(path.read_text()))


@pytest.mark.parametrize(("contexts", "workers"), [("recorded", ()), ("retrieved", ("-n", "2"))])
def test_merged_shards_are_the_run_of_a_single_process(project, shards, contexts, workers):
    retrievers = (
        "--medfaith-retriever",
        "bm25",
        "--medfaith-retriever",
        "rrf",
        "--medfaith-contexts",
        contexts,
    )
    project.run("--medfaith-report", "whole", *retrievers)
    results = shards(3, *retrievers, *workers)
    assert [result.ret for result in results] == [0, 0, 0]  # also where no case is in a shard
    assert sum(result.parseoutcomes().get("passed", 0) for result in results) == 6
    whole, out = project.path / "whole", project.path / "merged"
    assert merge(project, "shard-3", "shard-1", "shard-2", arguments=("--out", str(out))) == 0
    for name in SAME:
        if contexts == "recorded":  # which measures no time
            assert (out / name).read_bytes() == (whole / name).read_bytes(), name
        elif name.endswith(("json", "jsonl")):
            assert read(out / name) == read(whole / name), name
    assert whole_signature(out) == whole_signature(whole)


def test_gates_are_judged_over_all_shards_and_not_in_one(project, shards):
    project.configure('gates = ["hallucination <= 0.2"]\n')
    results = shards(2, "--medfaith-gate", "hallucination <= 0.1", "--medfaith-seed", "7")
    assert [result.ret for result in results] == [0, 0]
    results[0].stdout.no_fnmatch_line("*FAIL*hallucination*")
    results[0].stdout.fnmatch_lines(["shard 1/2: its gates are judged once all shards are done*"])
    out = project.path / "merged"
    assert merge(project, "shard-1", "shard-2", arguments=("--out", str(out))) == 1
    (row,) = json.loads((out / "report.json").read_text())["slices"]
    assert {gate["expression"]: gate["outcome"] for gate in row["gates"]} == {
        "hallucination <= 0.2": "fail",
        "hallucination <= 0.1": "fail",
    }
    assert whole_signature(out)["seed"] == 7


def test_a_baseline_is_compared_with_by_the_merge(project, shards, capsys):
    project.run("--medfaith-update-baseline")
    shards(2, "--medfaith-gate", "hallucination no worse than baseline by 0.02")
    assert merge(project, "shard-1", "shard-2") == 0
    (project.path / "medfaith-baseline.json").write_text("{}")
    assert merge(project, "shard-1", "shard-2") == 2
    assert "is not the baseline that the shards ran beside" in capsys.readouterr().err


def test_a_shard_without_a_run_folder_is_refused(project):
    result = project.run("--medfaith-shard", "1/2")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*--medfaith-shard 1/2 is given without --medfaith-report DIR*"])


def test_other_tests_run_in_one_shard_each(project, shards):
    (project.path / "test_plain.py").write_text("".join(f"def test_{n}():\n    pass\n\n" for n in range(12)))
    ran = [result.parseoutcomes().get("passed", 0) for result in shards(3)]
    assert sum(ran) == 15
    assert all(ran)
