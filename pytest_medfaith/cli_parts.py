"""What the modules of commands share: the option that names the project, and how they print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

RootOption = Annotated[Path, typer.Option(help="The project: where pyproject.toml or medfaith.toml is.")]


def say(text: object, *, err: bool = False) -> None:
    """Prints `text`; names, addresses and messages in it may come from anywhere, so no line of them can command a terminal or a CI."""
    from pytest_medfaith.plain import plain_lines

    typer.echo(plain_lines(str(text)), err=err)
