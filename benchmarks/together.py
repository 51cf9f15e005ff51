"""Several processes on one stream: the ledger adds up to the agent's counts, whatever happens to the database.

    python benchmarks/together.py sqlite                            3 processes, 8 threads each, 10,000 calls
    python benchmarks/together.py postgres
    python benchmarks/together.py postgres --restarts 20            PostgreSQL is stopped and started meanwhile

Each call that the database does not take is sent again until it does.  In the end the ledger, the counts and the
agent's state are compared with what the clients had noted.  The exit code says whether all was there.
"""

import argparse
import os
import sys
import time
from typing import Any

from durable_clients import (
    ROOM,
    THREADS,
    database,
    drained,
    faults,
    lines_of,
    make_stream,
    postgres,
    run_clients,
    started,
)
from kill import _first_pull

PROCESSES = 3

BETWEEN = 10_000
"""How many bytes of notes are written between two restarts: some 200 calls."""


def work_together(url: str, calls: int, server: Any = None, restarts: int = 0) -> tuple[int, list[str]]:
    """Let processes make calls at once; return how many were acknowledged, and what is wrong."""
    make_stream(url, "together", **ROOM)
    each = -(-calls // (PROCESSES * THREADS))
    children, readers, notes = [], [], bytearray()
    for number in range(PROCESSES):
        child, reads = started(
            lambda note, who=f"p{number}": run_clients(url, "together", note, THREADS, who, calls=each)
        )
        children.append(child)
        readers.append(drained(reads, notes))
    for _ in range(restarts):
        seen = len(notes)
        while len(notes) < seen + BETWEEN and any(reader.is_alive() for reader in readers):
            time.sleep(0.01)
        server._stop()
        server.ensure_postgres_running()
    statuses = [os.waitpid(child, 0)[1] for child in children]
    for reader in readers:
        reader.join()
    found = [f"a process ended with status {status}" for status in statuses if status]
    lines = lines_of(notes) + _first_pull(url, "together")
    return sum(line.startswith("<") for line in lines), found + faults(url, "together", lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("sqlite", "postgres"))
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--restarts", type=int, default=0)
    options = parser.parse_args()
    if options.restarts and options.kind != "postgres":
        parser.error("--restarts is for postgres: SQLite has no server")
    began = time.monotonic()
    if options.restarts:
        with postgres() as server:
            calls, found = work_together(server.get_uri(), options.calls, server, options.restarts)
    else:
        with database(options.kind) as url:
            calls, found = work_together(url, options.calls)
    for sentence in found:
        print(sentence)
    took = time.monotonic() - began
    print(f"{calls} acknowledged calls, {options.restarts} restarts, {len(found)} faults, {took:.0f} s")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
