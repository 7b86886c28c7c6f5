"""The claims that people label: all kinds of verdict, flagged and uncertain first, weights that add up."""

from collections import Counter
from itertools import pairwise

import pytest
from card_samples import refusal
from label_samples import many_claims

from pytest_medfaith.errors import DataError
from pytest_medfaith.labels.sampling import draw_claims
from pytest_medfaith.records import Verdict

RUN = many_claims({"supported": 400, "refuted": 20, "unsupported": 60, "unscored": 7})


def test_every_stratum_is_drawn_and_flagged_and_near_claims_more_often():
    draw = draw_claims([RUN], count=120, seed=0)
    sizes = Counter(claim.stratum for claim in draw.claims)
    rate = {name: sizes[name] / draw.population[name] for name in draw.population}
    assert sum(sizes.values()) == 120
    assert draw.population == {
        "supported near": 200,
        "supported far": 200,
        "refuted near": 10,
        "refuted far": 10,
        "unsupported near": 30,
        "unsupported far": 30,
    }
    assert min(rate["refuted near"], rate["unsupported near"]) > rate["unsupported far"]
    assert rate["unsupported far"] > rate["supported near"] > rate["supported far"] > 0
    assert draw.unscored == 7


def test_near_claims_are_those_closer_to_their_threshold():
    draw = draw_claims([RUN], count=480, seed=0)
    for label in ("supported", "refuted", "unsupported"):
        distances = {
            side: [abs(one.verdict.score - 0.5) for one in draw.claims if one.stratum == f"{label} {side}"]
            for side in ("near", "far")
        }
        assert max(distances["near"]) <= min(distances["far"])


@pytest.mark.parametrize("count", [12, 120, 480, 5000])
def test_weights_add_up_to_the_claims_of_the_run(count):
    draw = draw_claims([RUN], count=count, seed=3)
    assert len(draw.claims) == min(count, 480)
    for name, population in draw.population.items():
        weights = [claim.weight for claim in draw.claims if claim.stratum == name]
        assert len(weights) <= population
        assert sum(weights) == pytest.approx(population)


def test_the_weighted_share_of_refuted_claims_is_that_of_the_run():
    claims = draw_claims([many_claims({"supported": 180, "refuted": 20})], count=40, seed=0).claims
    refuted = [claim.weight for claim in claims if claim.verdict.label == "refuted"]
    assert sum(refuted) / sum(claim.weight for claim in claims) == pytest.approx(0.1)
    assert len(refuted) / len(claims) > 0.15  # what it would be without weights


def test_the_seed_decides_which_claims():
    def keys(seed):
        return [claim.key for claim in draw_claims([RUN], count=60, seed=seed).claims]

    assert keys(0) == keys(0)
    assert set(keys(0)) != set(keys(1))


def test_the_order_of_reports_decides_nothing_but_the_order():
    turned = RUN.with_(reports=RUN.reports[::-1])
    once, again = (draw_claims([run], count=60, seed=0).claims for run in (RUN, turned))
    assert {claim.key for claim in once} == {claim.key for claim in again}


def test_claims_of_a_case_are_side_by_side_in_the_order_of_the_answer():
    claims = draw_claims([RUN], count=120, seed=0).claims
    cases = [claim.report.case.id for claim in claims]
    starts = [case for place, case in enumerate(cases) if place == 0 or cases[place - 1] != case]
    assert len(starts) == len(set(starts))
    assert starts != sorted(starts, key=lambda name: int(name.split("-")[1]))
    for before, after in pairwise(claims):
        if before.report is after.report:
            assert before.verdict.claim.start < after.verdict.claim.start


def test_equal_claims_with_equal_evidence_count_once():
    report = RUN.reports[0]
    doubled = report.with_(verdicts=(*report.verdicts, *report.verdicts))
    alone = RUN.with_(reports=(report,), retriever="bm25")
    draw = draw_claims([RUN.with_(reports=(doubled,)), alone], count=100, seed=0)
    assert len(draw.claims) + draw.unscored == len(report.verdicts)


def test_what_cannot_be_drawn_is_said():
    with pytest.raises(DataError, match="is 5, expected at least 12"):
        draw_claims([RUN], count=5, seed=0)
    with pytest.raises(DataError, match="has 2 checkers, expected 1: fast, strong"):
        draw_claims([RUN, RUN.with_(checker="strong")], count=50, seed=0)
    with pytest.raises(DataError, match=r"no claim with a verdict \(0 unscored\)"):
        draw_claims([RUN.with_(reports=(refusal(),))], count=50, seed=0)


def test_a_single_claim_is_drawn():
    verdict = next(one for one in RUN.reports[0].verdicts if one.label != "unscored")
    assert isinstance(verdict, Verdict)
    alone = RUN.with_(reports=(RUN.reports[0].with_(verdicts=(verdict,)),))
    draw = draw_claims([alone], count=120, seed=0)
    assert [(claim.stratum, claim.weight) for claim in draw.claims] == [(f"{verdict.label} near", 1.0)]
