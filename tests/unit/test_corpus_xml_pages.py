import io

import pytest

from pytest_medfaith.corpus.sections import Document
from pytest_medfaith.corpus.xml_pages import read_xml
from pytest_medfaith.errors import DataError


def read(xml: str | bytes) -> list[Document]:
    data = xml.encode() if isinstance(xml, str) else xml
    documents = list(read_xml(io.BytesIO(data), place="page.xml"))
    for document in documents:
        assert all(
            document.text[section.start : section.end] == section.text for section in document.sections
        )
    return documents


def outline(document: Document) -> list[tuple[tuple[str, ...], str]]:
    return [(section.path, section.text) for section in document.sections]


JATS = """<?xml version="1.0"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Archiving DTD v1.3//EN" \
"JATS-archivearticle1-3.dtd">
<article xmlns:xlink="http://www.w3.org/1999/xlink" \
xmlns:mml="http://www.w3.org/1998/Math/MathML"><front><article-meta>
<article-id pub-id-type="pmid">111</article-id><article-id pub-id-type="pmc">222</article-id>
<title-group><article-title>Drug <italic>A</italic> for gout</article-title></title-group>
<pub-date pub-type="epub"><year>2019</year></pub-date><pub-date pub-type="ppub"><year>2020</year></pub-date>
<abstract><sec><title>Aims:</title><p>We compared A with B.</p></sec>\
<sec><title>Results</title><p>A won.</p></sec></abstract>
<abstract abstract-type="graphical"><p>A picture.</p></abstract></article-meta></front>
<body><p>Gout hurts.</p>\
<sec><label>1</label><title>Methods</title><p>We gave 10<sup>-3</sup>&#160;g of A<sup><xref
ref-type="bibr">4</xref></sup> to TNF-&alpha; users [<xref ref-type="bibr" rid="b">5</xref>]:
<list><list-item><p>adults</p></list-item><list-item><p>children</p></list-item></list></p>
<sec><title>Dosing</title><table-wrap><label>Table 1</label>\
<caption><title>Doses</title></caption><table><tr><th>Arm</th><th>mg</th></tr>
<tr><td>A</td><td>5 &#177; 1</td></tr></table></table-wrap></sec></sec></body>
<back><ack><p>Thanks.</p></ack><ref-list><title>References</title>
<ref><mixed-citation>Old paper</mixed-citation></ref></ref-list></back></article>"""


def test_jats_article():
    (document,) = read(JATS)
    assert (document.title, document.year, document.pmid, document.item) == (
        "Drug A for gout",
        2019,
        "111",
        "",
    )
    assert document.url == "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC222/"
    assert outline(document) == [
        (("Abstract",), "Aims: We compared A with B.\nResults: A won."),
        ((), "Gout hurts."),
        (("Methods",), "We gave 10⁻³ g of A to TNF-α users [5]:\nadults\nchildren"),
        (("Methods", "Dosing"), "Doses\nArm | mg\nA | 5 ± 1"),
    ]
    assert [section.whole for section in document.sections] == [True, False, False, False]


def test_articles_of_a_set_are_named_by_their_own_ids():
    article = JATS[JATS.index("<article ") :].replace("&alpha;", "α")
    first, second = read(
        f"<pmc-articleset>{article}<article><body><p>No id.</p></body></article></pmc-articleset>"
    )
    assert (first.item, second.item) == ("PMC222", "#2")


BITS = """<book-part-wrapper>\
<book-meta><book-title-group><book-title>Reviews</book-title></book-title-group></book-meta>
<book-part id="NBK123" book-part-type="chapter">\
<book-part-meta><title-group><title>Sepsis</title></title-group></book-part-meta>
<body><sec><title>Treatment</title><p><bold>Fluids</bold></p><p>Give 30 mL/kg.</p></sec></body>\
</book-part></book-part-wrapper>"""


def test_bookshelf_chapter_with_bold_subtitles():
    (document,) = read(BITS)
    assert (document.title, document.url, document.item) == (
        "Sepsis",
        "https://www.ncbi.nlm.nih.gov/books/NBK123/",
        "",
    )
    assert outline(document) == [(("Treatment", "Fluids"), "Give 30 mL/kg.")]


def test_a_book_of_chapters_is_read_chapter_by_chapter():
    chapters = "".join(
        f"<book-part><book-part-meta><title-group><title>C{i}</title></title-group></book-part-meta><body><p>"
        f"Text {i}.</p>"
        "<book-part><book-part-meta><title-group><title>Part</title></title-group></book-part-meta><body><p>I"
        "nner.</p></body></book-part></body></book-part>"
        for i in (1, 2)
    )
    documents = read(f"<book><book-body>{chapters}</book-body></book>")
    assert [(document.item, document.title) for document in documents] == [("#1", "C1"), ("#2", "C2")]
    assert outline(documents[1]) == [((), "Text 2."), (("Part",), "Inner.")]


def test_pubmed_abstracts_are_whole_sections():
    first, second = read(
        "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID "
        'Version="1">31</PMID><Article><Journal><JournalIssue><PubDate>'
        "<MedlineDate>2001 Jan-Feb</MedlineDate></PubDate></JournalIssue></Journal><ArticleTitle>A vs "
        "B.</ArticleTitle><Abstract>"
        '<AbstractText Label="AIM">To <i>see</i>.</AbstractText><AbstractText Label="RESULTS">p &lt; '
        "0.05.</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle><PubmedArticle><MedlineCi"
        "tation><PMID>32</PMID><Article><ArticleTitle>None.</ArticleTitle></Article></MedlineCitation></Pubme"
        "dArticle></PubmedArticleSet>"
    )
    assert (first.pmid, first.item, first.year, first.url) == (
        "31",
        "31",
        2001,
        "https://pubmed.ncbi.nlm.nih.gov/31/",
    )
    assert outline(first) == [(("Abstract",), "AIM: To see.\nRESULTS: p < 0.05.")]
    assert first.sections[0].whole
    assert second.sections == ()


def test_medlineplus_topics_and_search_results():
    (topic,) = read(
        '<health-topics total="1"><health-topic title="Gout" url="https://medlineplus.gov/gout.html" id="9" '
        'language="English">'
        "<full-summary>&lt;p&gt;Gout is &lt;b&gt;arthritis&lt;/b&gt;.&lt;/p&gt;&lt;h3&gt;Treatment&lt;/h3&gt;"
        "&lt;p&gt;5 &amp;lt; 6&lt;/p&gt;</full-summary></health-topic></health-topics>"
    )
    assert (topic.title, topic.url, topic.item) == ("Gout", "https://medlineplus.gov/gout.html", "9")
    assert outline(topic) == [((), "Gout is arthritis."), (("Treatment",), "5 < 6")]
    (result,) = read(
        '<nlmSearchResult><list><document rank="0" url="https://medlineplus.gov/gout.html">'
        '<content name="title">&lt;span class="qt0"&gt;Gout&lt;/span&gt;</content>'
        '<content name="FullSummary">&lt;p&gt;Urate.&lt;/p&gt;</content>'
        "</document></list></nlmSearchResult>"
    )
    assert (result.title, result.item, outline(result)) == ("Gout", "gout", [((), "Urate.")])


def test_medquad_questions_are_headings_and_empty_answers_are_counted():
    (page,) = read(
        '<Document id="1" source="X" url="https://example.org/g"><Focus>Gout</Focus><QAPairs><QAPair pid="1">'
        "<Question>What is Gout ?</Question><Answer>Key points   - It hurts.   -  Urate is "
        "high.</Answer></QAPair><QAPair><Question>Why?</Question><Answer></Answer></QAPair>"
        "</QAPairs></Document>"
    )
    assert (page.title, page.url, page.skipped) == ("Gout", "https://example.org/g", {"empty answer": 1})
    assert outline(page) == [(("What is Gout ?",), "Key points\n- It hurts.\n- Urate is high.")]


BILLION_LAUGHS = (
    '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><article><body><p>&b;</p></body></article>'
)
EXTERNAL = (
    '<!DOCTYPE x [<!ENTITY secret SYSTEM "file:///etc/hostname">]><article><body><p>&secret;</p></body></arti'
    "cle>"
)
PARAMETER = '<!DOCTYPE x [<!ENTITY % remote SYSTEM "https://example.org/x.dtd"> %remote;]><article/>'


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        (BILLION_LAUGHS, r"page\.xml:1:\d+: the file declares the entity 'a'; entities are refused"),
        (EXTERNAL, r"page\.xml:1:\d+: the file declares the entity 'secret'"),
        (PARAMETER, r"page\.xml:1:\d+: the file declares the entity 'remote'"),
        (
            "<article><body>\n<p>The end is mis",
            r"page\.xml:2:18: not well-formed XML \(.*\)\. The file ends early",
        ),
        ("", r"page\.xml:1:1: not well-formed XML \(no element found\)"),
        (
            "<article><p>a</b></article>",
            r"page\.xml:1:\d+: not well-formed XML \(mismatched tag\)\. Repair it there",
        ),
        (
            '<!DOCTYPE article SYSTEM "a.dtd"><article><body><p>&nosuch;</p></body></article>',
            r"the entity &nosuch; is not known",
        ),
        ("<article>" * 300, r"nested deeper than 200"),
        ("<rss><item/></rss>", r"page\.xml: the root element is <rss>, which holds none of <Document>"),
        (
            b'<?xml version="1.0" encoding="klingon"?><article/>',
            r"page\.xml:1:\d+: unknown encoding: klingon; expected a known encoding",
        ),
        (b"<article><p>caf\xe9</p></article>", r"page\.xml:1:\d+: not well-formed XML \(.*invalid token"),
    ],
)
def test_dangerous_and_broken_xml_is_refused_with_its_place(xml, message):
    with pytest.raises(DataError, match=message):
        read(xml)


def test_other_encodings_and_byte_order_marks_are_read():
    xml = "<article><body><p>Sjögren</p></body></article>"
    for data in (
        xml.encode("utf-8-sig"),
        xml.encode("utf-16"),
        b'<?xml version="1.0" encoding="iso-8859-1"?>' + xml.encode("latin-1"),
    ):
        assert outline(read(data)[0]) == [((), "Sjögren")]


def test_records_are_read_as_they_come():
    """A stream that would never end gives its first records before anything is read to the end."""

    class Endless(io.RawIOBase):
        def __init__(self) -> None:
            self.begun = False

        def read(self, _size: int = -1) -> bytes:
            head = b"" if self.begun else b"<PubmedArticleSet>"
            self.begun = True
            record = (
                "<PubmedArticle><MedlineCitation><PMID>1</PMID><Article><Abstract><AbstractText>Text.</Abstra"
                "ctText></Abstract></Article>"
            )
            return head + f"{record}</MedlineCitation></PubmedArticle>".encode()

    documents = read_xml(Endless(), place="page.xml")
    assert [next(documents).sections[0].text for _ in range(3)] == ["Text."] * 3


def test_cells_of_a_table_with_a_body_stay_apart():
    row = "<tr><td>5</td><td>10</td></tr>"
    article = (
        f"<article><front><article-meta><title-group><article-title>Doses</article-title></title-group></arti"
        f"cle-meta></front><body><sec><title>Doses</title><table-wrap><table><tbody>{row}</tbody></table></ta"
        f"ble-wrap></sec></body></article>"
    )
    assert "510" not in str(outline(read(article)[0]))
    assert "10" in str(outline(read(article)[0]))


def test_an_empty_cell_keeps_its_place():
    rows = (
        "<tr><th>Drug</th><th>Adult</th><th>Child</th></tr><tr><td>Codeine</td><td/><td>contraindicated</td><"
        "/tr><tr><td/><td>5 mg</td><td> </td></tr><tr><td/><td/><td/></tr>"
    )
    (document,) = read(
        f"<article><body><sec><title>Doses</title><table-wrap><table>{rows}</table></table-wrap></sec></body>"
        f"</article>"
    )
    assert outline(document) == [(("Doses",), "Drug | Adult | Child\nCodeine | | contraindicated\n| 5 mg |")]


def test_abstracts_of_books_are_read_among_those_of_articles():
    chapter, book = (
        "<PubmedBookArticle><BookDocument><PMID>20301295</PMID><Book><BookTitle>GeneReviews</BookTitle><PubDa"
        "te><Year>1993</Year></PubDate>"
        f'</Book>{title}<Abstract><AbstractText Label="MANAGEMENT">Give '
        f"<i>iron</i>.</AbstractText></Abstract>{date}</BookDocument></PubmedBookArticle>"
        for title, date in (
            ("<ArticleTitle>Gout</ArticleTitle>", "<ContributionDate><Year>2001</Year></ContributionDate>"),
            ("", ""),
        )
    )
    article = "<PubmedArticle><MedlineCitation><PMID>1</PMID></MedlineCitation></PubmedArticle>"
    first, _, last = read(f"<PubmedArticleSet>{chapter}{article}{book}</PubmedArticleSet>")
    assert (first.title, first.pmid, first.item, first.year) == ("Gout", "20301295", "20301295", 2001)
    assert first.url == "https://pubmed.ncbi.nlm.nih.gov/20301295/"
    assert outline(first) == [(("Abstract",), "MANAGEMENT: Give iron.")]
    assert first.sections[0].whole
    assert (last.title, last.year) == ("GeneReviews", 1993)
