"""The page: what it shows is what the API says, whatever things are called."""

import json
import re
from html import unescape
from html.parser import HTMLParser
from urllib.parse import quote, unquote

import httpx
import pytest

from bestbefore import Explorer, Player, Seeker
from bestbefore.service.page.shown import read

HOSTILE = [
    "<script>alert(1)</script>",
    "\"quoted\" and 'quoted' & `quoted`",
    "</data><img src=x onerror=alert(1)>",
    "{{ 7 * 7 }} {% raw %}",
    "🦔🧅 \u202eright to left\u200b\x1b[31m",
    "x" * 1900,
]


class Facts(HTMLParser):
    """Finds all that says which fact it is, and whatever digits stand elsewhere."""

    VOID = ("meta", "link", "input", "br", "img", "line", "rect", "polyline")

    def __init__(self, text):
        super().__init__()
        self.open, self.found, self.stray = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in self.VOID:
            self.open.append((tag, attrs, len(self.found)))
        if "data-fact" in attrs:
            of = next((a["data-of"] for _, a, _ in reversed(self.open) if "data-of" in a), "stream")
            self.found.append([of, attrs, ""])

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag):
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        tags = [tag for tag, _, _ in self.open]
        if any("data-fact" in attrs for _, attrs, _ in self.open):
            self.found[-1][2] += data
        elif "main" in tags and re.search(r"\d", data):
            known = [a for _, a, _ in self.open if {"data-text", "data-most", "data-zero"} & set(a)]
            if not known and not {"bdi", "data"} & set(tags):
                self.stray.append(data)


@pytest.fixture
def client(service):
    with httpx.Client(base_url=service.address, follow_redirects=True, timeout=30) as found:
        answer = found.post("/login", data={"key": service.texts["admin"]})
        assert (answer.status_code, answer.url.path) == (200, "/")
        yield found


def page_of(name):
    return "/streams/" + quote(name, safe="")


def api(service, name, more=""):
    return httpx.get(f"{service.address}/v1{page_of(name)}{more}", headers=service.key).json()


def value_of(facts, path):
    for part in path.split("."):
        facts = facts[int(part)] if isinstance(facts, list) else facts[part]
    return facts


def check_numbers(text, facts, past):
    """Each number says which fact it is, is that fact, and is read as it; there are no others."""
    found = Facts(text)
    assert found.stray == []
    assert len(found.found) >= 15
    for of, attrs, shown in found.found:
        path, is_length = attrs["data-fact"], "data-length" in attrs
        value = value_of(past if of == "totals" else facts, path)
        value = len(value) if is_length else value
        if "datetime" in attrs:
            assert attrs["datetime"] == value, path
        else:
            assert json.loads(attrs["value"]) == value, path
            if path not in ("window", "silent_after", "step", "intervals.sure"):
                assert shown == read(value), path
    return found


def run(stream, arms, rewards):
    for arm in arms:
        stream.arrive(arm)
        for reward in rewards:
            pull = stream.ask()
            if pull is not None:
                stream.tell(pull.id, reward)


SORTS = {
    "certificates": (Explorer, {"window": "24h", "epsilon": 0.2}),
    "by count": (Explorer, {"window": 3, "epsilon": 0.3}),
    "fixed tests": (Explorer, {"window": 3, "epsilon": 0.3, "probe": "fixed", "tests": 4}),
    "no promise": (Explorer, {"window": 20, "memory": 3, "tests": 2}),
    "player": (Player, {"window": "2 days", "memory": 3}),
    "sigma": (Player, {"window": 9, "memory": 3, "sigma": 2.0}),
    "seeker": (Seeker, {"window": 2, "memory": 2}),
    "implicit": (Seeker, {"window": 2, "memory": 2, "flag": "implicit"}),
}


@pytest.mark.parametrize("sort", SORTS)
def test_every_number_is_what_the_api_says(service, client, sort):
    kind, settings = SORTS[sort]
    stream = service.desk.stream(sort, kind, patience="10 min", **settings)
    span = "month" if sort == "player" else "day"
    check_numbers(client.get(page_of(sort)).text, api(service, sort), api(service, sort, f"/totals?span={span}"))
    run(stream, "abcd", [1.0, 0.0, 0.25])
    stream.ask()
    service.clock.now += 700  # the deadline of the last pull passes, and nobody has swept
    facts = api(service, sort)
    text = client.get(page_of(sort)).text
    check_numbers(text, facts, api(service, sort, f"/totals?span={span}"))
    assert facts["promise"]["sentence"] in unescape(text)
    assert len(facts["arms"]) == text.count("data-arrival=")
    hour = client.get(page_of(sort) + "?span=hour").text
    check_numbers(hour, facts, api(service, sort, "/totals?span=hour"))
    part = client.get(page_of(sort) + "/now?span=hour").text
    assert part.strip() in hour
    service.desk.drop(sort)


def test_the_list_shows_each_stream_with_its_numbers(service, client):
    for name in ("one", "two"):
        run(service.desk.stream(name, Player, window=5, memory=3), "ab", [1.0, 0.5])
    text = client.get("/").text
    for name in ("one", "two"):
        part = re.search(rf'<li class="card" data-stream="{name}".*?</li>', text, re.DOTALL)[0]
        facts = api(service, name)
        for path, value in re.findall(r'value="([^"]*)" data-fact="([^"]*)">', part):
            assert json.loads(path) == facts[value]
        assert page_of(name) in part
        service.desk.drop(name)


def test_a_list_of_many_streams_goes_on_elsewhere(service, client):
    names = [f"stream {number:02}" for number in range(30)]
    for name in names:
        service.desk.stream(name, Player, window=5, memory=3)
    first, second = client.get("/").text, client.get("/?from=25").text
    shown = [[unquote(name) for name in re.findall(r'data-stream="([^"]*)"', text)] for text in (first, second)]
    assert shown == [names[:25], names[25:]]
    assert 'href="/?from=25"' in first
    assert 'href="/?from=0"' in second
    for name in names:
        service.desk.drop(name)


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_names_are_text_and_nothing_else(service, client, name):
    called = name[:200]
    stream = service.desk.stream(called, Player, window=5, memory=3)
    stream.arrive(name)
    stream.arrive((name[:500], 3, True))
    stream.tell(stream.ask().id, 1.0)
    for path in ("/", page_of(called), page_of(called) + "/now"):
        answer = client.get(path)
        assert answer.status_code == 200
        for tag in ("<script>alert", "<img", "49 ", "\x1b", "\u202e"):
            assert tag not in answer.text
    text = client.get(page_of(called)).text
    assert len(re.findall("<script", text)) == 1
    assert unescape(text).count(name if name.isprintable() else "right to left") >= 1  # the whole is in reach
    number = api(service, called)["arms"][0]["arrival"]
    asked = client.get(f"{page_of(called)}/withdraw?arrival={number}")
    assert "<script>alert" not in asked.text
    assert asked.status_code == 200
    service.desk.drop(called)


def test_a_stream_that_is_not_there_and_a_span_that_is_none_are_said_in_words(service, client):
    answer = client.get(page_of("nobody <b>here</b>"))
    assert answer.status_code == 404
    assert "nobody &lt;b&gt;here&lt;/b&gt;" in answer.text
    service.desk.stream("here", Player, window=5, memory=3)
    assert client.get(page_of("here") + "?span=week").status_code == 422
    assert client.get("/?from=x").status_code == 200
    service.desk.drop("here")


def test_who_falls_silent_is_shown_and_told_by_the_api(service, client):
    stream = service.desk.stream("front", Player, window="1 day", memory=3, patience="5 min")
    stream.arrive("storm")
    stream.tell(stream.ask().id, 1.0)
    assert "fallen silent" not in client.get(page_of("front")).text
    for _ in range(9):
        service.clock.now += 600
        stream.ask()
    facts = api(service, "front")
    assert facts["silent"]
    assert facts["missed"] == 8
    assert "Rewards have fallen silent" in client.get(page_of("front")).text
    assert "Silent:" in client.get("/").text
    service.desk.drop("front")


def test_many_arms_are_shown_when_they_are_asked_for(service, client):
    stream = service.desk.stream("many", Explorer, window=150, memory=150, keep="fifo", tests=1)
    run(stream, range(150), [0.5])
    assert client.get(page_of("many")).text.count("data-arrival=") == 100
    text = client.get(page_of("many") + "?arms=all").text
    assert text.count("data-arrival=") == len(api(service, "many")["arms"]) == 150
    service.desk.drop("many")
