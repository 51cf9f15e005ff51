"""Who does the work: processes on this machine, or the workers of a Dask cluster, both as executors.

A process of ours never outlives the run: it holds the end of a pipe that closes when the run stops, or dies.
"""

import multiprocessing
import os
import platform
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any
from urllib.parse import urlsplit

from bestbefore._jit import SOURCES
from bestbefore.paper.store import Rows

SECONDS_TO_CONNECT = 8
LONGEST_GREETING = 2**16
MOST_ON_WINDOWS = 61
"""Processes in a pool: Windows cannot wait for more."""


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
    """Do one piece of work, in a worker, if it has the same package as who sends the work."""
    if sources != SOURCES:
        raise ValueError(f"the worker on {platform.node()!r} has another bestbefore than this one: install the same")
    return function(piece)


@contextmanager
def local_workers(jobs: int | None) -> Iterator[Workers]:
    """Give a pool of processes, started when there is work for them; they end at once if anything is raised.

    They are spawned, not forked: a forked process may find locks taken by threads that it does not have.
    """
    jobs = jobs or os.cpu_count() or 1
    if sys.platform == "win32":
        jobs = min(jobs, MOST_ON_WINDOWS)
    context = multiprocessing.get_context("spawn")
    ended, end = context.Pipe(duplex=False)
    with ended, end, _Pool(jobs, context, _begin, (ended,)) as pool:
        try:
            yield Workers(pool, lambda: 2 * jobs, BrokenExecutor, 1)
        except BaseException:
            end.close()
            pool.shutdown(cancel_futures=True)  # waits, but not for long, so that it leaves nothing behind
            raise


class _Pool(ProcessPoolExecutor):
    """A pool whose processes never hear of Ctrl-C, not even while they start: who started them will end them."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Submit, and start a process if need be, which inherits what is blocked here.

        Blocked in this thread, the signal may still come by another one, of a library: then it is put off, too.
        """
        handler = signal.getsignal(signal.SIGINT)
        if sys.platform == "win32" or handler is None or threading.current_thread() is not threading.main_thread():
            return super().submit(function, *arguments, **named)
        pressed: list[int] = []
        signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            return super().submit(function, *arguments, **named)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            signal.signal(signal.SIGINT, handler)
            if pressed:
                signal.raise_signal(signal.SIGINT)


def _begin(ended: Connection) -> None:
    """Prepare a process of ours for work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(ended,), daemon=True).start()


def _end_with(ended: Connection) -> None:
    """Wait until the other end of the pipe is closed, and end this process in the middle of whatever it does."""
    with suppress(EOFError, OSError):
        ended.recv()
    os._exit(1)


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
