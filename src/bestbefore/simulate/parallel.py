"""Independent pieces of work, spread over threads: compiled loops release the interpreter lock.

Results come back in the order of the work, whoever finished first, so a table is the same alone or in parallel.
"""

import os
import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Protocol, TypeVar

from bestbefore.arguments import whole
from bestbefore.progress import progress_bar

Result = TypeVar("Result")
Row = TypeVar("Row", covariant=True)


class Piece(Protocol[Row]):
    """A piece of work."""

    def measure(self, stop: threading.Event) -> Row:
        """Do it, or end early if told to stop."""


SECONDS_TO_LISTEN = 0.5
"""How often to look up from waiting: a Ctrl-C that comes just as a wait begins is heard only when it ends."""


def run_all(
    pieces: Sequence[Piece[Result]],
    *,
    jobs: int | None = None,
    label: str = "runs",
    progress: bool | None = None,
) -> list[Result]:
    """Do all pieces and return the results in order.

    On an error or Ctrl-C what has not begun is cancelled, and `stop` tells what has begun to end early.
    """
    jobs = None if jobs is None else whole("jobs", jobs)
    stop = threading.Event()
    pool = ThreadPoolExecutor(jobs or os.cpu_count())
    with progress_bar(label, len(pieces), progress) as advance:
        try:
            futures = [pool.submit(piece.measure, stop) for piece in pieces]
            for future in futures:
                future.add_done_callback(lambda _: advance())
            _wait_for_all(futures)
            return [future.result() for future in futures]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # first: those told to stop would make way for these
            stop.set()


def _wait_for_all(futures: Sequence[Future[Result]]) -> None:
    """Wait until all are done, or raise the error of one that has failed, whoever stands before it and goes on."""
    under_way = set(futures)
    while under_way:
        done, under_way = wait(under_way, SECONDS_TO_LISTEN, return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()
