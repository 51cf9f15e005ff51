"""The page in a real browser, while the demonstration runs: numbers, looks, keyboard, and who is let in.

Run with `pytest -m browser`; it takes `pip install 'bestbefore[browser]'` and a Chromium, as in `apt install chromium`.
With `BESTBEFORE_PICTURES=folder` the pictures for the docs are written there.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit

import httpx
import pytest

from bestbefore.service.page.shown import read

pytestmark = pytest.mark.browser

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
LIMIT = 120.0
"""How long anything is waited for, in seconds."""

SIZES = [(1400, "light"), (1400, "dark"), (400, "light"), (400, "dark")]
STREAMS = ["front page", "headline test"]
IN_WORDS = ("window", "silent_after", "step", "intervals.sure")


def until(condition, what):
    """Wait for a condition; return what it returned."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"waited for {LIMIT} s: {what}")


class Demonstration:
    """The command, as somebody runs it who has just installed it."""

    def __init__(self):
        command = [sys.executable, "-m", "bestbefore", "demo", "--seed", "1", "--for", "20 min"]
        environment = os.environ | {"PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)  # noqa: S603
        self.lines = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        end = time.monotonic() + 5 * LIMIT
        while not any("morning again" in line for line in self.lines) and time.monotonic() < end:
            assert self.process.poll() is None, self.lines
            time.sleep(0.1)
        text = "".join(self.lines)
        assert "morning again" in text, text
        self.address = re.search(r"http://127\.0\.0\.1:\d+", text)[0]
        self.key = re.search(r"^bb_\S+$", text, re.MULTILINE)[0]

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line)

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(LIMIT) == 0
        self._reader.join(LIMIT)
        self.process.stdout.close()
        assert "the newsroom is closed" in self.lines[-1]


class Api:
    """What the API says, by version, over and over.

    Between two versions time goes on, and what falls due meanwhile is shown as done.  So what it said counts for a
    moment only if it said the same before and after.
    """

    def __init__(self, address, key):
        self.client = httpx.Client(base_url=address, headers={"Authorization": f"Bearer {key}"}, timeout=60)
        self.said, self._stop = {}, threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self):
        while not self._stop.wait(0.03):
            for name in STREAMS:
                for path in ("", "/totals?span=day"):
                    facts = self.client.get(f"/v1/streams/{name}{path}").json()
                    self.said.setdefault((name, path, facts["version"]), []).append(facts)

    def get(self, name, path, version, moment):
        """Return what it said of a version around a moment, or None if that is not known."""
        said = self.said.get((name, path, version), [])
        around = said
        if "now" in (said or [{}])[0]:
            before = [facts for facts in said if facts["now"] <= moment]
            around = [*before[-1:], *[facts for facts in said if facts["now"] >= moment][:1]]
            if not before or around[-1]["now"] < moment:
                return None
        return around[0] if len(set(map(timeless, around))) == 1 else None

    def close(self):
        self._stop.set()
        self._thread.join(LIMIT)
        self.client.close()


def timeless(facts):
    """Leave out what changes as time goes on, while nothing happens."""
    text = json.dumps({name: value for name, value in facts.items() if name != "now"})
    return re.sub(r'"valid_for": [-0-9.]+', "", text)


@pytest.fixture(scope="module")
def demonstration():
    if os.environ.get("CI"):
        pytest.skip("browser tests never run on CI")
    found = Demonstration()
    yield found
    found.stop()


@pytest.fixture(scope="module")
def api(demonstration):
    found = Api(demonstration.address, demonstration.key)
    yield found
    found.close()


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install 'bestbefore[browser]'"
    )
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(f"no browser on the PATH, none of {', '.join(NAMES)}: apt install chromium")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(params=SIZES, ids=lambda param: f"{param[0]}-{param[1]}")
def page(request, browser, demonstration):
    width, scheme = request.param
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    context.set_default_timeout(LIMIT * 1000)
    page = context.new_page()
    page.size, page.asked, page.complaints = f"{width}-{scheme}", [], []
    page.on("request", lambda asked: page.asked.append(asked.url))
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.goto(demonstration.address)
    page.get_by_label("Key").fill(demonstration.key)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Streams").wait_for()
    yield page
    own = urlsplit(demonstration.address).netloc
    assert {urlsplit(url).netloc for url in page.asked} == {own}  # nothing is loaded from outside
    assert page.complaints == []
    context.close()


FOUND = """() => {
    const facts = [...document.querySelectorAll('main [data-fact]')].map(one => ({
        stream: one.closest('[data-stream]').dataset.stream,
        version: Number(one.closest('[data-version]').dataset.version),
        moment: one.closest('[data-version]').dataset.moment,
        totals: one.closest('[data-of]') !== null, path: one.dataset.fact, length: 'length' in one.dataset,
        value: one.tagName === 'TIME' ? JSON.stringify(one.dateTime) : one.value, text: one.textContent}));
    const most = [...document.querySelectorAll('main [data-most]')].map(one => [one.dataset.most, one.value]);
    const said = [...document.querySelectorAll('main [data-text]')].map(one => [one.dataset.text, one.textContent]);
    const drawn = [...document.querySelectorAll('rect.asked')].length;
    return {facts, most, said, drawn};
}"""


def value_of(facts, path):
    for part in path.split("."):
        facts = facts[int(part)] if isinstance(facts, list) else facts[part]
    return facts


def compared(page, api):
    """Compare all numbers with what the API said of the same moment; return how many, or None if it said nothing."""
    found = page.evaluate(FOUND)
    if not found["facts"]:
        return None
    said = {}
    for one in found["facts"]:
        path = "/totals?span=day" if one["totals"] else ""
        which = unquote(one["stream"]), path, one["version"], one["moment"]
        if which not in said:
            said[which] = api.get(*which)
        if said[which] is None:
            return None
        if one["path"] in ("now", "from", "to"):
            continue  # these are times of the look itself
        value = value_of(said[which], one["path"])
        value = len(value) if one["length"] else value
        assert json.loads(one["value"]) == value, one
        if not one["value"].startswith('"') and one["path"] not in IN_WORDS:
            assert one["text"] == read(value), one
    stream, version, moment = (found["facts"][0][name] for name in ("stream", "version", "moment"))
    if found["most"]:
        totals = said[unquote(stream), "/totals?span=day", version, moment]["totals"]
        for name, value in found["most"]:
            assert json.loads(value) == max([row[name] for row in totals if row[name] is not None] + [0])
        assert found["drawn"] == len(totals)
    for path, text in found["said"]:
        assert text == value_of(said[unquote(stream), "", version, moment], path)
    return len(found["facts"])


def test_every_number_is_what_the_api_says_and_the_page_keeps_up(page, api):
    assert until(lambda: compared(page, api), "the list to agree with the API") == 8
    for name in STREAMS:
        page.get_by_role("link", name=name).click()
        page.get_by_role("heading", name=name).wait_for()
        for _ in range(3):
            version = page.evaluate("document.getElementById('now').dataset.version")
            assert until(lambda: compared(page, api), f"the page of {name} to agree with the API") > 60
            until(lambda: page.evaluate("document.getElementById('now').dataset.version") != version, "an update")  # noqa: B023
        page.get_by_role("link", name="All streams").click()


def test_no_fault_is_found_by_axe(page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    faults = {}
    addresses = ["/", "/login", *(f"/streams/{name}" for name in STREAMS), "/streams/nobody"]
    for path in addresses:
        page.goto(urlsplit(page.url)._replace(path=path, query="").geturl())
        if path == f"/streams/{STREAMS[0]}":
            page.get_by_text("The numbers", exact=True).click()
        faults[path] = [
            (fault["id"], [node["html"][:200] for node in fault["nodes"]])
            for fault in axe.run(page).response["violations"]
        ]
    page.goto(urlsplit(page.url)._replace(path=f"/streams/{STREAMS[0]}").geturl())
    page.get_by_role("link", name="Withdraw").first.click()
    page.get_by_role("heading", name="Withdraw this arm?").wait_for()
    faults["withdraw"] = [fault["id"] for fault in axe.run(page).response["violations"]]
    page.complaints.clear()  # a stream that is not there is an answer of 404, of which browsers complain
    assert not any(faults.values()), faults


def test_the_page_does_not_scroll_sideways_and_its_words_stay_in_sight(page):
    for path in ("/", *(f"/streams/{name}" for name in STREAMS)):
        page.goto(urlsplit(page.url)._replace(path=path).geturl())
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, path
        outside = page.evaluate(
            """() => [...document.querySelectorAll('main *')]
                .filter(one => !one.closest('.scroll, .unseen, thead, svg'))
                .filter(one => one.getBoundingClientRect().right > innerWidth + 1)
                .map(one => one.outerHTML.slice(0, 80))"""
        )
        assert outside == []


def test_by_keyboard_alone_an_arm_is_withdrawn_and_focus_outlives_updates(page, api):
    """Tab to a stream, to an arm, look again, keep it; then again, and withdraw it."""

    def tab_to(condition):
        for _ in range(200):
            page.keyboard.press("Tab")
            if page.evaluate(f"(() => {{ const one = document.activeElement; return {condition}; }})()"):
                assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
                return
        raise AssertionError(f"no tab leads to {condition}")

    tab_to("one.textContent === 'headline test'")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="headline test").wait_for()
    tab_to("one.id.startsWith('withdraw-')")
    number = page.evaluate("document.activeElement.id.slice(9)")
    version = page.evaluate("document.getElementById('now').dataset.version")
    until(lambda: page.evaluate("document.getElementById('now').dataset.version") != version, "an update")
    assert page.evaluate("document.activeElement.id") == f"withdraw-{number}"
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Withdraw this arm?").wait_for()
    tab_to("one.textContent === 'Keep it'")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="headline test").wait_for()
    assert page.locator(f"#withdraw-{number}").count() == 1
    tab_to(f"one.id === 'withdraw-{number}'")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Withdraw this arm?").wait_for()
    tab_to("one.textContent === 'Withdraw it'")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="headline test").wait_for()
    assert page.locator(f"#withdraw-{number}").count() == 0
    arms = api.client.get("/v1/streams/headline test").json()["arms"]
    assert number not in [str(arm["arrival"]) for arm in arms]


def test_updates_keep_what_is_open_and_scrolled_and_can_be_paused(page):
    page.get_by_role("link", name="front page").click()
    page.get_by_text("The numbers", exact=True).click()
    page.evaluate("document.getElementById('numbers-scroll').scrollTop = 50; scrollTo(0, 200)")
    before = page.evaluate("[document.getElementById('numbers-scroll').scrollTop, scrollY]")
    version = page.evaluate("document.getElementById('now').dataset.version")
    until(lambda: page.evaluate("document.getElementById('now').dataset.version") != version, "an update")
    assert page.evaluate("document.getElementById('numbers').open")
    top, y = page.evaluate("[document.getElementById('numbers-scroll').scrollTop, scrollY]")
    assert top == before[0] == 50
    assert abs(y - before[1]) < 60  # a row that comes or goes above may move it a little
    page.get_by_role("button", name="Pause").click()
    assert page.get_by_role("button", name="Pause").get_attribute("aria-pressed") == "true"
    version = page.evaluate("document.getElementById('now').dataset.version")
    page.wait_for_timeout(5000)
    assert page.evaluate("document.getElementById('now').dataset.version") == version
    assert page.locator("[aria-live=polite]").count() == 1


def test_logging_out_leads_back_to_the_form(page):
    page.get_by_role("button", name="Log out").click()
    page.get_by_role("heading", name="Log in").wait_for()
    page.goto(urlsplit(page.url)._replace(path="/").geturl())
    page.get_by_role("heading", name="Log in").wait_for()


@pytest.mark.skipif("BESTBEFORE_PICTURES" not in os.environ, reason="BESTBEFORE_PICTURES names no folder")
def test_pictures_for_the_docs(page):
    folder = Path(os.environ["BESTBEFORE_PICTURES"])
    for name, place in (("streams", "/"), ("player", f"/streams/{STREAMS[0]}"), ("explorer", f"/streams/{STREAMS[1]}")):
        page.goto(urlsplit(page.url)._replace(path=place).geturl())
        page.screenshot(path=folder / f"page-{name}-{page.size}.png", full_page=True)
