"""The metrics of an audit of a checker: planted errors that it caught, true sentences that it flagged.

Such a share belongs to a corpus and a checker, not to a case, so reports have none. The run puts it into the
slice's metrics.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from pytest_medfaith.metrics.base import Metric

RECALL, FALSE_ALARMS = "audit.recall", "audit.false_alarms"
CAUGHT, FLAGGED, DECIDED = "audit.caught", "audit.flagged", "audit.decided"

# What cards call each kind of change, in the order in which they show them.
AUDIT_KINDS: Mapping[str, str] = MappingProxyType(
    {
        "negation": "negation",
        "direction": "direction",
        "drug_swap": "drug swap",
        "dose_up": "dose x10",
        "dose_down": "dose /10",
        "unit_swap": "unit swap",
        "population": "population",
        "invented_year": "invented year",
        "other_document": "other document",
    }
)
# In these kinds the evidence says the opposite of the claim. In the others it may only say nothing about it.
CONTRADICTING = ("negation", "direction", "dose_up", "dose_down", "unit_swap")
# Strata of errors that resemble real ones, and what cards call them. The bank holds those of a single change.
BANK_STRATA: Mapping[str, str] = MappingProxyType(
    {
        "number": "number",
        "unit": "unit",
        "duration": "duration",
        "route": "route",
        "condition": "condition",
        "order": "order",
        "arm": "trial arm",
        "population": "population",
        "attribution": "attribution",
    }
)
NEAR_MISS, TWO_CHUNKS = "near_miss", "two_chunks"
STRATA: Mapping[str, str] = MappingProxyType(
    {**BANK_STRATA, NEAR_MISS: "near-miss passage", TWO_CHUNKS: "two chunks"}
)


def recall_of(kind: str) -> str:
    """Returns the name of the recall of a kind: `audit.recall.negation`."""
    return f"{RECALL}.{kind}"


def in_stratum(metric: str, stratum: str) -> str:
    """Returns the name of a metric within a stratum, a group of claims: `audit.caught.number`."""
    return f"{metric}.{stratum}"


def _declared(name: str, definition: str, *, higher: bool) -> Metric:
    return Metric(
        name=name,
        family="audit",
        direction="higher" if higher else "lower",
        definition=definition,
        source="this project; mutation testing after DeMillo, Lipton & Sayward 1978, IEEE Computer 11(4)",
        per_case=lambda _: None,
    )


def _of_strata(name: str, definition: str, *, higher: bool) -> Iterator[Metric]:
    """Yields the metric `name` over all strata, then over each."""
    yield _declared(name, definition, higher=higher)
    for stratum, title in STRATA.items():
        yield _declared(in_stratum(name, stratum), f"the same of the stratum {title!r}", higher=higher)


AUDIT_METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        metric.name: metric
        for metric in (
            _declared(
                RECALL,
                "mutated claims, of all kinds, that the checker does not support / mutated claims it scored",
                higher=True,
            ),
            *(
                _declared(recall_of(kind), f"the same of the kind {title!r}", higher=True)
                for kind, title in AUDIT_KINDS.items()
            ),
            _declared(
                FALSE_ALARMS,
                "lightly paraphrased sentences that the checker does not support / those it scored",
                higher=False,
            ),
            *_of_strata(
                CAUGHT,
                "wrong claims of the strata that the checker does not support / those it scored",
                higher=True,
            ),
            *_of_strata(
                FLAGGED,
                "faithful claims of the strata that the checker does not support / those it scored",
                higher=False,
            ),
            *_of_strata(
                DECIDED,
                "plausible additions of the strata that the checker supports or refutes / those it scored",
                higher=False,
            ),
        )
    }
)
