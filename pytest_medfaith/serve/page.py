"""The page at a server's root: somebody pastes an answer, and its claims light up as they are judged."""

from __future__ import annotations

from pytest_medfaith.cards.html import render_page


def page(*, slice_name: str, checker: str) -> str:
    """Returns the page: a single file without anything from elsewhere.

    Args:
        slice_name: whose corpus is searched where no passages are given; "" where there is none.
        checker: the name of what judges.

    Raises:
        MissingExtra: jinja2 is not installed.
    """
    return render_page("serve.html.j2", slice=slice_name, checker=checker)
