"""What every call keeps: an example, retries with the same answer, no change by those who only look."""

import socket
import sqlite3

import httpx
import pytest

from bestbefore import Player, Seeker
from bestbefore.service.keys import Keys


@pytest.fixture
def client(service):
    with httpx.Client(base_url=service.address, headers=service.key, timeout=30) as found:
        yield found


@pytest.fixture
def front(service):
    yield service.desk.stream("front", Player, window=5, memory=3)
    service.desk.drop("front")


def operations(app):
    for path, methods in app.openapi()["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


def test_each_call_is_described_with_an_example_of_what_is_sent(service):
    parts = service.app.openapi()["components"]["schemas"]
    with_bodies = 0
    for _, path, operation in operations(service.app):
        assert operation["summary"]
        for parameter in operation.get("parameters", ()):
            if parameter["in"] == "path":
                assert parameter["schema"].get("examples") or parameter.get("examples"), path
        if "requestBody" in operation:
            with_bodies += 1
            model = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]
            assert parts[model]["examples"], model
    assert with_bodies == 11


def test_each_example_is_a_call_that_can_be_made(service, client):
    """In the order of a life: what the description shows, sent as it is."""
    bodies = {
        operation["operationId"]: operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        for _, _, operation in operations(service.app)
        if "requestBody" in operation
    }
    parts = service.app.openapi()["components"]["schemas"]
    here = "/v1/streams/front%20page"
    for id, method, place in (
        ("make_stream", "PUT", here),
        ("arrive", "POST", f"{here}/arms"),
        ("ask", "POST", f"{here}/pulls"),
        ("tell", "POST", f"{here}/rewards"),
        ("tell_many", "POST", f"{here}/rewards/batch"),
        ("batch", "POST", "/v1/batch"),
        ("advance", "POST", f"{here}/advance"),
        ("withdraw", "POST", f"{here}/arms/withdraw"),
    ):
        answer = client.request(method, place, json=parts[bodies[id].rsplit("/", 1)[1]]["examples"][0])
        assert answer.is_success or (id == "tell" and answer.status_code == 404), (id, answer.text)
    service.desk.drop("front page")


def test_who_only_looks_changes_nothing_even_where_something_is_due(service, client):
    """A window and a deadline are over, and nobody has swept: a reader sees it done, and writes nothing."""
    page = service.desk.stream("due", Player, window="1 h", memory=3, patience="1 min")
    page.arrive("storm")
    assert page.ask() is not None
    service.clock.now += 7200
    with sqlite3.connect(service.url.removeprefix("sqlite:///")) as file:
        version = file.execute("PRAGMA data_version").fetchone()
        looked = 0
        for method, path, _ in operations(service.app):
            if method == "get":
                assert client.get(path.replace("{name}", "due")).status_code == 200, path
                looked += 1
        assert looked == 9
        assert client.get("/v1/streams/due/best").json() == {"best": None}
        assert file.execute("PRAGMA data_version").fetchone() == version
        page.arrive("calm")
        assert file.execute("PRAGMA data_version").fetchone() != version  # it would have been seen
    file.close()
    service.desk.drop("due")


SAME = [
    ("PUT", "", {"agent": "Player", "settings": {"window": 5, "memory": 3}}),
    ("POST", "/arms", {"arm": "storm", "at": 1}),
    ("POST", "/pulls", {"id": "one"}),
    ("POST", "/pulls", {"id": "slate", "k": 1}),
    ("POST", "/pulls", {"id": "many", "count": 3}),
    ("POST", "/rewards", {"id": "one", "reward": 0.5}),
    ("POST", "/rewards/batch", {"rewards": [{"id": "many/1", "reward": 1.0}]}),
    ("POST", "/lost", {"id": "many/2"}),
    ("POST", "/advance", {"to": 1}),
]
OTHER = [
    ("PUT", "", {"agent": "Player", "settings": {"window": 6, "memory": 3}}, "window must be 5"),
    ("PUT", "", {"agent": "Explorer", "settings": {"window": 5, "memory": 3, "tests": 1}}, "agent must be Player"),
    ("POST", "/arms", {"arm": "storm", "at": 2}, "at must be"),
    ("POST", "/rewards", {"id": "one", "reward": 0.25}, "reward must be the same again, not 0.25"),
    ("POST", "/lost", {"id": "one"}, "cannot be given up"),
    ("POST", "/rewards", {"id": "many/2", "reward": 1.0}, "was given up"),
]


def test_a_call_sent_again_is_answered_as_before_and_with_other_content_it_is_a_conflict(client, front):
    for method, place, body in SAME:
        first, again = (client.request(method, f"/v1/streams/front{place}", json=body) for _ in range(2))
        assert first.status_code == again.status_code == 200, (place, first.text)
        assert first.json() == again.json()
    before = front.state()
    for method, place, body, words in OTHER:
        answer = client.request(method, f"/v1/streams/front{place}", json=body)
        assert (answer.status_code, answer.json()["type"]) == (409, "urn:bestbefore:problem:conflict"), answer.text
        assert words in answer.json()["detail"]
    assert front.state() == before
    assert (front.pulls, front.look().arrivals) == (2, 1)


def test_a_batch_of_other_content_tells_of_each_conflict(client, front):
    front.arrive("storm")
    pull = front.ask(id="one")
    front.tell(pull.id, 1.0)
    rewards = [{"id": "one", "reward": 1.0}, {"id": "one", "reward": 0.0}, {"id": "nobody", "reward": 0.0}]
    results = client.post("/v1/streams/front/rewards/batch", json={"rewards": rewards}).json()["results"]
    assert results[0] == {"answer": {"done": True}}
    assert [result["problem"]["status"] for result in results[1:]] == [409, 404]


def test_a_pull_whose_arm_has_expired_is_410_and_unknown_ones_are_404(service, client, front):
    front.arrive("storm")
    pull = front.ask()
    front.withdraw("storm")
    for id, status in ((pull.id, 410), ("nobody", 404)):
        answer = client.post("/v1/streams/front/rewards", json={"id": id, "reward": 1.0})
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")


def test_a_field_that_is_wrong_is_named_with_what_is_allowed(client, front):
    for place, body, field in (
        ("rewards", {"id": "one"}, "reward"),
        ("rewards", {"id": "one", "reward": "1"}, "reward"),
        ("rewards", {"id": "one", "reward": 1.0, "rewards": 2}, "rewards"),
        ("pulls", {"k": 0}, "k"),
        ("pulls", {"count": 1001}, "count"),
        ("arms", {"arm": {"a": 1}}, "arm"),
        ("arms", {"arm": "storm", "budget": -1}, "budget"),
    ):
        answer = client.post(f"/v1/streams/front/{place}", json=body)
        assert answer.status_code == 422, (body, answer.text)
        assert [error["field"] for error in answer.json()["errors"]] == [field]


def test_a_request_cannot_ask_for_more_than_1000_pulls_in_all(service, client, front):
    """A thousand slates of a thousand would keep everybody waiting for minutes."""
    calls = [{"stream": "front", "verb": "ask", "arguments": {"k": 1000}}, {"stream": "front", "verb": "ask"}]
    answer = client.post("/v1/batch", json={"calls": calls})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "calls"
    assert client.post("/v1/batch", json={"calls": calls[:1]}).status_code == 200


def test_a_seeker_is_served_too(service, client):
    service.desk.stream("deep", Seeker, window=5, memory=3)
    for place, body in (
        ("arms", {"arm": "a"}),
        ("learn", {"arm": "a", "valid": True}),
        ("finish", {"time": "goes on"}),
        ("tick", None),
    ):
        answer = client.post(f"/v1/streams/deep/{place}", json=body)
        assert answer.status_code == 200, (place, answer.text)
    service.desk.drop("deep")


def test_a_stream_that_is_damaged_fails_alone_and_nobody_is_told_to_try_again(service, client, front):
    service.desk.stream("broken", Player, window=5, memory=3)
    with sqlite3.connect(service.url.removeprefix("sqlite:///")) as file:
        file.execute("UPDATE bestbefore_streams SET state = '{', version = version + 1 WHERE name = 'broken'")
    file.close()
    for method, place in (("GET", "/best"), ("POST", "/pulls")):
        answer = client.request(method, f"/v1/streams/broken{place}", json=None if method == "GET" else {})
        assert (answer.status_code, answer.json()["type"]) == (500, "urn:bestbefore:problem:damaged"), answer.text
        assert "retry-after" not in answer.headers
    assert client.get("/v1/streams/front/best").status_code == 200
    service.desk.drop("broken")


def test_keys_are_read_once_for_all_who_wait_for_them(service, monkeypatch):
    """Sixty-four calls at the end of a second must not be sixty-four readings."""
    import threading

    keys, read, go = Keys(service.desk._store), [], threading.Event()
    look = service.desk._store.look

    def slow():
        read.append(1)
        go.wait()
        return look()

    monkeypatch.setattr(service.desk._store, "look", slow)
    found = []
    threads = [threading.Thread(target=lambda: found.append(keys.find(service.texts["read"]))) for _ in range(16)]
    for thread in threads:
        thread.start()
    go.set()
    for thread in threads:
        thread.join()
    assert [key.scope for key in found] == ["read"] * 16
    assert len(read) < 16


def test_a_method_that_an_address_does_not_take_is_told_which_it_takes(client):
    for method, place, allowed in (
        ("PUT", "/v1/streams/front/rewards", "POST"),
        ("POST", "/v1/streams/front", "DELETE and GET and PUT"),
        ("HEAD", "/health", "GET"),
    ):
        answer = client.request(method, place)
        assert (answer.status_code, answer.headers["allow"]) == (405, allowed.replace(" and", ","))
        if method != "HEAD":
            assert answer.json()["detail"] == f"this address takes {allowed}, not {method}"


def test_a_body_that_is_here_already_needs_no_timer(service, front, monkeypatch):
    """A timer for each request would cost a tenth of a tell; one is set only where a body has to be waited for.

    Head and body are sent in one piece, as most clients do.
    """
    monkeypatch.setattr("bestbefore.service.limits.asyncio.timeout_at", None)
    front.arrive("storm")
    key, body = service.key["Authorization"], '{"id": "one"}'
    head = (
        f"POST /v1/streams/front/pulls HTTP/1.1\r\nHost: x\r\nAuthorization: {key}\r\nContent-Length: {len(body)}\r\n"
    )
    with socket.create_connection(("127.0.0.1", service.port), timeout=60) as sender:
        sender.sendall(f"{head}Content-Type: application/json\r\n\r\n{body}".encode())
        assert sender.recv(1000).startswith(b"HTTP/1.1 200 ")


def test_every_answer_says_who_gives_it(service, client):
    for place in ("/health", "/v1/streams", "/nowhere", "/metrics"):
        assert client.get(place).headers["server"].startswith("bestbefore/")
