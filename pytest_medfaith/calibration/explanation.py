"""Shows what a calibration changed: as text, as facts for its file, and as diagrams."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_medfaith.calibration.fit import CalibrationRun
from pytest_medfaith.cards.plots import reliability_svg
from pytest_medfaith.cards.wording import metric_text
from pytest_medfaith.jsonl import write_text
from pytest_medfaith.records import MetricValue

REPORT_FILES = ("calibration.md", "reliability-before.svg", "reliability-after.svg")
_SHOWN = ("ece", "brier", "roc_auc", "f1", "accuracy", "entail_precision", "contradict_precision")


def calibration_facts(run: CalibrationRun, *, precision: float | None, seed: int) -> dict[str, Any]:
    """Returns how the calibration was made and what it changed, as plain values for its file."""
    return {
        "rows": {"fitted": run.rows_fitted, "held_out": run.rows_held_out, "unscored": run.rows_unscored},
        "two_way": run.two_way,
        "precision": precision,
        "seed": seed,
        "before": _values(run.before.metrics),
        "after": _values(run.after.metrics),
    }


def _values(metrics: Mapping[str, MetricValue]) -> dict[str, Any]:
    return {
        name: {"value": found.value, "low": found.low, "high": found.high, "n": found.n}
        for name, found in metrics.items()
    }


def calibration_table(run: CalibrationRun, *, style: str = "plain") -> str:
    """Returns a table of the rows kept out, before and after.

    It shows calibration, ranking, labels and precision with 95 % intervals. `style` is a table format of
    tabulate.
    """
    from tabulate import tabulate

    rows = [
        [name, *(metric_text(side.metrics[name], interval=True) for side in (run.before, run.after))]
        for name in _SHOWN
    ]
    fits = [side.thresholds for side in (run.before, run.after)]
    rows += [
        [
            "thresholds",
            *(f"entail {fit.entail:g}, contradict {fit.contradict:g}, odds {fit.odds:g}" for fit in fits),
        ]
    ]
    return tabulate(rows, headers=["", "before", "after"], tablefmt=style, disable_numparse=True)


def calibration_notes(run: CalibrationRun) -> list[str]:
    """Returns the lines above the table: how many rows were fitted, kept out and left out."""
    shared = "case" if run.by_case else "evidence"
    apart = f"{run.rows_held_out} that share no claim and no {shared} with them"
    lines = [f"fitted to {run.rows_fitted} rows, measured on {apart}"]
    if run.rows_unscored:
        lines.append(f"{run.rows_unscored} rows could not be scored and were left out")
    if run.two_way:
        lines.append(
            "the checker is two-way and never refutes: contradict rows count as neutral, its contradict "
            "threshold does nothing"
        )
    return lines


def write_report(folder: Path, run: CalibrationRun) -> list[Path]:
    """Writes calibration.md and the two reliability diagrams to `folder`; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "\n\n".join(
        [
            "### Calibration",
            "  \n".join(calibration_notes(run)),
            calibration_table(run, style="github"),
            "![before](reliability-before.svg) ![after](reliability-after.svg)",
        ]
    )
    diagrams = (
        reliability_svg(run.before.bins, title="Before"),
        reliability_svg(run.after.bins, title="After"),
    )
    files = dict(zip(REPORT_FILES, (text + "\n", *diagrams), strict=True))
    for name, content in files.items():
        write_text(folder / name, content)
    return [folder / name for name in files]
