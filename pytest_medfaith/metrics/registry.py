"""Every metric by its name, and the metric of a name with a number, such as `recall@20`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

from pytest_medfaith.metrics import (
    citations,
    claims,
    consistency,
    facts,
    latency,
    outcomes,
    ragchecker,
    relevancy,
    retrieval,
    risk,
    safety,
    severity,
)
from pytest_medfaith.metrics.audit import AUDIT_METRICS
from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.corrected import CORRECTED_METRICS

METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for family in (
        claims,
        facts,
        outcomes,
        severity,
        citations,
        safety,
        retrieval,
        ragchecker,
        latency,
        consistency,
        risk,
        relevancy,
    )
    for metric in family.METRICS
}
_OF_SLICES = {**AUDIT_METRICS, **CORRECTED_METRICS}  # no case has a value of them
_LABELS = {prefix: labels for labels, prefix in retrieval.PREFIXES.items()}
_RANKED = re.compile(rf"({'|'.join(map(re.escape, _LABELS))})({'|'.join(retrieval.RANKED_NAMES)})@([0-9]+)")


def parse_metric(name: str, declared: Mapping[str, Metric] = METRICS) -> Metric:
    """Returns the metric called `name`, such as `faithfulness`, `recall@20` or `rchunk.ndcg@10`.

    `recall@k`, with the letter, is recall at the report's k. The metric's `name` is `name`, without leading
    zeros of k.

    Args:
        name: as gates and cards write it.
        declared: the metrics by name; with those of a project as `project.declared_metrics` returns them.

    Raises:
        ValueError: no metric has that name; the message holds the most similar names.
    """
    if name in declared or name in _OF_SLICES:
        return declared.get(name) or _OF_SLICES[name]
    ranked = _RANKED.fullmatch(name)
    if ranked is None:
        raise ValueError(f"no metric is called {name!r}; {_expected(name, declared)}")
    return retrieval.ranking_metric(ranked[2], k=int(ranked[3]), labels=_LABELS[ranked[1]])


def _expected(name: str, declared: Mapping[str, Metric]) -> str:
    base, at, cut = name.lower().partition("@")
    k = cut if at and cut.isdecimal() else "10"
    spelled = {known.removesuffix("@k"): known.replace("@k", f"@{k}") for known in (*declared, *_OF_SLICES)}
    similar = [spelled[known] for known in difflib.get_close_matches(base, spelled, n=3)]
    if similar:
        return f"expected a canonical name, such as {' or '.join(map(repr, similar))}"
    return f"expected one of {', '.join(declared)}, with a number for k"
