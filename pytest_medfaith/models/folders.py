"""Model folders of the user: a signature of their weights, and the name under which they were published."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path

_PARTS = (".safetensors", ".json", ".txt", ".model")


@lru_cache(maxsize=8)
def model_signature(name: str) -> str:
    """Returns a text that names the weights of a model.

    For a folder it is 16 hexadecimal digits of its weights, configuration and tokenizer; for a model on a
    hub, its name.
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
    """Returns the name under which the weights of a folder were published: "ncbi/MedCPT-Query-Encoder".

    transformers writes it into the configuration that it saves. "" if the folder does not have it; for a
    model on a hub, its name.
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
