"""Rates of claims corrected by people's labels, such as `hallucination.corrected`.

Such a rate belongs to a slice and a labels file, so reports have none. The run puts it into the slice's
metrics where the settings name `labels`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.records import VerdictLabel

SUFFIX = ".corrected"
# The label that each corrected rate counts.
COUNTED: Mapping[str, VerdictLabel] = MappingProxyType(
    {"faithfulness": "supported", "hallucination": "refuted", "unsupported": "unsupported"}
)
CORRECTED_METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        f"{name}{SUFFIX}": Metric(
            name=f"{name}{SUFFIX}",
            family="corrected",
            direction="higher" if name == "faithfulness" else "lower",
            definition=f"claims that people would label {label} / claims, estimated from labels of some "
            "claims and the verdicts on all; its n counts labels",
            source="Angelopoulos, Duchi & Zrnic 2023, PPI++, arXiv:2311.01453; "
            "Rogan & Gladen 1978, Am J Epidemiol 107(1)",
            per_case=lambda _: None,
        )
        for name, label in COUNTED.items()
    }
)
