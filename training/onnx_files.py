"""Writes an ONNX graph into files of less than 100 MB, each whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

MAX_BYTES = 99_000_000  # of each file: code hosts refuse files of 100 MB
_ALONE = 30_000_000  # a model with fewer bytes of weights keeps them in its own file
_LARGE = 1024  # constants with more bytes may be kept beside the model's file
_OPSET, _IR = 17, 9
CONTRIB = "com.microsoft"


class Graph(Protocol):
    """The nodes and constants of an ONNX graph that is being built."""

    nodes: list[Any]
    constants: dict[str, Any]

    def add(self, kind: str, inputs: list[str], output: str, *, domain: str = "", **attributes: Any) -> str:
        """Adds a node with a single output, and returns the output's name."""


def write_graph(
    graph: Graph, result: str, out: Path, *, inputs: Sequence[str], output: str, shape: Sequence[str | int]
) -> Path:
    """Writes a graph as an ONNX model to `out`, and returns `out`; each file is whole or not there.

    Args:
        graph: nodes and constants.
        result: name of the tensor that becomes the only output.
        out: the model's file; large weights go into files beside it.
        inputs: names of the inputs, int64 (n, length).
        output: name of the output.
        shape: of the output, which is float32.

    Raises:
        ValueError: a file would be larger than `MAX_BYTES`.
    """
    import onnx

    graph.add("Identity", [result], output)
    info = onnx.helper.make_tensor_value_info
    given = [info(name, onnx.TensorProto.INT64, ["n", "length"]) for name in inputs]
    outputs = [info(output, onnx.TensorProto.FLOAT, shape)]
    files = _beside(graph)
    built = onnx.helper.make_graph(graph.nodes, "student", given, outputs, list(graph.constants.values()))
    opsets = [onnx.helper.make_opsetid("", _OPSET), onnx.helper.make_opsetid(CONTRIB, 1)]
    files[out.name] = onnx.helper.make_model(built, opset_imports=opsets, ir_version=_IR).SerializeToString()
    for name, content in files.items():
        if len(content) > MAX_BYTES:
            raise ValueError(
                f"{name} would be {len(content)} bytes, more than the {MAX_BYTES} that a repository may hold"
            )
    out.parent.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():  # the model's file comes last: it is there only when its weights are
        partial = out.with_name(f"{name}.part")
        partial.write_bytes(content)
        os.replace(partial, out.with_name(name))
    return out


def _beside(graph: Graph) -> dict[str, bytes]:
    """Moves the large constants of a large model out of the graph; returns {file name: bytes} of their files.

    {} for a model small enough to keep them.
    """
    import onnx

    large = {name: tensor for name, tensor in graph.constants.items() if len(tensor.raw_data) > _LARGE}
    if sum(len(tensor.raw_data) for tensor in large.values()) <= _ALONE:
        return {}
    files: dict[str, bytearray] = {}
    for name, tensor in large.items():
        location = "embeddings.bin" if "embeddings" in name else "layers.bin"
        content = files.setdefault(location, bytearray())
        offset = len(content)
        content += tensor.raw_data
        onnx.external_data_helper.set_external_data(
            tensor, location, offset=offset, length=len(tensor.raw_data)
        )
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
    return {name: bytes(content) for name, content in files.items()}
