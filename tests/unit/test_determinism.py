"""The shipped model answers the same, to the byte, whatever run, order, batch, or number of threads."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import random, sys
from pytest_medfaith import check_answer
from pytest_medfaith.cards.json_card import json_card
from pytest_medfaith.scoring import pairs as scoring_pairs
from pytest_medfaith.evaluation import slice_report
from pytest_medfaith.records import SliceRun

CONTEXTS = [
    "For ovulation induction in PCOS, letrozole is started at 2.5 mg once a day for five days.",
    "Metformin lowers insulin levels in women with PCOS. It is no first choice for weight loss.",
]
ANSWERS = {
    "a": "Letrozole is started at 25 mg once a day.",
    "b": "Metformin lowers insulin levels in women with PCOS.",
    "c": "Metformin is the first choice for weight loss.",
}


def card(order, batch):
    scoring_pairs.BATCH = batch
    reports = []
    for name in order:
        gold = ["Metformin lowers insulin levels."]
        report = check_answer(ANSWERS[name], contexts=CONTEXTS, question="What is given?", gold_claims=gold)
        reports.append(report.with_(case=report.case.with_(id=name)))
    summary = slice_report(SliceRun(slice="s", retriever="", checker="default", k=3), reports)
    pairs = [pair.to_dict() for report in summary.reports for pair in report.pairs]
    verdicts = [verdict.to_dict() for report in summary.reports for verdict in report.verdicts]
    return json_card([summary]) + repr(pairs) + repr(verdicts)
"""
_CARD = {}
exec(SCRIPT, _CARD)  # noqa: S102 - the same code runs here and in other processes


@pytest.fixture(scope="module")
def expected():
    return _CARD["card"]("abc", 256)


def test_the_model_has_something_to_say(expected):
    assert "'label': 'supported'" in expected
    assert "'rule': 'numbers'" in expected


def test_neither_order_nor_batch_changes_a_byte(expected, monkeypatch):
    monkeypatch.setattr("pytest_medfaith.scoring.pairs.BATCH", 1)  # restored after the script has set it
    assert _CARD["card"]("cba", 1) == expected


def test_neither_threads_nor_hash_seeds_change_a_byte(expected):
    """`make test` runs this process with a single thread; elsewhere it has the machine's number of them."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
    threads = "4" if os.environ.get("OMP_NUM_THREADS") == "1" else "1"
    environment = {
        **os.environ,
        **dict.fromkeys(names, threads),
        "MEDFAITH_THREADS": "3" if threads == "4" else "1",
        "PYTHONHASHSEED": str(random.randrange(1000)),
    }
    code = f"{SCRIPT}\nsys.stdout.reconfigure(encoding='utf-8', newline='')\nsys.stdout.write(card('acb', 2))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, check=False)
    assert result.returncode == 0, result.stderr.decode()
    assert result.stdout.decode() == expected


WINDOWS = """
import json, sys
from pathlib import Path
from pytest_medfaith.english.words import content_keys, share
from pytest_medfaith.scoring.reading import best_sentence, window_around
from pytest_medfaith.records import SliceRun

chosen = []
for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
    item = json.loads(line)
    for claim in (row["text"] for row in item["claims"]):
        sentence = best_sentence(claim, item["evidence"], cosine=lambda _: 0.0)
        chosen.append([sentence.start, window_around(sentence, claim, of=item["evidence"]).start])
        chosen.append(share(content_keys(claim), content_keys(item["evidence"])))
sys.stdout.write(json.dumps(chosen))
"""
ABSTRACTS = (
    Path(__file__).parents[2] / "data" / "silver" / "abstracts_biology.jsonl"
)  # many of its claims fit two sentences alike


def test_what_is_read_does_not_change_with_the_hash_seed():
    chosen = {
        subprocess.run(
            [sys.executable, "-c", WINDOWS, str(ABSTRACTS)],
            capture_output=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(chosen) == 1
