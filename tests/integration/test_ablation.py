"""`medfaith ablation`: rows by axes, each beside the first; kept cells; rows that fail."""

import dataclasses
import json
from pathlib import Path

import pytest
import scripted_retrievers

from pytest_medfaith.cli import main
from pytest_medfaith.run import cells, targets
from pytest_medfaith.run.resources import Resources
from pytest_medfaith.testing import containment_checker

BROKEN = """

def broken(_chunks):
    def search(query, *, top_k):
        raise RuntimeError("the index is gone")
    return search
"""
CONFTEST = """
import dataclasses
import pytest
from pytest_medfaith.testing import containment_checker

@pytest.fixture
def medfaith_checker():
    return containment_checker()
"""
MARKED = """
import pytest

@pytest.mark.medfaith("mini", retriever=["bm25", "bm25[context=none]", "search:backwards"], k=[2, 1])
def test_something_is_found(medfaith_hits):
    assert medfaith_hits
"""


@pytest.fixture
def folder(project, monkeypatch):
    (project.path / "search.py").write_text(Path(scripted_retrievers.__file__).read_text() + BROKEN)
    checker = dataclasses.replace(containment_checker(), name="default")
    monkeypatch.setattr(Resources, "checker", lambda *_: checker)
    monkeypatch.syspath_prepend(project.path)
    monkeypatch.setenv("PYTHONPATH", str(project.path))
    monkeypatch.chdir(project.path)
    return project.path


@pytest.fixture
def searches(folder, monkeypatch):  # noqa: ARG001 - the project comes first
    """The retriever and k of every search, in order."""
    asked, found_by = [], targets.found_by

    def counted(retriever, query, target):
        asked.append((target.settings.retriever, target.settings.k))
        return found_by(retriever, query, target)

    monkeypatch.setattr(targets, "found_by", counted)
    return asked


def ablate(*arguments):
    with pytest.raises(SystemExit) as ended:
        main(["ablation", "mini", "--retrieval-only", *arguments])
    return ended.value.code or 0


def told(folder, name="out"):
    (ablation,) = json.loads((folder / name / "ablation.json").read_text())["ablations"]
    return ablation


def values(row):
    return {
        name: value for name, value in row["metrics"].items() if "_p" not in name and "latency" not in name
    }


def test_rows_are_compared_with_the_first_and_written(folder, capsys):
    assert ablate("--retriever", "search:backwards", "--retriever", "bm25", "--report", "out") == 0
    ablation = told(folder)
    first, second = ablation["rows"]
    assert (first["retriever"], first["differences"]) == ("search:backwards", [])
    recall = next(one for one in second["differences"] if one["metric"] == "recall@k")
    assert (recall["n"], recall["differ"], recall["first"], recall["value"]) == (
        3,
        2,
        pytest.approx(1 / 3),
        1.0,
    )
    # Of the 8 swaps of three cases those that change nothing and all four ways to swap the two are as
    # extreme: p of one side is 2 of 8, and of two sides 0.5.
    assert ablation["tests"] == 7
    assert recall["p"] == 1.0
    assert recall["low"] < 2 / 3 < recall["high"]
    out = capsys.readouterr().out
    assert "mini: the first row is search:backwards, and the others are compared with it:" in out
    assert "Holm-corrected over 7 comparisons" in out
    assert (folder / "out" / "ablation.svg").read_text().startswith("<svg")
    lines = (folder / "out" / "ablation.csv").read_text().splitlines()
    assert lines[0].startswith(
        "slice,retriever,checker,k,contexts_mode,metric,n,differ,first,value,low,high,p"
    )
    assert sum(line.startswith("mini,bm25,") for line in lines) == len(second["differences"])
    assert "the first row is search:backwards" in (folder / "out" / "card.md").read_text()
    assert "Against the first row" in (folder / "out" / "card.html").read_text()


def test_a_marked_test_gives_the_same(folder, project, workers):
    rows = ("--retriever", "bm25", "--retriever", "search:backwards")
    axes = (*rows[:2], "--retriever", "bm25[context=none]", *rows[2:], "--k", "2", "--k", "1")
    assert ablate(*axes, "--report", "out") == 0
    (folder / "conftest.py").write_text(CONFTEST)
    project.test(MARKED)
    result = project.run("--medfaith-report", "marked", *workers)
    result.assert_outcomes(passed=18)
    mine, theirs = told(folder), told(folder, "marked")
    assert [row["retriever"] for row in theirs["rows"]] == [
        *["bm25"] * 2,
        *["bm25[context=none]"] * 2,
        *["search:backwards"] * 2,
    ]
    for one, other in zip(mine["rows"], theirs["rows"], strict=True):
        assert (one["retriever"], one["k"], one["differences"]) == (
            other["retriever"],
            other["k"],
            other["differences"],
        )
        assert values(one) == values(other)
    result.stdout.fnmatch_lines(["mini: the first row is bm25 / k=2, and the others are compared with it:"])


def test_a_value_more_costs_its_own_rows_alone(folder, searches, monkeypatch, capsys):
    ablate("--retriever", "bm25", "--k", "2", "--k", "1", "--report", "once")
    assert len(searches) == 6
    searches.clear()
    ablate("--retriever", "bm25", "--retriever", "rank-bm25", "--k", "2", "--k", "1", "--report", "out")
    assert searches == [("rank-bm25", 2)] * 3 + [("rank-bm25", 1)] * 3
    assert "6 of 12 cases were measured before" in capsys.readouterr().err
    searches.clear()
    ablate("--retriever", "bm25", "--k", "2", "--k", "1", "--report", "again")
    assert searches == []
    monkeypatch.setattr(cells, "processor_kernel", lambda: "another kernel")
    ablate("--retriever", "bm25", "--k", "2", "--k", "1", "--report", "elsewhere")
    assert searches == [("bm25", 2)] * 3 + [("bm25", 1)] * 3
    once, again = (told(folder, name)["rows"] for name in ("once", "again"))
    assert [values(row) for row in once] == [values(row) for row in again]


def test_a_killed_ablation_goes_on_where_it_was(folder, searches, monkeypatch, capsys):
    counted = targets.found_by

    def killed(*arguments):
        if len(searches) == 4:
            raise KeyboardInterrupt
        return counted(*arguments)

    monkeypatch.setattr(targets, "found_by", killed)
    with pytest.raises((KeyboardInterrupt, SystemExit)):
        main(["ablation", "mini", "--retrieval-only", "--retriever", "bm25", "--k", "2", "--k", "1"])
    (torn,) = [
        path
        for path in (folder / ".medfaith_cache" / "ablation").iterdir()
        if path.read_bytes().count(b"\n") == 1
    ]
    torn.write_bytes(torn.read_bytes()[:-20])  # as a kill in the middle of a write leaves it
    monkeypatch.setattr(targets, "found_by", counted)
    searches.clear()
    assert ablate("--retriever", "bm25", "--k", "2", "--k", "1") == 0
    assert searches == [("bm25", 1)] * 3
    assert "1 rows of the cache were damaged" in capsys.readouterr().err
    searches.clear()
    assert ablate("--retriever", "bm25", "--k", "2", "--k", "1") == 0
    assert searches == []


def _change(name, old, new):
    def change(folder):
        path = folder / name
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    return change


@pytest.mark.parametrize(
    ("change", "measured"),
    [
        (_change("corpus/chunks.jsonl", "Cold air", "Cold wind"), 6),
        (_change("corpus/chunks.jsonl", '"Gout"', '"Arthritis"'), 6),
        (_change("corpus/chunks.jsonl", "org/gout", "org/uric"), 6),
        (_change("gold.jsonl", "What lowers", "Which drug lowers"), 2),
        (_change("gold.jsonl", "Allopurinol lowers uric acid in gout.", "Gout is lowered."), 2),
        (
            _change(
                "pyproject.toml", "[tool.medfaith.slices", "[tool.medfaith]\nk1 = 1.2\n[tool.medfaith.slices"
            ),
            6,
        ),
        (_change("pyproject.toml", "k = 2", 'k = 2\ncontexts = "optional"'), 6),
        (lambda _folder: None, 0),
    ],
)
def test_what_decides_a_cell_measures_it_anew(folder, searches, change, measured):
    ablate("--retriever", "bm25", "--k", "2", "--k", "1")
    searches.clear()
    change(folder)
    ablate("--retriever", "bm25", "--k", "2", "--k", "1")
    assert len(searches) == measured


def test_another_checker_measures_anew(searches, monkeypatch):
    ablate("--retriever", "bm25", "--k", "2", "--k", "1")
    searches.clear()
    other = dataclasses.replace(containment_checker(), name="default", signature="other weights")
    monkeypatch.setattr(Resources, "checker", lambda *_: other)
    ablate("--retriever", "bm25", "--k", "2", "--k", "1")
    assert len(searches) == 6


def test_code_of_the_project_is_measured_each_time(searches):
    rows = ("--retriever", "bm25", "--retriever", "search:backwards")
    ablate(*rows)
    searches.clear()
    ablate(*rows)
    assert searches == [("search:backwards", 2)] * 3


def test_a_row_that_fails_is_a_row_and_the_rest_comes(folder, capsys):
    code = ablate(
        "--retriever", "bm25", "--retriever", "search:broken", "--retriever", "rank-bm25", "--report", "out"
    )
    assert code == 2
    rows = told(folder)["rows"]
    assert [(row["retriever"], row["cases"], bool(row["failure"])) for row in rows] == [
        ("bm25", 3, False),
        ("search:broken", 0, True),
        ("rank-bm25", 3, False),
    ]
    assert rows[2]["differences"]
    said = capsys.readouterr()
    assert "FAILED: search:broken: case 'iron': RuntimeError('the index is gone')" in said.out
    assert "ERROR: slice 'mini', retriever 'search:broken'" in said.err
    assert "search:broken" in (folder / "out" / "ablation.csv").read_text()


def test_without_a_first_row_nothing_is_compared_and_nothing_passes(folder, capsys):
    assert ablate("--retriever", "search:broken", "--retriever", "bm25", "--report", "out") == 2
    ablation = told(folder)
    assert [row["differences"] for row in ablation["rows"]] == [[], []]
    assert "the first row, mini / search:broken / k=2 / retrieval only, has no case" in ablation["problem"]
    assert "has no case that finished, so no row is compared with it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--retriever", "bm26", "--retriever", "bm25"),
            ("--retriever: no such value: the retriever 'bm26' is unknown"),
        ),
        (
            ("--retriever", "search:gone", "--retriever", "bm25"),
            ("--retriever: no such value: the retriever 'search:gone'"),
        ),
        (("--encoder", "nope=x", "--encoder", "default"), "--encoder: no such value: the encoder 'nope=x'"),
        (
            ("--chunk-context", "all", "--chunk-context", "path"),
            "--chunk-context: no such value: it is 'all'",
        ),
        (("--chunk-size", "0", "--chunk-size", "9"), "--chunk-size: no such value: it is '0'"),
        (("--chunk-stride", "3"), "the axis chunk_stride needs chunk_size"),
        (
            ("--chunk-size", "8", "--chunk-stride", "8", "--chunk-stride", "2"),
            "has the stride 8 and the size 8; expected a size, and a smaller stride",
        ),
        (("--k", "0", "--k", "1"), "--k: no such value: it is '0', expected a whole number of 1 or more"),
        (("--k", "ten"), "--k: no such value: it is 'ten'"),
        (("--contexts", "none"), "--contexts: no such value: it is 'none'"),
        (("--checker", "my_pkg.gone:judge", "--checker", "fast"), "--checker: no such value: the checker"),
        (("--retriever", "bm25"), "the axes make the single row slice 'mini', retriever 'bm25'"),
        (
            ("--retriever", "bm25", "--encoder", "default", "--encoder", "e5-base"),
            ("the axes make the single row"),
        ),
        ((), "the axes make the single row"),
    ],
)
def test_a_value_that_does_not_exist_is_an_error_before_any_case(searches, capsys, arguments, message):
    assert ablate(*arguments) == 2
    assert message in capsys.readouterr().err
    assert searches == []


def settings(folder, table):
    path = folder / "pyproject.toml"
    path.write_text(path.read_text() + table)


def test_axes_stand_in_the_settings_and_the_command_line_beats_them(folder, searches):
    settings(
        folder,
        '[tool.medfaith.ablation.mini]\nretriever = ["bm25", "rank-bm25"]\nk = [2, 1]\nchunk_size = '
        '["corpus", 6]\n',
    )
    assert ablate("--k", "1", "--report", "out") == 0
    assert [row["retriever"] for row in told(folder)["rows"]] == [
        "bm25",
        "bm25[size=6]",
        "rank-bm25",
        "rank-bm25[size=6]",
    ]
    assert {k for _, k in searches} == {1}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            "[tool.medfaith.ablation.mini]\ncolour = ['a', 'b']\n",
            "[tool.medfaith.ablation.mini] has the axis 'colour'; expected one of",
        ),
        ("[tool.medfaith.ablation.mini]\nk = []\n", "[tool.medfaith.ablation.mini] k is an empty list"),
        ("[tool.medfaith.ablation.mini]\nk = [true, 2]\n", "[tool.medfaith.ablation.mini] k holds True"),
        (
            "[tool.medfaith.ablation.mimi]\nk = [1, 2]\n",
            "[tool.medfaith.ablation.mimi] is of no slice; did you mean 'mini'?",
        ),
    ],
)
def test_axes_of_the_settings_are_checked(folder, capsys, table, message):
    settings(folder, table)
    assert ablate() == 2
    assert message in capsys.readouterr().err


def test_a_slice_without_cases_is_an_error(folder, capsys):
    (folder / "gold.jsonl").write_text("")
    assert ablate("--retriever", "bm25", "--k", "1", "--k", "2") == 2
    assert "holds no case" in capsys.readouterr().err


def test_a_gate_of_the_slice_is_judged_on_every_row(folder, capsys):
    path = folder / "pyproject.toml"
    path.write_text(path.read_text().replace("k = 2", 'k = 2\ngates = ["recall@k >= 0.9"]'))
    assert ablate("--retriever", "bm25", "--retriever", "search:backwards") == 1
    out = capsys.readouterr().out
    assert out.count("PASS  recall@k >= 0.9") == out.count("FAIL  recall@k >= 0.9") == 1


def test_an_earlier_ablation_does_not_stay_in_the_run_folder(folder):
    ablate("--retriever", "bm25", "--k", "2", "--k", "1", "--report", "out")
    with pytest.raises(SystemExit):
        main(["evaluate", "mini", "--retrieval-only", "--report", "out"])
    assert not list((folder / "out").glob("ablation.*"))
