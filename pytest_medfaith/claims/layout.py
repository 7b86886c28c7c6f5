"""Reads the layout of an answer: headings, list items, table rows and running text, and their sentences.

Markdown and HTML marks are replaced by as many blanks, so that every offset stays an offset of the answer.
Lines that only name a source ("[1] Smith J. Metformin. 2020.") are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pytest_medfaith.claims.measures import amounts, has_amount, is_order
from pytest_medfaith.english.grammar import Part
from pytest_medfaith.english.lexicon import DETERMINERS, PRONOUNS
from pytest_medfaith.english.phrases import read_words
from pytest_medfaith.english.sentences import answer_sentences

_HTML = (
    r"b|i|u|em|strong|p|ul|ol|li|sup|sub|h[1-6]|div|span|a|table|thead|tbody|tr|td|th|code|pre|blockquote|hr"
    r"|details|summary|small|mark|s|strike|del|ins|dl|dt|dd|font|section|article|figure|figcaption|caption"
)
# Raised or lowered signs are part of their word: "m<sup>2</sup>", "H<sub>2</sub>O", "10<sup>9</sup>/L".
_RAISED_PART = re.compile(r"<(su[bp])>([\w+\u2212-]{1,8})</su[bp]>", re.IGNORECASE)
_RAISED = re.compile(rf"(?<![\w/.×^])[\w/.×^]+(?:(?i:{_RAISED_PART.pattern})[\w/]*)+")
_SUPERSCRIPTS = str.maketrans("0123456789+-\u2212", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_BREAK_TAG = re.compile(r"<(?:br|/p|/li|li|/tr|/h[1-6]|/summary|/d[td])\s*/?>", re.IGNORECASE)
_LINK = re.compile(r"(!?\[)([^\[\]\r\n]{1,200})(\]\([^()\s]*\))")
_MARKS = (
    re.compile(r"(?:^|(?<=[\r\n]))[ \t]*(?:>(?!\s*[\d=]))+"),
    re.compile(rf"</?(?:{_HTML})(?:\s+\w+\s*=[^<>\r\n]*)?\s*/?>", re.IGNORECASE),
    re.compile(r"\*\*+|__+|`+|~~+|<!--+|--+>"),
    re.compile(r"(?<![\w*])\*(?=[^\s*][^*\r\n]*\*)|(?<=[^\s*])\*(?![\w*])"),
    re.compile(r"(?<!\w)_(?=[^\s_][^_\r\n]*_(?!\w))|(?<=[^\s_])_(?!\w)"),
)
_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|$)")
_ITEM = re.compile(
    r"""(?P<mark>\s*(?:>\s*)*(?:
        [-*+•◦▪‣·●\u2013—]\s+ | [•◦▪‣●]\s* | [-\u2013]\s*(?=[A-Z]) |
        \(?\d{1,2}[.)]\s+ | \d{1,2}[.)](?=["“A-Za-z*]) | \(?[A-Za-z]\)\s+ | [A-H]\.\s+(?=[A-Z][a-z])
          | \(?(?:[ivx]{1,4}|[IVX]{1,4})[.)]\s+(?=\S)
    ))""",
    re.VERBOSE,
)
_HEADING = re.compile(r"(?P<mark>\s*#{1,6}\s+)")
_BOLD_LINE = re.compile(r"(?P<mark>)\s*(?:\*\*|__)[^*_]{1,80}(?:\*\*|__)\s*:?\s*$")
# "**INR 9, patient well.** Hold the drug": the bold words tell what the sentence after them is about.
_BOLD_LABEL = re.compile(
    r"(?P<ahead>(?:^|(?<=[\r\n]))[ \t]*(?:[-*+•]\s+|\d{1,2}[.)]\s+)?(?P<mark>\*\*|__))"
    r"(?P<label>[^*_.!?:\r\n]{3,60})\.(?P=mark)(?=[ \t]+\S)"
)
_QUOTE = re.compile(r"(?P<mark>\s*(?:>(?!\s*[\d=]))+\s*)")
_ROW = re.compile(r"(?P<mark>)(?:\s*\|.*\|\s*$|[^|]+(?:\s\|\s[^|]+){2,}$)")
_RULE = re.compile(r"(?:```[\w+-]*|~~~[\w+-]*|[-=_*~\s|:]*)$")  # for a line without blanks around it
_REFERENCES = re.compile(
    r"\W*(?:references?|sources?|citations?|bibliography|further reading|works cited)\W*$", re.IGNORECASE
)
_SOURCE_LINE = re.compile(
    r"\s*(?:(?:references?|sources?|citations?)\s*:\s*\S|https?://\S+\s*$|\[\^[^\[\]\s]+\]:)", re.IGNORECASE
)
_SOURCE_SIGNS = tuple(
    re.compile(pattern)
    for pattern in (
        r"https?://|www\.|\bdoi\b|(?i:\bpmid\b|\bpmc\d|\bisbn\b)",
        r"\b[A-Z][\w'’-]+,?\s+(?:[A-Z]\.?){1,3}(?=[\s,.;])|\bet\s+al\b",
        r"[(\s,;.](?:19|20)\d\d[a-z]?(?=[\s);:.,]|$)",
        r"\b\d+\s*(?:\(\d+\))?\s*:\s*e?\d+",
        (
            r"(?i:\bjournal\b|\blancet\b|\bjama\b|\bnejm\b|\bbmj\b|\bcochrane\b|\bguidelines?\b|"
            r"\bn\s+engl\s+j\b|\brev\b|\bmedlineplus\b|\bwebsite\b|\bpress\b|\bed\.)"
        ),
    )
)
_ADDRESS_LINE = re.compile(r"\W*(?:https?://|www\.)\S+\W*$")
_SOURCE_NUMBER = re.compile(r"^\s*(?:[-*•]\s+)?(?:\[\^?[\w-]+\]:?|\(?\d{1,3}[.)])?\s*")
_SOURCE_TITLE = re.compile(r"(?i:^(?:references?|sources?|citations?)\s*:\s*)")
_SAYING = re.compile(
    r"\b(?:is|are|was|were|should|must|can|may|take|takes|you|your|not|never|safe|unsafe|contraindicated"
    r"|recommended)\b",
    re.IGNORECASE,
)
# What a model thought aloud before its answer; nobody is shown it.
_THOUGHT_TAG = re.compile(
    r"<(?P<close>/?)(?P<name>think|thinking|thought|reasoning|scratchpad)>", re.IGNORECASE
)
_INLINE_ITEM = re.compile(
    r"(?:(?<=[.:;,!?”\"]\s)|(?<=[.:;,!?]\s\s)|(?<=[.:;!?”\"]))\(?(\d{1,2})[.)]\s+(?=[\"“*]*[A-Za-z])"
)
_OPEN_END = re.compile(
    r"(?:\b(?:an?|the|of|in|on|at|by|for|with|from|to|and|or|but|than|as|that|which|is|are|was|were|be|not)"
    r"|[,(\u2013-])\s*$",
    re.IGNORECASE,
)
# A quantity that a line end breaks apart: "0.\n5 mg", "1,\n000", "140/\n90", "5 mg/\nkg", "micro-\ngrams".
_END_OF_LINE = r"[ \t]*(?:\r\n|\r|\n)[ \t]*"
_BROKEN_QUANTITY = re.compile(
    rf"""(?<!\S)(?P<first>\S*(?:
        (?<![\w.])0\. | \d(?={_END_OF_LINE}\.\d)
        | (?<![\w.,])\d{{1,3}},(?={_END_OF_LINE}(?:000(?!\d)|\d{{3}}[ ]?(?:[m\u00b5\u03bc]?c?g|m?L|IU)\b))
        | \d[-\u2013/](?={_END_OF_LINE}\d)
        | \b[m\u00b5\u03bc]?c?g/(?={_END_OF_LINE}(?:kg|m\u00b2|m[lL]|day|h)\b)
        | \b(?:micro|milli|nano)-(?={_END_OF_LINE}(?:grams?|lit(?:re|er)s?|mol))
    ))(?P<gap>{_END_OF_LINE})(?P<rest>\S+)""",
    re.VERBOSE,
)
# Lines that an editor wrapped are about this long; a shorter line without a full stop is no part of the next.
_WRAPPED_WIDTH = range(60, 121)
_LONGEST_LABEL = 40  # characters

Kind = Literal["heading", "item", "row", "text"]
_MARKED: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("heading", _HEADING),
    ("row", _ROW),
    ("heading", _BOLD_LINE),
    ("item", _ITEM),
    ("text", _QUOTE),
)


@dataclass(frozen=True)
class Block:
    """A piece of an answer that no sentence crosses: a heading, a list item, a table row or a paragraph.

    Attributes:
        kind: which of these it is.
        start: its first character, after list or heading marks.
        end: the character after it.
        indent: the number of blanks before it.
    """

    kind: Kind
    start: int
    end: int
    indent: int = 0


@dataclass(frozen=True)
class Sentence:
    """A sentence of an answer.

    Attributes:
        start: its first character.
        end: the character after it.
        zone: where its citations begin: a citation from here up to the next sentence's zone belongs to it.
        block: its block.
    """

    start: int
    end: int
    zone: int
    block: Block


@dataclass(frozen=True)
class Layout:
    """The blocks and sentences of an answer, in order.

    Attributes:
        text: the answer at its length, with blanks for marks.
        blocks: its blocks.
        sentences: the sentences of all blocks.
        skipped: (start, end, reason) of what is in no block: lists of sources and thoughts of a model.
    """

    text: str
    blocks: tuple[Block, ...]
    sentences: tuple[Sentence, ...]
    skipped: tuple[tuple[int, int, str], ...] = ()


def read_layout(answer: str) -> Layout:
    """Returns the layout of `answer`. Rules, code fences, thoughts and lines of sources are no blocks."""
    thoughts = _thoughts(answer)
    skipped = [(start, end, "reasoning") for start, end in thoughts]
    raw = _blanked(answer, thoughts)
    raw = _BROKEN_QUANTITY.sub(_mended, raw)
    raw = _RAISED.sub(_joined, raw)
    raw = _BOLD_LABEL.sub(_labelled, raw)
    raw = _BREAK_TAG.sub(lambda tag: "\n" + " " * (len(tag[0]) - 1), raw)
    text = _LINK.sub(lambda link: " " * len(link[1]) + link[2] + " " * len(link[3]), raw)
    for mark in _MARKS:
        text = mark.sub(lambda found: " " * len(found[0]), text)
    blocks: list[Block] = []
    in_references = before_quoted = False
    open_block = False  # whether the next line may continue the last block
    for line in _LINE.finditer(raw):
        block = _read_line(line[1], line.start(1))
        titled = _REFERENCES.match(line[1]) is not None
        in_references = titled or (in_references and (block is None or block.kind != "heading"))
        source = titled or (
            (in_references or _SOURCE_LINE.match(line[1]) is not None) and _is_reference(line[1])
        )
        if source and any(map(str.isalnum, line[1])):
            skipped.append((line.start(1), line.end(1), "citation list"))
        if block is None or source or not text[block.start : block.end].strip():
            open_block = False
            continue
        quoted = _QUOTE.match(line[1]) is not None
        if open_block and quoted == before_quoted and _continues(blocks[-1], block, text):
            blocks[-1] = replace(blocks[-1], end=block.end)
        else:
            blocks.append(block)
        open_block, before_quoted = True, quoted
    pieces = tuple(
        piece
        for block in blocks
        for piece in _split_inline_items(block, text)
        if text[piece.start : piece.end].strip()
    )
    return Layout(text, pieces, tuple(_sentences(text, pieces)), tuple(sorted(skipped)))


def _mended(found: re.Match[str]) -> str:
    """Returns a quantity without the line end that broke it, with blanks up to the old length.

    Where it ends a sentence the blanks are before it, so that the sentence keeps its end.
    """
    first = found["first"]
    if first.endswith("-") and not first[-2:-1].isdigit():
        first = first[:-1]  # "micro-" and "grams"
    whole = first + found["rest"]
    goes_on = found.string[found.end() : found.end() + 1] in (" ", "\t") and whole[-1] not in ".!?"
    return whole.ljust(len(found[0])) if goes_on else whole.rjust(len(found[0]))


def _labelled(found: re.Match[str]) -> str:
    """Returns a bold label that has a number and no verb, with a colon for its full stop.

    "INR 9, patient well" and "Step 1" are labels. "Take 5 mg" and "Be patient" are statements.
    """
    part = Part(read_words(found["label"]))
    numbered = any(map(str.isdigit, found["label"]))
    if not numbered or not part.words or has_amount(found["label"]) or (part.clause or _bids(part)):
        return found[0]
    return f"{found['ahead']}{found['label']}:{found['mark']}"


def _bids(label: Part) -> bool:
    """Returns whether a label is an order; "Step 1" is none."""
    numbered = len(label.words) > 1 and label.words[1].text[0].isdigit()
    return is_order(label.words) and not numbered


def _sentences(text: str, blocks: Iterable[Block]) -> list[Sentence]:
    """Returns the sentences of all `blocks` of `text`, in order."""
    found: list[Sentence] = []
    for block in blocks:
        for place, (start, end) in enumerate(answer_sentences(text, block.start, block.end)):
            line = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
            first_on_line = place == 0 and (not found or found[-1].end <= line)
            found.append(Sentence(start, end, line if first_on_line else start, block))
    return found


def _thoughts(answer: str) -> list[tuple[int, int]]:
    """Returns the spans of "<think> ... </think>".

    Some models write only the closing tag: then everything before it is a thought.
    """
    found: list[tuple[int, int]] = []
    opened: tuple[str, int] | None = ("", 0)
    for tag in _THOUGHT_TAG.finditer(answer):
        name = tag["name"].lower()
        if not tag["close"]:
            opened = (name, tag.start()) if opened is None or not opened[0] else opened
        elif opened is not None and opened[0] in ("", name):
            found.append((opened[1], tag.end()))
            opened = None
    return found


def _blanked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Returns `text` at the same length with blanks for `spans`; line ends stay."""
    pieces, last = [], 0
    for start, end in spans:
        pieces += [text[last:start], re.sub(r"[^\r\n]", " ", text[start:end])]
        last = end
    return "".join([*pieces, text[last:]])


def _joined(word: re.Match[str]) -> str:
    """Returns a word with its raised and lowered signs, and blanks up to the length of its markup.

    A word with a blank after it keeps its start, any other word its end, so that a sentence keeps both.
    """
    plain = _RAISED_PART.sub(
        lambda part: part[2].translate(_SUPERSCRIPTS) if part[1].lower() == "sup" else part[2], word[0]
    )
    is_followed = word.string[word.end() : word.end() + 1].isspace()
    return plain.ljust(len(word[0])) if is_followed else plain.rjust(len(word[0]))


def _read_line(line: str, offset: int) -> Block | None:
    """Returns the block of a line that begins at `offset`; None for an empty line, a rule or a code fence."""
    if _RULE.match(line.strip()):
        return None
    indent, end = len(line) - len(line.lstrip()), offset + len(line)
    for kind, mark in _MARKED:
        found = mark.match(line)
        if found:
            return Block(kind, offset + found.end("mark"), end, indent)
    return Block("text", offset, end, indent)


def _is_reference(line: str) -> bool:
    """Returns whether `line` only names a source: "[1] Smith J. Metformin. 2020.", "NICE NG28", an address.

    A line with a dose or an order is a statement. A line that reads as a statement is a source only with two
    signs of it, such as authors, year, journal, volume or address.
    """
    if _ADDRESS_LINE.match(line):
        return True
    numbered = _SOURCE_NUMBER.match(line)
    text = _SOURCE_TITLE.sub("", line[numbered.end() if numbered else 0 :])
    part = Part(read_words(text))
    if has_amount(text) or is_order(part.words):
        return False
    signs = sum(sign.search(line) is not None for sign in _SOURCE_SIGNS)
    return signs >= 2 or not (_SAYING.search(text) or part.clause is not None)


def _continues(before: Block, block: Block, text: str) -> bool:
    """Returns whether `block`, on the next line, continues the sentence of `before`."""
    if block.kind != "text" or before.kind not in ("text", "item"):
        return False
    tail = text[max(before.start, before.end - _WRAPPED_WIDTH.stop) : before.end]
    last = re.split(r"[\r\n]", tail)[-1].rstrip()
    begin = text[block.start : block.end].lstrip()
    if last.endswith((".", "!", "?", ":", ";")):
        return False
    if begin[0] in "%\u2030\u00b0" and last[-1:].isdigit():
        return True  # "12" and "% of adults"
    if _gives_dose(last, begin):
        return True  # "Give amoxicillin" and "500 mg three times a day."
    labelled = ":" in last[:_LONGEST_LABEL] or ":" in begin[:_LONGEST_LABEL]
    new_sentence = begin[0].isupper() and re.split(r"['\u2019\s]", begin)[0].lower() in DETERMINERS | PRONOUNS
    wrapped = before.kind == "text" and len(last) in _WRAPPED_WIDTH and not labelled and not new_sentence
    return begin[0].islower() or _OPEN_END.search(last) is not None or wrapped


def _gives_dose(last: str, begin: str) -> bool:
    """Returns whether the line `begin` only gives the dose of what the line `last` names."""
    below = Part(read_words(begin))
    starts = begin[0].isdigit() and amounts(begin)[:1] and begin.startswith(amounts(begin)[0])
    return bool(starts) and not has_amount(last) and last[-1:].isalpha() and below.clause is None


def _split_inline_items(block: Block, text: str) -> list[Block]:
    """Returns intro and items of a block with "1. ... 2. ... 3. ..." in running text, else [`block`]."""
    if block.kind not in ("text", "item"):
        return [block]
    marks = _counted_marks(block, text)
    if len(marks) < (2 if block.kind == "text" else 1):
        return [block]
    ends = [mark.start() for mark in marks[1:]] + [block.end]
    indent = block.indent + (block.kind == "text")
    items = [Block("item", mark.end(), end, indent) for mark, end in zip(marks, ends, strict=True)]
    intro = replace(block, end=marks[0].start())
    return [intro, *items] if text[intro.start : intro.end].strip() else items


def _counted_marks(block: Block, text: str) -> list[re.Match[str]]:
    """Returns the matches of the numbers that count items in running text: "1.", "2.", "3."."""
    marks: list[re.Match[str]] = []
    for mark in _INLINE_ITEM.finditer(text, block.start, block.end):
        expected = int(marks[-1][1]) + 1 if marks else 1
        if int(mark[1]) == expected or (block.kind == "item" and not marks):
            marks.append(mark)
    return marks
