import pytest

from pytest_medfaith.errors import DataError
from pytest_medfaith.records import (
    Case,
    Chunk,
    Claim,
    MetricValue,
    PairScore,
    Report,
    Response,
    SliceReport,
    SliceRun,
    Verdict,
)


def test_unknown_keys_are_kept_and_written_back():
    row = {
        "id": "a",
        "text": "Iron is stored as ferritin.",
        "url": "https://example.org",
        "reviewer": "B. Karim",
    }
    assert Chunk.from_dict(row).to_dict() == row


def test_a_report_goes_to_plain_dicts_and_back():
    claim = Claim(id="c1", text="Ferritin stores iron.", start=0, end=21, citations=("1",))
    score = PairScore(
        claim_id="c1",
        chunk_id="a",
        probs=(0.9, 0.08, 0.02),
        label="entail",
        logits=(3.0, 0.5, -1.0),
        span=(0, 27),
    )
    report = Report(
        case=Case(id="x", question="What stores iron?"),
        response=Response(
            answer="Ferritin stores iron.", contexts=(Chunk(id="a", text="Iron is stored as ferritin."),)
        ),
        verdicts=(Verdict(claim=claim, label="supported", score=0.9, chunk_id="a", span=(0, 27)),),
        pairs=(score,),
        metrics={"faithfulness": 1.0},
    )
    assert Report.from_dict(report.to_dict()) == report


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"text": "x"}, r"field 'id' is missing from this chunk"),
        ({"id": 7, "text": "x"}, r"field 'id' is 7, expected text"),
        ({"id": "a", "text": "x", "year": "2020"}, r"field 'year' is '2020', expected a whole number"),
        (
            {"id": "a", "text": "x", "section_path": "Treatment"},
            r"field 'section_path' is 'Treatment', expected a list",
        ),
        (
            {"id": "a", "text": "x", "authority": "blog"},
            r"field 'authority' is 'blog', expected one of guideline, ",
        ),
        (["a"], r"expected an object for a chunk, got a list of 1"),
        ({"id": "a", "text": ["x"], "url": "u"}, r"field 'text' is a list of 1, expected text"),
        (
            {"id": "a", "text": "x", "year": "in the year after the war"},
            r"field 'year' is a text of 25 characters, expected a whole number",
        ),
        (
            {"text": "in the year after the war"},
            r"field 'id' is missing from this chunk, an object with 'text'$",
        ),
    ],
)
def test_a_wrong_field_is_named_with_its_value(row, message):
    with pytest.raises(DataError, match=message):
        Chunk.from_dict(row)


def test_a_wrong_field_deep_inside_is_named_with_its_path():
    with pytest.raises(DataError, match=r"field 'probs\[1\]' is 'half', expected a number"):
        PairScore.from_dict(
            {"claim_id": "c", "chunk_id": "a", "label": "neutral", "probs": [0.1, "half", 0.4]}
        )


def test_a_score_that_is_not_finite_is_refused():
    with pytest.raises(DataError, match="field 'value' is nan, expected a finite number"):
        MetricValue.from_dict({"name": "faithfulness", "value": float("nan")})


def test_a_metric_without_a_value_goes_there_and_back():
    metric = MetricValue(name="faithfulness", value=None)
    assert MetricValue.from_dict(metric.to_dict()) == metric


def test_a_report_shows_itself_in_one_line():
    verdict = Verdict(claim=Claim(id="c1", text="x"), label="refuted")
    report = Report(
        case=Case(id="iron-1", question="?"), response=Response(answer="x"), verdicts=(verdict, verdict)
    )
    assert repr(report) == "<Report on 'iron-1': 2 refuted>"


def test_a_slice_run_is_the_key_of_its_report_and_sorts_as_the_card_does():
    names = {"slice": "iron", "retriever": "bm25", "checker": "student", "k": 3}
    run = SliceRun(**names)
    assert SliceReport(**names).run == run
    assert run.to_dict() == names
    assert str(run) == "slice 'iron', retriever 'bm25', checker 'student' and k=3"
    deeper, dense = SliceRun(**names | {"k": 10}), SliceRun(**names | {"retriever": "dense"})
    assert sorted([dense, deeper, run]) == [run, deeper, dense]
    assert run.equals_but_for_checker(SliceRun(**names | {"checker": "other"}))
    assert not run.equals_but_for_checker(deeper)
