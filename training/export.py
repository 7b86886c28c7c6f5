"""Exports a trained BERT or MPNet model to int8 ONNX, node by node, in files below 100 MB.

The graph holds what onnxruntime computes fastest on a CPU: 8-bit weights with a scale for each output
channel, activations quantised as they come, attention in one node, layer norms unfused. Of a classifier's
last layer it computes only the first token, since only that is read. Rows must have no padding. MPNet's
relative position bias is an input of the attention node, because the fusion that onnxruntime offers for such
models drops it.

A few channels of a transformer's activations are twenty times as large as the rest. With 8 bits for all
channels the smaller ones would have a handful of steps left. Where the ranges of activations are given, the
large channels are therefore multiplied in float32, beside the 8-bit product (Dettmers, Lewis, Belkada &
Zettlemoyer 2022, "LLM.int8()").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_medfaith.errors import DataError
from training.onnx_files import CONTRIB, write_graph
from training.outliers import outlying

# Steps on each side of zero: 7 bits and a sign. With 8 bits the product would differ on CPUs that add
# neighbouring products in 16 bits (AVX2 without VNNI).
_STEPS = 64


def export_classifier(folder: Path, out: Path, *, ranges: Mapping[str, Any] | None = None) -> Path:
    """Writes the sequence classifier in `folder` as int8 ONNX to the file `out`, and returns `out`.

    Inputs are input_ids and, for BERT, token_type_ids: int64 (n, length), all rows equally long. The output
    is logits: float32 (n, n_labels). A model of more than 30 MB keeps its weights beside `out`, in
    `layers.bin` and `embeddings.bin`.

    Args:
        folder: model folder of transformers.
        out: file to write.
        ranges: {layer: largest absolute value of each input channel}, from `activation_ranges`; None keeps
            all channels in 8 bits.

    Raises:
        DataError: `folder` holds no BERT or MPNet classifier.
        ValueError: a file would be larger than 99 MB.
    """
    from transformers import AutoModelForSequenceClassification

    kind = _kind(folder, "bert", "mpnet")
    parts = _ARCHITECTURES[kind]
    model = AutoModelForSequenceClassification.from_pretrained(folder)
    graph = _Graph(_arrays(model), ranges=ranges or {})
    first = graph.squeezed(_encoder(graph, f"{kind}.", model.config, parts, only_first=True))
    inner, last = parts.head
    pooled = graph.add("Tanh", [graph.dense(first, inner)], "pooled")
    logits, width = graph.dense(pooled, last), model.config.num_labels
    return write_graph(graph, logits, out, inputs=list(parts.inputs), output="logits", shape=["n", width])


def export_tagger(folder: Path, out: Path) -> Path:
    """Writes the token classifier in `folder` as int8 ONNX to the file `out`, and returns `out`.

    Inputs are those of `export_classifier`. The output is logits: float32 (n, length, n_labels).

    Raises:
        DataError: `folder` holds no BERT or MPNet model.
        ValueError: a file would be larger than 99 MB.
    """
    from transformers import AutoModelForTokenClassification

    kind = _kind(folder, "bert", "mpnet")
    parts = _ARCHITECTURES[kind]
    model = AutoModelForTokenClassification.from_pretrained(folder)
    graph = _Graph(_arrays(model))
    states = _encoder(graph, f"{kind}.", model.config, parts, only_first=False)
    weight = graph.constant("classifier.weight", graph.weights["classifier.weight"].T)
    bias = graph.constant("classifier.bias", graph.weights["classifier.bias"])
    logits = graph.add("Add", [graph.add("MatMul", [states, weight], "classified"), bias], "tags")
    shape = ["n", "length", model.config.num_labels]
    return write_graph(graph, logits, out, inputs=list(parts.inputs), output="logits", shape=shape)


def export_encoder(folder: Path, out: Path) -> Path:
    """Writes the sentence encoder in `folder` as int8 ONNX to the file `out`, and returns `out`.

    Inputs are those of `export_classifier`. The output is embedding: float32 (n, width), the mean of the
    token vectors, scaled to length 1.

    Raises:
        DataError: `folder` holds no BERT model.
        ValueError: a file would be larger than 99 MB.
    """
    from transformers import AutoModel

    _kind(folder, "bert")
    model = AutoModel.from_pretrained(folder, add_pooling_layer=False)
    graph = _Graph(_arrays(model))
    states = _encoder(graph, "", model.config, _BERT, only_first=False)
    mean = graph.add("ReduceMean", [states], "mean", axes=[1], keepdims=0)
    unit = graph.add("LpNormalization", [mean], "unit", axis=-1, p=2)
    width = model.config.hidden_size
    return write_graph(graph, unit, out, inputs=list(_BERT.inputs), output="embedding", shape=["n", width])


def _kind(folder: Path, *known: str) -> str:
    """Returns the architecture of the model in `folder`, such as "bert".

    Raises:
        DataError: there is no model, or its architecture is not in `known`.
    """
    from transformers import AutoConfig

    try:
        kind = AutoConfig.from_pretrained(folder).model_type
    except (OSError, ValueError) as error:
        raise DataError(f"{folder}: no model can be read there ({error})") from error
    if kind not in known:
        raise DataError(
            f"{folder}: a model of type {kind!r}; only models of type {' or '.join(known)} are exported here"
        )
    return str(kind)


def _arrays(model: Any) -> dict[str, Any]:
    """Returns {name: weights as float32 array} of a torch model."""
    return {name: tensor.detach().float().numpy() for name, tensor in model.state_dict().items()}


@dataclass
class _Graph:
    """An ONNX graph that is being built; tensors are referred to by name.

    Attributes:
        weights: {name: array} of the torch model.
        ranges: {layer: largest absolute value of each input channel}.
        nodes: of the graph so far.
        constants: {name: tensor} of the graph so far.
    """

    weights: dict[str, Any]
    ranges: Mapping[str, Any] = field(default_factory=dict)
    nodes: list[Any] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)

    def add(self, kind: str, inputs: list[str], output: str, *, domain: str = "", **attributes: Any) -> str:
        """Adds a node with a single output, and returns the output's name."""
        return self.add_many(kind, inputs, [output], domain=domain, **attributes)[0]

    def add_many(
        self, kind: str, inputs: list[str], outputs: list[str], *, domain: str = "", **attributes: Any
    ) -> list[str]:
        """Adds a node and returns the names of its outputs."""
        import onnx

        self.nodes.append(
            onnx.helper.make_node(kind, inputs, outputs, name=outputs[0], domain=domain, **attributes)
        )
        return outputs

    def constant(self, name: str, value: Any) -> str:
        """Adds `value` as a constant called `name`, and returns `name`."""
        import numpy as np
        import onnx

        self.constants[name] = onnx.numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def whole_numbers(self, *values: int) -> str:
        """Adds a constant of int64 `values`, and returns its name."""
        import numpy as np

        return self.constant("int64_" + "_".join(map(str, values)), np.array(values, dtype=np.int64))

    def embedded(self, ids: str, name: str) -> str:
        """Adds the look-up of rows `ids` in the table `name`, kept in 8 bits with a scale for each row."""
        import numpy as np
        import onnx

        table = self.weights[name + ".weight"]
        scales = _scales(table, axis=1, steps=127)
        int8 = self.constant(name + ".int8", np.round(table / scales).astype(np.int8))
        rows = self.add("Gather", [int8, ids], name + ".rows")
        scales_of_rows = self.add(
            "Gather", [self.constant(name + ".scales", scales), ids], name + ".row_scales"
        )
        floats = self.add("Cast", [rows], name + ".float", to=onnx.TensorProto.FLOAT)
        return self.add("Mul", [floats, scales_of_rows], name)

    def projected(self, x: str, *names: str) -> str:
        """Adds x W + b for the layers `names`, side by side, with 8-bit weights; returns the result's name.

        Channels of x that are far larger than the rest are multiplied in float32.
        """
        import numpy as np

        name, weight = names[0], np.concatenate([self.weights[name + ".weight"] for name in names]).T
        apart = outlying(self.ranges[name]) if name in self.ranges else []
        inner, beside = (self._apart(x, weight, apart, name), True) if len(apart) else (x, False)
        weight = np.where(np.isin(np.arange(len(weight)), apart)[:, None], 0, weight)
        scales = _scales(weight, axis=0, steps=_STEPS)
        parts = [
            self.constant(name + ".int8", np.round(weight / scales).astype(np.int8)),
            self.constant(name + ".scales", scales.ravel()),
            "",  # zero points: none, the weights are symmetric
            self.constant(name + ".bias", np.concatenate([self.weights[name + ".bias"] for name in names])),
        ]
        product = self.add(
            "DynamicQuantizeMatMul", [inner, *parts], name + ".most" if beside else name, domain=CONTRIB
        )
        return self.add("Add", [product, name + ".outlying"], name) if beside else product

    def _apart(self, x: str, weight: Any, channels: Any, name: str) -> str:
        """Adds the product of the large `channels` in float32.

        Returns the name of x with zeros in their place.
        """
        import numpy as np

        picked = self.add(
            "Gather",
            [x, self.constant(name + ".channels", np.array(channels, dtype=np.int64))],
            name + ".picked",
            axis=-1,
        )
        self.add("MatMul", [picked, self.constant(name + ".float", weight[channels])], name + ".outlying")
        kept = np.where(np.isin(np.arange(len(weight)), channels), 0, 1).astype(np.float32)
        return self.add("Mul", [x, self.constant(name + ".others", kept)], name + ".input")

    def dense(self, x: str, name: str) -> str:
        """Adds x W + b in float32, for the small layers at the end; returns the result's name."""
        weight = self.constant(name + ".weight", self.weights[name + ".weight"])
        return self.add(
            "Gemm", [x, weight, self.constant(name + ".bias", self.weights[name + ".bias"])], name, transB=1
        )

    def normed(self, a: str, b: str, name: str, *, epsilon: float) -> str:
        """Adds the layer norm of a + b; returns the result's name."""
        weights = [
            self.constant(f"{name}.{part}", self.weights[f"{name}.{part}"]) for part in ("weight", "bias")
        ]
        return self.add(
            "LayerNormalization",
            [self.add("Add", [a, b], name + ".sum"), *weights],
            name,
            axis=-1,
            epsilon=epsilon,
        )

    def first(self, x: str, name: str) -> str:
        """Adds the choice of every row's first token, (n, 1, width); returns the result's name."""
        return self.add(
            "Slice", [x, self.whole_numbers(0), self.whole_numbers(1), self.whole_numbers(1)], name
        )

    def squeezed(self, x: str) -> str:
        """Adds the step from (n, 1, width) to (n, width); returns the result's name."""
        return self.add("Squeeze", [x, self.whole_numbers(1)], "first")


def _scales(weight: Any, *, axis: int, steps: int) -> Any:
    """Returns the size of a quantisation step along `axis`, so that the largest weight is `steps` steps."""
    import numpy as np

    largest = np.abs(weight).max(axis=axis, keepdims=True)
    return np.where(largest > 0, largest / steps, 1).astype(np.float32)


@dataclass(frozen=True, kw_only=True)
class _Architecture:
    """The names that an architecture has for its parts.

    Attributes:
        inputs: {input: table of embeddings that it looks rows up in}.
        query: a layer's projection to queries; `key`, `value`, `output` and `norm` likewise.
        head: the two layers of the classifier.
        relative: True if attention has a bias by distance, and positions count from behind the padding's
            (MPNet).
    """

    inputs: Mapping[str, str]
    query: str
    key: str
    value: str
    output: str
    norm: str
    head: tuple[str, str]
    relative: bool = False


_BERT = _Architecture(
    inputs={"input_ids": "word_embeddings", "token_type_ids": "token_type_embeddings"},
    query="attention.self.query",
    key="attention.self.key",
    value="attention.self.value",
    output="attention.output.dense",
    norm="attention.output.LayerNorm",
    head=("bert.pooler.dense", "classifier"),
)
_MPNET = _Architecture(
    inputs={"input_ids": "word_embeddings"},
    query="attention.attn.q",
    key="attention.attn.k",
    value="attention.attn.v",
    output="attention.attn.o",
    norm="attention.LayerNorm",
    head=("classifier.dense", "classifier.out_proj"),
    relative=True,
)
_ARCHITECTURES = {"bert": _BERT, "mpnet": _MPNET}


def _encoder(graph: _Graph, prefix: str, config: Any, parts: _Architecture, *, only_first: bool) -> str:
    """Adds the encoder; returns the name of its last hidden states, (n, length, width).

    With `only_first` they are the first tokens', (n, 1, width).
    """
    table = prefix + "embeddings."
    rows = [graph.embedded(ids, table + name) for ids, name in parts.inputs.items()]
    length = graph.add("Shape", ["input_ids"], "length", start=1, end=2)
    first = config.pad_token_id + 1 if parts.relative else 0
    positions = graph.weights[table + "position_embeddings.weight"][first:]
    every = graph.constant(table + "position_embeddings", positions)
    places = graph.add("Slice", [every, graph.whole_numbers(0), length, graph.whole_numbers(0)], "places")
    words = graph.add("Add", rows, "words_and_types") if len(rows) > 1 else rows[0]
    x = graph.normed(words, places, table + "LayerNorm", epsilon=config.layer_norm_eps)
    bias = _relative_bias(graph, prefix, length, config) if parts.relative else ""
    for number in range(config.num_hidden_layers):
        last = only_first and number == config.num_hidden_layers - 1
        x = _layer(graph, x, f"{prefix}encoder.layer.{number}.", config, parts, only_first=last, bias=bias)
    return x


def _layer(
    graph: _Graph, x: str, layer: str, config: Any, parts: _Architecture, *, only_first: bool, bias: str
) -> str:
    """Adds a layer and returns its output's name.

    `bias` is added to the attention of two tokens, "" for none.
    """
    query, key, value = (layer + part for part in (parts.query, parts.key, parts.value))
    width, split = config.hidden_size, [f"{layer}{name}" for name in ("queries", "keys", "values")]
    if only_first:
        both = graph.projected(x, key, value)
        keys, values = graph.add_many("Split", [both, graph.whole_numbers(width, width)], split[1:], axis=-1)
        x = graph.first(x, layer + "first")
        queries = graph.projected(x, query)
        if bias:
            ends = (graph.whole_numbers(0), graph.whole_numbers(1), graph.whole_numbers(2))
            bias = graph.add("Slice", [bias, *ends], layer + "bias")
    else:
        all_three = graph.projected(x, query, key, value)
        queries, keys, values = graph.add_many(
            "Split", [all_three, graph.whole_numbers(width, width, width)], split, axis=-1
        )
    inputs = [queries, keys, values, *(["", "", bias] if bias else [])]
    seen = graph.add(
        "MultiHeadAttention", inputs, layer + "seen", domain=CONTRIB, num_heads=config.num_attention_heads
    )
    x = graph.normed(
        graph.projected(seen, layer + parts.output), x, layer + parts.norm, epsilon=config.layer_norm_eps
    )
    wide = graph.add(
        "Gelu", [graph.projected(x, layer + "intermediate.dense")], layer + "gelu", domain=CONTRIB
    )
    narrow = graph.projected(wide, layer + "output.dense")
    return graph.normed(narrow, x, layer + "output.LayerNorm", epsilon=config.layer_norm_eps)


def _relative_bias(graph: _Graph, prefix: str, length: str, config: Any) -> str:
    """Adds the bias by which the distance of two tokens changes their attention, and returns its name.

    It is float32 (1, heads, length, length). Its table has a row for each distance from -(longest - 1) to
    longest - 1, so that the graph only looks rows up.
    """
    import numpy as np
    import torch
    from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

    longest = config.max_position_embeddings - config.pad_token_id - 1
    distances = torch.arange(-(longest - 1), longest)
    bucket_of: Any = MPNetEncoder.relative_position_bucket
    buckets = bucket_of(distances, num_buckets=config.relative_attention_num_buckets)
    table = graph.weights[prefix + "encoder.relative_attention_bias.weight"][buckets.numpy()]
    scalar = graph.add("Squeeze", [length], "length.scalar")
    zero, step = (graph.constant(f"scalar_{value}", np.array(value, dtype=np.int64)) for value in (0, 1))
    numbers = graph.add("Range", [zero, scalar, step], "numbers")
    rows = graph.add("Unsqueeze", [numbers, graph.whole_numbers(1)], "numbers.rows")
    shifted = graph.add("Add", [numbers, graph.whole_numbers(longest - 1)], "numbers.shifted")
    distance = graph.add("Sub", [shifted, rows], "distance")
    looked_up = graph.add(
        "Gather", [graph.constant("distance.table", table.astype(np.float32)), distance], "bias.looked_up"
    )
    heads_first = graph.add("Transpose", [looked_up], "bias.heads_first", perm=[2, 0, 1])
    return graph.add("Unsqueeze", [heads_first, graph.whole_numbers(0)], "bias")
