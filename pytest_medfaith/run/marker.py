"""Reads the arguments of the marker medfaith: its slice, what it sets, its gates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_medfaith.config import JUDGED_CONTEXTS, JudgedContexts

KEYS = ("k", "retriever", "checker", "contexts", "limit", "gates")


def slice_of_marker(arguments: tuple[Any, ...]) -> str:
    """Returns the name of the slice, which is the marker's only positional argument.

    Raises:
        ValueError: no name, several arguments, or something else than a text.
    """
    if len(arguments) != 1 or not isinstance(arguments[0], str):
        raise ValueError(
            f"the marker medfaith got {arguments!r}; expected the name of one slice, as in "
            '@pytest.mark.medfaith("medquad-nih")'
        )
    return arguments[0]


def gates_of_marker(marker: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the gates of a marker, as expressions.

    `gates=["hallucination <= 0.05"]` stays, and `faithfulness_at_least=0.8` becomes "faithfulness >= 0.8".

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
    """Returns the argument `name` of a marker, a whole number of 1 or more; None where it is not given.

    Raises:
        ValueError: it is something else.
    """
    value = marker.get(name)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
        return value
    raise ValueError(f"the marker medfaith got {name}={value!r}; expected a whole number of 1 or more")


def counts_of_marker(marker: Mapping[str, Any], name: str) -> tuple[int, ...]:
    """Returns the argument `name` of a marker, a number of 1 or more or a list of such; () for none.

    Raises:
        ValueError: it is something else.
    """
    given = marker.get(name)
    values = given if isinstance(given, (list, tuple)) else [] if given is None else [given]
    counts = [count_of_marker({name: value}, name) for value in values]
    return tuple(count for count in counts if count is not None)


def contexts_of_marker(marker: Mapping[str, Any]) -> tuple[JudgedContexts, ...]:
    """Returns the contexts modes that a marker names, such as ("recorded", "retrieved"); () for none.

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
    """Returns "a" as ("a",), None as (), and a list as a tuple."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)
