"""What is said of a project's callable: its name on cards, its signature in baselines, where it raised."""

from __future__ import annotations

import hashlib
import inspect
import traceback
from functools import partial
from typing import Any


def callable_name(called: Any) -> str:
    """Returns the short name of a callable: of a function, of an object's class, of what a partial calls."""
    defined = _defined(called)
    return str(defined.__name__).strip("<>")  # "<lambda>" would read as markup on an HTML card


def callable_signature(called: Any) -> str:
    """Returns what names a callable in a baseline: "package.module:name@digest"."""
    defined = _defined(called)
    return f"{defined.__module__}:{defined.__qualname__}{source_digest(called)}"


def source_digest(called: Any) -> str:
    """Returns "@" and 8 hexadecimal digits that change with the callable's source.

    Functions that it calls and files that it reads are not seen. A callable without source, as one typed at a
    prompt, has an empty digest.
    """
    try:
        text = inspect.getsource(_defined(called))
    except (OSError, TypeError):
        return ""
    return f"@{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _defined(called: Any) -> Any:
    """Returns what has a callable's name and source: a function, a class, or what a partial calls."""
    called = called.func if isinstance(called, partial) else called
    return called if hasattr(called, "__qualname__") else type(called)


def raised(error: Exception) -> str:
    """Returns what a callable raised and where, as in "raised KeyError: 'dose' (judge.py:12)"."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"raised {type(error).__name__}: {error} ({place.filename}:{place.lineno})"
