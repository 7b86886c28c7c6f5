"""What readers of anchors compare a claim with: the texts of its evidence, and the sentence that decided.

An anchor is a number, name or the like that the evidence of a claim must hold: "50 mg" in "Take 50 mg".
"""

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
    """The evidence of a claim.

    Attributes:
        texts: the texts that speak of the claim, each below its title and headings.
        nearest: the deciding sentence, on which the verdict rests.
    """

    texts: tuple[str, ...]
    nearest: str

    @cached_property
    def in_order(self) -> tuple[str, ...]:
        """The deciding sentence, then all texts."""
        return (self.nearest, *self.texts)

    @cached_property
    def whole(self) -> str:
        """The deciding sentence and all texts as one text, joined by line breaks."""
        return "\n".join(self.in_order)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """The quantities ("5 mg") of the deciding sentence, then of all texts."""
        return tuple(quantity for text in self.in_order for quantity in read_quantities(text))

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """The drugs, diseases and other concepts that the deciding sentence and all texts name, in order."""
        return tuple(mention for text in self.in_order for mention in linked(text))

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys (stems) of all words: "treat" for "treated" and "treatment"."""
        return frozenset(token.key for text in self.in_order for token in read_tokens(text))

    def names(self, mention: Mention) -> bool:
        """Returns whether the evidence names the concept of `mention`, its class, or a member of it.

        A mention of "simvastatin" is named by "statins".
        """
        return any(mention.is_related(other) for other in self.mentions)


@lru_cache(maxsize=defaults.TEXTS_KEPT)
def linked(text: str) -> tuple[Mention, ...]:
    """Returns the mentions of drugs, diseases and other concepts in `text`; cached."""
    return tuple(link(text))


def mentions_at(text: str, place: int) -> list[Mention]:
    """Returns the mentions of concepts in `text` whose words hold the character at the offset `place`."""
    return [mention for mention in linked(text) if mention.start <= place < mention.end]


def with_its_source(chunk: Chunk) -> str:
    """Returns the text of a chunk below a line with its title, headings, year and source.

    The line, "Warfarin · Dosing · 2021 · NHS", may name a trial, an organisation or a date that the text
    leaves out. It is omitted if it is empty.
    """
    over = filter(None, (chunk.title, *chunk.section_path, str(chunk.year or ""), chunk.source))
    heading = " \u00b7 ".join(over)
    return f"{heading}\n{chunk.text}" if heading else chunk.text


def only_of(words: Collection[str]) -> str:
    """Returns the only element of `words`; "" where there are none or several."""
    return next(iter(words)) if len(words) == 1 else ""


@dataclass(frozen=True)
class Missing:
    """An anchor of a claim that the evidence lacks: "25 mg" where the evidence says "2.5 mg".

    Attributes:
        kind: what the anchor is: "amount", "label", "drug", ...
        start: the first character of the anchor in the claim.
        end: the character after it.
        instead: the words of the evidence in its place ("2.5 mg"); "" where there are none or several.
        note: what a report says instead of "... is not in the evidence"; "" for that wording.
        refutes: True where the evidence rules the anchor out, as it does wherever `instead` has words.
    """

    kind: str
    start: int
    end: int
    instead: str = ""
    note: str = ""
    refutes: bool = False

    def finding(self, claim: str, nearest: str) -> Finding:
        """Returns the `Finding` on the anchor.

        Its message is "claim says 25 mg, evidence says 2.5 mg" with `instead`, else `note`, else "25 mg is
        not in the evidence". Its effect is "refute" with `instead` or `refutes`, else "weaken".

        Args:
            claim: the text of the claim.
            nearest: the deciding sentence. The evidence span is the place of `instead` in it, or None.
        """
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
    """Returns whether `text` denies an odd number of times. Two negations affirm: "not without risk"."""
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
    """Returns the share of the claim's content words that `text` holds, 0 to 1, by weight (see `share`).

    Args:
        claim: the text of the claim.
        start: the first character of an anchor, whose words do not count; 0 for none.
        end: the character after the anchor; 0 for none.
        text: a text of the evidence.
    """
    wanted = {token.key for token in read_tokens(claim) if token.content and not start <= token.start < end}
    return share(wanted, content_keys(text))


def renumbered(
    kind: str,
    stated: Iterable[tuple[str, int, int, int]],
    known: Sequence[tuple[str, int, int, int]],
    text: str,
) -> Iterator[Missing]:
    """Yields a `Missing` for each name that `text` has with other numbers only: "alpha-1" against "alpha-2".

    `instead` holds the words of `text`, if it has the name once. A name that `text` lacks yields nothing.

    Args:
        kind: the kind of the anchors, such as "greek".
        stated: (name, number, start, end) of each anchor of the claim.
        known: the same for `text`.
        text: the evidence.
    """
    for name, number, start, end in stated:
        same = {text[s:e]: other for other_name, other, s, e in known if other_name == name}
        if same and number not in same.values():
            yield Missing(kind, start, end, instead=only_of(same))
