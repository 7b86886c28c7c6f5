"""Silver rows: a claim under its evidence, and an answer with its claims, each labelled by a teacher."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pytest_medfaith.conversion import Record

Label = Literal["entail", "neutral", "contradict"]
PARTS = ("train", "dev", "test")


@dataclass(frozen=True, kw_only=True)
class Provenance(Record):
    """Where a silver row is from, so that a bad row can be traced and a teacher's rows be taken out again.

    Attributes:
        run: the folder of the run.
        slice: of the case.
        checker: who judged the claim: `teacher`, a checker by name, or several with " and " between.
        model: the LLM behind the teacher; "" for a local checker.
        answered_by: the model that wrote the answer; "" where the response does not say.
        claim_id: in the run.
        chunk_id: in the run.
    """

    run: str
    slice: str = ""
    checker: str = ""
    model: str = ""
    answered_by: str = ""
    claim_id: str = ""
    chunk_id: str = ""


@dataclass(frozen=True, kw_only=True)
class SilverPair(Record):
    """A claim, its evidence and the teacher's label: a row that `medfaith calibrate` reads, too.

    Attributes:
        id: of the row.
        case_id: the slice and the case; rows of a case are in one part.
        claim: as a checker reads it, with what must be read before it in brackets.
        evidence: the passage, or the window of it around the words that decide.
        label: what the evidence says of the claim.
        probs: the teacher's probabilities of entail, neutral, contradict; None where it gave a label alone.
        overlap: the share of the claim's words that the evidence holds, 0 to 1.
        entity_overlap: Jaccard index of the concepts that claim and evidence name; None where neither names
            any.
        passage: a digest of the whole passage that the evidence is of.
        provenance: where the row is from.
    """

    id: str
    case_id: str
    claim: str
    evidence: str
    label: Label
    probs: tuple[float, float, float] | None = None
    overlap: float = 0.0
    entity_overlap: float | None = None
    passage: str = ""
    provenance: Provenance


@dataclass(frozen=True, kw_only=True)
class SilverClaim(Record):
    """A claim in an answer: its words, and its span there."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class SilverAnswer(Record):
    """An answer with the claims that the teacher found in it."""

    id: str
    case_id: str
    question: str
    answer: str
    claims: tuple[SilverClaim, ...]
    provenance: Provenance


@dataclass(frozen=True, kw_only=True)
class Silver:
    """Rows by part, and what did not become a row.

    Attributes:
        pairs: by part, train, dev and test; the pairs of train are in the order of learning.
        answers: by part.
        left_out: how many claims, pairs or answers are in no part, by reason.
        facts: what decided the rows: seed, shares, runs, labels before the balance.
    """

    pairs: Mapping[str, list[SilverPair]]
    answers: Mapping[str, list[SilverAnswer]]
    left_out: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
