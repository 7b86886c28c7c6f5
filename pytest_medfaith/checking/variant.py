"""A checker's name with its linker: `fast[linker=none]` is `fast`, whose rules compare no names."""

from __future__ import annotations

import re

_VARIANT = re.compile(r"(?P<name>.+)\[linker=(?P<linker>[^\[\]]+)\]")


def split_linker(name: str) -> tuple[str, str | None]:
    """Returns the checker and the linker that `name` tells, ("fast", "none") for "fast[linker=none]".

    The linker is None where the name tells none: then the settings do.
    """
    found = _VARIANT.fullmatch(name)
    return (found["name"], found["linker"]) if found else (name, None)


def with_linker(name: str, linker: str) -> str:
    """Returns the name of a checker with another linker."""
    return f"{split_linker(name)[0]}[linker={linker}]"
