"""Lets --medfaith-checker beat a fixture medfaith_checker of the project, the marker and the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker
    from pytest_medfaith.run.resources import Resources


def commanded_checker(
    fixturedef: pytest.FixtureDef[Any], request: Any, resources: Resources
) -> Checker | None:
    """Returns the checker of the command line for a slice's test; None where the fixture gives it.

    The plugin's fixture gives it, and so does a fixture that takes `medfaith_checker` as its argument and
    builds on it. Of any other fixture of this name the body does not run.

    Args:
        fixturedef: the fixture that is about to be made.
        request: of the test, as pytest's hook gives it.
        resources: of the run.

    Raises:
        DataError: the checker cannot be loaded.
        Failed: the fixture is made once for several tests, and the command line names several checkers.
    """
    own = fixturedef.func.__module__.startswith("pytest_medfaith.")
    builds_on_it = fixturedef.argname in fixturedef.argnames
    item = request._pyfuncitem  # noqa: SLF001 - of a session's fixture, request.node is the session
    target = getattr(getattr(item, "callspec", None), "params", {}).get("medfaith_target")
    if own or builds_on_it or target is None:
        return None
    if fixturedef.scope != "function" and len(set(resources.options.checker)) > 1:
        error = pytest.fail.Exception(
            f"medfaith: --medfaith-checker names {', '.join(resources.options.checker)}, and the fixture "
            f"medfaith_checker in {fixturedef.baseid or 'the project'} is made once for each "
            f"{fixturedef.scope}; leave out its scope",
            pytrace=False,
        )
        fixturedef.cached_result = (None, fixturedef.cache_key(request), (error, None))  # for the next tests
        raise error
    checker = resources.checker(target.settings.checker)
    fixturedef.cached_result = (checker, fixturedef.cache_key(request), None)
    return checker
