"""How fast the HTML page of a run with many cases opens in headless Chromium.

    python bench/page.py [--cases 2000]      # needs chromium, chromedriver and selenium

Printed are, for that many cases and for a tenth of them, the time until the page is loaded (the best of
three) and the time to open its first case. Each case has 5 claims and 10 chunks.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from pytest_medfaith.cards.html import html_report

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS / "unit"), str(TESTS / "slow")]
from browsers import BROWSER, DRIVER, QUIET  # noqa: E402
from card_samples import large_case, slice_sample  # noqa: E402

LOADED = "return performance.getEntriesByType('navigation')[0].loadEventEnd"


def opened(driver: webdriver.Chrome, page: Path) -> tuple[float, float]:
    """Returns (milliseconds until `page` is loaded, milliseconds until its first case is open)."""
    loads = []
    for _ in range(3):
        driver.get(page.as_uri())
        loads.append(driver.execute_script(LOADED))
    start = time.perf_counter()
    driver.find_element("css selector", ".case button").click()
    driver.find_element("css selector", ".case.open .chunk")
    return min(loads), 1000 * (time.perf_counter() - start)


def main() -> None:
    """Prints a line for each size of the page, and the ratio of the two."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=2000)
    cases = parser.parse_args().cases
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in ("headless=new", "no-sandbox", *QUIET):
        options.add_argument(f"--{flag}")
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    loads = []
    with tempfile.TemporaryDirectory() as folder:
        for count in (cases // 10, cases):
            page = Path(folder) / f"{count}.html"
            reports = tuple(large_case(number) for number in range(count))
            page.write_text(html_report([slice_sample(reports=reports)]), encoding="utf-8")
            load, first = opened(driver, page)
            loads.append(load)
            size = page.stat().st_size / 1e6
            print(f"{count} cases, {size:.1f} MB: loaded in {load:.0f} ms, first case open in {first:.0f} ms")
    driver.quit()
    print(f"ten times the cases take {loads[1] / loads[0]:.1f} times as long")


if __name__ == "__main__":
    main()
