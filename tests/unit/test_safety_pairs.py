"""Warnings of two drugs right behind the claim that names them."""

import pytest

from pytest_medfaith.asserts import assert_no_safety_errors
from pytest_medfaith.claims.split import extract_claims
from pytest_medfaith.safety.findings import safety_findings


def rules_broken(answer):
    claims = extract_claims(answer)
    return [found.rule for one in claims for found in safety_findings(one.text, behind=answer[one.end :])]


WARNED = [
    "Warfarin and ibuprofen are both used for clots and pain. They must not be combined.",
    "People on warfarin may also take ibuprofen. This combination needs close monitoring.",
    "You may be prescribed lithium and ibuprofen together. Such a combination must be monitored.",
    "Take levothyroxine with calcium carbonate, but keep them at least four hours apart.",
    "Warfarin and ibuprofen are both used for pain. Do not take them together.",
    "Warfarin and ibuprofen are both used for pain. Avoid this combination.",
    "Take levothyroxine with calcium carbonate. Leave four hours between doses.",
    "Take levothyroxine with calcium carbonate. Both must be taken separately from each other.",
]
ADVISED = [
    "You can take warfarin together with ibuprofen. Both are good painkillers.",
    "Take lithium together with ibuprofen. No monitoring is needed with this combination.",
    "You can take warfarin together with ibuprofen. Do not take them with milk.",
    "Take sildenafil together with nitrates. They must not be combined with alcohol.",
    "Take sildenafil together with nitrates. They must not be combined in children.",
    "Warfarin and aspirin can be taken together. You need not keep them apart.",
    "Take sildenafil together with nitrates. Aspirin and warfarin must be kept apart: never combine them.",
    "Take sildenafil together with nitrates. It is a myth that they must not be combined.",
    "Take sildenafil together with nitrates. Must they not be combined?",
    "Take sildenafil together with nitrates. Rest well. They must not be combined.",
    "Take sildenafil together with nitrates. ~~They must not be combined.~~",
    "Take sildenafil together with nitrates. Keep your feet apart.",
    "Take sildenafil together with nitrates. Keep the tablets apart from food.",
    "Take sildenafil together with nitrates. Keep them apart from your food.",
    "Take sildenafil together with nitrates. Meals are taken hours apart.",
]


@pytest.mark.parametrize("answer", WARNED)
def test_two_drugs_that_the_next_words_keep_apart_are_not_advised(answer):
    assert rules_broken(answer) == []
    first = answer.split(". ")[0].split(", but")[0] + "."
    assert rules_broken(first) == ["safety.interaction"]  # without the warning
    assert_no_safety_errors(answer)


@pytest.mark.parametrize("answer", ADVISED)
def test_other_words_behind_leave_the_finding(answer):
    with pytest.raises(AssertionError, match="interaction"):
        assert_no_safety_errors(answer)
