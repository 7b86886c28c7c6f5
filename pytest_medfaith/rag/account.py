"""How the reference RAG came to an answer, as `Response.meta`, cards and commands show it."""

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
    """A sentence of the draft that is not in the answer.

    Attributes:
        text: the sentence.
        reason: why it was dropped, as in "unsupported: ...".
    """

    text: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class AssignedSentence(Record):
    """A sentence that its writer left without a citation, and that was given one.

    Attributes:
        text: the sentence.
        marker: of the passage: "2" for [2].
        similarity: cosine of the sentence and the passage's most similar sentence.
    """

    text: str
    marker: str
    similarity: float


@dataclass(frozen=True, kw_only=True)
class Account(Record):
    """How an answer of the reference RAG came about.

    Attributes:
        mode: plain, faithful, confident or confident-lite.
        generator: extractive or teacher.
        signature: everything that decides the answer, apart from question and passages.
        checker: name of the checker that verified the draft; "" where nothing did.
        draft: what the generator wrote; "" where it wrote nothing.
        claims: how many claims of the draft were judged.
        supported: how many of these the passages support.
        coverage: share of the question that the passages cover, 0 to 1; None where it was not measured.
        confidence: 0.5 faithfulness of the draft + 0.5 coverage; None where it was not measured.
        threshold: a confidence below it makes a refusal; None where it was not measured.
        dropped: sentences of the draft that are not in the answer.
        assigned: sentences whose citation was added, which the generator did not write.
        refused: why the answer is a refusal; "" where it is not.
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
        """The share of the draft's claims that the passages support, 0 to 1.

        None where no claim was judged.
        """
        return self.supported / self.claims if self.claims else None


def account_of(response: Response) -> Account | None:
    """Returns how the reference RAG came to `response`; None where something else wrote it."""
    given: Any = response.meta.get(META)
    if not isinstance(given, dict):
        return None
    try:
        return Account.from_dict(given)
    except DataError:
        return None
