import csv
import io
import xml.etree.ElementTree as ET

import pytest
from card_samples import INVENTED, METRICS, case_report, refusal, slice_sample, value

from pytest_medfaith.cards import github
from pytest_medfaith.cards.csv_claims import claims_csv
from pytest_medfaith.cards.github import annotation, append_step_summary, on_actions
from pytest_medfaith.cards.junit import case_properties, junit_card, slice_properties
from pytest_medfaith.cards.plots import ablation_svg, reliability_svg, trend_svg
from pytest_medfaith.errors import DataError
from pytest_medfaith.metrics.calibration import reliability
from pytest_medfaith.records import GateResult

SVG = "{http://www.w3.org/2000/svg}"


def test_csv_has_a_row_a_claim():
    rows = list(csv.DictReader(io.StringIO(claims_csv([slice_sample(), slice_sample(retriever="bm25")]))))
    assert len(rows) == 10
    assert [row["retriever"] for row in rows] == ["bm25"] * 5 + ["rrf"] * 5
    first = rows[0]
    assert (first["case"], first["verdict"], first["score"], first["conflict"]) == (
        "pcos-1",
        "refuted",
        "0.9700",
        "yes",
    )
    assert first["evidence"] == "Metformin lowers insulin levels in women with PCOS."
    assert first["rules"] == "direction"
    assert rows[4]["score"] == ""  # unscored


def test_csv_holds_no_formula():
    claim = INVENTED.claim.with_(text='=HYPERLINK("https://example.org")')
    row = next(
        csv.DictReader(
            io.StringIO(
                claims_csv([slice_sample(reports=(case_report(verdicts=(INVENTED.with_(claim=claim),)),))])
            )
        )
    )
    assert row["claim"] == '\'=HYPERLINK("https://example.org")'


def test_junit_properties_of_a_case():
    properties = dict(case_properties(case_report(), slice="medquad-nih"))
    assert properties["medfaith.slice"] == "medquad-nih"
    assert properties["medfaith.claims"] == "3"
    assert properties["medfaith.refuted"] == "1"
    assert properties["medfaith.unscored"] == "0"
    assert properties["medfaith.faithfulness"] == "0.333333"
    assert dict(case_properties(refusal(), slice="medquad-nih"))["medfaith.abstained"] == "yes"
    assert "medfaith.faithfulness" not in dict(case_properties(refusal(), slice="medquad-nih"))


def test_a_run_as_junit():
    gates = (
        GateResult(expression="hallucination <= 0.05", outcome="fail", message="it is 0.33"),
        GateResult(expression="faithfulness >= 0.2", outcome="pass"),
        GateResult(
            expression="claim_recall >= 0.5", outcome="inconclusive", message="40 cases would settle it"
        ),
    )
    odd = case_report().with_(case=case_report().case.with_(id='a<b>&"\x00'))
    root = ET.fromstring(  # noqa: S314 - our text
        junit_card(
            [slice_sample(reports=(odd,), missing=("lost-1",), gates=gates), slice_sample(retriever="bm25")]
        )
    )
    assert [suite.get("name") for suite in root] == [
        "medquad-nih bm25 nli-student k=10",
        "medquad-nih rrf nli-student k=10",
    ]
    suite = root[1]
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "5",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
    }
    outcomes = {
        case.get("name"): [child.tag for child in case if child.tag != "properties"]
        for case in suite.iter("testcase")
    }
    assert outcomes == {
        'a<b>&"\N{REPLACEMENT CHARACTER}': [],
        "lost-1": ["error"],
        "hallucination <= 0.05": ["failure"],
        "faithfulness >= 0.2": [],
        "claim_recall >= 0.5": ["skipped"],
    }
    assert suite.find(".//failure").get("message") == "it is 0.33"
    scores = {row.get("name"): row.get("value") for row in suite.find("testcase").iter("property")}
    assert scores["medfaith.faithfulness"] == "0.333333"
    assert "medfaith.medquad-nih.rrf.nli-student.k10.cases" in {
        row.get("name") for row in suite.find("properties")
    }


def test_junit_properties_of_a_slice():
    properties = slice_properties(slice_sample(missing=("a",), partial=True))
    place = "medfaith.medquad-nih.rrf.nli-student.k10"
    found = dict(properties)
    assert len(found) == len(properties)
    assert found[f"{place}.faithfulness"] == "0.82"
    assert found[f"{place}.faithfulness.low"] == "0.76"
    assert f"{place}.context_precision" not in found
    assert found[f"{place}.missing"] == "1"
    assert found[f"{place}.partial"] == "yes"
    assert found[f"{place}.gate[hallucination <= 0.001]"] == "fail"


def test_annotations_are_escaped():
    line = annotation("100 % wrong\nsecond: line, with comma", file="a,b:c.py", line=7, title="50%\r")
    assert line == "::error file=a%2Cb%3Ac.py,line=7,title=50%25%0A::100 %25 wrong%0Asecond: line, with comma"
    assert annotation("plain", level="notice") == "::notice::plain"
    assert len(annotation("x" * 10_000)) < 4100


def test_the_step_summary_is_appended_only_where_there_is_one(tmp_path):
    path = tmp_path / "summary.md"
    path.write_text("before\n", encoding="utf-8")
    assert append_step_summary("### card\n", {"GITHUB_STEP_SUMMARY": str(path)}) is True
    assert path.read_text(encoding="utf-8") == "before\n### card\n\n"
    assert append_step_summary("### card", {}) is False


def test_a_summary_that_is_too_large_is_cut_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(github, "SUMMARY_BYTES", 1000)
    path = tmp_path / "summary.md"
    append_step_summary("é line\n" * 500, {"GITHUB_STEP_SUMMARY": str(path)})
    text = path.read_text(encoding="utf-8")
    assert path.stat().st_size <= 1000
    assert "é line\n\n… cut here" in text
    append_step_summary("more\n" * 100, {"GITHUB_STEP_SUMMARY": str(path)})
    assert path.stat().st_size <= 1000


def test_a_summary_that_cannot_be_written(tmp_path):
    with pytest.raises(
        DataError, match=r"GITHUB_STEP_SUMMARY names .*cannot be written .*Unset the variable"
    ):
        append_step_summary("x", {"GITHUB_STEP_SUMMARY": str(tmp_path)})


def test_on_actions():
    assert on_actions({"GITHUB_ACTIONS": "true"})
    assert not on_actions({})


def parsed(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 - our text


def test_a_trend_breaks_where_a_value_is_absent():
    points = [
        ("a", value("f", 0.8, 0.7, 0.9)),
        ("b", value("f", None)),
        ("c", value("f", 0.7)),
        ("<d>", value("f", 0.75)),
    ]
    root = parsed(trend_svg(points, title="Faithful & more"))
    assert len(root.findall(f"{SVG}circle")) == 3
    assert len(root.findall(f"{SVG}polyline")) == 1
    heights = [float(dot.get("cy")) for dot in root.findall(f"{SVG}circle")]
    assert heights[0] < heights[2] < heights[1]  # up is more
    assert "<d>" in [text.text for text in root.findall(f"{SVG}text")]
    with pytest.raises(ValueError, match="has no value in 1 runs"):
        trend_svg([("a", value("f", None))], title="Faithful")


def test_an_ablation_has_a_panel_for_each_metric_that_has_a_value():
    svg = ablation_svg(
        [
            slice_sample(),
            slice_sample(retriever="bm25", metrics={**METRICS, "faithfulness": value("faithfulness", 0.2)}),
        ]
    )
    texts = [text.text for text in parsed(svg).findall(f"{SVG}text")]
    assert "Faithful" in texts
    assert "C-Prec" not in texts
    assert "medquad-nih / bm25 / k=10" in texts
    assert "0.20" in texts
    with pytest.raises(ValueError, match=r"none of recall@k.* has a value"):
        ablation_svg([slice_sample(metrics={})])


def test_a_reliability_plot_has_a_dot_a_bin():
    bins = reliability([0.95, 0.92, 0.6, 0.55, 0.3], [True, True, False, True, False], bins=5)
    dots = parsed(reliability_svg(bins)).findall(f"{SVG}circle")
    assert len(dots) == len(bins)
    assert "2 pairs: confidence 0.94, accuracy 1.00" in [dot.find(f"{SVG}title").text for dot in dots]
    with pytest.raises(ValueError, match="got no bins"):
        reliability_svg([])


def test_a_reliability_plot_of_tiny_shares_is_xml():
    titles = parsed(reliability_svg(reliability([0.001] * 900, [False] * 899 + [True], bins=5))).iter(
        f"{SVG}title"
    )
    assert [title.text for title in titles] == ["900 pairs: confidence <0.01, accuracy <0.01"]
