"""What grounding reads of the evidence: all texts, each read once, and the sentence that decided."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from pytest_medfaith import defaults
from pytest_medfaith.checking.rules.denials import negations
from pytest_medfaith.english.words import content_keys, read_tokens, share
from pytest_medfaith.entities.linker import Mention, link
from pytest_medfaith.quantities.quantity import Quantity
from pytest_medfaith.quantities.reader import read_quantities
from pytest_medfaith.records import Chunk, Finding

_KEPT_FROM = re.compile(r"\bkeeps?\b[^.;]*\bfrom\b", re.IGNORECASE)
_ACTS = frozenset("prevents prevent prevented preventing keeps keep stops stop free missing".split())


@dataclass(frozen=True)
class Evidence:
    """The texts that were read for a claim; `nearest` is the sentence that decided."""

    texts: tuple[str, ...]
    nearest: str

    @cached_property
    def in_order(self) -> tuple[str, ...]:
        """The sentence that decided, then all texts."""
        return (self.nearest, *self.texts)

    @cached_property
    def whole(self) -> str:
        """All texts in order, one a line."""
        return "\n".join(self.in_order)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """The quantities of all texts in order."""
        return tuple(quantity for text in self.in_order for quantity in read_quantities(text))

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """The concepts that the texts name, in order."""
        return tuple(mention for text in self.in_order for mention in linked(text))

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of all words."""
        return frozenset(token.key for text in self.in_order for token in read_tokens(text))

    def names(self, mention: Mention) -> bool:
        """Returns whether the texts name the concept of `mention`, its class or a member of it."""
        return any(mention.is_related(other) for other in self.mentions)


@lru_cache(maxsize=defaults.TEXTS_KEPT)
def linked(text: str) -> tuple[Mention, ...]:
    """Returns the concepts that `text` names."""
    return tuple(link(text))


def mentions_at(text: str, place: int) -> list[Mention]:
    """Returns the concepts whose name in `text` holds the character at `place`."""
    return [mention for mention in linked(text) if mention.start <= place < mention.end]


def with_its_source(chunk: Chunk) -> str:
    """Returns the text of a chunk below its title, headings, year and source.

    They may name a trial, a body or a date.
    """
    over = filter(None, (chunk.title, *chunk.section_path, str(chunk.year or ""), chunk.source))
    heading = " \u00b7 ".join(over)
    return f"{heading}\n{chunk.text}" if heading else chunk.text


def only_of(words: Collection[str]) -> str:
    """Returns the only one of `words`; an empty text where there are none or several."""
    return next(iter(words)) if len(words) == 1 else ""


@dataclass(frozen=True)
class Missing:
    """An anchor of the claim that the evidence lacks.

    Attributes:
        kind: what the anchor is: "amount", "label", "drug", ...
        start: the first character of its words in the claim.
        end: the character after them.
        instead: the words of the evidence in its place; empty where no single words are.
        note: what a report says instead of "... is not in the evidence".
        refutes: True where the evidence rules the anchor out.
    """

    kind: str
    start: int
    end: int
    instead: str = ""
    note: str = ""
    refutes: bool = False

    def finding(self, claim: str, nearest: str) -> Finding:
        """Returns the finding on the anchor, with its evidence span counted in the sentence `nearest`."""
        words = claim[self.start : self.end]
        place = nearest.find(self.instead) if self.instead else -1
        message = self.note or f"{words} is not in the evidence"
        if self.instead:
            message = f"claim says {words}, evidence says {self.instead}"
        return Finding(
            rule="grounding",
            message=message,
            claim_span=(self.start, self.end),
            evidence_span=(place, place + len(self.instead)) if place >= 0 else None,
            effect="refute" if self.instead or self.refutes else "weaken",
        )


def is_odd(text: str) -> bool:
    """Returns whether the words of `text` deny an odd number of times."""
    return denials(text) % 2 == 1


def denials(text: str) -> int:
    """Returns how often `text` denies.

    "Prevents" and "stops" say what a drug does, and deny nothing. "Keep it from softening" denies.
    """
    tokens = read_tokens(text)
    kept = bool(_KEPT_FROM.search(text))
    return sum(
        tokens[place].lower not in _ACTS or (kept and tokens[place].lower.startswith("keep"))
        for place in negations(tokens)
    )


def shared_with(claim: str, start: int, end: int, text: str) -> float:
    """Returns which part of the claim's content words, apart from the anchor at `start:end`, `text` holds."""
    wanted = {token.key for token in read_tokens(claim) if token.content and not start <= token.start < end}
    return share(wanted, content_keys(text))


def renumbered(
    kind: str,
    stated: Iterable[tuple[str, int, int, int]],
    known: Sequence[tuple[str, int, int, int]],
    text: str,
) -> Iterator[Missing]:
    """Yields the numbers of names to which `text` gives only other numbers: "alpha-1" where it has "alpha-2".

    Args:
        kind: of the anchors.
        stated: name, number and span of each anchor of the claim.
        known: the same of `text`.
        text: the evidence.
    """
    for name, number, start, end in stated:
        same = {text[s:e]: other for other_name, other, s, e in known if other_name == name}
        if same and number not in same.values():
            yield Missing(kind, start, end, instead=only_of(same))
