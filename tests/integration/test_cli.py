import json
import shutil
import sys
from functools import partial

import pytest

from pytest_medfaith.cli import main
from pytest_medfaith.testing import containment_checker

ROWS = [
    {
        "id": "a",
        "claim": "Iron tablets treat iron deficiency.",
        "evidence": "Iron tablets treat iron deficiency. They are taken on an empty stomach.",
    },
    {"id": 7, "claim": "...", "evidence": "Iron tablets treat iron deficiency."},
    {
        "id": "c",
        "claim": "Iron tablets are taken on an empty stomach.",
        "evidence": ["Vitamin C helps.", "Iron tablets are taken on an empty stomach."],
    },
    {"id": "d", "claim": "Iron helps.", "evidence": ""},
]


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_check_keeps_order_and_ids_and_counts_what_it_could_not_judge(tmp_path, medfaith):
    write(tmp_path / "in.jsonl", ROWS)
    result = medfaith("check", "in.jsonl", "--out", "out.jsonl", folder=tmp_path)
    assert result.returncode == 0, result.stderr
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == ["a", 7, "c", "d"]
    assert rows[0]["label"] == "entail"
    assert abs(sum(rows[0]["probs"].values()) - 1) < 1e-5
    assert ROWS[0]["evidence"][slice(*rows[0]["span"])] == "Iron tablets treat iron deficiency."
    assert (rows[1]["label"], rows[1]["reason"]) == ("unscored", "the claim holds no word")
    assert rows[2]["evidence_index"] == 1
    assert (rows[3]["label"], rows[3]["reason"]) == ("unscored", "the evidence holds no word")
    assert "4 rows" in result.stderr
    assert "2 unscored" in result.stderr


def test_check_gives_the_same_bytes_again_alone_and_in_any_number_of_threads(tmp_path, monkeypatch, medfaith):
    write(tmp_path / "in.jsonl", ROWS)
    monkeypatch.setenv("MEDFAITH_TESTS_SHARE", "0")  # each run asks the models itself
    fast = partial(medfaith, "check", "--checker", "fast", folder=tmp_path)
    outputs = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("MEDFAITH_THREADS", threads)
        fast("in.jsonl", "--out", f"out{threads}.jsonl")
        outputs.append((tmp_path / f"out{threads}.jsonl").read_bytes())
    write(tmp_path / "one.jsonl", ROWS[:1])
    fast("one.jsonl", "--out", "alone.jsonl")
    assert outputs[0] == outputs[1] == outputs[2]
    assert outputs[0].startswith((tmp_path / "alone.jsonl").read_bytes())


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "a", "claim": "x"}, "in.jsonl:1: field 'evidence' is missing"),
        ({"id": "a", "claim": 3, "evidence": "x"}, "in.jsonl:1: field 'claim' is 3, expected text"),
        (
            {"id": "a", "claim": "x", "evidence": [1]},
            r"in.jsonl:1: field 'evidence' is a list of 1, expected text or a list of texts",
        ),
    ],
)
def test_check_names_the_line_that_is_wrong_and_writes_nothing(tmp_path, row, message, medfaith):
    write(tmp_path / "in.jsonl", [row])
    result = medfaith("check", "in.jsonl", "--out", "out.jsonl", folder=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "out.jsonl").exists()


def test_evaluate_prints_the_card_and_fails_on_a_gate(project, medfaith):
    project.configure('checker = "fast"\ngates = ["faithfulness >= 1.0"]\n')
    result = medfaith("evaluate", "mini", "--report", "run", folder=project.path)
    assert "mini" in result.stdout, result.stderr
    assert (project.path / "run" / "report.json").is_file()
    strict = medfaith("evaluate", "mini", "--k", "9", folder=project.path)
    assert strict.returncode == 1
    assert "k is 9 and its corpus holds 5 chunks" in strict.stderr


def test_evaluate_says_what_could_not_be_written(project, monkeypatch, capsys):
    monkeypatch.setattr(
        "pytest_medfaith.checking.loading.load_checker", lambda _, **__: containment_checker()
    )
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.path))
    with pytest.raises(SystemExit, match="2"):
        main(["evaluate", "mini", "--root", str(project.path), "--report", str(project.path / "run")])
    said = capsys.readouterr()
    assert "mini" in said.out
    assert "run folder: " in said.err
    assert "ERROR: GITHUB_STEP_SUMMARY names" in said.err


def test_index_is_built_once_and_retrieve_uses_it(project, medfaith):
    first = medfaith("index", "--corpus", "corpus", folder=project.path)
    assert "5 chunks, 384 dimensions" in first.stdout, first.stderr
    shards = {path: path.stat().st_mtime_ns for path in (project.path / ".medfaith_cache").rglob("*.npy")}
    found = medfaith(
        "retrieve", "What opens the airways?", "--corpus", "corpus", "--k", "2", "--json", folder=project.path
    )
    assert json.loads(found.stdout.splitlines()[0])["chunk"]["id"] == "asthma-1"
    more = medfaith("retrieve", "iron", "--corpus", "corpus", "--k", "9", "--json", folder=project.path)
    assert more.returncode == 0, more.stderr
    assert more.stdout
    assert more.stderr == "k is 9 and the corpus holds 5 chunks: all that match are given\n"
    assert {
        path: path.stat().st_mtime_ns for path in (project.path / ".medfaith_cache").rglob("*.npy")
    } == shards


@pytest.mark.parametrize(
    "command", ["check", "evaluate", "index", "retrieve", "chunk", "adapt", "report", "compare"]
)
def test_help_teaches_with_an_example(tmp_path, command, medfaith):
    result = medfaith(command, "--help", folder=tmp_path)
    assert f"Example: medfaith {command}" in result.stdout


@pytest.fixture(scope="module")
def measured(project_at, run_pytest, tmp_path_factory):
    """A project with the run folder "one", measured once."""
    made = project_at(tmp_path_factory.mktemp("measured"))
    assert run_pytest(made.path, "--medfaith-report", "one").returncode == 1
    return made.path


@pytest.fixture
def copied(measured, tmp_path):
    """A copy of it."""
    return shutil.copytree(measured, tmp_path / "copied")


@pytest.fixture
def ended(copied, monkeypatch, capsys):
    """Runs a command there, in this process; returns its status and what it wrote."""
    monkeypatch.chdir(copied)

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main(list(arguments))
        return end.value.code, *capsys.readouterr()

    return run


def test_report_makes_every_format_of_a_run_again(ended, copied):
    for kind, shown in (
        ("terminal", "mini"),
        ("markdown", "| mini"),
        ("json", '"slice"'),
        ("csv", "Moonlight"),
        ("html", "<!doctype html>"),
        ("svg", "<svg "),
    ):
        status, said, wrong = ended("report", "one", "--format", kind)
        assert (status, wrong) == (0, ""), kind
        assert shown in said, kind
    assert "card.md" in ended("report", "one", "--format", "markdown", "--out", "card.md")[1]
    assert "| mini" in (copied / "card.md").read_text(encoding="utf-8")
    status, _, wrong = ended("report", "one", "--format", "pdf")
    assert (status, "expected one of terminal, markdown" in wrong) == (2, True)


def test_compare_shows_two_runs_side_by_side(project, measured, medfaith):
    shutil.copytree(measured, project.path, dirs_exist_ok=True)
    responses = (project.path / "responses.jsonl").read_text()
    (project.path / "responses.jsonl").write_text(
        responses.replace("Moonlight sets off asthma", "Cold air can set off asthma")
    )
    project.run("--medfaith-report", "two", "--medfaith-seed", "7")
    result = medfaith("compare", "one", "two", folder=project.path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.index("seed was 0, is 7") < result.stdout.index("Halluc")
    assert "  asthma  supported 1 → 2, refuted 1 → 0" in result.stdout
    gone = "1 claim not supported before is not made any more:\n  asthma  refuted: Moonlight sets off asthma."
    assert gone in result.stdout
    back = medfaith("compare", "two", "one", "--format", "markdown", "--out", "c.md", folder=project.path)
    assert "c.md: " in back.stdout
    assert "case asthma (new)\nREFUTED     Moonlight sets off asthma." in (project.path / "c.md").read_text(
        encoding="utf-8"
    )
    medfaith("compare", "one", "two", "--format", "html", "--out", "c.html", folder=project.path)
    assert (project.path / "c.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_compare_says_what_is_no_run(ended, copied):
    (copied / "two").mkdir()
    status, _, wrong = ended("compare", "one", "two")
    assert (status, "two holds no finished run" in wrong) == (2, True)
    (copied / "two" / "signature.json").write_text('{"format_version": 99}')
    status, _, wrong = ended("compare", "two", "one")
    assert (status, "a newer version wrote this run (format 99)" in wrong) == (2, True)
    status, _, wrong = ended("compare", "one", "one", "--format", "pdf")
    assert (status, "expected one of terminal, markdown, html" in wrong) == (2, True)


def test_gold_claims_go_to_a_sheet_and_back(project, medfaith):
    before = (project.path / "gold.jsonl").read_text()
    assert (
        "sheet.csv: 3 cases; edit it, then run: medfaith gold review gold.jsonl --apply sheet.csv"
        in medfaith("gold", "review", "gold.jsonl", "--sheet", "sheet.csv", folder=project.path).stdout
    )
    sheet = (project.path / "sheet.csv").read_text(encoding="utf-8-sig")
    (project.path / "sheet.csv").write_text(
        sheet.replace("Allopurinol lowers uric acid in gout.", "Allopurinol lowers uric acid."),
        encoding="utf-8",
    )
    result = medfaith("gold", "review", "gold.jsonl", "--apply", "sheet.csv", folder=project.path)
    assert result.returncode == 0, result.stderr
    after = (project.path / "gold.jsonl").read_text()
    assert "Allopurinol lowers uric acid." in after
    assert len(after.splitlines()) == len(before.splitlines())
    neither = medfaith("gold", "review", "gold.jsonl", folder=project.path)
    assert (neither.returncode, "give either --sheet" in neither.stderr) == (2, True)


def test_chunks_of_pages_are_a_corpus(tmp_path, medfaith):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "iron.md").write_text(
        "# Iron\n\n## Treatment\n\nIron tablets treat iron deficiency. Take them on an empty stomach.\n"
    )
    result = medfaith("chunk", "pages", "--source", "clinic", "--out", "corpus", folder=tmp_path)
    assert result.returncode == 0, result.stderr
    found = medfaith(
        "retrieve",
        "iron tablets",
        "--corpus",
        "corpus",
        "--k",
        "1",
        "--retriever",
        "bm25",
        "--json",
        folder=tmp_path,
    )
    chunk = json.loads(found.stdout)["chunk"]
    assert (chunk["section_path"], chunk["source"]) == (["Iron", "Treatment"], "clinic")
    wrong = medfaith("chunk", "nowhere", "--source", "clinic", "--out", "corpus", folder=tmp_path)
    assert (wrong.returncode, "Traceback" in wrong.stderr) == (2, False)


@pytest.mark.parametrize(("watched", "shown"), [(True, f"\r[{'#' * 30}] 12 of 12 bytes\n"), (False, "")])
def test_chunking_shows_a_bar_where_somebody_watches(tmp_path, monkeypatch, capsys, watched, shown):
    (tmp_path / "iron.txt").write_text("Iron helps.\n")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: watched)
    with pytest.raises(SystemExit, match="0"):
        main(["chunk", str(tmp_path / "iron.txt"), "--source", "clinic", "--out", str(tmp_path / "corpus")])
    assert capsys.readouterr().err == shown


def test_chunks_that_the_encoder_finds_alike_are_dropped_and_listed(tmp_path):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.txt").write_text(
        "Iron tablets treat iron deficiency. They are taken with water."
    )
    (tmp_path / "pages" / "b.txt").write_text(
        "Iron tablets treat iron deficiency. They are to be taken with water."
    )
    (tmp_path / "pages" / "c.txt").write_text("A reliever inhaler opens the airways in asthma.")
    with pytest.raises(SystemExit, match="0"):
        main(
            [
                "chunk",
                str(tmp_path / "pages"),
                "--source",
                "s",
                "--out",
                str(tmp_path / "corpus"),
                "--dedup",
                "cosine",
            ]
        )
    assert len((tmp_path / "corpus" / "pages.jsonl").read_text().splitlines()) == 2
    heading, row = (tmp_path / "corpus" / "pages.dropped.csv").read_text().splitlines()
    assert heading == "dropped,kept,similarity,method"
    dropped, kept, similarity, method = row.split(",")
    assert (dropped, kept, method) == ("s/b-001", "s/a-001", "cosine")
    assert 0.95 < float(similarity) <= 1


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [
        (
            ["chunk", ".", "--source", "clinic", "--out", "corpus", "--dedup-threshold", "0.9"],
            "add --dedup minhash or cosine",
        ),
        (["adapt", "kqa", "gold.jsonl", "--out", "kqa.jsonl", "--seed", "1"], "add --limit N"),
        (
            ["gold", "review", "gold.jsonl", "--sheet", "sheet.csv", "--out", "other.jsonl"],
            "--out is where --apply writes",
        ),
    ],
)
def test_an_option_that_would_do_nothing_is_an_error(arguments, missing, project, medfaith):
    before = sorted(project.path.rglob("*"))
    result = medfaith(*arguments, folder=project.path)
    assert (result.returncode, missing in result.stderr) == (2, True), result.stderr
    assert sorted(project.path.rglob("*")) == before
