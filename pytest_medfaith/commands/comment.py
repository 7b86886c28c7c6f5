"""`medfaith comment`: the card of a run as a single comment on a pull or merge request, kept up to date."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pytest_medfaith.commands.parts import say

ReportArgument = Annotated[Path, typer.Argument(metavar="RUN", help="The run folder; its card is posted.")]
NameOption = Annotated[
    str, typer.Option(help="Tells this comment from those of further suites on the same request.")
]


def comment(run: ReportArgument, name: NameOption = "medfaith") -> None:
    """Post the card of a run on the pull request of GitHub, or the merge request of GitLab, that CI runs for.

    An earlier comment of this name is changed, so that there is a single one. Where no request is there, or
    the token may not comment, it says so and ends with status 0: the card is in the summary and the run
    folder.

    Example: medfaith comment medfaith-report

    GitHub: GITHUB_TOKEN with pull-requests: write. GitLab: MEDFAITH_GITLAB_TOKEN with the scope api.
    """
    import os

    from pytest_medfaith.cards.request_comment import comment_body, request_of, upsert

    request = request_of(os.environ)
    if isinstance(request, str):
        say(f"no comment: {request}")
        return
    say(upsert(request, comment_body(run, name=name), name=name))
