"""Metrics over the citations of a response. A claim carries the citation markers of its sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_medfaith.metrics.base import Fraction, Metric, claim_verdicts, entailing_chunks, share
from pytest_medfaith.records.labels import OPEN

if TYPE_CHECKING:
    from pytest_medfaith.records import Chunk, Report

ALCE = "Gao et al. 2023, ALCE, arXiv:2305.14627"
_PMID = re.compile(r"PMID:?\s*(\d+)", re.IGNORECASE)


def cited_contexts(citations: Sequence[str], contexts: Sequence[Chunk]) -> frozenset[int]:
    """Returns the positions, from 0, of the contexts that `citations` point to.

    A marker is a number from 1 into the contexts (`1`, `[1]`), a PMID (`PMID 123`, or a bare number beyond
    the contexts), or a chunk id. A marker that points nowhere adds no position.
    """
    return frozenset(
        position
        for marker in citations
        for position in _positions(marker.strip().strip("[]").strip(), contexts)
    )


def _positions(marker: str, contexts: Sequence[Chunk]) -> list[int]:
    if marker.isascii() and marker.isdigit() and 1 <= int(marker) <= len(contexts):
        return [int(marker) - 1]
    named = _PMID.fullmatch(marker)
    pmid = named[1] if named else marker
    return [position for position, chunk in enumerate(contexts) if marker == chunk.id or pmid == chunk.pmid]


def _citation_support(report: Report) -> Fraction | None:
    rows = entailing_chunks(report)
    # "[1]" counts the contexts that the answer was written from, not those that were put in their place.
    if rows is None or report.abstained or report.contexts_mode != "recorded":
        return None
    supported = [
        any(row[position] for position in cited_contexts(verdict.claim.citations, report.response.contexts))
        for verdict, row in zip(report.verdicts, rows, strict=True)
        if verdict.claim.citations and verdict.label not in OPEN
    ]
    return share(sum(supported), len(supported))


def _citation_coverage(report: Report) -> Fraction | None:
    verdicts = claim_verdicts(report)
    return share(sum(bool(verdict.claim.citations) for verdict in verdicts), len(verdicts))


METRICS = (
    Metric(
        name="citation_support",
        family="citations",
        direction="higher",
        definition="scored claims with a citation that a chunk they cite entails / scored claims with a "
        "citation; claims stand for sentences, and a citation that points to no context supports nothing",
        source=ALCE,
        per_case=_citation_support,
        part="count",
        whole="claims",
    ),
    Metric(
        name="citation_coverage",
        family="citations",
        direction="higher",
        definition="claims with a citation / claims; claims stand for sentences",
        source=ALCE,
        per_case=_citation_coverage,
        part="count",
        whole="claims",
    ),
)
