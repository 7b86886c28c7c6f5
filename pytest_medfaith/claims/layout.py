"""Reads the layout of an answer: headings, list items, table rows and running text, as spans of the answer.

Markdown and HTML marks are overwritten by blanks of the same length, so that every offset stays an offset of the answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from pytest_medfaith.claims.lexicon import DETERMINERS, PRONOUNS

_HTML = r"b|i|u|em|strong|p|ul|ol|li|sup|sub|h[1-6]|div|span|a|table|thead|tbody|tr|td|th|code|pre|blockquote|hr"
_BREAK_TAG = re.compile(r"<(?:br|/p|/li|li|/tr|/h[1-6])\s*/?>", re.IGNORECASE)
_LINK = re.compile(r"!?\[([^\[\]\r\n]{1,200})\](\([^()\s]*\))")
_MARKS = (
    re.compile(rf"</?(?:{_HTML})(?:\s+\w+\s*=[^<>\r\n]*)?\s*/?>", re.IGNORECASE),
    re.compile(r"\*\*+|__+|`+"),
    re.compile(r"(?<![\w*])\*(?=[^\s*][^*\r\n]*\*)|(?<=[^\s*])\*(?![\w*])"),
    re.compile(r"(?<!\w)_(?=[^\s_][^_\r\n]*_(?!\w))|(?<=[^\s_])_(?!\w)"),
)
_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|$)")
_ITEM = re.compile(
    r"""\s*(?:>\s*)*(?:
        [-*+•◦▪‣·●–—]\s+ | [•◦▪‣●]\s* | [-–]\s*(?=[A-Z]) |
        \(?\d{1,2}[.)]\s+ | \d{1,2}[.)](?=["“A-Za-z*]) | \(?[a-z]\)\s+
    )""",
    re.VERBOSE,
)
_HEADING = re.compile(r"\s*#{1,6}\s+")
_BOLD_LINE = re.compile(r"\s*(?:\*\*|__)[^*_]{1,80}(?:\*\*|__)\s*:?\s*$")
_QUOTE = re.compile(r"\s*>+\s*")
_ROW = re.compile(r"\s*\|.*\|\s*$|[^|]+(?:\s\|\s[^|]+){2,}$")
_RULE = re.compile(r"\s*(?:```.*|~~~.*|[-=_*~\s|:]+)$")
_FOOTNOTE = re.compile(r"\s*\[\^[^\[\]\s]+\]:")
_REFERENCES = re.compile(r"\W*(?:references?|sources?|citations?|bibliography|further reading|works cited)\W*$", re.IGNORECASE)
_SOURCE_LINE = re.compile(r"\s*(?:(?:references?|sources?|citations?)\s*:\s*\S|https?://\S+\s*$)", re.IGNORECASE)
_INLINE_ITEM = re.compile(r"(?:(?<=[.:;,!?”\"]\s)|(?<=[.:;,!?]\s\s)|(?<=[.:;!?”\"]))\(?(\d{1,2})[.)]\s+(?=[\"“*]*[A-Za-z])")
_OPEN_END = re.compile(r"(?:\b(?:an?|the|of|in|on|at|by|for|with|from|to|and|or|but|than|as|that|which|is|are|was|were|be|not)|[,(–-])\s*$", re.IGNORECASE)
# Lines that an editor wrapped are about this long; a shorter line without a full stop is a line of its own.
_WRAPPED_WIDTH = range(60, 121)

Kind = Literal["heading", "item", "row", "text"]


@dataclass(frozen=True)
class Block:
    """A piece of an answer that no sentence crosses: its half-open span without list or heading marks, and its indent."""

    kind: Kind
    start: int
    end: int
    indent: int = 0


@dataclass(frozen=True)
class Layout:
    """An answer's blocks in order; `text` is the answer at its own length with the marks blanked."""

    text: str
    blocks: tuple[Block, ...]


def read_layout(answer: str) -> Layout:
    """Returns the layout of `answer`; rules, code fences, footnotes and lists of references are no blocks."""
    raw = _BREAK_TAG.sub(lambda tag: "\n" + " " * (len(tag[0]) - 1), answer)
    text = _blank_marks(raw)
    blocks: list[Block] = []
    joinable = in_references = False
    for line in _LINE.finditer(raw):
        if not text[line.start(1) : line.end(1)].strip():
            joinable = False
            continue
        block = _read_line(line[1], line.start(1))
        if block is not None and (block.kind == "heading" or _REFERENCES.match(line[1])):
            in_references = _REFERENCES.match(line[1]) is not None
        if block is None or in_references:
            joinable = False
            continue
        if joinable and _continues(blocks[-1], block, text):
            blocks[-1] = replace(blocks[-1], end=block.end)
        else:
            blocks.append(block)
        joinable = True
    return Layout(text, tuple(piece for block in blocks for piece in _split_inline_items(block, text) if text[piece.start : piece.end].strip()))


def _blank_marks(text: str) -> str:
    text = _LINK.sub(lambda link: link[0].replace(link[1], "\x00", 1) and " " * link[0].index("[") + f" {link[1]} " + " " * len(link[2]), text)
    for mark in _MARKS:
        text = mark.sub(lambda found: " " * len(found[0]), text)
    return text


def _read_line(line: str, offset: int) -> Block | None:
    if _RULE.match(line) or _FOOTNOTE.match(line) or _SOURCE_LINE.match(line):
        return None
    indent = len(line) - len(line.lstrip())
    for kind, mark in (("heading", _HEADING), ("row", _ROW), ("heading", _BOLD_LINE), ("item", _ITEM), ("text", _QUOTE)):
        found = mark.match(line)
        if found:
            whole = mark in (_ROW, _BOLD_LINE)
            return Block(kind, offset + (0 if whole else found.end()), offset + len(line), indent)  # type: ignore[arg-type]
    return Block("text", offset, offset + len(line), indent)


def _continues(before: Block, block: Block, text: str) -> bool:
    """Returns whether `block`, on the next line, goes on with the sentence of `before`."""
    if block.kind != "text" or before.kind not in ("text", "item"):
        return False
    end, begin = text[before.start : before.end].rstrip(), text[block.start : block.end].lstrip()
    if end.endswith((".", "!", "?", ":", ";")):
        return False
    last_line = end[max(end.rfind("\n"), end.rfind("\r")) + 1 :]
    wrapped = len(last_line) in _WRAPPED_WIDTH and before.kind == "text" and ":" not in begin[:40]
    fresh = begin[:1].isupper() and begin.split(None, 1)[0].rstrip("'s’").lower() in DETERMINERS | PRONOUNS
    wrapped = wrapped and not fresh and ":" not in end[:40]
    return begin[:1].islower() or _OPEN_END.search(end) is not None or wrapped


def _split_inline_items(block: Block, text: str) -> list[Block]:
    """Returns `block`, or its intro and items where it lists "1. ... 2. ... 3. ..." in running text."""
    if block.kind not in ("text", "item"):
        return [block]
    marks = _counted_marks(block, text)
    if len(marks) < (2 if block.kind == "text" else 1):
        return [block]
    ends = [mark.start() for mark in marks[1:]] + [block.end]
    indent = block.indent + (block.kind == "text")
    items = [Block("item", mark.end(), end, indent) for mark, end in zip(marks, ends, strict=True)]
    return [replace(block, end=marks[0].start()), *items] if text[block.start : marks[0].start()].strip() else items


def _counted_marks(block: Block, text: str) -> list[re.Match[str]]:
    marks: list[re.Match[str]] = []
    for mark in _INLINE_ITEM.finditer(text, block.start, block.end):
        expected = int(marks[-1][1]) + 1 if marks else 1
        if int(mark[1]) == expected or (block.kind == "item" and not marks):
            marks.append(mark)
    return marks
