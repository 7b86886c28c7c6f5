"""Exports a trained BERT student to int8 ONNX, node by node: one file of at most 25 MB that reads rows without padding.

The graph holds what the onnxruntime CPU runs fastest: weights in int8 per output channel, activations quantised as they come, attention
in one node, layer norms unfused, and of a classifier's last layer only the first token, which alone is read.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_medfaith.errors import DataError

MAX_BYTES = 25_000_000
_STEPS = 64  # 7 bits and a sign: with 8, CPUs that add neighbouring products in 16 bits (AVX2 without VNNI) would give other numbers
_OPSET, _IR = 17, 9
_CONTRIB = "com.microsoft"


def export_classifier(folder: Path, out: Path) -> Path:
    """Writes the sequence classifier in `folder` as int8 ONNX to `out` and returns `out`.

    Inputs input_ids, token_type_ids: int64 (n, length), rows of one length. Output logits: float32 (n, n_labels).

    Raises:
        DataError: `folder` holds no BERT classifier.
        ValueError: the file would be larger than 25 MB.
    """
    from transformers import AutoModelForSequenceClassification

    model = AutoModelForSequenceClassification.from_pretrained(_bert(folder))
    graph = _Graph(_arrays(model))
    first = graph.squeezed(_encoder(graph, "bert.", model.config, only_first=True))
    pooled = graph.add("Tanh", [graph.dense(first, "bert.pooler.dense")], "pooled")
    return _write(graph, graph.dense(pooled, "classifier"), out, output="logits", width=model.config.num_labels)


def export_encoder(folder: Path, out: Path) -> Path:
    """Writes the sentence encoder in `folder` as int8 ONNX to `out` and returns `out`.

    Inputs as of `export_classifier`. Output embedding: float32 (n, width), the mean of the token vectors, scaled to length 1.

    Raises:
        DataError: `folder` holds no BERT model.
        ValueError: the file would be larger than 25 MB.
    """
    from transformers import AutoModel

    model = AutoModel.from_pretrained(_bert(folder), add_pooling_layer=False)
    graph = _Graph(_arrays(model))
    mean = graph.add("ReduceMean", [_encoder(graph, "", model.config, only_first=False)], "mean", axes=[1], keepdims=0)
    unit = graph.add("LpNormalization", [mean], "unit", axis=-1, p=2)
    return _write(graph, unit, out, output="embedding", width=model.config.hidden_size)


def _bert(folder: Path) -> Path:
    from transformers import AutoConfig

    try:
        kind = AutoConfig.from_pretrained(folder).model_type
    except (OSError, ValueError) as error:
        raise DataError(f"{folder}: no model can be read there ({error})") from error
    if kind != "bert":
        raise DataError(f"{folder}: a model of type {kind!r}; students are of type 'bert', and only they are exported")
    return folder


def _arrays(model: Any) -> dict[str, Any]:
    return {name: tensor.detach().float().numpy() for name, tensor in model.state_dict().items()}


@dataclass
class _Graph:
    """Nodes and constants of an ONNX graph in the making; a tensor is known by its name."""

    weights: dict[str, Any]  # of the torch model, by its names
    nodes: list[Any] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)

    def add(self, kind: str, inputs: list[str], output: str, *, domain: str = "", **attributes: Any) -> str:
        """Adds a node with one output and returns that."""
        return self.add_many(kind, inputs, [output], domain=domain, **attributes)[0]

    def add_many(self, kind: str, inputs: list[str], outputs: list[str], *, domain: str = "", **attributes: Any) -> list[str]:
        """Adds a node and returns its outputs."""
        import onnx

        self.nodes.append(onnx.helper.make_node(kind, inputs, outputs, name=outputs[0], domain=domain, **attributes))
        return outputs

    def constant(self, name: str, value: Any) -> str:
        """Keeps `value` as a constant and returns `name`."""
        import numpy as np
        import onnx

        self.constants[name] = onnx.numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def whole_numbers(self, *values: int) -> str:
        """Returns a constant of int64 `values`."""
        import numpy as np

        return self.constant("int64_" + "_".join(map(str, values)), np.array(values, dtype=np.int64))

    def embedded(self, ids: str, name: str) -> str:
        """Returns the rows `ids` of the table `name`, kept in 8 bits with one scale a row."""
        import numpy as np
        import onnx

        table = self.weights[name + ".weight"]
        scales = _scales(table, axis=1, steps=127)
        rows = self.add("Gather", [self.constant(name + ".int8", np.round(table / scales).astype(np.int8)), ids], name + ".rows")
        own = self.add("Gather", [self.constant(name + ".scales", scales), ids], name + ".row_scales")
        return self.add("Mul", [self.add("Cast", [rows], name + ".float", to=onnx.TensorProto.FLOAT), own], name)

    def projected(self, x: str, *names: str) -> str:
        """Returns x W + b under the weights of the layers `names`, side by side; int8 per channel, x quantised as it comes."""
        import numpy as np

        weight = np.concatenate([self.weights[name + ".weight"] for name in names]).T
        scales = _scales(weight, axis=0, steps=_STEPS)
        parts = [
            self.constant(names[0] + ".int8", np.round(weight / scales).astype(np.int8)),
            self.constant(names[0] + ".scales", scales.ravel()),
            "",  # zero points: none, the weights are symmetric
            self.constant(names[0] + ".bias", np.concatenate([self.weights[name + ".bias"] for name in names])),
        ]
        return self.add("DynamicQuantizeMatMul", [x, *parts], names[0], domain=_CONTRIB)

    def dense(self, x: str, name: str) -> str:
        """Returns x W + b in float32, for the small layers at the end."""
        weight = self.constant(name + ".weight", self.weights[name + ".weight"])
        return self.add("Gemm", [x, weight, self.constant(name + ".bias", self.weights[name + ".bias"])], name, transB=1)

    def normed(self, a: str, b: str, name: str, *, epsilon: float) -> str:
        """Returns the layer norm of a + b."""
        weights = [self.constant(f"{name}.{part}", self.weights[f"{name}.{part}"]) for part in ("weight", "bias")]
        return self.add("LayerNormalization", [self.add("Add", [a, b], name + ".sum"), *weights], name, axis=-1, epsilon=epsilon)

    def first(self, x: str, name: str) -> str:
        """Returns the first token of every row: (n, 1, width)."""
        return self.add("Slice", [x, self.whole_numbers(0), self.whole_numbers(1), self.whole_numbers(1)], name)

    def squeezed(self, x: str) -> str:
        """Returns x (n, 1, width) as (n, width)."""
        return self.add("Squeeze", [x, self.whole_numbers(1)], "first")


def _scales(weight: Any, *, axis: int, steps: int) -> Any:
    """Returns what one step is worth along `axis`, so that the largest weight takes `steps` of them."""
    import numpy as np

    largest = np.abs(weight).max(axis=axis, keepdims=True)
    return np.where(largest > 0, largest / steps, 1).astype(np.float32)


def _encoder(graph: _Graph, prefix: str, config: Any, *, only_first: bool) -> str:
    """Adds a BERT encoder and returns its last hidden states: (n, length, width), or (n, 1, width) of the first tokens."""
    table = prefix + "embeddings."
    words, types = (
        graph.embedded(ids, table + name) for ids, name in (("input_ids", "word_embeddings"), ("token_type_ids", "token_type_embeddings"))
    )
    length = graph.add("Shape", ["input_ids"], "length", start=1, end=2)
    every = graph.constant(table + "position_embeddings", graph.weights[table + "position_embeddings.weight"])
    places = graph.add("Slice", [every, graph.whole_numbers(0), length, graph.whole_numbers(0)], "places")
    x = graph.normed(graph.add("Add", [words, types], "words_and_types"), places, table + "LayerNorm", epsilon=config.layer_norm_eps)
    for number in range(config.num_hidden_layers):
        x = _layer(graph, x, f"{prefix}encoder.layer.{number}.", config, only_first=only_first and number == config.num_hidden_layers - 1)
    return x


def _layer(graph: _Graph, x: str, layer: str, config: Any, *, only_first: bool) -> str:
    own = layer + "attention.self."
    width = config.hidden_size
    if only_first:
        both = graph.projected(x, own + "key", own + "value")
        key, value = graph.add_many("Split", [both, graph.whole_numbers(width, width)], [own + "k", own + "v"], axis=-1)
        x = graph.first(x, layer + "first")
        query = graph.projected(x, own + "query")
    else:
        all_three = graph.projected(x, own + "query", own + "key", own + "value")
        names = [own + "q", own + "k", own + "v"]
        query, key, value = graph.add_many("Split", [all_three, graph.whole_numbers(width, width, width)], names, axis=-1)
    heads = config.num_attention_heads
    seen = graph.add("MultiHeadAttention", [query, key, value], own + "seen", domain=_CONTRIB, num_heads=heads)
    seen = graph.projected(seen, layer + "attention.output.dense")
    x = graph.normed(seen, x, layer + "attention.output.LayerNorm", epsilon=config.layer_norm_eps)
    wide = graph.add("Gelu", [graph.projected(x, layer + "intermediate.dense")], layer + "gelu", domain=_CONTRIB)
    return graph.normed(graph.projected(wide, layer + "output.dense"), x, layer + "output.LayerNorm", epsilon=config.layer_norm_eps)


def _write(graph: _Graph, result: str, out: Path, *, output: str, width: int) -> Path:
    """Writes the graph whose tensor `result` is its only output, whole or not at all."""
    import onnx

    graph.add("Identity", [result], output)
    info = onnx.helper.make_tensor_value_info
    inputs = [info(name, onnx.TensorProto.INT64, ["n", "length"]) for name in ("input_ids", "token_type_ids")]
    outputs = [info(output, onnx.TensorProto.FLOAT, ["n", width])]
    built = onnx.helper.make_graph(graph.nodes, "student", inputs, outputs, list(graph.constants.values()))
    opsets = [onnx.helper.make_opsetid("", _OPSET), onnx.helper.make_opsetid(_CONTRIB, 1)]
    content = onnx.helper.make_model(built, opset_imports=opsets, ir_version=_IR).SerializeToString()
    if len(content) > MAX_BYTES:
        raise ValueError(f"{out.name} would be {len(content)} bytes, more than the {MAX_BYTES} that a wheel should carry")
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = out.with_suffix(".part")
    partial.write_bytes(content)
    os.replace(partial, out)
    return out
