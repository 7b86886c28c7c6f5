"""Reads the XML of PubMed Central (JATS), Bookshelf (BITS), PubMed, MedlinePlus and MedQuAD.

Their elements are described at jats.nlm.nih.gov (archiving and BITS tag libraries), in the PubMed DTD, at
medlineplus.gov/xml.html and github.com/abachaa/MedQuAD.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import IO
from xml.etree.ElementTree import Element

from pytest_medfaith.corpus.html_pages import html_lines, write_html_lines
from pytest_medfaith.corpus.marks import apart, is_separator, shown_reference
from pytest_medfaith.corpus.normalise import normalise, one_line, superscript
from pytest_medfaith.corpus.safe_xml import xml_records
from pytest_medfaith.corpus.sections import Document, Outline

# Shown beside a text, not part of it: references, formulas in TeX, file names, footnote anchors.
_LEFT_OUT = frozenset(
    "ref-list tex-math graphic media inline-graphic object-id label permissions fn-group ack notes sec-meta "
    "supplementary-material counts processing-meta".split()
)
_BLOCKS = frozenset(
    "sec p list list-item def-list def-item table-wrap table fig boxed-text disp-quote disp-formula "
    "statement speech app app-group thead tbody tfoot glossary caption body back front-matter-part "
    "book-part "
    "named-book-part-body fig-group table-wrap-group tr verse-group preformat question answer".split()
)
_HEADED = frozenset({"sec", "app", "boxed-text", "glossary", "app-group"})  # blocks whose title is a heading
# Links whose text is a mark. The text of a link to a figure, table or section is part of its sentence ("see
# Table 3").
_MARKED = frozenset({"bibr", "fn", "table-fn", "aff", "corresp", "author-notes", "contrib", "other"})
_SUBTITLE_WORDS = 12
_BEFORE = 12  # pieces of a line before a mark, searched for a bracket or word that the mark belongs to
_OTHER_ABSTRACTS = frozenset({"graphical", "toc", "teaser", "key-points", "precis", "translated"})
_ONE_RECORD_ROOTS = frozenset({"article", "book-part", "book-part-wrapper", "Document"})


def read_xml(stream: IO[bytes], *, place: str) -> Iterator[Document]:
    """Yields the documents of an XML file, each when it is asked for.

    A document is an article, a book part, a PubMed record, a MedlinePlus topic or a MedQuAD page. A document
    of a file of several has an `item`, its id or "#" and its number.

    Args:
        stream: the bytes of the file.
        place: the file, for messages.

    Raises:
        DataError: what `xml_records` refuses, with file, line and column.
    """
    records = xml_records(stream, place=place, tags=frozenset(_READERS))
    for number, (root, element) in enumerate(records, start=1):
        document = _READERS[element.tag](element)
        alone = number == 1 and root in _ONE_RECORD_ROOTS
        yield replace(document, item="" if alone else document.item or f"#{number}")


def _inline(element: Element) -> str:
    """Returns the text within `element`, without `_LEFT_OUT`; raised numbers become superscripts: "10⁻³"."""
    pieces = [element.text or ""]
    for child in element:
        _add_inline(pieces, child)
    return "".join(pieces)


def _add_inline(pieces: list[str], child: Element) -> None:
    """Appends to `pieces`, the text so far, the text of `child` and what follows it in its parent."""
    before = "".join(pieces[-_BEFORE:])
    shown = _inline_child(child, before)
    if not shown and len(pieces) > 2 and not pieces[-2] and is_separator(pieces[-1]):
        pieces[-1] = ""  # the separator of two marks that are both left out
    pieces.append(shown)
    pieces.append(child.tail or "")


def _inline_child(child: Element, before: str) -> str:
    """Returns what the text shows of `child`, which follows `before`; "" for what is left out."""
    if child.tag in _LEFT_OUT or _is_raised_mark(child):
        return ""
    if child.tag == "xref":
        show = shown_reference if child.get("ref-type", "bibr") in _MARKED else apart
        return show(before, _inline(child))
    if child.tag == "sup":
        return superscript(_inline(child))
    is_block = child.tag in _BLOCKS or child.tag in {"break", "td", "th"}
    return f" {_inline(child)} " if is_block else _inline(child)


def _is_raised_mark(element: Element) -> bool:
    """Returns whether `element` is a raised reference mark, which would be glued to the word before it.

    Examples are `cells<sup><xref>12</xref></sup>`, and the same with the elements the other way round.
    """
    if element.tag == "sup":
        return any(reference.get("ref-type", "bibr") in _MARKED for reference in element.iter("xref"))
    is_mark = element.tag == "xref" and element.get("ref-type", "bibr") in _MARKED
    return is_mark and element.find(".//sup") is not None


def _text(element: Element | None) -> str:
    """Returns the text of `element` on a single line; "" for None."""
    return "" if element is None else one_line(_inline(element))


def _year(text: str) -> int | None:
    """Returns the first year from 1900 to 2099 in `text`; None where there is none."""
    found = re.search(r"\b(?:19|20)\d\d\b", text)
    return int(found[0]) if found else None


def _earliest_year(element: Element) -> int | None:
    """Returns the earliest year of publication within `element`; None where there is none."""
    years = (_year(date.findtext("year", "")) for date in element.iter("pub-date"))
    return min((year for year in years if year is not None), default=None)


def _write_blocks(outline: Outline, element: Element, level: int) -> None:
    """Writes the blocks within `element` to `outline`.

    Titles and bold paragraphs become headings of `level`.
    """
    pieces = [element.text or ""]
    for child in element:
        if child.tag in _BLOCKS:
            _write_line(outline, pieces)
            _write_block(outline, child, level)
        elif child.tag == "title":
            _write_line(outline, pieces)
            if element.tag not in _HEADED:
                _write_line(outline, [_inline(child)])
        elif not child.tag.endswith("-meta"):
            _add_inline(pieces, child)
            continue
        pieces.append(child.tail or "")
    _write_line(outline, pieces)


def _write_line(outline: Outline, pieces: list[str]) -> None:
    """Writes `pieces` as a line and empties the list; writes nothing if there is no text."""
    line = one_line("".join(pieces))
    pieces.clear()
    if line:
        outline.write(line + "\n")


def _write_block(outline: Outline, element: Element, level: int) -> None:
    """Writes a block: a titled section, a subtitle, a row of a table, a definition, or blocks within it.

    Example: a row becomes "Drug | Dose".
    """
    name = _text(element.find("title")) or _text(element.find("book-part-meta/title-group/title"))
    if (element.tag in _HEADED or element.tag == "book-part") and name:
        outline.head(level, name, shown=name + "\n")
        _write_blocks(outline, element, level + 1)
    elif element.tag == "p" and _is_subtitle(element):
        outline.head(level, _text(element).rstrip(":"), shown=_text(element) + "\n")
    elif element.tag == "tr":
        # An empty cell keeps its place: values belong to columns.
        cells = [_text(cell) for cell in element]
        _write_line(outline, [" | ".join(cells) if any(cells) else ""])
    elif element.tag == "def-item":
        _write_line(outline, [": ".join(filter(None, map(_text, element)))])
    else:
        _write_blocks(outline, element, level)


def _is_subtitle(element: Element) -> bool:
    """Returns whether a paragraph is a single short bold line, as StatPearls writes its subtitles."""
    if len(element) != 1 or element[0].tag != "bold":
        return False
    if (element.text or "").strip() or (element[0].tail or "").strip():
        return False
    text = _text(element)
    return 0 < len(text.split()) <= _SUBTITLE_WORDS and text[-1] not in ".!?;,"


def _write_abstracts(outline: Outline, meta: Element) -> None:
    """Writes each abstract as a section Abstract; its parts keep their labels: "METHODS: We ..."."""
    for abstract in meta.findall("abstract"):
        if abstract.get("abstract-type", "") in _OTHER_ABSTRACTS:
            continue
        outline.head(1, "Abstract", shown="Abstract\n")
        for part in abstract.iter("sec"):
            label = _text(part.find("title")).rstrip(":")
            for paragraph in _paragraphs(part):
                _write_line(outline, [f"{label}: " if label else "", _text(paragraph)])
                label = ""
        for paragraph in _paragraphs(abstract):
            _write_line(outline, [_text(paragraph)])


def _paragraphs(part: Element) -> list[Element]:
    """Returns the paragraphs, lists and tables directly in `part`, without its title and its sections."""
    return [child for child in part if child.tag not in ("sec", "title") and child.tag not in _LEFT_OUT]


def _read_article(article: Element) -> Document:
    """Returns the document of a JATS article: the abstract as a whole section, then body and appendices."""
    meta = article.find("front/article-meta")
    meta = meta if meta is not None else Element("article-meta")
    ids = {found.get("pub-id-type", ""): _text(found) for found in meta.findall("article-id")}
    pmc = next((ids[kind] for kind in ("pmcid", "pmc", "pmcaid") if ids.get(kind)), "")
    pmc = pmc if not pmc or pmc.startswith("PMC") else f"PMC{pmc}"
    outline = Outline()
    _write_abstracts(outline, meta)
    _write_rest(outline, article, ("body", "back", "floats-group"))
    text, sections = outline.finish()
    return Document(
        text,
        sections,
        title=_text(meta.find("title-group/article-title")),
        url=_article_url(pmc, ids.get("doi", ""), meta),
        year=_earliest_year(meta),
        pmid=ids.get("pmid") or None,
        item=pmc,
    )


def _article_url(pmc: str, doi: str, meta: Element) -> str:
    """Returns an article's address by its PMC id, else its DOI, else its self-uri; "" where it has none."""
    if pmc:
        return f"https://www.ncbi.nlm.nih.gov/pmc/articles/{pmc}/"
    if doi:
        return f"https://doi.org/{doi}"
    link = meta.find("self-uri")
    return "" if link is None else link.get("href", "") or _text(link)


def _write_rest(outline: Outline, element: Element, names: tuple[str, ...]) -> None:
    """Writes the elements of `element` called `names`, in that order, each from the top level on."""
    for name in names:
        for part in element.findall(name):
            outline.head(1, "", shown="")
            _write_blocks(outline, part, 1)


def _read_book_part(part: Element) -> Document:
    """Returns the document of a BITS chapter with its parts; url and id are made of its NBK number."""
    meta = part.find("book-part-meta")
    meta = meta if meta is not None else Element("book-part-meta")
    ids = [part.get("id", ""), *(_text(found) for found in meta.findall("book-part-id"))]
    accession = next((name for name in ids if re.fullmatch(r"NBK\d+", name)), "")
    outline = Outline()
    _write_abstracts(outline, meta)
    _write_rest(outline, part, ("body", "back"))
    text, sections = outline.finish()
    return Document(
        text,
        sections,
        title=_text(meta.find("title-group/title")),
        url=f"https://www.ncbi.nlm.nih.gov/books/{accession}/" if accession else "",
        year=_earliest_year(meta),
        item=accession,
    )


def _read_pubmed(article: Element) -> Document:
    """Returns the document of a PubMed record: its abstract, with labels such as "METHODS: " in it."""
    return _abstract_document(
        article.findall("MedlineCitation/Article/Abstract/AbstractText"),
        title=_text(article.find("MedlineCitation/Article/ArticleTitle")),
        pmid=article.findtext("MedlineCitation/PMID", "").strip(),
        date=article.find("MedlineCitation/Article/Journal/JournalIssue/PubDate"),
    )


def _read_pubmed_book(article: Element) -> Document:
    """Returns the document of a PubMed record of a book or chapter, as of GeneReviews: its abstract."""
    chapter = article.find("BookDocument")
    chapter = chapter if chapter is not None else Element("BookDocument")
    date = chapter.find("ContributionDate")
    return _abstract_document(
        chapter.findall("Abstract/AbstractText"),
        title=_text(chapter.find("ArticleTitle")) or _text(chapter.find("Book/BookTitle")),
        pmid=chapter.findtext("PMID", "").strip(),
        date=date if date is not None else chapter.find("Book/PubDate"),
    )


def _abstract_document(parts: list[Element], *, title: str, pmid: str, date: Element | None) -> Document:
    """Returns a document with one section, Abstract, made of the parts of an abstract."""
    outline = Outline()
    outline.head(1, "Abstract", shown="Abstract\n")
    for part in parts:
        label = part.get("Label", "").strip().rstrip(":")
        _write_line(outline, [f"{label}: " if label and _text(part) else "", _text(part)])
    text, sections = outline.finish()
    return Document(
        text,
        sections,
        title=title,
        url=f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid else "",
        year=None if date is None else _year(" ".join(date.itertext())),
        pmid=pmid or None,
        item=pmid,
    )


def _read_health_topic(topic: Element) -> Document:
    """Returns the document of a MedlinePlus health topic: its full summary, which holds HTML."""
    return _html_field(
        topic.findtext("full-summary", ""),
        title=topic.get("title", ""),
        url=topic.get("url", ""),
        item=topic.get("id", ""),
    )


def _read_search_result(result: Element) -> Document:
    """Returns the document of a result of MedlinePlus's web service: its FullSummary, unhighlighted."""
    found = result.findall("content")
    contents = {content.get("name", "").lower(): "".join(content.itertext()) for content in found}
    title = " ".join(line.text for line in html_lines(contents.get("title", "")))
    url = result.get("url", "")
    return _html_field(
        contents.get("fullsummary", ""),
        title=title,
        url=url,
        item=re.sub(r"\.html?$", "", url.rstrip("/").rpartition("/")[2]),
    )


def _html_field(raw: str, *, title: str, url: str, item: str) -> Document:
    """Returns the document of a field of XML that holds HTML."""
    outline = Outline()
    write_html_lines(outline, html_lines(raw))
    text, sections = outline.finish()
    return Document(text, sections, title=one_line(title), url=url.strip(), item=item.strip())


# MedQuAD flattened the lists of its pages: an item begins with a hyphen after two spaces or more.
_FLAT_ITEM = re.compile(r"\s{2,}-\s+(?=\S)")


def _read_medquad(page: Element) -> Document:
    """Returns the document of a MedQuAD page: each question is a heading, its answer the section below.

    Empty answers are counted in `skipped`.
    """
    outline = Outline()
    skipped: Counter[str] = Counter()
    for pair in page.iter("QAPair"):
        question = _text(pair.find("Question"))
        answer = normalise(_FLAT_ITEM.sub("\n- ", pair.findtext("Answer", "")))
        if answer:
            outline.head(1, question, shown=question + "\n")
            outline.write(answer + "\n\n")
        else:
            skipped["empty answer"] += 1
    text, sections = outline.finish()
    return Document(
        text, sections, title=_text(page.find("Focus")), url=page.get("url", ""), skipped=dict(skipped)
    )


_READERS: dict[str, Callable[[Element], Document]] = {
    "article": _read_article,
    "book-part": _read_book_part,
    "PubmedArticle": _read_pubmed,
    "PubmedBookArticle": _read_pubmed_book,
    "health-topic": _read_health_topic,
    "document": _read_search_result,
    "Document": _read_medquad,
}
