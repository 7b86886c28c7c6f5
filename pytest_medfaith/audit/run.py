"""Runs an audit: makes claims from a corpus and from the bank, and has each judged by its chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from pytest_medfaith import defaults
from pytest_medfaith.audit.results import Audit, AuditClaim, StratumClaim
from pytest_medfaith.audit.sampling import sample_claims
from pytest_medfaith.audit.strata import StratumQuestion, sample_strata
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk, Claim, PairScore, Verdict

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker


def audit_checker(
    checker: Checker,
    chunks: Sequence[Chunk],
    *,
    limit: int = defaults.AUDIT_LIMIT,
    seed: int = defaults.SEED,
    progress: Callable[[int, int], None] | None = None,
) -> Audit:
    """Returns an audit: claims whose right verdict is known, each with the verdict of `checker`.

    The claims are sentences of `chunks`, some as they are and some with a planted error, and the items of
    the shipped bank.

    Args:
        checker: whose verdicts are audited.
        chunks: of a corpus.
        limit: most claims of a kind; where the corpus has few sentences that allow a change, there are fewer.
        seed: of the sample and of every choice in it.
        progress: told (texts scored, to score).

    Raises:
        DataError: no sentence of the corpus can be a claim.
    """
    claims = sample_claims(chunks, limit=limit, seed=seed)
    if not claims:
        raise DataError(
            f"none of the {len(chunks)} chunks holds a sentence to audit with; expected English prose: "
            "sentences of 6 to 40 words that begin with a capital and end with a full stop"
        )
    by_id = {chunk.id: chunk for chunk in chunks}
    questions = sample_strata(chunks, limit=limit, seed=seed)
    judged = [Claim(id=claim.id, text=claim.text) for claim in claims]
    pairs = [(claim, by_id[made.chunk_id]) for claim, made in zip(judged, claims, strict=True)]
    asked = [
        (Claim(id=question.claim.id, text=question.claim.text), chunk)
        for question in questions
        for chunk in question.chunks
    ]
    scores = checker.score([*pairs, *asked], progress=progress)
    # A plain callable gives no scores.
    scores_of_claims = [[score] for score in scores[: len(pairs)]] or [[]] * len(pairs)
    done = tuple(_judged(checker, *row) for row in zip(claims, pairs, scores_of_claims, strict=True))
    strata = tuple(_judged_strata(checker, questions, scores[len(pairs) :]))
    return Audit(checker=checker.name, seed=seed, limit=limit, claims=done, strata=strata)


def _judged(
    checker: Checker, made: AuditClaim, pair: tuple[Claim, Chunk], scores: Sequence[PairScore]
) -> AuditClaim:
    claim, chunk = pair
    verdict = checker.decide(claim, scores, [chunk])
    supports = checker.entailed(claim, chunk, scores[0] if scores else None)
    return made.with_(label=verdict.label, model_supports=supports, rules=_rules(verdict))


def _judged_strata(
    checker: Checker, questions: Sequence[StratumQuestion], scores: Sequence[PairScore]
) -> Iterator[StratumClaim]:
    """Yields the claims of `questions` with their verdicts.

    `scores` holds the score of each chunk, question by question.
    """
    start = 0
    for made, chunks in questions:
        end = start + len(chunks)
        verdict = checker.decide(Claim(id=made.id, text=made.text), scores[start:end], chunks)
        yield made.with_(label=verdict.label, rules=_rules(verdict))
        start = end


def _rules(verdict: Verdict) -> tuple[str, ...]:
    return tuple(dict.fromkeys(finding.rule for finding in verdict.findings))
