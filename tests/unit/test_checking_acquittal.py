import dataclasses
import math

import numpy as np
import pytest

from pytest_medfaith.checking.policy import Thresholds
from pytest_medfaith.checking.rereading import restated
from pytest_medfaith.checking.rules import RULE_NAMES
from pytest_medfaith.records import Chunk
from pytest_medfaith.testing import scripted_checker

RESTATED = [
    (
        "Take 0.4 mg of folic acid a day.",
        "Folic acid 400 micrograms a day.",
        "Take 400 micrograms of folic acid a day.",
    ),
    ("Take apixaban 5 mg BD.", "Apixaban 5 mg twice a day.", "Take apixaban 5 mg twice a day"),
    ("Treat for two weeks.", "Treat for 14 days.", "Treat for 14 days."),
    ("30-40 % of children had it.", "3 to 4 in 10 children had it.", "3 to 4 in 10 of children had it."),
    ("Give 1000 mg q8h.", "Give 1 g every 8 hours.", "Give 1 g every 8 hours."),
    ("Give 0.5 g.", "Give 0.5 mg.", "Give 0.5 g."),
    ("Give at least 0.5 g.", "Give up to 500 mg.", "Give at least 0.5 g."),
]


def checker(probabilities):
    """Returns a checker whose model gives `probabilities(evidence, claim)`: entail, neutral, contradict."""
    made = scripted_checker(lambda _evidence, _claim: "neutral")
    return dataclasses.replace(
        made,
        score_texts=lambda texts: np.array(
            [[math.log(p) for p in probabilities(*text)] for text in texts], dtype=np.float32
        ),
        thresholds=Thresholds(entail=0.5, contradict=0.3, odds=1.0),
        rules=frozenset(RULE_NAMES),
    )


@pytest.mark.parametrize(("claim", "sentence", "expected"), RESTATED)
def test_a_claim_takes_over_how_its_sentence_writes_equal_quantities(claim, sentence, expected):
    assert restated(claim, sentence).rstrip(".") == expected.rstrip(".")


def test_the_model_reads_equal_quantities_in_one_form():
    same = checker(
        lambda _evidence, claim: (0.9, 0.05, 0.05) if "400 micrograms" in claim else (0.05, 0.05, 0.9)
    )
    verdict = same(
        "Take 0.4 mg of folic acid a day.", [Chunk(id="c", text="Take 400 micrograms of folic acid a day.")]
    )
    assert (verdict.label, verdict.supporting) == ("supported", ("c",))
    assert verdict.claim.text == "Take 0.4 mg of folic acid a day."
    assert verdict.reason == "read as: Take 400 micrograms of folic acid a day."


def doubted(_evidence, _claim):
    """Contradiction is above its threshold of 0.3, and below the middle between the threshold and 1."""
    return 0.3, 0.2, 0.5


def sure(_evidence, _claim):
    return 0.05, 0.05, 0.9


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Adrenaline 0.5 mg is given to adults.", "Adults are given adrenaline 500 micrograms."),
        ("Amoxicillin is taken for a total of 5 days.", "Amoxicillin is taken for 5 days in total."),
        ("Peak flow is below 33% in such attacks.", "In such attacks, peak flow is <33%."),
        ("A pulse of 110 or more counts.", "It counts if the pulse is at least 110."),
    ],
)
def test_a_doubt_refutes_nothing_whose_quantities_all_agree(claim, evidence):
    assert checker(doubted)(claim, [Chunk(id="c", text=evidence)]).label == "unsupported"


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Adrenaline 0.5 mg is given to adults.", "Adults are given adrenaline 5 mg."),
        ("Adrenaline is given to adults.", "Adults are given adrenaline."),
        ("Adrenaline 0.5 mg is not given to adults.", "Adults are given adrenaline 500 micrograms."),
        ("Metformin 0.5 g is started for obesity.", "Adults with shock take 500 mg."),
        ("Up to 40 mg is given to adults.", "At least 40 mg is given to adults."),
        (
            "Old adults are given 40 mg of citalopram.",
            "Adults are given 40 mg of citalopram, old adults 20 mg.",
        ),
    ],
)
def test_a_doubt_refutes_where_a_quantity_is_another_or_none_speaks_for_the_claim(claim, evidence):
    assert checker(doubted)(claim, [Chunk(id="c", text=evidence)]).label == "refuted"


def test_what_the_model_is_sure_of_stays_refuted():
    assert (
        checker(sure)(
            "Adrenaline 0.5 mg is given to adults.",
            [Chunk(id="c", text="Adults are given adrenaline 500 micrograms.")],
        ).label
        == "refuted"
    )


def test_without_grounding_nothing_is_acquitted():
    plain = dataclasses.replace(checker(doubted), rules=frozenset(RULE_NAMES) - {"grounding"})
    assert (
        plain(
            "Adrenaline 0.5 mg is given to adults.",
            [Chunk(id="c", text="Adults are given adrenaline 500 micrograms.")],
        ).label
        == "refuted"
    )
