"""Pieces of work that hold the interpreter lock, as agents written in Python do.

Threads would only take turns.  So one piece at a time runs in this process, and if that takes long,
other processes get the others.  A piece that no other process can know, say since its agent is a
lambda, or was defined in a notebook, stays here.  The results are the same wherever it runs.
"""

import pickle
import threading
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Protocol, Self

from bestbefore.simulate.workers import local_processes

SECONDS_ALONE = 1.0
"""How long pieces wait for their turn here before processes are started: that takes as long."""


class Locked(Protocol):
    """A piece of work that holds the interpreter lock."""

    def __call__(self, stop: threading.Event) -> Any:
        """Do it; `stop` ends it early."""

    def to_send(self) -> "Locked":
        """Return the same piece, as it can be sent to another process if it can be at all."""


Do = Callable[[Locked, threading.Event], Any]
"""Does such a piece, here or in another process."""


def here(piece: Locked, stop: threading.Event) -> Any:
    """Do a piece in this process."""
    return piece(stop)


class Apart:
    """Does such pieces, called from `jobs` threads, in this process and in up to `jobs` - 1 others."""

    def __init__(self, jobs: int) -> None:
        self._others = jobs - 1
        self._turn, self._starting = threading.Lock(), threading.Lock()
        self._open = ExitStack()
        self._pool: Any = None
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._starting:
            self._closed = True
            self._open.__exit__(kind, error, trace)

    def do(self, piece: Locked, stop: threading.Event) -> Any:
        """Do a piece: here, if its turn comes soon, or else in another process, if it can be sent there."""
        if self._turn.acquire(timeout=SECONDS_ALONE if self._pool is None else 0):
            try:
                return piece(stop)
            finally:
                self._turn.release()
        packed = None if stop.is_set() or not self._others else pack(piece)
        if packed is None or (pool := self._started()) is None:
            return piece(stop)
        known, result = pool.submit(do_packed, packed).result()
        return result if known else piece(stop)

    def _started(self) -> Any:
        """Return the pool of processes, or None when all is over."""
        with self._starting:
            if self._pool is None and not self._closed:
                self._pool = self._open.enter_context(local_processes(self._others, know_main=False))
            return None if self._closed else self._pool


def pack(piece: Locked) -> bytes | None:
    """Return a piece as bytes, or None if it cannot be sent.

    What a script or a notebook defines itself is known to no other process.
    """
    try:
        packed = pickle.dumps(piece.to_send())
    except (pickle.PicklingError, AttributeError, TypeError):
        return None
    return None if b"__main__" in packed else packed


def do_packed(packed: bytes) -> tuple[bool, Any]:
    """Do a piece in another process; return whether it is known here, and its result."""
    try:
        piece = pickle.loads(packed)  # noqa: S301 (from the process that started this one)
    except Exception:  # whatever the modules of the agent raise when they are imported here
        return False, None
    try:
        return True, piece(threading.Event())
    except Exception as wrong:
        if _can_be_sent(wrong):
            raise
        raise RuntimeError(f"{type(wrong).__name__}: {wrong}") from None


def _can_be_sent(error: Exception) -> bool:
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301
    except Exception:  # as __init__ of the error likes
        return False
    return True
