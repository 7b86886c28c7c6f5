"""Where the shipped models are: in the package, and in the distribution with the strong checker."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from pytest_medfaith.errors import DataError

MODELS = Path(__file__).parent
FAST_CHECKER = MODELS / "nli"  # the fast checker
ENCODER = MODELS / "encoder" / "model.onnx"
# The WordPiece tokenizer of MiniLM. The fast checker and the sentence encoder read with it. The chunker of a
# corpus counts a chunk's length with it, as the encoder does. The checker "default" has its own tokenizer.
MINILM_TOKENIZER = MODELS / "minilm_tokenizer" / "tokenizer.json"


def default_weights() -> Path:
    """Returns the folder of the strong model, in the distribution pytest-medfaith-weights.

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
