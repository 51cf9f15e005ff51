"""The report in a real browser: every figure shows, every link leads somewhere, nothing comes from outside.

Run with `pytest -m browser`; it takes `pip install 'bestbefore[browser]'` and a Chromium, as in `apt install chromium`.
"""

import os
import shutil
from itertools import combinations
from pathlib import Path

import pytest

from bestbefore.paper.report.page import write_report

pytestmark = pytest.mark.browser

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


@pytest.fixture(scope="module")
def browser():
    if os.environ.get("CI"):
        pytest.skip("browser tests never run on CI")
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


@pytest.fixture(scope="module")
def index(tmp_path_factory, panels, make_reproduction):
    """Return the page to look at: that of a report in BESTBEFORE_REPORT if there is one, else a small one."""
    if "BESTBEFORE_REPORT" in os.environ:
        return (Path(os.environ["BESTBEFORE_REPORT"]) / "index.html").resolve()
    done = make_reproduction(*panels.values(), left_out={"mine": "no data"})
    return write_report(tmp_path_factory.mktemp("report"), done)


@pytest.fixture(
    params=[(1400, "light"), (800, "light"), (400, "light"), (400, "dark")], ids=lambda param: f"{param[0]}-{param[1]}"
)
def page(request, browser, index):
    width, scheme = request.param
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.asked, page.complaints = [], []
    page.on("request", lambda asked: page.asked.append(asked.url))
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.goto(index.as_uri())
    yield page
    page.close()


def test_nothing_is_loaded_but_the_page(page, index):
    assert [url for url in page.asked if not url.startswith("data:")] == [index.as_uri()]
    assert page.complaints == []


def test_every_figure_shows(page):
    figures = page.locator("svg[role=img]").all()
    assert len(figures) >= page.locator("article").count() > 0
    for figure in figures:
        box = figure.bounding_box()
        assert box["width"] > 300
        assert box["height"] > 200
        assert figure.locator("path").count() > 10


def test_the_page_does_not_scroll_sideways(page):
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0
    tables = page.locator(".wide").evaluate_all("all => all.map(one => one.scrollWidth - one.clientWidth)")
    assert max(tables) <= 0


def test_every_link_leads_somewhere(page, index):
    links = page.locator("a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
    assert links
    for link in set(links):
        if link.startswith("#"):
            assert page.locator(f'[id="{link[1:]}"]').count() == 1, link
        else:
            assert (index.parent / link).stat().st_size > 0, link
    for link in page.locator("nav a").all():
        link.click()
        assert page.evaluate("document.querySelector(':target').getBoundingClientRect().top < innerHeight")


def test_words_of_a_figure_neither_overlap_nor_leave_it(page):
    boxes = page.locator("svg[role=img]").evaluate_all(
        """figures => figures.map(figure => ({
            label: figure.getAttribute('aria-label'),
            frame: figure.getBoundingClientRect().toJSON(),
            words: [...figure.querySelectorAll('text')].map(
                text => ({text: text.textContent, ...text.getBoundingClientRect().toJSON()})),
        }))"""
    )
    for figure in boxes:
        frame, words = figure["frame"], figure["words"]
        assert words
        for word in words:
            inside = frame["left"] - 1 <= word["left"] and word["right"] <= frame["right"] + 1
            assert inside, (figure["label"], word["text"])
        for one, other in combinations(words, 2):
            across = min(one["right"], other["right"]) - max(one["left"], other["left"])
            down = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
            room = 0.3 * min(one["height"], other["height"])  # a line is higher than its letters
            assert across <= 0 or down <= room, (figure["label"], one["text"], other["text"])


def test_words_can_be_read_on_their_ground(page):
    """Contrast of at least 4.5, as WCAG's AA asks for."""
    poor = page.evaluate(
        """() => {
            const channels = colour => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
            const light = colour => channels(colour).map(one => one / 255)
                .map(one => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
                .reduce((sum, one, place) => sum + one * [0.2126, 0.7152, 0.0722][place], 0);
            const ground = light(getComputedStyle(document.body).backgroundColor);
            const contrast = colour => {
                const [low, high] = [light(colour), ground].sort((one, other) => one - other);
                return (high + 0.05) / (low + 0.05);
            };
            const figures = [...document.querySelectorAll('svg text')].map(text => getComputedStyle(text).fill);
            const prose = [...document.querySelectorAll('p, li, td, th, a, dd, span')]
                .map(one => getComputedStyle(one).color);
            return [...new Set([...figures, ...prose])].filter(colour => contrast(colour) < 4.5);
        }"""
    )
    assert poor == []
