import json
import re

import pytest
from gate_samples import RUN, SIGNATURE, case, report_of, slice_of, stored

from pytest_medfaith.errors import DataError, MissingBaseline
from pytest_medfaith.gates.baseline import read_baseline, write_baseline
from pytest_medfaith.gates.entry import slice_signature

REPORT = slice_of({"b": "sr", "a": "su?"})
UPDATE = "pytest --medfaith-update-baseline"


def written(tmp_path, *reports, **arguments):
    path = tmp_path / "medfaith-baseline.json"
    write_baseline(path, reports or [REPORT], signature=SIGNATURE, **arguments)
    return path


def spoiled(tmp_path, change):
    """Returns a baseline file whose content went through `change`."""
    path = written(tmp_path)
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    return path


def test_a_slice_reads_back_as_it_was_written(tmp_path):
    entry = stored(tmp_path, REPORT)
    assert (entry.slice, entry.retriever, entry.checker, entry.k) == ("iron", "bm25", "student", 3)
    assert entry.metrics == {name: value for name, value in REPORT.metrics.items() if value.value is not None}
    assert entry.cases["b"].claims == (("supported", "b says thing 0."), ("refuted", "b says thing 1."))
    assert entry.cases["a"].fractions["faithfulness"] == (1.0, 2.0)
    assert "claim_recall" not in entry.cases["a"].fractions


def test_the_file_is_sorted_shows_a_fact_a_line_and_no_time(tmp_path):
    text = written(tmp_path).read_text()
    assert written(tmp_path).read_text() == text
    document = json.loads(text)
    assert text == written(tmp_path, slice_of({"a": "su?", "b": "sr"})).read_text()
    assert list(document["slices"][0]["cases"]) == ["a", "b"]
    assert document["slices"][0]["cases"]["a"]["verdicts"] == {
        "supported": 1,
        "unscored": 1,
        "unsupported": 1,
    }
    lines = text.splitlines()
    assert '      "hallucination": [1, 2],' in lines
    assert '      ["refuted", "b says thing 1."]' in lines
    assert '    "hallucination": {"high": 0.5, "low": 0.0, "n": 2, "value": 0.25},' in lines
    assert all(re.fullmatch(r' *"(\w|[.@:-])+": .*| *[\[\]{}]+,?| *\[".*\],?', line) for line in lines)


def test_an_answer_that_changes_changes_its_own_lines_alone(tmp_path):
    before = written(tmp_path).read_text().splitlines()
    after = written(tmp_path, slice_of({"a": "su?", "b": "ss"})).read_text().splitlines()
    changed = [line.strip() for line in after if line not in before]
    assert '["supported", "b says thing 1."]' in changed
    assert not any("a says" in line or '"signature"' in line for line in changed)


def test_the_cut_off_of_a_gate_is_stored_beside_the_metrics_of_the_card(tmp_path):
    entry = stored(tmp_path, report_of([case("a", "s"), case("b", "s", found=False)]), metrics=("recall@20",))
    assert entry.metrics["recall@20"].value == 0.5
    assert entry.cases["b"].fractions["recall@20"] == (0.0, 1.0)


def test_slices_that_did_not_run_keep_their_entry(tmp_path):
    path = written(tmp_path, REPORT, REPORT.with_(slice="sleep"))
    write_baseline(path, [slice_of({"a": "rr", "b": "rr"})], signature={**SIGNATURE, "version": "0.2.0"})
    iron, sleep = read_baseline(path).slices
    assert (iron.metrics["hallucination"].value, iron.signature["version"]) == (1.0, "0.2.0")
    assert (sleep.metrics["hallucination"].value, sleep.signature["version"]) == (0.25, "0.1.0")


def test_each_slice_keeps_its_own_checker_and_corpus(tmp_path):
    entry = stored(tmp_path, REPORT)
    assert entry.signature == {
        "version": "0.1.0",
        "checkers": {"student": {"weights": "w1", "entail": 0.5}},
        "corpora": {"iron": "c1"},
        "seed": 0,
    }
    assert slice_signature(RUN, {"seed": 1}) == {"seed": 1}


def test_no_file_names_the_flag(tmp_path):
    with pytest.raises(
        MissingBaseline, match=rf"none.json: no baseline is there yet; write one with {UPDATE}"
    ):
        read_baseline(tmp_path / "none.json")


@pytest.mark.parametrize("content", [b"{", b'{"format_version": 99, "slices": []}'])
def test_what_cannot_be_read_is_put_aside_and_not_lost(tmp_path, content):
    path = tmp_path / "medfaith-baseline.json"
    path.write_bytes(content)
    aside = write_baseline(path, [REPORT], signature=SIGNATURE).aside
    assert aside is not None
    assert aside.read_bytes() == content
    assert len(read_baseline(path).slices) == 1
    assert write_baseline(path, [REPORT], signature=SIGNATURE).aside is None


@pytest.mark.parametrize(
    "content", [b"", b"{", b"<<<<<<< HEAD\n{}", b'{"format_version": 1, "slices": [NaN]}', b"\xff\xfe"]
)
def test_a_corrupt_file_is_an_error_that_names_the_flag(tmp_path, content):
    path = tmp_path / "medfaith-baseline.json"
    path.write_bytes(content)
    with pytest.raises(
        DataError, match=rf"cannot be read as JSON .*; restore it from version control, or .*{UPDATE}"
    ):
        read_baseline(path)


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (0, "format_version is 0, expected 1"),
        (None, "format_version is None, expected 1"),
        (True, "format_version is True, expected 1"),
        ("1", "format_version is '1', expected 1"),
        (2, r"a newer version wrote this baseline \(format 2\), .* pip install --upgrade pytest-medfaith"),
    ],
)
def test_another_format_is_an_error_that_names_the_flag(tmp_path, version, said):
    path = spoiled(tmp_path, lambda document: document.update(format_version=version))
    with pytest.raises(DataError, match=rf"{said}.*{UPDATE}"):
        read_baseline(path)


@pytest.mark.parametrize("content", ["[]", "3", '"text"'])
def test_a_file_that_holds_something_else_is_an_error(tmp_path, content):
    path = tmp_path / "medfaith-baseline.json"
    path.write_text(content)
    with pytest.raises(DataError, match=rf"format_version is None, expected 1; .*{UPDATE}"):
        read_baseline(path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.update(slices={}), "field 'slices' is dict, expected a list"),
        (lambda d: d["slices"][0].pop("cases"), "field 'cases' is missing"),
        (lambda d: d["slices"][0].update(k="3"), "field 'k' is '3', expected a whole number"),
        (
            lambda d: d["slices"][0]["metrics"]["hallucination"].update(value="x"),
            "field 'value' is 'x', expected a number",
        ),
        (
            lambda d: d["slices"][0]["metrics"].update(hallucination=1),
            "expected an object for a metricvalue, got 1",
        ),
        (
            lambda d: d["slices"][0]["cases"]["a"]["fractions"].update(hallucination=[1, 0]),
            "case 'a': hallucination is 1 / 0, expected a positive",
        ),
        (
            lambda d: d["slices"][0]["cases"]["a"]["fractions"].update(hallucination=[1]),
            "fractions.hallucination' is .*, expected 2 values",
        ),
        (
            lambda d: d["slices"][0]["cases"]["a"]["claims"].append(["wrong", "x"]),
            "field .* is 'wrong', expected one of supported",
        ),
        (
            lambda d: d["slices"][0]["cases"]["a"]["claims"].pop(),
            "case 'a': field 'verdicts' is .*, but its claims count",
        ),
        (lambda d: d["slices"].append(d["slices"][0]), "holds 2 entries for slice 'iron'"),
    ],
)
def test_a_file_that_does_not_hold_together_is_an_error(tmp_path, change, said):
    path = spoiled(tmp_path, change)
    with pytest.raises(DataError, match=rf"medfaith-baseline.json.*{said}.*{UPDATE}"):
        read_baseline(path)


def test_a_number_too_large_for_json_is_no_infinity(tmp_path):
    path = written(tmp_path)
    path.write_text(path.read_text().replace('"hallucination": [1, 2]', '"hallucination": [1e999, 2]'))
    with pytest.raises(DataError, match="expected a finite number"):
        read_baseline(path)


def test_updating_mends_a_corrupt_file(tmp_path):
    path = tmp_path / "medfaith-baseline.json"
    path.write_text("{")
    assert written(tmp_path) == path
    assert len(read_baseline(path).slices) == 1


@pytest.mark.parametrize(
    ("reports", "said"),
    [
        ([], "no slice was measured"),
        ([REPORT, REPORT], "2 slice reports are of slice 'iron', .*; keep one test for each"),
        (
            [REPORT.with_(missing=("c", "d"), partial=True)],
            (
                r"slice 'iron' was cut short, 2 case\(s\) did not finish: c, d; .*"
                r"--medfaith-update-baseline again"
            ),
        ),
        ([REPORT.with_(partial=True)], "slice 'iron' was cut short"),
    ],
)
def test_what_is_not_whole_is_not_written(tmp_path, reports, said):
    path = tmp_path / "medfaith-baseline.json"
    with pytest.raises(DataError, match=said):
        write_baseline(path, reports, signature=SIGNATURE)
    assert not path.exists()


def test_nan_is_not_written_and_the_old_file_stays(tmp_path):
    path = written(tmp_path)
    before = path.read_text()
    with pytest.raises(DataError, match=r"cannot be written as JSON .*; keep finite numbers"):
        write_baseline(path, [REPORT], signature={**SIGNATURE, "threshold": float("nan")})
    assert path.read_text() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_names_the_flag(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"cannot be written .*; .* --medfaith-baseline FILE"):
        write_baseline(tmp_path / "file" / "medfaith-baseline.json", [REPORT], signature=SIGNATURE)
