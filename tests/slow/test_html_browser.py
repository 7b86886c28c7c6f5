"""The HTML report, driven in headless Chromium."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_medfaith.cards.html import html_report
from pytest_medfaith.compare.cards import html_change
from pytest_medfaith.compare.runs import compare_runs
from pytest_medfaith.records import Case, Response

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
from browsers import BROWSER, DRIVER, NEEDED, all_of, press
from card_samples import METFORMIN, case_report, large_case, slice_sample

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (BROWSER and DRIVER), reason=NEEDED),
]


@pytest.fixture
def page(browser, tmp_path):
    """Opens a report and afterwards holds that the page logged no error."""

    def open_report(*slices, **arguments):
        path = tmp_path / "card.html"
        path.write_text(html_report(slices, **arguments), encoding="utf-8")
        browser.get(path.as_uri())
        return browser

    browser.get_log("browser")
    yield open_report
    assert [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def shown_ids(driver):
    return [
        case.find_element("css selector", ".id").text
        for case in all_of(driver, ".case")
        if case.is_displayed()
    ]


def test_filters_and_search(page):
    driver = page(slice_sample(), slice_sample(retriever="bm25"))
    assert len(shown_ids(driver)) == 6
    all_of(driver, "[data-kind=unscored]")[0].click()
    assert shown_ids(driver) == ["pcos-3", "pcos-3"]
    all_of(driver, "#run option")[1].click()
    assert shown_ids(driver) == ["pcos-3"]
    all_of(driver, "[data-kind=refuted]")[0].click()  # one kind or the other
    assert shown_ids(driver) == ["pcos-1", "pcos-3"]
    all_of(driver, "#search")[0].send_keys("2031 TRIAL pcos-1")
    assert shown_ids(driver) == ["pcos-1"]
    assert all_of(driver, "#shown")[0].text == "1 of 6 cases shown."


def test_a_case_shows_marked_claims_beside_marked_evidence(page):
    driver = page(slice_sample())
    case = all_of(driver, ".case")[0]
    assert case.find_element("css selector", ".tally").text.split("\n") == [
        "2 ‼",
        "1 ✗",
        "1 ?",
        "1 ✓",
        "⇄",
    ]
    case.find_element("css selector", "button").click()
    spans = {span.get_attribute("class").split()[1]: span.text for span in all_of(driver, ".answer .span")}
    assert spans["refuted"] == "Metformin raises insulin levels in women with PCOS"
    assert [mark.text for mark in all_of(driver, ".answer .mark")] == ["✗a", "✓b", "?c"]
    assert [mark.text for mark in all_of(driver, "mark.evidence.refuted")] == [
        "Metformin lowers insulin levels in women with PCOS."
    ]
    assert "rule direction" in all_of(driver, ".claim.refuted")[0].text
    colours = {span.value_of_css_property("border-bottom-style") for span in all_of(driver, ".answer .span")}
    assert len(colours) == 3  # told apart without colour


def test_a_claim_and_a_citation_lead_to_their_chunk(page):
    driver = page(slice_sample())
    all_of(driver, ".case button")[0].click()
    all_of(driver, ".answer .mark.refuted")[0].click()
    assert {node.tag_name for node in all_of(driver, ".chosen")} == {"span", "div", "mark"}
    assert all_of(driver, "mark.evidence.chosen")[0].text.startswith("Metformin lowers")
    citation = all_of(driver, ".answer a.cite")[1]
    assert citation.text == "[2]"
    citation.click()
    chosen = all_of(driver, ".chunk.chosen")
    assert ["Inducing ovulation" in node.text for node in chosen] == [True]
    assert driver.execute_script("return document.activeElement.closest('.chunk').id") == "chunk-0-1"


def test_keyboard(page):
    from selenium.webdriver.common.keys import Keys

    driver = page(slice_sample())
    press(driver, "j")
    press(driver, "j")
    press(driver, "k")
    press(driver, Keys.ENTER)
    assert [case.get_attribute("class") for case in all_of(driver, ".case")] == ["case open", "case", "case"]
    press(driver, "n")
    press(driver, "n")
    assert all_of(driver, ".claim.chosen")[0].text.startswith("✓b")
    press(driver, Keys.ESCAPE)
    assert not all_of(driver, ".case.open")
    press(driver, "/")
    press(driver, "nowhere")
    assert shown_ids(driver) == []
    press(driver, Keys.ESCAPE)
    assert len(shown_ids(driver)) == 3


def test_tab_and_enter_reach_a_claim_and_its_evidence(page):
    from selenium.webdriver.common.keys import Keys

    driver = page(slice_sample())
    focused = "return document.activeElement.className + document.activeElement.textContent"
    all_of(driver, ".case button")[0].send_keys(Keys.ENTER)
    reached = []
    for _ in range(3):
        press(driver, Keys.TAB)
        reached.append(driver.execute_script(focused))
    assert reached == ["mark refuted✗a", "cite[1]", "mark supported✓b"]
    press(driver, Keys.ENTER)
    assert all_of(driver, "mark.evidence.chosen")[0].text.startswith("Letrozole is started")


def test_a_script_in_a_chunk_stays_text(page):
    evil = "</script><script>document.title = 'owned'</script><img src=x onerror=\"document.title='owned'\">"
    chunk = METFORMIN.with_(text=evil, title=evil, url="javascript:document.title='owned'")
    report = case_report()
    report = report.with_(
        case=Case(id=evil, question=evil),
        response=Response(answer=evil, contexts=(chunk,)),
        verdicts=(report.verdicts[0].with_(reason=evil, span=None),),
    )
    driver = page(slice_sample(slice=evil, reports=(report,)))
    all_of(driver, ".case button")[0].click()
    assert all_of(driver, ".chunk .text")[0].text == evil
    assert not all_of(driver, "img, .chunk a, body script:not([type='application/json']) ~ script")
    assert driver.title == "medfaith: 1 of 3 gates failed, 1 of 3 inconclusive"


@pytest.mark.parametrize("width", [390, 1280])
def test_no_width_scrolls_sideways(page, width):
    driver = page(slice_sample(), history=[("an earlier run", [slice_sample()])])
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False},
    )
    try:
        all_of(driver, ".case button")[0].click()
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("width", [390, 1280])
def test_two_runs_side_by_side_fit_any_width(browser, tmp_path, width):
    change = compare_runs(
        ([slice_sample()], {"seed": 0}), ([slice_sample(reports=(case_report(verdicts=()),))], {"seed": 7})
    )
    (tmp_path / "compare.html").write_text(html_change(change), encoding="utf-8")
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False},
    )
    try:
        browser.get((tmp_path / "compare.html").as_uri())
        assert "Halluc" in all_of(browser, ".changes")[0].text
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.fixture
def media(browser):
    """Sets a colour scheme or a medium, and puts it back afterwards."""

    def emulate(medium="", **features):
        rows = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": medium, "features": rows})

    yield emulate
    emulate()


CONTRAST = """
const luminance = (colour) => {
  const [r, g, b] = colour.match(/[\\d.]+/g).map((part) => part / 255)
    .map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ground = (node) => {
  for (; node; node = node.parentElement) {
    const colour = getComputedStyle(node).backgroundColor;
    if (!/rgba\\(.*, 0\\)|transparent/.test(colour)) return colour;
  }
  return "rgb(255, 255, 255)";
};
return [...document.querySelectorAll(arguments[0])].map((node) => {
  const both = [luminance(getComputedStyle(node).color), luminance(ground(node))];
  const [dark, light] = both.sort((a, b) => a - b);
  return [node.className || node.tagName, (light + 0.05) / (dark + 0.05)];
});
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_texts_stand_out_in_light_and_dark(page, media, scheme):
    """4.5 to 1 is what WCAG 2 asks of small text."""
    media(prefers_color_scheme=scheme)
    driver = page(slice_sample())
    driver.find_element("css selector", ".case button").click()
    page_colour = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (page_colour == "rgb(255, 255, 255)") == (scheme == "light")
    ratios = driver.execute_script(
        CONTRAST,
        "body, h1, h2, .card th, .card td, .case button span, .answer .span, .claim, .claim *, .chunk, "
        ".chunk *, mark",
    )
    assert len(ratios) > 30
    assert [row for row in ratios if row[1] < 4.5] == []


def test_print_shows_everything_in_dark_ink_on_white(page, media):
    """Also where the screen is dark: no tools, nothing that scrolls, no plot cut off."""
    media("print", prefers_color_scheme="dark")
    driver = page(slice_sample(), slice_sample(retriever="bm25"))
    driver.set_window_size(700, 1000)
    driver.find_element("css selector", ".case button").click()
    shown = "const node = document.querySelector(arguments[0]); return Boolean(node && node.offsetParent)"
    assert not driver.execute_script(shown, ".tools")
    assert driver.execute_script(shown, ".answer")
    ratios = driver.execute_script(CONTRAST, "body, .claim, .chunk")
    assert [row for row in ratios if row[1] < 7] == []
    wide = (
        "return [...document.querySelectorAll('svg, .wide, .answer, .left')].filter((n) => "
        "n.getBoundingClientRect().right > innerWidth + 1).length"
    )
    assert driver.execute_script(wide) == 0
    driver.set_window_size(1280, 1000)


def test_a_case_is_drawn_when_it_is_opened_and_no_other_case_with_it(page):
    """What keeps a page of thousands of cases quick: a closed case is its row alone."""
    driver = page(slice_sample(reports=tuple(large_case(number) for number in range(300))))
    nodes = "return [...document.querySelectorAll('.case')].map((node) => node.querySelectorAll('*').length)"
    drawn = "return [...document.querySelectorAll('.case')].filter((n) => n.querySelector('.chunk')).length"
    closed = driver.execute_script(nodes)
    assert len(closed) == 300
    assert max(closed) <= 12
    assert driver.execute_script(drawn) == 0
    all_of(driver, ".case button")[0].click()
    opened = driver.execute_script(nodes)
    assert sum(before != after for before, after in zip(closed, opened, strict=True)) == 1
    assert driver.execute_script(drawn) == 1
    assert len(all_of(driver, ".case.open .chunk")) == 10
