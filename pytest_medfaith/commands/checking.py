"""`medfaith check` and `medfaith score`: claims judged row by row, answers trace by trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pytest_medfaith import defaults
from pytest_medfaith.commands.engine import (
    AddressOption,
    BlockRowsOption,
    EngineOption,
    WorkersOption,
    engine_of,
    refuse_in_bulk,
    say_poison,
)
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
    typer.Argument(
        help='JSON Lines or Parquet of {"id", "claim", "evidence"}; evidence is a text or a list of texts.'
    ),
]
ResultsOption = Annotated[
    Path,
    typer.Option(
        help='The file to write: JSON Lines, or .parquet, of {"id", "label", "probs", "span"}, in the order '
        "of ROWS."
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
    engine: EngineOption = "process",
    address: AddressOption = None,
    workers: WorkersOption = None,
    block_rows: BlockRowsOption = None,
) -> None:
    """Judge claims by their evidence, row by row.

    Example: medfaith check claims.jsonl --out verdicts.jsonl

    A row whose claim or evidence holds no word is labelled "unscored" with the reason, and counted at the
    end. With --engine ray a row that cannot be read or judged is unscored too, and the exit status is 1.
    """
    from pytest_medfaith.bulk.results import check_results
    from pytest_medfaith.jsonl import refuse_overwriting
    from pytest_medfaith.scoring.cache import check_cache

    read = {"the file of rows": rows, "the calibration": calibration}
    refuse_overwriting({"--out": out, "--cache": cache}, read)
    check_cache(cache)
    check_results(out)
    cluster = engine_of(engine, address=address, workers=workers, block_rows=block_rows)
    if cluster is None:
        teacher = teacher_for(checker, root, llm)
        loaded = partial(_calibrated_checker, checker, cache, rules_off or (), calibration, teacher, root)
        _say_counts(out, _check_here(rows, out, loaded, rules_off or ()))
        end_teacher(teacher)
        return
    from pytest_medfaith.commands.bulk_check import CheckWork, bulk_check

    refuse_in_bulk({"--cache": cache, "--llm": llm}, checker)
    off, root = tuple(rules_off or ()), root.resolve()
    fitted = calibration.resolve() if calibration else None
    work = CheckWork(checker=checker, rules_off=off, calibration=fitted, root=root, name=str(rows))
    counts, account = bulk_check(cluster, rows, out, work)
    _say_counts(out, counts)
    say_poison(account, "rows")


def _check_here(
    rows: Path, out: Path, load: Callable[[], Checker], rules_off: Sequence[str]
) -> Mapping[str, int]:
    """Judges rows in this process, writes the results, and returns {label: rows}."""
    from pytest_medfaith.bulk.results import write_results
    from pytest_medfaith.commands.check_rows import check_rows, read_check_rows
    from pytest_medfaith.safety.rulebook import load_rulebook

    loaded, rulebook = read_check_rows(rows), load_rulebook().without(rules_off)
    results = check_rows(loaded, load(), rulebook=rulebook, progress=progress_bar("pairs"))
    write_results(out, results)
    return Counter(row["label"] for row in results)


def _say_counts(out: Path, counts: Mapping[str, int]) -> None:
    told = [
        f"{counts[label]} {label}"
        for label in ("entail", "neutral", "contradict", "uncertain", "unscored")
        if counts.get(label)
    ]
    say(f"{out}: {sum(counts.values())} rows, {', '.join(told)}", err=True)


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
    from pytest_medfaith.commands.score_responses import read_recorded, score_responses, write_scores
    from pytest_medfaith.jsonl import read_chunks, refuse_overwriting
    from pytest_medfaith.safety.rulebook import load_rulebook
    from pytest_medfaith.scoring.cache import check_cache

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
