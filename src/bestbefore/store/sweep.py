"""The sweep: what is due happens even where nobody calls.  Any process may run it, and several may at once."""

import logging
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from bestbefore.errors import StoreUnavailable, UnknownStream
from bestbefore.store import verbs
from bestbefore.store.answers import Swept
from bestbefore.store.commit import Call
from bestbefore.store.rows import Store

if TYPE_CHECKING:
    from bestbefore.store.desk import Desk

AT_ONCE: Final = 100
"""How many streams are swept in one transaction: calls come in between."""

FORGET_AT_ONCE: Final = 1000

_LOG: Final = logging.getLogger("bestbefore.store")


def sweep(store: Store, now: int, submit: Callable[[Sequence[Call]], None]) -> Swept:
    """Do what is due in all streams, forget ids, and erase the bytes of names that were deleted."""
    streams, last, gone, failed = 0, 0, dict[str, list[Any]](), dict[str, Exception]()
    while True:
        with store.read() as reading:
            heads = reading.due(now, last, AT_ONCE)
        if not heads:
            break
        calls = [Call(head.name, verbs.settle()) for head in heads]
        submit(calls)
        last, streams = heads[-1].id, streams + len(calls)
        gone |= {call.stream: call.answer for call in calls if call.answer}
        wrong = {call.stream: call.error for call in calls if isinstance(call.error, Exception)}
        failed |= {name: why for name, why in wrong.items() if not isinstance(why, UnknownStream)}  # dropped meanwhile
    forgotten = _forget(store, now)
    erased = store.erase()
    with store.write() as writing:
        writing.set_notes({"swept": max(now, writing.note("swept") or 0)})
    return Swept(streams, gone, forgotten, erased, failed)


def _forget(store: Store, now: int) -> int:
    """Forget ids that can no longer be told, some in each transaction."""
    total = 0
    while True:
        with store.write() as writing:
            found = writing.forget_pulls(now, FORGET_AT_ONCE)
        total += found
        if found < FORGET_AT_ONCE:
            return total


class Sweeper:
    """A thread that sweeps again and again, until the desk is closed."""

    def __init__(self, desk: "Desk", every: float) -> None:
        self._every, self._stop = every, threading.Event()
        self._desk = desk
        self._thread = threading.Thread(target=self._work, name="bestbefore-sweep", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop, and wait for a sweep that is under way."""
        self._stop.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._stop.wait(self._every):
            try:
                for name, wrong in self._desk.sweep().failed.items():
                    _LOG.warning("stream %r could not be swept: %s", name, wrong)
            except StoreUnavailable as wrong:
                _LOG.warning("no sweep now: %s", wrong)
            except Exception:
                if self._stop.is_set():
                    return
                _LOG.exception("a sweep failed")
