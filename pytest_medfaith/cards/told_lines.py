"""The lines of a card on outcomes, key facts and citations; a kind with nothing to tell has no line."""

from __future__ import annotations

from collections.abc import Mapping

_RIGHT = frozenset({"answered", "abstained"})


def told_lines(
    outcomes: Mapping[str, int], facts: Mapping[str, int], citations: Mapping[str, int]
) -> list[str]:
    """Returns lines such as `outcomes: 9 answered, 1 should have answered`, one for each kind of counts.

    Outcomes are told where one of them is more than an answer or a refusal, facts where a major fact is
    missing or any is contradicted, citations where there are any.
    """
    lines = []
    if set(outcomes) - _RIGHT:
        lines.append(f"outcomes: {_each(outcomes)}")
    if facts.get("major omitted") or facts.get("contradicted"):
        lines.append(f"key facts: {_each(facts)}")
    if citations:
        lines.append(f"citations: {_each(citations)}")
    return lines


def _each(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in counts.items())
