"""The desk: where a program finds its durable streams."""

import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial
from types import TracebackType
from typing import Any, Final, Self

from bestbefore.arguments import between
from bestbefore.clock import Length, window_of
from bestbefore.errors import StoreUnavailable
from bestbefore.store import commit, kinds
from bestbefore.store.answers import Erased, Overview, Swept
from bestbefore.store.commit import Call, Committer, Done, unknown_stream
from bestbefore.store.founding import check_same, first_row, ledger_settings
from bestbefore.store.kinds import OURS, Kind
from bestbefore.store.ledger import moment_of
from bestbefore.store.logs import MOST, Page, page_of
from bestbefore.store.names import stream_name
from bestbefore.store.readers import Readers
from bestbefore.store.rows import Reading, Store, StreamRow
from bestbefore.store.stream import Batch, Stream
from bestbefore.store.sweep import Sweeper, sweep
from bestbefore.store.verbs import Verb

_LOG: Final = logging.getLogger("bestbefore.store")

REMEMBER: Final = "1 day"
"""How long the id of a pull that has ended is kept, unless said otherwise."""


class Desk:
    """Durable streams in one database.

    Parameters
    ----------
    store
        The database, as `open_store` returns it.
    clock
        Returns the time, in seconds since 1970.
    sweep
        How often to do what is due where nobody calls, or None.
    forget
        Called with a stream's name and the arms that were let go.
    agents
        Classes of your own whose streams this process serves.
    """

    def __init__(
        self,
        store: Store,
        *,
        clock: Callable[[], float] = time.time,
        sweep: Length | None = None,
        forget: Callable[[str, list[Any]], object] | None = None,
        agents: Sequence[type] = (),
    ) -> None:
        """Open streams in a store; see `connect`."""
        self._store, self._clock, self._forget = store, clock, forget
        every = None if sweep is None else window_of(sweep, "sweep")
        if every is not None and not every.by_time:
            raise ValueError(f'sweep must be a time such as "1 min", or None, not {sweep!r}')
        self._every = None if every is None else every.length / 1e6
        self._agents = {Kind(agent).name: Kind(agent) for agent in agents}
        self._kinds: dict[str, Kind] = {}
        self._lock = threading.Lock()
        self._closed = False
        self._begin()
        _DESKS.add(self)

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._committer = Committer(self._store, self._kind_of, self._now)
        self._readers = Readers(self._store, self._kind_of)
        self._sweeper = None if self._every is None else Sweeper(self, self._every)

    def __repr__(self) -> str:
        return f"<Desk {getattr(self._store, 'shown', self._store)}>"

    def stream(
        self,
        name: str,
        agent: Any = None,
        *,
        patience: Length | None = None,
        otherwise: float | None = 0.0,
        remember: Length = REMEMBER,
        **settings: Any,
    ) -> Stream:
        """Return the stream of this name: made the first time, found again afterwards.

        Parameters
        ----------
        name
            The stream's name.
        agent
            A class, such as `Explorer`, whose `settings` follow; or an agent that is there already.  If it is left out,
            the stream must exist.
        patience
            How long a pull waits for its reward, such as "10 min"; unless given, as long as its arm is here.
        otherwise
            What a pull counts as when its patience is over; None gives it up instead.
        remember
            How long the id of a pull that has ended is kept, so that the same call again is answered as before.
        settings
            The agent's own arguments.
        """
        stream_name(name)
        if agent is None:
            if settings or patience is not None or otherwise != 0.0 or remember != REMEMBER:
                raise ValueError(f"agent must be given with the settings of stream {name!r}, such as Explorer")
            with self._reading() as reading:
                if reading.head(name) is None:
                    raise unknown_stream(name)
            return Stream(name, self)
        kind, fresh = kinds.made(agent, settings)
        ledger = ledger_settings(fresh, patience, otherwise, remember)
        wanted = ledger | {"arguments": kinds.arguments_of(kind, fresh, settings)}
        self._make(name, kind, fresh, wanted)
        return Stream(name, self)

    def streams(self) -> list[str]:
        """Return the names of all streams, sorted."""
        with self._reading() as reading:
            return reading.names()

    def drop(self, name: str) -> None:
        """Delete a stream with all that belongs to it, names included.

        Parameters
        ----------
        name
            The stream's name.
        """
        self._here()
        stream_name(name)
        until = time.monotonic() + commit.LONGEST_WAIT
        while not self._dropped(name):
            if time.monotonic() > until:
                raise StoreUnavailable(f"stream {name!r} is held by another process; nothing was changed, try again")
        self._kinds.pop(name, None)
        self.erase()

    def _dropped(self, name: str) -> bool:
        """Delete a stream, unless another process holds it for longer than a lock is waited for."""
        with self._store.write() as writing:
            head = next(iter(writing.lock([name], wait=True)), None)
            if head is None:
                if writing.head(name) is None:
                    raise unknown_stream(name)
                return False
            writing.drop(head.id)
            writing.mark_erased()
        return True

    def batch(self) -> Batch:
        """Take many calls at once: `with desk.batch() as batch: batch.stream(name).tell(...)`."""
        return Batch(self)

    def sweep(self) -> Swept:
        """Do what is due in all streams, and erase the bytes of names that were deleted; any process may do it."""
        self._here()
        return sweep(self._store, self._now(), self._submit)

    def erased(self, name: str) -> Erased:
        """Return how many arms of a stream have been erased, when the last sweep ran, how old the oldest arm is.

        Parameters
        ----------
        name
            The stream's name.
        """
        stream_name(name)
        with self._reading() as reading:
            head = reading.head(name)
            row = None if head is None else reading.stream(head.id)
            if row is None:
                raise unknown_stream(name)
            swept, waiting = reading.note("swept"), reading.unerased()
        oldest = min((arm.since for arm in row.arms), default=None)
        age = None if oldest is None else timedelta(microseconds=max(self._now() - oldest, 0))
        return Erased(row.counts["erased"], None if swept is None else moment_of(swept), age, waiting)

    def close(self) -> None:
        """Finish what is under way, and let go of the database."""
        if self._closed:
            return
        self._closed = True
        if self._pid == os.getpid():
            if self._sweeper is not None:
                self._sweeper.close()
            self._committer.close()
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _make(self, name: str, kind: Kind, agent: Any, wanted: dict[str, Any]) -> None:
        """Make a stream, or see that the one of this name is the same."""
        for _ in range(10):
            with self._reading() as reading:
                head = reading.head(name)
                row = None if head is None else reading.stream(head.id)
            if row is not None:
                check_same(row, kind, wanted)
                self._kinds[name] = kind
                return
            with self._store.write() as writing:
                made = writing.create(first_row(name, kind, agent, wanted, self._now()))
            self._kinds[name] = kind
            if made is not None:
                return
        raise StoreUnavailable(f"stream {name!r} is made and dropped by others again and again; try again")

    def _kind_of(self, row: StreamRow) -> Kind:
        """Return which class a stream's state belongs to."""
        known = self._kinds.get(row.name)
        if known is not None and known.name == row.kind:
            return known
        if row.kind in OURS:
            return Kind(OURS[row.kind])
        if row.kind in self._agents:
            return self._agents[row.kind]
        raise ValueError(f"agents must have the class {row.kind} of stream {row.name!r}: connect(url, agents=[...])")

    def _now(self) -> int:
        """Read the clock, in microseconds."""
        return round(between("clock", self._clock(), 0, 2**53 / 1e6, closed="left") * 1e6)

    def _here(self) -> None:
        """See that the desk is open, and that this process is the one that opened it, or open it anew here."""
        if self._closed:
            raise ValueError("the desk is closed: connect again")

    @contextmanager
    def _reading(self) -> Iterator[Reading]:
        self._here()
        with self._store.read() as reading:
            yield reading

    def _carry_out(self, stream: str, verb: Verb, ids: Sequence[str] = ()) -> Any:
        call = Call(stream, verb, ids)
        self._submit([call])
        return call.result()

    def _submit(self, calls: Sequence[Call]) -> None:
        """Carry out calls; whoever wants to hear of names that were erased is told here."""
        self._here()
        self._committer.submit(calls)
        self._tell_gone(calls)

    def _tell_gone(self, calls: Sequence[Call]) -> None:
        if self._forget is not None:
            for call in calls:
                if call.gone:  # also of a call that failed: what was due is done all the same
                    self._tell_of(call.stream, list(call.gone))

    def _tell_of(self, stream: str, gone: list[Any]) -> None:
        """Call the caller's own function; if that fails, the call was carried out all the same, and others go on."""
        try:
            self._forget(stream, gone)  # type: ignore[misc]
        except Exception:
            _LOG.exception("forget failed for %d arms of stream %r", len(gone), stream)

    def begin(self, calls: Sequence[Call], done: Done) -> None:
        """Take calls in and return at once: `done` is called when all are answered, by the thread that commits.

        That is for event loops, which cannot wait as threads do.

        Parameters
        ----------
        calls
            The calls to carry out.
        done
            Called without arguments when all are answered.
        """
        self._here()
        self._committer.begin(calls, done if self._forget is None else partial(self._tell_and, calls, done))

    def _tell_and(self, calls: Sequence[Call], done: Done) -> None:
        self._tell_gone(calls)
        done()

    def watch(self, watch: Callable[[int, float], object]) -> None:
        """Have a function called after each transaction, with how many calls shared it and how long it took.

        Parameters
        ----------
        watch
            Called with the number of calls and the seconds that they took.
        """
        self._committer.watch = watch

    @property
    def waiting(self) -> int:
        """How many calls wait for the next transaction."""
        return self._committer.waiting

    def _read(self, name: str, look: Callable[[Any], Any], *, copied: bool = False) -> Any:
        """Read from a stream's agent, as it is when what is due has happened; nothing is written."""
        self._here()
        return self._readers.look(name, look, self._now(), copied=copied)

    def log_page(self, name: str, after: str = "", most: int = MOST) -> Page:
        """Return some rows of a stream's log, those whose ids come after one; see `Stream.log`.

        Parameters
        ----------
        name
            The stream's name.
        after
            The id after which to begin.
        most
            How many rows at most.
        """
        agent = self._read(name, lambda agent: agent, copied=True)
        with self._reading() as reading:
            return page_of(reading, name, agent, after, most)

    def examine(self, name: str, examine: Callable[[Any, Reading], Any]) -> Any:
        """Return what a function makes of a whole stream in memory, a copy, and of what can be read beside it.

        Parameters
        ----------
        name
            The stream's name.
        examine
            Takes the stream as it is held in memory, and what reads from the database.
        """
        self._here()
        return self._readers.examine(stream_name(name), examine, self._now())

    def check(self) -> float | None:
        """Read from the database, or raise an error; return how many seconds ago the last sweep was."""
        with self._reading() as reading:
            swept = reading.note("swept")
        return None if swept is None else max(self._now() - swept, 0) / 1e6

    def has(self, name: str) -> bool:
        """Say whether there is a stream of this name.

        Parameters
        ----------
        name
            The stream's name.
        """
        with self._reading() as reading:
            return reading.head(name) is not None

    def overview(self, silent_after: int) -> Overview:
        """Return what waits in all streams together; see `Overview` for which of them are silent.

        Parameters
        ----------
        silent_after
            After how many microseconds without a call a stream counts as silent.
        """
        with self._reading() as reading:
            return reading.overview(self._now(), silent_after)

    def erase(self) -> None:
        """Erase the bytes of names that were deleted; what cannot be done now is done by a sweep."""
        with suppress(StoreUnavailable):
            self._store.erase()


_DESKS: "weakref.WeakSet[Desk]" = weakref.WeakSet()


def _after_fork() -> None:
    """Begin anew in a process that was forked: threads, locks and connections stayed behind."""
    for desk in list(_DESKS):
        desk._store.abandon()
        desk._lock = threading.Lock()
        if not desk._closed:
            desk._begin()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
