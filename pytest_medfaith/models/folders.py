"""Model folders of the user's: what names their weights, and what they call themselves."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path

_PARTS = (".safetensors", ".json", ".txt", ".model")


@lru_cache(maxsize=8)
def model_signature(name: str) -> str:
    """Returns what names the weights of a model.

    For a folder these are 16 hexadecimal digits of its weights, configuration and tokenizer, for a model on a
    hub its name.
    """
    folder = Path(name)
    if not folder.is_dir():
        return name
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in _PARTS:
            digest.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def model_origin(name: str) -> str:
    """Returns the name under which the weights of a folder were published, as in "ncbi/MedCPT-Query-Encoder".

    transformers keeps it in the configuration of what it saves. "" where the folder does not say; for a model
    on a hub it is its name.
    """
    folder = Path(name)
    if not folder.is_dir():
        return name
    try:
        held = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):  # loading the model says what is wrong
        return ""
    said = held.get("_name_or_path") if isinstance(held, dict) else None
    return said if isinstance(said, str) else ""
