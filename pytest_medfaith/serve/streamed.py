"""A checker that tells each verdict as soon as it is made, while `evaluate_case` waits for all of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from pytest_medfaith.checking.checker import Checker
from pytest_medfaith.checking.scoring import Progress
from pytest_medfaith.records import Chunk, Claim, PairScore, Verdict

Told = Callable[[Verdict], None]


@dataclass(frozen=True, kw_only=True)
class StreamedChecker(Checker):
    """Scores and decides claim by claim, and tells each verdict once.

    Verdicts and scores are those of `inner`: its model reads each pair by itself, whatever is beside it.
    `told` may raise to end the check.
    """

    inner: Checker
    told: Told
    known: dict[str, Verdict] = field(default_factory=dict, compare=False)

    def score(
        self, pairs: Sequence[tuple[Claim, Chunk]], *, progress: Progress | None = None
    ) -> list[PairScore]:
        """Returns the scores of all pairs, in order; after those of a claim its verdict is told."""
        if self.judge:
            return self.inner.score(pairs, progress=progress)
        scores: list[PairScore] = []
        for _, group in groupby(pairs, key=lambda pair: pair[0].id):
            of_claim = list(group)
            found = self.inner.score(of_claim)
            scores += found
            self.decide(of_claim[0][0], found, [chunk for _, chunk in of_claim])
        return scores

    def decide(self, claim: Claim, scores: Sequence[PairScore], chunks: Sequence[Chunk]) -> Verdict:
        """Returns the verdict on a claim, which is made and told once."""
        if claim.id not in self.known:
            self.known[claim.id] = self.inner.decide(claim, scores, chunks)
            self.told(self.known[claim.id])
        return self.known[claim.id]


def streamed(checker: Checker, told: Told) -> StreamedChecker:
    """Returns `checker` with `told` called for each verdict as it is made."""
    fields = {one.name: getattr(checker, one.name) for one in dataclasses.fields(Checker)}
    return StreamedChecker(**fields, inner=checker, told=told)
