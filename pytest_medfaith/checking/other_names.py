"""What a case says in other names of a drug or disease: texts that count once, sources that say a claim.

Example: "Tylenol lowers fever" is in a guideline on acetaminophen, even where the model does not know the
brand. The claim is then judged once more, in the names of the guideline. Its verdict stays as it is, and
`guideline_adherence` counts the guideline.
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
    """Returns `report` with what its texts state in other names, as the checker's linker finds them.

    Args:
        report: with verdicts and entailments; of a case without an answer, with hits alone.
        checker: which gave the verdicts. A callable in a model's place judges no claim again: each question
            to it may cost money, and an LLM knows the names.
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
    return lru_cache(maxsize=defaults.TEXTS_KEPT)(load_linker(name))


def _renamed(
    report: Report, checker: Checker, linker: Callable[[str], Sequence[Mention]]
) -> tuple[tuple[bool, ...], ...]:
    """Returns which contexts support which claims in their names, (M, K); () where none does."""
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
    """Yields the contexts that would count for more than those that support the claim already.

    None would, where the claim is refuted or open, or where a rule found a clash with the evidence.
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
    """Returns the claim in the names of the chunk; with an id for the pair a strong model reads it."""
    text, context = (
        in_names_of(said, chunk.text, linker=linker, defined=defined) for said in (claim.text, claim.context)
    )
    return claim.with_(id=f"{claim.id}\n{chunk.id}", text=text, context=context)


def _supported(asked: Mapping[tuple[int, str], Pair], checker: Checker) -> Iterator[tuple[int, str]]:
    scores = checker.score(list(asked.values()))
    for (key, (claim, chunk)), score in zip(asked.items(), scores, strict=True):
        if checker.decide(claim, [score], [chunk]).label == "supported":
            yield key
