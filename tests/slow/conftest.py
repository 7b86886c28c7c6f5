"""A browser that the tests of pages share."""

import pytest
from browsers import BROWSER, DRIVER, QUIET


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium")
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in (
        "headless=new",
        "no-sandbox",
        "window-size=1280,1000",
        f"user-data-dir={tmp_path_factory.mktemp('profile')}",
        *QUIET,
    ):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()
