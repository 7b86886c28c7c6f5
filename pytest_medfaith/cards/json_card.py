"""The card as JSON; equal reports give equal bytes. Its JSON Schema is schema/report.schema.json."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from operator import attrgetter
from typing import Any

from pytest_medfaith.cards.summary import count_slice
from pytest_medfaith.cards.tallies import llm_use
from pytest_medfaith.errors import DataError
from pytest_medfaith.metrics.facts import fact_states
from pytest_medfaith.plain import plain_json
from pytest_medfaith.records import MetricValue, Report, Severity, SliceReport
from pytest_medfaith.records.stored import in_case_order

FORMAT_VERSION = 1
_HERE = "here"  # stands in a list for the items, which follow piece by piece
_BELOW = "\n  "  # what begins a line of such an item, two levels deep


def json_card(slice_reports: Sequence[SliceReport]) -> str:
    """Returns the slice reports as JSON: metrics, gates, counts, and per case its metrics and claims.

    Slices are ordered by name, retriever, checker and k, keys alphabetically. The file holds no time.

    Raises:
        DataError: a value that JSON cannot hold, for example NaN.
    """
    return "".join(json_pieces(slice_reports))


def json_pieces(slice_reports: Sequence[SliceReport]) -> Iterator[str]:
    """Yields the text of `json_card` in pieces of at most a case each; errors as in `json_card`."""
    whole = dumps({"format_version": FORMAT_VERSION, "slices": [_HERE]}, "the report")
    before, after = whole.split(f'"{_HERE}"')
    ordered = sorted(slice_reports, key=attrgetter("run"))
    yield from _listed(map(_slice_pieces, ordered), before, after)


def _slice_pieces(slice_report: SliceReport) -> Iterator[str]:
    """Yields a slice report as JSON, its cases in the order of their ids."""
    text = dumps({**_slice_row(slice_report), "cases": [_HERE]}, "the report")
    before, _, after = text.removesuffix("\n").partition(
        f'"{_HERE}"'
    )  # "cases" is the first of the sorted keys
    cases = (
        iter([dumps(case_row(one), "the report").removesuffix("\n")])
        for one in in_case_order(slice_report.reports)
    )
    yield from _listed(cases, before, after)


def _listed(items: Iterator[Iterator[str]], before: str, after: str) -> Iterator[str]:
    """Yields `before`, the items of a JSON list, and `after`, with commas between the items."""
    between = before
    for item in items:
        yield between
        yield from (piece.replace("\n", _BELOW) for piece in item)
        between = "," + _BELOW
    yield after if between != before else before.rstrip() + after.lstrip()


def _slice_row(slice_report: SliceReport) -> dict[str, Any]:
    """Returns a slice report as plain values, without its cases."""
    return {
        **slice_report.run.to_dict(),
        "partial": slice_report.partial,
        "missing": list(slice_report.missing),
        "counts": _counts_row(slice_report),
        "metrics": metric_rows(slice_report.metrics),
        "macro": metric_rows(slice_report.macro),
        **({"place": slice_report.place} if slice_report.place else {}),
        **({"failure": slice_report.failure} if slice_report.failure else {}),
        **({"definitions": dict(slice_report.definitions)} if slice_report.definitions else {}),
        **_llm_row(slice_report),
        "gates": [
            {
                "expression": gate.expression,
                "outcome": gate.outcome,
                "value": gate.value,
                "message": gate.message,
            }
            for gate in slice_report.gates
        ],
    }


def _counts_row(slice_report: SliceReport) -> dict[str, Any]:
    """Returns the counts of a slice; those that can only be 0 here, as of citations, are left out."""
    counts = dataclasses.asdict(count_slice(slice_report))
    if not any(report.selective for report in slice_report.reports):
        del counts["uncertain"]
    return {
        name: value
        for name, value in counts.items()
        if value or name not in ("citations", "outcomes", "facts")
    }


def _llm_row(slice_report: SliceReport) -> dict[str, Any]:
    """Returns what the teacher was asked for all cases together; {} where there was none."""
    use = llm_use(slice_report.reports)
    return {"llm": use.to_dict()} if use.model else {}


def metric_rows(metrics: Mapping[str, MetricValue]) -> dict[str, dict[str, Any]]:
    """Returns `metrics` as files hold them: {name: {"value", "low", "high", "n"}}; None stays None.

    "low" and "high" are the ends of the interval, "n" is the number of cases.
    """
    return {
        name: {"value": metric.value, "low": metric.low, "high": metric.high, "n": metric.n}
        for name, metric in metrics.items()
    }


def read_metrics(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, MetricValue]:
    """Returns {name: metric} of rows that `metric_rows` made; a row without a value gives None as its value.

    Raises:
        DataError: a value that is no number, or a number that is not finite.
    """
    return {name: MetricValue.from_dict({"value": None, **row, "name": name}) for name, row in rows.items()}


def case_row(report: Report) -> dict[str, Any]:
    """Returns a case as plain values: the case, its metrics, and its claims with their labels.

    What a report does not have (an outcome, an LLM, a risk, a severity) has no key.
    """
    claims = [
        {
            "id": verdict.claim.id,
            "text": verdict.claim.text,
            **({"context": verdict.claim.context} if verdict.claim.context else {}),
            "label": verdict.label,
            "score": verdict.score,
            **({"leaning": verdict.leaning} if verdict.leaning else {}),
            **({"citation": verdict.attribution.to_dict()} if verdict.attribution else {}),
            **({"severity": _severity_row(verdict.severity)} if verdict.severity else {}),
        }
        for verdict in report.verdicts
    ]
    return {
        "case": report.case.to_dict(),
        "abstained": report.abstained,
        **({"outcome": report.outcome} if report.outcome else {}),
        **({"answerable": report.answerable} if report.answerable else {}),
        **({"facts": list(states)} if (states := fact_states(report)) else {}),
        **({"contexts_optional": True} if report.contexts_optional else {}),
        **({"llm": dict(report.llm)} if report.llm else {}),
        **({"risk": dict(report.risk)} if report.risk else {}),
        **({"consistency": dict(report.consistency)} if report.consistency else {}),
        **({"relevancy": dict(report.relevancy)} if report.relevancy else {}),
        **({"dropped": [piece.to_dict() for piece in report.dropped]} if report.dropped else {}),
        "metrics": dict(report.metrics),
        "entailments": report.entailments.to_dict(),
        "claims": claims,
    }


def _severity_row(severity: Severity) -> dict[str, Any]:
    return {**severity.to_dict(), "major": severity.is_major}


def dumps(value: object, place: str) -> str:
    """Returns `value` as indented JSON with sorted keys; what a terminal might obey is escaped.

    Raises:
        DataError: `value` holds a number that is not finite, or something that JSON does not have; the
            message calls it `place`.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1, sort_keys=True)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{place} cannot be written as JSON ({error}); "
            "keep finite numbers, texts, lists and objects in records"
        ) from error
    return plain_json(text) + "\n"


def report_schema() -> dict[str, Any]:
    """Returns the JSON Schema (draft 2020-12) of `json_card`."""
    path = files("pytest_medfaith.cards").joinpath("schema/report.schema.json")
    schema: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return schema
