"""Imports what a setting names by its dotted name, such as "my_pkg.metrics:brand_names"."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pytest_medfaith.errors import DataError


def load_dotted(name: str, *, what: str) -> Any:
    """Returns the object that "package.module:name" leads to.

    Args:
        name: the dotted name; the module is imported where it is not yet.
        what: how messages call the object, such as "the metric".

    Raises:
        DataError: the name has another form, or no such module or name is there.
    """
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        raise DataError(f"{what} {name!r} is no dotted name; expected package.module:name")
    try:
        return getattr(import_module(module), attribute)
    except Exception as error:  # noqa: BLE001 - a module may raise anything while it is imported
        why = error if isinstance(error, (ImportError, AttributeError)) else repr(error)
        raise DataError(
            f"{what} {name!r} cannot be imported ({why}); expected package.module:name of a module that "
            'the tests can import: install its package, or set pythonpath = ["."] under [tool.pytest.ini_options]'
        ) from None
