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

    __slots__ = ("_done", "answer", "done", "error", "gone", "ids", "since", "stream", "verb")

    def __init__(self, stream: str, verb: Verb, ids: Sequence[str] = ()) -> None:
        self.stream, self.verb, self.ids = stream, verb, ids
        self.answer: Any = None
        self.error: BaseException | None = None
        self.gone: list[Any] = []
        self.since = 0.0
        self.done = False
        self._done: _Latch | _Bell | None = None

    def result(self) -> Any:
        """Return the answer, or raise the error."""
        if not self.done:
            raise ValueError("this call has no answer yet: calls of a batch are sent when its block ends")
        if self.error is not None:
            raise self.error
        return self.answer

    def finish(self) -> "Done | None":
        """Tell whoever waits; return what is to be called now, if somebody wants to be called."""
        self.done = True
        return None if self._done is None else self._done.count_down()


Done = Callable[[], object]
"""Called by the committing thread when calls are answered: it must be quick, and must not raise."""


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


class _Bell:
    """Rings when so many calls are done."""

    __slots__ = ("_left", "_ring")

    def __init__(self, calls: int, ring: Done) -> None:
        self._left, self._ring = calls, ring

    def count_down(self) -> Done | None:
        self._left -= 1
        return self._ring if self._left == 0 else None


class _AgentBroke(Exception):
    """A call failed and has changed something: all begins anew without it."""

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
        self.watch: Callable[[int, float], object] | None = None
        """Called after each round with how many calls it had, and how many seconds it took."""

    def submit(self, calls: Sequence[Call]) -> None:
        """Carry out calls, and return when all are answered."""
        if not calls:
            return
        latch = _Latch(len(calls))
        self._take_in(calls, latch)
        latch.wait()

    def begin(self, calls: Sequence[Call], done: Done) -> None:
        """Take calls in and return at once; `done` is called by the committing thread when all are answered."""
        if calls:
            self._take_in(calls, _Bell(len(calls), done))
        else:
            done()

    @property
    def waiting(self) -> int:
        """How many calls wait for the next round."""
        return len(self._waiting)

    def _take_in(self, calls: Sequence[Call], done: _Latch | _Bell) -> None:
        since = time.monotonic()
        for call in calls:
            call._done, call.since = done, since
        with self._wake:
            if self._closed:
                raise ValueError("the desk is closed: connect again")
            if self._thread is None:
                thread = threading.Thread(target=self._work, name="bestbefore-commit", daemon=True)
                thread.start()  # where no thread can be started, nothing waits for it
                self._thread = thread
            self._waiting.extend(calls)
            self._wake.notify()

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
            if self.watch is not None:
                self.watch(*self._last)

    def _gather(self) -> None:
        """Wait a moment for callers who were answered together and are about to call again.

        That is at most half as long as the last round took, and not at all where only one thread calls.
        """
        expected, took = self._last
        until, seen = time.monotonic() + took / 2, -1
        while expected > 1 and time.monotonic() < until:
            count = len(self._waiting)
            if count >= expected and count == seen:  # as many as before, and nobody came in the last moment
                break
            seen = count
            time.sleep(GATHER)

    def _round(self, calls: list[Call]) -> None:
        """Carry out calls in a transaction; those of streams that others hold wait for the next round."""
        try:
            calls, busy = self._transact(calls)
        except BaseException as wrong:  # whatever it is, whoever waits must hear of it
            busy = []
            for call in calls:
                call.answer, call.error, call.gone = None, _copied(wrong), []
        late = [call for call in busy if time.monotonic() - call.since > LONGEST_WAIT]
        for call in late:
            call.error = StoreUnavailable(
                f"stream {call.stream!r} has been held by another process for more than {LONGEST_WAIT:.0f} s; "
                "nothing was changed, and it is safe to send the call again"
            )
        for done in [call.finish() for call in [*calls, *late]]:
            if done is not None:
                done()
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
                call.error, call.answer, call.gone = None, None, []
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
        except (StoreUnavailable, SQLAlchemyError):
            raise
        except Exception as wrong:  # of this stream alone: the others go on
            for call in calls:
                call.error = _copied(wrong)
            return
        ledger = Ledger(writing, head.id, held.row.settings["remember"])
        ledger.expect(id for call in calls for id in call.ids)
        for call in calls:
            held.gone, held.ahead = [], False
            try:
                call.answer, call.error = call.verb(held, ledger, now), None
            except (StoreUnavailable, SQLAlchemyError):
                raise
            except Exception as wrong:
                call.answer, call.error = None, wrong
                if held.ahead or not (held.kind.ours and isinstance(wrong, (ValueError, LookupError))):
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


def _copied(wrong: BaseException) -> BaseException:
    """Return an error for one thread to raise; one that cannot be copied is shared."""
    try:
        found = copy.copy(wrong)
    except Exception:
        return wrong
    found.__cause__ = wrong.__cause__
    return found


def unknown_stream(name: str) -> UnknownStream:
    """Return the error of a stream that is not there."""
    return UnknownStream(f"stream {name!r} is not in the database: it was dropped, or never made")
