"""A checker that tells each verdict as soon as it is made; `evaluate_case` gives them only at the end."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from pytest_medfaith.checking.checker import Checker
from pytest_medfaith.records import Chunk, Claim, PairScore, Verdict
from pytest_medfaith.scoring.pairs import Progress

Told = Callable[[Verdict], None]
Key = tuple[str, str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True, kw_only=True)
class StreamedChecker(Checker):
    """Judges claim by claim, and calls `told` once with the verdict of each claim.

    Example: an answer makes the claims c1 and c2. `score` reads all contexts for c1, and tells its verdict,
    before it reads them for c2. Scores and verdicts are those of `inner`, whose model reads each pair alone.

    Attributes:
        inner: the checker that judges.
        told: called with each verdict; it may raise to end the check.
        awaited: ids of claims whose verdict was not told yet.
        known: verdicts by claim and chunks. The check of citations judges a claim again by some contexts
            only, which is an entry of its own.
    """

    inner: Checker
    told: Told
    awaited: set[str] = field(default_factory=set, compare=False)
    known: dict[Key, Verdict] = field(default_factory=dict, compare=False)

    def score(
        self, pairs: Sequence[tuple[Claim, Chunk]], *, progress: Progress | None = None
    ) -> list[PairScore]:
        """Returns the scores of all pairs, in order.

        Tells a claim's verdict once all its pairs are scored.
        """
        if self.judge:
            return self.inner.score(pairs, progress=progress)
        scores: list[PairScore] = []
        for _, group in groupby(pairs, key=lambda pair: pair[0].id):
            of_claim = list(group)
            found = self.inner.score(of_claim)
            scores += found
            if of_claim[0][0].id in self.awaited:
                self.decide(of_claim[0][0], found, [chunk for _, chunk in of_claim])
        return scores

    def decide(self, claim: Claim, scores: Sequence[PairScore], chunks: Sequence[Chunk]) -> Verdict:
        """Returns the verdict on a claim by `chunks`, computed only once; tells it if that is still due."""
        key = (claim.id, claim.text, tuple((chunk.id, chunk.text) for chunk in chunks))
        if key not in self.known:
            self.known[key] = self.inner.decide(claim, scores, chunks)
        if claim.id in self.awaited:
            self.awaited.discard(claim.id)
            self.told(self.known[key])
        return self.known[key]


def streamed(checker: Checker, told: Told, claims: Sequence[Claim]) -> StreamedChecker:
    """Returns a checker like `checker` that calls `told` with the verdict of each of `claims`, once."""
    fields = {one.name: getattr(checker, one.name) for one in dataclasses.fields(Checker)}
    return StreamedChecker(**fields, inner=checker, told=told, awaited={claim.id for claim in claims})
