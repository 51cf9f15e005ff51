"""Agents to read from: copies of their own, so that a reader never waits for a writer, nor a writer for a reader."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection
from typing import Any, Final, cast

from bestbefore.store.commit import unknown_stream
from bestbefore.store.held import Held
from bestbefore.store.kinds import Kind
from bestbefore.store.ledger import Ledger
from bestbefore.store.rows import PullRow, Reading, Store, StreamRow, Writing

MOST_READ: Final = 1000
"""How many streams are kept in memory for readers."""


class _Unwritten:
    """A transaction that writes nothing: what is due can be done to a copy, by whoever only reads."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def due_pulls(self, stream: int, now: int) -> list[PullRow]:
        return self._reading.due_pulls(stream, now)

    def next_deadline(self, stream: int) -> int | None:
        return self._reading.next_deadline(stream)

    def add_pulls(self, stream: int, rows: Collection[PullRow]) -> None:
        """Write nothing."""

    def end_pulls(self, stream: int, rows: Collection[PullRow]) -> None:
        """Write nothing."""

    def orphan_pulls(self, stream: int, numbers: Collection[int], ended: int, forget: int) -> int:
        """Write nothing."""
        return 0


class Readers:
    """The agents that were read last, each as of a version."""

    def __init__(self, store: Store, kind_of: Callable[[StreamRow], Kind]) -> None:
        self._store, self._kind_of = store, kind_of
        self._known: OrderedDict[str, Held] = OrderedDict()
        self._lock = threading.Lock()

    def examine(self, name: str, examine: Callable[[Held, Reading], Any], now: int) -> Any:
        """Return what a function makes of a whole stream, as it is now in the database, and of what is beside it."""
        with self._store.read() as reading:
            head = reading.head(name)
            row = None if head is None else reading.stream(head.id)
            if row is None:
                raise unknown_stream(name)
            held = Held(row, self._kind_of(row))
            moment = held.moment(now)
            held.settle(Ledger(cast(Writing, _Unwritten(reading)), row.id, row.settings["remember"]), moment)
            if held.by_time:
                held.agent.advance(moment / 1e6)
            held.touch(moment)
            return examine(held, reading)

    def look(self, name: str, look: Callable[[Any], Any], now: int, *, copied: bool = False) -> Any:
        """Return what a function makes of a stream's agent, as it is now in the database."""
        with self._store.read() as reading:
            head = reading.head(name)
            with self._lock:
                held = self._known.pop(name, None)
            if head is None:
                raise unknown_stream(name)
            due = head.due is not None and head.due <= now
            if held is None or copied or due or (held.row.id, held.row.version) != (head.id, head.version):
                row = reading.stream(head.id)
                if row is None:
                    raise unknown_stream(name)
                held = Held(row, self._kind_of(row))
                if due:  # what nobody has done yet, as it will have been: in this copy alone
                    ledger = Ledger(cast(Writing, _Unwritten(reading)), row.id, row.settings["remember"])
                    held.settle(ledger, held.moment(now))
        if held.by_time:  # whatever a sweep has not done yet: an arm that has expired is never shown
            held.agent.advance(held.moment(now) / 1e6)
            held.touch(held.moment(now))
        answer = look(held.agent)
        if copied or due:
            return answer
        with self._lock:
            self._known[name] = held
            while len(self._known) > MOST_READ:
                self._known.popitem(last=False)
        return answer
