"""The report as an HTML file that opens without a server and asks nothing of the network.

The browser draws the table of cases from JSON inside the page. Foreign texts cannot become markup: jinja2
escapes what it writes, the JSON holds no `<`, and the script writes text nodes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_medfaith.cards.ablation_card import ablation_rows, ablations_svg
from pytest_medfaith.cards.citations import citation_text
from pytest_medfaith.cards.explanation import text_at
from pytest_medfaith.cards.facts import error_rates
from pytest_medfaith.cards.history import History
from pytest_medfaith.cards.json_card import dumps
from pytest_medfaith.cards.page_data import KeptChunks, chunk_row, markup_of, script_json, script_span
from pytest_medfaith.cards.plots import ablation_svg, trend_svg
from pytest_medfaith.cards.summary import (
    card_columns,
    card_header,
    card_metric,
    card_names,
    count_lines,
    gate_tally,
    gate_text,
    many_checkers,
    measured_over,
    run_label,
)
from pytest_medfaith.cards.wording import NOTHING, decimals, has_value, metric_text, told_verdicts
from pytest_medfaith.errors import MissingExtra
from pytest_medfaith.metrics.citations import is_miscited
from pytest_medfaith.metrics.facts import MAJOR_OMITTED, fact_counts, fact_states
from pytest_medfaith.metrics.outcomes import WRONG
from pytest_medfaith.metrics.safety import breaks_safety_rule
from pytest_medfaith.metrics.severity import is_major
from pytest_medfaith.plain import one_line
from pytest_medfaith.records import Finding, MetricValue, Report, SliceReport, Verdict

if TYPE_CHECKING:
    from markupsafe import Markup

    from pytest_medfaith.metrics.differences import Ablation

_COMMIT_SHOWN = 12  # digits


def html_report(
    slice_reports: Sequence[SliceReport],
    *,
    history: History = (),
    signature: Mapping[str, Any] | None = None,
    facts: Mapping[str, str] | None = None,
    ablations: Sequence[Ablation] = (),
) -> str:
    """Returns the page: card, gates, trend, and every case with its claims beside their evidence.

    Arguments and errors are those of `html_pieces`.
    """
    told = html_pieces(slice_reports, history=history, signature=signature, facts=facts, ablations=ablations)
    return "".join(told)


def html_pieces(
    slice_reports: Sequence[SliceReport],
    *,
    history: History = (),
    signature: Mapping[str, Any] | None = None,
    facts: Mapping[str, str] | None = None,
    ablations: Sequence[Ablation] = (),
) -> Iterator[str]:
    """Yields the page in pieces; no piece holds more than a case or a chunk.

    Args:
        slice_reports: the run.
        history: (label, slice reports) of earlier runs, the oldest first; only their metrics are read.
        signature: all that decided the numbers, shown as it is.
        facts: date, project and commit of the run, for the head of the page.
        ablations: rows that were asked for together, each compared with the first.

    Raises:
        MissingExtra: jinja2 is not installed.
        DataError: a value that is not finite.
    """
    runs = [_run_row(report, slice_reports) for report in slice_reports]
    chunks = KeptChunks()
    facts = {name: one_line(value) for name, value in (facts or {}).items()}
    yield from _page(
        "report.html.j2",
        tally=gate_tally(slice_reports),
        header=card_header(slice_reports),
        runs=runs,
        facts=[(name, value[: _COMMIT_SHOWN if name == "commit" else None]) for name, value in facts.items()],
        checkers=[_checker_row(name) for name in dict.fromkeys(report.checker for report in slice_reports)],
        meanings=_meanings(slice_reports),
        **_side_by_side(slice_reports, ablations),
        trends=[trend for report in slice_reports if (trend := _trends(report, history))["plots"]],
        signature=dumps(dict(signature), "the signature") if signature else "",
        cases=_cases_pieces([run["label"] for run in runs], slice_reports, chunks),
        chunks=chunks,  # behind the cases, which fill it
    )


def _cases_pieces(
    labels: Sequence[str], slice_reports: Sequence[SliceReport], chunks: KeptChunks
) -> Iterator[Markup]:
    """Yields the JSON of all cases; their chunks are added to `chunks`."""
    yield markup_of(f'{{"runs":{script_json(labels)},"cases":[')
    between = ""
    for place, report in enumerate(slice_reports):
        for one in report.reports:
            yield markup_of(f"{between}{script_json(_case_row(place, one, chunks))}")
            between = ","
    yield markup_of("]}")


def _side_by_side(slice_reports: Sequence[SliceReport], ablations: Sequence[Ablation]) -> dict[str, Any]:
    """Returns what the page shows of rows side by side: a plot of all, and the tables of ablations."""
    columns = card_columns(slice_reports)
    measured = any(
        has_value(report.metrics.get(name)) for report in slice_reports for name in columns.values()
    )
    plotted = measured and len(slice_reports) > 1
    return {
        "ablation": markup_of(ablation_svg(slice_reports, metrics=columns)) if plotted else "",
        "compared": [ablation_rows(one) for one in ablations],
        "differences": markup_of(ablations_svg(ablations)) if ablations else "",
    }


def _checker_row(name: str) -> dict[str, Any]:
    """Returns a checker's name with its error rates on data that did not train it."""
    rates = error_rates(name)
    ends = [f"{rate.partition(' [')[0]} ({data_set})" for data_set, _, rate in (rates[:1] + rates[-1:])]
    return {"name": name, "errors": " to ".join(dict.fromkeys(ends)), "rates": rates}


def render_page(template: str, **values: Any) -> str:
    """Returns the page that the jinja2 template `template` makes of `values`; every text is escaped.

    Raises:
        MissingExtra: jinja2 is not installed.
    """
    return "".join(_page(template, **values))


def _page(template: str, **values: Any) -> Iterator[str]:
    """Yields what `render_page` returns, in pieces; an iterator among the values is read once."""
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
    yield from environment.get_template(template).generate(**values)


def _run_row(report: SliceReport, slice_reports: Sequence[SliceReport]) -> dict[str, Any]:
    """Returns what the overview shows of a slice report among all of them."""
    shown = [card_metric(report, name) for name in card_columns(slice_reports).values()]
    metrics = []
    for name, micro in sorted(report.metrics.items()):
        if micro.value is not None:
            macro = report.macro.get(name)
            mean = NOTHING if macro is None or macro.value is None else decimals(macro.value, places=3)
            value = decimals(micro.value, places=3)
            metrics.append([name, value, _interval(micro), mean, str(micro.n)])
    return {
        "label": run_label(report, checker=many_checkers(slice_reports)),
        "names": list(card_names(report, slice_reports).values()),
        "cells": [{"value": metric_text(metric), "interval": _interval(metric)} for metric in shown],
        "lines": [*count_lines(report), *measured_over(report)],
        "gates": [{"outcome": gate.outcome, "text": gate_text(gate)} for gate in report.gates],
        "metrics": metrics,
    }


def _interval(metric: MetricValue | None) -> str:
    if metric is None or metric.low is None or metric.high is None:
        return ""
    return f"{decimals(metric.low)} to {decimals(metric.high)}"


def _meanings(slice_reports: Sequence[SliceReport]) -> list[tuple[str, str]]:
    """Returns (column or name, definition) of every metric that the page shows."""
    from pytest_medfaith.metrics.registry import METRICS

    columns = {name: column for column, name in card_columns(slice_reports).items()}
    measured = sorted(name for report in slice_reports for name in report.metrics)
    shown = dict.fromkeys([*columns, *measured])
    meanings = {name: metric.definition for name, metric in METRICS.items()}
    for report in slice_reports:
        meanings |= report.definitions
    return [(columns.get(name, name), meanings[name]) for name in shown if name in meanings]


def _trends(report: SliceReport, history: History) -> dict[str, Any]:
    """Returns plots of a row's metrics over the runs of `history`; none without an earlier run."""
    earlier = [(label, old.metrics) for label, reports in history for old in reports if old.run == report.run]
    plots = []
    for column, name in card_columns([report]).items():
        points = [
            (label, metrics.get(name, MetricValue(name=name, value=None)))
            for label, metrics in [*earlier, ("this run", report.metrics)]
        ]
        if earlier and any(metric.value is not None for _, metric in points):
            plots.append(markup_of(trend_svg(points, title=column)))
    return {"label": run_label(report), "plots": plots}


def case_view(report: Report) -> dict[str, Any]:
    """Returns what a page shows of one checked answer, with its contexts under "chunks"."""
    chunks = KeptChunks()
    row = _case_row(0, report, chunks)
    return {**row, "chunks": [json.loads(text) for text in chunks]}


def _case_row(run: int, report: Report, chunks: KeptChunks) -> dict[str, Any]:
    """Returns what the page shows of a case; its contexts go into `chunks`, each once.

    "contexts" holds their numbers there; elsewhere a context goes by its place in "contexts".
    """
    labels: Counter[str] = Counter(verdict.label for verdict in report.verdicts)
    response, case = report.response, report.case
    shown = response.contexts if report.has_answer else [hit.chunk for hit in report.hits]
    return {
        "run": run,
        "id": case.id,
        "question": case.question,
        "turns": [[str(turn.get("role", "")), str(turn.get("content", ""))] for turn in case.history],
        "answer": response.answer,
        "abstained": report.abstained,
        "outcome": (report.outcome or "").replace("_", " "),
        "wrong": report.outcome in WRONG,
        "omitted": fact_counts([report]).get(MAJOR_OMITTED, 0),
        "risk": _risk_text(report),
        "unsafe": sum(map(breaks_safety_rule, report.verdicts)),
        "major": sum(map(is_major, report.verdicts)),
        "conflicts": sum(verdict.conflict for verdict in report.verdicts),
        "miscited": sum(is_miscited(verdict) for verdict in report.verdicts),
        **{label: labels[label] for label in told_verdicts([report])},
        "claims": [_claim_row(verdict, report) for verdict in report.verdicts],
        "cited": list(_citations(report)),
        "contexts": [chunks.number(script_json(chunk_row(chunk))) for chunk in shown],
        "gold": _gold_rows(report),
        "dropped": [
            {
                "text": piece.text,
                "reason": piece.reason,
                "span": script_span(response.answer, piece.span),
                "dropped": True,
            }
            for piece in report.dropped
        ],
        "unchecked": decimals(report.metrics.get("unchecked_share", 0.0)),
    }


def _risk_text(report: Report) -> str:
    """Returns `HIGH risk 1.00: retrieval 0.10, critic 1.00; by the rule future`; "" for no risk."""
    risk = report.risk
    if not risk:
        return ""
    parts = ", ".join(f"{name} {decimals(value)}" for name, value in risk.get("parts", {}).items())
    rules = f"; by the rule {', '.join(risk['overrides'])}" if risk.get("overrides") else ""
    return f"{risk['flag']} risk {decimals(risk['score'])}: {parts}{rules}"


def _claim_row(verdict: Verdict, report: Report) -> dict[str, Any]:
    """Returns what the page shows of a claim; "chunk" is the place of the deciding context, -1 for none."""
    claim, contexts = verdict.claim, report.response.contexts
    places = {chunk.id: place for place, chunk in enumerate(contexts)}
    place = places.get(verdict.chunk_id, -1)
    evidence = contexts[place].text if place >= 0 else ""
    return {
        "text": claim.text,
        "span": script_span(report.response.answer, (claim.start, claim.end)),
        "label": verdict.label,
        "score": "" if verdict.label == "unscored" else decimals(verdict.score),
        "threshold": decimals(verdict.threshold),
        "reason": verdict.reason,
        "chunk": place,
        "evidence": script_span(evidence, verdict.span),
        "unsafe": breaks_safety_rule(verdict),
        "major": is_major(verdict),
        "severity": str(verdict.severity or ""),
        "conflict": verdict.conflict,
        "citation": verdict.attribution.status if verdict.attribution else "",
        "citationTold": citation_text(verdict, report),
        "supporting": [places[name] for name in verdict.supporting if name in places],
        "rules": [_rule_row(finding, verdict, evidence) for finding in verdict.findings],
    }


def _rule_row(finding: Finding, verdict: Verdict, evidence: str) -> dict[str, str]:
    in_evidence = finding.chunk_id in ("", verdict.chunk_id)
    return {
        "rule": finding.rule,
        "message": finding.message,
        "effect": finding.effect,
        "claimed": text_at(verdict.claim.text, finding.claim_span),
        "found": text_at(evidence, finding.evidence_span) if in_evidence else "",
    }


def _citations(report: Report) -> Iterator[dict[str, Any]]:
    """Yields the span of each citation bracket of the answer that names contexts, and their places."""
    from pytest_medfaith.claims.citations import parse_citations
    from pytest_medfaith.metrics.citations import cited_contexts

    if report.contexts_mode != "recorded":  # "[1]" counts contexts that are not shown
        return
    markers: dict[tuple[int, int], list[str]] = {}
    meant = {
        marker: names
        for verdict in report.verdicts
        if verdict.attribution
        for marker, names in verdict.attribution.cited.items()
    }
    for citation in parse_citations(report.response.answer, report.response.contexts):
        markers.setdefault((citation.start, citation.end), []).append(citation.marker)
    for span, named in markers.items():
        pointed = [name for marker in named for name in meant.get(marker, (marker,))]
        places = sorted(cited_contexts(pointed, report.response.contexts))
        if places:
            yield {"span": script_span(report.response.answer, span), "contexts": places}


def _gold_rows(report: Report) -> list[dict[str, Any]]:
    """Returns the gold claims; "said" (by the answer) and "held" (by a context) are None if unmeasured."""
    golds, entailed = report.case.gold_claims, report.entailments
    unknown = [None] * len(golds)
    said = entailed.answer_gold if len(entailed.answer_gold) == len(golds) else unknown
    held = list(map(any, entailed.chunk_gold)) if len(entailed.chunk_gold) == len(golds) else unknown
    states = (fact_states(report) if report.has_answer else None) or unknown
    if golds and not report.has_answer:
        said_by = [report.retrieval.gold.get(hit.chunk.id, ()) for hit in report.hits]
        held = [any(said[place] for said in said_by if said) for place in range(len(golds))]
    return [
        {
            "text": gold.text,
            "key": gold.key,
            "by": gold.provenance,
            "said": says,
            "held": holds,
            "major": gold.severity == "major",
            "contradicted": state == "contradicted",
        }
        for gold, says, holds, state in zip(golds, said, held, states, strict=True)
    ]
