"""The web page at the server's root: paste an answer, and its claims are coloured as they are judged."""

from __future__ import annotations

from pytest_medfaith.cards.html import render_page


def page(*, slice_name: str, checker: str) -> str:
    """Returns the page as HTML, complete in a single file.

    Args:
        slice_name: slice whose corpus is searched if no passages are given; "" where there is none.
        checker: name of the checker.

    Raises:
        MissingExtra: jinja2 is not installed.
    """
    return render_page("serve.html.j2", slice=slice_name, checker=checker)
