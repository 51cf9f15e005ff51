"""Processes of ours on this machine, as an executor.

A process of ours never outlives the run: it holds the end of a pipe that closes when the run stops,
or dies.
"""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any

MOST_ON_WINDOWS = 61
"""Processes in a pool: Windows cannot wait for more."""


@contextmanager
def local_processes(jobs: int, *, know_main: bool = True) -> Iterator[ProcessPoolExecutor]:
    """Give a pool of processes, started when there is work for them.

    They end at once if anything is raised.  They are spawned, not forked: a forked process may find
    locks taken by threads that it does not have.  A spawned one runs the caller's script again, so
    as to know what it defines; without a guard (`if __name__ == "__main__"`) the script would begin
    all over there.  With `know_main=False` it does not, and nothing defined in the script can be
    sent to it.
    """
    if sys.platform == "win32":
        jobs = min(jobs, MOST_ON_WINDOWS)
    context = multiprocessing.get_context("spawn")
    ended, end = context.Pipe(duplex=False)
    with ended, end, _Pool(jobs, context, _begin, (ended,)) as pool:
        pool.know_main = know_main
        try:
            yield pool
        except BaseException:
            end.close()
            pool.shutdown(cancel_futures=True)  # waits, but not for long, so that it leaves nothing behind
            raise


class _Pool(ProcessPoolExecutor):
    """A pool whose processes never hear of Ctrl-C, not even while they start: the run ends them."""

    know_main = True
    _starting = threading.Lock()

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Submit, and start a process if need be, which inherits what is blocked here.

        Blocked in this thread, the signal may still come by another one, of a library: in the main
        thread, the only one that can, it is put off then, too.
        """
        with self._starting, _without_ctrl_c(), nullcontext() if self.know_main else _without_main():
            return super().submit(function, *arguments, **named)


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Put Ctrl-C off for a moment, and for all processes that start in it."""
    handler = signal.getsignal(signal.SIGINT)
    if sys.platform == "win32" or handler is None:
        yield
        return
    pressed: list[int] = []
    mine = threading.current_thread() is threading.main_thread()
    if mine:
        signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if mine:
            signal.signal(signal.SIGINT, handler)
        if pressed:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def _without_main() -> Iterator[None]:
    """Hide the caller's script for a moment from processes that start in it."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


def _begin(ended: Connection) -> None:
    """Prepare a process of ours for work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(ended,), daemon=True).start()


def _end_with(ended: Connection) -> None:
    """Wait until the other end of the pipe is closed, and end this process whatever it does."""
    with suppress(EOFError, OSError):
        ended.recv()
    os._exit(1)
