"""Texts that say the same with other names of a drug or disease: "Tylenol" for "acetaminophen".

Example: the guideline on acetaminophen says what the claim "Tylenol lowers fever" says, even if the model
does not know the brand. The claim is then judged once more with the guideline's names. Its verdict stays as
it is, but `guideline_adherence` counts the guideline as a source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_medfaith import defaults
from pytest_medfaith.entities.authority import authority_of
from pytest_medfaith.entities.linker import Mention
from pytest_medfaith.entities.scispacy import NO_LINKER, load_linker
from pytest_medfaith.entities.statements import defined_in, first_alike, in_names_of
from pytest_medfaith.metrics.safety import weights_of
from pytest_medfaith.records import Chunk, Claim, Report, Verdict
from pytest_medfaith.records.labels import OPEN

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker

Pair = tuple[Claim, Chunk]


def with_other_names(report: Report, checker: Checker) -> Report:
    """Returns `report` with the gold claims, contexts and claims that say the same in other names.

    The names are those that the checker's linker finds. With the linker "none" the report comes back
    unchanged.

    Args:
        report: a report with verdicts and entailments, or of a case with retrieved chunks and no answer.
        checker: the checker that gave the verdicts. A judge in place of a model is not asked again about
            claims: each question may cost money, and an LLM knows the names.
    """
    if checker.linker == NO_LINKER:
        return report
    linker = _kept_linker(checker.linker)
    golds = [gold.text for gold in report.case.gold_claims]
    chunks = [chunk.text for chunk in report.response.contexts]
    told = report.entailments.with_(
        same_gold=first_alike(golds, linker=linker, defined=defined_in(golds)),
        same_chunks=first_alike(chunks, linker=linker, defined=defined_in(chunks)),
        renamed_claims=() if checker.judge else _renamed(report, checker, linker),
    )
    return report if told == report.entailments else report.with_(entailments=told)


@lru_cache(maxsize=4)
def _kept_linker(name: str) -> Callable[[str], Sequence[Mention]]:
    """Returns the linker called `name`, which keeps the mentions of the last texts."""
    return lru_cache(maxsize=defaults.TEXTS_KEPT)(load_linker(name))


def _renamed(
    report: Report, checker: Checker, linker: Callable[[str], Sequence[Mention]]
) -> tuple[tuple[bool, ...], ...]:
    """Returns which contexts support which claims in the context's names: booleans (claims, contexts).

    () if no context supports a claim in this way, or if no context has a known authority as a source.
    """
    contexts = report.response.contexts
    weights = weights_of(contexts)
    if not any(map(authority_of, contexts)):
        return ()
    defined = defined_in([report.response.answer])
    asked = {
        (place, chunk.id): (_in_names_of(verdict.claim, chunk, linker, defined), chunk)
        for place, verdict in enumerate(report.verdicts)
        for chunk in _heavier(verdict, contexts, weights)
    }
    asked = {
        key: pair
        for key, pair in asked.items()
        if pair[0].in_context != report.verdicts[key[0]].claim.in_context
    }
    found = set(_supported(asked, checker))
    if not found:
        return ()
    return tuple(
        tuple((place, chunk.id) in found for chunk in contexts) for place in range(len(report.verdicts))
    )


def _heavier(verdict: Verdict, contexts: Sequence[Chunk], weights: Mapping[str, float]) -> Iterator[Chunk]:
    """Yields the contexts with a greater weight as a source than those that support the claim already.

    None for a claim that is refuted or open, or where a rule found words of claim and evidence that clash.

    Args:
        verdict: the verdict on the claim.
        contexts: the chunks of the case.
        weights: {chunk id: weight of the source}.
    """
    clashes = any(finding.effect != "note" for finding in verdict.findings)
    if verdict.label == "refuted" or verdict.label in OPEN or clashes:
        return
    known = (verdict.supporting or (verdict.chunk_id,)) if verdict.label == "supported" else ()
    best = max((weights.get(name, 0.0) for name in known), default=0.0)
    yield from (chunk for chunk in contexts if weights[chunk.id] > best)


def _in_names_of(
    claim: Claim, chunk: Chunk, linker: Callable[[str], Sequence[Mention]], defined: Mapping[str, str]
) -> Claim:
    """Returns the claim with the chunk's names of drugs and diseases.

    Its id is unique for claim and chunk, since a strong model chooses what it reads by the claim's id.

    Args:
        claim: the claim.
        chunk: the chunk.
        linker: finds the mentions in a text.
        defined: {abbreviation: long form} of the answer.
    """
    text, context = (
        in_names_of(said, chunk.text, linker=linker, defined=defined) for said in (claim.text, claim.context)
    )
    return claim.with_(id=f"{claim.id}\n{chunk.id}", text=text, context=context)


def _supported(asked: Mapping[tuple[int, str], Pair], checker: Checker) -> Iterator[tuple[int, str]]:
    """Yields the keys of `asked` whose claim is supported by its chunk."""
    scores = checker.score(list(asked.values()))
    for (key, (claim, chunk)), score in zip(asked.items(), scores, strict=True):
        if checker.decide(claim, [score], [chunk]).label == "supported":
            yield key
