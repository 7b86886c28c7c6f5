"""Imports the object that a setting names as "module:name", such as "my_pkg.metrics:brand_names"."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pytest_medfaith.errors import DataError


def load_dotted(name: str, *, what: str) -> Any:
    """Returns the object that the dotted name "package.module:name" leads to; its module is imported.

    Args:
        name: the dotted name.
        what: what messages call the object, such as "the metric".

    Raises:
        DataError: the name has another form, its module cannot be imported, or holds no such name.
    """
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        raise DataError(f"{what} {name!r} is no dotted name; expected package.module:name")
    try:
        return getattr(import_module(module), attribute)
    except Exception as error:  # noqa: BLE001 - a module may raise anything while it is imported
        why = error if isinstance(error, (ImportError, AttributeError)) else repr(error)
        raise DataError(
            f"{what} {name!r} cannot be imported ({why}); expected package.module:name of a module that the "
            'tests can import: install its package, or set pythonpath = ["."] under '
            "[tool.pytest.ini_options]"
        ) from None
