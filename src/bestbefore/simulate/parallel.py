"""Independent pieces of work, spread over threads: compiled loops release the interpreter lock.

Results come back in the order of the work, whoever finished first, so a table is the same alone or in parallel.
Agents written in Python hold the lock: they may run in other processes, see `apart`.  Or an executor runs all pieces,
wherever it likes.
"""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Executor, Future, ThreadPoolExecutor, wait
from typing import Any, Protocol, TypeVar

from bestbefore.arguments import whole
from bestbefore.progress import progress_bar
from bestbefore.simulate.apart import Apart, Do, here

Result = TypeVar("Result")
Row = TypeVar("Row", covariant=True)

SECONDS_TO_LISTEN = 0.5
"""How often to look up from waiting: a Ctrl-C that comes just as a wait begins is heard only when it ends."""


class Piece(Protocol[Row]):
    """A piece of work."""

    def measure(self, stop: threading.Event, do: Do) -> Row:
        """Do it, or end early if told to stop; `do` does what holds the interpreter lock."""


def run_all(
    pieces: Sequence[Piece[Result]],
    *,
    jobs: int | None = None,
    label: str = "runs",
    progress: bool | None = None,
    executor: Executor | None = None,
) -> list[Result]:
    """Do all pieces and return the results in order.

    On an error or Ctrl-C what has not begun is cancelled, and `stop` tells what has begun to end early.
    """
    jobs = (os.cpu_count() or 1) if jobs is None else whole("jobs", jobs)
    if executor is not None:
        if not callable(getattr(executor, "submit", None)):
            raise ValueError(f"executor must be one of concurrent.futures, or None, not {executor!r}")
        return _run_elsewhere(pieces, executor, label, progress)
    stop, pool = threading.Event(), ThreadPoolExecutor(jobs)
    with progress_bar(label, len(pieces), progress) as advance, Apart(jobs) as apart:
        try:
            futures = [pool.submit(piece.measure, stop, apart.do) for piece in pieces]
            return _results(futures, advance)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # first: those told to stop would make way for these
            stop.set()


def _run_elsewhere(
    pieces: Sequence[Piece[Result]], executor: Executor, label: str, progress: bool | None
) -> list[Result]:
    """Let an executor do the pieces, which travel as bytes; what is left when one fails is cancelled."""
    import cloudpickle

    with progress_bar(label, len(pieces), progress) as advance:
        futures = [executor.submit(measure_packed, cloudpickle.dumps(piece)) for piece in pieces]
        try:
            return _results(futures, advance)
        finally:
            for future in futures:
                future.cancel()


def measure_packed(packed: bytes) -> Any:
    """Do a piece of work that has travelled."""
    import cloudpickle

    return cloudpickle.loads(packed).measure(threading.Event(), here)


def _results(futures: Sequence[Future[Result]], advance: Callable[[], None]) -> list[Result]:
    """Wait for all results; raise the error of one that has failed, whoever stands before it and goes on."""
    for future in futures:
        future.add_done_callback(lambda _: advance())
    under_way = set(futures)
    while under_way:
        done, under_way = wait(under_way, SECONDS_TO_LISTEN, return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()
    return [future.result() for future in futures]
