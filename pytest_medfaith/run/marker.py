"""What the marker medfaith says: its slice, what it overrides, its gates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_medfaith.config import JUDGED_CONTEXTS, JudgedContexts

KEYS = ("k", "retriever", "checker", "contexts", "limit", "gates")


def slice_of_marker(arguments: tuple[Any, ...]) -> str:
    """Returns the slice that a marker names.

    Raises:
        ValueError: it names none, or more than one slice.
    """
    if len(arguments) != 1 or not isinstance(arguments[0], str):
        raise ValueError(
            f"the marker medfaith got {arguments!r}; expected the name of one slice, as in "
            '@pytest.mark.medfaith("medquad-nih")'
        )
    return arguments[0]


def gates_of_marker(marker: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the gate expressions of a marker's arguments: gates=[...], NAME_at_least=x and NAME_at_most=x.

    Raises:
        ValueError: an argument that is neither known nor such a bound, or a gate that is no text.
    """
    gates = list(listed(marker.get("gates")))
    for gate in gates:
        if not isinstance(gate, str):
            raise ValueError(  # noqa: TRY004 - as every wrong use of the marker
                f"the marker medfaith got the gate {gate!r}; expected a text such as 'hallucination <= 0.05'"
            )
    for key, value in marker.items():
        if key in KEYS:
            continue
        if key.endswith("_at_least"):
            gates.append(f"{key.removesuffix('_at_least')} >= {value}")
        elif key.endswith("_at_most"):
            gates.append(f"{key.removesuffix('_at_most')} <= {value}")
        else:
            raise ValueError(
                f"the marker medfaith got {key}={value!r}; expected {', '.join(KEYS)}, or a bound such as "
                "hallucination_at_most=0.05"
            )
    return tuple(gates)


def count_of_marker(marker: Mapping[str, Any], name: str) -> int | None:
    """Returns a whole number of 1 or more that a marker gives under `name`, None where it gives none.

    Raises:
        ValueError: it gives something else.
    """
    value = marker.get(name)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
        return value
    raise ValueError(f"the marker medfaith got {name}={value!r}; expected a whole number of 1 or more")


def counts_of_marker(marker: Mapping[str, Any], name: str) -> tuple[int, ...]:
    """Returns the whole numbers of 1 or more that a marker gives under `name`, () where it gives none.

    Raises:
        ValueError: it gives something else.
    """
    given = marker.get(name)
    values = given if isinstance(given, (list, tuple)) else [] if given is None else [given]
    counts = [count_of_marker({name: value}, name) for value in values]
    return tuple(count for count in counts if count is not None)


def contexts_of_marker(marker: Mapping[str, Any]) -> tuple[JudgedContexts, ...]:
    """Returns the contexts modes that a marker names, an empty tuple where it names none.

    Raises:
        ValueError: it names something else.
    """
    given = marker.get("contexts")
    modes = listed(given) if given is None or isinstance(given, (str, list, tuple)) else (given,)
    if not all(mode in JUDGED_CONTEXTS for mode in modes):
        raise ValueError(
            f"the marker medfaith got contexts={given!r}; expected {', '.join(JUDGED_CONTEXTS)}, "
            "or a list of these"
        )
    return modes


def listed(value: Any) -> tuple[Any, ...]:
    """Returns a text as a list of one, None as an empty list, and a list as it is."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)
