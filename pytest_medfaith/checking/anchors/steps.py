"""Changes by an amount and to an amount: "fell to 30 %" where the evidence says "fell by 30 %"."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, shared_with
from pytest_medfaith.checking.anchors.same_amount import ends_met
from pytest_medfaith.quantities.quantity import same_dimension
from pytest_medfaith.quantities.reader import read_quantities
from pytest_medfaith.quantities.steps import step_of

SAME_STATEMENT = 0.4  # of the claim's words, apart from the amount, that the sentence holds
_HALF = 0.5  # what falls by a half falls to a half


def missing_steps(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields the amounts of `claim` whose part in a change the evidence has otherwise.

    An amount is the size of a change ("by"), its start ("from") or its end ("to"). Nothing is missing where
    the evidence has the amount in the same part too, or outside any change.
    """
    for quantity in read_quantities(claim):
        step = step_of(quantity, claim)
        if step is None or quantity.low == _HALF:
            continue
        known = [
            step_of(other, text)
            for text in evidence.texts
            for other in read_quantities(text)
            if same_dimension(quantity, other) and ends_met(quantity, other)
        ]
        if not known or None in known or step in known:
            continue
        if shared_with(claim, quantity.start, quantity.end, evidence.nearest) >= SAME_STATEMENT:
            words = claim[quantity.start : quantity.end]
            note = f"the claim says {step} {words}, the evidence says {known[0]} {words}"
            yield Missing("step", quantity.start, quantity.end, note=note, refutes=True)
