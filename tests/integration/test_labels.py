"""A run whose settings name people's labels: corrected rates on the card, in report.json and in gates."""

import json

import pytest

from pytest_medfaith.cards.run_reading import read_run
from pytest_medfaith.labels.rows import LabelRow, checker_fingerprint
from pytest_medfaith.labels.sampling import draw_claims


def labels_of(folder, **wrong):
    """Labels of all claims of a run: the checker's verdicts, but for the claims named in `wrong`."""
    reports, _ = read_run(folder)
    signature = json.loads((folder / "signature.json").read_text())["signature"]
    return [
        LabelRow(
            slice=drawn.slice,
            case_id=drawn.report.case.id,
            claim=drawn.verdict.claim.text,
            key=drawn.key,
            label=wrong.get(drawn.report.case.id, drawn.verdict.label),
            verdict=drawn.verdict.label,
            checker=checker_fingerprint(reports[0].checker, signature),
            stratum=drawn.stratum,
            weight=drawn.weight,
        )
        for drawn in draw_claims(reports, count=100, seed=0).claims
    ]


@pytest.fixture
def labelled(project):
    project.run("--medfaith-report", "first")
    rows = labels_of(project.path / "first", iron="refuted")
    lines = "".join(json.dumps(row.to_dict()) + "\n" for row in rows)
    (project.path / "labels.jsonl").write_text(lines)
    settings = '\n[tool.medfaith]\nlabels = "labels.jsonl"\n'
    project.configure(f'gates = ["hallucination.corrected <= 0.5"]\n{settings}')
    return project


def test_corrected_rates_are_told_written_and_gated(labelled, workers):
    result = labelled.run("--medfaith-report", "out", *workers)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            (
                "FAIL  hallucination.corrected <= 0.5: hallucination.corrected is 0.750, 95 % interval * "
                "over 4 labels*"
            ),
            "slice 'mini': labels: 4 of claims of this slice",
            "slice 'mini': hallucination corrected: 0.750 *",
        ]
    )
    report = json.loads((labelled.path / "out" / "report.json").read_text())
    assert report["slices"][0]["metrics"]["hallucination.corrected"]["value"] == 0.75
    assert report["slices"][0]["metrics"]["hallucination"]["value"] == 0.25
    assert "hallucination.corrected" in (labelled.path / "out" / "card.html").read_text()


def test_labels_drawn_under_another_checker_are_left_out_and_the_gate_fails(labelled):
    path = labelled.path / "labels.jsonl"
    path.write_text(path.read_text().replace('"checker": "scripted@', '"checker": "older@'))
    result = labelled.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "FAIL  hallucination.corrected <= 0.5: hallucination.corrected could not be measured*",
            "slice 'mini': labels: 0 of claims of this slice, 4 drawn under another checker, left out",
        ]
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("<<<<<<< HEAD\n", "*labels.jsonl:1: a marker of a merge conflict*"),
        ('{"slice": "mini"}\n', "*labels.jsonl:1: *"),
        (None, "*labels.jsonl*"),
    ],
    ids=["conflict", "fields", "missing"],
)
def test_a_labels_file_that_cannot_be_read_makes_the_run_unusable(labelled, content, said):
    path = labelled.path / "labels.jsonl"
    path.write_text(content) if content else path.unlink()
    result = labelled.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines([said])
    result.stdout.no_fnmatch_line("PASS*hallucination.corrected*")
