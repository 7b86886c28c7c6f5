"""Texts that tokenizers accept: without the halves of characters (surrogates) that broken decoders leave."""

from __future__ import annotations

import re

_HALF = re.compile("[\ud800-\udfff]")


def whole(text: str) -> str:
    """Returns `text` with U+FFFD for each half of a character; length and offsets stay."""
    return text if text.isascii() else _HALF.sub("\N{REPLACEMENT CHARACTER}", text)
