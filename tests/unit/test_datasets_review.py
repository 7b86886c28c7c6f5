"""The review sheet: nothing is lost without edits, every edit arrives, and spreadsheets do no harm."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_medfaith.datasets.review import (
    COLUMNS,
    apply_review,
    id_in_sheet,
    read_review_sheet,
    write_review_sheet,
)
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Case, GoldClaim

# No lone surrogates, which UTF-8 cannot hold, and no NUL, which the csv module of Python 3.10 cannot read.
TEXT = st.text(alphabet=st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=40)
SOLID = TEXT.filter(str.strip)
NAME = TEXT.filter(id_in_sheet)
HAZARDS = st.sampled_from(
    [
        "=1+1",
        "+x",
        "-5 mg less",
        "@sum",
        "'quoted",
        "'=x",
        "''",
        "'",
        "\ttab",
        "a\r\nb",
        'say "no"',
        "a;b,c",
        "a;=1",
        " ;=1+1",
        "\x1b[31mred",
        "::error::x",
        "007",
        "1E5",
    ]
)
CLAIM = st.builds(
    GoldClaim,
    id=NAME,
    text=SOLID | HAZARDS.filter(str.strip),
    key=st.booleans(),
    provenance=TEXT | HAZARDS,
    extra=st.just({}) | st.just({"note": "kept"}),
)
CASE = st.builds(
    Case,
    id=NAME,
    question=TEXT | HAZARDS,
    gold_claims=st.lists(CLAIM, max_size=4, unique_by=lambda claim: id_in_sheet(claim.id)).map(tuple),
    reference_answer=st.none() | TEXT | HAZARDS,
    meta=st.just({"a": [1]}),
    extra=st.just({"other": 1}),
)


def test_claims_of_one_id_are_refused_before_anything_is_written(tmp_path):
    twice = Case(
        id="c1",
        question="?",
        gold_claims=(GoldClaim(id="g", text="Iron helps."), GoldClaim(id="g", text="Zinc helps.")),
    )
    with pytest.raises(DataError, match="gold claims of case 'c1': the id 'g' stands twice"):
        write_review_sheet([twice], tmp_path / "sheet.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def cases() -> list[Case]:
    return [
        Case(
            id="c1",
            question="What helps a sprain?",
            reference_answer="Rest and cold packs help.",
            gold_claims=(
                GoldClaim(id="g1", text="Rest helps a sprain.", provenance="extracted", extra={"note": 1}),
                GoldClaim(id="g2", text="Cold packs help a sprain.", key=False, provenance="extracted"),
                GoldClaim(id="g3", text="Running helps a sprain.", provenance="extracted"),
            ),
            meta={"url": "https://x.example.org"},
            extra={"other": 1},
        ),
        Case(id="c2", question="What is a sprain?"),
    ]


def _edit(path: Path, change) -> None:
    """Lets `change` edit the rows (dicts) of the sheet as a person would."""
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))
    rows = change(rows) or rows
    with path.open("w", encoding="utf-8-sig", newline="") as out:
        sheet = csv.DictWriter(out, COLUMNS)
        sheet.writeheader()
        sheet.writerows(rows)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(found=st.lists(CASE, max_size=4, unique_by=lambda case: id_in_sheet(case.id)))
def test_a_sheet_without_edits_loses_nothing(found, tmp_path):
    sheet = tmp_path / "sheet.csv"
    assert write_review_sheet(found, sheet) == len(found)
    reviewed = apply_review(found, read_review_sheet(sheet))
    assert [case.to_dict() for case in reviewed.cases] == [case.to_dict() for case in found]
    assert set(reviewed.edits) <= {"kept", "dropped"}
    assert reviewed.edits["dropped"] == 0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(
    found=st.lists(CASE, min_size=1, max_size=3, unique_by=lambda case: id_in_sheet(case.id)),
    separator=st.sampled_from(",;\t"),
)
def test_a_spreadsheet_may_change_separators_and_line_ends(found, separator, tmp_path):
    sheet = tmp_path / "sheet.csv"
    write_review_sheet(found, sheet)
    rows = list(csv.reader(io.StringIO(sheet.read_text(encoding="utf-8-sig"), newline="")))
    saved = io.StringIO(newline="")
    csv.writer(saved, delimiter=separator, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(
        [cell.replace("\r\n", "\n").replace("\n", "\r\n") for cell in row] + ["", ""] for row in rows
    )
    sheet.write_text(saved.getvalue(), encoding="utf-8", newline="")
    reviewed = apply_review(found, read_review_sheet(sheet))
    assert [case.to_dict() for case in reviewed.cases] == [case.to_dict() for case in found]


def test_the_sheet_shows_what_a_reviewer_needs(cases, tmp_path):
    sheet = tmp_path / "sheet.csv"
    write_review_sheet(cases, sheet)
    assert sheet.read_bytes().startswith(
        b"\xef\xbb\xbfcase,claim,keep,key,text,provenance,question,answer\r\n"
    )
    rows = list(csv.reader(io.StringIO(sheet.read_text(encoding="utf-8-sig"))))
    assert rows[1] == [
        "[c1]",
        "[g1]",
        "keep",
        "yes",
        "Rest helps a sprain.",
        "extracted",
        "What helps a sprain?",
        "Rest and cold packs help.",
    ]
    assert rows[2] == [
        "[c1]",
        "[g2]",
        "keep",
        "no",
        "Cold packs help a sprain.",
        "extracted",
        "What helps a sprain?",
        "",
    ]
    assert rows[4] == ["[c2]", "", "keep", "yes", "", "", "What is a sprain?", ""]


@pytest.mark.parametrize(
    "text",
    [
        "=HYPERLINK(1)",
        "+5",
        "-2 kg",
        "@x",
        " =1+1",
        ";=1+1",
        "\xa0=1",
        "\ufeff=1",
        "\x00@x",
        "a;\n=1+1",
        "＝1",
    ],
)
def test_no_cell_begins_as_a_formula(text, tmp_path):
    sheet = tmp_path / "sheet.csv"
    case = Case(
        id=text,
        question=text,
        reference_answer=text,
        gold_claims=(GoldClaim(id=text, text=text, provenance=text),),
    )
    write_review_sheet([case], sheet)
    rows = list(csv.reader(io.StringIO(sheet.read_text(encoding="utf-8-sig"))))
    parts = [part.strip() for row in rows for cell in row for part in cell.split(";")]
    assert not [part for part in parts if part.startswith(("=", "+", "-", "@", "＝"))]
    assert apply_review([case], read_review_sheet(sheet)).cases == (case,)


@pytest.mark.parametrize(
    "text", ["\x1b[31mred\x1b[0m", "a\x85::error::owned", "a\x08b", "\u202eturned"], ids=ascii
)
def test_a_sheet_holds_no_control_character(text, tmp_path):
    sheet = tmp_path / "sheet.csv"
    case = Case(
        id=f"c{text}",
        question=text,
        reference_answer=text,
        gold_claims=(GoldClaim(id=f"g{text}", text=text, provenance=text),),
    )
    write_review_sheet([case], sheet)
    assert sheet.read_text(encoding="utf-8-sig").replace("\n", "").isprintable()
    assert apply_review([case], read_review_sheet(sheet)).cases == (case,)


@pytest.mark.parametrize(
    ("ids", "message"),
    [(("a\x07", "a"), r"ids 'a\\x07' and 'a' look alike in a sheet"), (("\x07",), "holds nothing")],
)
def test_ids_that_a_sheet_cannot_hold_are_refused(ids, message, tmp_path):
    with pytest.raises(DataError, match=message):
        write_review_sheet([Case(id=name, question="?") for name in ids], tmp_path / "sheet.csv")


def test_an_edited_text_loses_the_apostrophe_that_was_put_before_it(tmp_path):
    sheet = tmp_path / "sheet.csv"
    case = Case(id="c", question="?", gold_claims=(GoldClaim(id="g", text="-2 kg; +1 kg"),))
    write_review_sheet([case], sheet)
    _edit(sheet, lambda rows: rows[0].update(text=rows[0]["text"] + " in a week"))
    (edited,) = apply_review([case], read_review_sheet(sheet)).cases
    assert edited.gold_claims[0].text == "-2 kg; +1 kg in a week"


def test_every_edit_arrives(cases, tmp_path):
    sheet = tmp_path / "sheet.csv"
    write_review_sheet(cases, sheet)

    def change(rows):
        rows[0]["key"] = "no"
        rows[1]["text"] = " Cold packs lower the swelling of a sprain. "
        rows[2]["keep"] = "DROP"
        rows[3]["text"] = "A sprain is an injury of a ligament."
        rows.append({"case": "c1", "keep": "", "key": "yes", "text": "A bandage supports a sprained ankle."})

    _edit(sheet, change)
    reviewed = apply_review(cases, read_review_sheet(sheet))
    assert [
        (claim.id, claim.text, claim.key, claim.provenance) for claim in reviewed.cases[0].gold_claims
    ] == [
        ("g1", "Rest helps a sprain.", False, "extracted"),
        ("g2", "Cold packs lower the swelling of a sprain.", False, "human"),
        ("g4", "A bandage supports a sprained ankle.", True, "human"),
    ]
    assert [(claim.id, claim.text, claim.provenance) for claim in reviewed.cases[1].gold_claims] == [
        ("g1", "A sprain is an injury of a ligament.", "human")
    ]
    assert reviewed.cases[0].gold_claims[0].extra == {"note": 1}
    assert reviewed.cases[0].meta == cases[0].meta
    assert reviewed.line() == "0 kept, 1 dropped, 1 rewritten, 1 toggled, 2 added"


def test_a_deleted_row_drops_its_claim_and_a_case_without_rows_is_left_alone(cases, tmp_path):
    sheet = tmp_path / "sheet.csv"
    write_review_sheet(cases, sheet)
    _edit(sheet, lambda rows: [row for row in rows if row["claim"] in ("[g1]", "[g2]")])
    reviewed = apply_review(cases, read_review_sheet(sheet))
    assert [claim.id for claim in reviewed.cases[0].gold_claims] == ["g1", "g2"]
    assert reviewed.cases[1] == cases[1]
    assert reviewed.edits["dropped"] == 1


def test_dropping_every_claim_leaves_the_case(cases, tmp_path):
    sheet = tmp_path / "sheet.csv"
    write_review_sheet(cases[:1], sheet)
    _edit(sheet, lambda rows: [{**row, "keep": "drop"} for row in rows])
    reviewed = apply_review(cases, read_review_sheet(sheet))
    assert reviewed.cases[0].gold_claims == ()
    assert reviewed.line() == "0 kept, 3 dropped, 0 rewritten, 0 toggled, 0 added"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda rows: rows[0].update(keep="maybe"),
            r"sheet.csv:2: column 'keep' is 'maybe', expected keep or drop",
        ),
        (lambda rows: rows[1].update(key="TRUE"), r"sheet.csv:3: column 'key' is 'TRUE', expected yes or no"),
        (
            lambda rows: rows[1].update(claim="[g1]"),
            r"sheet.csv:3: claim 'g1' of case 'c1' stands at .*sheet.csv:2 already, expected once",
        ),
        (
            lambda rows: rows[0].update(case=""),
            r"sheet.csv:2: the case cell is empty; copy it from the row above",
        ),
        (lambda rows: rows[0].update(case="[c9]"), r"sheet.csv:2: case 'c9' is not among the cases"),
        (
            lambda rows: rows[0].update(claim="[g9]"),
            r"sheet.csv:2: case 'c1' has no claim 'g9'; for a new claim leave the claim cell empty",
        ),
        (
            lambda rows: rows[2].update(text="  "),
            r"sheet.csv:4: claim 'g3' is kept but its text is empty; write a text, or drop",
        ),
    ],
)
def test_wrong_edits_name_file_and_line(cases, tmp_path, change, message):
    sheet = tmp_path / "sheet.csv"
    write_review_sheet(cases, sheet)
    _edit(sheet, change)
    with pytest.raises(DataError, match=message):
        apply_review(cases, read_review_sheet(sheet))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"",
            (
                r"s.csv:1: column 'case' is missing, the heading has nothing; put back the heading "
                r"case,claim,keep,key,text"
            ),
        ),
        (
            b"case,claim,keep,text\n",
            r"s.csv:1: column 'key' is missing, the heading has 'case', 'claim', 'keep', 'text'",
        ),
        (
            b'case,claim,keep,key,text\n[c1],[g1],keep,yes,"cut',
            r"s.csv:2: not CSV .*save the sheet as CSV UTF-8",
        ),
        (b"case,claim,keep,key,text\n[c1],[g1],keep,yes,caf\xe9\n", r"s.csv:2: byte b'\\xe9' is not UTF-8"),
    ],
)
def test_damaged_sheets(tmp_path, content, message):
    (tmp_path / "s.csv").write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_review_sheet(tmp_path / "s.csv")


def test_no_such_sheet(tmp_path):
    with pytest.raises(
        DataError, match=r"none.csv: no such file; write the sheet first with `medfaith gold review"
    ):
        read_review_sheet(tmp_path / "none.csv")
