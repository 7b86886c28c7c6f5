"""All readers of labelled pairs: {name in a recipe: function from a path to its pairs}."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from training.contrast import read_contrast
from training.pairs import (
    Pair,
    read_check_covid,
    read_evidence_inference,
    read_factcheck,
    read_fever_symmetric,
    read_labelled,
    read_mpe,
    read_scifact,
    read_snli,
    read_table,
    read_wice,
    read_written,
    read_written_beside,
    read_written_elsewhere,
    read_written_windows,
)
from training.published import read_clusters, read_crossed, read_published, read_published_elsewhere

READERS: dict[str, Callable[..., Iterable[Pair]]] = {
    "rows": read_labelled,
    "written": read_written,
    "written_windows": read_written_windows,
    "written_beside": read_written_beside,
    "written_elsewhere": read_written_elsewhere,
    "snli": read_snli,
    "mnli": partial(read_table, source="mnli", delimiter=",", columns=("premise", "hypothesis", "label")),
    "cad": partial(
        read_table, source="cad", delimiter="\t", columns=("sentence1", "sentence2", "gold_label")
    ),
    "conjnli": partial(
        read_table, source="conjnli", delimiter="\t", columns=("Premise", "Hypothesis", "Label")
    ),
    "mpe": read_mpe,
    "fever_symmetric": read_fever_symmetric,
    "factcheck": read_factcheck,
    "wice": read_wice,
    "scifact": read_scifact,
    "check_covid": read_check_covid,
    "evidence_inference": read_evidence_inference,
    "contrast": read_contrast,
    "published": read_published,
    "published_elsewhere": read_published_elsewhere,
    "crossed": read_crossed,
    "clusters": read_clusters,
}
