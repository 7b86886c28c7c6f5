"""`medfaith check --engine ray`: judges rows of any number on a cluster, and writes results as they come."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_medfaith import defaults
from pytest_medfaith.bulk.results import PARQUET, write_results
from pytest_medfaith.bulk.work import Judge, Row, refuse_other
from pytest_medfaith.commands.check_rows import check_row, check_rows, row_name
from pytest_medfaith.commands.engine import FOLDER, RayEngine, bulk_results, cache_folder
from pytest_medfaith.commands.parts import reading_of
from pytest_medfaith.safety.rulebook import load_rulebook

if TYPE_CHECKING:
    from pytest_medfaith.bulk.engine import Account
    from pytest_medfaith.checking.checker import Checker


@dataclass(frozen=True, kw_only=True)
class CheckWork:
    """What each worker of `medfaith check` loads and does.

    Attributes:
        checker: its name.
        rules_off: names of rules that are switched off.
        calibration: its file; None for none.
        root: the folder of the project.
        name: of the file of rows, for messages.
        expected: what decides the results where the run was started; a worker that differs is refused.
    """

    checker: str
    rules_off: tuple[str, ...] = ()
    calibration: Path | None = None
    root: Path
    name: str
    expected: Mapping[str, Any] = field(default_factory=dict)

    def load(self) -> Checker:
        """Returns the checker."""
        from pytest_medfaith.calibration.applying import calibrated, read_calibration
        from pytest_medfaith.checking.loading import load_checker

        reading = reading_of(self.checker, self.root)
        checker = load_checker(self.checker, rules_off=self.rules_off, **reading)
        return calibrated(checker, read_calibration(self.calibration)) if self.calibration else checker

    def signature(self, checker: Checker) -> dict[str, Any]:
        """Returns what decides the results beside the rows: checker, thresholds, rules, as plain values."""
        from pytest_medfaith.gates.matching import PROCESSOR
        from pytest_medfaith.models.onnx import processor_kernel
        from pytest_medfaith.run.cells import package_digest
        from pytest_medfaith.run.signature import checker_signature

        return {
            "package": package_digest(),
            "checker": checker_signature(checker),
            "safety": load_rulebook().without(self.rules_off).signature,
            PROCESSOR: processor_kernel(),
        }

    def begin(self) -> Judge:
        """Returns the function with which a worker judges a block of rows; see `Work`."""
        from pytest_medfaith.models.pace import set_pace

        set_pace(threads=1, batch_size=defaults.BATCH_SIZE)  # a worker has one core
        sys.path.append(str(self.root))
        checker, rulebook = self.load(), load_rulebook().without(self.rules_off)
        refuse_other(self.signature(checker), self.expected)

        def judge(rows: Sequence[Row]) -> list[dict[str, Any]]:
            read = [check_row(row, number, f"{self.name}:{number}") for number, row in rows]
            return check_rows(read, checker, rulebook=rulebook)

        return judge

    def poisoned(self, line: int, row: Mapping[str, Any] | None, why: str) -> dict[str, Any]:
        """Returns the result of a row that crashed or cannot be read: "unscored" with the reason."""
        named = row_name(row or {}, line)
        return {"id": named, "label": "unscored", "probs": None, "span": None, "reason": why}


def bulk_check(engine: RayEngine, rows: Path, out: Path, work: CheckWork) -> tuple[Counter[str], Account]:
    """Judges the rows of a file on a cluster, and writes the results in order.

    Returns {label: rows}, and the account of what went wrong.

    Raises:
        DataError: no rows, the cluster cannot be reached or went away, or a node would judge otherwise.
        CannotWrite: a full disk.
    """
    import dataclasses

    checker = work.load()
    signature, is_known = work.signature(checker), checker.judge is None and ":" not in work.checker
    work = dataclasses.replace(work, expected=signature)
    cache, counts = cache_folder(work.root), Counter[str]()
    how = {"name": work.name, "unit": "rows", "rows_a_block": engine.rows_a_block}
    with (
        _as_lines(rows, cache / FOLDER) as lines,
        bulk_results(engine, lines, work, cache=cache, key=signature if is_known else None, **how) as found,
    ):
        results, account = found
        write_results(out, _counted(results, counts))
    return counts, account


def _counted(results: Iterator[dict[str, Any]], counts: Counter[str]) -> Iterator[dict[str, Any]]:
    for row in results:
        counts[row["label"]] += 1
        yield row


@contextmanager
def _as_lines(rows: Path, folder: Path) -> Iterator[Path]:
    """Gives the path of `rows` as JSON Lines; a Parquet file is written so into `folder`."""
    if rows.suffix.lower() != PARQUET:
        yield rows
        return
    import secrets

    from pytest_medfaith.answers.row_files import read_row_file
    from pytest_medfaith.jsonl import write_records

    lines = folder / f"{secrets.token_hex(8)}.jsonl"
    try:
        write_records(lines, (row for _, row in read_row_file(rows)))
        yield lines
    finally:
        lines.unlink(missing_ok=True)
