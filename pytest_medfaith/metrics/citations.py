"""Metrics over the citations of an answer. A claim has the citations of its sentence."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pytest_medfaith.answers.identity import (
    DOI,
    PMCID,
    doi_of,
    plain_address,
    plain_name,
    pmcid_of,
    pmid_of,
)
from pytest_medfaith.metrics.base import (
    Fraction,
    Metric,
    claim_verdicts,
    entailing_chunks,
    scored_verdicts,
    share,
)
from pytest_medfaith.records.labels import OPEN
from pytest_medfaith.records.stored import once

if TYPE_CHECKING:
    from pytest_medfaith.records import Attribution, Chunk, Report, Verdict
    from pytest_medfaith.records.grades import CitationStatus

ALCE = "Gao et al. 2023, ALCE, arXiv:2305.14627"
_WORST_FIRST = ("contradicted", "nonexistent", "misattributed", "unsupported", "uncited", "supported")
_PMID = re.compile(r"PMID:?\s*(\d+)", re.IGNORECASE)
_DOI_MARKER = re.compile(rf"(?:DOI:?\s*)?({DOI})", re.IGNORECASE)
_PMCID = re.compile(PMCID)
_ADDRESS = re.compile(r"https?://", re.IGNORECASE)


def cited_contexts(citations: Sequence[str], contexts: Sequence[Chunk]) -> frozenset[int]:
    """Returns the positions, from 0, of the contexts that `citations` point to.

    A marker is a number from 1 into the contexts (`1`, `[1]`), a PMID (`PMID 123`, or a bare number beyond
    the contexts), a PMCID, a DOI, an address, a chunk id, or a title. Where an id is the number itself, the
    number means that chunk, wherever it is. A marker that points nowhere adds no position.
    """
    return frozenset(
        position
        for marker in citations
        for position in _positions(marker.strip().strip("[]").strip(), contexts)
    )


def _positions(marker: str, contexts: Sequence[Chunk]) -> list[int]:
    found = _where(contexts, marker, lambda chunk: chunk.id)
    if not found and marker.isascii() and marker.isdigit() and 1 <= int(marker) <= len(contexts):
        return [int(marker) - 1]
    ways = iter(_ways(marker))
    while not found and (way := next(ways, None)):
        found = _where(contexts, *way)
    return found


def _ways(marker: str) -> list[tuple[str, Callable[[Chunk], str]]]:
    """Returns (what a marker names, what a context has of that kind), the surest way first."""
    named, doi = _PMID.fullmatch(marker), _DOI_MARKER.fullmatch(marker)
    if _ADDRESS.match(marker):
        return [
            (plain_address(marker, fragment=True), lambda chunk: plain_address(chunk.url, fragment=True)),
            (plain_address(marker), lambda chunk: plain_address(chunk.url)),
        ]
    if doi:
        return [(doi[1].lower(), doi_of)]
    if _PMCID.fullmatch(marker):
        return [(marker, pmcid_of)]
    if named or marker.isdigit():
        pmid = named[1] if named else marker
        return [(pmid, lambda chunk: pmid if chunk.id == pmid else pmid_of(chunk))]
    plain = plain_name(marker)
    return [(plain, lambda chunk: plain_name(chunk.id)), (plain, lambda chunk: plain_name(chunk.title))]


def _where(contexts: Sequence[Chunk], wanted: str, told: Callable[[Chunk], str]) -> list[int]:
    return [position for position, chunk in enumerate(contexts) if wanted and told(chunk) == wanted]


@once
def citation_counts(reports: Sequence[Report]) -> dict[str, int]:
    """Returns how many scored claims have each status, the worst first; {} where no answer cites anything."""
    found: Counter[str] = Counter(one.status for report in reports for one in attributions(report))
    return {status: found[status] for status in _WORST_FIRST if found[status]}


def is_miscited(verdict: Verdict) -> bool:
    """Returns whether a claim cites something that does not say it, or nothing that exists."""
    return verdict.attribution is not None and verdict.attribution.status not in ("supported", "uncited")


def attributions(report: Report) -> list[Attribution]:
    """Returns the `Attribution` of each scored claim; [] where the answer cites nothing.

    [] also where retrieved contexts took the place of those that "[1]" counts.
    """
    return [verdict.attribution for verdict in scored_verdicts(report) if verdict.attribution]


def _citation_support(report: Report) -> Fraction | None:
    rows = entailing_chunks(report)
    # "[1]" counts the contexts that the answer was written from, not those that were put in their place.
    if rows is None or report.abstained or report.contexts_mode != "recorded":
        return None
    supported = [
        any(row[position] for position in cited_positions(verdict, report))
        for verdict, row in zip(report.verdicts, rows, strict=True)
        if verdict.claim.citations and verdict.label not in OPEN
    ]
    return share(sum(supported), len(supported))


def cited_positions(verdict: Verdict, report: Report) -> frozenset[int]:
    """Returns the positions of the contexts that a claim cites, from 0."""
    contexts = report.response.contexts
    if verdict.attribution is None:
        return cited_contexts(verdict.claim.citations, contexts)
    named = {name for names in verdict.attribution.cited.values() for name in names}
    return frozenset(position for position, chunk in enumerate(contexts) if chunk.id in named)


def _citation_recall(report: Report) -> Fraction | None:
    if report.contexts_mode != "recorded":
        return None
    found = sum(bool(one.helping) for one in attributions(report))
    return share(found, len(scored_verdicts(report)))


def _citation_precision(report: Report) -> Fraction | None:
    by_sentence: dict[int, list[Attribution]] = defaultdict(list)
    for one in attributions(report):
        by_sentence[one.sentence].append(one)
    helps = [
        any(set(claim.helping) & set(claim.cited.get(marker, ())) for claim in claims)
        for claims in by_sentence.values()
        for marker in dict.fromkeys(marker for claim in claims for marker in claim.cited)
    ]
    return share(sum(helps), len(helps))


def _of_status(status: CitationStatus) -> Callable[[Report], Fraction | None]:
    def per_case(report: Report) -> Fraction | None:
        cited = [one for one in attributions(report) if one.status != "uncited"]
        return share(sum(one.status == status for one in cited), len(cited))

    return per_case


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
    Metric(
        name="citation_recall",
        family="citations",
        direction="higher",
        definition="scored claims that the contexts they cite support, alone or together / scored claims; an "
        "uncited claim counts as not supported, and claims stand for sentences",
        source=ALCE,
        per_case=_citation_recall,
        part="count",
        whole="claims",
    ),
    Metric(
        name="citation_precision",
        family="citations",
        direction="higher",
        definition="citations that help to support a claim of their sentence / citations; a citation helps "
        "where its context alone supports the claim, or where the cited contexts support it together and "
        "without this citation do not; a citation of nothing helps no claim",
        source=ALCE,
        per_case=_citation_precision,
        part="count",
    ),
    Metric(
        name="misattribution",
        family="citations",
        direction="lower",
        definition="scored claims that what they cite does not support and another context does / scored "
        "claims with a citation",
        source="Liu et al. 2023, Evaluating Verifiability in Generative Search Engines, arXiv:2304.09848; "
        "the split by another context is this project's",
        per_case=_of_status("misattributed"),
        part="count",
        whole="claims",
    ),
    Metric(
        name="nonexistent_citation",
        family="citations",
        direction="lower",
        definition="scored claims that cite something that is none of the contexts / scored claims with a "
        "citation",
        source="this project",
        per_case=_of_status("nonexistent"),
        part="count",
        whole="claims",
    ),
)
CITATION_METRICS = frozenset(metric.name for metric in METRICS)
