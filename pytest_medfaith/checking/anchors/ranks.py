"""Places in line: a drug that the claim calls first-line, and the evidence second-line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from pytest_medfaith import defaults
from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, linked
from pytest_medfaith.english.sentences import sentence_spans
from pytest_medfaith.entities.linker import Mention

_RANK = re.compile(
    r"\b(?P<first>first[-\s](?:line|choice|option|drug|agent)|(?:is|are|comes?|tried|used|given|considered|"
    r"offered)\s+first\b(?!-|\s+(?:and|dose))|(?:drug|treatment)s? of (?:first )?choice|"
    r"preferred (?:drug|agent|treatment|choice|option)|initial (?:drug|agent|choice))"
    r"|\b(?P<second>second[-\s](?:line|choice|option)|(?:is|are|comes?|tried|used|given|"
    r"considered)\s+(?:second|next)\b)"
    r"|\b(?P<third>third[-\s](?:line|choice|option)|(?:is|are|comes?|tried|used|given|considered)\s+third\b)"
    r"|\b(?P<last>last[-\s](?:line|choice|option|resort)|(?:is|are|comes?|tried|used|given|"
    r"considered)\s+last\b)",
    re.IGNORECASE,
)
_LAST = 9
_PLACES = {"first": 1, "second": 2, "third": 3, "last": _LAST}
_WORDS = {place: word for word, place in _PLACES.items()}
_PARTING = re.compile(r"[;,:]|\b(?:and|then|with|while|whereas|but|followed by)\b", re.IGNORECASE)
# A drug that failed, or does not suit, has no place in line: "nifedipine if labetalol is not suitable".
_FALLBACK = re.compile(
    r"\b(?:if|when|where|after|unless|instead of|rather than|over|to)\s+[^,;.]*", re.IGNORECASE
)
_DENIED = re.compile(r"\b(?:not|no longer|never|n['’]t|rather than|instead of|neither)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Rank:
    """A drug and its place in line.

    Attributes:
        drug: the drug.
        place: 1, 2 or 3; 9 for last.
        start: the first character of the words for the place ("first-line").
        end: the character after them.
    """

    drug: Mention
    place: int
    start: int
    end: int


def missing_ranks(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "order" for each place in line that the evidence gives otherwise.

    Example: the claim calls a drug first-line. The evidence gives this place to another drug, or another
    place to this drug. `instead` says which.
    """
    stated = read_ranks(claim)
    known = [rank for text in evidence.in_order for rank in read_ranks(text)] if stated else []
    for rank in stated:
        places = [other.place for other in known if rank.drug.is_related(other.drug)]
        is_taken = any(other.place == rank.place and not rank.drug.is_related(other.drug) for other in known)
        if rank.place in places or not evidence.names(rank.drug) or not (places or is_taken):
            continue
        if not places and any(_names_no_drug_at(rank.place, text) for text in evidence.texts):
            continue  # "these agents are a first-line option"
        words = claim[rank.drug.start : rank.drug.end]
        said = f"{words} is {_WORDS[places[0]]}" if places else f"another drug is {_WORDS[rank.place]}"
        yield Missing("order", rank.start, rank.end, instead=said)


@lru_cache(maxsize=defaults.TEXTS_KEPT)
def read_ranks(text: str) -> tuple[Rank, ...]:
    """Returns a `Rank` for each drug that `text` gives a place in line: "A is first-line, B second-line"."""
    drugs = [mention for mention in linked(text) if mention.kind == "drug"]
    spans = sentence_spans(text) if drugs else []
    return tuple(rank for start, end in spans for rank in _ranks_of(text, start, end, drugs))


def _ranks_of(text: str, start: int, end: int, drugs: Sequence[Mention]) -> Iterator[Rank]:
    """Yields the ranks in the sentence `text[start:end]`.

    Drugs behind "if" or "instead of" get no place, and denied words for a place ("no longer first-line") give
    none.
    """
    found = list(_RANK.finditer(text, start, end))
    if not found:
        return
    set_aside = [match.span() for match in _FALLBACK.finditer(text, start, end)]
    inside = [
        drug
        for drug in drugs
        if start <= drug.start < end and not any(first <= drug.start < last for first, last in set_aside)
    ]
    bounds = [start, *(_boundary(text, one.end(), two.start(), inside) for one, two in pairwise(found)), end]
    for match, (first, last) in zip(found, pairwise(bounds), strict=True):
        if not _DENIED.search(text, max(first, match.start() - 24), match.start()):
            place = _PLACES[str(match.lastgroup)]
            yield from (Rank(drug, place, *match.span()) for drug in inside if first <= drug.start < last)


def _boundary(text: str, first: int, last: int, drugs: Sequence[Mention]) -> int:
    """Returns the offset that parts the words for one place in line from those for the next.

    Args:
        text: the text.
        first: where the words for the first place end.
        last: where those for the next place begin.
        drugs: the drugs of the sentence.
    """
    parts = [match.start() for match in _PARTING.finditer(text, first, last)]
    with_drug = [place for place in parts if any(place <= drug.start < last for drug in drugs)]
    return with_drug[-1] if with_drug else parts[-1] if parts else last


def _names_no_drug_at(place: int, text: str) -> bool:
    """Returns whether `text` gives the place to a group only: "these agents are a first-line option"."""
    with_drug = {rank.start for rank in read_ranks(text)}
    return any(
        match.start() not in with_drug and _PLACES[str(match.lastgroup)] == place
        for match in _RANK.finditer(text)
    )
