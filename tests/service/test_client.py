"""`connect("http://...")` is the very same desk; and what it does when the server is slow, away or somebody else."""

import json
import socket
import threading
from contextlib import contextmanager

import pytest

from bestbefore import Conflict, Explorer, Player, StoreUnavailable, UnknownStream, connect
from bestbefore.store import sending
from bestbefore.testing.stores import check_desk


@pytest.mark.parametrize("seed", [1, 2])
def test_a_desk_on_a_server_keeps_all_promises_of_a_desk(served, seed):
    check_desk(lambda: connect(served.address, key=served.texts["admin"]), served.clock, seed=seed)


class Scripted:
    """A server that answers by a script, one entry for each request, and notes what was sent.

    An entry is a status, a content type, a body and more headers; "hang up" ends the connection without an answer, and
    "silence" gives none.
    """

    def __init__(self, script):
        self.script, self.requests, self.connections = list(script), [], 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._over = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with connection, connection.makefile("rb") as file:
            while line := file.readline():
                headers = {}
                while (header := file.readline().strip()) != b"":
                    name, _, value = header.partition(b": ")
                    headers[name.decode().lower()] = value.decode()
                body = file.read(int(headers.get("content-length", 0)))
                self.requests.append((line.split()[1].decode(), body))
                what = self.script.pop(0)
                if what == "hang up":
                    return
                if what == "silence":
                    self._over.wait()
                    return
                status, kind, text, *more = what
                head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(text)}\r\n"
                connection.sendall((head + "".join(f"{one}\r\n" for one in more) + "\r\n" + text).encode())

    def close(self):
        self._over.set()
        self._socket.close()


@contextmanager
def talking_to(*script, **named):
    server = Scripted(script)
    with connect(server.address, key="bb_1_2", **named) as desk:
        yield desk, server
    server.close()


def well(**content):
    return 200, "application/json", json.dumps(content)


def problem(status, word, *more):
    document = json.dumps({"type": f"urn:bestbefore:problem:{word}", "status": status, "detail": "so it is"})
    return status, "application/problem+json", document, *more


THERE = well(arms=0, swept=None, oldest=None, waiting=False)  # how a stream is found
HTML = "text/html", "<html>Welcome to nginx!</html>"


@pytest.mark.parametrize("lost", ["hang up", (502, *HTML), problem(503, "unavailable", "Retry-After: 0")])
def test_what_is_safe_is_sent_again_word_for_word_until_it_is_answered(lost):
    with talking_to(THERE, lost, lost, well(done=True), lost, well(pulls=[])) as (desk, server):
        page = desk.stream("front")
        page.tell("pull", 1.0)
        assert page.ask() is None
    assert server.requests[1:4] == [("/v1/streams/front/rewards", b'{"id": "pull", "reward": 1.0}')] * 3
    asked = {body for path, body in server.requests[4:]}
    assert len(server.requests[4:]) == 2
    assert len(asked) == 1  # under the same id: whichever was taken in, there is one pull


@pytest.mark.parametrize("lost", ["hang up", (502, *HTML), problem(503, "unavailable")])
def test_what_must_not_be_done_twice_is_not_sent_twice(lost):
    """Whether a step of time was taken in nobody knows: the caller has to look."""
    with talking_to(THERE, lost) as (desk, server):
        with pytest.raises(StoreUnavailable):
            desk.stream("front").tick()
        assert len(server.requests) == 2


def test_a_batch_with_a_step_of_time_is_not_sent_twice_either():
    with talking_to("hang up") as (desk, server):
        batch = desk.batch()
        batch.stream("front").tell("pull", 1.0)
        batch.stream("front").tick()
        with pytest.raises(StoreUnavailable, match="nobody knows whether"):
            batch.__exit__(None, None, None)
        assert len(server.requests) == 1


def test_what_was_not_even_looked_at_is_sent_again_whatever_it_is():
    with talking_to(THERE, problem(429, "too-many-requests", "Retry-After: 0"), well(gone=[])) as (desk, _):
        assert desk.stream("front").tick() == []


def test_an_arm_that_is_gone_by_the_call_whose_answer_was_lost_was_withdrawn():
    """But where no answer was lost, it was gone before."""
    with talking_to(THERE, "hang up", problem(410, "gone"), problem(410, "gone")) as (desk, _):
        page = desk.stream("front")
        assert page.withdraw("storm") is None
        with pytest.raises(LookupError):
            page.withdraw("storm")


def test_a_server_that_does_not_answer_in_time_is_asked_again():
    with talking_to(THERE, "silence", well(done=True), timeout=0.5) as (desk, server):
        desk.stream("front").tell("pull", 1.0)
        assert len(server.requests) == 3


def test_calls_share_a_connection():
    with talking_to(THERE, *[well(done=True)] * 5) as (desk, server):
        page = desk.stream("front")
        for number in range(5):
            page.tell(f"pull {number}", 1.0)
        assert server.connections == 1


def test_where_nobody_listens_it_says_so_when_the_patience_is_over(monkeypatch):
    monkeypatch.setattr(sending, "LONGEST", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    with connect(address) as desk, pytest.raises(StoreUnavailable, match=f"{address} cannot be reached.*safe to send"):
        desk.streams()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((200, *HTML), "something else answered: 200, 'text/html'"),
        ((404, *HTML), "something else answered: 404, 'text/html'"),
        ((200, "application/json", "[]"), "something else answered: 200"),
        ((200, "application/json", "{"), "something else answered: 200"),
        ((308, "text/plain", "", "Location: https://elsewhere/"), "a redirect to 'https://elsewhere/'"),
        (problem(404, "unknown", "Server: bestbefore/9.9"), r"bestbefore/9.9\) seems to be of another version"),
        (well(names=["front"]), "another version: its answer cannot be read"),
    ],
)
def test_what_is_no_service_or_one_of_another_version_is_told_at_once(answer, words):
    """A key is not carried elsewhere: redirects are not followed."""
    with talking_to(answer) as (desk, server):
        with pytest.raises(ValueError, match=rf"^url must be .*{words}"):
            desk.streams()
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    "url", ["http://", "http://:8000", "http://h:99999", "http://u:p@h", "http://h?key=bb_1", "http://[x"]
)
def test_an_address_that_can_be_none_is_refused_without_repeating_it(url):
    with pytest.raises(ValueError, match="url must be like") as wrong:
        connect(url)
    assert "bb_1" not in str(wrong.value)


@pytest.mark.parametrize("key", ["", "bb_\n", "bb_\u00e9", 3])
def test_a_key_that_can_be_none_is_refused_without_repeating_it(key):
    with pytest.raises(ValueError, match=r"^key must be the text that `bestbefore keys make` has shown$"):
        connect("http://127.0.0.1:1", key=key)


def test_errors_of_keys_and_names_are_those_of_the_trade(served):
    with connect(served.address) as desk, pytest.raises(PermissionError, match="send a key"):
        desk.streams()
    with connect(served.address, key=served.texts["read"]) as desk:
        with pytest.raises(PermissionError, match="needs a key of scope 'write'; this one has 'read'"):
            desk.stream("front", Explorer, window=5, epsilon=0.3)
        with pytest.raises(UnknownStream):
            desk.stream("front")
        with pytest.raises(ValueError, match="agent must be given"):
            desk.stream("front", otherwise=None)


def test_arms_can_be_numbered(served):
    """With a window by count `at` is a whole number, and stays one on its way."""
    with connect(served.address, key=served.texts["admin"]) as desk:
        page = desk.stream("front", Player, window=5, memory=3)
        page.arrive("storm", at=7)
        page.arrive("storm", at=7)
        with pytest.raises(Conflict):
            page.arrive("storm", at=8)
        assert page.ask().arrival == 7
        assert page.advance(to=12) == ["storm"]


def test_threads_may_share_a_desk(served):
    """Eight at once, each with rewards of its own: all of them count, once."""
    with connect(served.address, key=served.texts["admin"]) as desk:
        page, wrong = desk.stream("front", Player, window=5, memory=3), []
        page.arrive("storm")

        def work(number):
            try:
                for turn in range(10):
                    page.tell(page.ask(id=f"{number} {turn}").id, 1.0)
            except Exception as error:
                wrong.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        assert page.pulls == 80
