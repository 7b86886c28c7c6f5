"""Self-consistency: whether a system says the same when it is asked again.

Example: three answers say 25 mg, 25 mg and 50 mg. The claim "25 mg" of the first answer is in one of the two
further answers. A claim that few answers repeat may be made up. Source: Manakul, Liusie and Gales 2023,
SelfCheckGPT, arXiv:2303.08896.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import TYPE_CHECKING

from pytest_medfaith.conversion import Record
from pytest_medfaith.english.sentences import sentences_of
from pytest_medfaith.english.struck import without_struck
from pytest_medfaith.records import Chunk, Claim
from pytest_medfaith.scoring.similarity import Vectors

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker


@dataclass(frozen=True, kw_only=True)
class Consistency(Record):
    """How further answers to the same question agree with an answer.

    Attributes:
        samples: how many further answers there are.
        agreement: the mean similarity of all pairs of answers, -1 to 1.
        supported: {claim id: how many further answers support the claim}.
        refuted: {claim id: how many further answers refute it}.
        is_same: True where all answers are equal word for word, as a cache or a temperature of 0 makes them.
    """

    samples: int
    agreement: float
    supported: Mapping[str, int] = field(default_factory=dict)
    refuted: Mapping[str, int] = field(default_factory=dict)
    is_same: bool = False


def consistency_of(
    claims: Sequence[Claim], answer: str, samples: Sequence[str], checker: Checker
) -> Consistency | None:
    """Returns how an answer and its claims agree with further answers; None without further answers.

    An empty sample supports no claim and has the similarity 0 to the answer.

    Args:
        claims: the claims of the answer.
        answer: its text.
        samples: the further answers to the same question.
        checker: judges each claim against each sample.
    """
    if not samples:
        return None
    chunks = [
        Chunk(id=f"sample-{number}", text=without_struck(text))
        for number, text in enumerate(samples, start=1)
    ]
    pairs = list(product(claims, chunks))
    scores = checker.score(pairs)
    counts = {label: {claim.id: 0 for claim in claims} for label in ("supported", "refuted")}
    for number, (claim, chunk) in enumerate(pairs):
        label = checker.decide(claim, scores[number : number + 1], [chunk]).label
        if label in counts:
            counts[label][claim.id] += 1
    return Consistency(
        samples=len(samples),
        agreement=semantic_agreement([answer, *samples], vectors=Vectors(checker.cache)),
        supported=counts["supported"],
        refuted=counts["refuted"],
        is_same=len({" ".join(text.split()) for text in (answer, *samples)}) == 1,
    )


def semantic_agreement(answers: Sequence[str], *, vectors: Vectors) -> float:
    """Returns the mean similarity of all pairs of answers, rounded to 6 decimals; 1.0 without a pair.

    The similarity of two answers is the mean, over the sentences of both, of the cosine with the nearest
    sentence of the other answer: BERTScore (Zhang et al. 2020, arXiv:1904.09675) with sentences in place of
    tokens. Two answers with the same sentences have 1, and an empty answer has 0 to any other.
    """
    read = [sentences_of(without_struck(answer)) for answer in answers]
    vectors.add(sentence for sentences in read for sentence in sentences)
    similar = [_similarity(one, two, vectors) for one, two in combinations(read, 2)]
    return round(sum(similar) / len(similar), 6) if similar else 1.0


def _similarity(one: Sequence[str], two: Sequence[str], vectors: Vectors) -> float:
    """Returns the mean cosine of each sentence with its nearest in the other list; 0 for an empty list."""
    if not one or not two:
        return 0.0
    rows = [[vectors.cosine(mine, theirs) for theirs in two] for mine in one]
    nearest: list[float] = [*map(max, rows), *map(max, zip(*rows, strict=True))]
    return sum(nearest) / len(nearest)
