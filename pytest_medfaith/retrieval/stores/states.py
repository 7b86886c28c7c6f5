"""Reads the state of a store, and refuses a store with another corpus, encoder or dimension."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from typing import Any

from pytest_medfaith.errors import DataError
from pytest_medfaith.retrieval.stores.base import State
from pytest_medfaith.retrieval.stores.opening import PatientStore

FORMAT = 1  # number of the state's format, raised whenever rows change their form


def written(state: State) -> dict[str, Any]:
    """Returns `state` as the plain values that a store keeps, with the number of their format."""
    return {"format": FORMAT, **dataclasses.asdict(state)}


def read_state(store: PatientStore) -> State | None:
    """Returns the state of a store; None where no store has this name.

    Raises:
        DataError: the store cannot be reached, or was not made by `medfaith index`.
    """
    held = store.state()
    if held is None:
        return None
    hints = typing.get_type_hints(State)
    if not isinstance(held, Mapping) or held.get("format") != FORMAT or not _fits(held, hints):
        raise DataError(
            f"the store {store.address} holds something that medfaith index did not write, or another "
            "version did; name another store, or remove this one"
        )
    return State(**{name: held[name] for name in hints})


def _fits(held: Mapping[str, Any], hints: Mapping[str, Any]) -> bool:
    """Returns whether `held` has every field of a state with a value of its type."""
    for name, kind in hints.items():
        expected = {int: (int,), float: (int, float), str: (str,), bool: (bool,)}.get(kind)
        if expected is None:  # only the metric is a choice of words
            if held.get(name) not in typing.get_args(kind):
                return False
        elif not isinstance(held.get(name), expected) or (kind is not bool and isinstance(held[name], bool)):
            return False
    return True


def refuse_another(store: PatientStore, found: State, needed: State) -> None:
    """Refuses a store whose state differs from what is needed; `complete` may differ.

    Raises:
        DataError: another corpus, encoder, dimension, metric or parameter of BM25. The message shows both.
    """
    same = dataclasses.replace(found, complete=needed.complete) == needed
    if same:
        return
    parameters = ""
    if (found.k1, found.b) != (needed.k1, needed.b):
        parameters = (
            f" (BM25 with k1 {found.k1:g} and b {found.b:g} there, {needed.k1:g} and {needed.b:g} here)"
        )
    raise DataError(
        f"the store {store.address} holds {found.fingerprint}, where {needed.fingerprint} is "
        f"needed{parameters}; load this corpus under another name by medfaith index --store, or name the "
        "encoder and the corpus that the store was loaded with"
    )
