"""Finds the sections of a document by its headings, in plain text and Markdown."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_medfaith.corpus.normalise import TAG_TAIL, normalise, superscript


@dataclass(frozen=True)
class Section:
    """A part of a document below a heading.

    Attributes:
        path: the headings above it, outermost first: ("Iron", "Dose").
        text: its text, which is `document.text[start:end]`.
        start: its first character in the document.
        end: the character behind its last.
        whole: True for a section that must stay a single chunk, such as an abstract.
    """

    path: tuple[str, ...]
    text: str
    start: int
    end: int
    whole: bool = False


@dataclass(frozen=True)
class Document:
    """A page of a source, with its sections.

    Attributes:
        text: the normalised text, headings included.
        sections: the sections found in it, in order.
        title: "" where none was found.
        url: "" where none was found.
        year: of publication; None where none was found.
        pmid: its number in PubMed, as text; None where it has none.
        file: its path below the source.
        item: in a file of many documents its id, or "#" and its number; else "".
        line: its line in a file with a document on each line; else 0.
        skipped: {kind: how many parts held no text}, such as {"empty answer": 3}.
    """

    text: str
    sections: tuple[Section, ...]
    title: str = ""
    url: str = ""
    year: int | None = None
    pmid: str | None = None
    file: str = ""
    item: str = ""
    line: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)


class Outline:
    """Collects the text of a document from the top down, and cuts it into sections at headings.

    Call `head` for each heading, `write` for text below it, and `finish` at the end.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._body: list[str] = []
        self._body_start = 0
        self._headings: list[tuple[int, str]] = []
        self._sections: list[Section] = []

    def write(self, text: str) -> None:
        """Adds `text`, line ends included, to the current section."""
        self._body.append(text)
        self._length += len(text)

    def head(self, level: int, name: str, *, shown: str) -> None:
        """Ends the current section, and begins the next below a heading.

        Args:
            level: rank of the heading, 1 is highest; it belongs below the last heading with a lower number.
            name: of the section; "" begins a section without a heading.
            shown: how the heading stands in the document's text, with its line end.
        """
        self._close()
        self._headings = [heading for heading in self._headings if heading[0] < level]
        if name:
            self._headings.append((level, name))
        self._parts.append(shown)
        self._length += len(shown)
        self._body_start = self._length

    def _close(self) -> None:
        """Ends the current section; it is kept only if it holds a letter or digit."""
        body = "".join(self._body)
        text = body.strip()
        if any(character.isalnum() for character in text):
            start = self._body_start + len(body) - len(body.lstrip())
            path = tuple(name for _, name in self._headings)
            whole = bool(path) and path[-1].casefold() == "abstract"
            self._sections.append(Section(path, text, start, start + len(text), whole=whole))
        self._parts.append(body)
        self._body = []

    def finish(self) -> tuple[str, tuple[Section, ...]]:
        """Returns (the whole text, its sections)."""
        self._close()
        return "".join(self._parts).rstrip(), tuple(self._sections)


_ITEM = re.compile(r"(?:[-*+•◦▪·\u2013]|\(?\d{1,3}[.)]|\(?[a-z]\)|[>|])(?:\s|$)|\|")
_NUMBERED = re.compile(r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,4})[.)]?\s+(?P<name>[^\W\d_].{0,98}[^\s.,;:!]):?$")
_SENTENCE_END = re.compile(r"[.!?;,]$")
_FEWEST_CAPITALS = 4
_LONGEST_HEADING = 100
# Editors break running text at 60 to 80 columns; a line that is shorter than this was ended by its writer.
_WRAPPED = 45


def read_plain_text(raw: str) -> Document:
    """Returns the document of a plain text; headings are numbered lines (`2.1 Dosage`) and lines in capitals.

    Numbered lines that follow each other are a list, not headings. Lines that an editor wrapped are joined by
    a space, which keeps offsets as they are.
    """
    lines = normalise(raw).split("\n")
    headings = _plain_headings(lines)
    outline = Outline()
    for number, line in enumerate(lines):
        level, name = headings[number]
        if level:
            outline.head(level, name, shown=line + "\n")
        else:
            goes_on = number + 1 < len(lines) and not headings[number + 1][0]
            following = lines[number + 1] if goes_on else ""
            outline.write(line + _line_end(line, following, wrapped=len(line) >= _WRAPPED))
    text, sections = outline.finish()
    return Document(text, sections, title=_plain_title(lines, headings))


def _plain_headings(lines: list[str]) -> list[tuple[int, str]]:
    """Returns (level, name) for each line: capitals are level 1, `1.` is 2, `1.1` is 3.

    (0, "") is no heading.
    """
    headings: list[tuple[int, str]] = []
    for number, line in enumerate(lines):
        free = number == 0 or not lines[number - 1] or headings[-1][0] > 0
        match = _NUMBERED.match(line)
        if match is not None and match["name"][0].isupper():
            listed = not free or _in_a_list(lines, number, match["number"])
            headings.append((0, "") if listed else (2 + match["number"].count("."), match["name"]))
        elif _in_capitals(line) and (free or _SENTENCE_END.search(lines[number - 1])):
            headings.append((1, line.rstrip(": ")))
        else:
            headings.append((0, ""))
    return headings


def _in_capitals(line: str) -> bool:
    """Returns whether a line is a heading in capitals: short, with four letters or more, no sentence."""
    letters = sum(character.isalpha() for character in line)
    return (
        letters >= _FEWEST_CAPITALS
        and len(line) <= _LONGEST_HEADING
        and line.isupper()
        and not _SENTENCE_END.search(line)
        and not _ITEM.match(line)
    )


def _in_a_list(lines: list[str], number: int, mark: str) -> bool:
    """Returns whether the line with the number `mark` is of a list, not a heading.

    It is where the nearest line before or after has the next number: `2.0` or `2.2` beside `2.1`.
    """
    head, _, last = mark.rpartition(".")
    for step in (-1, 1):
        wanted = f"{head}." * bool(head) + str(int(last) + step)
        near = number + step
        while 0 <= near < len(lines) and not lines[near]:
            near += step
        if 0 <= near < len(lines) and re.match(rf"{re.escape(wanted)}[.)]?\s", lines[near]):
            return True
    return False


def _line_end(line: str, following: str, *, wrapped: bool) -> str:
    """Returns what joins a line to the next: a space where an editor wrapped a paragraph, else a line end."""
    joins = line and following and not _ITEM.match(following) and (wrapped or following[0].islower())
    return " " if joins and not line.startswith("|") else "\n"


def _plain_title(lines: list[str], headings: list[tuple[int, str]]) -> str:
    """Returns the first line if it looks like a title, else "".

    It must be short, no sentence, and stand alone or be a heading.
    """
    first = lines[0]
    alone = len(lines) == 1 or not lines[1] or headings[0][0] > 0
    is_title = alone and len(first) <= _LONGEST_HEADING and not _SENTENCE_END.search(first)
    return first.rstrip(": ") if is_title else ""


_ATX = re.compile(r"(?P<marks>#{1,6})(?:\s+(?P<name>.*?))?(?:\s+#+)?$")
_UNDERLINE = re.compile(r"(?:=+|-{3,})$")
_FENCE = re.compile(r"```|~~~")
_FRONT_MATTER = re.compile(r"---\n(?P<fields>(?:(?!---$).*\n)*?)---(?:\n|\Z)", re.MULTILINE)
_MARKS = r"\d{1,3}(?:\s*[-–,;]\s*\d{1,3})*"
_MARK_LINK = rf"\[(?:\\?\[)?{_MARKS}(?:\\?\])?\]\([^()\s]*\)"
_MARKUP: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"<!--(?:(?!-->|<!--).)*-->", re.DOTALL), ""),
    # Links that are marks of references and footnotes: raised, or glued to a word.
    (re.compile(rf"<sup>(?:\s*,?\s*{_MARK_LINK})+\s*</sup>", re.IGNORECASE), ""),
    (re.compile(rf"(?<=[\w%)\]]){_MARK_LINK}(?:\s*[,;–-]\s*{_MARK_LINK})*"), ""),
    (re.compile(rf"(?<=[\w%)])<a\b[^<>]*>\s*{_MARKS}\s*</a>", re.IGNORECASE), ""),
    (re.compile(r"(?<=\S)\[\^[^\]\s]{1,40}\](?!:)"), ""),
    (re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"\n]*\")?\)"), r"\1"),
    (re.compile(r"(?<!\\)\*\*(?=\S)([^*\n]+)(?<=\S)\*\*"), r"\1"),
    (re.compile(r"(?<![\w\\])__(?=\S)([^_\n]+)(?<=\S)__(?!\w)"), r"\1"),
    (re.compile(r"(?<![\w*\\])\*(?=[^\s*])([^*\n]+)(?<=\S)\*(?![\w*])"), r"\1"),
    (re.compile(r"(?<![\w\\])_(?=[^\s_])([^_\n]+)(?<=\S)_(?!\w)"), r"\1"),
    (re.compile(r"(?<!`)`([^`\n]+)`(?!`)"), r"\1"),
    (re.compile(rf"</?(?:a|b|br|div|em|i|p|span|strong|sub|u){TAG_TAIL}", re.IGNORECASE), ""),
    (re.compile(r"(?<=[^\n])\\([\\`*_{}\[\]()#+.!<>|-])"), r"\1"),
)
_RAISED = re.compile(r"<sup>([^<\n]*)</sup>", re.IGNORECASE)
_ENTITY = re.compile(r"&#?\w{1,32};")


def read_markdown(raw: str) -> Document:
    """Returns the document of a Markdown page, cut by its headings, without emphasis, links and images.

    Title and url are those of a front matter (`title:`, `url:` between two lines of ---). Without it, the
    first heading is the title.
    """
    text = normalise(raw)
    fields: dict[str, str] = {}
    outline = Outline()
    front = _FRONT_MATTER.match(text)
    if front is not None:
        for key, colon, value in (line.partition(":") for line in front["fields"].split("\n")):
            if colon:
                fields[key.strip().lower()] = value.strip().strip("\"'")
        outline.head(1, "", shown=front[0])
        text = text[front.end() :]
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    text = _RAISED.sub(lambda match: superscript(match[1]), text)
    text = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
    first = _write_markdown(outline, normalise(text).split("\n"))
    whole, sections = outline.finish()
    return Document(whole, sections, title=fields.get("title") or first, url=fields.get("url", ""))


def _write_markdown(outline: Outline, lines: list[str]) -> str:
    """Writes the lines of a page into `outline`, and returns its first heading; "" where it has none."""
    first, fenced, number = "", False, 0
    while number < len(lines):
        line = lines[number]
        following = lines[number + 1] if number + 1 < len(lines) else ""
        fenced ^= _FENCE.match(line) is not None
        heading = None if fenced else _ATX.match(line)
        if heading is not None:
            name = heading["name"] or ""
            outline.head(len(heading["marks"]), name, shown=line + "\n")
            first = first or name
        elif line and not fenced and _UNDERLINE.match(following) and not _ITEM.match(line):
            outline.head(1 if following[0] == "=" else 2, line, shown=f"{line}\n{following}\n")
            first = first or line
            number += 1
        else:
            ends = fenced or _starts_block(lines, number + 1)
            outline.write(line + ("\n" if ends else _line_end(line, following, wrapped=True)))
        number += 1
    return first


def _starts_block(lines: list[str], number: int) -> bool:
    """Returns whether line `number` must not be joined to the line before it.

    So it is for a heading, and before and after a fence of code.
    """
    line = lines[number] if number < len(lines) else ""
    following = lines[number + 1] if number + 1 < len(lines) else ""
    return bool(
        _FENCE.match(line)
        or _ATX.match(line)
        or (line and _UNDERLINE.match(following))
        or _FENCE.match(lines[number - 1])
    )
