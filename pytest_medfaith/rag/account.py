"""How the reference RAG came to an answer: in the `meta` of responses, on cards, in commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_medfaith.conversion import Record
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Response

META = "reference_rag"  # the key of `Response.meta`
REFUSAL = "I could not find this in the documents provided."


@dataclass(frozen=True, kw_only=True)
class DroppedSentence(Record):
    """A sentence of the draft that is not in the answer; `reason` is such as "unsupported: ..."."""

    text: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class AssignedSentence(Record):
    """A sentence that its writer left without a citation, and the marker that it was given."""

    text: str
    marker: str
    similarity: float


@dataclass(frozen=True, kw_only=True)
class Account(Record):
    """How an answer of the reference RAG came about.

    Attributes:
        mode: plain, faithful, confident or confident-lite.
        generator: extractive or teacher.
        signature: everything that decides the answer beside question and passages.
        checker: what verified the draft; "" where nothing did.
        draft: what the generator wrote; "" where nothing was retrieved.
        claims: how many claims of the draft were judged.
        supported: how many of these the passages support.
        coverage: which part of the question the passages cover, 0 to 1; None where it was not asked.
        confidence: 0.5 faithfulness of the draft + 0.5 coverage; None where it was not asked.
        threshold: below which confidence there is no answer.
        dropped: sentences of the draft that are not in the answer.
        assigned: sentences whose citation was assigned, and is no word of the generator.
        refused: why there is no answer; "" where there is.
    """

    mode: str
    generator: str
    signature: str = ""
    checker: str = ""
    draft: str = ""
    claims: int = 0
    supported: int = 0
    coverage: float | None = None
    confidence: float | None = None
    threshold: float | None = None
    dropped: tuple[DroppedSentence, ...] = ()
    assigned: tuple[AssignedSentence, ...] = ()
    refused: str = ""

    @property
    def faithfulness(self) -> float | None:
        """The share of the draft's claims that the passages support; None where none was judged."""
        return self.supported / self.claims if self.claims else None


def account_of(response: Response) -> Account | None:
    """Returns how the reference RAG came to `response`; None where something else answered."""
    given: Any = response.meta.get(META)
    if not isinstance(given, dict):
        return None
    try:
        return Account.from_dict(given)
    except DataError:
        return None
