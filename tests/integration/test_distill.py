"""The whole road at toy size: a teacher on loopback labels a slice, tiny students learn it and judge it."""

import json

import pytest
from tiny_models import tiny_encoder

from pytest_medfaith.cards.run_reading import read_run
from pytest_medfaith.cli import main

THINGS = ("iron", "zinc", "copper", "iodine", "niacin", "biotin", "folate", "retinol")


@pytest.fixture
def medfaith(capsys):
    """Runs a command in this process, and returns its exit status and what it told."""

    def call(*arguments):
        try:
            main([str(argument) for argument in arguments])
            status = 0
        except SystemExit as end:
            status = end.code or 0
        return status, "".join(capsys.readouterr())

    return call


@pytest.fixture
def toy(tmp_path, monkeypatch, server):
    """A project of eight cases, each with its own passages; the loopback teacher judges by words."""
    monkeypatch.setenv("OPENAI_API_KEY", "of-nobody")
    cases, responses = [], []
    for name in THINGS:
        held, other = (
            f"{name.capitalize()} helps the heart in adults.",
            f"{name.capitalize()} is found in nuts.",
        )
        contexts = [{"id": f"{name}-1", "text": held}, {"id": f"{name}-2", "text": other}]
        said = f"{held} Moonlight turns {name} into gold. Many people buy {name} for their dogs."
        cases.append({"id": name, "question": f"What does {name} do?"})
        responses.append({"case_id": name, "answer": said, "contexts": contexts, "model": "rag-1"})
    for file, rows in (("cases.jsonl", cases), ("responses.jsonl", responses)):
        (tmp_path / file).write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "medfaith.toml").write_text(
        f'[llm]\nmodel = "judge-7b"\nbase_url = "{server.url}"\nretries = 0\n'
        '[slices.toy]\ncases = "cases.jsonl"\nresponses = "responses.jsonl"\n'
    )
    return tmp_path


def test_silver_rows_of_a_run_that_a_teacher_labelled(toy, medfaith):
    run = toy / "runs" / "teacher"
    assert (
        medfaith(
            "evaluate", "toy", "--root", toy, "--checker", "teacher", "--llm", "record", "--report", run
        )[0]
        == 0
    )
    status, told = medfaith("distill", "silver", run, "--out", toy / "silver", "--root", toy)
    assert status == 0, told
    assert "labelled by teacher judge-7b" in told
    rows = [json.loads(line) for line in (toy / "silver" / "nli.train.jsonl").read_text().splitlines()]
    assert {row["label"] for row in rows} == {"entail", "neutral", "contradict"}
    for row in rows:
        name = row["case_id"].removeprefix("toy/")
        assert row["provenance"] | {"claim_id": "", "chunk_id": ""} == {
            "run": "teacher",
            "slice": "toy",
            "checker": "teacher",
            "model": "judge-7b",
            "answered_by": "rag-1",
            "claim_id": "",
            "chunk_id": "",
        }
        assert name in row["claim"].lower()
        assert name in row["evidence"].lower()
    status, told = medfaith(
        "distill",
        "agreement",
        toy / "silver",
        "--checker",
        "pytest_medfaith.testing:containment_checker",
        "--root",
        toy,
    )
    assert status == 2  # a factory is no checker: one message, no traceback
    assert "Traceback" not in told


def test_the_whole_road_in_one_command(toy, medfaith, tmp_path):
    pytest.importorskip("onnx")
    pytest.importorskip("torch")
    base = tiny_encoder(tmp_path / "base", width=16)
    status, told = medfaith(
        "distill",
        "run",
        "toy",
        "--root",
        toy,
        "--out",
        toy / "out",
        "--base",
        base,
        "--llm",
        "record",
        "--epochs",
        "2",
        "--rate",
        "1e-3",
        "--max-tokens",
        "64",
    )
    assert status == 0, told
    for line in ("1/4 teacher labels toy", "2/4 rows", "3/4 students", "4/4 the students judge toy"):
        assert line in told
    (one,), signature = read_run(toy / "out" / "run")
    assert len(one.reports) == len(THINGS)
    assert signature["extractor"].startswith("tagger|")
    assert all(report.verdicts for report in one.reports)  # what the weak tagger misses, the rules find
    assert one.checker == str(toy / "out" / "checker")
    for name in ("checker", "extractor"):
        assert json.loads((toy / "out" / name / "card.json").read_text())["measured"]
    status, told = medfaith(
        "distill", "agreement", toy / "out" / "silver", "--checker", toy / "out" / "checker", "--root", toy
    )
    assert status == 0, told
    assert "Teacher: teacher judge-7b. Part: test," in told


def test_without_a_clone_the_road_says_what_it_needs(toy, medfaith, monkeypatch):
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *more: None if name.startswith("training") or name == "onnx" else real(name, *more),
    )
    status, told = medfaith("distill", "run", "toy", "--root", toy, "--out", toy / "out", "--base", "b")
    assert status == 2
    assert (
        "the folder training/ of a clone, which no wheel holds and onnx (pip install "
        "'pytest-medfaith[train]')" in told
    )
    assert not (toy / "out").exists()


def test_a_teacher_that_does_not_answer_ends_the_road_before_anything_is_trained(
    toy, medfaith, monkeypatch, tmp_path
):
    pytest.importorskip("onnx")
    (toy / "medfaith.toml").write_text((toy / "medfaith.toml").read_text().replace("/v1", "/nowhere"))
    monkeypatch.setenv("CI", "true")  # no cassette
    base = tiny_encoder(tmp_path / "base", width=16)
    status, told = medfaith("distill", "run", "toy", "--root", toy, "--out", toy / "out", "--base", base)
    assert status == 2
    assert "1/4" in told
    assert "2/4" not in told


@pytest.mark.parametrize(
    "bases", [("--base", "no_such_model"), ("--base", "json"), ("--base", ".", "--extractor-base", "b")]
)
def test_a_base_that_is_not_there_is_refused_before_the_teacher_is_asked(toy, medfaith, tmp_path, bases):
    pytest.importorskip("onnx")
    if "." in bases:
        bases = ("--base", tiny_encoder(tmp_path / "base", width=16), *bases[2:])
    status, told = medfaith("distill", "run", "toy", "--root", toy, "--out", toy / "out", *bases)
    assert status == 2
    assert f"{bases[-2]} {bases[-1]} is neither a folder with a model" in told
    assert "1/4" not in told
