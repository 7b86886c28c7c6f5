"""Texts as tokenizers take them: without the halves of characters that broken decoders leave behind."""

from __future__ import annotations

import re

_HALF = re.compile("[\ud800-\udfff]")


def whole(text: str) -> str:
    """Returns `text` with U+FFFD for each half of a character; its length and offsets into it stay."""
    return text if text.isascii() else _HALF.sub("\N{REPLACEMENT CHARACTER}", text)
