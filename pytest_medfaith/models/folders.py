"""Model folders of the user's: what names their weights."""

from __future__ import annotations

import hashlib
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
