"""Agents to read from: copies of their own, so that a reader never waits for a writer, nor a writer for a reader."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

from bestbefore.store.commit import unknown_stream
from bestbefore.store.held import Held
from bestbefore.store.kinds import Kind
from bestbefore.store.rows import Store, StreamRow

MOST_READ: Final = 1000
"""How many streams are kept in memory for readers."""


class Readers:
    """The agents that were read last, each as of a version."""

    def __init__(self, store: Store, kind_of: Callable[[StreamRow], Kind]) -> None:
        self._store, self._kind_of = store, kind_of
        self._known: OrderedDict[str, Held] = OrderedDict()
        self._lock = threading.Lock()

    def look(self, name: str, look: Callable[[Any], Any], now: int, *, copied: bool = False) -> Any:
        """Return what a function makes of a stream's agent, as it is now in the database."""
        with self._store.read() as reading:
            head = reading.head(name)
            with self._lock:
                held = self._known.pop(name, None)
            if head is None:
                raise unknown_stream(name)
            if held is None or copied or (held.row.id, held.row.version) != (head.id, head.version):
                row = reading.stream(head.id)
                if row is None:
                    raise unknown_stream(name)
                held = Held(row, self._kind_of(row))
        if held.by_time:  # whatever a sweep has not done yet: an arm that has expired is never shown
            held.agent.advance(held.moment(now) / 1e6)
            held.touch(held.moment(now))
        answer = look(held.agent)
        if copied:
            return answer
        with self._lock:
            self._known[name] = held
            while len(self._known) > MOST_READ:
                self._known.popitem(last=False)
        return answer
