"""Where the shipped models are: in the package, and in the distribution with the strong checker's weights."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from pytest_medfaith.errors import DataError

MODELS = Path(__file__).parent
FAST_CHECKER = MODELS / "nli"  # the fast checker
ENCODER = MODELS / "encoder" / "model.onnx"
# The WordPiece tokenizer of MiniLM. Three read with it: the fast checker, the sentence encoder, and the
# chunker of a corpus, so that a chunk's length is counted as the encoder sees it. The checker "default" has a
# tokenizer in its folder.
MINILM_TOKENIZER = MODELS / "minilm_tokenizer" / "tokenizer.json"


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
