"""Damaged and hostile files: an error that names file and place, or a counted skip.

None ends in the traceback of a library, none passes in silence.
"""

from __future__ import annotations

import gzip
import json
import logging
import re
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest

from pytest_medfaith.datasets import Skips, adapters, read_cases
from pytest_medfaith.datasets.adapting import adapt, apply_gold_review
from pytest_medfaith.datasets.bioasq import read_bioasq
from pytest_medfaith.datasets.healthsearchqa import read_healthsearchqa
from pytest_medfaith.datasets.kqa import read_kqa
from pytest_medfaith.datasets.liveqa import read_liveqa
from pytest_medfaith.datasets.meddialog import read_meddialog
from pytest_medfaith.datasets.medmcqa import read_medmcqa
from pytest_medfaith.datasets.medqa import read_medqa
from pytest_medfaith.datasets.medquad import read_medquad, read_medquad_chunks
from pytest_medfaith.datasets.ms2 import read_ms2
from pytest_medfaith.datasets.pubmedqa import read_pubmedqa
from pytest_medfaith.errors import DataError

FILES = Path(__file__).parents[2] / "fixtures" / "datasets"
ONE_FILE = {
    "bioasq": "bioasq/1X1_golden.json",
    "medquad": "medquad/1_Example_QA/0000001.xml",
    "pubmedqa": "pubmedqa/ori_pqal.json",
    "liveqa": "liveqa/test.xml",
    "meddialog": "meddialog/dialogues.txt",
    "healthsearchqa": "healthsearchqa/questions.jsonl",
    "ms2": "ms2/review.json",
    "kqa": "kqa/questions_w_answers.jsonl",
    "medqa": "medqa/dev.jsonl",
    "medmcqa": "medmcqa/dev.json",
}


def _copy(name: str, folder: Path) -> Path:
    return Path(shutil.copy(FILES / ONE_FILE[name], folder))


# Any adapter


@pytest.mark.parametrize("name", adapters())
def test_no_such_path(name, tmp_path):
    with pytest.raises(DataError, match=r"nowhere: no such file or folder; expected "):
        list(adapters()[name].read(tmp_path / "nowhere"))


@pytest.mark.parametrize("name", adapters())
def test_empty_folder(name, tmp_path):
    (tmp_path / "notes.md").write_text("not a data set")
    with pytest.raises(DataError, match=re.escape(f"{tmp_path}: nothing to read in it; expected ")):
        list(adapters()[name].read(tmp_path))


@pytest.mark.parametrize("name", adapters())
def test_byte_order_mark_and_windows_line_ends_change_nothing(name, tmp_path):
    plain = _copy(name, tmp_path)
    content = plain.read_bytes()
    before = list(adapters()[name].read(plain))
    plain.write_bytes(b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n"))
    assert list(adapters()[name].read(plain)) == before


@pytest.mark.parametrize(("name", "files"), [("ms2", "mslr/*.csv"), ("healthsearchqa", "*.csv")])
def test_byte_order_mark_and_windows_line_ends_change_no_csv(name, files, tmp_path):
    for folder in ("plain", "windows"):
        (tmp_path / folder).mkdir()
    for file in (FILES / name).glob(files):
        shutil.copy(file, tmp_path / "plain")
        (tmp_path / "windows" / file.name).write_bytes(
            b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n")
        )
    before = list(adapters()[name].read(tmp_path / "plain"))
    assert len(before) == 2
    assert list(adapters()[name].read(tmp_path / "windows")) == before


@pytest.mark.parametrize("name", ["bioasq", "pubmedqa", "liveqa", "meddialog", "ms2"])
def test_ids_used_again_in_another_file_are_counted(name, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        _copy(name, tmp_path / folder)
    once = list(adapters()[name].read(tmp_path / "a"))
    skips = Skips()
    assert list(adapters()[name].read(tmp_path, skips=skips)) == once
    assert skips.counts["id used before"] >= len(once)


@pytest.mark.parametrize(
    "name", ["bioasq", "pubmedqa", "meddialog", "healthsearchqa", "ms2", "kqa", "medqa", "medmcqa"]
)
def test_bytes_that_are_not_utf_8(name, tmp_path):
    file = _copy(name, tmp_path)
    file.write_bytes(file.read_bytes().replace(b"a", b"\xff", 1))
    with pytest.raises(DataError, match=rf"{re.escape(file.name)}.*not UTF-8.*save the file as UTF-8"):
        list(adapters()[name].read(file))


@pytest.mark.parametrize("name", ["bioasq", "pubmedqa", "liveqa", "medquad", "ms2"])
def test_file_cut_short(name, tmp_path):
    file = _copy(name, tmp_path)
    file.write_bytes(file.read_bytes()[:-150])
    with pytest.raises(DataError, match=rf"{re.escape(file.name)}:\d+:.*(?i:the file ends)"):
        list(adapters()[name].read(file))


@pytest.mark.parametrize(
    "name",
    ["bioasq", "pubmedqa", "liveqa", "meddialog", "healthsearchqa", "ms2", "kqa", "medqa", "medmcqa"],
)
def test_gzip_is_read_and_one_cut_short_is_an_error(name, tmp_path):
    plain = _copy(name, tmp_path)
    packed = tmp_path / f"{plain.name}.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert list(adapters()[name].read(packed)) == list(adapters()[name].read(plain))
    packed.write_bytes(packed.read_bytes()[:-12])
    with pytest.raises(
        DataError, match=rf"{re.escape(packed.name)}: cannot be read to its end .*fetch it again"
    ):
        list(adapters()[name].read(packed))


@pytest.mark.parametrize("bad", [b"ok \xff\n", b"cut \xc3\n", b"cut at the end \xe2\x82"])
def test_bytes_that_are_not_utf_8_are_named_with_their_line_however_far_in(tmp_path, bad):
    record = (
        json.dumps(
            {"Question": "Is iron harmful?", "Free_form_answer": "Räksmörgås. " * 50}, ensure_ascii=False
        ).encode()
        + b"\n"
    )
    (tmp_path / "q.jsonl.gz").write_bytes(gzip.compress(b"\xef\xbb\xbf" + record * 200 + bad))
    with pytest.raises(DataError, match=r"q\.jsonl\.gz:201: byte b'\\x\w\w' is not UTF-8"):
        list(read_healthsearchqa(tmp_path))


def test_a_file_called_gz_that_is_none(tmp_path):
    file = tmp_path / "questions.json.gz"
    file.write_text('{"questions": []}')
    with pytest.raises(DataError, match=r"questions.json.gz: cannot be read to its end"):
        list(read_bioasq(file))


# Archives


@pytest.fixture
def archive(tmp_path) -> Path:
    """A .tar.gz of the MedQuAD pages, padded so that cuts fall into different parts of it."""
    path = tmp_path / "pages.tar.gz"
    with tarfile.open(path, "w:gz") as out:
        for number in range(30):
            out.add(FILES / "medquad" / "2_Sample_QA" / "0000007.xml", f"2_Sample_QA/{number:07}.xml")
    return path


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.95, 0.999])
def test_archive_cut_short_anywhere(archive, share):
    whole = archive.read_bytes()
    archive.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(DataError, match=r"pages.tar.gz: cannot be read to its end .*fetch it again"):
        list(read_medquad(archive))


def test_archive_that_lost_only_its_checksum(archive):
    archive.write_bytes(archive.read_bytes()[:-4])
    with pytest.raises(DataError, match="cannot be read to its end"):
        list(read_medquad(archive))


def test_archive_without_pages(tmp_path):
    with zipfile.ZipFile(tmp_path / "empty.zip", "w") as out:
        out.writestr("readme.txt", "nothing")
    with pytest.raises(DataError, match=r"empty.zip: nothing to read in it; expected XML files, or a .zip"):
        list(read_medquad(tmp_path / "empty.zip"))


def test_zip_that_is_none(tmp_path):
    (tmp_path / "pages.zip").write_text("no archive")
    with pytest.raises(DataError, match=r"pages.zip: cannot be read to its end"):
        list(read_medquad(tmp_path / "pages.zip"))


def test_damaged_page_in_an_archive_is_named(tmp_path):
    with zipfile.ZipFile(tmp_path / "pages.zip", "w") as out:
        out.writestr("1_QA/3.xml", "<Document>\n<QAPairs></Document>")
    with pytest.raises(
        DataError, match=r"pages.zip: 1_QA/3.xml:2:\d+: not well-formed XML \(mismatched tag\)"
    ):
        list(read_medquad(tmp_path / "pages.zip"))


def test_csv_files_that_belong_together_are_refused_in_an_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "mslr.zip", "w") as out:
        out.write(FILES / "ms2" / "mslr" / "dev-targets.csv", "ms2/dev-targets.csv")
    with pytest.raises(
        DataError,
        match=r"mslr.zip: ms2/dev-targets.csv: the CSV files belong together .*unpack it and give the folder",
    ):
        list(read_ms2(tmp_path / "mslr.zip"))


# XML

BOMB = """<?xml version="1.0"?>
<!DOCTYPE Document [
 <!ENTITY a "ha">
 <!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
]>
<Document id="1"><QAPairs>\
<QAPair pid="1"><Question>&b;</Question><Answer>&b;</Answer></QAPair></QAPairs></Document>
"""
EXTERNAL = """<?xml version="1.0"?>
<!DOCTYPE Document [<!ENTITY secret SYSTEM "{file}">]>
<Document id="1"><QAPairs>\
<QAPair pid="1"><Question>q</Question><Answer>&secret;</Answer></QAPair></QAPairs></Document>
"""


@pytest.mark.parametrize("reader", [read_medquad, read_liveqa, read_medquad_chunks])
def test_entity_bomb_is_refused(tmp_path, reader):
    (tmp_path / "1.xml").write_text(BOMB)
    with pytest.raises(
        DataError, match=r"1.xml:3:\d+: the file declares the entity 'a'; entities are refused"
    ):
        list(reader(tmp_path))


def test_external_entity_is_refused_unread(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("hush")
    (tmp_path / "1.xml").write_text(EXTERNAL.format(file=secret.as_uri()))
    with pytest.raises(
        DataError, match=r"1.xml:2:\d+: the file declares the entity 'secret'; entities are refused"
    ) as caught:
        list(read_medquad(tmp_path))
    assert "hush" not in str(caught.value)


def test_parameter_entity_is_refused(tmp_path):
    (tmp_path / "1.xml").write_text(
        '<!DOCTYPE Document [<!ENTITY % remote SYSTEM "http://x.example.org/a.dtd"> %remote;]><Document/>'
    )
    with pytest.raises(DataError, match="declares the entity 'remote'"):
        list(read_medquad(tmp_path))


def test_doctype_without_entities_is_read_and_its_dtd_never_fetched(tmp_path):
    (tmp_path / "1.xml").write_text(
        '<!DOCTYPE Document SYSTEM "http://x.example.org/none.dtd">'
        "<Document><QAPairs><QAPair><Question>Fever?</Question><Answer>Above "
        "38&nbsp;&deg;C.</Answer></QAPair></QAPairs></Document>"
    )
    (case,) = read_medquad(tmp_path)
    assert case.reference_answer == "Above 38 °C."


def test_xml_of_another_kind(tmp_path):
    (tmp_path / "1.xml").write_text("<Other/>")
    with pytest.raises(
        DataError, match=r"1.xml: the root element is <Other>, which holds none of <Document>"
    ):
        list(read_medquad(tmp_path))


def test_pair_without_question_or_answer_is_counted(tmp_path):
    (tmp_path / "1.xml").write_text(
        "<Document><QAPairs><QAPair><Answer>Rest.</Answer></QAPair><QAPair><Question>What "
        "helps?</Question></QAPair></QAPairs></Document>"
    )
    skips = Skips()
    assert list(read_medquad(tmp_path, skips=skips)) == []
    assert dict(skips.counts) == {"empty question": 1, "empty answer": 1}
    assert skips.first["empty answer"].endswith("1.xml, pair 2")


def test_id_used_twice_is_counted(tmp_path):
    pair = '<QAPair pid="1"><Question>What helps?</Question><Answer>Rest.</Answer></QAPair>'
    (tmp_path / "1.xml").write_text(f'<Document source="S"><QAPairs>{pair}{pair}</QAPairs></Document>')
    skips = Skips()
    assert [case.id for case in read_medquad(tmp_path, skips=skips)] == ["medquad/S/1-1"]
    assert skips.lines() == [
        f"skipped 1: id used before (first: {tmp_path / '1.xml'}, pair 2, id 'medquad/S/1-1')"
    ]


# JSON


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            '{"other": []}',
            r"q.json: no field 'questions' in the object, only 'other'; expected a list 'questions'",
        ),
        ('{"questions": {}}', r"q.json:1: not JSON as expected: got '\{', expected '\['"),
        ("[]", r"q.json:1: not JSON as expected: got '\[', expected '\{'"),
        ("", r"q.json:1: .*the file ends here"),
        ('{"questions": [\n1]}', r"q.json:2: got 1, expected an object with one record"),
        (
            '{"questions": [{"id": "x"}]}',
            r"q.json:1: field 'body' is missing, the record is an object with 'id'; expected text",
        ),
        ('{"questions": [{"id": 5, "body": "?"}]}', r"q.json:1: field 'id' is 5, expected text"),
        (
            '{"questions": [{"id": "x", "body": "?", "ideal_answer": [1]}]}',
            r"field 'ideal_answer' is a list of 1, expected a list of texts",
        ),
        (
            '{"questions": [{"id": "x", "body": "?", "ideal_answer": "a", "exact_answer": {"a": 1}}]}',
            r"field 'exact_answer' is .*expected a text, ",
        ),
        (
            '{"questions": [{"id": "x", "body": "?", "ideal_answer": "a", "snippets": ["s"]}]}',
            r"'snippets' is a list of 1, expected a list of objects",
        ),
    ],
)
def test_bioasq_of_another_shape(tmp_path, content, message):
    (tmp_path / "q.json").write_text(content)
    with pytest.raises(DataError, match=message):
        list(read_bioasq(tmp_path / "q.json"))


def test_pubmedqa_names_the_line_of_a_bad_record(tmp_path):
    (tmp_path / "ori_pqal.json").write_text(
        '{\n"1": {"QUESTION": "Q?", "LONG_ANSWER": "A."},\n"2": {"QUESTION": "Q?"}}'
    )
    with pytest.raises(DataError, match=r"ori_pqal.json:3: field 'LONG_ANSWER' is missing"):
        list(read_pubmedqa(tmp_path))


def test_pubmedqa_counts_keys_used_twice_and_empty_answers(tmp_path):
    row = '{"QUESTION": "Q?", "LONG_ANSWER": "A."}'
    (tmp_path / "ori_pqal.json").write_text(f'{{"1": {row}, "1": {row}, "2": {row.replace("A.", " ")}}}')
    skips = Skips()
    assert len(list(read_pubmedqa(tmp_path, skips=skips))) == 1
    assert dict(skips.counts) == {"id used before": 1, "empty answer": 1}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"Question": "Q?", "Must_have": "x"\n', r"k.jsonl:2: not JSON"),
        (
            '{"Must_have": ["x"]}',
            r"k.jsonl:1: field 'Question' is missing, the record is an object with 'Must_have'",
        ),
        (
            '\n{"Question": "Q?", "Must_have": {"a": 1}}',
            r"k.jsonl:2: field 'Must_have' is .*expected a list of texts",
        ),
    ],
)
def test_kqa_of_another_shape(tmp_path, content, message):
    (tmp_path / "k.jsonl").write_text(content)
    with pytest.raises(DataError, match=message):
        list(read_kqa(tmp_path / "k.jsonl"))


MEDQA = {"question": "Q?", "options": {"A": "x", "B": "y"}, "answer_idx": "A", "answer": "x"}
MEDMCQA = {
    "id": "1",
    "question": "Q?",
    "opa": "a",
    "opb": "b",
    "opc": "c",
    "opd": "d",
    "cop": 4,
    "exp": "Why.",
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"question": None}, r"q.jsonl:2: field 'question' is missing"),
        ({"question": 5}, r"q.jsonl:2: field 'question' is 5, expected text"),
        ({"options": None}, r"q.jsonl:2: field 'options' is None, expected an object of two or more options"),
        (
            {"options": {"A": "x"}},
            r"q.jsonl:2: field 'options' is .*expected an object of two or more options",
        ),
        (
            {"options": {"A": "x", "B": 2}},
            r"q.jsonl:2: field 'options' is .*expected an object of two or more",
        ),
        ({"options": ["x", "y"]}, r"q.jsonl:2: field 'options' is a list of 2, expected an object"),
        ({"answer_idx": "C"}, r"q.jsonl:2: field 'answer_idx' is 'C', expected one of the options, A, B"),
        ({"answer_idx": None}, r"q.jsonl:2: field 'answer_idx' is missing"),
        ({"answer_idx": 0}, r"q.jsonl:2: field 'answer_idx' is 0, expected text"),
        ({"meta_info": ["step1"]}, r"q.jsonl:2: field 'meta_info' is a list of 1, expected text"),
    ],
)
def test_medqa_names_file_line_and_field_of_a_bad_row(tmp_path, changes, message):
    rows = [MEDQA, {**MEDQA, **changes}]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(DataError, match=message):
        list(read_medqa(tmp_path))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"question": None}, r"q.json:2: field 'question' is missing"),
        ({"id": None}, r"q.json:2: field 'id' is missing"),
        ({"opb": None}, r"q.json:2: field 'opb' is missing"),
        ({"opd": 4}, r"q.json:2: field 'opd' is 4, expected text"),
        ({"exp": ["Why."]}, r"q.json:2: field 'exp' is a list of 1, expected text"),
        ({"cop": 5}, r"q.json:2: field 'cop' is 5, expected a number from 1 to 4"),
        ({"cop": "a"}, r"q.json:2: field 'cop' is 'a', expected a number from 1 to 4"),
        ({"cop": True}, r"q.json:2: field 'cop' is True, expected a number from 1 to 4"),
        ({"cop": 1.5}, r"q.json:2: field 'cop' is 1.5, expected a number from 1 to 4"),
        ({"cop": 0}, r"q.json:2: field 'cop' is 0, and the file counts from 1 in rows before"),
    ],
)
def test_medmcqa_names_file_line_and_field_of_a_bad_row(tmp_path, changes, message):
    rows = [MEDMCQA, {**MEDMCQA, "id": "2", **changes}]
    (tmp_path / "q.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(DataError, match=message):
        list(read_medmcqa(tmp_path))


def test_medmcqa_that_does_not_tell_how_it_counts_is_refused(tmp_path):
    rows = [{**MEDMCQA, "id": str(number), "cop": number} for number in (1, 2, 3)]
    (tmp_path / "q.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(DataError, match=r"q.json:1: field 'cop' is from 1 to 3 in all rows.*counts from 1"):
        list(read_medmcqa(tmp_path))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"docid": "90000021"', '"docid": 5'), r"field 'docid' is 5, expected text"),
        (
            ('"title": "Sunscreen and sunburn: an invented systematic review.",', ""),
            r"field 'title' is missing",
        ),
        (
            ('["METHODS", "Two invented trials were read .", {"METHODS": 0.9}]', '"METHODS"'),
            r"'structured_abstract' holds .*expected rows of label",
        ),
        (('"pmid": null, "s2id": 90000777', '"pmid": null, "s2id": null'), r"neither 'pmid' nor 's2id'"),
    ],
)
def test_ms2_review_of_another_shape(tmp_path, change, message):
    text = (FILES / "ms2" / "review.json").read_text(encoding="utf-8")
    assert change[0] in text
    (tmp_path / "review.json").write_text(text.replace(*change), encoding="utf-8")
    with pytest.raises(DataError, match=rf"review.json:1: .*{message}"):
        list(read_ms2(tmp_path))


# CSV


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            ",ReviewID\n0,1\n",
            (
                r"dev-targets.csv:1: column 'Target' is missing, the heading has '', 'ReviewID'; expected "
                r"'ReviewID', 'Target'"
            ),
        ),
        ("", r"dev-targets.csv:1: column 'ReviewID' is missing, the heading has nothing"),
        (",ReviewID,Target\n0,1\n", r"dev-targets.csv:2: the row has 2 cells, expected 3 or more"),
        (
            ",ReviewID,Target\n0,1,Rest, and iron, helps.\n",
            (
                r"dev-targets.csv:2: the row has 5 cells, expected 3 as in the heading; .*double quotes "
                r"around texts with commas"
            ),
        ),
        (',ReviewID,Target\n0,1,"never ends\n', r"dev-targets.csv:2: not CSV"),
    ],
)
def test_csv_of_another_shape(tmp_path, content, message):
    (tmp_path / "dev-targets.csv").write_text(content)
    with pytest.raises(DataError, match=message):
        list(read_ms2(tmp_path))


def test_blank_cells_beyond_the_heading_do_no_harm(tmp_path):
    (tmp_path / "q.csv").write_text("id,question\n1,Are freckles harmful?,, \n")
    assert [case.question for case in read_healthsearchqa(tmp_path)] == ["Are freckles harmful?"]


@pytest.mark.parametrize("kind", ["inputs", "reviews-info"])
def test_ms2_files_without_their_reviews_name_the_file_that_has_them(tmp_path, kind):
    file = Path(shutil.copy(FILES / "ms2" / "mslr" / f"dev-{kind}.csv", tmp_path))
    with pytest.raises(
        DataError,
        match=rf"dev-{kind}\.csv: has no reviews of its own, expected those of dev-targets\.csv; give that "
        rf"file",
    ):
        adapt("ms2", file, tmp_path / "g.jsonl")
    (tmp_path / "dev-reviews-info.csv").unlink(missing_ok=True)
    shutil.copy(FILES / "ms2" / "mslr" / "dev-inputs.csv", tmp_path)
    with pytest.raises(
        DataError,
        match=r"1: inputs without targets \(first: .*dev-inputs\.csv, which needs dev-targets\.csv beside "
        r"it\)",
    ):
        adapt("ms2", tmp_path, tmp_path / "g.jsonl")


def test_csv_with_a_cell_beyond_the_modules_own_limit_is_read(tmp_path):
    (tmp_path / "dev-targets.csv").write_text(f",ReviewID,Target\n0,1,{'word ' * 40_000}\n")
    (case,) = read_ms2(tmp_path)
    assert len(case.reference_answer) == 199_999


def test_healthsearchqa_csv_without_the_column(tmp_path):
    (tmp_path / "q.csv").write_text("id,text\n1,Are freckles harmful?\n")
    with pytest.raises(
        DataError, match=r"q.csv:1: column 'question' is missing, the heading has 'id', 'text'"
    ):
        list(read_healthsearchqa(tmp_path))


# MedDialog: what patients wrote never reaches a message, a count or a log

PATIENT_TEXT = "my rash and my street"


@pytest.mark.parametrize(
    "content",
    [
        f"Description\n{PATIENT_TEXT}?\n\nDialogue\nPatient:\n{PATIENT_TEXT}\nDoctor:\nRest.\n",
        f"id=1\nurl\n\nDescription\n{PATIENT_TEXT}?\n\nDialogue\nPatient:\n{PATIENT_TEXT}\n",
        f"id=1\nurl\n\nDescription\n\nDialogue\n{PATIENT_TEXT}\nDoctor:\nRest.\n",
        f"id=1\nurl\n{PATIENT_TEXT}\n",
        f"id=1\nurl\n\nDescription\n{PATIENT_TEXT}?\nDialogue\nDoctor:\nRest.\n" * 2,
    ],
    ids=["no record", "no doctor", "no patient", "no parts", "id twice"],
)
def test_patient_text_stays_out_of_messages_counts_and_logs(tmp_path, content, caplog, capsys):
    (tmp_path / "d.txt").write_text(content)
    skips = Skips()
    told = []
    with caplog.at_level(logging.DEBUG):
        try:
            list(read_meddialog(tmp_path, skips=skips))
            adapt("meddialog", tmp_path, tmp_path / "out.jsonl")
        except DataError as error:
            told += [str(error), repr(error.__context__), repr(error.__cause__)]
    told += [*skips.lines(), caplog.text, *capsys.readouterr()]
    assert told[0] or skips.total, "something was left out and must be told"
    assert not any(word in text for text in told for word in ("rash", "street"))


def test_patient_text_with_bytes_that_are_not_utf_8_stays_out_too(tmp_path):
    (tmp_path / "d.txt").write_bytes(f"id=1\nurl\n\nDescription\n{PATIENT_TEXT}".encode() + b" \xe9\n")
    with pytest.raises(DataError, match=r"d.txt:5: byte b'\\xe9' is not UTF-8") as caught:
        list(read_meddialog(tmp_path))
    assert "rash" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


GOLD = {"id": "meddialog/1", "question": PATIENT_TEXT, "reference_answer": PATIENT_TEXT}


@pytest.mark.parametrize(
    "line",
    [
        json.dumps(GOLD)[:-1],
        json.dumps(GOLD).replace('", "', '" "'),
        json.dumps(PATIENT_TEXT),
        json.dumps([PATIENT_TEXT]),
        json.dumps({**GOLD, "id": None}),
        json.dumps({**GOLD, "question": [PATIENT_TEXT]}),
        json.dumps({**GOLD, "meta": PATIENT_TEXT}),
        json.dumps({**GOLD, "gold_claims": PATIENT_TEXT}),
        json.dumps({**GOLD, "gold_claims": [PATIENT_TEXT]}),
        json.dumps({**GOLD, "gold_claims": [{"text": PATIENT_TEXT}]}),
        json.dumps({**GOLD, "gold_claims": [{"id": "g1", "text": "Rest.", "key": PATIENT_TEXT}]}),
    ],
)
def test_patient_text_in_a_gold_file_stays_out_of_messages(tmp_path, line):
    (tmp_path / "gold.jsonl").write_text(line + "\n")
    with pytest.raises(DataError, match=r"gold\.jsonl:1: ") as caught:
        list(read_cases(str(tmp_path / "gold.jsonl")))
    assert not any(word in f"{caught.value} {caught.value.__context__}" for word in ("rash", "street"))


@pytest.mark.parametrize(
    "sheet", [f"1,1,keep,yes,{PATIENT_TEXT}\n", f"case,claim,keep,key,text\n[1],[g1],{PATIENT_TEXT},yes,x\n"]
)
def test_patient_text_in_a_sheet_that_slipped_stays_out_of_messages(tmp_path, sheet):
    (tmp_path / "gold.jsonl").write_text(json.dumps(GOLD) + "\n")
    (tmp_path / "sheet.csv").write_text(sheet)
    with pytest.raises(DataError, match=r"sheet\.csv:\d: column ") as caught:
        apply_gold_review(tmp_path / "gold.jsonl", tmp_path / "sheet.csv")
    assert "rash" not in str(caught.value)
