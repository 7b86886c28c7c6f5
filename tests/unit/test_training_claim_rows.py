"""Rows for a tagger: claims marked in brackets, claims by the rules, statements of people laid on answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_medfaith.distill.files import read_answers
from pytest_medfaith.distill.records import PARTS
from pytest_medfaith.errors import DataError
from training.__main__ import app
from training.claim_rows import FOLDS, WRITTEN, lay, read_marked, write_claim_rows

REPO = Path(__file__).parents[2]
TEXT = "Iron treats anaemia and it may cause constipation. Tea lowers its uptake."


def write(path: Path, *rows: dict) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def data(tmp_path) -> Path:
    """K-QA and Factcheck-Bench in small, each of 24 answers."""
    kqa = [
        {
            "Question": "What of iron?",
            "Free_form_answer": f"{TEXT} Number {n}.",
            "Must_have": ["Iron treats anaemia"],
            "Nice_to_have": ["Tea lowers the uptake of iron"],
        }
        for n in range(24)
    ]
    claims = {"0": {"claims": ["Iron treats anaemia"]}, "1": {"claims": []}}
    bench = [{"prompt": "Iron?", "response": f"{TEXT} Number {n}.", "sentences": claims} for n in range(24)]
    write(tmp_path / "data/kqa/questions_w_answers.jsonl", *kqa)
    write(tmp_path / "data/factcheck_bench/benchmark.jsonl", *bench)
    return tmp_path / "data"


def test_brackets_mark_the_claims_of_an_answer(tmp_path):
    marked = "Hello. [[Iron treats anaemia]] and [[it may cause constipation]]. Bye."
    path = write(tmp_path / "a.jsonl", {"id": "a", "question": "What of iron?", "marked": marked})
    (row,) = read_marked(path)
    assert row.answer == "Hello. Iron treats anaemia and it may cause constipation. Bye."
    assert [claim.text for claim in row.claims] == ["Iron treats anaemia", "it may cause constipation"]
    assert all(row.answer[claim.start : claim.end] == claim.text for claim in row.claims)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"marked": "[[Iron helps"}, "is not closed"),
        ({"marked": "Iron]] helps"}, r"expected \[\[ and \]\] in turn"),
        ({"marked": "[[Iron [[helps]]"}, "in turn"),
        ({"marked": "[[ - ]] Iron"}, "no letter or digit"),
        ({"marked": 7}, "marked is 7, expected text"),
        ({"question": " "}, "question is ' ', expected text"),
    ],
)
def test_a_malformed_answer_is_refused_with_its_place(tmp_path, change, said):
    path = write(tmp_path / "a.jsonl", {"id": "a", "question": "q", "marked": "[[Iron helps]]."} | change)
    with pytest.raises(DataError, match=f"a.jsonl:1: .*{said}"):
        list(read_marked(path))


def test_the_shipped_answers_are_well_formed_and_named_in_the_readme():
    rows = list(read_marked(REPO / WRITTEN))
    assert len(rows) == len({row.id for row in rows}) >= 60
    assert all(row.claims for row in rows)
    assert str(WRITTEN.relative_to("data")) in (REPO / "data/README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("statements", "found"),
    [
        (["Iron treats the anaemia"], ["Iron treats anaemia"]),
        (["Tea lowers its uptake", "Iron treats anaemia"], ["Iron treats anaemia", "Tea lowers its uptake"]),
        (["Iron treats anaemia", "Iron treats anaemia"], ["Iron treats anaemia"]),  # no two on the same words
        (["it may cause constipation Tea"], ["it may cause constipation"]),  # within a sentence
        (["Zinc is found in oysters"], []),
        ([], []),
    ],
)
def test_statements_are_laid_on_the_words_that_say_them(statements, found):
    assert [TEXT[start:end] for start, end in lay(statements, TEXT)] == found


def test_answers_of_a_fold_that_is_left_out_train_nothing(data, tmp_path):
    left_out = []
    for fold in range(FOLDS):
        write_claim_rows(tmp_path / str(fold), ["people"], data=data, repo=REPO, fold=fold)
        train, dev = ({row.id for row in read_answers(tmp_path / str(fold), part)} for part in PARTS[:2])
        assert train
        assert dev
        assert not train & dev
        left_out.append(dev)
    assert len(set.union(*left_out)) == sum(map(len, left_out))  # each answer is left out once
    whole = write_claim_rows(tmp_path / "all", ["people"], data=data, repo=REPO)
    assert whole == {"train": sum(map(len, left_out)), "dev": 0, "test": 0}


@pytest.mark.parametrize(
    ("sources", "fold", "said"),
    [
        (["ruled", "guessed"], None, "'guessed' is unknown; expected ruled, written, people"),
        (["people"], 4, "the fold is 4; expected 0 to 3"),
        (["written"], 0, "the fold is 0; .* with the source people"),
    ],
)
def test_unknown_sources_and_folds_are_refused(data, tmp_path, sources, fold, said):
    with pytest.raises(DataError, match=said):
        write_claim_rows(tmp_path / "out", sources, data=data, repo=REPO, fold=fold)
    assert not (tmp_path / "out").exists()


def test_the_command_writes_rows_that_a_training_reads(data, tmp_path, capsys):
    given = ["claim-rows", "--source", "written", "--data", data, "--out", tmp_path / "rows", "--repo", REPO]
    app([str(each) for each in given], standalone_mode=False)
    assert capsys.readouterr().out == "train: 47 answers\ndev: 8 answers\ntest: 7 answers\n"
    parts = [read_answers(tmp_path / "rows", part) for part in PARTS]
    assert [len(part) for part in parts] == [47, 8, 7]
    assert len({row.id for part in parts for row in part}) == 62
