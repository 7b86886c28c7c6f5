"""Texts that nobody should judge, given to the shipped checker: unscored with the reason, never a verdict."""

import json
import time

import numpy as np
import pytest

from pytest_medfaith import Checker, Chunk, assert_faithfulness, check_answer, load_checker
from pytest_medfaith.checking.readable import unusable_text
from pytest_medfaith.cli import main

CLAIM = "Iron tablets treat iron deficiency."
EVIDENCE = "Iron tablets treat iron deficiency in most adults."
NO_WORDS = ["", " \n\t", "...", "\x00\x07\x1b", "\u200b\u202e"]
OTHER_SCRIPTS = [
    "二甲双胍降低血糖水平。",
    "Метформин снижает уровень сахара в крови.",
    "الميتفورمين يخفض سكر الدم",
    "मेटफॉर्मिन रक्त शर्करा कम करता है",
    "Η μετφορμίνη μειώνει το σάκχαρο",
]


@pytest.fixture(scope="module")
def checker():
    return load_checker()


@pytest.mark.parametrize("text", [*NO_WORDS, *OTHER_SCRIPTS, "a" * 100_000, "word " * 20_000, "1 2 3 " * 600])
def test_a_claim_that_cannot_be_judged_is_unscored(checker, text):
    verdict = checker(text, [Chunk(id="a", text=EVIDENCE)])
    assert (verdict.label, bool(verdict.reason)) == ("unscored", True)


@pytest.mark.parametrize("text", [*NO_WORDS, *OTHER_SCRIPTS])
def test_evidence_that_cannot_be_read_makes_the_claim_unscored(checker, text):
    assert checker(CLAIM, [Chunk(id="a", text=text)]).label == "unscored"


def test_evidence_that_cannot_be_read_counts_for_nothing_beside_other_evidence(checker):
    unread = [Chunk(id=f"a{number}", text=text) for number, text in enumerate([*NO_WORDS, *OTHER_SCRIPTS])]
    beside = checker(CLAIM, [*unread, Chunk(id="b", text=CLAIM)])
    assert (beside.label, beside.chunk_id, beside.supporting) == ("supported", "b", ("b",))


def test_the_reason_says_what_is_wrong():
    assert unusable_text("...", "evidence") == "the evidence holds no word"
    assert unusable_text("a" * 5_000, "claim") == "the claim has 5000 characters, more than 4000"
    assert (
        unusable_text("二甲双胍", "claim", latin_only=True)
        == "the claim is not in Latin script, the only one that this checker reads"
    )


@pytest.mark.parametrize(
    "text",
    [
        "იზოტრეტინოინი უსაფრთხოა.",
        "ʎɔuɐuƃǝɹd uı ǝɟɐs sı uıouıʇǝɹʇosı.",
        "⠊⠎⠕⠞⠗⠑⠞⠊⠝⠕⠊⠝ ⠊⠎ ⠎⠁⠋⠑.",
        "Η ισοτρετινοΐνη είναι ασφαλής.",
        "".join(chr(0xE0000 + ord(letter)) for letter in "Isotretinoin is safe."),
    ],
)
def test_a_sentence_of_another_script_is_not_read_with_the_english_before_it(text):
    english = "Metformin is taken with meals and lowers the blood glucose of adults with type 2 diabetes."
    assert unusable_text(f"{english} {text}", "claim", latin_only=True)
    assert unusable_text(english, "claim", latin_only=True) == ""


@pytest.mark.parametrize(
    "text",
    [
        "Metformin (метформин) lowers the blood glucose of adults with type 2 diabetes.",
        "Δ9-THC binds κ-opioid, μ-opioid and δ-opioid receptors.",
        "Metformin /mɛtˈfɔːmɪn/ lowers glucose.",
        "It is used in \U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f.",
    ],
)
def test_a_name_in_another_script_is_read_with_the_english_around_it(text):
    assert unusable_text(text, "claim", latin_only=True) == ""


@pytest.mark.parametrize(
    "text", ["TNF-α and β-hCG rise.", "Señales de fiebre", "Thuốc hạ sốt", "5 mg/kg × 3", "Δ9-THC"]
)
def test_latin_text_with_symbols_and_accents_is_read(text):
    assert unusable_text(text, "claim", latin_only=True) == ""


def test_a_foreign_model_may_read_other_scripts():
    model = Checker("multilingual", "m1", lambda pairs: np.array([[6.0, 0.0, 0.0]] * len(pairs)))
    assert model("二甲双胍降低血糖。", [Chunk(id="a", text="二甲双胍降低血糖。")]).label == "supported"


def test_100_000_characters_of_evidence_are_read_in_seconds(checker):
    text = "Water is wet and nobody doubts it. " * 2_850 + CLAIM
    began = time.process_time()
    assert checker(CLAIM, [Chunk(id="a", text=text)]).label == "supported"
    assert time.process_time() - began < 20


@pytest.mark.parametrize("logits", [[np.nan] * 3, [np.inf, 0.0, 0.0], [0.0, np.nan, 1.0]])
def test_scores_that_are_not_finite_give_no_verdict(logits):
    broken = Checker("broken", "b1", lambda pairs: np.array([logits] * len(pairs)))
    report = check_answer(CLAIM, contexts=[EVIDENCE], checker=broken)
    assert [verdict.label for verdict in report.verdicts] == ["unscored"]
    assert "faithfulness" not in report.metrics
    with pytest.raises(
        AssertionError, match=r"1 claim\(s\) unscored, the first because the model gave no finite score"
    ):
        assert_faithfulness(report)


@pytest.mark.parametrize("shape", [(2,), (1,), (4,)])
def test_a_model_of_another_shape_is_named(shape):
    odd = Checker("odd", "o1", lambda pairs: np.zeros((len(pairs), *shape)))
    with pytest.raises(
        ValueError,
        match=r"the checker 'odd' gave logits of shape \(1, \d\) for 1 pairs, expected \(1, 3\): one row a "
        r"pair",
    ):
        odd(CLAIM, [Chunk(id="a", text=EVIDENCE)])


def test_check_counts_what_it_could_not_judge(tmp_path, capsys):
    claims = [*NO_WORDS[:4], *OTHER_SCRIPTS, "a" * 100_000]
    rows = [{"id": i, "claim": claim, "evidence": EVIDENCE} for i, claim in enumerate(claims)]
    rows += [
        {"id": len(rows) + i, "claim": CLAIM, "evidence": text}
        for i, text in enumerate(["", [], ["...", OTHER_SCRIPTS[0]]])
    ]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(SystemExit) as ended:
        main(["check", str(tmp_path / "in.jsonl"), "--out", str(tmp_path / "out.jsonl")])
    assert not ended.value.code
    results = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [result["id"] for result in results] == list(range(len(rows)))
    assert {result["label"] for result in results} == {"unscored"}
    assert all(result["reason"] for result in results)
    assert f"{len(rows)} unscored" in capsys.readouterr().err


@pytest.mark.parametrize(
    "answer",
    ["", "\x00", OTHER_SCRIPTS[0], "a" * 100_000],
    ids=["empty", "control", "Chinese", "100,000 characters"],
)
def test_an_answer_that_cannot_be_judged_never_passes(answer):
    with pytest.raises(AssertionError, match="faithfulness could not be measured"):
        assert_faithfulness(answer, contexts=[EVIDENCE])
