"""Makes text uniform without changing what it says: Unicode NFC and plain spaces; capitals stay."""

from __future__ import annotations

import re
import unicodedata

# Byte-order marks, zero-width spaces, soft hyphens, control characters and lone surrogates are invisible and
# break words apart. Marks of direction and tag characters are invisible and hide what a text says. Joiners
# (U+200C, U+200D) stay: Persian and Hindi need them.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_SPACES = re.compile(r"[^\S\n]{2,}|[^\S \n]")
_EDGES = re.compile(r" \n ?|\n ")
_BLANK_LINES = re.compile(r"\n{3,}")
_SUPERSCRIPTS = str.maketrans("0123456789+-\u2212\u2013\u2010\u2011n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁻⁻ⁿ")
_RAISED = re.compile(r"[-0-9+\u2212\u2013\u2010\u2011n,\s]*")
# What may follow a tag's name are attributes with values, so that "a<b and c>d" and "<or = 6 or>" stay text.
TAG_TAIL = (
    r"(?:\s+[\w:-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'<>]+)|\s+(?:compact|hidden|noshade|nowrap))*\s*/?>"
)
_POWER = re.compile(r"[-+\u2212\u2013\u2010\u2011]?\d+[./]\w")


def normalise(text: str) -> str:
    r"""Returns `text` in Unicode NFC, with single spaces, LF line ends, and at most one blank line in a row.

    Example: "Iron \r\n\r\n\r\n tablets" becomes "Iron\n\ntablets". Invisible characters are removed, but
    `10⁻³`, `µg`, `½` and Greek letters stay as written, which NFKC would change. A clean text comes back
    unchanged, so offsets into it are offsets into its file.
    """
    text = unicodedata.normalize("NFC", _INVISIBLE.sub("", text))
    text = _SPACES.sub(" ", _LINE_END.sub("\n", text))
    return _BLANK_LINES.sub("\n\n", _EDGES.sub("\n", text)).strip()


def one_line(text: str) -> str:
    r"""Returns `text` normalised and on a single line: in markup, line ends mean nothing.

    Example: "Iron\n tablets" becomes "Iron tablets".
    """
    return " ".join(unicodedata.normalize("NFC", _INVISIBLE.sub("", text)).split())


def superscript(text: str) -> str:
    """Returns raised text in superscript characters if it is a number: "⁻³" for the -3 of `10<sup>-3</sup>`.

    A fraction or a number with a letter gets a caret: "^1/2". Any other text comes back as it is.
    """
    if _RAISED.fullmatch(text):
        return text.translate(_SUPERSCRIPTS)
    return f"^{text}" if _POWER.match(text) else text
