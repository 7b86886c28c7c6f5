"""What a retriever brought for a case, and the indexes of vectors that it searched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_medfaith.conversion import Record


@dataclass(frozen=True, kw_only=True)
class VectorIndex(Record):
    """An approximate index of vectors, and how much of what exact search finds it finds, too.

    Attributes:
        factory: its name in FAISS, such as "HNSW32".
        search: parameters such as {"efSearch": 128}.
        recall: {"10": share, 0 to 1, of the 10 best hits of exact search that it finds, "100": of the 100
            best}.
        queries: how many sentences of the corpus this was measured on.
    """

    factory: str
    search: Mapping[str, int] = field(default_factory=dict)
    recall: Mapping[str, float] = field(default_factory=dict)
    queries: int = 0


@dataclass(frozen=True, kw_only=True)
class Retrieval(Record):
    """What a retriever brought for a case, judged chunk by chunk, and what it cost.

    It is empty where recorded contexts are judged. Gold claims have the ids that `gold_id` gives them.

    Attributes:
        gold: {chunk id: (N,) which gold claims the chunk alone entails}, of every hit in the pool.
        grades: {chunk id: 2 decisive, 1 supportive, 0 neither}, by the keywords of the case.
        refuting: {claim id: ids of the chunks that refute it}.
        claims: {claim id: ids of the chunks found for it, best first}, where each claim was searched for.
        pool: the retrievers whose hits were judged together; () until the run is summed up.
        steps_ms: {step of the question's retrieval: milliseconds}, and under "total" all of it.
        index_bytes: the size of the index; None where the retriever does not tell it.
        indexes: {name of a dense retriever: its approximate index}; exact search is not listed.
    """

    gold: Mapping[str, tuple[bool, ...]] = field(default_factory=dict)
    grades: Mapping[str, float] = field(default_factory=dict)
    refuting: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    claims: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pool: tuple[str, ...] = ()
    steps_ms: Mapping[str, float] = field(default_factory=dict)
    index_bytes: int | None = None
    indexes: Mapping[str, VectorIndex] = field(default_factory=dict)
