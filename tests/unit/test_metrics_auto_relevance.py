"""Grades by decisive and supportive keywords."""

import pytest

from pytest_medfaith.errors import DataError
from pytest_medfaith.metrics.auto_relevance import auto_relevance, keyword_grades
from pytest_medfaith.metrics.registry import parse_metric
from pytest_medfaith.records import Case, Chunk, Hit, Report, Response

WORDS = {"decisive": ["trastuzumab", "HER2"], "supportive": ["receptor", "response", "breast cancer"]}


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("Trastuzumab is an antibody.", 2),
        ("The her2-positive receptor.", 2),
        ("The receptor and the response.", 1),
        ("The receptor, another receptor.", 0),
        ("Breast  cancer and its response.", 0),
        ("", 0),
    ],
)
def test_a_decisive_keyword_or_two_supportive_ones(text, grade):
    assert auto_relevance(text, **WORDS) == grade


def test_the_title_counts():
    chunk = Chunk(id="a", title="The receptor", text="A response.")
    case = Case(id="c", question="?", meta={"relevance_keywords": WORDS})
    assert keyword_grades(case, [chunk, chunk.with_(id="b", title="")]) == {"a": 1.0, "b": 0.0}
    assert keyword_grades(case.with_(meta={}), [chunk]) == {}


@pytest.mark.parametrize(
    "given",
    [
        [],
        {"decisive": ["a"]},
        {**WORDS, "other": []},
        {**WORDS, "decisive": "a"},
        {**WORDS, "decisive": [" "]},
    ],
)
def test_keywords_of_another_form_are_an_error(given):
    with pytest.raises(DataError, match=r"case 'c': meta\.relevance_keywords is"):
        keyword_grades(Case(id="c", question="?", meta={"relevance_keywords": given}), [])


def test_a_ranking_that_is_its_whole_pool_has_no_recall_at_its_length():
    chunks = [Chunk(id="a", text="HER2."), Chunk(id="b", text="Nothing."), Chunk(id="c", text="Trastuzumab.")]
    report = Report(
        case=Case(id="c", question="?", meta={"relevance_keywords": WORDS}),
        response=Response(answer="x"),
        hits=tuple(Hit(chunk=chunk, rank=rank, score=1 / rank) for rank, chunk in enumerate(chunks, start=1)),
        k=3,
    )
    recalls = [parse_metric(f"auto.recall@{k}").value(report) for k in (1, 2, 3, 4, "k")]
    assert recalls == [0.5, 0.5, None, None, None]
    assert parse_metric("auto.precision@k").value(report) == 2 / 3
    nothing = report.with_(hits=(), searched=True)
    assert parse_metric("auto.recall@3").value(nothing) == parse_metric("auto.ndcg@3").value(nothing) == 0.0
    assert parse_metric("auto.recall@2").value(report.with_(case=Case(id="c", question="?"))) is None
