"""Who does the work: processes on this machine, or the workers of a Dask cluster, both as executors.

A process of ours never outlives the run: it holds the end of a pipe that closes when the run stops, or dies.
"""

import multiprocessing
import os
import platform
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from bestbefore._jit import SOURCES
from bestbefore.paper.store import Rows

SECONDS_TO_CONNECT = 8
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
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class _Pool(ProcessPoolExecutor):
    """A pool whose processes never hear of Ctrl-C, not even while they start: who started them will end them."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Submit, and start a process if need be, which inherits what is blocked here."""
        if sys.platform == "win32":
            return super().submit(function, *arguments, **named)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            return super().submit(function, *arguments, **named)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
    try:
        client = Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False, name="bestbefore")
    except (OSError, ValueError) as wrong:
        raise ConnectionError(f"no Dask scheduler answers at {address!r}: {wrong}") from None
    executor = client.get_executor(pure=False)  # never a result that another run has left on the cluster
    try:
        if not client.nthreads():
            print(f"the cluster at {address!r} has no workers yet: waiting for them", file=sys.stderr)
        yield Workers(executor, lambda: 4 * max(sum(client.nthreads().values()), 1), KilledWorker, 2)
    finally:
        executor.shutdown(wait=False)
        client.close()
