"""Exports a trained student to int8 ONNX: fused, quantised per channel, one file of at most 25 MB."""

from __future__ import annotations

import os
import tempfile
import warnings
from pathlib import Path
from typing import Any

MAX_BYTES = 25_000_000


def export_classifier(folder: Path, out: Path) -> Path:
    """Writes the sequence classifier in `folder` as int8 ONNX to `out` and returns `out`.

    Inputs input_ids, token_type_ids, attention_mask: int64 (n, length). Output logits: float32 (n, n_labels).
    """
    from transformers import AutoModelForSequenceClassification

    model = AutoModelForSequenceClassification.from_pretrained(folder, attn_implementation="eager")
    return _export(_Classifier(model), out, output="logits", config=model.config)


def export_encoder(folder: Path, out: Path) -> Path:
    """Writes the sentence encoder in `folder` as int8 ONNX to `out` and returns `out`.

    Output embedding: float32 (n, width), mean of the token vectors under the mask, scaled to length 1.
    """
    from transformers import AutoModel

    model = AutoModel.from_pretrained(folder, attn_implementation="eager", add_pooling_layer=False)
    return _export(_MeanPooled(model), out, output="embedding", config=model.config)


class _Wrapped:
    """Holds a torch model behind a plain callable of the three inputs; becomes a torch module in `_trace`."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def __call__(self, input_ids: Any, token_type_ids: Any, attention_mask: Any) -> Any:
        raise NotImplementedError


class _Classifier(_Wrapped):
    def __call__(self, input_ids: Any, token_type_ids: Any, attention_mask: Any) -> Any:
        return self.model(input_ids=input_ids, token_type_ids=token_type_ids, attention_mask=attention_mask).logits


class _MeanPooled(_Wrapped):
    def __call__(self, input_ids: Any, token_type_ids: Any, attention_mask: Any) -> Any:
        import torch

        hidden = self.model(input_ids=input_ids, token_type_ids=token_type_ids, attention_mask=attention_mask).last_hidden_state
        mask = attention_mask.unsqueeze(-1).to(hidden.dtype)
        return torch.nn.functional.normalize((hidden * mask).sum(1) / mask.sum(1).clamp(min=1e-9), dim=-1)


def _export(wrapped: _Wrapped, out: Path, *, output: str, config: Any) -> Path:
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        plain, fused, small = (Path(folder) / name for name in ("plain.onnx", "fused.onnx", "int8.onnx"))
        _trace(wrapped, plain, output=output)
        _fuse(plain, fused, config=config)
        _quantise(fused, small)
        if small.stat().st_size > MAX_BYTES:
            raise ValueError(f"{out.name} would be {small.stat().st_size} bytes, more than the {MAX_BYTES} that a wheel should carry")
        partial = out.with_suffix(".part")
        partial.write_bytes(small.read_bytes())
        os.replace(partial, out)
    return out


def _trace(wrapped: _Wrapped, path: Path, *, output: str) -> None:
    import torch

    class Module(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = wrapped.model

        def forward(self, input_ids: Any, token_type_ids: Any, attention_mask: Any) -> Any:
            return wrapped(input_ids, token_type_ids, attention_mask)

    ids = torch.ones(2, 16, dtype=torch.long)
    names = ["input_ids", "token_type_ids", "attention_mask"]
    axes = {name: {0: "n", 1: "length"} for name in names} | {output: {0: "n"}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter warns of its own age and of shapes that the axes above declare
        torch.onnx.export(
            Module().eval(),
            (ids, torch.zeros_like(ids), ids),
            str(path),
            input_names=names,
            output_names=[output],
            dynamic_axes=axes,
            opset_version=17,
            dynamo=False,
        )


def _fuse(source: Path, target: Path, *, config: Any) -> None:
    from onnxruntime.transformers import optimizer
    from onnxruntime.transformers.fusion_options import FusionOptions

    options = FusionOptions("bert")
    options.enable_skip_layer_norm = True
    model = optimizer.optimize_model(
        str(source),
        model_type="bert",
        num_heads=config.num_attention_heads,
        hidden_size=config.hidden_size,
        optimization_options=options,
        opt_level=0,
    )
    model.save_model_to_file(str(target))


def _quantise(source: Path, target: Path) -> None:
    """Quantises weights per channel to 7 bits: with 8, AVX2 machines without VNNI saturate and give other numbers."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    options = {"DefaultTensorType": onnx.TensorProto.FLOAT}  # fused nodes are outside ONNX's own shape inference
    quantize_dynamic(source, target, per_channel=True, reduce_range=True, weight_type=QuantType.QInt8, extra_options=options)
