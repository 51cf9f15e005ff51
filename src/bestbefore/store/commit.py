"""Group commit: calls that wait at the same time share one transaction and one flush, and each is answered after it.

One thread of each process gathers the calls that wait, sorts them by stream, commits once and answers all.  A call that
fails, fails alone.  Where another process holds a stream, its calls wait for the next round, and other streams go on.
"""

import copy
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from typing import Any, Final

from sqlalchemy.exc import SQLAlchemyError

from bestbefore.errors import StoreUnavailable, UnknownStream
from bestbefore.store.held import Held
from bestbefore.store.kinds import Kind
from bestbefore.store.ledger import Ledger
from bestbefore.store.rows import Head, Store, StreamRow, Writing
from bestbefore.store.verbs import Verb

MOST_HELD: Final = 1000
"""How many streams are kept in memory between calls."""

MOST_AT_ONCE: Final = 1000
"""How many calls share a transaction, at most."""

GATHER: Final = 0.0003
"""How many seconds pass between two looks at who waits."""

LONGEST_WAIT: Final = 30.0
"""For how many seconds a call waits for a stream that another process holds."""


class Call:
    """A verb on its way to a stream, and its answer."""

    __slots__ = ("_done", "answer", "error", "gone", "ids", "since", "stream", "verb")

    def __init__(self, stream: str, verb: Verb, ids: Sequence[str] = ()) -> None:
        self.stream, self.verb, self.ids = stream, verb, ids
        self.answer: Any = None
        self.error: BaseException | None = None
        self.gone: list[Any] = []
        self.since = time.monotonic()
        self._done: _Latch | None = None

    def result(self) -> Any:
        """Return the answer, or raise the error."""
        if self.error is not None:
            raise self.error
        return self.answer

    def finish(self) -> None:
        """Tell whoever waits."""
        if self._done is not None:
            self._done.count_down()


class _Latch:
    """Opens when so many calls are done."""

    __slots__ = ("_left", "_lock")

    def __init__(self, calls: int) -> None:
        self._left, self._lock = calls, threading.Lock()  # one thread waits: a lock costs less than an event
        self._lock.acquire()

    def count_down(self) -> None:
        self._left -= 1  # by the committing thread alone
        if self._left == 0:
            self._lock.release()

    def wait(self) -> None:
        self._lock.acquire()


class _AgentBroke(Exception):
    """An agent failed in the middle of a verb: all begins anew without that call."""

    def __init__(self, call: Call) -> None:
        super().__init__(call.stream)
        self.call = call


class Committer:
    """Carries out calls, many in one transaction."""

    def __init__(self, store: Store, kind_of: Callable[[StreamRow], Kind], clock: Callable[[], int]) -> None:
        self._store, self._kind_of, self._clock = store, kind_of, clock
        self._held: OrderedDict[str, Held] = OrderedDict()
        self._waiting: deque[Call] = deque()
        self._wake = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._last = 0, 0.0  # how many calls the last round had, and how long it took
        self._patient = False  # whether the next round waits for a stream that another process holds

    def submit(self, calls: Sequence[Call]) -> None:
        """Carry out calls, and return when all are answered."""
        if not calls:
            return
        latch = _Latch(len(calls))
        for call in calls:
            call._done = latch
        with self._wake:
            if self._closed:
                raise ValueError("the desk is closed: connect again")
            self._waiting.extend(calls)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="bestbefore-commit", daemon=True)
                self._thread.start()
            self._wake.notify()
        latch.wait()

    def close(self) -> None:
        """Finish what waits, and stop."""
        with self._wake:
            self._closed = True
            self._wake.notify()
            thread = self._thread
        if thread is not None:
            thread.join()
        self._held.clear()

    def _work(self) -> None:
        while True:
            with self._wake:
                while not self._waiting and not self._closed:
                    self._wake.wait()
                if not self._waiting:
                    return
            self._gather()
            with self._wake:
                calls = [self._waiting.popleft() for _ in range(min(len(self._waiting), MOST_AT_ONCE))]
            began = time.monotonic()
            self._round(calls)
            self._last = len(calls), time.monotonic() - began

    def _gather(self) -> None:
        """Wait a moment for callers who were answered together and are about to call again.

        That is at most half as long as the last round took, and not at all where only one thread calls.
        """
        expected, took = self._last
        until = time.monotonic() + took / 2
        while len(self._waiting) < expected and time.monotonic() < until:
            time.sleep(GATHER)

    def _round(self, calls: list[Call]) -> None:
        """Carry out calls in a transaction; those of streams that others hold wait for the next round."""
        try:
            calls, busy = self._transact(calls)
        except BaseException as wrong:  # whatever it is, whoever waits must hear of it
            busy = []
            for call in calls:
                call.answer, call.error = None, copy.copy(wrong)
                call.error.__cause__ = wrong.__cause__
        late = [call for call in busy if time.monotonic() - call.since > LONGEST_WAIT]
        for call in late:
            call.error = StoreUnavailable(
                f"stream {call.stream!r} has been held by another process for more than {LONGEST_WAIT:.0f} s; "
                "nothing was changed, and it is safe to send the call again"
            )
        for call in [*calls, *late]:
            call.finish()
        again = [call for call in busy if call.error is None]
        self._patient = bool(again) and not calls and not self._patient  # in turns: others may wait by now
        if again:
            with self._wake:
                self._waiting.extendleft(reversed(again))

    def _transact(self, calls: list[Call]) -> tuple[list[Call], list[Call]]:
        """Return the calls that were carried out, well or not, and those that have to wait."""
        failed: list[Call] = []
        for attempt in range(len(calls) + 2):
            try:
                done, busy = self._once([call for call in calls if call not in failed])
                return failed + done, busy
            except _AgentBroke as broken:
                failed.append(broken.call)
                broken.call.error = broken.__cause__
            except StoreUnavailable as wrong:
                if not wrong.lost or attempt:  # a connection that broke while it was idle is made anew, once
                    raise
        raise AssertionError("every round ends well, or with one call fewer")

    def _once(self, calls: list[Call]) -> tuple[list[Call], list[Call]]:
        by_stream: dict[str, list[Call]] = {}
        for call in calls:
            by_stream.setdefault(call.stream, []).append(call)
        if self._patient and calls:
            by_stream = {calls[0].stream: by_stream[calls[0].stream]}
        done: list[Call] = []
        touched: dict[str, Held] = {}
        try:
            with self._store.write() as writing:
                now = self._clock()
                heads = {head.name: head for head in writing.lock(by_stream, wait=self._patient)}
                for name in sorted(by_stream):
                    if name in heads:
                        self._serve(writing, heads[name], by_stream[name], now, touched)
                    elif writing.head(name) is None:
                        for call in by_stream[name]:
                            call.error = unknown_stream(name)
                    else:
                        continue
                    done += by_stream[name]
        except BaseException:
            for call in calls:
                call.error, call.answer = None, None
            raise
        self._held |= touched
        while len(self._held) > MOST_HELD:
            self._held.popitem(last=False)
        served = set(map(id, done))
        return done, [call for call in calls if id(call) not in served]

    def _serve(self, writing: Writing, head: Head, calls: list[Call], now: int, touched: dict[str, Held]) -> None:
        """Carry out the calls of one stream, and write what has changed."""
        try:
            held = self._take(writing, head)
        except (ValueError, LookupError) as wrong:
            for call in calls:
                call.error = copy.copy(wrong)
            return
        ledger = Ledger(writing, head.id, held.row.settings["remember"])
        ledger.expect(id for call in calls for id in call.ids)
        for call in calls:
            held.gone = []
            try:
                call.answer, call.error = call.verb(held, ledger, now), None
            except (StoreUnavailable, SQLAlchemyError):
                raise
            except Exception as wrong:
                call.answer, call.error = None, wrong
                if not (held.kind.ours and isinstance(wrong, (ValueError, LookupError))):
                    raise _AgentBroke(call) from wrong
            call.gone = held.gone
        held.save(writing, ledger)
        touched[head.name] = held

    def _take(self, writing: Writing, head: Head) -> Held:
        """Return a stream from memory if it is up to date, else from the database."""
        held = self._held.pop(head.name, None)
        if held is not None and (held.row.id, held.row.version) == (head.id, head.version):
            return held
        row = writing.stream(head.id)
        if row is None:
            raise unknown_stream(head.name)
        return Held(row, self._kind_of(row))


def unknown_stream(name: str) -> UnknownStream:
    """Return the error of a stream that is not there."""
    return UnknownStream(f"stream {name!r} is not in the database: it was dropped, or never made")
