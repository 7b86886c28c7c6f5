import pytest

from pytest_medfaith.corpus.html_pages import read_html

PAGE = """<!DOCTYPE html><html><head><title>High blood pressure | Site</title>
<link rel="canonical" href="https://example.org/bp"><meta name="dcterms.modified" content="2023-05-01">
<style>p {color: red}</style></head>
<body><nav><a href="/">Home</a> <h2>Menu</h2></nav>
<h1>High blood <em>pressure</em></h1><p>Normal is below 120/80&nbsp;mm&nbsp;Hg.</p>
<h2>Drugs</h2><ul><li>Lisinopril 10&ndash;40 mg</li><li>Amlodipine<br>5 mg</li></ul>
<table><tr><th>Drug</th><th>Dose</th></tr><tr><td>Losartan</td><td>50 mg</td></tr></table>
<h3>Who</h3><p>Adults with K<sup>+</sup> &lt; 5.5 and 10<sup>9</sup>/L<script>track("x < y")</script>.</p>
<footer>Imprint</footer></body></html>"""


def outline(raw: str) -> list[tuple[tuple[str, ...], str]]:
    document = read_html(raw)
    assert all(document.text[section.start : section.end] == section.text for section in document.sections)
    return [(section.path, section.text) for section in document.sections]


def test_headings_lists_tables_entities_and_surroundings():
    assert outline(PAGE) == [
        (("High blood pressure",), "Normal is below 120/80 mm Hg."),
        (
            ("High blood pressure", "Drugs"),
            "Lisinopril 10–40 mg\nAmlodipine\n5 mg\nDrug | Dose\nLosartan | 50 mg",
        ),
        (("High blood pressure", "Drugs", "Who"), "Adults with K⁺ < 5.5 and 10⁹/L."),
    ]


def test_title_url_and_year_come_from_the_page():
    document = read_html(PAGE)
    assert (document.title, document.url, document.year) == (
        "High blood pressure",
        "https://example.org/bp",
        2023,
    )
    assert read_html("<title>Only  this</title><p>Text</p>").title == "Only this"


def test_only_main_is_read_where_there_is_one():
    assert outline("<div>Cookies?</div><main><h2>Gout</h2><p>Urate.</p></main><div>Share</div>") == [
        (("Gout",), "Urate.")
    ]


def test_an_unclosed_surrounding_element_does_not_swallow_the_page():
    assert outline("<nav><a>Home</a><h1>Gout</h1><p>Urate crystals.") == [
        ((), "Home"),
        (("Gout",), "Urate crystals."),
    ]


def test_broken_markup_and_plain_text_are_read_as_far_as_they_go():
    assert outline("no tags, 5 < 6 & 7 > 2") == [((), "no tags, 5 < 6 & 7 > 2")]
    assert outline("<p>one<p>two</b></div><sup>3") == [((), "one\ntwo\n³")]
    assert outline("") == []


@pytest.mark.parametrize("heading", ["<div>Pregnancy</div>", "<button>Pregnancy</button>"])
def test_a_heading_holds_whatever_stands_around_its_words(heading):
    found = outline(f"<body><h2>Use</h2><p>Take one.</p><h2>{heading}</h2><p>Take none.</p></body>")
    assert [path[-1] for path, _ in found] == ["Use", "Pregnancy"]


def test_a_page_within_a_form_is_read():
    assert "Take one." in str(outline("<body><form><h1>Use</h1><p>Take one.</p></form></body>"))


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        ("<tr><td>Codeine</td><td></td><td>contraindicated</td></tr>", "Codeine | | contraindicated"),
        (
            "<tr><th></th><th>Adult</th><th>Child</th></tr><tr><td>A</td><td>5</td><td> </td></tr>",
            "| Adult | Child\nA | 5 |",
        ),
        ("<tr><td></td><td>&nbsp;</td></tr><tr><td>A</td><td>5</td></tr>", "A | 5"),
        ("<tr><td><p>A</p></td><td><p>B</p></td></tr>", "A\nB"),
        (
            "<tr><td><p>A</p></td><td>B</td><td></td><td>C</td></tr><tr><td></td><td>D</td></tr>",
            "A\nB | | C\n| D",
        ),
        (
            "<tr><td>A</td><td><table><tr><td>x</td></tr></table></td><td>B</td><td>C</td></tr>",
            "A |\nx\nB | C",
        ),
        ("<tr><td></td><td><p>A</p></td></tr>", "A"),
    ],
)
def test_an_empty_cell_keeps_its_place(rows, lines):
    assert outline(f"<h2>Doses</h2><table>{rows}</table>") == [(("Doses",), lines)]
