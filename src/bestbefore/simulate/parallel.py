"""Independent pieces of work, spread over threads: compiled loops release the interpreter lock.

Results come back in the order of the work, whoever finished first, so a table is the same alone or in parallel.
"""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TypeVar

from bestbefore.progress import progress_bar

Work = TypeVar("Work")
Result = TypeVar("Result")


def run_all(
    function: Callable[[Work, threading.Event], Result],
    pieces: Sequence[Work],
    *,
    jobs: int | None = None,
    label: str = "runs",
    progress: bool | None = None,
) -> list[Result]:
    """Call `function(piece, stop)` for all pieces and return the results in order.

    On an error or Ctrl-C what has not begun is cancelled, and `stop` tells what has begun to end early.
    """
    stop = threading.Event()
    pool = ThreadPoolExecutor(jobs or os.cpu_count())
    with progress_bar(label, len(pieces), progress) as advance:
        try:
            futures = [pool.submit(function, piece, stop) for piece in pieces]
            for future in futures:
                future.add_done_callback(lambda _: advance())
            done, under_way = wait(futures, return_when=FIRST_EXCEPTION)
            if under_way:  # one has failed: raise its error at once, whoever stands before it and goes on
                for future in done:
                    future.result()
            return [future.result() for future in futures]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # first: those told to stop would make way for these
            stop.set()
