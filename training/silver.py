"""Checks LLM-written silver items, and measures how much a claim alone gives its label away."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import read_rows
from pytest_medfaith.records import LABELS
from training.pairs import Pair

FOLDS = 5
RUN = 9


def validate_items(path: Path) -> int:
    """Returns how many items a file holds, after checking each.

    Checked are fields, labels and the edited copy. An item holds its evidence and the edited copy; an item on
    a published text holds the edits, since the text is elsewhere.

    Raises:
        DataError: an item is malformed or repeated, or its edited copy changes no label.
    """
    seen: set[str] = set()
    count = 0
    for number, item in read_rows(path):
        place = f"{path}:{number}"
        needed = ("id",) if "edits" in item else ("id", "topic", "style", "evidence", "alt_evidence")
        _validate_texts(item, place, needed)
        if item["id"] in seen:
            raise DataError(f"{place}: id {item['id']!r} is used already; ids must be unique")
        seen.add(item["id"])
        if "edits" in item:
            _validate_edits(item, place)
        elif item["evidence"] == item["alt_evidence"]:
            raise DataError(
                f"{place}: evidence and alt_evidence of {item['id']!r} are the same text, expected an edit"
            )
        _validate_claims(item, place)
        count += 1
    return count


def validate_clusters(path: Path) -> int:
    """Returns how many clusters a file (JSON Lines) holds, after checking each; 0 for an empty file.

    A cluster has two or more texts and one or more claims. Checked are the texts, the question if there is
    one, and the labels and deciding sentences of claims.

    Raises:
        DataError: a cluster is malformed, or repeats a text of the file.
    """
    seen: set[str] = set()
    count = 0
    for number, cluster in read_rows(path):
        place = f"{path}:{number}"
        texts, claims = cluster.get("texts"), cluster.get("claims")
        if not isinstance(texts, list) or len(texts) < 2 or not isinstance(claims, list) or not claims:
            raise DataError(
                f"{place}: expected a list 'texts' of two or more, and a list 'claims' of one or more"
            )
        for text in texts:
            if not isinstance(text, dict) or not isinstance(text.get("text_crc32"), int):
                raise DataError(f"{place}: text {text!r}: expected 'id' and the number 'text_crc32'")
            _validate_texts(text, place, ("id",))
            if text["id"] in seen:
                raise DataError(
                    f"{place}: text {text['id']!r} is used already; a text belongs to one cluster"
                )
            seen.add(text["id"])
        if "question" in cluster:
            _validate_texts(cluster, place, ("question",))
        for claim in claims:
            _validate_cluster_claim(claim, place, len(texts))
        count += 1
    return count


def _validate_cluster_claim(claim: Any, place: str, texts: int) -> None:
    """Refuses a claim without a label and a list of deciding sentences for each text (DataError)."""
    if not isinstance(claim, dict):
        raise DataError(f"{place}: claim {claim!r}: expected text, labels and sentences")
    _validate_texts(claim, place, ("text",))
    labels: Any = claim.get("labels")
    sentences: Any = claim.get("sentences")
    lists = (
        isinstance(labels, list) and isinstance(sentences, list) and len(labels) == len(sentences) == texts
    )
    if not lists or any(
        (label == "neutral") == bool(deciding) for label, deciding in zip(labels, sentences, strict=True)
    ):
        raise DataError(
            f"{place}: claim {claim!r}: expected {texts} labels, "
            "and a list of deciding sentences for each, empty where neutral"
        )
    if not set(labels) <= set(LABELS):
        raise DataError(f"{place}: claim {claim!r}: expected labels among {', '.join(LABELS)}")


def _validate_texts(item: dict[str, Any], place: str, keys: Sequence[str]) -> None:
    """Refuses an item without text in the fields `keys` (DataError)."""
    for key in keys:
        if not isinstance(item.get(key), str) or not item[key].strip():
            raise DataError(f"{place}: field {key!r} is {item.get(key)!r}, expected text")


def _validate_edits(item: dict[str, Any], place: str) -> None:
    """Refuses edits that are malformed or overlap (DataError)."""
    if not isinstance(item.get("text_crc32"), int):
        raise DataError(f"{place}: field 'text_crc32' is {item.get('text_crc32')!r}, expected a number")
    spans = [(edit["start"], edit["end"]) for edit in item["edits"] if isinstance(edit.get("text"), str)]
    ordered = all(start < end for start, end in spans) and all(
        a[1] <= b[0] for a, b in itertools.pairwise(spans)
    )
    if not spans or len(spans) < len(item["edits"]) or not ordered:
        raise DataError(
            f"{place}: field 'edits' is {item['edits']!r}, "
            "expected one or more {start, end, text} in order, none in another"
        )


def _validate_claims(item: dict[str, Any], place: str) -> None:
    """Refuses malformed claims, and an item in which no claim changes its label (DataError)."""
    claims = item.get("claims")
    if not isinstance(claims, list) or not claims:
        raise DataError(f"{place}: field 'claims' is {claims!r}, expected a list of claims")
    for claim in claims:
        if (
            not isinstance(claim, dict)
            or claim.get("label") not in LABELS
            or claim.get("alt_label") not in LABELS
            or not str(claim.get("text", "")).strip()
        ):
            raise DataError(
                f"{place}: claim {claim!r}: expected text, and label and alt_label among {', '.join(LABELS)}"
            )
        if "edits" in item and not claim.get("sentences"):
            raise DataError(f"{place}: claim {claim!r}: expected the numbers of the sentences that decide it")
    if all(claim["label"] == claim["alt_label"] for claim in claims):
        raise DataError(
            f"{place}: no claim of {item['id']!r} changes its label under the edited copy, "
            "expected at least one"
        )


def word_runs(text: str) -> set[str]:
    """Returns every run of nine words in `text`, in lower case without punctuation.

    Two texts that share such a run are hardly independent.
    """
    words = re.findall(r"[a-z0-9]+", text.lower())
    return {" ".join(words[i : i + RUN]) for i in range(len(words) - RUN + 1)}


@dataclass(frozen=True)
class ClaimOnly:
    """How well labels can be guessed from claims without their evidence.

    Attributes:
        accuracy: share of labels guessed right, 0 to 1; no more than `majority` if claims give nothing away.
        majority: share of the most frequent label, 0 to 1.
        pairs: how many labels were guessed.
    """

    accuracy: float
    majority: float
    pairs: int


def claim_only_baseline(pairs: Sequence[Pair], *, seed: int = 0) -> ClaimOnly:
    """Returns how well TF-IDF and logistic regression guess labels from claims only, over five folds.

    Pairs of an item are in the same fold.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline

    pairs = random.Random(seed).sample(list(pairs), len(pairs))
    labels = [pair.label for pair in pairs]
    model = make_pipeline(
        TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True), LogisticRegression(max_iter=300)
    )
    predicted = cross_val_predict(
        model,
        [pair.claim for pair in pairs],
        labels,
        groups=[pair.group for pair in pairs],
        cv=GroupKFold(FOLDS),
    )
    right = sum(guess == label for guess, label in zip(predicted, labels, strict=True))
    return ClaimOnly(
        right / len(pairs), max(labels.count(label) for label in LABELS) / len(pairs), len(pairs)
    )
