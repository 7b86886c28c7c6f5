"""Medical rules after the model: each finds one kind of clash between a claim and the sentences of evidence that speak of it.

A rule reads `(claim, evidence)` and returns findings that name the two clashing spans, half-open characters of the claim and of the
evidence. Effects: "refute" (the evidence says otherwise), "weaken" (the evidence does not say it), "note".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache, partial
from types import MappingProxyType

from pytest_medfaith.checking.rules.certainty import certainty
from pytest_medfaith.checking.rules.direction import direction
from pytest_medfaith.checking.rules.negation import negation
from pytest_medfaith.checking.rules.numbers import numbers
from pytest_medfaith.checking.rules.population import population
from pytest_medfaith.checking.rules.substitution import substitution
from pytest_medfaith.entities.scispacy import load_linker
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Finding
from pytest_medfaith.safety.rulebook import SWITCHES

Rule = Callable[[str, str], list[Finding]]

RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "numbers": numbers,
        "negation": negation,
        "direction": direction,
        "substitution": substitution,
        "population": population,
        "certainty": certainty,
    }
)
GROUNDING = "grounding"  # reads all evidence at once, after the others: checking/grounding.py
RULE_NAMES = (*RULES, GROUNDING)
_MOST_CHARACTERS = (
    4_000  # of a claim; a longer text is no single statement, and its words would meet any evidence
)
_MOST_EVIDENCE = 20_000  # characters read of evidence and of context; more is no sentence and no passage, and costs seconds a claim


def check_rule_names(names: Collection[str]) -> None:
    """Refuses names that no rule can be switched off by.

    Raises:
        DataError: a name that is neither of RULE_NAMES nor of the safety rules' SWITCHES.
    """
    unknown = sorted(set(names) - {*RULE_NAMES, *SWITCHES})
    if unknown:
        raise DataError(
            f"no rule is named {unknown[0]!r}; the rules that can be switched off are {', '.join((*RULE_NAMES, *SWITCHES))}"
        )


@lru_cache(maxsize=4)
def linked_rules(linker: str) -> Mapping[str, Rule]:
    """Returns the shipped rules by name, those that compare names with the linker that `load_linker` knows as `linker`."""
    find = load_linker(linker)
    return {
        **RULES,
        "substitution": partial(substitution, linker=find),
        "population": partial(population, linker=find),
    }


def apply_rules(
    claim: str,
    evidence: str,
    *,
    context: str = "",
    off: Collection[str] = frozenset(),
    rules: Mapping[str, Rule] = RULES,
) -> list[Finding]:
    """Returns what the rules find, in the order of the registry; nothing for an empty or overlong claim, or empty evidence.

    Of evidence and context the first 20,000 characters are read.

    Args:
        claim: the claim.
        evidence: the sentences that speak of it: the best window of the best chunk, or the whole chunk.
        context: what else the source says (title, the rest of the chunk). It adds no findings; it takes back those of a number, an entity, a
            population or a year that the source does name, only in another sentence.
        off: names of rules to leave out.
        rules: the rules by name; the shipped ones, or those with a user's own added.

    Raises:
        ValueError: `off` names no rule.
    """
    unknown = sorted(set(off) - rules.keys())
    if unknown:
        raise ValueError(
            f"no rule is named {unknown[0]!r}; the rules that can be switched off are: {', '.join(rules)}"
        )
    if not claim.strip() or not evidence.strip() or len(claim) > _MOST_CHARACTERS:
        return []
    read, known = evidence[:_MOST_EVIDENCE], context[:_MOST_EVIDENCE]
    return [
        finding
        for name, rule in rules.items()
        if name not in off
        for finding in _findings(rule, claim, read, known)
    ]


def _findings(rule: Rule, claim: str, evidence: str, context: str) -> list[Finding]:
    found = rule(claim, evidence)
    if not found or not context.strip():
        return found
    confirmed = {finding.claim_span for finding in rule(claim, f"{evidence}\n{context}")}
    return [finding for finding in found if finding.claim_span in confirmed]
