"""`medfaith review` on a run folder: the page, and what it refuses."""

import base64
import json
import re

import pytest
from label_samples import many_claims

from pytest_medfaith.cards.review_page import review_page
from pytest_medfaith.cards.run_folder import write_run
from pytest_medfaith.cli import main
from pytest_medfaith.labels.rows import LabelRow, checker_fingerprint
from pytest_medfaith.labels.sampling import draw_claims

SIGNATURE = {"checkers": {"fast": {"entail": 0.5}, "strong": {"entail": 0.6}}}
RUN = many_claims({"supported": 12, "refuted": 6, "unsupported": 6, "unscored": 2})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A run folder below the current folder."""
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path / "run", [RUN], signature=SIGNATURE)
    return tmp_path


def medfaith(capsys, *arguments):
    """Returns exit status, standard output and standard error of the command."""
    with pytest.raises(SystemExit) as left:
        main([*map(str, arguments)])
    told = capsys.readouterr()
    return left.value.code or 0, told.out, told.err


def data_of(page):
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(found)


def rows_of(page):
    (found,) = re.findall(r'<script type="text/plain" id="rows">(.*?)</script>', page, re.DOTALL)
    return json.loads(base64.b64decode(found))


def test_the_page_of_a_run_is_written_and_the_draw_told(folder, capsys):
    status, out, err = medfaith(capsys, "review", "run", "--count", "16")
    assert (status, err) == (0, "")
    assert "review.html: 16 of 24 claims to label; unscored and left out: 2" in out
    assert "  refuted near: 3 of 3" in out
    assert "medfaith review run --import labels.jsonl" in out
    page = (folder / "review.html").read_text(encoding="utf-8")
    assert len(data_of(page)["claims"]) == 16
    assert not any(text in out for text in ("says something", "case-0", "insulin"))


def test_equal_seeds_make_equal_pages(folder, capsys):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert medfaith(capsys, "review", "run", "--count", 14, "--seed", seed, "--out", name)[0] == 0
    first, again, other = ((folder / name).read_bytes() for name in "abc")
    assert first == again != other


def test_the_page_holds_each_row_in_the_order_of_its_claims():
    claims = draw_claims([RUN], count=16, seed=0).claims
    page = review_page(claims, signature=SIGNATURE)
    data, rows = data_of(page), rows_of(page)
    for claim, shown, row in zip(claims, data["claims"], rows, strict=True):
        label = LabelRow.from_dict(row | {"label": "supported"})
        assert (label.key, label.verdict, label.weight) == (claim.key, claim.verdict.label, claim.weight)
        assert label.checker == checker_fingerprint("fast", SIGNATURE)
        answer = data["answers"][shown["answer"]]["answer"]
        assert answer[slice(*shown["span"])] == shown["text"] == label.claim
        assert claim.report.case.id in data["chunks"][shown["contexts"][0]]["text"]


def test_only_the_rows_in_base64_know_the_verdicts():
    claims = draw_claims([RUN], count=16, seed=0).claims
    data = data_of(review_page(claims, signature=SIGNATURE))
    assert set(data) == {"fingerprint", "claims", "answers", "chunks"}
    assert {name for claim in data["claims"] for name in claim} == {
        "text",
        "context",
        "span",
        "answer",
        "contexts",
    }


def test_nothing_of_the_page_is_from_elsewhere():
    page = review_page(draw_claims([RUN], count=16, seed=0).claims, signature=SIGNATURE)
    assert "default-src 'none'" in page
    assert not re.findall(r"<(?:link|img|iframe)|src=|@import|url\(|fetch\(|XMLHttp", page)


def test_several_checkers_are_told_apart_by_name(folder, capsys):
    strong = RUN.with_(checker="strong", reports=tuple(one.with_(checker="strong") for one in RUN.reports))
    write_run(folder / "two", [RUN, strong], signature=SIGNATURE)
    status, _, err = medfaith(capsys, "review", "two")
    assert (status, err) == (2, "medfaith: the run has 2 checkers (fast, strong); name one with --checker\n")
    assert medfaith(capsys, "review", "two", "--checker", "strong")[0] == 0
    rows = rows_of((folder / "review.html").read_text(encoding="utf-8"))
    assert {row["checker"] for row in rows} == {checker_fingerprint("strong", SIGNATURE)}
    status, _, err = medfaith(capsys, "review", "two", "--checker", "judge")
    assert (status, err) == (2, "medfaith: --checker is 'judge'; the run has fast, strong\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "holds no finished run"),
        (["run", "--count", "3"], "the count of claims to draw is 3, expected at least 12"),
        (["run", "--out", "run/report.json"], "--out is run/report.json, which is a file of the run"),
    ],
)
def test_what_makes_no_page_is_said_and_nothing_is_written(folder, capsys, arguments, message):
    before = (folder / "run" / "report.json").read_bytes()
    status, _, err = medfaith(capsys, "review", *arguments)
    assert status == 2
    assert message in err
    assert not (folder / "review.html").exists()
    assert (folder / "run" / "report.json").read_bytes() == before
