"""What several commands share: options, printing, writing to a file, progress bars."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pytest_medfaith import defaults
from pytest_medfaith.errors import MedfaithError

if TYPE_CHECKING:
    from pytest_medfaith.teacher.asking import Teacher
    from pytest_medfaith.teacher.settings import Mode

RootOption = Annotated[Path, typer.Option(help="The project: where pyproject.toml or medfaith.toml is.")]
CheckerOption = Annotated[
    str,
    typer.Option(
        help="default, fast, teacher, a model folder, a dotted name module:judge, or a Hugging Face name."
    ),
]
RulesOffOption = Annotated[
    list[str] | None,
    typer.Option(
        "--rules-off",
        help="Switch off this medical rule, such as numbers or safety.dose; may be given again.",
    ),
]
ScoresOption = Annotated[
    Path | None, typer.Option("--cache", help="A file that keeps scores for the next run.")
]
LlmOption = Annotated[
    str | None,
    typer.Option(
        "--llm",
        metavar="MODE",
        help="What the teacher may do: off, replay its cassette, record into it, or ask live.",
    ),
]
OutOption = Annotated[Path | None, typer.Option("--out", help="The file to write, in place of printing.")]

_BAR = 30  # columns: with counts of bytes behind it the line fits into 80


def say(text: object, *, err: bool = False) -> None:
    """Prints `text`, cleaned of what a terminal or a CI server would obey; `err` is standard error."""
    from pytest_medfaith.plain import plain_lines

    typer.echo(plain_lines(str(text)), err=err)


def give(text: str, out: Path | None) -> None:
    """Prints a report, or writes it to the file `out` and says so; reports are clean already."""
    if out is None:
        typer.echo(text, nl=not text.endswith("\n"))
        return
    from pytest_medfaith.jsonl import write_text

    write_text(out, text if text.endswith("\n") else text + "\n")
    say(f"{out}: {out.stat().st_size} bytes")


def llm_mode(given: str | None) -> Mode | None:
    """Returns the mode that --llm names; None where it was not given.

    Raises:
        ValueError: another word.
    """
    from pytest_medfaith.teacher.settings import MODES

    mode = next((one for one in MODES if one == given), None)
    if given is not None and mode is None:
        raise ValueError(f"--llm is {given!r}; expected one of {', '.join(MODES)}")
    return mode


def teacher_for(name: str | None, root: Path, llm: str | None) -> Teacher | None:
    """Returns the project's teacher where `name` is that of a checker or reranker "teacher", else None.

    Args:
        name: "teacher" or "teacher[linker=none]" needs it; any other name, and None, does not.
        root: the project's folder, with the settings of the LLM.
        llm: what --llm says; None where it was not given.

    Raises:
        TeacherError: it is needed and cannot be asked.
        ValueError: `llm` is an unknown word.
    """
    from pytest_medfaith.teacher.settings import TEACHER

    mode = llm_mode(llm)
    from pytest_medfaith.checking.variant import split_linker

    if split_linker(name or "")[0] != TEACHER:
        return None
    from pytest_medfaith.config import load_settings
    from pytest_medfaith.teacher.asking import Teacher

    teacher = Teacher(load_settings(root.resolve()).llm, mode=mode)
    teacher.check_ready()
    return teacher


def reading_of(checker: str, root: Path) -> dict[str, Any]:
    """Returns how a foreign classifier is read: the settings `label_map` and `order`.

    {} for a shipped checker, which needs neither.

    Raises:
        DataError: the settings cannot be read.
    """
    if checker in (defaults.CHECKER, "fast"):
        return {}
    from pytest_medfaith.config import load_settings

    settings = load_settings(root.resolve())
    return {"label_map": settings.label_map, "order": settings.order}


def end_teacher(teacher: Teacher | None) -> None:
    """Saves what the teacher said in a command, and prints what that took.

    Raises:
        Exit: with status 1, where the teacher left something unanswered.
    """
    if teacher is None:
        return
    from pytest_medfaith.teacher.use import use_lines

    teacher.save()
    use = teacher.take_use()
    for line in use_lines(use):
        say(line, err=True)
    if use.failures:
        raise typer.Exit(1)


def progress_bar(unit: str) -> Callable[[int, int], None]:
    """Returns a callback that draws a bar of (done, total) on standard error, where that is a terminal.

    Elsewhere it writes nothing. `unit` is the word for what is counted, such as "rows".
    """

    def show(done: int, total: int) -> None:
        if sys.stderr.isatty():
            bar = "#" * (_BAR * done // max(1, total))
            sys.stderr.write(f"\r[{bar:-<{_BAR}}] {done} of {total} {unit}" + ("\n" if done == total else ""))
            sys.stderr.flush()

    return show


def run(app: typer.Typer, arguments: list[str] | None = None) -> Any:
    """Runs the commands of `app`; an error raised on purpose becomes a message and exit status 2."""
    try:
        return app(arguments)
    except (MedfaithError, ValueError, OSError) as error:
        say(f"medfaith: {error}", err=True)
        raise SystemExit(2) from None
