"""Texts as tokenizers take them: halves of characters, which JSON and broken decoders leave behind, are no text to them."""

from __future__ import annotations

import re

_HALF = re.compile("[\ud800-\udfff]")


def whole(text: str) -> str:
    """Returns `text` with U+FFFD for each half of a character; its length stays, so offsets into it do too."""
    return text if text.isascii() else _HALF.sub("\N{REPLACEMENT CHARACTER}", text)
