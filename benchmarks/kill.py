"""Kill test: what was acknowledged survives `kill -9`, and nothing is counted twice.

    python benchmarks/kill.py sqlite --kills 200
    python benchmarks/kill.py postgres --kills 50

A process with 4 threads lets arms arrive, asks and tells, and another kills it at a random moment.  Then the ledger,
the counts and the agent's state are compared with what the clients had noted.  The exit code says if all was there.
"""

import argparse
import os
import random
import signal
import sys
import time

from durable_clients import database, drained, faults, lines_of, make_stream, run_clients, started

THREADS = 4


def one_kill(url: str, stream: str, seconds: float) -> tuple[int, list[str]]:
    """Let a process work for a while, kill it, and return how many calls it had noted and what is wrong."""
    make_stream(url, stream)
    child, reads = started(lambda note: run_clients(url, stream, note, THREADS, "w"))
    notes = bytearray()
    reader = drained(reads, notes)
    while notes.count(b"<") < 8:  # it is at work
        time.sleep(0.005)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    reader.join()
    lines = lines_of(notes)
    # the first pull of `make_stream` has an id of its own making
    lines += _first_pull(url, stream)
    return sum(line.startswith("<") for line in lines), faults(url, stream, lines)


def _first_pull(url: str, stream: str) -> list[str]:
    from bestbefore.store import open_store

    store = open_store(url)
    try:
        with store.read() as reading:
            head = reading.head(stream)
            rows = reading.pulls_after(head.id, "", 10**6) if head else []
    finally:
        store.close()
    ids = [row.id for row in rows if "-" not in row.id]
    return [line for id in ids for line in (f"> ask {id}", f"< ask {id}", f"> tell {id} 0.5", f"< tell {id} 0.5")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("sqlite", "postgres"))
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng, acknowledged, wrong = random.Random(options.seed), 0, 0  # noqa: S311
    with database(options.kind) as url:
        for number in range(options.kills):
            calls, found = one_kill(url, f"kill {number}", rng.random() * 0.3)
            acknowledged, wrong = acknowledged + calls, wrong + len(found)
            for sentence in found:
                print(f"kill {number}: {sentence}")
    print(f"{options.kills} kills, {acknowledged} acknowledged calls, {wrong} faults")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
