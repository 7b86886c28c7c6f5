"""Any Hugging Face sequence classifier as a checker's model, by its name on the hub or its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from pytest_medfaith.checking.readable import LONGEST_CLAIM
from pytest_medfaith.defaults import PAIR_ORDER, PairOrder
from pytest_medfaith.errors import DataError
from pytest_medfaith.models.foreign import load_foreign
from pytest_medfaith.models.pace import batch_size
from pytest_medfaith.records import LABELS

_KNOWN_WORDS = {
    "entail": (
        *("entailment", "entail", "entails", "entailed", "supported", "supports", "support"),
        *("consistent", "faithful", "factual", "attributable", "grounded"),
    ),
    "neutral": (
        *("neutral", "unrelated", "nei", "no_info", "noinfo", "not_enough_info", "notenoughinfo"),
        *("not_enough_information", "no_evidence", "not_enough_evidence", "unverifiable"),
    ),
    "contradict": (
        *("contradiction", "contradict", "contradicts", "contradicted", "contradictory"),
        *("refuted", "refutes", "refute"),
    ),
    "not_entail": (
        *("not_entailment", "not_entail", "non_entailment", "not_entailed", "not_supported", "unsupported"),
        *("inconsistent", "unfaithful", "hallucinated", "hallucination", "non_factual", "nonfactual"),
        *("not_attributable", "ungrounded", "not_grounded"),
    ),
}
_EXPECTED = (
    "'default', a model folder with config.json and safetensors, or the Hugging Face name of a sequence "
    "classifier"
)
TWO_WAY_CONTRADICT = -20.0  # the logit of contradict for a 2-way model, which never says it


def label_columns(id2label: Mapping[int, str], *, given: Mapping[str, str] | None = None) -> dict[str, int]:
    """Returns {"entail", "neutral", "contradict" or "not_entail": output column} of a model.

    A 3-way model has the first three, a 2-way model "entail" and a second one. A model with a single output
    has one column: "entail" or "not_entail".

    Args:
        id2label: {column: label} from the model's config.
        given: {label: meaning} of the user, where the meaning is entail, neutral, contradict or not_entail;
            it wins over guesses from the words of a label.

    Raises:
        DataError: a label says nothing (LABEL_0), a meaning has no column of its own, or no column means
            entail.
    """
    columns: dict[str, int] = {}
    for column, label in id2label.items():
        word = (given or {}).get(label) or _meaning(label)
        if word is None:
            raise DataError(_unknown_label(label, list(id2label.values())))
        columns[word] = int(column)
    complete = set(columns) in (
        {"entail", "neutral", "contradict"},
        {"entail", "not_entail"},
        {"entail", "neutral"},
        {"entail", "contradict"},
        *([{"entail"}, {"not_entail"}] if len(id2label) == 1 else []),
    )
    if not complete or len(columns) != len(id2label):
        raise DataError(
            f"the label map gives {columns}; expected entail, neutral and contradict, or entail and "
            "not_entail, one column each"
            + (", or for a single output entail or not_entail" if len(id2label) == 1 else "")
        )
    return columns


def _unknown_label(label: str, labels: Sequence[str]) -> str:
    """Returns the message on a label whose meaning is not known, with the setting that tells it."""
    if len(labels) == 1:
        return (
            f"the model has a single output, {label!r}, which does not say what it measures: a ranker and a "
            "model of similarity have such an output, too. Where its sigmoid is the probability that the "
            f'evidence entails the claim, say so with label_map = {{"{label}" = "entail"}}'
        )
    return (
        f"the model's label {label!r} is not known; its labels are {', '.join(labels)}. "
        'Say what each means with label_map, for example {"LABEL_0" = "contradict", '
        '"LABEL_1" = "neutral", "LABEL_2" = "entail"}'
    )


def _meaning(label: str) -> str | None:
    """Returns the meaning of a label by its words, "not_entail" for "Not Supported"; None for others."""
    word = label.strip().lower().replace(" ", "_").replace("-", "_")
    return next((meaning for meaning, words in _KNOWN_WORDS.items() if word in words), None)


def score_with_classifier(
    name: str,
    label_map: Mapping[str, str] | None,
    max_tokens: int,
    pairs: Sequence[tuple[str, str]],
    *,
    order: PairOrder = PAIR_ORDER,
) -> Any:
    """Returns logits, float32 (n, 3) in the order entail, neutral, contradict, of (evidence, claim) pairs.

    The second score of a 2-way model counts as neutral: it says that the evidence does not entail the claim,
    not that it refutes it. The logit of contradict is then -20. A model with a single output gives the logit
    of entail; neutral is 0, so that the softmax of both equals the sigmoid. A claim that leaves no room for
    its evidence gets NaN.

    Args:
        name: a model folder, or a name on the hub.
        label_map: the user's meanings of labels, see `label_columns`.
        max_tokens: the most tokens of a pair; the evidence is cut, never the claim.
        pairs: (evidence, claim) of each.
        order: which of the two the model was trained to read first.
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
    if len(columns) == 1:
        logits[readable, : LABELS.index("contradict")] = 0.0
    shortest_first = sorted(readable, key=lambda i: sum(map(len, pairs[i])))
    for start in range(0, len(shortest_first), batch_size()):
        rows = shortest_first[start : start + batch_size()]
        inputs = _inputs(tokenizer, [pairs[i] for i in rows], max_tokens=max_tokens, order=order)
        with torch.inference_mode():
            output = model(**inputs).logits.float().numpy()
        for word, column in columns.items():
            logits[rows, LABELS.index("neutral" if word == "not_entail" else word)] = output[:, column]
    return logits


def _inputs(
    tokenizer: Any, pairs: Sequence[tuple[str, str]], *, max_tokens: int, order: PairOrder
) -> Mapping[str, Any]:
    """Returns (evidence, claim) pairs as tensors, in the model's order; evidence is cut to fit."""
    claim_first = order == "claim-evidence"
    texts = [pair[::-1] if claim_first else pair for pair in pairs]
    inputs: Mapping[str, Any] = tokenizer(
        [first for first, _ in texts],
        [second for _, second in texts],
        truncation="only_second" if claim_first else "only_first",
        max_length=max_tokens,
        padding=True,
        return_tensors="pt",
    )
    return inputs


@lru_cache(maxsize=2)
def _load(name: str) -> tuple[Any, Any, Any]:
    """Returns (model, tokenizer, torch) of a sequence classifier; the last two are kept."""
    return load_foreign(
        name,
        f"the checker {name!r}",
        kind="AutoModelForSequenceClassification",
        expected=_EXPECTED,
        gives="its verdicts",
    )
