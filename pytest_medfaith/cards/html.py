"""The report as one HTML file that opens without a server and asks nothing of the network.

The page's table of cases is drawn in the browser from JSON inside the page, each case when it is opened. Texts of answers, chunks and
questions reach the page as data only: jinja2 escapes what it writes, the JSON holds no `<`, and the script writes text nodes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_medfaith.cards.explanation import text_at
from pytest_medfaith.cards.facts import error_rates
from pytest_medfaith.cards.history import History
from pytest_medfaith.cards.json_card import dumps
from pytest_medfaith.cards.plots import ablation_svg, trend_svg
from pytest_medfaith.cards.summary import (
    COLUMNS,
    card_header,
    count_lines,
    gate_tally,
    gate_text,
    many_checkers,
    measured_over,
    run_label,
)
from pytest_medfaith.cards.wording import NOTHING, decimals, metric_text
from pytest_medfaith.errors import DataError, MissingExtra
from pytest_medfaith.metrics.safety import breaks_safety_rule
from pytest_medfaith.plain import one_line
from pytest_medfaith.records import VERDICTS, Chunk, Finding, MetricValue, Report, SliceReport, Verdict

if TYPE_CHECKING:
    from markupsafe import Markup

_COMMIT_SHOWN = 12  # digits


def html_report(
    slice_reports: Sequence[SliceReport],
    *,
    history: History = (),
    signature: Mapping[str, Any] | None = None,
    facts: Mapping[str, str] | None = None,
) -> str:
    """Returns the page: card, gates, trend, and every case with its claims beside their evidence.

    Args:
        slice_reports: the run.
        history: (label, slice reports) of earlier runs, the oldest first; only their metrics are read.
        signature: what made the run, shown as it is.
        facts: date, project and commit of the run, which stand in the head with its checkers and how often they are wrong.

    Raises:
        MissingExtra: jinja2 is not installed.
        DataError: a value that is not finite.
    """
    checkers = many_checkers(slice_reports)
    runs = [_run_row(report, checker=checkers) for report in slice_reports]
    shelf: dict[Markup, int] = {}
    cases = [
        _case_row(place, one, shelf) for place, report in enumerate(slice_reports) for one in report.reports
    ]
    return render_page(
        "report.html.j2",
        tally=gate_tally(slice_reports),
        header=card_header(slice_reports),
        runs=runs,
        facts=[
            (name, one_line(value)[: _COMMIT_SHOWN if name == "commit" else None])
            for name, value in (facts or {}).items()
        ],
        checkers=[_checker_row(name) for name in dict.fromkeys(report.checker for report in slice_reports)],
        meanings=_meanings(slice_reports),
        ablation=_markup(ablation_svg(slice_reports))
        if len(slice_reports) > 1 and _measured(slice_reports)
        else "",
        trends=[trend for report in slice_reports if (trend := _trends(report, history))["plots"]],
        signature=dumps(dict(signature), "the signature") if signature else "",
        cases=_script_json({"runs": [run["label"] for run in runs], "cases": cases}),
        chunks=list(shelf),
    )


def _checker_row(name: str) -> dict[str, Any]:
    """Returns a checker with how often it is wrong on data that did not train it: the span over the sets, and each set."""
    rates = error_rates(name)
    ends = list(
        dict.fromkeys(
            f"{rate.partition(' [')[0]} ({data_set})" for data_set, _, rate in (rates[:1] + rates[-1:])
        )
    )
    return {"name": name, "errors": " to ".join(ends), "rates": rates}


def render_page(template: str, **values: Any) -> str:
    """Returns the page of `template` with `values` written in, every text escaped.

    Raises:
        MissingExtra: jinja2 is not installed.
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise MissingExtra("The HTML report", "report") from error
    environment = Environment(
        loader=PackageLoader("pytest_medfaith.cards", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(**values)


def _measured(reports: Sequence[SliceReport]) -> bool:
    return any(
        metric.value is not None
        for report in reports
        for name in COLUMNS.values()
        if (metric := report.metrics.get(name))
    )


def _run_row(report: SliceReport, *, checker: bool) -> dict[str, Any]:
    """Returns what the overview shows of one slice report."""
    return {
        "label": run_label(report, checker=checker),
        "names": [report.slice, report.retriever, str(report.k), *[report.checker] * checker],
        "cells": [_cell(report.metrics.get(name)) for name in COLUMNS.values()],
        "lines": [*count_lines(report), *measured_over(report)],
        "gates": [{"outcome": gate.outcome, "text": gate_text(gate)} for gate in report.gates],
        "metrics": [
            _metric_row(name, metric, report.macro.get(name))
            for name, metric in sorted(report.metrics.items())
            if metric.value is not None
        ],
    }


def _cell(metric: MetricValue | None) -> dict[str, str]:
    return {"value": metric_text(metric), "interval": _interval(metric)}


def _interval(metric: MetricValue | None) -> str:
    if metric is None or metric.low is None or metric.high is None:
        return ""
    return f"{decimals(metric.low)} to {decimals(metric.high)}"


def _metric_row(name: str, micro: MetricValue, macro: MetricValue | None) -> list[str]:
    mean = NOTHING if macro is None or macro.value is None else decimals(macro.value, places=3)
    return [name, decimals(micro.value or 0.0, places=3), _interval(micro), mean, str(micro.n)]


def _meanings(reports: Sequence[SliceReport]) -> list[tuple[str, str]]:
    """Returns (column or name, definition) of every metric shown."""
    from pytest_medfaith.metrics.registry import METRICS

    columns = {name: column for column, name in COLUMNS.items()}
    shown = dict.fromkeys([*COLUMNS.values(), *sorted(name for report in reports for name in report.metrics)])
    meanings = {name: metric.definition for name, metric in METRICS.items()}
    for report in reports:
        meanings |= report.definitions
    return [(columns.get(name, name), meanings[name]) for name in shown if name in meanings]


def _trends(report: SliceReport, history: History) -> dict[str, Any]:
    """Returns one plot for each column whose value some earlier run of the same slice, retriever, checker and k holds."""
    earlier = [(label, old.metrics) for label, reports in history for old in reports if old.run == report.run]
    plots = []
    for column, name in COLUMNS.items():
        points = [
            (label, metrics.get(name, MetricValue(name=name, value=None)))
            for label, metrics in [*earlier, ("this run", report.metrics)]
        ]
        if earlier and any(metric.value is not None for _, metric in points):
            plots.append(_markup(trend_svg(points, title=column)))
    return {"label": run_label(report), "plots": plots}


def _markup(text: str) -> Markup:
    """Returns `text` as what the page takes as it is: a plot of `cards.plots`, which escapes every text, or `_script_json`'s."""
    try:
        from markupsafe import Markup
    except ImportError as error:
        raise MissingExtra("The HTML report", "report") from error
    return Markup(text)  # noqa: S704 - no foreign markup is left in either


def _script_json(value: object) -> Markup:
    """Returns `value` as JSON that can stand inside a script element: no `<`, `>` or `&` in it, so nothing there can end the element."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise DataError(
            f"a report cannot be written as JSON ({error}); keep finite numbers, texts, lists and objects in records"
        ) from error
    return _markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def _chunk_row(chunk: Chunk) -> dict[str, str]:
    pmid = f"PMID {chunk.pmid}" if chunk.pmid else ""
    facts = [" > ".join(chunk.section_path), chunk.source, chunk.authority or "", str(chunk.year or ""), pmid]
    return {
        "id": chunk.id,
        "title": chunk.title,
        "facts": " · ".join(filter(None, facts)),
        "url": chunk.url,
        "text": chunk.text,
    }


def _case_row(run: int, report: Report, shelf: dict[Markup, int]) -> dict[str, Any]:
    """Returns what the page shows of one case, and numbers its chunks on `shelf`, where each chunk of the run stands once.

    "contexts" are numbers on the shelf; elsewhere a chunk goes by its place among the contexts.
    """
    labels: Counter[str] = Counter(verdict.label for verdict in report.verdicts)
    response, case = report.response, report.case
    return {
        "run": run,
        "id": case.id,
        "question": case.question,
        "answer": response.answer,
        "abstained": report.abstained,
        "unsafe": sum(map(breaks_safety_rule, report.verdicts)),
        "conflicts": sum(verdict.conflict for verdict in report.verdicts),
        **{label: labels[label] for label in VERDICTS},
        "claims": [_claim_row(verdict, report) for verdict in report.verdicts],
        "cited": list(_citations(report)),
        "contexts": [
            shelf.setdefault(_script_json(_chunk_row(chunk)), len(shelf)) for chunk in response.contexts
        ],
        "gold": _gold_rows(report),
        "dropped": [
            {
                "text": piece.text,
                "reason": piece.reason,
                "span": _script_span(response.answer, piece.span),
                "dropped": True,
            }
            for piece in report.dropped
        ],
        "unchecked": decimals(report.metrics.get("unchecked_share", 0.0)),
    }


def _claim_row(verdict: Verdict, report: Report) -> dict[str, Any]:
    claim, contexts = verdict.claim, report.response.contexts
    places = {chunk.id: place for place, chunk in enumerate(contexts)}
    place = places.get(verdict.chunk_id, -1)
    return {
        "text": claim.text,
        "span": _script_span(report.response.answer, (claim.start, claim.end)),
        "label": verdict.label,
        "score": "" if verdict.label == "unscored" else decimals(verdict.score),
        "threshold": decimals(verdict.threshold),
        "reason": verdict.reason,
        "chunk": place,
        "evidence": _script_span(contexts[place].text, verdict.span) if place >= 0 else None,
        "unsafe": breaks_safety_rule(verdict),
        "conflict": verdict.conflict,
        "supporting": [places[name] for name in verdict.supporting if name in places],
        "rules": [
            _rule_row(finding, verdict, contexts[place].text if place >= 0 else "")
            for finding in verdict.findings
        ],
    }


def _rule_row(finding: Finding, verdict: Verdict, evidence: str) -> dict[str, str]:
    return {
        "rule": finding.rule,
        "message": finding.message,
        "effect": finding.effect,
        "claimed": text_at(verdict.claim.text, finding.claim_span),
        "found": text_at(evidence, finding.evidence_span)
        if finding.chunk_id in ("", verdict.chunk_id)
        else "",
    }


def _citations(report: Report) -> Iterator[dict[str, Any]]:
    """Yields the span of every citation bracket of the answer that names contexts, with their places."""
    from pytest_medfaith.claims.citations import parse_citations
    from pytest_medfaith.metrics.citations import cited_contexts

    markers: dict[tuple[int, int], list[str]] = {}
    for citation in parse_citations(report.response.answer):
        markers.setdefault((citation.start, citation.end), []).append(citation.marker)
    for span, named in markers.items():
        places = sorted(cited_contexts(named, report.response.contexts))
        if places:
            yield {"span": _script_span(report.response.answer, span), "contexts": places}


def _gold_rows(report: Report) -> list[dict[str, Any]]:
    """Returns the gold claims with whether the answer says them and a context holds them; None where nobody measured it."""
    golds, entailed = report.case.gold_claims, report.entailments
    said = entailed.answer_gold if len(entailed.answer_gold) == len(golds) else [None] * len(golds)
    held = (
        [any(row) for row in entailed.chunk_gold]
        if len(entailed.chunk_gold) == len(golds)
        else [None] * len(golds)
    )
    rows = zip(golds, said, held, strict=True)
    return [
        {"text": gold.text, "key": gold.key, "by": gold.provenance, "said": says, "held": holds}
        for gold, says, holds in rows
    ]


def _script_span(text: str, span: tuple[int, int] | None) -> list[int] | None:
    """Returns `span` in UTF-16 units, as the browser counts; None where there is none or it lies outside `text`."""
    if span is None or not 0 <= span[0] < span[1] <= len(text):
        return None
    return [len(text[:end].encode("utf-16-le", errors="surrogatepass")) // 2 for end in span]
