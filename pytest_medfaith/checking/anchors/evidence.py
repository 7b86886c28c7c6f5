"""What grounding reads of the evidence: everything that was given, once, and what it says nearest to the claim."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

from pytest_medfaith.checking.rules.negation import negations
from pytest_medfaith.english.words import read_tokens, share
from pytest_medfaith.entities.linker import Mention, link
from pytest_medfaith.quantities.quantity import Quantity
from pytest_medfaith.quantities.reader import read_quantities
from pytest_medfaith.records import Finding


@dataclass(frozen=True)
class Evidence:
    """Texts that were read for a claim; `nearest` is the sentence that decided."""

    texts: tuple[str, ...]
    nearest: str

    @cached_property
    def whole(self) -> str:
        """All that was read, a text a line; the nearest sentence stands first."""
        return "\n".join((self.nearest, *self.texts))

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Those of the nearest sentence, then all."""
        return tuple(quantity for text in (self.nearest, *self.texts) for quantity in read_quantities(text))

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """The concepts that it names."""
        return tuple(mention for text in (self.nearest, *self.texts) for mention in linked(text))

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of its words."""
        return frozenset(token.key for text in (self.nearest, *self.texts) for token in read_tokens(text))


@lru_cache(maxsize=8_192)
def linked(text: str) -> tuple[Mention, ...]:
    """Returns the concepts that `text` names."""
    return tuple(link(text))


@dataclass(frozen=True)
class Missing:
    """An anchor of the claim that the evidence lacks: its words' span, and what stands in its place, where that is clear.

    `note` is what a report says instead of "... is not in the evidence"; `refutes` where it cannot be true.
    """

    kind: str
    start: int
    end: int
    instead: str = ""
    note: str = ""
    refutes: bool = False

    def finding(self, claim: str, nearest: str) -> Finding:
        """Returns what a report says of it; the evidence span is counted in the sentence `nearest`."""
        words = claim[self.start : self.end]
        place = nearest.find(self.instead) if self.instead else -1
        message = (
            f"claim says {words}, evidence says {self.instead}"
            if self.instead
            else self.note or f"{words} is not in the evidence"
        )
        return Finding(
            rule="grounding",
            message=message,
            claim_span=(self.start, self.end),
            evidence_span=(place, place + len(self.instead)) if place >= 0 else None,
            effect="refute" if self.instead or self.refutes else "weaken",
        )


def is_odd(text: str) -> bool:
    """Returns whether the words of `text` deny an odd number of times."""
    return len(negations(read_tokens(text))) % 2 == 1


def shared_with(claim: str, start: int, end: int, text: str) -> float:
    """Returns which share of the claim's content words, those of the anchor aside, `text` holds."""
    wanted = {token.key for token in read_tokens(claim) if token.content and not start <= token.start < end}
    return share(wanted, {token.key for token in read_tokens(text) if token.content})
