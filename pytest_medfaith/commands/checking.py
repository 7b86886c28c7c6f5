"""`medfaith check` and `medfaith score`: claims judged row by row, answers trace by trace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pytest_medfaith import defaults
from pytest_medfaith.commands.parts import (
    CheckerOption,
    LlmOption,
    RootOption,
    RulesOffOption,
    ScoresOption,
    end_teacher,
    progress_bar,
    reading_of,
    say,
    teacher_for,
)

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker
    from pytest_medfaith.teacher.asking import Teacher

CalibrationOption = Annotated[
    Path | None, typer.Option("--calibration", help="A file that medfaith calibrate wrote for this checker.")
]
RowsArgument = Annotated[
    Path,
    typer.Argument(help='JSON Lines of {"id", "claim", "evidence"}; evidence is a text or a list of texts.'),
]
ResultsOption = Annotated[
    Path,
    typer.Option(
        help='The file to write: JSON Lines of {"id", "label", "probs", "span"}, in the order of ROWS.'
    ),
]
ResponsesArgument = Annotated[
    Path, typer.Argument(help="Responses as JSON Lines, such as medfaith adapt traces writes.")
]
TracesOption = Annotated[
    Path,
    typer.Option(
        help="The file to write: a table by trace (.csv), or attributes of the spans as JSON Lines (.jsonl)."
    ),
]
ContextsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--corpus", help="Chunks for contexts that are ids alone: a folder or file; may be given again."
    ),
]


def check(
    rows: RowsArgument,
    out: ResultsOption,
    checker: CheckerOption = defaults.CHECKER,
    cache: ScoresOption = None,
    rules_off: RulesOffOption = None,
    calibration: CalibrationOption = None,
    root: RootOption = Path(),
    llm: LlmOption = None,
) -> None:
    """Judge claims by their evidence, row by row.

    Example: medfaith check claims.jsonl --out verdicts.jsonl

    A row whose claim or evidence holds no word is labelled "unscored" with the reason, and counted at the
    end.
    """
    from pytest_medfaith.checking.cache import check_cache
    from pytest_medfaith.commands.check_rows import check_rows, read_check_rows
    from pytest_medfaith.jsonl import refuse_overwriting, write_records
    from pytest_medfaith.safety.rulebook import load_rulebook

    read = {"the file of rows": rows, "the calibration": calibration}
    refuse_overwriting({"--out": out, "--cache": cache}, read)
    check_cache(cache)
    loaded, teacher = read_check_rows(rows), teacher_for(checker, root, llm)
    judge = _calibrated_checker(checker, cache, rules_off or (), calibration, teacher, root)
    rulebook = load_rulebook().without(rules_off or ())
    results = check_rows(loaded, judge, rulebook=rulebook, progress=progress_bar("pairs"))
    write_records(out, results)
    labels = [row["label"] for row in results]
    counts = [
        f"{labels.count(label)} {label}"
        for label in ("entail", "neutral", "contradict", "unscored")
        if label in labels
    ]
    say(f"{out}: {len(results)} rows, {', '.join(counts)}", err=True)
    end_teacher(teacher)


def score(
    responses: ResponsesArgument,
    out: TracesOption,
    checker: CheckerOption = defaults.CHECKER,
    corpus: ContextsOption = None,
    cache: ScoresOption = None,
    rules_off: RulesOffOption = None,
    calibration: CalibrationOption = None,
    root: RootOption = Path(),
    llm: LlmOption = None,
) -> None:
    """Check whole answers by their contexts, and write the scores by trace.

    Example: medfaith score responses.jsonl --out scores.csv

    A response without contexts has the status failed and no rates. This command judges no gates: for gates,
    make the file the cases and the responses of a slice.
    """
    from pytest_medfaith.checking.cache import check_cache
    from pytest_medfaith.commands.score_responses import read_recorded, score_responses, write_scores
    from pytest_medfaith.jsonl import read_chunks, refuse_overwriting
    from pytest_medfaith.safety.rulebook import load_rulebook

    read = {"the file of responses": responses, "the calibration": calibration}
    refuse_overwriting({"--out": out, "--cache": cache}, read)
    check_cache(cache)
    recorded = read_recorded(responses, read_chunks(corpus) if corpus else [], out=out)
    teacher = teacher_for(checker, root, llm)
    judge = _calibrated_checker(checker, cache, rules_off or (), calibration, teacher, root)
    rulebook = load_rulebook().without(rules_off or ())
    report = score_responses(recorded, judge, rulebook=rulebook, progress=progress_bar("responses"))
    say(f"{out}: {write_scores(out, report)}", err=True)
    end_teacher(teacher)


def _calibrated_checker(
    name: str,
    cache: Path | None,
    rules_off: Sequence[str],
    calibration: Path | None,
    teacher: Teacher | None,
    root: Path,
) -> Checker:
    from pytest_medfaith.calibration.applying import calibrated, read_calibration
    from pytest_medfaith.checking.loading import load_checker

    checker = load_checker(name, cache=cache, rules_off=rules_off, teacher=teacher, **reading_of(name, root))
    return calibrated(checker, read_calibration(calibration)) if calibration else checker
