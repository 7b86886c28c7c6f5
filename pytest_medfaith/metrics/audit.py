"""What an audit of a checker measures on a corpus: shares of changed sentences caught, and of true ones flagged.

They are of a corpus and a checker, not of a case, so no report has a value of them; the run puts them into the slice's metrics.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.records import Report

RECALL, FALSE_ALARMS = "audit.recall", "audit.false_alarms"

# kind -> what a card calls it, in the order of a card
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
# Kinds of which the evidence says the opposite; of the others it may merely say nothing.
CONTRADICTING = ("negation", "direction", "dose_up", "dose_down", "unit_swap")


def recall_of(kind: str) -> str:
    """Returns the name of the recall of one kind: `audit.recall.negation`."""
    return f"{RECALL}.{kind}"


def _of_no_case(_: Report) -> None:
    return None


def _declared(name: str, definition: str, *, higher: bool) -> Metric:
    return Metric(
        name=name,
        family="audit",
        direction="higher" if higher else "lower",
        definition=definition,
        source="this project; mutation testing after DeMillo, Lipton & Sayward 1978, IEEE Computer 11(4)",
        per_case=_of_no_case,
    )


AUDIT_METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        metric.name: metric
        for metric in (
            _declared(RECALL, "mutated claims, of all kinds, that the checker does not support / mutated claims it scored", higher=True),
            *(_declared(recall_of(kind), f"the same of the kind {title!r}", higher=True) for kind, title in AUDIT_KINDS.items()),
            _declared(FALSE_ALARMS, "lightly paraphrased sentences that the checker does not support / those it scored", higher=False),
        )
    }
)
