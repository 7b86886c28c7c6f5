"""Limits that a project sets on claims: the fewest words, and the most claims of an answer.

What they leave out is not checked. So it is reported with the words that no claim checks, and counted in the
metric `unchecked_share`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_medfaith.records import Chunk, Claim, Dropped

if TYPE_CHECKING:
    from pytest_medfaith.claims.split import Reading

Extractor = Callable[..., list[Claim]]


@dataclass(frozen=True)
class LimitedExtractor:
    """An extractor `(answer, *, question) -> claims` with limits.

    Attributes:
        extractor: finds the claims.
        min_words: claims with fewer words are left out.
        most: only the first so many claims are kept; None keeps all.
    """

    extractor: Extractor
    min_words: int = 0
    most: int | None = None

    def __call__(self, answer: str, *, question: str | None = None) -> list[Claim]:
        """Returns the claims within the limits."""
        return list(self.limited(read_claims(self.extractor, answer, question=question), answer).claims)

    def limited(self, read: Reading, answer: str) -> Reading:
        """Returns the claims of `read` within the limits.

        The others are dropped, with the limit as the reason.

        Args:
            read: the claims of the answer, and what was dropped before.
            answer: the answer.
        """
        from pytest_medfaith.claims.split import Reading

        long_enough = [claim for claim in read.claims if len(claim.text.split()) >= self.min_words]
        kept = long_enough[: self.most]
        why = {
            claim.id: f"beyond the {self.most} claims that max_claims allows"
            for claim in long_enough[len(kept) :]
        }
        short = f"fewer words than the {self.min_words} of claim_min_words"
        left_out = [
            Dropped(
                text=answer[claim.start : claim.end] or claim.text,
                span=(claim.start, claim.end),
                reason=why.get(claim.id, short),
            )
            for claim in read.claims
            if claim not in kept
        ]
        return Reading(tuple(kept), tuple(sorted([*read.dropped, *left_out], key=lambda piece: piece.span)))


def read_claims(
    extractor: Extractor,
    answer: str,
    *,
    question: str | None = None,
    contexts: Sequence[Chunk] = (),
    abstained: bool = False,
) -> Reading:
    """Returns the claims of an answer and the words that no claim checks.

    An extractor of the project does not say what it leaves out, so nothing is dropped then.

    Args:
        extractor: (answer, *, question) -> claims.
        answer: the answer.
        question: what it answers.
        contexts: what the answer was given, for its citations.
        abstained: True for a refusal. An extractor of the project is not asked about it.
    """
    from pytest_medfaith.claims.split import Reading, extract_claims, read_answer

    if isinstance(extractor, LimitedExtractor):
        read = read_claims(
            extractor.extractor, answer, question=question, contexts=contexts, abstained=abstained
        )
        return extractor.limited(read, answer)
    if extractor is extract_claims:
        return read_answer(answer, question=question, contexts=contexts)
    return Reading(() if abstained else tuple(extractor(answer, question=question)), ())
