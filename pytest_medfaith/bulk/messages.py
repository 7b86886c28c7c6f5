"""Messages between the command and the process that imports Ray: a line of JSON each, and bytes behind it.

Example: `{"kind": "results", "told": [7], "bytes": 512}`, followed by 512 bytes. No pickle is ever loaded, so
a message cannot run code.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import IO, Any

_PACKAGE = __name__.partition(".")[0]


def send(out: IO[bytes], kind: str, *told: Any, body: bytes = b"") -> None:
    """Writes a message and flushes the pipe.

    Args:
        out: a pipe.
        kind: of the message, such as "results".
        told: values that `plain` can turn into JSON.
        body: bytes to send behind the line.
    """
    row = {"kind": kind, "told": [plain(value) for value in told], "bytes": len(body)}
    out.write(json.dumps(row).encode() + b"\n" + body)
    out.flush()


def receive(source: IO[bytes]) -> tuple[str, list[Any], bytes]:
    """Returns (kind, told values, body) of the next message; waits for it.

    Raises:
        EOFError: the other process ended, or wrote something else.
    """
    line = source.readline()
    try:
        row = json.loads(line)
        kind, told, size = row["kind"], row["told"], row["bytes"]
    except (ValueError, KeyError, TypeError):
        raise EOFError(f"expected a message, got {line[:80]!r}") from None
    body = source.read(size)
    if len(body) != size:
        raise EOFError(f"expected {size} bytes, got {len(body)}")
    return kind, [value_of(each) for each in told], body


def plain(value: Any) -> Any:
    """Returns a value as JSON can hold it: `Path("a")` becomes {"path": "a"}. `value_of` turns it back.

    Dataclasses of this package, paths, tuples, lists and mappings can be turned.

    Raises:
        TypeError: a value of another kind, or a dataclass of another package.
    """
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return {type(value).__name__: [plain(each) for each in value]}
    if isinstance(value, Mapping):
        return {"dict": [[plain(key), plain(each)] for key, each in value.items()]}
    if isinstance(value, Path):
        return {"path": str(value)}
    kind = type(value)
    if dataclasses.is_dataclass(kind) and kind.__module__.partition(".")[0] == _PACKAGE:
        fields = {each.name: plain(getattr(value, each.name)) for each in dataclasses.fields(kind)}
        return {"record": [kind.__module__, kind.__name__, fields]}
    raise TypeError(f"a {kind.__name__} cannot be sent; expected plain values and dataclasses of {_PACKAGE}")


def value_of(told: Any) -> Any:
    """Returns the value from which `plain` made `told`.

    Raises:
        TypeError: a record that is no dataclass of this package.
    """
    if not isinstance(told, dict):
        return told
    ((form, held),) = told.items()
    if form in ("list", "tuple"):
        return (list if form == "list" else tuple)(map(value_of, held))
    if form == "dict":
        return {value_of(key): value_of(each) for key, each in held}
    if form == "path":
        return Path(held)
    module, name, fields = held
    kind = getattr(import_module(module), name) if module.partition(".")[0] == _PACKAGE else None
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        raise TypeError(f"{module}.{name} is no dataclass of {_PACKAGE}")
    return kind(**{key: value_of(each) for key, each in fields.items()})
