"""Turns an exported int8 classifier, MPNet or BERT, back into fp32 weights, so that training can go on.

A training's checkpoint of 1.3 GB is not kept, but the export is in the repository. What is lost are the
digits that the export rounds away (7 bits stay), and the optimizer's state.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_medfaith.errors import DataError
from pytest_medfaith.records import LABELS

_TOGETHER = {  # projections that the export keeps side by side
    "attention.attn.q": ("attn.q", "attn.k", "attn.v"),
    "attention.attn.k": ("attn.k", "attn.v"),
    "attention.self.query": ("self.query", "self.key", "self.value"),
    "attention.self.key": ("self.key", "self.value"),
}


def restore_classifier(exported: Path, base: Path, out: Path) -> Path:
    """Writes the classifier in the folder `exported` as an fp32 model folder to `out`, and returns `out`.

    Args:
        exported: folder with model.onnx and its files of weights, from `export_classifier`.
        base: folder of the base model, for configuration and tokenizer; all its weights are replaced.
        out: folder to write; it must not exist.

    Raises:
        DataError: the export lacks the weights of a parameter, or they have another shape.
    """
    import onnx
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    from training.student import save_student

    kept = {
        tensor.name: onnx.numpy_helper.to_array(tensor)
        for tensor in onnx.load(exported / "model.onnx").graph.initializer
    }
    names = dict(enumerate(LABELS))
    model = AutoModelForSequenceClassification.from_pretrained(
        base, num_labels=len(LABELS), id2label=names, label2id={label: i for i, label in names.items()}
    )
    weights = _weights(kept, model.config)
    state = model.state_dict()
    for name, old in state.items():
        if name not in weights:
            raise DataError(f"{exported}: holds no weights for {name!r}")
        new = torch.from_numpy(weights[name].copy())
        if new.shape != old.shape:
            raise DataError(
                f"{exported}: {name!r} has the shape {tuple(new.shape)}, expected {tuple(old.shape)}"
            )
        state[name] = new
    model.load_state_dict(state)
    return save_student(model, AutoTokenizer.from_pretrained(base), out)


def _weights(kept: dict[str, Any], config: Any) -> dict[str, Any]:
    """Returns {name in torch: weights} from the constants of the exported graph."""
    import numpy as np

    weights: dict[str, Any] = {}
    for name, value in kept.items():
        stem, _, kind = name.rpartition(".")
        if kind == "int8":
            rows = stem.endswith("embeddings")
            scales = kept[stem + ".scales"]
            floats = value.astype(np.float32) * scales
            if stem + ".channels" in kept:
                floats[kept[stem + ".channels"]] = kept[stem + ".float"]
            if rows:
                weights[stem + ".weight"] = floats
            else:
                weights |= _projections(stem, floats.T, kept[stem + ".bias"], config.hidden_size)
        elif kind in ("weight", "bias") and stem + ".int8" not in kept:
            weights[name] = value
    table = f"{config.model_type}.embeddings.position_embeddings"
    weights.pop(table, None)
    if config.model_type == "mpnet":
        # Rows before the first position are never read.
        unused = np.zeros((config.pad_token_id + 1, config.hidden_size), dtype=np.float32)
        weights[table + ".weight"] = np.concatenate([unused, kept[table]])
        weights["mpnet.encoder.relative_attention_bias.weight"] = _buckets(kept["distance.table"], config)
    else:
        weights[table + ".weight"] = kept[table]
    return weights


def _projections(stem: str, weight: Any, bias: Any, width: int) -> dict[str, Any]:
    """Returns {name: weights} of layers that the export joined under the name of the first of them."""
    for ending, parts in _TOGETHER.items():
        if stem.endswith(ending) and len(weight) > width:
            layer = stem[: -len(ending)] + "attention."
            named = [(layer + part, slice(i * width, (i + 1) * width)) for i, part in enumerate(parts)]
            return {
                f"{name}.{kind}": each[rows]
                for name, rows in named
                for kind, each in (("weight", weight), ("bias", bias))
            }
    return {stem + ".weight": weight, stem + ".bias": bias}


def _buckets(table: Any, config: Any) -> Any:
    """Returns the bias of each bucket of distances, read from the bias of each distance."""
    import numpy as np
    import torch
    from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

    longest = (len(table) + 1) // 2
    bucket_of: Any = MPNetEncoder.relative_position_bucket
    buckets = bucket_of(
        torch.arange(-(longest - 1), longest), num_buckets=config.relative_attention_num_buckets
    ).numpy()
    found = np.zeros((config.relative_attention_num_buckets, table.shape[1]), dtype=np.float32)
    found[buckets] = table
    return found
