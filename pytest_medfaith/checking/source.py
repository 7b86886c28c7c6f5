"""Names a callable of the user's project on cards and in baselines, and tells where it raised an error."""

from __future__ import annotations

import hashlib
import inspect
import traceback
from functools import partial
from typing import Any


def callable_name(called: Any) -> str:
    """Returns a callable's short name: of a function, of an object's class, or of what a partial calls.

    "judge" for a function of this name, "lambda" for a lambda.
    """
    defined = _defined(called)
    return str(defined.__name__).strip("<>")  # "<lambda>" would read as markup on an HTML card


def callable_signature(called: Any) -> str:
    """Returns what names a callable in a baseline: "package.module:name@digest"."""
    defined = _defined(called)
    return f"{defined.__module__}:{defined.__qualname__}{source_digest(called)}"


def source_digest(called: Any) -> str:
    """Returns "@" and 8 hexadecimal digits that change with the callable's source.

    Functions that it calls and files that it reads do not count. "" for a callable without source, such as
    one typed at a prompt.
    """
    try:
        text = inspect.getsource(_defined(called))
    except (OSError, TypeError):
        return ""
    return f"@{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _defined(called: Any) -> Any:
    """Returns the function or class that has a callable's name and source; for a partial, what it calls."""
    called = called.func if isinstance(called, partial) else called
    return called if hasattr(called, "__qualname__") else type(called)


def raised(error: Exception) -> str:
    """Returns what a callable raised and where: "raised KeyError: 'dose' (judge.py:12)"."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"raised {type(error).__name__}: {error} ({place.filename}:{place.lineno})"
