"""What an audit found: every claim with its verdict, and the counts of every kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_medfaith.metrics.audit import AUDIT_KINDS, FALSE_ALARMS, RECALL, recall_of
from pytest_medfaith.records import MetricValue, Record, VerdictLabel

UNCHANGED = "unchanged"


@dataclass(frozen=True, kw_only=True)
class AuditClaim(Record):
    """A claim made from a sentence of a corpus, and the verdict on it over the chunk `chunk_id`.

    `kind` is a key of AUDIT_KINDS, or "unchanged" for a true claim. `text[start:end]`, half-open, is what was changed. `sentence` is the
    sentence as the corpus has it. `model_supports` says what the model alone would say, and `rules` which rules overruled it.
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
class Audit(Record):
    """The claims of an audit of `checker`, at most `limit` of a kind."""

    checker: str
    seed: int
    limit: int
    claims: tuple[AuditClaim, ...]

    def of(self, kind: str) -> tuple[AuditClaim, ...]:
        """Returns the claims of a kind."""
        return tuple(claim for claim in self.claims if claim.kind == kind)

    @property
    def mutated(self) -> tuple[AuditClaim, ...]:
        """The claims that are not true."""
        return tuple(claim for claim in self.claims if claim.kind != UNCHANGED)

    @property
    def metrics(self) -> dict[str, MetricValue]:
        """Every audit metric by name, with its Wilson interval; `value` is None where no claim of a kind could be made or scored."""
        kinds = {recall_of(kind): self.of(kind) for kind in AUDIT_KINDS}
        groups = {RECALL: self.mutated, **kinds, FALSE_ALARMS: self.of(UNCHANGED)}
        return {name: unsupported_share(name, claims) for name, claims in groups.items()}


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Claims by outcome; `flagged` are those scored and not supported, `by_model` those that the model alone would flag."""

    claims: int
    flagged: int
    refuted: int
    unsupported: int
    unscored: int
    by_model: int


def count_claims(claims: Sequence[AuditClaim]) -> Counts:
    """Returns the counts of `claims`."""
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
    """Returns the share of scored `claims` that are not supported, with its 95 % interval (Wilson 1927, J Am Stat Assoc 22:209)."""
    from scipy.stats import binomtest

    counts = count_claims(claims)
    scored = counts.claims - counts.unscored
    if not scored:
        return MetricValue(name=name, value=None)
    interval = binomtest(counts.flagged, scored).proportion_ci(confidence_level=0.95, method="wilson")
    return MetricValue(name=name, value=counts.flagged / scored, low=float(interval.low), high=float(interval.high), n=scored)
