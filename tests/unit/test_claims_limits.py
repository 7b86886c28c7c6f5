"""Limits on claims: off by default, and what they leave out is told, counted, and part of the signature."""

import pytest

from pytest_medfaith.claims.limits import LimitedExtractor, read_claims
from pytest_medfaith.claims.split import extract_claims, read_answer
from pytest_medfaith.config import load_settings
from pytest_medfaith.errors import DataError
from pytest_medfaith.evaluation import evaluate_case
from pytest_medfaith.models.onnx import worker_count
from pytest_medfaith.models.pace import batch_size, set_pace
from pytest_medfaith.records import Case, Chunk, Claim, Response
from pytest_medfaith.testing import scripted_checker

ANSWER = "Iron treats anaemia in adults. Zinc heals. Copper is a metal that is found in nuts. Hello!"


def test_without_limits_nothing_changes():
    assert read_claims(extract_claims, ANSWER) == read_answer(ANSWER)
    assert read_claims(LimitedExtractor(extract_claims), ANSWER) == read_answer(ANSWER)


def test_what_the_limits_leave_out_is_told_with_its_place_and_the_limit():
    read = read_claims(LimitedExtractor(extract_claims, min_words=3, most=1), ANSWER)
    assert [claim.text for claim in read.claims] == ["Iron treats anaemia in adults."]
    told = {ANSWER[slice(*piece.span)].rstrip("."): piece.reason for piece in read.dropped}
    assert told["Zinc heals"] == "fewer words than the 3 of claim_min_words"
    (copper,) = [text for text in told if text.startswith("Copper")]
    assert told[copper] == "beyond the 1 claims that max_claims allows"
    assert len(read.dropped) == len(read_answer(ANSWER).dropped) + 2


def test_claims_of_any_extractor_are_limited_and_a_refusal_is_not_given_to_it():
    def spans(answer, **_):
        assert answer != "I do not know."
        return [
            Claim(id="c1", text="Zinc heals.", start=31, end=42),
            Claim(id="c2", text=ANSWER[:29], start=0, end=29),
        ]

    read = read_claims(LimitedExtractor(spans, min_words=3), ANSWER)
    assert [claim.id for claim in read.claims] == ["c2"]
    assert read_claims(LimitedExtractor(spans, most=1), "I do not know.", abstained=True).claims == ()


def test_a_refuted_claim_that_is_left_out_lowers_no_rate_unseen():
    checker = scripted_checker(lambda _, claim: "contradict" if "Copper" in claim else "entail")
    report = evaluate_case(
        Case(id="a", question="What helps?"),
        Response(answer=ANSWER, contexts=(Chunk(id="c", text=ANSWER),)),
        checker=checker,
        extractor=LimitedExtractor(extract_claims, most=2),
    )
    assert report.metrics["unchecked_share"] > 0.4
    assert any("max_claims" in piece.reason for piece in report.dropped)


@pytest.mark.parametrize(
    "line", ["claim_min_words = -1", "max_claims = 0", "threads = 0", "batch_size = 0", 'threads = "all"']
)
def test_values_without_sense_are_refused(tmp_path, line):
    (tmp_path / "medfaith.toml").write_text(line)
    with pytest.raises(DataError, match=line.split(" ")[0]):
        load_settings(tmp_path)


def test_threads_and_batches_are_those_of_the_settings_and_the_environment_beats_them(monkeypatch):
    monkeypatch.delenv("MEDFAITH_THREADS", raising=False)
    try:
        set_pace(threads=3, batch_size=5)
        assert (worker_count(), batch_size()) == (3, 5)
        monkeypatch.setenv("MEDFAITH_THREADS", "2")
        assert worker_count() == 2
        monkeypatch.setenv("MEDFAITH_THREADS", "")
        assert worker_count() == 3
    finally:
        set_pace(threads=None, batch_size=16)


@pytest.mark.parametrize("threads", ["0", "00", "-1", "1.5", "two", "²", " "])
def test_a_number_of_threads_that_cannot_be_is_refused_by_its_value(monkeypatch, threads):
    monkeypatch.setenv("MEDFAITH_THREADS", threads)
    with pytest.raises(
        ValueError, match=rf"^MEDFAITH_THREADS is '{threads}'; expected a whole number above 0$"
    ):
        worker_count()
