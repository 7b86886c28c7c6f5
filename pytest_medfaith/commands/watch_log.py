"""`medfaith watch-log`: the rate of a live system over time, and an alarm when it is above its bound."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pytest_medfaith.commands.parts import LlmOption, RootOption, RulesOffOption, llm_mode, progress_bar, say

if TYPE_CHECKING:
    from pytest_medfaith.config import SliceSettings
    from pytest_medfaith.drift.history import History
    from pytest_medfaith.drift.watching import Bound, Watched
    from pytest_medfaith.run.resources import Resources

LogArgument = Annotated[
    Path,
    typer.Argument(metavar="LOG", help="A file of responses or traces, or a folder of such files."),
]
WatchedSliceOption = Annotated[str, typer.Option("--slice", help="The slice whose checker judges.")]
BoundOption = Annotated[
    str, typer.Option(help="What must hold of the mean over answers: METRIC <= NUMBER or METRIC >= NUMBER.")
]
HistoryOption = Annotated[Path, typer.Option(help="The SQLite file that keeps what was found.")]
SampleOption = Annotated[
    int | None, typer.Option(min=1, help="Check at most so many of the new answers, drawn at random.")
]
SeedOption = Annotated[int, typer.Option(help="Of the draw.")]
SinceOption = Annotated[
    str,
    typer.Option(metavar="DAY", help="Test only answers from this day on, such as 2026-11-30: a release."),
]
AlphaOption = Annotated[
    float, typer.Option(min=0.0001, max=0.5, help="The chance of a false alarm, over all time.")
]
PlotOption = Annotated[
    Path | None, typer.Option("--plot", help="Write the course of the rate there, as SVG.")
]


def watch_log(
    log: LogArgument,
    slice_name: WatchedSliceOption,
    bound: BoundOption = "hallucination <= 0.05",
    history: HistoryOption = Path("medfaith-history.sqlite"),
    sample: SampleOption = None,
    seed: SeedOption = 0,
    since: SinceOption = "",
    alpha: AlphaOption = 0.05,
    plot: PlotOption = None,
    rules_off: RulesOffOption = None,
    llm: LlmOption = None,
    root: RootOption = Path(),
) -> None:
    """Check samples of a live system's logs, and say when a rate is above its bound.

    Each answer is checked once. The test may be looked at after every answer: over all time its chance of a
    false alarm is --alpha. The exit status is 1 for an alarm, and 2 where the log says nothing of the bound.

    Example: medfaith watch-log logs/ --slice samples --sample 200
    """
    from pytest_medfaith.drift.log import read_log
    from pytest_medfaith.drift.watching import watch

    resources, settings = _opened(slice_name, rules_off, llm, root)
    day = _day(since)
    tested, kept = _bound_and_history(resources, settings, bound, history)
    logged = read_log(log, resources.chunks(settings) if settings.corpus else [])
    try:
        watched = watch(
            resources,
            settings,
            logged,
            bound=tested,
            history=kept,
            sample=sample,
            seed=seed,
            since=day,
            alpha=alpha,
            progress=progress_bar("answers"),
        )
    finally:
        if "teacher" in vars(resources):
            resources.teacher.save()
    _show(watched, plot)


def _show(watched: Watched, plot: Path | None) -> None:
    """Prints what was found, and ends the command with the exit status that it comes to."""
    from pytest_medfaith.drift.card import watch_svg, watch_text
    from pytest_medfaith.jsonl import write_text

    say(watch_text(watched))
    if plot is not None and watched.valued:
        write_text(plot, watch_svg(watched) + "\n")
        say(f"{plot}: written", err=True)
    if watched.crossed is not None or watched.unusable:
        raise typer.Exit(2 if watched.crossed is None else 1)


def _opened(
    name: str, rules_off: list[str] | None, llm: str | None, root: Path
) -> tuple[Resources, SliceSettings]:
    from pytest_medfaith.run.options import Options
    from pytest_medfaith.run.resources import Resources

    options = Options(rules_off=tuple(rules_off or ()), llm=llm_mode(llm))
    resources = Resources(root=root.resolve(), options=options)
    settings = resources.settings.slice(name)
    resources.check_teacher(settings)
    return resources, settings


def _bound_and_history(
    resources: Resources, settings: SliceSettings, expression: str, path: Path
) -> tuple[Bound, History]:
    from pytest_medfaith.drift.history import History
    from pytest_medfaith.drift.watching import parse_bound, watched_signature

    bound = parse_bound(expression, resources.metrics)
    watched = f"{settings.name}: {bound.metric}"
    return bound, History(path, watched=watched, signature=watched_signature(resources, settings))


def _day(given: str) -> str:
    """Returns the day that --since names, "" for none.

    Raises:
        ValueError: no such day.
    """
    from datetime import date

    if not given:
        return ""
    try:
        return date.fromisoformat(given).isoformat()
    except ValueError:
        raise ValueError(f"--since is {given!r}; expected a day such as 2026-11-30") from None
