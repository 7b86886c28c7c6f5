"""What is said of a judged claim beside its verdict: what its citations are worth, how bad its error is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_medfaith.conversion import Record
from pytest_medfaith.records import grades


@dataclass(frozen=True, kw_only=True)
class Attribution(Record):
    """What the contexts that a claim cites say of it; a verdict on an answer that cites nothing has none.

    Attributes:
        status: such as "supported", "misattributed" or "uncited".
        cited: {marker: ids of the contexts that it means}; () for a citation of nothing that is there.
        helping: the cited contexts that support the claim, alone or only together.
        elsewhere: contexts that support the claim and are not cited.
        assigned: for an uncited claim, what the more similar of its cited neighbours cites.
        sentence: the number of its sentence in the answer, from 0, which claims of a sentence share.
    """

    status: grades.CitationStatus
    cited: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    helping: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    assigned: tuple[str, ...] = ()
    sentence: int = 0


@dataclass(frozen=True, kw_only=True)
class Severity(Record):
    """How bad the error of a refuted or unsupported claim is.

    An error is major where its risk is moderate or high: unnoticed, it could change what is done for a
    patient (as in CREOLA, Asgari et al. 2025, npj Digit Med 8:274). Categories and risks are those of MedVAL
    (Aali et al. 2025, arXiv:2507.03152) that an error of a single claim can have.

    Attributes:
        category: the kind of error, such as "wrong detail".
        risk: what could happen to a patient if nobody noticed: "none", "low", "moderate" or "high".
        rule: the id of the rule that decided; "otherwise" where none did, "reviewers" where people's labels
            did.
        by_rules: the risk that a rule gave before reviewers changed it; None where they did not.
    """

    category: grades.Category
    risk: grades.Risk
    rule: str = ""
    by_rules: grades.Risk | None = None

    @property
    def is_major(self) -> bool:
        """Whether the error could change what is done for a patient."""
        return self.risk in grades.MAJOR

    def __str__(self) -> str:
        return f"{'major' if self.is_major else 'minor'}: {self.category}, risk {self.risk}"
