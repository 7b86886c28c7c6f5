"""Grounding: a supported claim holds no number, unit, name, route or place in line that its evidence does not hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pytest_medfaith.checking.anchors.amounts import missing_amounts
from pytest_medfaith.checking.anchors.arrows import missing_arrows
from pytest_medfaith.checking.anchors.dates import missing_dates
from pytest_medfaith.checking.anchors.drugs import missing_drugs
from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, shared_with
from pytest_medfaith.checking.anchors.greek import missing_greek, missing_subtypes
from pytest_medfaith.checking.anchors.labels import missing_labels, missing_roman, missing_scopes
from pytest_medfaith.checking.anchors.names import missing_markers, missing_sources
from pytest_medfaith.checking.anchors.pairing import missing_pairs, missing_swaps
from pytest_medfaith.checking.anchors.quantifiers import missing_quantifiers
from pytest_medfaith.checking.anchors.ranks import missing_ranks
from pytest_medfaith.checking.anchors.restrictions import missing_limits, missing_restrictions
from pytest_medfaith.checking.anchors.routes import missing_routes
from pytest_medfaith.checking.anchors.rows import missing_rows
from pytest_medfaith.checking.anchors.sequence import missing_sequences
from pytest_medfaith.checking.anchors.signs import missing_signs
from pytest_medfaith.records import Finding

SPEAKS_OF_IT = 0.2  # of the claim's words that a text holds whose numbers and names may be the claim's

READERS: tuple[Callable[[str, Evidence], Iterator[Missing]], ...] = (
    missing_amounts,
    missing_labels,
    missing_roman,
    missing_greek,
    missing_subtypes,
    missing_scopes,
    missing_drugs,
    missing_routes,
    missing_markers,
    missing_sources,
    missing_dates,
    missing_ranks,
    missing_sequences,
    missing_rows,
    missing_pairs,
    missing_swaps,
    missing_arrows,
    missing_restrictions,
    missing_limits,
    missing_signs,
    missing_quantifiers,
)


def ground(claim: str, texts: Sequence[str], *, nearest: str) -> list[Finding]:
    """Returns a finding for each anchor of `claim` that its evidence lacks, those that another value stands in the place of first.

    Args:
        claim: the claim.
        texts: all evidence that was read for it, titles included.
        nearest: the sentence that decided.
    """
    evidence = evidence_read(claim, texts, nearest=nearest)
    missing = [each for reader in READERS for each in reader(claim, evidence)]
    return [
        each.finding(claim, nearest)
        for each in sorted(missing, key=lambda each: (not (each.instead or each.refutes), each.start))
    ]


def evidence_read(claim: str, texts: Sequence[str], *, nearest: str) -> Evidence:
    """Returns what of `texts` speaks of `claim`: the text of the sentence that decided, and those that share enough words with the claim."""
    return Evidence(
        tuple(text for text in texts if nearest in text or shared_with(claim, 0, 0, text) >= SPEAKS_OF_IT),
        nearest,
    )
