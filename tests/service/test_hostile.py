"""Names, bodies and clients that mean no good: nothing gets in, nothing breaks, and others are served meanwhile."""

import http.client
import json
import socket
from urllib.parse import quote

import httpx
import pytest

from bestbefore import Explorer
from bestbefore.service import server as server_module

NAMES = [
    "<script>alert(1)</script>",
    "\"quoted\" and 'quoted' and `quoted`",
    "'; DROP TABLE bestbefore_streams; --",
    "🦔🧅 emoji, and e\u0301 in two parts",
    "line\r\nSet-Cookie: a=b\r\n\r\n",
    "\u202eright to left\u200b",
    "%2e%2e%2f%00",
    "{{ 7 * 7 }} ${7*7}",
    "\x1b[31mred\x07",
]
PATHS = [
    "../../etc/passwd",
    "a/b",
    "/",
    "//",
    "..\\..\\windows",
    "streams/x/arms",
    "%2e%2e",
    "x?y=1#z",
    " ",
    "front;a=b",
]


@pytest.fixture
def client(service):
    with httpx.Client(base_url=service.address, headers=service.key, timeout=30) as found:
        yield found


def place(name):
    return "/v1/streams/" + quote(name, safe="")


def made(client, name="front"):
    answer = client.put(place(name), json={"agent": "Player", "settings": {"window": 5, "memory": 5}})
    assert answer.status_code in (200, 201), answer.text
    return place(name)


@pytest.mark.parametrize("name", [*NAMES, *PATHS])
def test_a_stream_and_an_arm_of_any_name_are_that_and_nothing_else(service, client, name):
    here = made(client, name)
    assert client.get("/v1/streams").json() == {"streams": [name]}
    for arm in (name, [name, 3]):
        assert client.post(f"{here}/arms", json={"arm": arm}).json() == {"gone": []}
    pull = client.post(f"{here}/pulls", json={"id": name[:200]}).json()["pulls"][0]
    assert pull["id"] == name
    assert client.post(f"{here}/rewards", json={"id": name, "reward": 1.0}).json() == {"done": True}
    answer = client.get(f"{here}/best")
    assert answer.json() == {"best": pull["arm"]}
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "set-cookie" not in answer.headers
    assert service.desk.stream(name).stored == [name, (name, 3)]
    assert client.post(f"{here}/arms/withdraw", json={"arm": name}).json() == {"done": True}
    refused = client.post(f"{here}/arms/withdraw", json={"arm": name})  # the answer repeats the name, as JSON
    assert (refused.status_code, refused.headers["content-type"]) == (410, "application/problem+json")
    assert client.delete(here).json() == {"done": True}
    assert service.desk.streams() == []


@pytest.mark.parametrize("name", [".", "..", "x" * 201, "a\0b", "é" * 201])
def test_names_that_no_stream_can_have_are_refused(service, name):
    """They are sent as they are: a client of comfort would resolve the dots."""
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
    body = json.dumps({"settings": {"window": 5, "epsilon": 0.3}})
    address = "/v1/streams/" + quote(name, safe="").replace(".", "%2E")
    connection.request("PUT", address, body, {**service.key, "Content-Type": "application/json"})
    answer = connection.getresponse()
    assert answer.status == 422
    assert "name must be" in json.loads(answer.read())["detail"]
    connection.close()
    assert service.desk.streams() == []


@pytest.mark.parametrize(
    "path",
    ["/v1/streams/../../etc/passwd", "/../../etc/passwd", "/v1/streams/..%2f..%2fetc/passwd", "/v1//streams"],
)
def test_a_path_leads_to_no_file(service, path):
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
    connection.request("GET", path, headers=service.key)
    answer = connection.getresponse()
    assert answer.status == 404
    assert b"root:" not in answer.read()
    connection.close()


def test_a_name_of_10_kB_is_refused_wherever_it_stands(service, client):
    here = made(client)
    before = service.desk.stream("front").state()
    long = "x" * 10_000
    for call, body in (
        ("arms", {"arm": long}),
        ("arms", {"arm": [long]}),
        ("arms/withdraw", {"arm": long}),
        ("pulls", {"id": long}),
        ("rewards", {"id": long, "reward": 1.0}),
        ("rewards/batch", {"rewards": [{"id": long, "reward": 1.0}]}),
        ("lost", {"id": long}),
    ):
        answer = client.post(f"{here}/{call}", json=body)
        assert answer.status_code == 422, (call, answer.text)
        assert answer.json()["errors"]
    assert client.put(place(long), json={}).status_code == 422
    assert service.desk.stream("front").state() == before
    client.delete(here)


BODIES = [
    b"",
    b"{",
    b"[]",
    b"null",
    b"[" * 100_000,
    b'{"arm":' * 20_000,
    b'{"id": "a", "reward": NaN}',
    b'{"id": "a", "reward": 1e999}',
    b'{"id": "a", "reward": "1"}',
    b'{"id": "\\ud800", "reward": 1}',
    b'{"arm": "\\ud800"}',
    b'{"arm": 1e999}',
    b'{"arm": ' + b"9" * 5000 + b"}",
    b'{"arm": {"a": 1}}',
    b'{"arm": null}',
    b'{"arm": "a", "at": 1e300}',
    b'{"arm": "a", "at": -1}',
    b"\xff\xfe{}",
    b'{"id": "\xff"}',
    b'{"id": "a\\u0000b", "reward": 1}',
    b'{"rewards": [{"id": "a\\u0000b", "reward": 1}]}',
    b'{"rewards": [{"id": "a", "reward": 1, "more": 1}]}',
    b'{"rewards": [{"id": 1, "reward": 1}]}',
]


@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
def test_bodies_that_mean_nothing_are_refused_and_change_nothing(service, client, body):
    here = made(client)
    before = service.desk.stream("front").state()
    for call in ("arms", "arms/withdraw", "rewards", "rewards/batch", "learn", "lost"):
        answer = client.post(f"{here}/{call}", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code in (404, 410, 422), (call, answer.status_code, answer.text[:200])
        assert answer.headers["content-type"] == "application/problem+json"
    answer = client.put(place("other"), content=body or b"[", headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert service.desk.stream("front").state() == before
    assert service.desk.streams() == ["front"]


def test_a_form_is_no_call(service, client):
    """A page elsewhere can send a form, or plain text, but not JSON; and it has no key."""
    here = made(client)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        for call in ("arms", "pulls", "rewards"):
            body = json.dumps({"arm": "a", "id": "a", "reward": 1.0})
            answer = client.post(f"{here}/{call}", content=body, headers={"Content-Type": kind})
            assert answer.status_code == 422
    assert service.desk.stream("front").look().arrivals == 0


def test_a_body_of_100_MB_is_refused_before_it_has_come(service, client):
    """With its length said before, and without; others are served meanwhile."""
    here = made(client)
    head = f"POST {here}/rewards HTTP/1.1\r\nHost: x\r\nAuthorization: {service.key['Authorization']}\r\n"
    head += "Content-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as said:
        said.sendall((head + "Content-Length: 100000000\r\n\r\n").encode())
        assert b" 413 " in said.recv(1000)  # of the body, nothing was sent
    sent, piece = 0, b"x" * 65536
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as unsaid:
        unsaid.sendall((head + "Transfer-Encoding: chunked\r\n\r\n").encode())
        try:
            while sent < 100_000_000:
                unsaid.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
                sent += len(piece)
        except OSError:  # it has hung up
            pass
    assert sent < 50_000_000  # some may wait in buffers of the system
    assert client.get("/health").status_code == 200


def test_a_client_that_takes_too_long_is_sent_away(serve, monkeypatch):
    """One is slow with its body, one with its head; a third is served meanwhile."""
    monkeypatch.setattr(server_module, "_HEAD", 0.3)
    with serve(patience=0.3) as served:
        served.desk.stream("front", Explorer, window=5, epsilon=0.3)
        head = f"POST /v1/streams/front/rewards HTTP/1.1\r\nHost: x\r\nAuthorization: {served.key['Authorization']}\r\n"
        body = socket.create_connection(("127.0.0.1", served.port), timeout=60)
        body.sendall((head + 'Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{"id"').encode())
        slow = socket.create_connection(("127.0.0.1", served.port), timeout=60)
        slow.sendall(head[:20].encode())
        assert httpx.get(f"{served.address}/v1/streams", headers=served.key).json() == {"streams": ["front"]}
        answer = b""
        while some := body.recv(1000):
            answer += some
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"connection: close" in answer.lower()
        assert slow.recv(1000) == b""  # hung up
        body.close()
        slow.close()


def test_a_client_that_does_not_read_its_answer_is_sent_away(serve, monkeypatch, wait_until):
    """The answer is larger than all buffers between; when the time is over it is cut off, and the place is free."""
    monkeypatch.setattr(server_module, "_UNREAD", 0.3)
    with serve() as served:
        monkeypatch.setattr(served.desk, "streams", lambda: ["x" * 1000] * 20_000)
        lazy = socket.socket()
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lazy.settimeout(60)
        lazy.connect(("127.0.0.1", served.port))
        key = served.key["Authorization"]
        lazy.sendall(f"GET /v1/streams HTTP/1.1\r\nHost: x\r\nAuthorization: {key}\r\n\r\n".encode())
        lazy.recv(1)  # it has begun
        wait_until(lambda: served.connections() == 0)
        got = 1
        try:
            while some := lazy.recv(65536):
                got += len(some)
        except ConnectionResetError:
            pass
        lazy.close()
        assert got < 20_000_000
        assert httpx.get(f"{served.address}/health").status_code == 200
