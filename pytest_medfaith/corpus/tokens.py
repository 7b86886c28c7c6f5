"""Counts tokens the way the shipped students do."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

TOKENIZER = Path(__file__).parents[1] / "models" / "tokenizer" / "tokenizer.json"


def token_offsets(text: str) -> list[tuple[int, int]]:
    """Returns the half-open character span of every WordPiece token of `text`, in order, without special tokens."""
    offsets: list[tuple[int, int]] = _tokenizer(TOKENIZER).encode(text, add_special_tokens=False).offsets
    return offsets


@lru_cache(maxsize=1)
def _tokenizer(path: Path) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
