"""Who does the work: processes on this machine, or the workers of a Dask cluster, both as executors."""

import os
import platform
import socket
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from bestbefore._jit import SOURCES
from bestbefore.errors import DataMissing
from bestbefore.paper.store import Rows
from bestbefore.simulate.workers import local_processes
from bestbefore.streams.movielens_place import VARIABLE

SECONDS_TO_CONNECT = 8
LONGEST_GREETING = 2**16


@dataclass(frozen=True)
class Workers:
    """An executor, and what there is to know about it."""

    executor: Executor
    room: Callable[[], int]
    """How many pieces to have in flight: enough that nobody waits, and few, since all of them suffer from a death."""
    death: type[Exception]
    """The error of a piece whose worker has died."""
    deaths: int
    """How many deaths, at least, stand behind that error: a cluster tries again by itself."""


def do(function: Callable[[Any], Rows], piece: Any, sources: str) -> Rows:
    """Do one piece of work, in a worker, if it has the same package as who sends the work, and the data.

    Each worker reads MovieLens for itself, so it can be missing on one machine and be there on all others.
    """
    worker = f"the worker on {platform.node()!r}"
    if sources != SOURCES:
        raise ValueError(f"{worker} has another bestbefore than this one: install the same")
    try:
        return function(piece)
    except DataMissing as why:
        raise DataMissing(
            f"{worker} does not find the data: {why}.  Every worker reads it for itself: a place that --data names "
            f"must have it on that machine, too, under the same path; without --data, set {VARIABLE} there"
        ) from None


@contextmanager
def local_workers(jobs: int | None) -> Iterator[Workers]:
    """Give a pool of processes, started when there is work for them; they end at once if anything is raised."""
    jobs = jobs or os.cpu_count() or 1
    with local_processes(jobs) as pool:
        yield Workers(pool, lambda: 2 * jobs, BrokenExecutor, 1)


@contextmanager
def cluster_workers(address: str) -> Iterator[Workers]:
    """Give the workers of the Dask cluster whose scheduler has this address."""
    try:
        from distributed import Client, KilledWorker
    except ModuleNotFoundError:
        raise ModuleNotFoundError("--cluster needs distributed: pip install 'bestbefore[cluster]'") from None
    _knock(address)
    try:
        client = Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False, name="bestbefore")
    except (OSError, ValueError) as wrong:
        raise ConnectionError(f"the Dask scheduler at {address!r} does not let us in: {wrong}") from None
    executor = client.get_executor(pure=False)  # never a result that another run has left on the cluster
    try:
        if not client.nthreads():
            print(f"the cluster at {address!r} has no workers yet: waiting for them", file=sys.stderr)
        yield Workers(executor, lambda: 4 * max(sum(client.nthreads().values()), 1), KilledWorker, 2)
    finally:
        executor.shutdown(wait=False)
        client.close()


def _knock(address: str) -> None:
    """Complain soon where no scheduler answers: with an address that is none, or another's, Dask would hang.

    A scheduler greets whoever connects, with a short message that begins with its length.
    """
    place = urlsplit(address if "://" in address else f"tcp://{address}")
    try:
        host, port = place.hostname, place.port
    except ValueError:
        host, port = None, None
    if place.scheme not in ("tcp", "tls") or not host or not port:
        raise ValueError(f"cluster must be the address of a Dask scheduler, as tcp://127.0.0.1:8786, not {address!r}")
    try:
        with socket.create_connection((host, port), SECONDS_TO_CONNECT) as there:
            greeting = there.recv(8) if place.scheme == "tcp" else b""
    except OSError as wrong:
        raise ConnectionError(f"no Dask scheduler answers at {address!r}: {wrong}") from None
    if place.scheme == "tcp" and not 0 < int.from_bytes(greeting, "little") <= LONGEST_GREETING:
        raise ConnectionError(f"what answers at {address!r} is no Dask scheduler")
