"""Records of training data (silver rows): a claim with its evidence, and an answer with its claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pytest_medfaith.conversion import Record

Label = Literal["entail", "neutral", "contradict"]
PARTS = ("train", "dev", "test")


@dataclass(frozen=True, kw_only=True)
class Provenance(Record):
    """Where a silver row is from, so that bad rows can be traced, and a teacher's rows removed.

    Attributes:
        run: folder of the run.
        slice: of the case.
        checker: who judged the claim: `teacher`, a checker's name, or several joined by " and ".
        model: the LLM behind the teacher; "" for a local checker.
        answered_by: the model that wrote the answer; "" where it is not known.
        claim_id: id of the claim in the run; "" for a whole answer.
        chunk_id: id of the chunk in the run; "" for a whole answer.
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
    """A claim, its evidence and the teacher's label; `medfaith calibrate` reads such rows too.

    Attributes:
        id: of the row.
        case_id: slice and case; all rows of a case are in the same part (train, dev, test).
        claim: as a checker reads it, with the words that it needs before it in brackets.
        evidence: the passage, or of a long passage the sentences around the words that decide.
        label: what the evidence does to the claim: entail, neutral or contradict.
        probs: the teacher's probabilities of entail, neutral, contradict; None where it gave only a label.
        overlap: share of the claim's words that are in the evidence, 0 to 1.
        entity_overlap: Jaccard index of the concepts that claim and evidence name, 0 to 1; None where neither
            names any.
        passage: hash of the whole passage.
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
    """A claim in an answer.

    Attributes:
        text: its words.
        start: its first character in the answer.
        end: the character behind its last.
    """

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
    """Silver rows by part, and what did not become a row.

    Attributes:
        pairs: {part: pairs} for train, dev and test; those of train are ordered from easy to hard.
        answers: {part: answers}.
        left_out: {reason: how many claims, pairs or answers became no row}.
        facts: what decided the rows: seed, shares, runs, labels before balancing.
    """

    pairs: Mapping[str, list[SilverPair]]
    answers: Mapping[str, list[SilverAnswer]]
    left_out: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
