"""A claim that calls a statement false is refuted where the evidence says the statement."""

import dataclasses

import pytest

from pytest_medfaith import check_answer
from pytest_medfaith.checking.rules import RULE_NAMES
from pytest_medfaith.records import Chunk
from pytest_medfaith.testing import scripted_checker

EVIDENCE = "NSAIDs raise the risk of bleeding in people who take warfarin."


def _label(_evidence: str, claim: str) -> str:
    """Supports by words, as small models do, and knows of one statement that it is wrong."""
    return "contradict" if claim.startswith("NSAIDs are safe") else "entail"


CHECKER = dataclasses.replace(scripted_checker(_label), rules=frozenset(RULE_NAMES) - {"grounding"})
SAID = "NSAIDs raise the risk of bleeding in people who take warfarin"


@pytest.mark.parametrize(
    "answer",
    [
        f"It is not true that {SAID}.",
        f"It isn't true that {SAID}.",
        f"It is a common misconception that {SAID}.",
        f"It would be wrong to say that {SAID}.",
        f"It is wrong to assume {SAID}.",
        f"The claim that {SAID} is false.",
        f"That {SAID} is a myth.",
        f"There is no truth to the idea that {SAID}.",
        f"**Myth:** {SAID}.",
        f"{SAID}, which is untrue.",
        f"- {SAID} (false)",
        f"You may have read that {SAID}. This is not correct.",
        f"{SAID}. That's simply a myth.",
        f"{SAID}. Not true.",
        f"{SAID}. No, they don't.",
        f"{SAID}. The opposite is true.",
    ],
)
def test_calling_false_what_the_evidence_says_is_refuted(answer):
    report = check_answer(answer, [EVIDENCE], checker=CHECKER)
    refuted = [verdict for verdict in report.verdicts if verdict.label == "refuted"]
    assert [verdict.reason for verdict in refuted] == ["decided by the rule negation"]
    assert refuted[0].findings[0].rule == "negation"


@pytest.mark.parametrize(
    ("answer", "evidence"),
    [
        ("It is a myth that NSAIDs are safe beside warfarin.", EVIDENCE),
        ("NSAIDs are safe, some say. This is not correct.", EVIDENCE),
        (f"It is a myth that {SAID}.", f"It is a myth that {SAID}."),
        (f"It is not true that {SAID}.", f"Some say that {SAID}. This was disproved."),
        ("NSAIDs do not lower the risk of bleeding. They don't.", EVIDENCE),
        ("The risk of bleeding is raised. This is not the only risk.", EVIDENCE),
        (f"It is true that {SAID}.", EVIDENCE),
    ],
)
def test_a_rejection_that_the_evidence_bears_out_is_not(answer, evidence):
    report = check_answer(answer, [evidence], checker=CHECKER)
    assert not any("calls false" in each.message for verdict in report.verdicts for each in verdict.findings)


def test_a_question_before_a_denial_is_no_statement():
    report = check_answer("Do NSAIDs raise the risk of bleeding? They don't.", [EVIDENCE], checker=CHECKER)
    assert not any("calls false" in each.message for verdict in report.verdicts for each in verdict.findings)


def test_every_chunk_is_asked_for_the_statement():
    chunks = [Chunk(id="a", text="Warfarin is a blood thinner."), Chunk(id="b", text=EVIDENCE)]
    label = {EVIDENCE: "entail"}
    checker = scripted_checker(
        lambda evidence, claim: "entail" if claim.startswith("It is") else label.get(evidence, "neutral")
    )
    checker = dataclasses.replace(checker, rules=frozenset({"negation"}))
    verdict = checker(f"It is false that {SAID}.", chunks)
    assert (verdict.label, verdict.chunk_id) == ("refuted", "b")


def test_the_rule_can_be_switched_off():
    checker = dataclasses.replace(CHECKER, rules=CHECKER.rules - {"negation"})
    assert checker(f"It is false that {SAID}.", [Chunk(id="a", text=EVIDENCE)]).label == "supported"
