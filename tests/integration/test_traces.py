"""The page on traces, run as it stands; scores of a run folder; and what the commands refuse."""

import csv
import io
import json
import re
import shlex
from pathlib import Path

import pytest

from pytest_medfaith.cards.scores import score_attributes, scores_csv
from pytest_medfaith.cli import main
from pytest_medfaith.commands.score_responses import read_recorded, score_responses
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Response
from pytest_medfaith.testing import containment_checker, scripted_checker

REPO = Path(__file__).parents[2]
PAGE = (REPO / "docs" / "traces.md").read_text(encoding="utf-8")
SPANS = REPO / "examples" / "traces" / "spans.jsonl"


def test_the_worked_example_of_the_page(tmp_path, medfaith):
    (tmp_path / "spans.jsonl").write_bytes(SPANS.read_bytes())
    (console,) = re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    for call in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, _, output = call.partition("\n")
        assert medfaith(*shlex.split(command)[1:], folder=tmp_path, merged=True).stdout == output
    (_, table) = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert (tmp_path / "scores.csv").read_text(encoding="utf-8") == table
    first = re.search(r"Its first line:\n\n```json\n(.*?)\n```", PAGE)[1]
    assert (tmp_path / "scores.jsonl").read_text(encoding="utf-8").splitlines()[0] == first


def test_a_slice_of_traces(pytester, medfaith):
    main_of = re.search(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[1]
    pytester.makepyprojecttoml(main_of)
    with pytest.raises(SystemExit, match="0"):
        main(["adapt", "traces", str(SPANS), "--out", str(pytester.path / "responses.jsonl")])
    pytester.makeconftest(
        "import pytest\nfrom pytest_medfaith.testing import containment_checker\n"
        "@pytest.fixture\ndef medfaith_checker():\n    return containment_checker()"
    )
    pytester.makepyfile('import pytest\n@pytest.mark.medfaith("live")\ndef test_live(medfaith_report): pass')
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--medfaith-report", "run")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*3 passed*"])
    result.stdout.fnmatch_lines(
        ["FAIL*1 of 3 cases failed: 8dacc7c4f4ea940a543e159520f8bf04 (there are no contexts*"]
    )
    given = medfaith("report", "run", "--format", "scores", folder=pytester.path)
    rows = list(csv.DictReader(io.StringIO(given.stdout)))
    assert [(row["trace_id"][:4], row["slice"], row["status"]) for row in rows] == [
        ("5b8a", "live", "checked"),
        ("7c9b", "live", "checked"),
        ("8dac", "live", "failed"),
    ]
    spans = [
        json.loads(line)
        for line in medfaith("report", "run", "--format", "spans", folder=pytester.path).stdout.splitlines()
    ]
    assert [span["span_id"] for span in spans] == [row["span_id"] for row in rows]
    assert spans[0]["attributes"]["medfaith.slice"] == "live"


def scored(*answers, checker=None, contexts=({"id": "a", "text": "Iron tablets treat iron deficiency."},)):
    rows = [
        Response.from_dict(
            {
                "case_id": f"c{i}",
                "trace_id": f"t{i}",
                "span_id": f"s{i}",
                "answer": answer,
                "contexts": list(contexts),
            }
        )
        for i, answer in enumerate(answers)
    ]
    return score_responses(rows, checker or containment_checker())


def test_a_response_that_was_not_checked_has_no_rates():
    lost = scripted_checker(lambda _evidence, _claim: "entail")
    report = scored(
        "", "I could not find this in the documents provided.", "Hello!", "Железо лечит анемию.", checker=lost
    )
    rows = list(csv.DictReader(io.StringIO(scores_csv([report]))))
    assert [row["status"] for row in rows][:3] == ["failed", "abstained", "failed"]
    assert [row["reason"] for row in rows][:3] == [
        "the answer is empty",
        "",
        "the answer makes no checkable claim",
    ]
    bare = scored("Iron tablets treat iron deficiency.", contexts=())
    (row,) = csv.DictReader(io.StringIO(scores_csv([bare])))
    assert (row["status"], row["faithfulness"], row["hallucination"]) == ("failed", "", "")
    assert (
        not {"medfaith.faithfulness", "medfaith.hallucination"}
        & json.loads(score_attributes([bare]))["attributes"].keys()
    )


def test_a_response_with_unscored_claims_is_failed():
    report = scored("Iron tablets treat iron deficiency. Железо лечит анемию быстро.", checker=None)
    verdicts = tuple(
        verdict.with_(label="unscored", reason="another script") for verdict in report.reports[0].verdicts
    )
    report = report.with_(reports=(report.reports[0].with_(verdicts=verdicts),))
    (row,) = csv.DictReader(io.StringIO(scores_csv([report])))
    assert (row["status"], row["faithfulness"]) == ("failed", "")
    assert row["reason"].endswith("could not be scored: another script")


def test_no_id_of_a_trace_commands_a_terminal_or_a_spreadsheet():
    row = {
        "case_id": "=1+1",
        "trace_id": "\x1b[31m;=1+1",
        "span_id": "::error::x",
        "answer": "Iron helps.",
        "contexts": [{"id": "a", "text": "Iron."}],
    }
    report = score_responses([Response.from_dict(row)], containment_checker())
    (cells,) = csv.DictReader(io.StringIO(scores_csv([report])))
    assert (cells["trace_id"], cells["span_id"], cells["case_id"]) == ("[31m;'=1+1", ": :error::x", "'=1+1")
    text = score_attributes([report])
    assert text.strip().isprintable()
    assert json.loads(text)["trace_id"] == "\x1b[31m;=1+1"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "scores.txt",
            '{"case_id": "a", "answer": "x"}',
            r"--out is .*scores.txt; expected a name that ends with .csv \(a table\) or .jsonl",
        ),
        ("scores.csv", "", "holds no response, so nothing would be checked"),
        ("scores.csv", '{"answer": "x"}', "responses.jsonl:1: field 'case_id' is missing"),
        (
            "scores.csv",
            '{"case_id": "a", "answer": "x", "context": []}',
            "key 'context' is unknown; did you mean 'contexts'",
        ),
    ],
)
def test_wrong_responses_are_errors(name, text, message, tmp_path):
    (tmp_path / "responses.jsonl").write_text(text)
    with pytest.raises(DataError, match=message):
        read_recorded(tmp_path / "responses.jsonl", [], out=tmp_path / name)


@pytest.mark.parametrize("option", [("--seed", "1"), ("--corpus", "c.jsonl"), ("--cap", "3")])
def test_options_of_data_sets_are_refused(option, tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["adapt", "traces", str(SPANS), "--out", str(tmp_path / "out.jsonl"), *option])
    assert "--seed, --corpus and --cap are for data sets" in capsys.readouterr().err
