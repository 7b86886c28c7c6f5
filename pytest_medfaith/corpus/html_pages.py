"""Reads HTML pages, and HTML in fields of XML, with the parser of the standard library."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import NamedTuple

from pytest_medfaith.corpus.marks import is_exponent, is_mark, shown_reference
from pytest_medfaith.corpus.normalise import one_line, superscript
from pytest_medfaith.corpus.sections import Document, Outline

_ALWAYS_SKIPPED = frozenset({"script", "style", "template", "svg"})
# The surroundings of a page. Where a site never closes such an element, its text would be lost: see
# `read_html`.
_SKIPPED = _ALWAYS_SKIPPED | frozenset("nav footer aside form noscript button select iframe object".split())
_BLOCKS = frozenset(
    "address article blockquote body br caption center dd details div dl dt fieldset figcaption figure "
    "header hr html li main ol p pre "
    "section summary table tbody tfoot thead tr ul".split()
)
_CELLS = frozenset({"td", "th"})
_BEFORE = 12  # pieces of a line before a mark, searched for a bracket or word that the mark belongs to
_HEADING = re.compile(r"h[1-6]$")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
# Attributes of <sup> that may show that the text is a reference mark, and the words by which they do.
_KINDS = frozenset({"class", "id", "role", "epub:type"})
_NOTE = re.compile(
    r"(?:^|[\s_-])(?:bib|x?ref|reference|cite|citation|fn|footnote|doc-noteref|noteref)", re.IGNORECASE
)


class Line(NamedTuple):
    """A line of a page.

    Attributes:
        level: 1 to 6 for a heading h1 to h6; 0 for text.
        text: of the line.
        in_main: whether it is within <main>.
    """

    level: int
    text: str
    in_main: bool


class _Page(HTMLParser):
    """A parser that turns a page into lines of text, without what `skipped` names.

    Attributes:
        lines: the lines so far.
        title: the text of <title>; "" where there is none.
        url: the canonical url; "" where there is none.
        year: of publication or change; None where the page tells none.
        open_skips: skipped elements that were opened and not closed yet.
    """

    def __init__(self, *, skipped: frozenset[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[Line] = []
        self.title = self.url = ""
        self.year: int | None = None
        self.open_skips: list[str] = []
        self._skipped = skipped
        self._pieces: list[str] = []
        self._raised: int | None = None  # the piece with which raised text began
        self._raised_mark = False
        self._link: int | None = None  # the piece with which the text of a link began
        self._level = 0
        self._mains = 0
        self._cells = 0  # cells of this row so far
        self._row_has_line = False  # a block in a cell of this row ended a line
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Handles the start of an element; overrides HTMLParser's method."""
        if tag in {"meta", "link"}:
            self._read_meta({name: value or "" for name, value in attrs})
        elif tag == "title":
            self._in_title = not self.title
        elif tag in self._skipped and not (tag == "button" and self._level):
            self.open_skips.append(tag)
        elif not self.open_skips:
            self._start_shown(tag)
            if tag == "sup":
                self._raised_mark = any(name in _KINDS and _NOTE.search(value or "") for name, value in attrs)
            elif tag == "a":
                self._link = len(self._pieces)

    def _start_shown(self, tag: str) -> None:
        """Handles the start of an element whose text is shown: a heading, block, cell or raised text."""
        if _HEADING.match(tag):
            self.flush()
            self._level = int(tag[1])
        elif tag == "br" and self._level:
            self._pieces.append(" ")
        elif tag in _BLOCKS:
            self.flush()
            self._mains += tag == "main"
            if tag == "tr":
                self._cells, self._row_has_line = 0, False
        elif tag in _CELLS:
            # An empty cell is divided from the next too: values belong to columns.
            if self._cells and (not self._row_has_line or any(piece.strip() for piece in self._pieces)):
                self._pieces.append(" | ")
            self._cells += 1
        elif tag == "sup":
            self._raised = len(self._pieces)

    def handle_endtag(self, tag: str) -> None:
        """Handles the end of an element; overrides HTMLParser's method."""
        if tag == "title":
            self._in_title = False
        elif tag in self._skipped:
            if tag in self.open_skips:
                del self.open_skips[self.open_skips.index(tag) :]
        elif not self.open_skips:
            self._end_shown(tag)

    def _end_shown(self, tag: str) -> None:
        """Handles the end of an element whose text is shown."""
        if tag == "sup":
            self._raise()
        elif tag == "a":
            self._end_link()
        elif tag in _BLOCKS or _HEADING.match(tag):
            self.flush()
            if _HEADING.match(tag):
                self._level = 0
            self._mains = max(0, self._mains - (tag == "main"))

    def handle_data(self, data: str) -> None:
        """Adds text to the line, or to the page's title; overrides HTMLParser's method."""
        if self._in_title:
            self.title += data
        elif not self.open_skips:
            self._pieces.append(data)

    def _read_meta(self, values: dict[str, str]) -> None:
        """Reads url and year from a <meta> or <link> element."""
        name = values.get("property") or values.get("name") or values.get("rel", "")
        if name in {"canonical", "og:url"}:
            self.url = self.url or values.get("href") or values.get("content", "")
        elif name.lower() in {
            "article:modified_time",
            "article:published_time",
            "dcterms.modified",
            "dc.date",
            "citation_publication_date",
        }:
            found = _YEAR.search(values.get("content", ""))
            self.year = int(found[0]) if found and self.year is None else self.year

    def _raise(self) -> None:
        """Ends raised text: a reference mark is left out, a number becomes a superscript."""
        if self._raised is not None:
            raised = "".join(self._pieces[self._raised :])
            before = "".join(self._pieces[max(0, self._raised - _BEFORE) : self._raised])
            is_left_out = is_mark(raised) and (self._raised_mark or not is_exponent(before, raised))
            self._pieces[self._raised :] = [] if is_left_out else [superscript(raised)]
        self._raised = None

    def _end_link(self) -> None:
        """Ends a link: a bare number glued to a word is a reference mark and left out."""
        if self._link is None:
            return
        text = "".join(self._pieces[self._link :])
        before = "".join(self._pieces[max(0, self._link - _BEFORE) : self._link])
        if self._raised is not None:
            self._raised_mark |= is_mark(text)
        elif is_mark(text) and before[-1:].strip():
            self._pieces[self._link :] = [shown_reference(before, text)]
        self._link = None

    def flush(self) -> None:
        """Ends the line, and keeps it if it holds text."""
        self._raise()
        text = one_line("".join(self._pieces))
        if text.strip("| "):
            self.lines.append(Line(self._level, text, in_main=self._mains > 0))
            self._row_has_line = True
            self._level = 0  # an empty line ends no heading: <h2><div>Dosage</div></h2>
        self._pieces = []


def _parsed(raw: str, *, skipped: frozenset[str]) -> _Page:
    """Returns the parser after it read a page; `skipped` names elements whose text is left out."""
    page = _Page(skipped=skipped)
    page.feed(raw)
    page.close()
    page.flush()
    return page


def read_html(raw: str) -> Document:
    """Returns the document of a page, cut by its headings h1 to h6, without navigation, scripts and forms.

    If the page has <main>, only the text in it counts. The url is the page's canonical url, the title its
    first h1, else <title>. A row of a table becomes a line: "Drug | Dose", empty cells included.
    """
    page = _parsed(raw, skipped=_SKIPPED)
    holds_text = any(line.level == 0 for line in page.lines)
    # An element of the surroundings was never closed, or holds the whole page.
    if page.open_skips or not holds_text:
        page = _parsed(raw, skipped=_ALWAYS_SKIPPED)
    outline = Outline()
    write_html_lines(outline, page.lines)
    text, sections = outline.finish()
    first = next((line.text for line in page.lines if line.level == 1), "")
    return Document(text, sections, title=first or one_line(page.title), url=page.url, year=page.year)


def html_lines(raw: str) -> list[Line]:
    """Returns the lines of a piece of HTML, without scripts and styles."""
    return _parsed(raw, skipped=_ALWAYS_SKIPPED).lines


def write_html_lines(outline: Outline, lines: list[Line]) -> None:
    """Writes lines into `outline`; if some are within <main>, only those."""
    only_main = any(line.in_main for line in lines)
    for line in lines:
        if only_main and not line.in_main:
            continue
        if line.level:
            outline.head(line.level, line.text, shown=line.text + "\n")
        else:
            outline.write(line.text + "\n")
