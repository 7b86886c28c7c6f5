"""A checker's name with its linker: `fast[linker=none]` is `fast` with rules that compare no drug names."""

from __future__ import annotations

import re

_VARIANT = re.compile(r"(?P<name>.+)\[linker=(?P<linker>[^\[\]]+)\]")


def split_linker(name: str) -> tuple[str, str | None]:
    """Returns (checker, linker) of `name`: ("fast", "none") for "fast[linker=none]".

    The linker is None where the name has none: then the settings decide.
    """
    found = _VARIANT.fullmatch(name)
    return (found["name"], found["linker"]) if found else (name, None)


def with_linker(name: str, linker: str) -> str:
    """Returns the name of the checker with this linker: "fast[linker=none]" for "fast" and "none".

    It takes the place of a linker that `name` has.
    """
    return f"{split_linker(name)[0]}[linker={linker}]"
