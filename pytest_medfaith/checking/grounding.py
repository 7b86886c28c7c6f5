"""Grounding: the evidence of a supported claim must hold each number, unit, name, route and order of it.

Example: a model finds "Take 50 mg at night" supported by "Take it at night". If no chunk says 50 mg, the
claim is not supported. Such numbers and names are the anchors of the claim; `READERS` finds them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pytest_medfaith.checking.anchors.amount_pairs import missing_amount_pairs
from pytest_medfaith.checking.anchors.amounts import missing_amounts
from pytest_medfaith.checking.anchors.arrows import missing_arrows
from pytest_medfaith.checking.anchors.clauses import missing_clauses
from pytest_medfaith.checking.anchors.comparing import missing_comparisons
from pytest_medfaith.checking.anchors.concessions import missing_concessions
from pytest_medfaith.checking.anchors.contrasts import missing_contrasts
from pytest_medfaith.checking.anchors.dated import missing_dated
from pytest_medfaith.checking.anchors.dates import missing_dates
from pytest_medfaith.checking.anchors.denials import missing_denials
from pytest_medfaith.checking.anchors.drugs import missing_drugs
from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, shared_with, with_its_source
from pytest_medfaith.checking.anchors.fragments import missing_fragments
from pytest_medfaith.checking.anchors.greek import missing_greek, missing_subtypes
from pytest_medfaith.checking.anchors.junctions import missing_junctions
from pytest_medfaith.checking.anchors.labels import (
    missing_labelled,
    missing_labels,
    missing_roman,
    missing_scopes,
)
from pytest_medfaith.checking.anchors.links import missing_links, missing_phases
from pytest_medfaith.checking.anchors.names import (
    missing_eponyms,
    missing_initials,
    missing_markers,
    missing_sources,
)
from pytest_medfaith.checking.anchors.opposites import missing_ways
from pytest_medfaith.checking.anchors.pairing import missing_pairs, missing_swaps
from pytest_medfaith.checking.anchors.quantifiers import missing_quantifiers
from pytest_medfaith.checking.anchors.ranks import missing_ranks
from pytest_medfaith.checking.anchors.restrictions import missing_limits, missing_restrictions
from pytest_medfaith.checking.anchors.routes import missing_routes
from pytest_medfaith.checking.anchors.rows import missing_rows
from pytest_medfaith.checking.anchors.sequence import missing_sequences
from pytest_medfaith.checking.anchors.signs import missing_signs
from pytest_medfaith.checking.anchors.singles import missing_singles
from pytest_medfaith.checking.anchors.steps import missing_steps
from pytest_medfaith.checking.rules import placed
from pytest_medfaith.records import Chunk, Finding, PairScore, Verdict

# A text with at least this share of the claim's words may hold the claim's numbers and names.
SPEAKS_OF_IT = 0.2

READERS: tuple[Callable[[str, Evidence], Iterator[Missing]], ...] = (
    missing_amounts,
    missing_labels,
    missing_roman,
    missing_labelled,
    missing_greek,
    missing_subtypes,
    missing_scopes,
    missing_drugs,
    missing_routes,
    missing_markers,
    missing_sources,
    missing_initials,
    missing_eponyms,
    missing_dates,
    missing_dated,
    missing_ranks,
    missing_sequences,
    missing_rows,
    missing_pairs,
    missing_swaps,
    missing_clauses,
    missing_arrows,
    missing_restrictions,
    missing_limits,
    missing_concessions,
    missing_contrasts,
    missing_comparisons,
    missing_signs,
    missing_quantifiers,
    missing_amount_pairs,
    missing_singles,
    missing_junctions,
    missing_links,
    missing_phases,
    missing_steps,
    missing_ways,
    missing_denials,
    missing_fragments,
)

_OF_NAMES = (missing_drugs, missing_ranks, missing_rows)  # these readers need the table of drugs and diseases


def grounded(
    verdict: Verdict, scores: Sequence[PairScore], chunks: Sequence[Chunk], *, names: bool = True
) -> Verdict:
    """Returns a supported verdict as unsupported or refuted where the evidence lacks an anchor of the claim.

    It is refuted if the evidence has another value in the anchor's place ("2.5 mg" for "25 mg"), else
    unsupported. Any other verdict comes back unchanged.

    Args:
        verdict: the verdict after the rules that read single sentences.
        scores: the model's scores of the claim with each chunk.
        chunks: all chunks that may hold the anchors.
        names: whether names of drugs are anchors; False where the linker is "none".
    """
    chunk = next((chunk for chunk in chunks if chunk.id == verdict.chunk_id), None)
    score = next((score for score in scores if score.chunk_id == verdict.chunk_id), None)
    if verdict.label != "supported" or chunk is None or score is None:
        return verdict
    start, end = verdict.span or (0, len(chunk.text))
    texts = [with_its_source(each) for each in chunks]
    found = ground(verdict.claim.text, texts, nearest=chunk.text[start:end], names=names)
    if not found:
        return verdict
    refuting = found[0].effect == "refute"
    return verdict.with_(
        label="refuted" if refuting else "unsupported",
        score=score.probs[2] if refuting else score.probs[0],
        supporting=(),
        findings=(*(placed(finding, chunk.id, start) for finding in found), *verdict.findings),
        reason="decided by the rule grounding",
    )


def ground(claim: str, texts: Sequence[str], *, nearest: str, names: bool = True) -> list[Finding]:
    """Returns a finding for each anchor (number, name, date) of `claim` that its evidence lacks; [] for none.

    Anchors with another value in their place come first, then the order of the claim.

    Args:
        claim: the text of the claim.
        texts: all evidence that was read for it, titles included.
        nearest: the sentence that decided.
        names: whether names of drugs are anchors.
    """
    evidence = evidence_read(claim, texts, nearest=nearest)
    readers = [reader for reader in READERS if names or reader not in _OF_NAMES]
    missing = [each for reader in readers for each in reader(claim, evidence)]
    if any(each.kind == "restriction" for each in missing):  # it says of the claim what a concession says
        missing = [each for each in missing if each.kind != "concession"]
    replaced_first = sorted(missing, key=lambda each: (not (each.instead or each.refutes), each.start))
    return [each.finding(claim, nearest) for each in replaced_first]


def evidence_read(claim: str, texts: Sequence[str], *, nearest: str) -> Evidence:
    """Returns those of `texts` that speak of `claim`: they hold the deciding sentence, or share its words.

    Args:
        claim: the text of the claim.
        texts: the texts of all chunks.
        nearest: the deciding sentence.
    """
    speaking = [text for text in texts if nearest in text or shared_with(claim, 0, 0, text) >= SPEAKS_OF_IT]
    return Evidence(tuple(speaking), nearest)
