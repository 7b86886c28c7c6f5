"""The page of the server, driven in headless Chromium against a server on loopback."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest
import uvicorn
from browsers import BROWSER, DRIVER, NEEDED, all_of, press

from pytest_medfaith.checking.judge import as_checker
from pytest_medfaith.records import Verdict
from pytest_medfaith.serve.app import make_app
from pytest_medfaith.serve.service import Service

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not (BROWSER and DRIVER), reason=NEEDED)]

GO_ON = threading.Event()  # lets claims with the word "slowly" be judged
HOSTILE = "<img src=x onerror=\"document.title='owned'\">"


def judge(claim, chunks):
    """Supports what a passage holds; its evidence is that passage, or the first."""
    held = [chunk for chunk in chunks if claim.text.strip("😀 ") in chunk.text]
    chunk = (held or chunks)[0]
    if "slowly" in claim.text:
        GO_ON.wait(20)
    label = "supported" if held else "refuted"
    names = tuple(one.id for one in held)
    return Verdict(
        claim=claim, label=label, score=0.9, chunk_id=chunk.id, span=(0, len(chunk.text)), supporting=names
    )


@pytest.fixture
def page(browser, tmp_path):
    """Opens the page of a server with a token, and afterwards holds that it logged no error."""
    service = Service(tmp_path)
    service.__dict__["checker"] = as_checker(judge, name="scripted")
    started = threading.Event()

    class Server(uvicorn.Server):
        async def startup(self, sockets=None):
            await super().startup(sockets)
            started.set()

    def open_page(*, token=""):
        GO_ON.clear()
        config = uvicorn.Config(make_app(service, token=token), port=0, log_level="error")
        running.append(Server(config))
        threads.append(threading.Thread(target=lambda: asyncio.run(running[0].serve())))
        threads[0].start()
        started.wait(20)
        browser.get(f"http://127.0.0.1:{running[0].servers[0].sockets[0].getsockname()[1]}/")
        return browser

    running, threads = [], []
    browser.get_log("browser")
    yield open_page
    GO_ON.set()
    assert [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
    running[0].should_exit = True
    threads[0].join(20)


def fill(driver, **texts):
    for name, text in texts.items():
        driver.find_element("id", name).send_keys(text)


def ended(driver, *, status="Done"):
    for _ in range(400):
        if driver.find_element("id", "status").text.startswith(status):
            return True
        time.sleep(0.05)
    return False


def text_of(driver, selector):
    return driver.find_element("css selector", selector).text


def test_claims_light_up_and_lead_to_their_evidence(page):
    driver = page()
    fill(
        driver,
        answer="😀 Ice is cold. Ice burns slowly. Ice is dry.",
        contexts="Ice is cold.\n\nIce melts at 0 degrees.",
    )
    driver.find_element("id", "check").click()
    assert ended(driver, status="1 of 3 claims judged.")
    assert len(all_of(driver, ".claim.waiting")) == 2
    assert len(all_of(driver, ".claim.supported")) == 1  # a verdict is shown while others are made
    GO_ON.set()
    assert ended(driver)
    assert text_of(driver, "#status") == "Done: 2 refuted, 1 supported."

    spans = all_of(driver, ".answer .span")
    assert [span.text for span in spans] == ["Ice is cold", "Ice burns slowly", "Ice is dry"]
    driver.execute_script("arguments[0].focus()", spans[0])
    assert text_of(driver, "#near") == "supported: [1] Ice is cold."
    all_of(driver, ".claim.supported")[0].click()
    assert [mark.text for mark in all_of(driver, "mark.chosen")] == ["Ice is cold."]


def test_keys_check_and_step_through_claims(page):
    from selenium.webdriver.common.keys import Keys

    driver = page()
    fill(driver, answer="Ice is cold. Ice is dry.", contexts="Ice is cold.")
    driver.find_element("id", "answer").send_keys(Keys.CONTROL, Keys.ENTER)
    assert ended(driver)
    driver.execute_script("document.activeElement.blur()")
    press(driver, "n")
    first = [node.text for node in all_of(driver, ".claim.chosen")]
    press(driver, "n")
    assert [first, [node.text for node in all_of(driver, ".claim.chosen")]] == [
        [note.text for note in all_of(driver, ".claim.supported")],
        [note.text for note in all_of(driver, ".claim.refuted")],
    ]


def test_hostile_texts_stay_texts(page):
    driver = page()
    fill(driver, question=HOSTILE, answer=f"{HOSTILE} Ice is cold.", contexts=f"{HOSTILE}\n\nIce is cold.")
    driver.find_element("id", "check").click()
    assert ended(driver)
    assert driver.title == "medfaith: check an answer"
    assert not all_of(driver, "#result img")


def test_a_token_is_asked_for_and_a_refusal_is_read_out(page):
    driver = page(token="secret")  # noqa: S106
    fill(driver, answer="Ice is cold.", contexts="Ice is cold.")
    driver.find_element("id", "check").click()
    for _ in range(400):
        if problem := text_of(driver, "#problem"):
            break
        time.sleep(0.05)
    assert problem == "the bearer token is missing or wrong; expected Authorization: Bearer TOKEN"
    driver.get_log("browser")  # which has the refusal as an error
    driver.find_element("css selector", "#access summary").click()
    fill(driver, token="secret")  # noqa: S106
    driver.find_element("id", "check").click()
    assert ended(driver)
    assert not text_of(driver, "#problem")


def test_stop_ends_a_check(page):
    from selenium.webdriver.common.keys import Keys

    driver = page()
    fill(driver, answer="Ice melts slowly. Ice grows slowly.", contexts="Ice.")
    driver.find_element("id", "check").click()
    press(driver, Keys.ESCAPE)
    assert ended(driver, status="Stopped")
    assert driver.find_element("id", "check").is_enabled()
