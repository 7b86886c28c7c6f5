"""What the modules of commands share: the option that names the project, and how they print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from pytest_medfaith.errors import MedfaithError

RootOption = Annotated[Path, typer.Option(help="The project: where pyproject.toml or medfaith.toml is.")]


def say(text: object, *, err: bool = False) -> None:
    """Prints `text`; names, addresses and messages in it may come from anywhere, so no line of them can command a terminal or a CI."""
    from pytest_medfaith.plain import plain_lines

    typer.echo(plain_lines(str(text)), err=err)


def run(app: typer.Typer, arguments: list[str] | None = None) -> Any:
    """Runs the commands of `app`; an error that the package raises on purpose is one message and exit status 2."""
    try:
        return app(arguments)
    except (MedfaithError, ValueError, OSError) as error:
        say(f"medfaith: {error}", err=True)
        raise SystemExit(2) from None
