"""Independent pieces of work, spread over threads: compiled loops release the interpreter lock.

Results come back in the order of the work, whoever finished first, so a table is the same alone or
in parallel.  Pieces that hold the interpreter lock may go to other processes: see `apart`.
"""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from bestbefore.progress import progress_bar
from bestbefore.simulate.apart import Apart, Piece

Work = TypeVar("Work")
Result = TypeVar("Result")

SECONDS_TO_LISTEN = 0.5
"""How often to look up from waiting: a Ctrl-C that comes just as a wait begins is heard only when it ends."""


def run_all(
    function: Callable[[Work, threading.Event], Result],
    pieces: Sequence[Work],
    *,
    apart: Callable[[Work], Piece | None] = lambda piece: None,
    jobs: int | None = None,
    label: str = "runs",
    progress: bool | None = None,
) -> list[Result]:
    """Call `function(piece, stop)` for all pieces and return the results in order.

    For a piece that holds the interpreter lock, `apart` returns what is to be called instead of
    `function`, with `stop` alone: in this process, or in another where there are several cores.

    On an error or Ctrl-C what has not begun is cancelled, and `stop` tells what has begun to end early.
    """
    stop, jobs = threading.Event(), jobs or os.cpu_count() or 1
    pool = ThreadPoolExecutor(jobs)
    with progress_bar(label, len(pieces), progress) as advance, Apart(jobs) as elsewhere:

        def work(piece: Work) -> Result:
            own = apart(piece)
            result: Result = function(piece, stop) if own is None else elsewhere.do(own, stop)
            return result

        try:
            futures = [pool.submit(work, piece) for piece in pieces]
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
