"""Turns marked-up answers into plain text.

What medicine writes stays: `<`, `±`, Greek letters, superscripts and units.
"""

from __future__ import annotations

import html
import re

from pytest_medfaith.corpus.normalise import TAG_TAIL, normalise, superscript

_BLOCKS = "|".join(
    "address article blockquote br dd div dl dt figure h[1-6] hr ol p pre section".split()
    + "table tbody td tfoot th thead tr ul".split()
)
_INLINE = "a|abbr|b|big|center|cite|code|em|font|i|img|label|mark|q|s|small|span|strike|strong|sub|sup|tt|u"
_DROPPED = re.compile(
    r"<!--.{0,5000}?-->|<(script|style)\b[^<>]*>.{0,5000}?</\1\s*>", re.DOTALL | re.IGNORECASE
)
_ITEM = re.compile(rf"<li{TAG_TAIL}", re.IGNORECASE)
_BLOCK = re.compile(rf"</?(?:{_BLOCKS}){TAG_TAIL}|</li\s*>", re.IGNORECASE)
_TAG = re.compile(rf"</?(?:{_INLINE}){TAG_TAIL}", re.IGNORECASE)
_RAISED = re.compile(rf"<sup{TAG_TAIL}((?:(?!<sup\b).){{0,200}}?)</sup\s*>", re.IGNORECASE | re.DOTALL)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")


def plain_text(text: str) -> str:
    """Returns `text` without HTML, as NFC, with single spaces and at most one blank line between paragraphs.

    Block tags and Windows line ends become line ends. List items become lines that begin with "- ". Entities
    become their characters. Raised digits become superscripts: 10<sup>9</sup> is not 109. Control characters
    and zero-width spaces go.
    """
    if "<" in text:
        text = _ITEM.sub("\n- ", _DROPPED.sub(" ", text))
        text = _RAISED.sub(lambda match: superscript(_unescaped(_TAG.sub("", match[1])).strip()), text)
        text = _TAG.sub("", _BLOCK.sub("\n", text))
    return normalise(_unescaped(text))


def _unescaped(text: str) -> str:
    return _ENTITY.sub(lambda match: html.unescape(match[0]), text) if "&" in text else text


def one_line(text: str) -> str:
    """Returns `plain_text(text)`, which has no HTML, on a single line; "" for a blank text."""
    return " ".join(plain_text(text).split())
