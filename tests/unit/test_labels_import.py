"""`medfaith review --import`: labels checked against the run, and merged where reviewers agree."""

import json
import shutil

import pytest
from label_samples import many_claims

from pytest_medfaith.cards.run_folder import write_run
from pytest_medfaith.cli import main
from pytest_medfaith.jsonl import write_records
from pytest_medfaith.labels.rows import LabelRow, checker_fingerprint, read_labels
from pytest_medfaith.labels.sampling import draw_claims

SIGNATURE = {"checkers": {"fast": {"entail": 0.5}}}
RUN = many_claims({"supported": 12, "refuted": 6, "unsupported": 6})
ROWS = [
    LabelRow(
        slice=claim.slice,
        case_id=claim.report.case.id,
        claim=claim.verdict.claim.text,
        key=claim.key,
        label="supported",
        verdict=claim.verdict.label,
        checker=checker_fingerprint("fast", SIGNATURE),
        stratum=claim.stratum,
        weight=claim.weight,
    )
    for claim in draw_claims([RUN], count=14, seed=0).claims
]


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    write_run(folder, [RUN], signature=SIGNATURE)
    return folder


@pytest.fixture
def medfaith(run_folder, tmp_path, monkeypatch, capsys):
    """Runs the command beside a run folder; returns exit status, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(run_folder, tmp_path / "run")

    def call(*arguments):
        with pytest.raises(SystemExit) as left:
            main(["review", "run", *arguments])
        told = capsys.readouterr()
        return left.value.code or 0, told.out, told.err

    return call


def write(path, *labels, reviewer="", rows=ROWS):
    """Writes a labels file with `labels` for the first claims; "refuted/high" has a severity."""
    given = []
    for label, row in zip(labels, rows, strict=False):
        name, _, severity = label.partition("/")
        given.append(row.with_(label=name, severity=severity or None, reviewer=reviewer))
    write_records(path, given)
    return str(path)


def test_labels_of_one_reviewer_are_written_as_they_are(medfaith, tmp_path):
    path = write(tmp_path / "labels.jsonl", "supported", "refuted/high", "no_claim")
    status, out, err = medfaith("--import", path)
    assert (status, err) == (0, "")
    assert out == "medfaith-labels.jsonl: 3 labels; 0 disputed claims left out\n"
    assert (tmp_path / "medfaith-labels.jsonl").read_bytes() == (tmp_path / "labels.jsonl").read_bytes()
    again = medfaith("--import", "medfaith-labels.jsonl", "--out", "again.jsonl")
    assert again[0] == 0
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "labels.jsonl").read_bytes()


def test_two_reviewers_agree_disagree_and_a_third_decides(medfaith, tmp_path):
    a = write(tmp_path / "a.jsonl", "supported", "refuted/low", "refuted", "no_claim", reviewer="AB")
    b = write(tmp_path / "b.jsonl", "supported", "refuted/high", "supported", reviewer="cd")
    status, out, _ = medfaith("--import", a, b, "--third", "third.html")
    assert status == 0
    assert out.splitlines() == [
        "AB and CD: equal labels for 2 of 3 claims, Cohen's kappa 0.40",
        "1 claim for a third look:",
        f"  pcos, case {ROWS[2].case_id}, {ROWS[2].key}: AB refuted, CD supported",
        "third.html: 1 disputed claim to label; then import its labels together with these files",
        "medfaith-labels.jsonl: 3 labels; 1 disputed claim left out",
    ]
    rows = read_labels(tmp_path / "medfaith-labels.jsonl")
    assert [(row.label, row.severity, row.reviewer) for row in rows] == [
        ("supported", None, "AB+CD"),
        ("refuted", "high", "AB+CD"),
        ("no_claim", None, "AB"),
    ]
    assert [row.weight for row in rows] == [ROWS[place].weight for place in (0, 1, 3)]
    c = write(tmp_path / "c.jsonl", "refuted/moderate", reviewer="EF", rows=ROWS[2:])
    status, out, _ = medfaith("--import", a, "--import", b, c)
    assert status == 0
    assert "medfaith-labels.jsonl: 4 labels, 1 of them by majority; 0 disputed claims left out" in out
    row = next(row for row in read_labels(tmp_path / "medfaith-labels.jsonl") if row.key == ROWS[2].key)
    assert (row.label, row.severity, row.reviewer) == ("refuted", "moderate", "AB+EF")


def test_a_third_opinion_that_differs_from_both_decides_nothing(medfaith, tmp_path):
    files = [
        write(tmp_path / f"{label}.jsonl", "supported", label, reviewer=label)
        for label in ("supported", "refuted", "unsupported")
    ]
    status, out, _ = medfaith("--import", *files)
    assert status == 0
    assert "1 claim for a third look" in out
    assert [row.key for row in read_labels(tmp_path / "medfaith-labels.jsonl")] == [ROWS[0].key]


def test_texts_of_the_run_are_not_printed(medfaith, tmp_path):
    a = write(tmp_path / "a.jsonl", "supported", "refuted", reviewer="AB")
    b = write(tmp_path / "b.jsonl", "supported", "supported", reviewer="CD")
    _, out, err = medfaith("--import", a, b)
    assert "says something" not in out + err
    (tmp_path / "a.jsonl").write_text((tmp_path / "a.jsonl").read_text().replace("says", "said"))
    status, out, err = medfaith("--import", a)
    assert status == 2
    assert "said something" not in out + err


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"key": "0" * 16}, "1 of a claim, or with evidence, that the run does not hold"),
        ({"checker": "fast@0000000000000000"}, "1 of another checker, or of other thresholds or rules of it"),
        ({"claim": "Other words."}, "1 with a slice, case or claim that is not that of the key"),
        ({"case_id": "case-999"}, "1 with a slice, case or claim that is not that of the key"),
        ({"verdict": "unscored"}, "1 with another verdict or stratum than the claim has in the run"),
        ({"stratum": "anything"}, "1 with another verdict or stratum than the claim has in the run"),
        ({"weight": 0.01}, "1 with a weight that no draw of the run gives"),
        ({"weight": 1.0001}, "1 with a weight that no draw of the run gives"),
        ({"weight": 1e9}, "1 with a weight that no draw of the run gives"),
    ],
)
def test_labels_that_are_not_of_the_run_are_counted_and_refused(medfaith, tmp_path, changes, cause):
    write_records(tmp_path / "labels.jsonl", [ROWS[0], LabelRow.from_dict(ROWS[1].to_dict() | changes)])
    status, out, err = medfaith("--import", "labels.jsonl")
    assert (status, out) == (2, "")
    assert f"1 of 2 labels do not fit the run run: {cause}; the first has the key" in err
    assert not (tmp_path / "medfaith-labels.jsonl").exists()


def test_labels_age_with_their_evidence(medfaith, tmp_path):
    write(tmp_path / "labels.jsonl", "supported", "refuted")
    changed = []
    for report in RUN.reports:
        chunk = report.response.contexts[0]
        response = report.response.with_(contexts=(chunk.with_(text=chunk.text + " More."),))
        changed.append(report.with_(response=response))
    write_run(tmp_path / "run", [RUN.with_(reports=tuple(changed))], signature=SIGNATURE)
    status, _, err = medfaith("--import", "labels.jsonl")
    assert status == 2
    assert "2 of 2 labels do not fit the run run: 2 of a claim, or with evidence" in err


@pytest.mark.parametrize("draw", [{"count": 20, "seed": 0}, {"count": 14, "seed": 9}])
def test_labels_of_two_draws_are_not_merged(medfaith, tmp_path, draw):
    drawn = {claim.key: claim for claim in draw_claims([RUN], **draw).claims}
    everything = {claim.key: claim for claim in draw_claims([RUN], count=99, seed=0).claims}
    template = ROWS[0]
    other = [
        template.with_(
            case_id=claim.report.case.id,
            claim=everything[key].verdict.claim.text,
            key=key,
            verdict=claim.verdict.label,
            stratum=claim.stratum,
            weight=claim.weight,
            reviewer="CD",
        )
        for key, claim in drawn.items()
    ]
    write_records(tmp_path / "a.jsonl", ROWS)
    write_records(tmp_path / "b.jsonl", other)
    status, _, err = medfaith("--import", "a.jsonl", "b.jsonl")
    assert status == 2
    assert "the labels are of pages with different draws" in err


def test_reviewers_who_cannot_be_told_apart_are_refused(medfaith, tmp_path):
    a, b = (write(tmp_path / name, "supported", "refuted") for name in ("a.jsonl", "b.jsonl"))
    status, _, err = medfaith("--import", a, b)
    assert status == 2
    assert "labels without initials are in 2 files" in err
    write(tmp_path / "a.jsonl", "supported", "refuted", reviewer="AB")
    write(tmp_path / "b.jsonl", "supported", "supported", reviewer="ab")
    status, _, err = medfaith("--import", a, b)
    assert status == 2
    assert f"reviewer 'ab' labelled the claim {ROWS[1].key} 'supported', and 'refuted' in" in err


def test_a_file_given_twice_counts_once(medfaith, tmp_path):
    a = write(tmp_path / "a.jsonl", "supported", "refuted", reviewer="AB")
    (tmp_path / "copy.jsonl").write_bytes((tmp_path / "a.jsonl").read_bytes())
    status, out, _ = medfaith("--import", a, a, "copy.jsonl")
    assert (status, out) == (0, "medfaith-labels.jsonl: 2 labels; 0 disputed claims left out\n")


def test_merged_labels_are_not_merged_again(medfaith, tmp_path):
    a = write(tmp_path / "a.jsonl", "supported", reviewer="AB+CD")
    status, _, err = medfaith("--import", a)
    assert status == 2
    assert "the labels of 'AB+CD' are merged already" in err


def test_nothing_to_write_leaves_what_was_there(medfaith, tmp_path):
    kept = tmp_path / "medfaith-labels.jsonl"
    kept.write_text(json.dumps(ROWS[0].to_dict()) + "\n")
    before = kept.read_bytes()
    a = write(tmp_path / "a.jsonl", "supported", reviewer="AB")
    b = write(tmp_path / "b.jsonl", "refuted", reviewer="CD")
    (tmp_path / "empty.jsonl").write_text("")
    for files, message in (((a, b), "the reviewers agree on no claim"), (("empty.jsonl",), "hold no label")):
        status, _, err = medfaith("--import", *files)
        assert status == 2
        assert message in err
    assert kept.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["labels.jsonl"], "files of labels and --third are for --import"),
        (["--third", "x.html"], "files of labels and --third are for --import"),
        (["--import", "labels.jsonl", "--count", "5"], "with --import they would do nothing"),
        (["--import", "labels.jsonl", "--out", "labels.jsonl"], "which is a file of labels"),
        (["--import", "labels.jsonl", "--out", "x", "--third", "x"], "which --out names too"),
        (["--import", "nowhere.jsonl"], "no such file"),
    ],
)
def test_options_that_do_not_go_together_are_refused(medfaith, tmp_path, arguments, message):
    write(tmp_path / "labels.jsonl", "supported")
    status, _, err = medfaith(*arguments)
    assert status == 2
    assert message in err
