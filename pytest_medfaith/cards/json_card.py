"""The card as JSON: the same slice reports give the same bytes. Its JSON Schema is `schema/report.schema.json`."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from importlib.resources import files
from operator import attrgetter
from typing import Any

from pytest_medfaith.cards.summary import count_slice
from pytest_medfaith.errors import DataError
from pytest_medfaith.plain import plain_json
from pytest_medfaith.records import Report, SliceReport, Verdict

FORMAT_VERSION = 1


def json_card(slice_reports: Sequence[SliceReport]) -> str:
    """Returns the slice reports as JSON: metrics, gates, counts, and per case its metrics and claims with their verdicts.

    Slices stand in the order of their names, retrievers, checkers and k, keys in alphabetical order; nothing tells the time.

    Raises:
        DataError: a value that JSON cannot hold, for example NaN.
    """
    return dumps(
        {
            "format_version": FORMAT_VERSION,
            "slices": [_slice_row(report) for report in sorted(slice_reports, key=attrgetter("run"))],
        },
        "the report",
    )


def _slice_row(report: SliceReport) -> dict[str, Any]:
    """Returns one slice report as plain values, its cases in the order of their ids."""
    return {
        **report.run.to_dict(),
        "partial": report.partial,
        "missing": list(report.missing),
        "counts": dataclasses.asdict(count_slice(report)),
        "metrics": {name: _metric_row(metric) for name, metric in report.metrics.items()},
        "macro": {name: _metric_row(metric) for name, metric in report.macro.items()},
        **({"definitions": dict(report.definitions)} if report.definitions else {}),
        "gates": [
            {
                "expression": gate.expression,
                "outcome": gate.outcome,
                "value": gate.value,
                "message": gate.message,
            }
            for gate in report.gates
        ],
        "cases": [_case_row(one) for one in sorted(report.reports, key=lambda one: one.case.id)],
    }


def _metric_row(metric: Any) -> dict[str, Any]:
    return {"value": metric.value, "low": metric.low, "high": metric.high, "n": metric.n}


def _case_row(report: Report) -> dict[str, Any]:
    return {
        "case": report.case.to_dict(),
        "abstained": report.abstained,
        **({"contexts_optional": True} if report.contexts_optional else {}),
        **({"dropped": [piece.to_dict() for piece in report.dropped]} if report.dropped else {}),
        "metrics": dict(report.metrics),
        "entailments": report.entailments.to_dict(),
        "claims": [_claim_row(one) for one in report.verdicts],
    }


def _claim_row(verdict: Verdict) -> dict[str, Any]:
    claim = verdict.claim
    context = {"context": claim.context} if claim.context else {}
    return {"id": claim.id, "text": claim.text, **context, "label": verdict.label, "score": verdict.score}


def dumps(value: object, place: str) -> str:
    """Returns `value` as indented JSON with sorted keys and a last line end; what a terminal might obey is escaped.

    Raises:
        DataError: a value in it is NaN, infinite, or of a kind that JSON does not have.
    """
    try:
        return (
            plain_json(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1, sort_keys=True))
            + "\n"
        )
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{place} cannot be written as JSON ({error}); keep finite numbers, texts, lists and objects in records"
        ) from error


def report_schema() -> dict[str, Any]:
    """Returns the JSON Schema (draft 2020-12) of `json_card`."""
    schema: dict[str, Any] = json.loads(
        files("pytest_medfaith.cards").joinpath("schema/report.schema.json").read_text(encoding="utf-8")
    )
    return schema
