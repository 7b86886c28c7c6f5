"""Headless Chromium for the tests of pages."""

from __future__ import annotations

import shutil

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
QUIET = (
    "disable-gpu",
    "disable-quic",
    "no-first-run",
    "disable-background-networking",
    "disable-component-update",
    "disable-sync",
)
NEEDED = "needs chromium and chromedriver on the PATH"


def all_of(driver, selector):
    return driver.find_elements("css selector", selector)


def press(driver, key):
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(driver).send_keys(key).perform()
