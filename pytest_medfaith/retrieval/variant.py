"""Names of retrievers that hold settings in brackets: "rrf[encoder=e5-base; context=none]+fast".

So retrievers that differ in a single setting can be compared side by side, wherever a name is allowed.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import Any

from pytest_medfaith.errors import DataError
from pytest_medfaith.retrieval.context import CONTEXTS
from pytest_medfaith.retrieval.stores.address import is_store

_NAME = re.compile(r"(?P<base>[^\[\]]+)\[(?P<said>[^\[\]]*)\](?P<reranker>\+[^\[\]]+)?")


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A retriever's name taken apart; a setting that the name does not hold is None.

    Attributes:
        name: the retriever without settings, with its reranker: "rrf+fast".
        encoder: name of the encoder of dense retrieval.
        context: what retrievers read of a chunk before its text: "path", "title" or "none".
        size: tokens of a chunk, 1 or more; the corpus is cut anew.
        stride: tokens that neighbouring chunks share, 0 or more and below `size`.
    """

    name: str
    encoder: str | None = None
    context: str | None = None
    size: int | None = None
    stride: int | None = None

    def __str__(self) -> str:
        """Returns the name with its settings in brackets, as `parse_variant` reads it."""
        said = [
            f"{field.name}={value}"
            for field in dataclasses.fields(self)[1:]
            if (value := getattr(self, field.name)) is not None
        ]
        base, plus, reranker = self.name.partition("+")
        return f"{base}[{'; '.join(said)}]{plus}{reranker}" if said else self.name

    @property
    def retrieval(self) -> dict[str, Any]:
        """The encoder and the context that the name holds, by their names in `RetrievalSettings`.

        Example: {"encoders": ("e5-base",), "chunk_context": "none"}; {} where the name holds neither.
        """
        said = {"encoders": (self.encoder,) if self.encoder else None, "chunk_context": self.context}
        return {name: value for name, value in said.items() if value is not None}


def parse_variant(name: str) -> Variant:
    """Returns the name and the settings that a retriever's name holds.

    Example: "rrf[size=200]" gives `Variant(name="rrf", size=200)`; "bm25" gives `Variant(name="bm25")`. The
    address of a store is a name without settings, even with brackets in it.

    Raises:
        DataError: brackets in another form, an unknown or repeated setting, a value out of its range, or a
            stride without a larger size.
    """
    if "[" not in name or is_store(name):  # the address of a store may hold brackets: http://[::1]:6333
        return Variant(name=name)
    found = _NAME.fullmatch(name)
    if found is None:
        raise DataError(
            f"the retriever {name!r} has another form; expected NAME[setting=value; ...]+RERANKER, as in "
            "rrf[encoder=e5-base; context=none]+fast"
        )
    said: dict[str, Any] = {}
    for part in found["said"].split(";"):
        setting, equals, text = (piece.strip() for piece in part.partition("="))
        if setting in said:
            raise DataError(f"the retriever {name!r} says {setting} twice; expected each setting once")
        said[setting] = _value(name, setting, text if equals else "")
    if "stride" in said and said["stride"] >= said.get("size", 0):
        size = f"the size {said['size']}" if "size" in said else "no size"
        raise DataError(
            f"the retriever {name!r} has the stride {said['stride']} and {size}; expected a size, and a "
            "smaller stride"
        )
    return Variant(name=found["base"].strip() + (found["reranker"] or ""), **said)


def _value(name: str, setting: str, text: str) -> str | int:
    """Returns the value of a setting, an int for size and stride; DataError if it is unknown or wrong."""
    known = [field.name for field in dataclasses.fields(Variant)[1:]]
    if setting not in known:
        raise DataError(
            f"the retriever {name!r} holds the setting {setting!r}; expected one of {', '.join(known)}"
        )
    if not text or (setting == "context" and text not in CONTEXTS):
        expected = ", ".join(CONTEXTS) if setting == "context" else "a value"
        raise DataError(f"the retriever {name!r} says {setting}={text}; expected {expected}")
    if setting not in ("size", "stride"):
        return text
    least = int(setting == "size")
    if not text.isdecimal() or int(text) < least:
        raise DataError(
            f"the retriever {name!r} says {setting}={text}; expected a whole number of {least} or more"
        )
    return int(text)


def plain_name(name: str) -> str:
    """Returns a retriever's name without its settings: "rrf+fast" for "rrf[context=none]+fast"."""
    return parse_variant(name).name
