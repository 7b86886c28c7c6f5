"""Model folders: the shipped ones, and what names the weights of a user's folder."""

from __future__ import annotations

import hashlib
import importlib.util
from functools import lru_cache
from pathlib import Path

from pytest_medfaith.errors import DataError

MODELS = Path(__file__).parent
FAST_CHECKER = MODELS / "nli"  # the fast checker
ENCODER = MODELS / "encoder" / "model.onnx"
# The WordPiece tokenizer of MiniLM. Three read with it: the fast checker, the sentence encoder, and the
# chunker of a corpus, so that a chunk's length is counted as the encoder sees it. The checker "default" has a
# tokenizer in its folder.
MINILM_TOKENIZER = MODELS / "minilm_tokenizer" / "tokenizer.json"
_PARTS = (".safetensors", ".json", ".txt", ".model")


def default_weights() -> Path:
    """Returns the folder of the strong model, which the distribution pytest-medfaith-weights holds.

    Raises:
        DataError: the distribution is not installed.
    """
    found = importlib.util.find_spec("pytest_medfaith_weights")
    if found is None or found.origin is None:
        raise DataError(
            "the weights of the checker 'default' are not installed; install them with "
            "`pip install pytest-medfaith-weights` (in a clone `pip install ./weights`), or name the checker "
            "'fast', which needs none"
        )
    return Path(found.origin).parent / "default"


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
