"""What an audit found: every claim with its verdict, and shares of caught errors and false alarms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Literal

from pytest_medfaith.conversion import Record
from pytest_medfaith.metrics.audit import (
    AUDIT_KINDS,
    CAUGHT,
    DECIDED,
    FALSE_ALARMS,
    FLAGGED,
    RECALL,
    STRATA,
    in_stratum,
    recall_of,
)
from pytest_medfaith.records import MetricValue, VerdictLabel

UNCHANGED = "unchanged"
Role = Literal["error", "faithful", "addition"]
# For each metric the claims that it is a share of, and the verdicts that it counts.
_COUNTED: Mapping[str, tuple[Role, tuple[VerdictLabel, ...]]] = MappingProxyType(
    {
        CAUGHT: ("error", ("refuted", "unsupported")),
        FLAGGED: ("faithful", ("refuted", "unsupported")),
        DECIDED: ("addition", ("supported", "refuted")),
    }
)
_WRONG: Mapping[Role, tuple[VerdictLabel, ...]] = MappingProxyType(
    {"error": ("supported",), "faithful": ("refuted", "unsupported"), "addition": ("supported", "refuted")}
)


@dataclass(frozen=True, kw_only=True)
class AuditClaim(Record):
    """A claim made from a sentence of a corpus, and the verdict on it over the chunk `chunk_id`.

    `kind` is a key of AUDIT_KINDS, or "unchanged" for a true claim. `text[start:end]`, half-open, is the
    change. `sentence` is the sentence in the corpus. `model_supports` is the verdict of the model alone, and
    `rules` are the rules that fired on the claim.
    """

    id: str
    kind: str
    chunk_id: str
    sentence: str
    text: str
    start: int = 0
    end: int = 0
    label: VerdictLabel = "unscored"
    model_supports: bool = False
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class StratumClaim(Record):
    """A claim that resembles those of real answers, and the verdict on it over the chunks `chunk_ids`.

    `stratum` is a key of STRATA. An "error" differs from a "faithful" claim in a single thing. An "addition"
    is plausible, and no chunk states it.
    """

    id: str
    stratum: str
    role: Role
    chunk_ids: tuple[str, ...]
    text: str
    label: VerdictLabel = "unscored"
    rules: tuple[str, ...] = ()

    @property
    def is_wrongly_judged(self) -> bool:
        """Whether the verdict is wrong for the claim's role; that of an unscored claim is not."""
        return self.label in _WRONG[self.role]


@dataclass(frozen=True, kw_only=True)
class Audit(Record):
    """The claims of an audit of `checker`, at most `limit` of each kind, and those of its strata."""

    checker: str
    seed: int
    limit: int
    claims: tuple[AuditClaim, ...]
    strata: tuple[StratumClaim, ...] = ()

    def of(self, kind: str) -> tuple[AuditClaim, ...]:
        """Returns the claims of a kind."""
        return tuple(claim for claim in self.claims if claim.kind == kind)

    @property
    def mutated(self) -> tuple[AuditClaim, ...]:
        """The claims that are not true."""
        return tuple(claim for claim in self.claims if claim.kind != UNCHANGED)

    @cached_property
    def metrics(self) -> dict[str, MetricValue]:
        """Every audit metric by name, with its Wilson interval; `value` is None where no claim was scored."""
        kinds = {recall_of(kind): self.of(kind) for kind in AUDIT_KINDS}
        groups = {RECALL: self.mutated, **kinds, FALSE_ALARMS: self.of(UNCHANGED)}
        of_strata = {
            in_stratum(name, stratum) if stratum else name: self._share_of_strata(name, stratum)
            for name in _COUNTED
            for stratum in ("", *STRATA)
        }
        return {**{name: unsupported_share(name, claims) for name, claims in groups.items()}, **of_strata}

    def _share_of_strata(self, metric: str, stratum: str) -> MetricValue:
        """Returns CAUGHT, FLAGGED or DECIDED of a stratum, or of all strata where `stratum` is empty."""
        role, counted = _COUNTED[metric]
        labels = [
            claim.label
            for claim in self.strata
            if claim.role == role and claim.stratum in (stratum or STRATA)
        ]
        return _share(in_stratum(metric, stratum) if stratum else metric, labels, counted)


@dataclass(frozen=True, kw_only=True)
class Counts:
    """How many claims came to which outcome.

    `flagged` were refuted or called unsupported, `by_model` by the model alone, without rules.
    """

    claims: int
    flagged: int
    refuted: int
    unsupported: int
    unscored: int
    by_model: int


def count_claims(claims: Sequence[AuditClaim]) -> Counts:
    """Returns the counts of `claims` by their labels, all 0 for no claim; unscored claims are not flagged."""
    labels = Counter(claim.label for claim in claims)
    scored = [claim for claim in claims if claim.label != "unscored"]
    return Counts(
        claims=len(claims),
        flagged=labels["refuted"] + labels["unsupported"],
        refuted=labels["refuted"],
        unsupported=labels["unsupported"],
        unscored=labels["unscored"],
        by_model=sum(not claim.model_supports for claim in scored),
    )


def unsupported_share(name: str, claims: Sequence[AuditClaim]) -> MetricValue:
    """Returns the share of the scored `claims` that were called refuted or unsupported, 0 to 1.

    It has a 95 % interval, and no value where no claim was scored.
    """
    return _share(name, [claim.label for claim in claims], ("refuted", "unsupported"))


def _share(name: str, labels: Sequence[VerdictLabel], counted: Collection[VerdictLabel]) -> MetricValue:
    """Returns the share of scored `labels` that are `counted`, with its 95 % interval.

    Source: Wilson 1927, J Am Stat Assoc 22:209.
    """
    from scipy.stats import binomtest

    scored = [label for label in labels if label != "unscored"]
    if not scored:
        return MetricValue(name=name, value=None)
    count = sum(label in counted for label in scored)
    interval = binomtest(count, len(scored)).proportion_ci(confidence_level=0.95, method="wilson")
    return MetricValue(
        name=name,
        value=count / len(scored),
        low=float(interval.low),
        high=float(interval.high),
        n=len(scored),
    )
