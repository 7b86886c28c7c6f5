"""Reads HTML pages, also those written into XML fields, with the parser of the standard library."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from pytest_medfaith.corpus.marks import is_mark, shown_reference
from pytest_medfaith.corpus.normalise import one_line, superscript
from pytest_medfaith.corpus.sections import Document, Outline

_ALWAYS_SKIPPED = frozenset({"script", "style", "template", "svg"})
# What surrounds a page and says nothing of its subject. A site that never closes one would lose its text: see `read_html`.
_SKIPPED = _ALWAYS_SKIPPED | {
    "nav",
    "footer",
    "aside",
    "form",
    "noscript",
    "button",
    "select",
    "iframe",
    "object",
}
_BLOCKS = frozenset(
    "address article blockquote body br caption center dd details div dl dt fieldset figcaption figure header hr html li main ol p pre "
    "section summary table tbody tfoot thead tr ul".split()
)
_CELLS = frozenset({"td", "th"})
_BEFORE = 12  # pieces of a line that tell whether brackets or a word hold a mark
_HEADING = re.compile(r"h[1-6]$")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


class _Page(HTMLParser):
    """Turns tags into lines: (heading level or 0, text, whether inside <main>)."""

    def __init__(self, *, skipped: frozenset[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[tuple[int, str, bool]] = []
        self.title = self.url = ""
        self.year: int | None = None
        self.open_skips: list[str] = []
        self._skipped = skipped
        self._pieces: list[str] = []
        self._raised: int | None = None
        self._raised_mark = False
        self._link: int | None = None  # where the text of a link began
        self._level = 0
        self._mains = 0
        self._cells = 0  # of the row at hand
        self._row_has_line = False  # blocks in its cells made lines of their own
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"meta", "link"}:
            self._read_meta({name: value or "" for name, value in attrs})
        elif tag == "title":
            self._in_title = not self.title
        elif tag in self._skipped and not (tag == "button" and self._level):
            self.open_skips.append(tag)
        elif not self.open_skips:
            self._start_shown(tag)
            if tag == "a":
                self._link = len(self._pieces)

    def _start_shown(self, tag: str) -> None:
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
            self._start_cell()
        elif tag == "sup":
            self._raised, self._raised_mark = len(self._pieces), False

    def _start_cell(self) -> None:
        """Divides the cell from the one before, also where that is empty: values belong to columns."""
        if self._cells and (not self._row_has_line or any(piece.strip() for piece in self._pieces)):
            self._pieces.append(" | ")
        self._cells += 1

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag in self._skipped:
            if tag in self.open_skips:
                del self.open_skips[self.open_skips.index(tag) :]
        elif not self.open_skips:
            self._end_shown(tag)

    def _end_shown(self, tag: str) -> None:
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
        if self._in_title:
            self.title += data
        elif not self.open_skips:
            self._pieces.append(data)

    def _read_meta(self, values: dict[str, str]) -> None:
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
        if self._raised is not None:
            raised = "".join(self._pieces[self._raised :])
            self._pieces[self._raised :] = (
                [] if self._raised_mark and is_mark(raised) else [superscript(raised)]
            )
        self._raised = None

    def _end_link(self) -> None:
        """Leaves out a link that hangs on a word as a bare number, which is a note's; a raised one goes with what is raised."""
        if self._link is None:
            return
        text, before = (
            "".join(self._pieces[self._link :]),
            "".join(self._pieces[max(0, self._link - _BEFORE) : self._link]),
        )
        if self._raised is not None:
            self._raised_mark |= is_mark(text)
        elif is_mark(text) and before[-1:].strip():
            self._pieces[self._link :] = [shown_reference(before, text)]
        self._link = None

    def flush(self) -> None:
        """Ends the line."""
        self._raise()
        text = one_line("".join(self._pieces))
        if text.strip("| "):
            self.lines.append((self._level, text, self._mains > 0))
            self._row_has_line = True
            self._level = 0  # an empty line ends no heading: <h2><div>Dosage</div></h2>
        self._pieces = []


def _parsed(raw: str, *, skipped: frozenset[str]) -> _Page:
    page = _Page(skipped=skipped)
    page.feed(raw)
    page.close()
    page.flush()
    return page


def read_html(raw: str) -> Document:
    """Returns the document of a page: <main> where there is one, without navigation, scripts and forms; headings h1 to h6 cut it.

    The url is the page's canonical one; the title its first h1, else <title>. Table rows are lines, cells divided by ` | `, empty ones too.
    """
    page = _parsed(raw, skipped=_SKIPPED)
    holds_text = any(level == 0 for level, _, _ in page.lines)
    if (
        page.open_skips or not holds_text
    ):  # an element of the surroundings was never closed, or holds the whole page
        page = _parsed(raw, skipped=_ALWAYS_SKIPPED)
    outline = Outline()
    write_html_lines(outline, page.lines)
    text, sections = outline.finish()
    first = next((line for level, line, _ in page.lines if level == 1), "")
    return Document(text, sections, title=first or one_line(page.title), url=page.url, year=page.year)


def html_lines(raw: str) -> list[tuple[int, str, bool]]:
    """Returns (heading level or 0, text, whether inside <main>) a line of a piece of HTML."""
    return _parsed(raw, skipped=_ALWAYS_SKIPPED).lines


def write_html_lines(outline: Outline, lines: list[tuple[int, str, bool]]) -> None:
    """Writes lines into `outline`; where some are inside <main>, only those."""
    only_main = any(main for _, _, main in lines)
    for level, line, main in lines:
        if only_main and not main:
            continue
        if level:
            outline.head(level, line, shown=line + "\n")
        else:
            outline.write(line + "\n")
