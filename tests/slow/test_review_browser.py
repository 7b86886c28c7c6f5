"""The review page, driven in headless Chromium."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
from browsers import BROWSER, DRIVER, NEEDED, all_of, press
from label_samples import many_claims

from pytest_medfaith.cards.review_page import review_page
from pytest_medfaith.labels.merging import check_labels
from pytest_medfaith.labels.rows import checker_fingerprint, read_labels
from pytest_medfaith.labels.sampling import draw_claims
from pytest_medfaith.records import Claim, Verdict

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not (BROWSER and DRIVER), reason=NEEDED)]

SIGNATURE = {"checkers": {"fast": {"entail": 0.5}}}
RUN = many_claims({"supported": 12, "refuted": 6, "unsupported": 6})


@pytest.fixture
def page(browser, tmp_path):
    """Opens the page of a run with an empty storage, and afterwards holds that it logged no error."""
    browser.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )

    def open_page(slice_report=RUN, *, count=12, fresh=True):
        claims = draw_claims([slice_report], count=count, seed=0).claims
        path = tmp_path / "review.html"
        path.write_text(review_page(claims, signature=SIGNATURE), encoding="utf-8")
        browser.get(path.as_uri())
        if fresh:
            browser.execute_script("localStorage.clear()")
            browser.refresh()
        return browser, claims

    browser.get_log("browser")
    yield open_page
    assert [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def text_of(driver, selector):
    return driver.find_element("css selector", selector).text


def pressed(driver):
    return [button.text.split("\n")[-1] for button in all_of(driver, "[aria-pressed=true]")]


def exported(driver, folder):
    """Returns the labels that the button of the page exports."""
    path = folder / "labels.jsonl"
    path.unlink(missing_ok=True)
    driver.find_element("id", "export").click()
    for _ in range(100):
        if path.exists():
            return read_labels(path)
        time.sleep(0.05)
    raise AssertionError(text_of(driver, "#status"))


def test_labels_by_keyboard_are_exported_with_what_the_claim_was_drawn_by(page, tmp_path):
    driver, claims = page()
    assert text_of(driver, "#progress") == "claim 1 of 12, 0 labelled"
    press(driver, "s")
    press(driver, "r")
    assert text_of(driver, "#progress") == "claim 2 of 12, 2 labelled"  # waits for the severity
    press(driver, "4")
    press(driver, "n")
    press(driver, "\ue014")  # arrow to the right: no severity
    press(driver, "x")
    driver.find_element("id", "initials").send_keys("S+ RN")  # letters that are keys of the page
    rows = exported(driver, tmp_path)
    assert [(row.label, row.severity, row.reviewer) for row in rows] == [
        ("supported", None, "SRN"),
        ("refuted", "high", "SRN"),
        ("unsupported", None, "SRN"),
        ("no_claim", None, "SRN"),
    ]
    for row, claim in zip(rows, claims, strict=False):
        assert (row.key, row.claim, row.case_id) == (
            claim.key,
            claim.verdict.claim.text,
            claim.report.case.id,
        )
        assert (row.verdict, row.stratum, row.weight) == (claim.verdict.label, claim.stratum, claim.weight)
    everything = draw_claims([RUN], count=1000, seed=0)
    check_labels(rows, {checker_fingerprint("fast", SIGNATURE): everything}, run="run")


def test_undo_and_arrows_change_labels(page, tmp_path):
    driver, _ = page()
    for key in ("s", "r", "2", "u"):  # the severity is taken back first
        press(driver, key)
    assert text_of(driver, "#progress") == "claim 2 of 12, 2 labelled"
    assert pressed(driver) == ["r Refuted"]
    press(driver, "u")
    press(driver, "u")
    assert text_of(driver, "#progress") == "claim 1 of 12, 0 labelled"
    press(driver, "u")
    assert text_of(driver, "#status").startswith("Nothing to undo")
    press(driver, "s")
    press(driver, "\ue012")
    assert pressed(driver) == ["s Supported"]
    press(driver, "r")
    press(driver, "3")
    press(driver, "\ue012")
    press(driver, "s")  # a severity does not outlive its error
    assert [(row.label, row.severity) for row in exported(driver, tmp_path)] == [("supported", None)]


def test_labels_outlive_a_reload_and_not_another_run(page):
    driver, _ = page()
    for key in ("s", "x", "n", "1"):
        press(driver, key)
    driver.find_element("id", "initials").send_keys("AB")
    driver.refresh()
    assert text_of(driver, "#progress") == "claim 4 of 12, 3 labelled"
    assert driver.find_element("id", "initials").get_property("value") == "AB"
    page(many_claims({"supported": 12, "refuted": 6}, seed=2), fresh=False)
    assert text_of(driver, "#progress") == "claim 1 of 12, 0 labelled"


def test_strange_entries_of_the_storage_are_no_labels(page):
    driver, _ = page()
    press(driver, "s")
    driver.execute_script(
        'const [key] = Object.keys(localStorage); localStorage.setItem(key, \'{"label": "wrong"}\');'
        "localStorage.setItem(key.replace(/0$/, '1'), 'no JSON')"
    )
    driver.refresh()
    assert text_of(driver, "#progress") == "claim 1 of 12, 0 labelled"


def test_two_tabs_keep_the_labels_of_both(page, tmp_path):
    driver, _ = page()
    first, address = driver.current_window_handle, driver.current_url
    driver.switch_to.new_window("tab")
    try:
        driver.get(address)
        press(driver, "s")
        driver.switch_to.window(first)
        assert "open in another tab" in text_of(driver, "#status")
        assert text_of(driver, "#progress") == "claim 1 of 12, 1 labelled"
        press(driver, "\ue014")
        press(driver, "x")
        driver.switch_to.window(driver.window_handles[1])
        assert text_of(driver, "#progress") == "claim 2 of 12, 2 labelled"
        assert [row.label for row in exported(driver, tmp_path)] == ["supported", "no_claim"]
    finally:
        driver.switch_to.window(driver.window_handles[1])
        driver.close()
        driver.switch_to.window(first)


def test_nothing_to_export_is_said(page, tmp_path):
    driver, _ = page()
    driver.find_element("id", "export").click()
    assert text_of(driver, "#status") == "Nothing is labelled yet."
    assert not list(tmp_path.glob("*.jsonl"))


def test_the_page_is_blind(page):
    """What a reader sees is the same whatever the checker said, and at whatever score."""
    driver, claims = page()
    seen = page_texts(driver, len(claims))
    turned = []
    for claim in claims:
        verdict = claim.verdict.with_(label="refuted", score=0.123, reason="why", chunk_id="", conflict=True)
        turned.append(
            type(claim)(**{**vars(claim), "verdict": verdict, "stratum": "refuted far", "weight": 9.0})
        )
    path = Path(driver.current_url.removeprefix("file://"))
    path.write_text(review_page(turned, signature=SIGNATURE), encoding="utf-8")
    driver.refresh()
    assert page_texts(driver, len(claims)) == seen
    assert "0.123" not in driver.page_source
    assert '"verdict"' not in driver.page_source


def page_texts(driver, count):
    found = []
    for _ in range(count):
        found.append(
            driver.execute_script("return document.querySelector('main').outerHTML + document.body.innerText")
        )
        press(driver, "\ue014")
    return found


def test_hostile_text_stays_text(page, tmp_path):
    evil = (
        "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> "
        "\U0001d54f\u202e"
    )
    report = RUN.reports[0]
    chunk = report.response.contexts[0].with_(text=evil, title=evil, url="javascript:document.title='owned'")
    claim = Claim(id="c", text=evil, context=evil, start=4, end=4 + len(evil))
    report = report.with_(
        case=report.case.with_(question=evil, id=evil),
        response=report.response.with_(answer=f"\U0001d54f\U0001d54f: {evil} end", contexts=(chunk,)),
        verdicts=(Verdict(claim=claim, label="supported", score=0.9),),
    )
    driver, _ = page(RUN.with_(reports=(report,), slice=evil))
    assert driver.title == "medfaith review"
    read = "return document.querySelector(arguments[0]).textContent"
    assert driver.execute_script(read, ".answer mark") == evil
    assert driver.execute_script(read, ".chunk .text") == evil
    assert not all_of(driver, "main img, main a, main script")
    press(driver, "s")
    (row,) = exported(driver, tmp_path)
    assert (row.claim, row.case_id, row.slice) == (evil, evil, evil)


@pytest.mark.parametrize("width", [360, 1280])
def test_no_width_scrolls_sideways_and_the_buttons_are_in_sight(page, width):
    driver, _ = page()
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 740, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    try:
        all_of(driver, "[data-label=refuted]")[0].click()
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width
        box = (
            "const box = document.querySelector(arguments[0]).getBoundingClientRect(); return [box.top, "
            "box.bottom, box.height]"
        )
        for selector in ("[data-severity=high]", "[data-label=no_claim]", "#forward"):
            top, bottom, height = driver.execute_script(box, selector)
            assert 0 <= top < bottom <= 740
            assert width > 500 or height >= 40  # a finger hits it
        all_of(driver, "[data-severity=high]")[0].click()
        assert text_of(driver, "#progress").startswith("claim 2 of 12")
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_2000_claims_are_labelled_without_delay(page, tmp_path):
    driver, claims = page(many_claims({"supported": 1500, "refuted": 250, "unsupported": 250}), count=2000)
    assert len(claims) == 2000
    load = driver.execute_script("return performance.getEntriesByType('navigation')[0].loadEventEnd")
    press_all = (
        "const start = performance.now();"
        "for (let i = 0; i < 1999; i += 1) document.dispatchEvent(new KeyboardEvent('keydown', {key: 's'}));"
        "return performance.now() - start"
    )
    spent = driver.execute_script(press_all)
    assert text_of(driver, "#progress") == "claim 2000 of 2000, 1999 labelled"
    press(driver, "s")
    assert text_of(driver, "#status").startswith("All claims are labelled")
    assert len(exported(driver, tmp_path)) == 2000
    assert load < 4000
    assert spent < 20_000  # 10 ms a claim


def test_a_held_key_labels_a_single_claim(page):
    driver, _ = page()
    driver.execute_script(
        "for (const repeat of [false, true, true]) document.dispatchEvent(new KeyboardEvent('keydown', {key: "
        "'s', repeat}))"
    )
    assert text_of(driver, "#progress") == "claim 2 of 12, 1 labelled"
