"""Any Hugging Face sequence classifier as a pair scorer, by model name or folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from pytest_medfaith.checking.readable import LONGEST_CLAIM
from pytest_medfaith.errors import DataError
from pytest_medfaith.models.foreign import load_foreign
from pytest_medfaith.records import LABELS

_KNOWN_WORDS = {
    "entail": (
        "entailment",
        "entail",
        "supported",
        "supports",
        "support",
        "consistent",
        "faithful",
        "factual",
    ),
    "neutral": ("neutral", "not_enough_info", "nei", "unrelated"),
    "contradict": ("contradiction", "contradict", "refuted", "refutes", "refute"),
    "not_entail": (
        "not_entailment",
        "not_entail",
        "not_supported",
        "unsupported",
        "inconsistent",
        "hallucinated",
        "non_factual",
    ),
}
_EXPECTED = (
    "'default', a model folder with config.json and safetensors, or the Hugging Face name of a sequence "
    "classifier"
)
BATCH = 16
TWO_WAY_CONTRADICT = -20.0  # the logit of what a 2-way model never says


def label_columns(id2label: Mapping[int, str], *, given: Mapping[str, str] | None = None) -> dict[str, int]:
    """Returns which output column means entail, neutral, contradict, or not_entail for a 2-way model.

    Args:
        id2label: from the model's config: column -> the label that the model gives it.
        given: the user's map from the model's labels to entail, neutral, contradict or not_entail; wins over
            guesses.

    Raises:
        DataError: labels that say nothing (LABEL_0), a map that names no column, or no column for entail.
    """
    columns: dict[str, int] = {}
    for column, label in id2label.items():
        word = (given or {}).get(label) or _meaning(label)
        if word is None:
            raise DataError(
                f"the model's label {label!r} is not known; its labels are {', '.join(id2label.values())}. "
                'Say what each means with label_map, for example {"LABEL_0" = "contradict", '
                '"LABEL_1" = "neutral", "LABEL_2" = "entail"}'
            )
        columns[word] = int(column)
    complete = set(columns) in (
        {"entail", "neutral", "contradict"},
        {"entail", "not_entail"},
        {"entail", "neutral"},
        {"entail", "contradict"},
    )
    if not complete or len(columns) != len(id2label):
        raise DataError(
            f"the label map gives {columns}; expected entail, neutral and contradict, or entail and "
            "not_entail, one column each"
        )
    return columns


def _meaning(label: str) -> str | None:
    word = label.strip().lower().replace(" ", "_").replace("-", "_")
    return next((meaning for meaning, words in _KNOWN_WORDS.items() if word in words), None)


def score_with_classifier(
    name: str, label_map: Mapping[str, str] | None, max_tokens: int, pairs: Sequence[tuple[str, str]]
) -> Any:
    """Returns logits, float32 (n, 3), of (evidence, claim) pairs under the model `name`.

    A 2-way model's second score is read as neutral: it says that the evidence does not entail, not that it
    refutes; the contradict logit is then far below the others. A claim that leaves no room for its evidence
    gives NaN.
    """
    import numpy as np

    model, tokenizer, torch = _load(name)
    columns = label_columns(model.config.id2label, given=label_map)
    max_tokens = min(max_tokens, tokenizer.model_max_length)
    lengths = [
        len(ids) for ids in tokenizer([claim for _, claim in pairs], add_special_tokens=False)["input_ids"]
    ]
    readable = [i for i, length in enumerate(lengths) if length <= LONGEST_CLAIM * max_tokens]
    logits = np.full((len(pairs), len(LABELS)), np.nan, dtype=np.float32)
    logits[readable] = TWO_WAY_CONTRADICT
    order = sorted(readable, key=lambda i: sum(map(len, pairs[i])))
    for start in range(0, len(order), BATCH):
        rows = order[start : start + BATCH]
        texts = [pairs[i] for i in rows]
        inputs = tokenizer(
            [evidence for evidence, _ in texts],
            [claim for _, claim in texts],
            truncation="only_first",
            max_length=max_tokens,
            padding=True,
            return_tensors="pt",
        )
        with torch.inference_mode():
            output = model(**inputs).logits.float().numpy()
        for word, column in columns.items():
            logits[rows, LABELS.index("neutral" if word == "not_entail" else word)] = output[:, column]
    return logits


@lru_cache(maxsize=2)
def _load(name: str) -> tuple[Any, Any, Any]:
    return load_foreign(
        name,
        f"the checker {name!r}",
        kind="AutoModelForSequenceClassification",
        expected=_EXPECTED,
        gives="its verdicts",
    )
