"""A durable stream: the verbs of its agent, each durable when it returns."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from bestbefore.arguments import whole
from bestbefore.clock import When
from bestbefore.store import verbs
from bestbefore.store.commit import Call
from bestbefore.store.logs import Logged, all_rows
from bestbefore.store.names import stream_name
from bestbefore.store.verbs import Verb, ids_of

if TYPE_CHECKING:
    from bestbefore.store.desk import Desk

Answer = TypeVar("Answer")


class Sender(Protocol):
    """Takes a verb to its stream."""

    def __call__(self, stream: str, verb: Verb, ids: Sequence[str] = ()) -> Any:
        """Return the answer, or what will hold it."""


class Verbs:
    """The verbs that change a stream."""

    def __init__(self, name: str, send: Sender) -> None:
        self.name, self._send = name, send

    def arrive(self, arm: Any, *, at: When = None, **more: Any) -> Any:
        """Let a new arm arrive; return the arms that memory let go, whose names are deleted already.

        With a window by time, the desk's clock tells when, unless `at` does.  With a window by count, `at` is the arm's
        number.  A `Player` takes a `budget` as well.

        An arm that is here may be sent again: that is answered as done, and changes nothing.  With another `at` it
        raises a `Conflict`; a `budget` is not compared.  An arm that went meanwhile left no trace: it arrives anew.

        Parameters
        ----------
        arm
            The arm's name: any hashable but None.
        at
            When: an aware datetime or seconds with a window by time; a number on the stream's clock with a window by
            count.  Unless given, the wall clock's time, or the next number.
        more
            What else the agent's `arrive` takes, such as a `budget`.
        """
        return self._send(self.name, verbs.arrive(arm, at, more))

    def ask(self, k: int | None = None, *, id: str | None = None) -> Any:
        """Return the pull to make next, or None when nothing is to be pulled now; with `k`, a list of up to k.

        Give an `id` of your own to be able to ask again: the same id gives the same pull.  With `k`, ids are yours with
        "/1", "/2" ... behind it.

        Parameters
        ----------
        k
            How many arms; None for one arm instead of a list.
        id
            An id of your own, so that the same call again gives the same pull.
        """
        return self._send(self.name, verbs.ask(id, k), [] if id is None else ids_of(id, k))

    def tell(self, id: str, reward: float) -> Any:
        """Tell the reward of a pull, by its id, whenever it comes back, in any order, from any process.

        To tell the same again is answered as done and changes nothing.  To tell something else raises a `Conflict`, and
        a pull whose arm has gone an `UnknownArm`.

        Parameters
        ----------
        id
            The id of the pull.
        reward
            The reward, or the sum of several.
        """
        return self._send(self.name, verbs.tell(id, reward), [id])

    def give_up(self, id: str) -> Any:
        """Take note that a pull will never report: it counts for nothing.

        Parameters
        ----------
        id
            The id of the pull.
        """
        return self._send(self.name, verbs.give_up(id), [id])

    def withdraw(self, arm: Any) -> Any:
        """Let an arm go at once, without a trace.

        Parameters
        ----------
        arm
            The arm's name: any hashable but None.
        """
        return self._send(self.name, verbs.withdraw(arm))

    def advance(self, to: When = None) -> Any:
        """Let time go on where nothing arrives; return the arms that memory let go.

        Parameters
        ----------
        to
            The time, or the number, that is now.
        """
        return self._send(self.name, verbs.advance(to))

    def learn(self, arm: Any, valid: bool) -> Any:
        """Learn whether an arm is valid: see `Seeker.learn`.

        Parameters
        ----------
        arm
            The arm's name: any hashable but None.
        valid
            Whether the arm is valid now.
        """
        return self._send(self.name, verbs.other("learn", arm, valid))

    def tick(self) -> Any:
        """Let time go on by one step after the last arrival: see `Seeker.tick`."""
        return self._send(self.name, verbs.other("tick"))

    def finish(self, time: str = "stops") -> Any:
        """End the stream: see `Seeker.finish`.

        Parameters
        ----------
        time
            "stops" or "goes on".
        """
        return self._send(self.name, verbs.other("finish", time))


class Stream(Verbs):
    """A stream in a database.  Any number of threads and processes may use it at once.

    Parameters
    ----------
    name
        The stream's name.
    desk
        Where the stream was opened.
    """

    def __init__(self, name: str, desk: "Desk") -> None:
        super().__init__(name, desk._carry_out)
        self._desk = desk

    def __repr__(self) -> str:
        return f"<Stream {self.name!r} of {self._desk!r}>"

    def withdraw(self, arm: Any) -> None:
        """Let an arm go at once, without a trace: when this returns, its bytes are gone from the disk, too.

        If the database could not do that at once, the next sweep does: see `Desk.erased`.

        Parameters
        ----------
        arm
            The arm's name: any hashable but None.
        """
        super().withdraw(arm)
        self._desk.erase()

    def best(self, k: int | None = None) -> Any:
        """Return the current answer, or with `k` a list of up to k arms; never one that has expired.

        Parameters
        ----------
        k
            How many arms; None for one arm instead of a list.
        """
        if k is not None:
            whole("k", k)
        return self._desk._read(self.name, lambda agent: agent.best(k) if k is not None else agent.best())

    def look(self) -> Any:
        """Return a copy of the agent as it is now, to read from it; what is done to the copy goes nowhere."""
        return self._desk._read(self.name, lambda agent: agent, copied=True)

    def log(self) -> Iterator[Logged]:
        """Yield the pulls that have a reward, of arms that are still here, by id: what happened, and with which odds.

        A pull whose arm has gone is not among them, nor one whose id is forgotten: see `remember` of `Desk.stream`.
        """
        return all_rows(partial(self._desk.log_page, self.name))

    @property
    def stored(self) -> list[Any]:
        """The arms stored, oldest first."""
        return list(self._desk._read(self.name, lambda agent: agent.stored))

    @property
    def pulls(self) -> int:
        """All pulls told so far, those included that were counted at their deadlines."""
        return int(self._desk._read(self.name, lambda agent: agent.pulls))

    @property
    def memory(self) -> int:
        """Slots: how many arms may be stored."""
        return int(self._desk._read(self.name, lambda agent: agent.memory))

    @property
    def window(self) -> Any:
        """How many arrivals, or how long, an arm is valid."""
        return self._desk._read(self.name, lambda agent: agent.window)

    @property
    def peak_memory(self) -> int:
        """The most arms that were ever stored at once."""
        return int(self._desk._read(self.name, lambda agent: agent.peak_memory))

    def state(self) -> dict[str, Any]:
        """Return all that the agent knows as a plain dict, names included."""
        return dict(self._desk._read(self.name, lambda agent: agent.state()))


class Batch:
    """Many calls at once: they are sent together when the block ends, and share transactions.

    Each verb returns a `Call`, whose `result()` is there after the block.  A call that fails, fails alone: the block
    then ends with an `ExceptionGroup` of all that failed, and the others are done.
    """

    def __init__(self, desk: "Desk") -> None:
        self._desk, self.calls = desk, list[Call]()
        self._sent, self._erases = 0, False

    def stream(self, name: str) -> Verbs:
        """Return the verbs of a stream."""
        return _InBatch(stream_name(name), self)

    def _add(self, stream: str, verb: Verb, ids: Sequence[str] = ()) -> Call:
        call = Call(stream, verb, ids)
        self.calls.append(call)
        return call

    def __enter__(self) -> "Batch":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: object) -> None:
        if error is not None:
            return
        calls, self._sent = self.calls[self._sent :], len(self.calls)  # a batch that is used again sends what is new
        self._desk._submit(calls)
        if self._erases:
            self._desk.erase()
        errors = [call.error for call in calls if isinstance(call.error, Exception)]
        if errors:
            raise ExceptionGroup(f"{len(errors)} of {len(calls)} calls failed; the others are done", errors)


class _InBatch(Verbs):
    """The verbs of a stream in a batch."""

    def __init__(self, name: str, batch: Batch) -> None:
        super().__init__(name, batch._add)
        self._batch = batch

    def withdraw(self, arm: Any) -> Any:
        """Let an arm go at once; its bytes are gone from the disk when the block ends."""
        self._batch._erases = True
        return super().withdraw(arm)
