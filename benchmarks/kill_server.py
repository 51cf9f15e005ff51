"""Kill the server under load: what clients were told is there, once, and they notice nothing but time.

    python benchmarks/kill_server.py --kills 50
    python benchmarks/kill_server.py --kills 50 --kind postgres

Clients of `connect("http://...")` let arms arrive, ask and tell, in threads.  The server is killed by -9 at random
moments and started again.  No call may fail; afterwards the ledger, the counts and the agent's state are compared with
what the clients noted.  The exit code says if all was there.
"""

import argparse
import os
import random
import socket
import subprocess
import sys
import threading
import time
from typing import Any

import httpx

from bestbefore import StoreUnavailable, connect
from bestbefore.service.keys import Keys
from bestbefore.store import open_store
from durable_clients import ROOM, client, database, faults, make_stream
from kill import _first_pull

CLIENTS = 4
STREAM = "front page"


class Server:
    """`bestbefore serve` in a process of its own, on a port that stays the same."""

    def __init__(self, url: str, *options: str) -> None:
        self.url, self.options = url, options
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"

    def start(self, log: Any = subprocess.DEVNULL) -> None:
        """Start, and return when it answers."""
        command = [sys.executable, "-m", "bestbefore", "serve", "--db", self.url, "--port", str(self.port)]
        self.process = subprocess.Popen(  # noqa: S603
            [*command, *self.options], stdout=subprocess.DEVNULL, stderr=log, env=os.environ
        )
        until = time.monotonic() + 300  # the first start may have to compile
        while time.monotonic() < until and self.process.poll() is None:
            try:
                if httpx.get(f"{self.address}/health", timeout=5).status_code == 200:
                    return
            except httpx.TransportError:
                time.sleep(0.05)
        self.kill()
        raise RuntimeError("the server does not answer")

    def kill(self) -> None:
        """End it at once, with no time for anything."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """Stop it as an operator does."""
        self.process.terminate()
        self.process.wait(60)


def make_key(url: str, scope: str = "admin") -> str:
    """Return a key for a database."""
    store = open_store(url)
    try:
        return Keys(store).make("benchmark", scope)[1]
    finally:
        store.close()


class Noticing:
    """A stream that takes note of each call that failed for want of the server."""

    def __init__(self, page: Any, failed: list[str]) -> None:
        self._page, self._failed = page, failed

    def __getattr__(self, verb: str) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            try:
                return getattr(self._page, verb)(*arguments, **named)
            except StoreUnavailable as wrong:
                self._failed.append(f"a client noticed: {verb}: {wrong}")
                raise

        return call


def _all_at_work(lines: list[str]) -> bool:
    """Tell whether each client was answered, and some calls were made.

    A client that waits before it tries again may not see a server that is up for a moment only, time after time.
    """
    answered = {line.split()[2].partition("-")[0] for line in lines if line[0] != ">"}
    return len(answered) == CLIENTS and len(lines) >= 20


def killed(url: str, kills: int, seed: int) -> tuple[int, list[str]]:
    """Kill a server so often; return how many calls were acknowledged, and what is wrong."""
    make_stream(url, STREAM, **ROOM)
    key, server, rng = make_key(url), Server(url, "--log", "warning", "--sweep", "1 s"), random.Random(seed)  # noqa: S311
    lines, failed, working = list[str](), list[str](), threading.Event()
    working.set()

    def work(number: int) -> None:
        with connect(server.address, key=key) as desk:
            client(Noticing(desk.stream(STREAM), failed), f"w.{number}", lines.append, working.is_set, seed + number)

    server.start()
    threads = [threading.Thread(target=work, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    try:
        for number in range(kills):
            seen = len(lines)
            until = time.monotonic() + 60
            while not _all_at_work(lines[seen:]) and time.monotonic() < until:
                time.sleep(0.005)
            time.sleep(rng.random() * 0.3)
            server.kill()
            print(f"kill {number + 1}: {sum(line[0] == '<' for line in list(lines))} acknowledged so far", flush=True)
            server.start()
    finally:
        working.clear()
        for thread in threads:
            thread.join()
        server.stop()
    first = ["> arrive first", "< arrive first", "> arrive second", "< arrive second"]
    found = faults(url, STREAM, first + _first_pull(url, STREAM) + lines)
    sent, answered = (sum(line[0] in kinds for line in lines) for kinds in (">", "<!"))
    if sent != answered:
        found.append(f"{sent} calls were sent, and {answered} were answered")
    return sum(line[0] == "<" for line in lines), found + failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--kind", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with database(options.kind) as url:
        acknowledged, wrong = killed(url, options.kills, options.seed)
    for fault in wrong[:50]:
        print("FAULT", fault)
    print(f"{options.kind}: {options.kills} kills, {acknowledged} acknowledged calls, {len(wrong)} faults")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
