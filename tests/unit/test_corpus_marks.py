"""Reference marks never run into the number or the word before them, whatever a page is written in."""

import io

import pytest

from pytest_medfaith.corpus.html_pages import read_html
from pytest_medfaith.corpus.sections import read_markdown
from pytest_medfaith.corpus.xml_pages import read_xml


def ref(text, kind="bibr"):
    return f'<xref ref-type="{kind}" rid="r">{text}</xref>'


JATS = [
    (f"was 12{ref(3)}", "was 12"),
    (f"was 12{ref(3)} mg", "was 12 mg"),
    (f"was 12{ref(3)},{ref(4)} mg", "was 12 mg"),
    (f"was 12{ref(3)}–{ref(5)}.", "was 12."),
    (f"was 12{ref(3)}{ref(4)}", "was 12"),
    (f"was 12{ref(3)} {ref(4)} mg", "was 12 mg"),
    (f"was 12{ref(3)} and {ref(4)} mg", "was 12 mg"),
    (f"was 12 {ref(3)} mg", "was 12 mg"),
    (f"12 mg{ref('3,4')} a day", "12 mg a day"),
    (f"12 mg{ref('3–5')}", "12 mg"),
    (f"12 mg.{ref(3)} Next", "12 mg. Next"),
    (f"12%{ref(9)} of", "12% of"),
    (f"IL-6{ref('12a')} rises", "IL-6 rises"),
    (f"12{ref('³')} mg", "12 mg"),
    (f"12<sup>{ref(3)}</sup> mg", "12 mg"),
    (f"12<sup>[{ref(3)}]</sup> mg", "12 mg"),
    (f"12<sup><italic>{ref(3)}</italic></sup> mg", "12 mg"),
    (f"12{ref('<sup>3</sup>')} mg", "12 mg"),
    (f"12<italic>{ref(7)}</italic> mg", "12 mg"),
    (f"12 <bold>mg</bold>{ref(7)}", "12 mg"),
    (f"12{ref('a', 'fn')} mg", "12 mg"),
    (f"12{ref('*', 'table-fn')} mg", "12 mg"),
    (f"12<sup>{ref('a', 'table-fn')}</sup> mg", "12 mg"),
    ("12<xref rid='B3'>3</xref> mg", "12 mg"),
    (f"(12{ref(3)})", "(12)"),
    (f"{ref(1)} Smith said", "Smith said"),
    (f"as shown [{ref(3)}, {ref(4)}].", "as shown [3, 4]."),
    (f"as shown ({ref(3)}–{ref(5)})", "as shown (3–5)"),
    (f"see ref. {ref(3)} for more", "see ref. 3 for more"),
    (f"refs {ref(3)} and {ref(4)} say", "refs 3 and 4 say"),
    (f"12{ref('[3]')} mg", "12 [3] mg"),
    (f"12{ref('Smith 2020')} said", "12 Smith 2020 said"),
    (f"as {ref('Smith et al., 2020')} said", "as Smith et al., 2020 said"),
    (f"see Table {ref(3, 'table')} below", "see Table 3 below"),
    (f"12{ref('Figure 1', 'fig')}", "12 Figure 1"),
    ("10<sup>-3</sup> g", "10⁻³ g"),
]


@pytest.mark.parametrize(("raw", "text"), JATS)
@pytest.mark.parametrize("tag", ["p", "title", "td"])
def test_jats(raw, text, tag):
    body = {
        "p": f"<p>{raw}</p>",
        "title": f"<sec><title>{raw}</title><p>x</p></sec>",
        "td": f"<table><tr><td>{raw}</td></tr></table>",
    }[tag]
    (document,) = read_xml(io.BytesIO(f"<article><body>{body}</body></article>".encode()), place="x")
    assert document.text.split("\n")[0] == text


HTML = [
    ('was 12<a href="#b3">3</a> mg', "was 12 mg"),
    ('was 12<a href="https://example.org">3</a> mg', "was 12 mg"),
    ('was 12<sup><a href="#b3">3</a></sup> mg', "was 12 mg"),
    ('was 12<sup><a href="#b3">3</a>,<a href="#b4">4</a></sup> mg', "was 12 mg"),
    ('was 12<sup class="reference"><a href="#cite_note-1">[1]</a></sup> mg', "was 12 mg"),
    ('12 mg<a href="#fn1">*</a> a day', "12 mg a day"),
    ('[<a href="#b3">3</a>, <a href="#b4">4</a>]', "[3, 4]"),
    ('see section <a href="#s3">3</a>', "see section 3"),
    ('<a href="#x">Letrozole</a> 12 mg', "Letrozole 12 mg"),
    ("was 12<sup>th</sup>", "was 12th"),
    ('was 12<sup class="reference">3</sup> mg', "was 12 mg"),
    ('was 12<sup id="cite_ref-3">3</sup> mg', "was 12 mg"),
    ('was 12<sup role="doc-noteref">3</sup> mg', "was 12 mg"),
    ('was 12<sup class="prefix">3</sup> mg', "was 12³ mg"),
    ("was 12<sup>3,4</sup> mg", "was 12 mg"),
    ("was 12<sup>[3]</sup> mg", "was 12 mg"),
    ("was 12<sup>*</sup> mg", "was 12 mg"),
    ("was 12<sup>3-5</sup> mg", "was 12 mg"),
    ("10<sup>3-5</sup> CFU", "10³⁻⁵ CFU"),
    ("1.7 m<sup>2</sup> of skin", "1.7 m² of skin"),
    ("10<sup>-3</sup> g", "10⁻³ g"),
]


@pytest.mark.parametrize(("raw", "text"), HTML)
def test_html(raw, text):
    assert read_html(f"<p>{raw}</p>").text.strip() == text


MARKDOWN = [
    ("was 12[3](#ref3) mg", "was 12 mg"),
    ("was 12[3](#a),[4](#b) mg", "was 12 mg"),
    ("was 12[3–5](#a) mg", "was 12 mg"),
    ("was 12[\\[3\\]](#r) mg", "was 12 mg"),
    ("was 12[[3]](#r) mg", "was 12 mg"),
    ("was 12<sup>[3](#r)</sup> mg", "was 12 mg"),
    ("was 12<a href='#r'>3</a> mg", "was 12 mg"),
    ("was 12[^3] mg", "was 12 mg"),
    ("see [Table 3](#t)", "see Table 3"),
    ("[Letrozole](#x) 12 mg", "Letrozole 12 mg"),
    ("12 [mg](#x) a day", "12 mg a day"),
]


@pytest.mark.parametrize(("raw", "text"), MARKDOWN)
def test_markdown(raw, text):
    assert read_markdown(raw).text.strip() == text
