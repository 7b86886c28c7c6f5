"""`adapt` and the gold review: what they write, what they tell, and that nothing half-written remains."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest

from pytest_medfaith.datasets import adapters
from pytest_medfaith.datasets.adapting import adapt, apply_gold_review, write_gold_review
from pytest_medfaith.datasets.registry import read_cases
from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import read_chunks, read_records
from pytest_medfaith.records import Case

FILES = Path(__file__).parents[2] / "fixtures" / "datasets"


@pytest.mark.parametrize("name", adapters())
def test_every_data_set_becomes_a_gold_file_that_reads_back(name, tmp_path):
    out = tmp_path / "gold" / f"{name}.jsonl"
    summary = adapt(name, FILES / name, out)
    cases = list(read_records(out, Case))
    assert len(cases) == summary.cases.records > 0
    assert sum(len(case.gold_claims) for case in cases) == sum(summary.claims.values())
    assert sum(not case.gold_claims for case in cases) == summary.without_claims
    assert summary.source.name == name


def test_summary_tells_counts_skips_and_source(tmp_path):
    lines = adapt(
        "medquad", FILES / "medquad", tmp_path / "g.jsonl", corpus=tmp_path / "c.jsonl", cap=2
    ).lines()
    assert lines == [
        f"wrote {tmp_path / 'g.jsonl'}: 4 cases (0 without gold claims), gold claims: 8 extracted",
        f"wrote {tmp_path / 'c.jsonl'}: 4 chunks",
        f"skipped 1: empty answer (first: {FILES / 'medquad' / '1_Example_QA' / '0000001.xml'}, pair 3)",
        (
            f"corpus: skipped 1: empty answer (first: {FILES / 'medquad' / '1_Example_QA' / '0000001.xml'}, "
            f"pair 3)"
        ),
        (
            "source: MedQuAD: medical question-answer pairs from 12 websites of the National Institutes of "
            "Health, https://github.com/abachaa/MedQuAD"
        ),
        "licence: CC BY 4.0",
        lines[-1],
    ]
    assert lines[-1].startswith("cite: Ben Abacha A, Demner-Fushman D.")


def test_corpus_holds_the_references_of_the_cases(tmp_path):
    adapt(
        "pubmedqa", FILES / "pubmedqa", tmp_path / "g.jsonl", corpus=tmp_path / "corpus" / "c.jsonl", limit=1
    )
    ids = {chunk.id for chunk in read_chunks([tmp_path / "corpus"])}
    (case,) = read_records(tmp_path / "g.jsonl", Case)
    assert ids.issuperset(case.references)
    assert len(ids) == 6, "the corpus keeps the documents of the cases that were not taken"


def test_seed_draws_the_same_part_again(tmp_path):
    for name in ("a", "b"):
        adapt("pubmedqa", FILES / "pubmedqa", tmp_path / f"{name}.jsonl", limit=2, seed=5)
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_data_set_without_documents_has_no_corpus(tmp_path):
    with pytest.raises(DataError, match=r"kqa has no documents to write to .*c.jsonl; leave out the corpus"):
        adapt("kqa", FILES / "kqa", tmp_path / "g.jsonl", corpus=tmp_path / "c.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_not_one_case_is_an_error_that_tells_what_was_left_out(tmp_path):
    (tmp_path / "q.jsonl").write_text('{"Question": "a?", "Must_have": []}\n')
    with pytest.raises(
        DataError, match=r"q.jsonl: not one case to write; skipped 1: no statements \(first: .*q.jsonl:1\)"
    ):
        adapt("kqa", tmp_path / "q.jsonl", tmp_path / "g.jsonl")
    assert not (tmp_path / "g.jsonl").exists()


def test_nothing_half_written_remains_and_an_older_file_stays(tmp_path):
    shutil.copytree(FILES / "medquad", tmp_path / "pages")
    (tmp_path / "pages" / "9.xml").write_text("<Document><QAPairs>")
    (tmp_path / "g.jsonl").write_text("older\n")
    with pytest.raises(DataError, match=r"9.xml:1:\d+: not well-formed XML"):
        adapt("medquad", tmp_path / "pages", tmp_path / "g.jsonl")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.jsonl", "pages"]
    assert (tmp_path / "g.jsonl").read_text() == "older\n"


def test_a_corpus_that_cannot_be_written_whole_leaves_no_gold_file_either(tmp_path):
    snippet = {"document": "https://pubmed.ncbi.nlm.nih.gov/1", "text": ["not a text"]}
    question = {"id": "q1", "body": "What helps?", "ideal_answer": "Rest.", "snippets": [snippet]}
    (tmp_path / "b.json").write_text(json.dumps({"questions": [question]}))
    with pytest.raises(DataError, match=r"b\.json:1: field 'text' is a list of 1, expected text"):
        adapt("bioasq", tmp_path / "b.json", tmp_path / "g.jsonl", corpus=tmp_path / "c.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["b.json"]


def test_review_from_gold_file_to_sheet_and_back(tmp_path):
    gold, sheet = tmp_path / "g.jsonl", tmp_path / "sheet.csv"
    adapt("medquad", FILES / "medquad", gold)
    before = gold.read_bytes()
    assert write_gold_review(gold, sheet) == 4
    assert set(apply_gold_review(gold, sheet).edits) == {"kept", "dropped"}
    assert gold.read_bytes() == before

    with sheet.open("a", encoding="utf-8", newline="") as out:
        csv.writer(out).writerow(
            ["[medquad/SampleTopics/0000007-1]", "", "keep", "no", "Sunburn mostly heals within a week."]
        )
    reviewed = apply_gold_review(gold, sheet, out=tmp_path / "reviewed.jsonl")
    assert reviewed.edits["added"] == 1
    assert gold.read_bytes() == before
    last = list(read_records(tmp_path / "reviewed.jsonl", Case))[-1].gold_claims[-1]
    assert (last.text, last.key, last.provenance) == ("Sunburn mostly heals within a week.", False, "human")


def test_a_wrong_sheet_leaves_the_gold_file_alone(tmp_path):
    gold, sheet = tmp_path / "g.jsonl", tmp_path / "sheet.csv"
    adapt("kqa", FILES / "kqa", gold)
    before = gold.read_bytes()
    write_gold_review(gold, sheet)
    sheet.write_text(sheet.read_text(encoding="utf-8").replace("[kqa/2]", "[kqa/7]"), encoding="utf-8")
    with pytest.raises(DataError, match="case 'kqa/7' is not among the cases"):
        apply_gold_review(gold, sheet)
    assert gold.read_bytes() == before


def test_a_sheet_that_is_there_is_not_written_over(tmp_path):
    """It may hold a reviewer's edits; and named by mistake, it may be the gold file itself."""
    gold = tmp_path / "gold.jsonl"
    gold.write_text(
        '{"id": "1", "question": "What helps?", "gold_claims": [{"id": "g1", "text": "Iron helps."}]}\n'
    )
    before = gold.read_bytes()
    with pytest.raises(DataError, match="there already"):
        write_gold_review(gold, gold)
    assert gold.read_bytes() == before
    assert write_gold_review(gold, tmp_path / "sheet.csv") == 1


@pytest.mark.parametrize("source", ["pages", "pages/questions_w_answers.jsonl"])
def test_no_file_that_is_read_is_written_over(tmp_path, source):
    shutil.copytree(FILES / "kqa", tmp_path / "pages")
    read = tmp_path / "pages" / "questions_w_answers.jsonl"
    before = read.read_bytes()
    (tmp_path / "link.jsonl").symlink_to(read)
    for out in (read, tmp_path / "link.jsonl", tmp_path / "pages" / ".." / "pages" / read.name):
        with pytest.raises(
            DataError,
            match=r"jsonl: belongs to what is read, .*, and would be written over; name another file",
        ):
            adapt("kqa", tmp_path / source, out)
    assert read.read_bytes() == before
    assert adapt("kqa", tmp_path / source, tmp_path / "pages" / "gold.jsonl").cases.records == 2


def test_no_corpus_is_written_over_what_is_read_or_over_the_cases(tmp_path):
    read = Path(shutil.copy(FILES / "pubmedqa" / "ori_pqal.json", tmp_path))
    with pytest.raises(DataError, match=r"ori_pqal\.json: belongs to what is read"):
        adapt("pubmedqa", read, tmp_path / "g.jsonl", corpus=read)
    with pytest.raises(
        DataError, match=r"g\.jsonl: given for the cases and for the documents; name two files"
    ):
        adapt("pubmedqa", read, tmp_path / "g.jsonl", corpus=tmp_path / "." / "g.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["ori_pqal.json"]


def test_a_sheet_is_not_written_over_by_its_own_edits(tmp_path):
    gold, sheet = tmp_path / "g.jsonl", tmp_path / "sheet.csv"
    adapt("kqa", FILES / "kqa", gold)
    write_gold_review(gold, sheet)
    before = sheet.read_bytes()
    with pytest.raises(
        DataError, match=r"sheet\.csv: the reviewed cases would be written over the sheet; name another file"
    ):
        apply_gold_review(gold, sheet, out=sheet)
    assert sheet.read_bytes() == before


def test_the_knowledge_base_of_the_samples_is_what_the_adapter_makes_of_its_questions(tmp_path):
    sample = FILES.parent / "kb"
    made = adapt(
        "medmcqa", sample / "questions.json", tmp_path / "gold.jsonl", corpus=tmp_path / "chunks.jsonl"
    )
    assert (tmp_path / "chunks.jsonl").read_text() == (sample / "chunks.jsonl").read_text()
    assert made.cases.records == 11
    exam = list(read_cases(str(tmp_path / "gold.jsonl")))
    assert all(len(gold.text.split()) > 3 for case in exam for gold in case.gold_claims)
    cases = list(read_cases(str(FILES.parents[1] / "gold" / "kb.jsonl")))
    assert {name for case in cases for name in case.references} < {case.id for case in exam}
    said = " ".join(case.reference_answer for case in exam)
    assert all(gold.text.rstrip(".") in said for case in cases for gold in case.gold_claims)
