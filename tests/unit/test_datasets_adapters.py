"""Fingerprints of every adapter on fixtures/datasets: count, first record, last record, what was left out."""

from __future__ import annotations

import gzip
import json
import shutil
import tarfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from pytest_medfaith.datasets import Skips, adapters
from pytest_medfaith.datasets.bioasq import read_bioasq, read_bioasq_chunks
from pytest_medfaith.datasets.healthsearchqa import read_healthsearchqa
from pytest_medfaith.datasets.kqa import read_kqa
from pytest_medfaith.datasets.liveqa import read_liveqa, read_liveqa_chunks
from pytest_medfaith.datasets.meddialog import read_meddialog
from pytest_medfaith.datasets.medmcqa import read_medmcqa, read_medmcqa_chunks
from pytest_medfaith.datasets.medqa import read_medqa, read_medqa_chunks
from pytest_medfaith.datasets.medquad import read_medquad, read_medquad_chunks
from pytest_medfaith.datasets.ms2 import read_ms2, read_ms2_chunks
from pytest_medfaith.datasets.pubmedqa import read_pubmedqa, read_pubmedqa_chunks
from pytest_medfaith.records import Case, Chunk

FILES = Path(__file__).parents[2] / "fixtures" / "datasets"

FINGERPRINTS = {
    "bioasq": (
        5,
        "bioasq/5e0000000000000000000001",
        "bioasq/5e0000000000000000000005",
        {"no ideal answer": 1},
    ),
    "medquad": (4, "medquad/ExampleHealth/0000001-1", "medquad/SampleTopics/0000007-1", {"empty answer": 1}),
    "pubmedqa": (3, "pubmedqa/90000011", "pubmedqa/90000013", {}),
    "liveqa": (3, "liveqa/XQ1", "liveqa/XQ3", {"no reference answer": 1}),
    "meddialog": (2, "meddialog/1", "meddialog/2", {"no answer of a doctor": 1, "id used before": 1}),
    "healthsearchqa": (8, "healthsearchqa/1", "healthsearchqa/10", {"empty question": 2}),
    "ms2": (3, "ms2/90000021", "ms2/90000032", {"no target": 1}),
    "kqa": (2, "kqa/1", "kqa/2", {"no statements": 1}),
    "medqa": (
        2,
        "medqa/dev-1",
        "medqa/dev-2",
        {"answer is not the option of answer_idx": 1, "empty question": 1},
    ),
    "medmcqa": (
        2,
        "medmcqa/90000000-0000-4000-8000-000000000001",
        "medmcqa/90000000-0000-4000-8000-000000000002",
        {"id used before": 1, "no answer": 1},
    ),
}


@pytest.mark.parametrize("name", adapters())
def test_fingerprint(name):
    skips = Skips()
    cases = list(adapters()[name].read(FILES / name, skips=skips))
    assert (len(cases), cases[0].id, cases[-1].id, dict(skips.counts)) == FINGERPRINTS[name]
    assert len({case.id for case in cases}) == len(cases)
    assert {case.slice for case in cases} == {name}


@pytest.mark.parametrize("name", adapters())
def test_cases_and_chunks_go_through_their_dicts_unchanged(name):
    for case in adapters()[name].read(FILES / name):
        assert Case.from_dict(case.to_dict()) == case
    if adapters()[name].chunked:
        for chunk in adapters()[name].read_chunks(FILES / name):
            assert Chunk.from_dict(chunk.to_dict()) == chunk


@pytest.mark.parametrize("name", [name for name, adapter in adapters().items() if adapter.chunked])
def test_chunk_ids_are_unique_and_hold_text(name):
    chunks = list(adapters()[name].read_chunks(FILES / name))
    assert len({chunk.id for chunk in chunks}) == len(chunks) > 0
    assert all(chunk.text.strip() and chunk.source == name for chunk in chunks)


@pytest.mark.parametrize("name", ["medquad", "pubmedqa", "liveqa", "medqa", "medmcqa"])
def test_references_are_ids_of_chunks(name):
    ids = {chunk.id for chunk in adapters()[name].read_chunks(FILES / name)}
    assert all(
        case.references and ids.issuperset(case.references) for case in adapters()[name].read(FILES / name)
    )


def test_readers_are_lazy(tmp_path):
    shutil.copytree(FILES / "medquad", tmp_path, dirs_exist_ok=True)
    (tmp_path / "3_Broken_QA").mkdir()
    (tmp_path / "3_Broken_QA" / "1.xml").write_text("<Document><QAPairs>")
    assert next(iter(read_medquad(tmp_path))).id == "medquad/ExampleHealth/0000001-1"


RECORDS = 250
LONG = "An invented sentence about sleep that is long enough to fill a file. " * 150


def _many_pages(folder):
    page = (
        "<Document source='S'><QAPairs><QAPair><Question>What "
        "helps?</Question><Answer>{}</Answer></QAPair></QAPairs></Document>"
    )
    (folder / "page.xml").write_text(page.format(LONG))
    with tarfile.open(folder / "pages.tar.gz", "w:gz", compresslevel=1) as out:
        for number in range(RECORDS):
            out.add(folder / "page.xml", f"{number}.xml")
    (folder / "page.xml").unlink()


def _many_dialogues(folder):
    with (folder / "d.txt").open("w") as out:
        for number in range(RECORDS):
            out.write(f"id={number}\n\nDescription\nWhat helps?\n\nDialogue\nDoctor:\n{LONG}\n\n")


def _many_reviews(folder):
    with (folder / "dev-targets.csv").open("w") as targets, (folder / "dev-inputs.csv").open("w") as inputs:
        targets.write(",ReviewID,Target\n")
        inputs.write(",ReviewID,PMID,Title,Abstract\n")
        for number in range(RECORDS):
            targets.write(f"0,{number},Sleep helps.\n")
            inputs.write(f"0,{number},{number},Sleep,{LONG}\n")


@pytest.mark.parametrize(
    ("name", "write"), [("medquad", _many_pages), ("meddialog", _many_dialogues), ("ms2", _many_reviews)]
)
def test_memory_does_not_grow_with_the_files(tmp_path, name, write):
    write(tmp_path)
    cases = adapters()[name].read(tmp_path)
    assert next(cases)  # by then what is read once is read
    tracemalloc.start()
    try:
        assert sum(1 for _ in cases) == RECORDS - 1
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1_500_000, "2.6 MB of text, of which a record and a buffer are held at a time"


# BioASQ


def test_bioasq_normalises_every_shape_of_exact_answer():
    exact = [case.meta.get("exact_answer") for case in read_bioasq(FILES / "bioasq")]
    assert exact == [
        "yes",
        [["vitamin C", "ascorbic acid"]],
        [["pancreas", "islets of the pancreas"]],
        [["right atrium"], ["left atrium"], ["right ventricle"], ["left ventricle"]],
        None,
    ]
    assert [case.meta["type"] for case in read_bioasq(FILES / "bioasq")] == [
        "yesno",
        "factoid",
        "factoid",
        "list",
        "summary",
    ]


@pytest.mark.parametrize("kind", ["yesno", "factoid", "list"])
def test_bioasq_takes_a_blank_exact_answer_for_none(tmp_path, kind):
    question = {"id": "q1", "type": kind, "body": "What helps?", "ideal_answer": "Rest.", "exact_answer": " "}
    (tmp_path / "b.json").write_text(json.dumps({"questions": [question]}))
    (case,) = read_bioasq(tmp_path)
    assert case.meta == {"type": kind}


def test_bioasq_takes_ideal_answers_as_list_or_text_and_cleans_them():
    first, _, third, *_ = read_bioasq(FILES / "bioasq")
    assert first.reference_answer.startswith("Yes. Metformin is usually")
    assert first.meta["ideal_answers"][1] == "Yes, most people with type 2 diabetes start on metformin."
    assert (
        third.reference_answer
        == "Insulin is made by the pancreas, in the β cells of the islets of Langerhans."
    )


def test_bioasq_grades_marked_documents_above_listed_ones_and_reads_pmids():
    cases = list(read_bioasq(FILES / "bioasq"))
    assert cases[0].meta["qrels"] == {"90000001": 2, "90000002": 1}
    assert cases[1].references == ("90000003",)
    assert cases[3].meta["qrels"] == {"90000004": 2, "90000001": 2, "https://anatomy.example.org/heart": 1}


def test_bioasq_chunks_are_the_distinct_snippets_with_their_spans():
    chunks = list(read_bioasq_chunks(FILES / "bioasq"))
    assert [chunk.pmid for chunk in chunks] == ["90000001", "90000003", "90000004"]
    assert (chunks[0].id, chunks[0].section_path, chunks[0].start, chunks[0].end) == (
        "bioasq/90000001/abstract/120-199",
        ("abstract",),
        120,
        199,
    )
    assert chunks[2].start is None, "a snippet that spans two sections has no offsets in one"


# MedQuAD


def test_medquad_keeps_url_focus_and_type_and_tells_files_with_one_document_id_apart():
    cases = {case.id: case for case in read_medquad(FILES / "medquad")}
    assert cases["medquad/ExampleHealth/0000001-1"].meta == {
        "qid": "0000001-1",
        "type": "symptoms",
        "focus": "Iron-deficiency anemia",
        "source": "ExampleHealth",
        "url": "https://health.example.org/iron-deficiency",
    }
    assert (
        cases["medquad/ExampleHealth/0000001_1-1"].meta["url"]
        == "https://health.example.org/iron-in-pregnancy"
    )


def test_medquad_gives_list_items_and_paragraphs_their_lines_back():
    page = next(iter(read_medquad_chunks(FILES / "medquad")))
    assert page.text.split("\n") == [
        "Key Points",
        "- Iron-deficiency anemia can make people tired and short of breath.",
        "- Some people crave ice.",
        "",
        "Mild iron-deficiency anemia may cause no symptoms at all.",
        "",
        "Symptoms of a more severe anemia include:",
        "- pale skin",
        "- a fast heartbeat",
        "- brittle nails",
        "",
        "For more information, see the page on iron tests.",
    ]
    assert (page.title, page.section_path, page.url) == (
        "Iron-deficiency anemia",
        ("symptoms",),
        "https://health.example.org/iron-deficiency",
    )


def test_medquad_cleans_markup_and_keeps_signs():
    answers = {case.id: case.reference_answer for case in read_medquad(FILES / "medquad")}
    assert "A ferritin level < 30 ng/mL usually" in answers["medquad/ExampleHealth/0000001-2"]
    assert answers["medquad/SampleTopics/0000007-1"].split("\n") == [
        "Sunburn is a skin injury caused by ultraviolet light.",
        "",
        "Sunburned skin is red, warm & tender.",
        "",
        "- Shade and clothing protect the skin from sunburn.",
    ]


@pytest.mark.parametrize("name", ["bioasq", "pubmedqa", "liveqa", "meddialog", "kqa", "medqa", "medmcqa"])
def test_archives_are_read_as_their_files_are(tmp_path, name):
    with zipfile.ZipFile(tmp_path / "data.zip", "w") as out:
        for file in (FILES / name).iterdir():
            out.write(file, f"{name}/{file.name}")
    assert list(adapters()[name].read(tmp_path / "data.zip")) == list(adapters()[name].read(FILES / name))


@pytest.mark.parametrize("kind", ["zip", "tar.gz", "tgz"])
def test_medquad_reads_archives_as_it_reads_folders(tmp_path, kind):
    archive = tmp_path / f"medquad.{kind}"
    files = sorted((FILES / "medquad").rglob("*.xml"))
    if kind == "zip":
        with zipfile.ZipFile(archive, "w") as out:
            out.writestr("__MACOSX/._0000001.xml", b"\x00\x05")
            for file in files:
                out.write(file, file.relative_to(FILES / "medquad"))
    else:
        with tarfile.open(archive, "w:gz") as out:
            for file in files:
                out.add(file, str(file.relative_to(FILES / "medquad")))
    assert list(read_medquad(archive)) == list(read_medquad(FILES / "medquad"))


def test_medquad_reads_one_file():
    assert [case.id for case in read_medquad(FILES / "medquad" / "2_Sample_QA" / "0000007.xml")] == [
        "medquad/SampleTopics/0000007-1"
    ]


# PubMedQA


def test_pubmedqa_keeps_decisions_answers_and_sections():
    cases = list(read_pubmedqa(FILES / "pubmedqa" / "ori_pqal.json"))
    assert [case.meta["decision"] for case in cases] == ["yes", "no", "maybe"]
    assert cases[1].reference_answer == "Antibiotics do not shorten the common cold, since viruses cause it."
    chunks = list(read_pubmedqa_chunks(FILES / "pubmedqa"))
    assert [chunk.section_path for chunk in chunks[:3]] == [("BACKGROUND",), ("METHODS",), ("RESULTS",)]
    assert (chunks[2].pmid, chunks[2].year, chunks[3].year) == ("90000011", 2011, None)
    assert "4.1 ± 0.9 vs 5.6 ± 1.1 a child, P < 0.05" in chunks[2].text


# LiveQA


def test_liveqa_reads_both_spellings_and_puts_the_subject_where_the_message_needs_it():
    first, second, third = read_liveqa(FILES / "liveqa")
    assert first.question == "Is hay fever catching? My sister sneezes all spring & I sit beside her."
    assert second.question == "Storing eye drops: How long may I keep the above once the bottle is open?"
    assert third.question == "What is a normal resting pulse?"
    assert (
        first.reference_answer
        == "Hay fever is an allergy to pollen.\nIt does not spread from one person to another."
    )
    assert first.references == ("liveqa/XQ1A1", "liveqa/XQ1A2")
    assert first.meta["paraphrase"] == "Is hay fever contagious?"
    assert "paraphrase" not in second.meta
    assert next(read_liveqa_chunks(FILES / "liveqa")).url == "https://allergy.example.org/hay-fever"


# MedDialog


def test_meddialog_answers_with_the_doctors_turns_only():
    first, second = read_meddialog(FILES / "meddialog")
    assert first.question == "Should I open a small blister on my heel?"
    assert first.reference_answer == (
        "Hello. Leave a small blister closed, because the skin over it keeps germs out.\nCover it with a "
        "plaster.\n\n"
        "Wear other shoes until it has healed."
    )
    assert first.meta == {"private": True, "url": "https://forum.example.org/questions/blister"}
    assert second.question == "My hiccups have lasted ten minutes. Is that normal?"


def test_meddialog_reads_compressed_files_of_a_folder(tmp_path):
    (tmp_path / "dialogues.txt.gz").write_bytes(
        gzip.compress((FILES / "meddialog" / "dialogues.txt").read_bytes())
    )
    assert list(read_meddialog(tmp_path)) == list(read_meddialog(FILES / "meddialog"))


def test_meddialog_takes_headings_for_text_where_they_cannot_stand(tmp_path):
    file = tmp_path / "one.txt"
    file.write_text(
        "id=7\nhttps://x.example.org\n\nDescription\nPatient:\nWhat "
        "now?\n\nDialogue\nPatient:\nHm?\nDoctor:\nDescription\nRest.\n"
    )
    (case,) = read_meddialog(file)
    assert (case.question, case.reference_answer) == ("Patient: What now?", "Description\nRest.")


# HealthSearchQA


def test_healthsearchqa_takes_off_what_the_csv_left():
    assert [case.question for case in read_healthsearchqa(FILES / "healthsearchqa" / "questions.jsonl")] == [
        "Are freckles harmful?",
        "Can a cold sore spread by kissing?",
        "Do's and don'ts: how is a nosebleed stopped?",
        "Is red, peeling skin normal after sunburn?",
        "4 hours of sleep, is that enough?",
    ]


def test_healthsearchqa_keeps_numbers_that_belong_to_a_question(tmp_path):
    (tmp_path / "q.jsonl").write_text('{"Question": "5, 6 or 7 hours of sleep?"}\n')
    (tmp_path / "q.csv").write_text('question\n"5, 6 or 7 hours of sleep?"\n"10,an odd dose?"\n')
    assert [case.question for case in read_healthsearchqa(tmp_path)] == [
        "5, 6 or 7 hours of sleep?",
        "10,an odd dose?",
        "5, 6 or 7 hours of sleep?",
    ]


def test_healthsearchqa_reads_csv_and_the_form_with_statements():
    plain = list(read_healthsearchqa(FILES / "healthsearchqa" / "questions.csv"))
    assert [case.question for case in plain] == [
        "Are freckles harmful?",
        "Is red, peeling skin normal after sunburn?",
    ]
    assert all(not case.gold_claims and case.reference_answer is None for case in plain)
    (answered,) = read_healthsearchqa(FILES / "healthsearchqa" / "answered")
    assert answered.reference_answer == "Freckles are harmless spots of pigment. They darken in the sun."
    assert [(claim.text, claim.key, claim.provenance) for claim in answered.gold_claims] == [
        ("Freckles are harmless.", True, "human"),
        ("Freckles darken in the sun.", False, "human"),
    ]


# MS2


def test_ms2_review_takes_effects_as_conclusion_without_marks_and_heading():
    (case,) = read_ms2(FILES / "ms2" / "review.json")
    assert case.question == "Sunscreen and sunburn: an invented systematic review."
    assert case.reference_answer == (
        "Sunscreen of SPF 30 lowers the risk of sunburn ( RR 0.5 , 95 % CI 0.4 - 0.6 ) . "
        "It works best when it is put on again every two hours ."
    )
    assert case.meta == {
        "background": "Sunburn is common in children . To see whether sunscreen prevents sunburn .",
        "studies": 3,
    }
    assert case.references == ("90000022", "90000777", "90000023")


def test_ms2_review_gives_its_studies_as_chunks_and_counts_those_without_abstract():
    skips = Skips()
    chunks = list(read_ms2_chunks(FILES / "ms2" / "review.json", skips=skips))
    assert [(chunk.id, chunk.pmid) for chunk in chunks] == [
        ("ms2/90000022", "90000022"),
        ("ms2/90000777", None),
    ]
    assert (chunks[0].title, chunks[0].text) == (
        "A beach trial of sunscreen",
        "Of 100 invented bathers with sunscreen , 10 had sunburn .",
    )
    assert dict(skips.counts) == {"study without abstract": 1}


@pytest.mark.parametrize("layout", ["[{0}, {1}]", "{0}\n{1}", "{0} {1}\n"])
def test_ms2_reads_lists_and_json_lines_of_reviews(tmp_path, layout):
    one = (FILES / "ms2" / "review.json").read_text(encoding="utf-8")
    file = tmp_path / "reviews.jsonl"
    file.write_text(layout.format(one, one.replace("90000021", "90000029")), encoding="utf-8")
    assert [case.id for case in read_ms2(file)] == ["ms2/90000021", "ms2/90000029"]


def test_ms2_joins_targets_inputs_and_backgrounds():
    first, second = read_ms2(FILES / "ms2" / "mslr")
    assert first.question == "High blood pressure is common. We asked whether exercise lowers it."
    assert second.question == "What do these studies show? Walking and sleep; Walking and blood pressure"
    assert first.reference_answer == "Regular exercise lowers blood pressure in adults, a little."
    assert (first.references, second.references) == (("90000041", "90000042"), ("90000043", "90000041"))
    assert second.meta == {"studies": 2, "split": "dev"}
    assert [chunk.id for chunk in read_ms2_chunks(FILES / "ms2" / "mslr")] == [
        "ms2/90000041",
        "ms2/90000042",
        "ms2/90000043",
    ]


def test_ms2_joins_compressed_files_too(tmp_path):
    for file in (FILES / "ms2" / "mslr").glob("*.csv"):
        (tmp_path / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
    assert list(read_ms2(tmp_path)) == list(read_ms2(FILES / "ms2" / "mslr"))
    assert list(read_ms2(tmp_path / "dev-targets.csv.gz")) == list(read_ms2(tmp_path))
    assert list(read_ms2_chunks(tmp_path)) == list(read_ms2_chunks(FILES / "ms2" / "mslr"))


def test_ms2_joins_files_in_different_orders_and_counts_stray_studies(tmp_path):
    (tmp_path / "dev-targets.csv").write_text(",ReviewID,Target\n0,B,Walking helps.\n1,A,Rest helps.\n")
    rows = "0,A,1,a,x\n1,A,2,b,x\n2,B,3,c,x\n3,A,4,d,x\n4,C,5,e,x\n"
    (tmp_path / "dev-inputs.csv").write_text(f",ReviewID,PMID,Title,Abstract\n{rows}")
    skips = Skips()
    cases = list(read_ms2(tmp_path, skips=skips))
    assert [(case.id, case.references) for case in cases] == [("ms2/B", ("3",)), ("ms2/A", ("1", "2"))]
    assert skips.counts == {"studies apart from their review, or of a review without a target": 2}


def test_ms2_reads_targets_alone_and_counts_inputs_alone(tmp_path):
    shutil.copy(FILES / "ms2" / "mslr" / "dev-targets.csv", tmp_path)
    shutil.copy(FILES / "ms2" / "mslr" / "dev-inputs.csv", tmp_path / "test-inputs.csv")
    skips = Skips()
    cases = list(read_ms2(tmp_path, skips=skips))
    assert [case.question for case in cases] == [
        "What do the studies of review 90000031 show?",
        "What do the studies of review 90000032 show?",
    ]
    assert skips.counts == {"no target": 1, "inputs without targets": 1}


# K-QA


def test_kqa_gives_must_and_nice_statements_once_each():
    first, second = read_kqa(FILES / "kqa")
    assert [(claim.id, claim.text, claim.key, claim.provenance) for claim in first.gold_claims] == [
        ("g1", "Most bruises fade within two weeks.", True, "human"),
        ("g2", "Cold packs on the first day keep a bruise smaller.", False, "human"),
    ]
    assert first.meta == {
        "sources": ["https://skin.example.org/bruises", "https://first-aid.example.org/bruises"]
    }
    assert second.meta == {"icd10": "R50"}
    assert (
        first.reference_answer
        == "Most bruises fade within two weeks.\nCold packs in the first day keep them smaller."
    )


def test_medqa_gives_the_right_option_and_a_chunk_of_question_and_answer():
    first, second = read_medqa(FILES / "medqa")
    assert (first.reference_answer, first.meta["answer"], first.meta["exam"]) == ("Vitamin C", "C", "step1")
    assert list(second.meta["options"]) == ["A", "B", "C", "D", "E"]
    assert not first.gold_claims
    chunk = list(read_medqa_chunks(FILES / "medqa"))[1]
    assert chunk.id == second.id
    assert chunk.text == (
        "A hiker has sunburned arms.\nWhich protection would have helped most?\nAnswer: Long sleeves."
    )


def test_medmcqa_reads_the_option_by_its_number_and_no_letter_of_the_explanation():
    first, second = read_medmcqa(FILES / "medmcqa")
    why = "Vitamin C Vitamin C is needed to build collagen. Scurvy follows some months without it."
    assert first.reference_answer == f"Vitamin C.\n{why}"
    assert (first.meta["answer"], first.meta["subject"], first.meta["topic"]) == (
        "D",
        "Biochemistry",
        "Vitamins",
    )
    assert (second.reference_answer, second.meta["kind"]) == ("37 \u00b0C.", "multi")
    chunk = next(read_medmcqa_chunks(FILES / "medmcqa"))
    assert chunk.text == f"Which vitamin prevents scurvy?\nAnswer: Vitamin C.\n{why}"
    assert chunk.section_path == ("Biochemistry", "Vitamins")


@pytest.mark.parametrize(
    ("why", "kept"),
    [
        ("Ans. A", ""),
        ("Answer: (b) Liver makes bile.", "Liver makes bile."),
        ("The correct answer is C. The kidney is meant.", "The kidney is meant."),
        ("Ans-D i.e. spleen", "spleen"),
        ("A low dose is meant.", "A low dose is meant."),
        ("Answers differ between books.", "Answers differ between books."),
        ("Answering a question is hard.", "Answering a question is hard."),
    ],
)
def test_medmcqa_explanations_lose_the_letter_of_the_option_and_nothing_else(tmp_path, why, kept):
    row = json.loads((FILES / "medmcqa" / "dev.json").read_text(encoding="utf-8").splitlines()[0])
    (tmp_path / "q.json").write_text(json.dumps({**row, "exp": why}))
    (case,) = read_medmcqa(tmp_path)
    assert case.reference_answer == "\n".join(filter(None, ["Vitamin C.", kept]))


def test_medmcqa_counts_from_0_where_an_export_does(tmp_path):
    """The same rows in both countings give the same answers; what does not tell its counting is refused."""
    rows = list(map(json.loads, (FILES / "medmcqa" / "dev.json").read_text(encoding="utf-8").splitlines()))
    exported = [{**row, "cop": -1 if row["cop"] is None else row["cop"] - 1} for row in rows]
    (tmp_path / "export.jsonl").write_text("".join(json.dumps(row) + "\n" for row in exported))
    assert list(read_medmcqa(tmp_path / "export.jsonl")) == list(read_medmcqa(FILES / "medmcqa"))
    (tmp_path / "test.json").write_text(json.dumps(exported[-1]))
    assert list(read_medmcqa(tmp_path / "test.json")) == []
