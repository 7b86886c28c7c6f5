"""The axes of an ablation: what may vary, such as the retriever or k, and the rows of the card that it makes.

A new axis is a line of `AXES`, and where it varies retrieval also a setting of `retrieval.variant`.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_medfaith.checking.loading import onnx_folder
from pytest_medfaith.checking.variant import split_linker, with_linker
from pytest_medfaith.config import JUDGED_CONTEXTS, SliceSettings
from pytest_medfaith.dotted import load_dotted
from pytest_medfaith.entities.scispacy import load_linker
from pytest_medfaith.errors import DataError, MissingExtra, shown
from pytest_medfaith.retrieval.build import BUILT_IN, base_name, check_name, fused_names
from pytest_medfaith.retrieval.context import CONTEXTS
from pytest_medfaith.retrieval.encoders import encoder_signature
from pytest_medfaith.retrieval.rerank import reranker_signature
from pytest_medfaith.retrieval.settings import RetrievalSettings
from pytest_medfaith.retrieval.variant import Variant, parse_variant

Axes = Mapping[str, Sequence[Any]]
AS_IT_IS = "corpus"  # a chunk size: the chunks as the corpus has them
NO_RERANKER = "none"


def _retriever(value: str) -> str:
    check_name(parse_variant(value).name)
    return value


def _encoder(value: str) -> str:
    encoder_signature(value)
    return value


def _reranker(value: str) -> str:
    if value != NO_RERANKER:
        reranker_signature(value)
    return value


def _checker(value: str) -> str:
    named, (value, linker) = value, split_linker(value)
    if linker:
        _linker(linker)
    if onnx_folder(value) is None and ":" in value:
        load_dotted(value, what="the checker")
    return named


def _linker(value: str) -> str:
    try:
        load_linker(value)
    except MissingExtra as error:
        raise DataError(str(error)) from None
    return value


def _one_of(known: Sequence[str]) -> Callable[[str], str]:
    def checked(value: str) -> str:
        if value not in known:
            raise DataError(f"it is {value!r}, expected one of {', '.join(known)}")
        return value

    return checked


def _count(least: int) -> Callable[[str], int]:
    def checked(value: str) -> int:
        if not value.isdecimal() or int(value) < least:
            raise DataError(f"it is {value!r}, expected a whole number of {least} or more")
        return int(value)

    return checked


def _size(value: str) -> int | None:
    return None if value == AS_IT_IS else _count(1)(value)


# Name -> what makes of a text the value of the axis, or raises where no such value exists.
AXES: Mapping[str, Callable[[str], Any]] = {
    "retriever": _retriever,
    "encoder": _encoder,
    "reranker": _reranker,
    "chunk_context": _one_of(CONTEXTS),
    "chunk_size": _size,
    "chunk_stride": _count(0),
    "k": _count(1),
    "checker": _checker,
    "linker": _linker,
    "contexts": _one_of(JUDGED_CONTEXTS),
}


def read_axes(table: Mapping[str, Any], given: Mapping[str, Any], *, place: str) -> dict[str, list[Any]]:
    """Returns {axis: checked values}; an axis of the command line takes the place of the settings' axis.

    Args:
        table: of the settings, {axis: value or list of values}.
        given: likewise of the command line; None, [] and () mean that nothing was given.
        place: the head of the table, for messages: "[tool.medfaith.ablation.mini]".

    Raises:
        DataError: an axis or a value that does not exist, or an axis without a value.
    """
    if unknown := sorted(table.keys() - AXES.keys()):
        raise DataError(f"{place} has the axis {unknown[0]!r}; expected one of {', '.join(AXES)}")
    said = {name: values for name, values in given.items() if values not in (None, [], ())}
    axes: dict[str, list[Any]] = {}
    for name, check in AXES.items():
        if name in said or name in table:
            where = f"--{name.replace('_', '-')}" if name in said else f"{place} {name}"
            axes[name] = _checked(said.get(name, table.get(name)), check, where)
    if "chunk_stride" in axes and "chunk_size" not in axes:
        raise DataError("the axis chunk_stride needs chunk_size: a corpus as it is has its stride already")
    return axes


def _checked(values: Any, check: Callable[[str], Any], place: str) -> list[Any]:
    """Returns the values of an axis, each once, as `check` makes them of texts; `place` is for messages."""
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    if not values:
        raise DataError(f"{place} is an empty list; expected at least a value")
    found = []
    for value in values:
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise DataError(f"{place} holds {shown(value)}; expected names and whole numbers")
        try:
            found.append(check(str(value)))
        except (DataError, ValueError) as error:
            raise DataError(f"{place}: no such value: {error}") from None
    return list(dict.fromkeys(found))


def checker_names(axes: Axes, configured: SliceSettings) -> list[str]:
    """Returns the checkers that the axes checker and linker make, in order, each once; [] for neither.

    Args:
        axes: as `read_axes` returns them.
        configured: the slice, whose checker is taken where no axis names any.
    """
    checkers, linkers = axes.get("checker", []), axes.get("linker", [])
    if not linkers:
        return list(checkers)
    named = itertools.product(checkers or [configured.checker], linkers)
    return list(dict.fromkeys(with_linker(checker, linker) for checker, linker in named))


def retriever_names(axes: Axes, configured: SliceSettings, settings: RetrievalSettings) -> list[str]:
    """Returns the names of the retrievers that the axes of retrieval make, each once.

    An axis that a retriever does not use makes no rows of it: BM25 with two encoders is a single row.

    Args:
        axes: as `read_axes` returns them.
        configured: the slice, whose retriever is taken where no axis names any.
        settings: of retrieval.

    Raises:
        DataError: a stride that is not below its size.
    """
    values = [
        axes.get(name, [None])
        for name in ("encoder", "chunk_context", "chunk_size", "chunk_stride", "reranker")
    ]
    names = []
    for retriever, *said in itertools.product(axes.get("retriever", [configured.retriever]), *values):
        variant = _varied(parse_variant(retriever), *said, settings=settings)
        parse_variant(str(variant))  # a stride that does not fit its size is refused
        names.append(str(variant))
    return list(dict.fromkeys(names))


def _varied(
    variant: Variant,
    encoder: str | None,
    context: str | None,
    size: int | None,
    stride: int | None,
    reranker: str | None,
    *,
    settings: RetrievalSettings,
) -> Variant:
    """Returns `variant` with the values of the axes that its retriever uses; None leaves a setting alone."""
    asked = set(fused_names(variant.name, settings))
    changes: dict[str, Any] = {}
    if encoder and "dense" in asked:
        changes["encoder"] = encoder
    if context and asked & BUILT_IN.keys():
        changes["context"] = context
    if size:
        changes |= {"size": size, "stride": stride}
    if reranker:
        plus = "" if reranker == NO_RERANKER else f"+{reranker}"
        changes["name"] = base_name(variant.name) + plus
    return dataclasses.replace(variant, **changes)
