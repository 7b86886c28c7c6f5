"""Every metric by its canonical name, and the way from a written name back to its metric."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

from pytest_medfaith.metrics import citations, claims, latency, ragchecker, retrieval, safety
from pytest_medfaith.metrics.audit import AUDIT_METRICS
from pytest_medfaith.metrics.base import Metric

METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for family in (claims, citations, safety, retrieval, ragchecker, latency)
    for metric in family.METRICS
}
_RANKED = re.compile(rf"({re.escape(retrieval.RCHUNK_PREFIX)})?({'|'.join(retrieval.RANKED_NAMES)})@([0-9]+)")


def parse_metric(name: str) -> Metric:
    """Returns the metric called `name`, for example `faithfulness`, `ragchecker.f1`, `recall@20`, `rchunk.ndcg@10` or `audit.recall`.

    `recall@k`, with the letter, is recall at the report's own k. The metric's `name` is `name` again, but for leading zeros of k.

    Raises:
        ValueError: no metric has that name; the message holds the nearest ones.
    """
    if name in METRICS or name in AUDIT_METRICS:
        return METRICS.get(name) or AUDIT_METRICS[name]
    ranked = _RANKED.fullmatch(name)
    if ranked is None:
        raise ValueError(f"no metric is called {name!r}; {_nearest(name)}")
    return retrieval.ranking_metric(ranked[2], k=int(ranked[3]), labels="rchunk" if ranked[1] else "qrels")


def _nearest(name: str) -> str:
    base, at, cut = name.lower().partition("@")
    k = cut if at and cut.isdecimal() else "10"
    spelled = {known.removesuffix("@k"): known.replace("@k", f"@{k}") for known in (*METRICS, *AUDIT_METRICS)}
    near = [spelled[known] for known in difflib.get_close_matches(base, spelled, n=3)]
    if near:
        return f"expected a canonical name, such as {' or '.join(map(repr, near))}"
    return f"expected one of {', '.join(METRICS)}, with a number for k"
