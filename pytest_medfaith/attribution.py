"""Whether the contexts that a claim cites say what the claim says.

Example: in "Iron raises haemoglobin [2]." the claim is misattributed where the first context says so and the
second does not. A citation is a number, PMID, DOI, id, title or address of a context.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_medfaith.answers.identity import doi_of, plain_name, pmid_of
from pytest_medfaith.claims.citable import Citable
from pytest_medfaith.claims.citations import parse_citations, read_citations
from pytest_medfaith.claims.layout import read_layout
from pytest_medfaith.metrics.citations import cited_contexts
from pytest_medfaith.records import Attribution, Chunk, Claim, Response, Verdict
from pytest_medfaith.records.grades import CitationStatus

if TYPE_CHECKING:
    import numpy as np

Judge = Callable[[Claim, Sequence[Chunk]], Verdict]
Embed = Callable[[Sequence[str]], "np.ndarray"]
_HEADING = re.compile(
    r"(?:^|\n)\W*(?:references?|sources?|citations?|bibliography|further reading|works cited)\W*(?=\n)",
    re.IGNORECASE,
)
_ENTRY = re.compile(r"^\s*(?:[-*•]\s+)?(?:\[(\^?[\w-]+)\]:?|(\d{1,2})[.)])\s*(?P<text>\S.*)$", re.MULTILINE)
_LINK = re.compile(r"https?://\S+")


def attributed(
    verdicts: Sequence[Verdict], response: Response, *, judge: Judge | None, embed: Embed | None = None
) -> tuple[Verdict, ...]:
    """Returns `verdicts`, each scored one with an `Attribution`: what the cited contexts say of its claim.

    An answer that cites nothing gets its verdicts back unchanged, and so does an unscored verdict.

    Args:
        verdicts: on the claims of the answer, each judged by all contexts.
        response: the answer and the contexts that it was written from.
        judge: `(claim, chunks) -> verdict` by some contexts alone; None where asking again is not possible,
            as with a checker that is a plain function. Then `verdicts` alone decide.
        embed: texts -> vectors (n, width), which say to which of two cited neighbours an uncited claim is
            more similar. The shipped encoder where None.
    """
    if not any(verdict.claim.citations for verdict in verdicts):
        return tuple(verdicts)
    meant = read_definitions(response.answer, response.contexts)
    numbers = _sentence_numbers(verdicts, response)
    made = [
        verdict
        if verdict.label == "unscored"
        else verdict.with_(attribution=_attribution(verdict, response.contexts, meant, number, judge))
        for verdict, number in zip(verdicts, numbers, strict=True)
    ]
    return _with_neighbours(made, embed)


def read_definitions(answer: str, contexts: Sequence[Chunk]) -> dict[str, tuple[str, ...]]:
    """Returns {number or name of a footnote: what it refers to}, from the list of sources in an answer.

    The line "[2]: NICE, https://nice.org.uk/ng28" gives {"2": ("https://nice.org.uk/ng28",)}. A line that
    names no PMID, DOI, address, id or title of a context is left out. So is a PMID where no context has any:
    the number then counts as the place among the contexts.
    """
    heading = max((found.end() for found in _HEADING.finditer(answer)), default=len(answer))
    found: dict[str, tuple[str, ...]] = {}
    for entry in _ENTRY.finditer(answer):
        name, numbered = entry[1] or entry[2], entry[2] is not None
        is_note = name.startswith("^") or answer[entry.end(1) + 1 : entry.end(1) + 2] == ":"
        if (is_note and not numbered) or entry.start() >= heading:
            markers = _identities(entry["text"], contexts)
            if markers:
                found.setdefault(name if re.search(r"[^\W\d]", name) else name.lstrip("^"), markers)
    return found


def _identities(text: str, contexts: Sequence[Chunk]) -> tuple[str, ...]:
    """Returns what a line of sources points at: its PMIDs, DOIs, addresses, and ids of contexts it titles.

    Of these, those that lead to a context; where none does, all that contexts could have.
    """
    named = [one.marker for one in parse_citations(text, contexts) if not one.marker.isdigit()]
    named += [url.rstrip(".,;)>") for url in _LINK.findall(text)]
    plain = plain_name(text)
    titled = [
        chunk.id for chunk in contexts if len(chunk.title.split()) > 1 and plain_name(chunk.title) in plain
    ]
    has_pmids, has_dois = any(map(pmid_of, contexts)), any(map(doi_of, contexts))
    has_addresses = Citable.of(contexts).has_addresses()
    known = {"PMID": has_pmids, "DOI": has_dois, "http": has_addresses}
    told = [
        marker
        for marker in named
        if next((has for kind, has in known.items() if marker.startswith(kind)), True)
    ]
    pointing = [marker for marker in (*told, *titled) if cited_contexts([marker], contexts)]
    return tuple(dict.fromkeys(pointing or told))


def _sentence_numbers(verdicts: Sequence[Verdict], response: Response) -> list[int]:
    """Returns for each claim the number of its sentence in the answer, from 0.

    A claim without a place in the answer gets a number of its own, behind all sentences.
    """
    sentences = read_layout(read_citations(response.answer, response.contexts).text).sentences
    starts = [sentence.start for sentence in sentences]
    return [
        max(bisect_right(starts, verdict.claim.start) - 1, 0) if verdict.claim.end else len(starts) + number
        for number, verdict in enumerate(verdicts)
    ]


def _attribution(
    verdict: Verdict,
    contexts: Sequence[Chunk],
    meant: Mapping[str, tuple[str, ...]],
    sentence: int,
    judge: Judge | None,
) -> Attribution:
    """Returns what the cited contexts say of a verdict's claim; `sentence` is its sentence's number."""
    cited = {
        marker: tuple(
            contexts[place].id for place in sorted(cited_contexts(meant.get(marker, (marker,)), contexts))
        )
        for marker in verdict.claim.citations
    }
    chunks = [chunk for chunk in contexts if any(chunk.id in names for names in cited.values())]
    elsewhere = tuple(name for name in _supporting(verdict) if name not in {chunk.id for chunk in chunks})
    if not verdict.claim.citations:
        return Attribution(status="uncited", elsewhere=elsewhere, sentence=sentence)
    alone = _alone(verdict, chunks, contexts, judge)
    helping = _helping(alone, chunks, judge) if alone else ()
    return Attribution(
        status=_status(alone, cited, helping, elsewhere),
        cited=cited,
        helping=helping,
        elsewhere=elsewhere,
        sentence=sentence,
    )


def _supporting(verdict: Verdict) -> tuple[str, ...]:
    """Returns the ids of the contexts that support a claim by themselves."""
    return tuple(dict.fromkeys(filter(None, verdict.supporting)))


def _status(
    alone: Verdict | None,
    cited: Mapping[str, tuple[str, ...]],
    helping: Sequence[str],
    elsewhere: Sequence[str],
) -> CitationStatus:
    """Returns the citation status of a claim that cites something; where several hold, the worst.

    From the worst: contradicted, nonexistent (a citation leads nowhere), then supported where a cited context
    helps, misattributed where only others support the claim, and unsupported.
    """
    if alone and alone.label == "refuted":
        return "contradicted"
    if not all(cited.values()):
        return "nonexistent"
    if helping:
        return "supported"
    return "misattributed" if elsewhere else "unsupported"


def _alone(
    verdict: Verdict, chunks: Sequence[Chunk], contexts: Sequence[Chunk], judge: Judge | None
) -> Verdict | None:
    """Returns the verdict that the cited `chunks` alone give; None where `chunks` is empty.

    `verdict`, by all contexts, is used where it tells this already, so that no model runs again.
    """
    if not chunks:
        return None
    names = {chunk.id for chunk in chunks}
    if len(chunks) == len(contexts) or (verdict.chunk_id in names and not verdict.joint):
        return verdict
    supporting = tuple(name for name in verdict.supporting if name in names)
    if verdict.joint and (judge is not None or set(verdict.supporting) - names):
        return judge(verdict.claim, chunks) if judge else verdict.with_(label="unsupported", supporting=())
    if supporting:
        return verdict.with_(label="supported", supporting=supporting, joint=False)
    if verdict.label == "unsupported" or judge is None:
        return verdict.with_(label="unsupported", supporting=())
    return judge(verdict.claim, chunks)


def _helping(alone: Verdict, chunks: Sequence[Chunk], judge: Judge | None) -> tuple[str, ...]:
    """Returns the ids of the cited contexts that support the claim: each alone, or only together.

    Of contexts that support it only together, those without which it is not supported; where no single one is
    needed, all. () where the cited contexts do not support the claim.
    """
    if alone.label != "supported":
        return ()
    names = [chunk.id for chunk in chunks]
    by_themselves = tuple(name for name in names if name in alone.supporting)
    if by_themselves and not alone.joint:
        return by_themselves
    if judge is None or len(chunks) == 1:
        return tuple(names)
    needed = [
        chunk.id
        for chunk in chunks
        if judge(alone.claim, [other for other in chunks if other is not chunk]).label != "supported"
    ]
    return tuple(needed) or tuple(names)


def _with_neighbours(verdicts: Sequence[Verdict], embed: Embed | None) -> tuple[Verdict, ...]:
    """Returns `verdicts` in which an uncited claim is `assigned` what a cited neighbour cites.

    The neighbours are the nearest claims with citations before and behind it. Where these cite different
    things, the one with the more similar text counts. No passage is read here; `claims/assignment.py` goes by
    passages, and says why there are both.
    """
    made = list(verdicts)
    cited = [
        place for place, verdict in enumerate(verdicts) if verdict.attribution and verdict.claim.citations
    ]
    for place, verdict in enumerate(verdicts):
        if verdict.attribution is None or verdict.claim.citations:
            continue
        before = [one for one in cited if one < place][-1:]
        behind = [one for one in cited if one > place][:1]
        chosen = _more_similar(verdict, [verdicts[one] for one in (*before, *behind)], embed)
        if chosen and chosen.attribution:
            names = dict.fromkeys(name for found in chosen.attribution.cited.values() for name in found)
            made[place] = verdict.with_(attribution=verdict.attribution.with_(assigned=tuple(names)))
    return tuple(made)


def _more_similar(verdict: Verdict, neighbours: Sequence[Verdict], embed: Embed | None) -> Verdict | None:
    """Returns the neighbour with the most similar claim: the first where all cite the same, None for none."""
    if len({neighbour.claim.citations for neighbour in neighbours}) < 2:
        return next(iter(neighbours), None)
    if embed is None:
        from pytest_medfaith.retrieval.encoders import load_encoder

        embed = load_encoder().encode_documents
    vectors = embed([verdict.claim.text, *(neighbour.claim.text for neighbour in neighbours)])
    similarities = vectors[1:] @ vectors[0]
    return neighbours[int(similarities.argmax())]
