"""Medical rules after the model: each finds one kind of clash between a claim and its evidence.

A clash is that the texts do not agree: 5 mg against 50 mg. A rule takes (claim, evidence), two texts, and
returns findings with the clashing spans: half-open characters of the claim and of the evidence. A finding's
effect is "refute" (the evidence says otherwise: 5 mg against 50 mg), "weaken" (the evidence does not say it:
"cures" against "may help") or "note" (shown in reports, changes no verdict).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from types import MappingProxyType

from pytest_medfaith import defaults
from pytest_medfaith.checking.rules.certainty import certainty
from pytest_medfaith.checking.rules.direction import direction
from pytest_medfaith.checking.rules.negation import negation
from pytest_medfaith.checking.rules.numbers import numbers
from pytest_medfaith.checking.rules.population import population
from pytest_medfaith.checking.rules.substitution import substitution
from pytest_medfaith.checking.source import raised, source_digest
from pytest_medfaith.dotted import load_dotted
from pytest_medfaith.entities.scispacy import load_linker
from pytest_medfaith.errors import DataError, shown
from pytest_medfaith.records import Chunk, Finding
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
NEGATION = "negation"  # reads rejected statements as well: checking/rejected.py
GROUNDING = "grounding"  # reads all evidence at once, after the other rules: checking/grounding.py
FUTURE, TRIAL, QUESTION = "future", "trial", "question"
# These rules need no similar evidence, or no evidence at all: checking/overrides.
OVERRIDES = (FUTURE, TRIAL, QUESTION)
RULE_NAMES = (*RULES, GROUNDING, *OVERRIDES)
# A longer claim is no single statement, and any evidence would share its words.
_MOST_CHARACTERS = 4_000
# Characters of evidence and of context that are read. More than this is no passage, and costs seconds for
# each claim.
_MOST_EVIDENCE = 20_000
_EFFECTS = ("refute", "weaken", "note")


@dataclass(frozen=True)
class AddedRule:
    """A rule of the user's project, with a check of what it returns.

    Attributes:
        name: its name in findings and in `rules_off`: the last part of the dotted name, "no_brand_names".
        dotted: the dotted name of the settings, "my_pkg.rules:no_brand_names".
        rule: the callable: (claim, evidence) -> findings.
    """

    name: str
    dotted: str
    rule: Rule

    @property
    def signature(self) -> str:
        """The dotted name with a digest of the rule's source, which changes with it; baselines hold it."""
        return f"{self.dotted}{source_digest(self.rule)}"

    def __call__(self, claim: str, evidence: str) -> list[Finding]:
        """Returns the rule's findings under its name.

        Raises:
            DataError: the rule raised an error, or returned something that is no list of findings.
        """
        try:
            found = self.rule(claim, evidence)
        except Exception as error:
            raise DataError(
                f"the rule {self.dotted!r} {raised(error)} for the claim {shown(claim)}; mend it, or "
                f'switch it off with rules_off = ["{self.name}"]'
            ) from error
        if not isinstance(found, (list, tuple)) or not all(isinstance(each, Finding) for each in found):
            raise DataError(
                f"the rule {self.dotted!r} returned {shown(found)}; expected a list of "
                "pytest_medfaith.records.Finding, an empty list where nothing clashes"
            )
        for each in found:
            if each.effect not in _EFFECTS:
                raise DataError(
                    f"the rule {self.dotted!r} gave a finding of the effect {each.effect!r}; expected one of "
                    f"{', '.join(_EFFECTS)}"
                )
            for text, span in ((claim, each.claim_span), (evidence, each.evidence_span)):
                if span is not None and not 0 <= span[0] <= span[1] <= len(text):
                    raise DataError(
                        f"the rule {self.dotted!r} gave the span {span} of a text of {len(text)} characters; "
                        "expected (start, end) of the claim or of the evidence that it was given"
                    )
        return [each.with_(rule=self.name) for each in found]


def load_rules(names: Collection[str]) -> tuple[AddedRule, ...]:
    """Returns the rules at dotted names such as "my_pkg.rules:no_brand_names".

    Raises:
        DataError: a name leads nowhere or to no callable, or another rule has the same last part.
    """
    added: list[AddedRule] = []
    for dotted in names:
        rule = load_dotted(dotted, what="the rule")
        if not callable(rule):
            raise DataError(
                f"the rule {dotted!r} is {shown(rule)}; expected a callable (claim, evidence) -> findings"
            )
        name = dotted.rpartition(":")[2]
        if name in (*RULE_NAMES, *SWITCHES, *(each.name for each in added)):
            raise DataError(
                f"the rule {dotted!r} is called {name!r}, as another rule is; give it another name, since "
                "findings and rules_off know rules by their names"
            )
        added.append(AddedRule(name, dotted, rule))
    return tuple(added)


def switched_on(added: Sequence[AddedRule] = (), *, off: Collection[str] = ()) -> frozenset[str]:
    """Returns the names of the rules in use: shipped and `added` rules without those in `off`.

    Names of safety rules are allowed in `off`, and change nothing here.

    Raises:
        DataError: no rule has a name in `off`.
    """
    names = (*RULE_NAMES, *(rule.name for rule in added))
    unknown = sorted(set(off) - {*names, *SWITCHES})
    if unknown:
        raise DataError(
            f"no rule is named {unknown[0]!r}; the rules that can be switched off are "
            f"{', '.join((*names, *SWITCHES))}"
        )
    return frozenset(names) - set(off)


def active_rules(
    names: Collection[str], *, linker: str = defaults.LINKER, added: Sequence[AddedRule] = ()
) -> dict[str, Rule]:
    """Returns {name: rule} of the shipped and `added` rules that are in `names`, in the order of running.

    Each rule is a callable (claim, evidence) -> findings. `names` may hold "grounding" and the `OVERRIDES`,
    but they are not returned: they read all chunks at once, after these rules.

    Args:
        names: names of rules.
        linker: name of what finds the drugs and diseases that rules compare.
        added: rules of the user's project.
    """
    rules: dict[str, Rule] = {**linked_rules(linker), **{rule.name: rule for rule in added}}
    return {name: rule for name, rule in rules.items() if name in names}


@lru_cache(maxsize=4)
def linked_rules(linker: str) -> Mapping[str, Rule]:
    """Returns the shipped rules by name.

    `substitution` and `population` find names with the linker `linker`.
    """
    find = load_linker(linker)
    return {
        **RULES,
        "substitution": partial(substitution, linker=find),
        "population": partial(population, linker=find),
    }


def chunk_findings(
    claim: str, chunk: Chunk, span: tuple[int, int], rules: Mapping[str, Rule]
) -> list[Finding]:
    """Returns the findings of the rules on the claim and the sentence of `chunk` at `span`."""
    context = f"{chunk.title}\n{chunk.text}"
    found = apply_rules(claim, chunk.text[slice(*span)], context=context, rules=rules)
    return [placed(finding, chunk.id, span[0]) for finding in found]


def placed(finding: Finding, chunk_id: str, start: int) -> Finding:
    """Returns `finding` with its evidence span counted from the start of the chunk `chunk_id`.

    Args:
        finding: a finding with an evidence span that counts from the start of a sentence.
        chunk_id: the id of the sentence's chunk.
        start: where the sentence begins in the chunk.
    """
    span = finding.evidence_span
    moved = (span[0] + start, span[1] + start) if span else None
    return finding.with_(chunk_id=chunk_id, evidence_span=moved)


def apply_rules(
    claim: str,
    evidence: str,
    *,
    context: str = "",
    off: Collection[str] = frozenset(),
    rules: Mapping[str, Rule] = RULES,
) -> list[Finding]:
    """Returns the findings of all rules, in the order of the rules.

    There are none for an empty claim, a claim of more than 4,000 characters, or empty evidence. Of evidence
    and context the first 20,000 characters are read.

    Args:
        claim: the text of the claim.
        evidence: the sentences that speak of the claim: the best sentence of a chunk, or the whole chunk.
        context: what else the source says (title, the rest of the chunk). It adds no findings. It takes back
            findings on a number, a name, a population or a year that the source has in another sentence.
        off: names of rules to leave out.
        rules: the rules by name.

    Raises:
        ValueError: no rule has a name in `off`.
    """
    unknown = sorted(set(off) - rules.keys())
    if unknown:
        raise ValueError(
            f"no rule is named {unknown[0]!r}; the rules that can be switched off are: {', '.join(rules)}"
        )
    if not claim.strip() or not evidence.strip() or len(claim) > _MOST_CHARACTERS:
        return []
    read, context = evidence[:_MOST_EVIDENCE], context[:_MOST_EVIDENCE]
    findings: list[Finding] = []
    for name, rule in rules.items():
        found = rule(claim, read) if name not in off else []
        if found and context.strip():
            confirmed = {finding.claim_span for finding in rule(claim, f"{read}\n{context}")}
            found = [finding for finding in found if finding.claim_span in confirmed]
        findings += found
    return findings
