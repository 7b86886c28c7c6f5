"""`medfaith init`: a first suite."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pytest_medfaith.commands.parts import say

FolderArgument = Annotated[Path, typer.Argument(help="The root of a project, or a new folder.")]
GithubOption = Annotated[bool, typer.Option("--github", help="Also write .github/workflows/medfaith.yml.")]
GitlabOption = Annotated[bool, typer.Option("--gitlab", help="Also write .gitlab-ci.yml.")]


def init(folder: FolderArgument = Path(), github: GithubOption = False, gitlab: GitlabOption = False) -> None:
    """Write a first suite that runs at once.

    The suite holds settings, sample chunks, cases, recorded answers and a test.

    Example: medfaith init --github

    One recorded answer names a wrong dose, so that the first run shows what a failure looks like. Nothing is
    overwritten: where one of the files is there already, the message names it and nothing is written. In a
    project that configures medfaith already, --github or --gitlab writes the workflow alone; it runs the
    marked tests of the project.
    """
    from pytest_medfaith.commands.init_project import init_project

    chosen = [name for name, is_wanted in (("github", github), ("gitlab", gitlab)) if is_wanted]
    written = init_project(folder, ci=chosen)
    for path in written:
        say(path)
    added = (
        "The suite was there already, and only the workflow was added. Next: look through it, and commit it."
    )
    is_first = folder / "medfaith.toml" in written
    say("Next: run pytest there. One test fails on purpose." if is_first else added, err=True)
