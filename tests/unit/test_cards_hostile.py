"""Texts from anywhere: no output lets them command a terminal, a CI server, a spreadsheet or a page."""

import csv
import io
import json
import re
import unicodedata
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import pytest
from card_samples import slice_sample

from pytest_medfaith.cards.csv_claims import claims_csv
from pytest_medfaith.cards.explanation import (
    explain_claim,
    explain_faithfulness,
    explain_recall,
    explain_safety,
    explain_unchecked,
)
from pytest_medfaith.cards.github import annotation
from pytest_medfaith.cards.json_card import json_card
from pytest_medfaith.cards.junit import junit_card
from pytest_medfaith.cards.markdown import escaped, markdown_card
from pytest_medfaith.cards.terminal import result_card
from pytest_medfaith.plain import one_line, plain_json, plain_lines
from pytest_medfaith.records import (
    Case,
    Chunk,
    Claim,
    Dropped,
    Finding,
    GateResult,
    GoldClaim,
    Report,
    Response,
    SliceReport,
    Verdict,
)
from pytest_medfaith.run.terminal import _write

HOSTILE = [
    "::error file=a.py::owned",
    "  ::warning::owned",
    "asked\n::set-output name=a::b",
    "asked\r::error::owned",
    "asked\x85::warning::owned",
    "asked\x0c::error::owned",
    "asked\x0b::error::owned",
    "asked\u2028::error::owned",
    "asked\u2029::error::owned",
    "asked\x1c::stop-commands::x",
    "\u200b::error::owned",
    "\ufeff::add-mask::a",
    "\u202e::error::owned",
    "\xa0::error::owned",
    "see ##[error]owned",
    "##vso[task.setvariable variable=a]b",
    "##teamcity[buildStatus status='FAILURE']",
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\",
    "\x9b2J",
    "\x9d0;title\x9c",
    "a\x08\x08\x08b",
    "\x7f",
    "\x00",
    "\u2066turned\u2069",
    "tag\U000e0041",
]


def report_of(text: str) -> SliceReport:
    """Returns a slice report with `text` wherever foreign text can be."""
    chunk = Chunk(id=f"k{text}", title=text, url=f"https://example.org/{text}", text=f"{text}. Iron helps.")
    finding = Finding(
        rule="safety.dose",
        message=text,
        claim_span=(0, 3),
        evidence_span=(0, 3),
        chunk_id=chunk.id,
        effect="refute",
    )
    verdicts = [
        Verdict(
            claim=Claim(id=f"c{i}{text}", text=text),
            label=label,
            score=0.9,
            chunk_id=chunk.id,
            span=(0, len(text)),
            conflict=True,
            supporting=(chunk.id,),
            reason=text,
            findings=(finding,),
        )
        for i, label in enumerate(("refuted", "unsupported", "unscored"))
    ]
    case = Case(
        id=f"case {text}", question=text, gold_claims=(GoldClaim(id="g", text=text, provenance=text),)
    )
    dropped = (Dropped(text=text, span=(0, len(text)), reason=text),)
    response = Response(answer=text, contexts=(chunk,))
    one = Report(case=case, response=response, verdicts=tuple(verdicts), dropped=dropped)
    said = f"worse than {text}\n{text}"
    gate = GateResult(expression="hallucination <= 0.05", outcome="fail", message=said)
    return SliceReport(
        slice=text,
        retriever=text,
        checker=text,
        k=3,
        reports=(one,),
        gates=(gate,),
        missing=(text,),
        skipped={text: 1},
    )


def told(report: SliceReport) -> dict[str, str]:
    (one,) = report.reports
    explanations = [
        function([one], most=None) for function in (explain_faithfulness, explain_safety, explain_recall)
    ]
    lines: list[str] = []
    terminal = SimpleNamespace(write_line=lambda line, **_: lines.append(line))
    _write(terminal, f"{report.slice}: {report.gates[0].message}")
    return {
        "terminal": result_card([report], verbose=True),
        "accounts": "\n".join(
            [
                *explanations,
                explain_unchecked([one]),
                *(explain_claim(verdict, one) for verdict in one.verdicts),
            ]
        ),
        "summary": "\n".join(lines),
        "markdown": markdown_card([report], most=None),
        "json": json_card([report]),
        "junit": junit_card([report]),
        "csv": claims_csv([report]),
        "annotation": annotation(report.gates[0].message, file=report.slice, title=report.slice),
    }


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_no_output_holds_a_control_character_or_gives_a_command(text):
    for name, shown in told(report_of(text)).items():
        body = shown.removeprefix("::error ") if name == "annotation" else shown
        left = {sign for sign in body if unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp")} - {
            "\n"
        }
        assert left <= ({"\r"} if name == "csv" else set()), (name, left)
        assert not [line for line in body.splitlines() if line.lstrip().startswith("::")], name
        assert not re.search(r"##\w*\[", body), name


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_what_programs_read_can_still_be_read(text):
    report = report_of(text)
    (row,) = json.loads(json_card([report]))["slices"]
    assert row["cases"][0]["claims"][0]["text"] == text
    assert ET.fromstring(junit_card([report])).tag == "testsuites"  # noqa: S314 - written by us
    assert len(list(csv.reader(io.StringIO(claims_csv([report]), newline="")))) == 5
    assert claims_csv([report]).count("\r\n") == 5
    assert annotation(text).count("\n") == 0


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        " =1+1",
        "\xa0=1+1",
        "\t=1+1",
        ";=1+1",
        "; =1+1",
        "a;=1+1",
        "a;; @SUM(1)",
        "a|=1+1",
        '"=1+1',
        "'=1+1",
        'a;"=1+1',
        "\u200b=1+1",
        "\ufeff=1",
        "\x00=1",
        "\x0b=1",
        "+49",
        "-1+1",
        "@SUM(A1)",
        "\uff1d1+1",
        "\uff0b1",
        "\uff201",
        "\ufe631",
        "-2",
        "a\n=1+1",
        "a;\n=1+1",
    ],
    ids=ascii,
)
def test_no_cell_of_a_sheet_is_a_formula(text):
    (_, *rows) = csv.reader(io.StringIO(claims_csv([report_of(text)]), newline=""))
    for row in rows:
        for cell in row:
            for part in cell.replace("|", ";").split(";"):
                assert not part.lstrip(' "').startswith(("=", "+", "-", "@", "＝", "＋", "＠", "﹣")), cell


def test_a_sheet_leaves_plain_text_alone():
    rows = list(
        csv.reader(
            io.StringIO(claims_csv([report_of("Take 5 to 10 mg; at most 3 - 4 a day, +/- 1")]), newline="")
        )
    )
    assert rows[1][10] == "Take 5 to 10 mg; at most 3 - 4 a day, +/- 1"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("@octo look", "@&#8203;octo look"),
        ("nDCG@10 and a@b.org", "nDCG@10 and a@b.org"),
        ("https://example.org", "https\\://example.org"),
        ("www.example.org", "www\\.example.org"),
        ("&lt;b&gt; & &#64;", "\\&lt;b\\&gt; & \\&#64;"),
        ("$x$", "\\$x\\$"),
        ("<img src=x>", "\\<img src=x>"),
        ("![a](b)", "![a\\](b)"),
    ],
)
def test_markdown_neither_links_nor_calls_anybody(text, shown):
    assert escaped(text) == shown


def test_lines_and_indents_of_an_account_stay():
    assert plain_lines("a\n    b  c\n\td") == "a\n    b  c\n d"
    assert (
        plain_lines("half \ud800 of it")
        == one_line("half \ud800 of it")
        == "half \N{REPLACEMENT CHARACTER} of it"
    )


@pytest.mark.parametrize("text", [*HOSTILE, "plain µg", "half \ud800"], ids=ascii)
def test_escaped_json_reads_back_the_same(text):
    written = plain_json(json.dumps({"a": text}, ensure_ascii=False))
    assert json.loads(written) == {"a": text}
    assert written.isprintable()


def test_an_ordinary_card_is_not_changed():
    assert plain_lines(result_card([slice_sample()])) == result_card([slice_sample()])
