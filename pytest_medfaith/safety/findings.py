"""Finds claims that would harm: overdoses, contraindications, interactions, wrong patients, emergencies.

The rules read the claim, and the question for what the claim leaves out ("Can I take it with warfarin?").
They do not read the evidence: a dangerous claim stays dangerous where a source says the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pytest_medfaith.english.letters import plain_letters
from pytest_medfaith.records import Finding
from pytest_medfaith.safety.advice import advice_broken
from pytest_medfaith.safety.clauses import as_stated
from pytest_medfaith.safety.doses import dose_broken
from pytest_medfaith.safety.pairs import pair_warning
from pytest_medfaith.safety.reading import Broken, Passage, Reading, read_question
from pytest_medfaith.safety.rulebook import Rulebook, SafetyRule, load_rulebook
from pytest_medfaith.safety.triage import triage_broken

# An amount without a drug: "8 g.", "You can take up to 8 g a day."
_BARE_AMOUNT = re.compile(
    r"(?:\W*(?:\d[\d.,]*|[mµμ]?c?g|grams?|milligrams?|micrograms?|m[lL]|IU|units?|tablets?|up|to|at|most|a|an"
    r"|the|per|each|every|one|is|are"
    r"|be|it|that|this|and|or|of|no|not|more|than|in|over|about|around|you|they|adults?|people|patients?|can"
    r"|may|should|could|take|takes|taken"
    r"|have|use|safely|day|days|daily|hours?|once|twice|times?|maximum|max|limit|dose|dosage|usual|safe|total"
    r"|answer))+\W*",
    re.IGNORECASE,
)
_MOST_CHARACTERS = 4_000  # of a claim, as in apply_rules


def safety_findings(
    claim: str, *, rulebook: Rulebook | None = None, question: str | None = None, behind: str = ""
) -> list[Finding]:
    """Returns a finding for each safety rule that `claim` breaks, in the order of the rulebook.

    Rule names are "safety.dose", "safety.contraindication", "safety.interaction", "safety.triage" and
    "safety.population"; the message has the rule's id and source. The effect is "note": the verdict stays,
    and the metric `safety_error_rate` counts the claim. Empty for a claim of more than 4,000 characters.

    Args:
        claim: a claim of an answer.
        rulebook: the rules; the shipped rules where None.
        question: what was asked; it may name the symptoms, the patient or the drug that the claim leaves out.
        behind: the answer after the claim. It may say that two drugs of the claim must not be combined.
    """
    if not claim.strip() or len(claim) > _MOST_CHARACTERS:
        return []
    book = rulebook or load_rulebook()
    asked = read_question(plain_letters((question or "")[:_MOST_CHARACTERS]), book.index)
    stated = as_stated(plain_letters(claim))
    lead = _asked_drug(stated, asked)
    read = Reading(Passage(lead + stated, book.index), asked)
    found = []
    for rule in book.about(read.terms):
        broken = _CHECKS[rule.kind](rule, read)
        if rule.kind == "interaction" and broken and _warned_of(read.claim, behind, book):
            continue
        if broken and not any(read.finds(term) for term in rule.unless):
            span, message = broken
            found.append(
                Finding(
                    rule=f"safety.{rule.kind}",
                    message=f"{message} [{rule.id}: {rule.source}]",
                    claim_span=(max(0, span[0] - len(lead)), max(0, span[1] - len(lead))),
                    effect="note",
                )
            )
    return found


def _warned_of(claim: Passage, behind: str, book: Rulebook) -> bool:
    """Returns whether the words right after the claim warn of its drugs, and of no other drugs."""
    warning = Passage(plain_letters(pair_warning(behind)), book.index)
    drugs = [mention for mention in claim.mentions if mention.kind == "drug"]
    named = [mention for mention in warning.mentions if mention.kind == "drug"]
    known = all(any(mention.is_related(drug) for drug in drugs) for mention in named)
    return bool(warning.text) and len(drugs) > 1 and known


def _asked_drug(claim: str, question: Passage) -> str:
    """Returns "paracetamol: " for "Up to 8 g a day." where only the question names the drug; else ""."""
    if not _BARE_AMOUNT.fullmatch(claim):
        return ""
    drugs = {mention.concept: mention for mention in question.mentions if mention.kind == "drug"}
    only = next(iter(drugs.values())) if len(drugs) == 1 else None
    return f"{question.text[only.start : only.end]}: " if only else ""


_CHECKS: dict[str, Callable[[SafetyRule, Reading], Broken]] = {
    "dose": dose_broken,
    "contraindication": advice_broken,
    "interaction": advice_broken,
    "population": advice_broken,
    "triage": triage_broken,
}
