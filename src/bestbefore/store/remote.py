"""A desk on a server: the verbs of durable streams, over HTTP."""

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from bestbefore.arguments import finite, whole
from bestbefore.clock import MICROSECOND, Length, When
from bestbefore.store import kinds
from bestbefore.store.answers import Erased, Swept
from bestbefore.store.ledger import Pull
from bestbefore.store.logs import MOST, Logged, Page, all_rows, page_in
from bestbefore.store.names import text_of
from bestbefore.store.sending import Sending
from bestbefore.store.verbs import checked_id, ids_of, new_id
from bestbefore.store.wire import erased_in, error_of, names_in, pull_in, swept_in

AT_ONCE = 500
"""How many calls of a batch are sent in one request, and how many bytes of them."""

_BYTES = 500_000


class RemoteCall:
    """A call of a batch, and its answer."""

    def __init__(self, stream: str, verb: str, body: dict[str, Any], answer: Callable[[Any], Any]) -> None:
        self.stream, self.verb, self.body, self._read = stream, verb, body, answer
        self.answer: Any = None
        self.error: Exception | None = None
        self.done = False

    def result(self) -> Any:
        """Return the answer, or raise the error."""
        if not self.done:
            raise ValueError("this call has no answer yet: calls of a batch are sent when its block ends")
        if self.error is not None:
            raise self.error
        return self.answer

    def take(self, found: dict[str, Any]) -> None:
        """Take what the server says of this call."""
        self.done = True
        problem = found.get("problem")
        if problem:
            self.error = error_of(problem, int(problem["status"]))
        else:
            self.answer = self._read(found["answer"])


class RemoteVerbs:
    """The verbs that change a stream."""

    def __init__(self, name: str, send: Callable[[RemoteCall], Any]) -> None:
        self.name, self._send = name, send

    def _said(self, verb: str, body: dict[str, Any], answer: Callable[[Any], Any]) -> Any:
        return self._send(RemoteCall(self.name, verb, body, answer))

    def arrive(self, arm: Any, *, at: When = None, **more: Any) -> Any:
        """Let a new arm arrive; return the arms that memory let go, whose names are deleted already."""
        text_of(arm)
        when = {} if at is None else {"at": _time("at", at)}
        return self._said("arrive", {"arm": arm, **when, **more}, _gone)

    def ask(self, k: int | None = None, *, id: str | None = None) -> Any:
        """Return the pull to make next, or None when nothing is to be pulled now; with `k`, a list of up to k."""
        id = new_id() if id is None else id  # so that it can be asked again if the answer is lost
        ids_of(id, k)
        body = {"id": id} if k is None else {"id": id, "k": whole("k", k)}
        return self._said("ask", body, _pull if k is None else _pulls)

    def tell(self, id: str, reward: float) -> Any:
        """Tell the reward of a pull, by its id; see `Stream.tell`."""
        return self._said("tell", {"id": checked_id(id), "reward": finite("reward", reward)}, _nothing)

    def give_up(self, id: str) -> Any:
        """Take note that a pull will never report: it counts for nothing."""
        return self._said("give_up", {"id": checked_id(id)}, _nothing)

    def withdraw(self, arm: Any) -> Any:
        """Let an arm go at once, without a trace."""
        text_of(arm)
        return self._said("withdraw", {"arm": arm}, _nothing)

    def advance(self, to: When = None) -> Any:
        """Let time go on where nothing arrives; return the arms that memory let go."""
        return self._said("advance", {} if to is None else {"to": _time("to", to)}, _gone)

    def learn(self, arm: Any, valid: bool) -> Any:
        """Learn whether an arm is valid: see `Seeker.learn`."""
        text_of(arm)
        return self._said("learn", {"arm": arm, "valid": bool(valid)}, _gone)

    def tick(self) -> Any:
        """Let time go on by one step after the last arrival: see `Seeker.tick`."""
        return self._said("tick", {}, _gone)

    def finish(self, time: str = "stops") -> Any:
        """End the stream: see `Seeker.finish`."""
        return self._said("finish", {"time": time}, _gone)


_PLACES = {
    "arrive": "arms",
    "ask": "pulls",
    "tell": "rewards",
    "give_up": "lost",
    "withdraw": "arms/withdraw",
    "advance": "advance",
    "learn": "learn",
    "tick": "tick",
    "finish": "finish",
}
_ONCE = ("tick", "finish")
"""What must not be sent twice."""


class RemoteStream(RemoteVerbs):
    """A stream on a server.  Any number of threads and processes may use it at once."""

    def __init__(self, name: str, desk: "RemoteDesk") -> None:
        super().__init__(name, self._carry_out)
        self._desk, self._place = desk, _place(name)

    def __repr__(self) -> str:
        return f"<Stream {self.name!r} of {self._desk!r}>"

    def _carry_out(self, call: RemoteCall) -> Any:
        again = () if call.verb != "withdraw" else (410,)  # gone already, by the call whose answer was lost
        body = None if call.verb == "tick" else call.body
        safe = call.verb not in _ONCE
        found = self._desk._send("POST", f"{self._place}/{_PLACES[call.verb]}", body, safe=safe, done=again)
        call.take({"answer": found})
        return call.result()

    def best(self, k: int | None = None) -> Any:
        """Return the current answer, or with `k` a list of up to k arms; never one that has expired."""
        more = "" if k is None else f"?k={whole('k', k)}"
        found = self._desk._send("GET", f"{self._place}/best{more}")["best"]
        return names_in(found) if k is not None else None if found is None else names_in([found])[0]

    def look(self) -> Any:
        """Return a copy of the agent as it is now, to read from it; what is done to the copy goes nowhere."""
        state = self.state()
        kind = kinds.OURS.get(str(state.get("agent")))
        if kind is None:
            raise ValueError(f"agent must be one of {', '.join(kinds.OURS)} to be looked at from here")
        return kind.from_state(state)

    def log(self) -> Iterator[Logged]:
        """Yield the pulls that have a reward, of arms that are still here; see `Stream.log`."""
        return all_rows(partial(self._desk.log_page, self.name))

    @property
    def stored(self) -> list[Any]:
        """The arms stored, oldest first."""
        return list(self.look().stored)

    @property
    def pulls(self) -> int:
        """All pulls told so far, those included that were counted at their deadlines."""
        return int(self.look().pulls)

    @property
    def memory(self) -> int:
        """Slots: how many arms may be stored."""
        return int(self.look().memory)

    @property
    def window(self) -> Any:
        """How many arrivals, or how long, an arm is valid."""
        return self.look().window

    @property
    def peak_memory(self) -> int:
        """The most arms that were ever stored at once."""
        return int(self.look().peak_memory)

    def state(self) -> dict[str, Any]:
        """Return all that the agent knows as a plain dict, names included."""
        return dict(self._desk._send("GET", f"{self._place}/state")["state"])


class RemoteBatch:
    """Many calls at once: they are sent together when the block ends; see `Batch`."""

    def __init__(self, desk: "RemoteDesk") -> None:
        self._desk, self.calls, self._sent = desk, list[RemoteCall](), 0

    def stream(self, name: str) -> RemoteVerbs:
        """Return the verbs of a stream."""
        return RemoteVerbs(name, self._add)

    def _add(self, call: RemoteCall) -> RemoteCall:
        self.calls.append(call)
        return call

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is not None:
            return
        new, self._sent = self.calls[self._sent :], len(self.calls)  # a batch that is used again sends what is new
        for calls in _parts(new):
            body = [{"stream": call.stream, "verb": call.verb, "arguments": call.body} for call in calls]
            safe = all(call.verb not in (*_ONCE, "withdraw") for call in calls)
            found = self._desk._send("POST", "batch", {"calls": body}, safe=safe)
            for call, result in zip(calls, found["results"], strict=True):
                call.take(result)
        errors = [call.error for call in new if call.error is not None]
        if errors:
            raise ExceptionGroup(f"{len(errors)} of {len(new)} calls failed; the others are done", errors)


class RemoteDesk:
    """Durable streams on a server."""

    def __init__(self, url: str, key: str | None = None, *, timeout: float = 10.0) -> None:
        """Reach the desk of a server; see `connect`."""
        self._sending = Sending(url, key, timeout)

    def __repr__(self) -> str:
        return f"<Desk {self._sending.url}>"

    def _send(self, method: str, place: str, body: Any = None, *, safe: bool = True, done: Sequence[int] = ()) -> Any:
        return self._sending.send(method, f"/v1/{place}", body, safe=safe, done=done)

    def stream(
        self,
        name: str,
        agent: Any = None,
        *,
        patience: Length | None = None,
        otherwise: float | None = 0.0,
        remember: Length = "1 day",
        **settings: Any,
    ) -> RemoteStream:
        """Return the stream of this name: made the first time, found again afterwards; see `Desk.stream`."""
        found = RemoteStream(name, self)
        if agent is None:
            if settings or patience is not None:
                raise ValueError(f"agent must be given with the settings of stream {name!r}, such as Explorer")
            self._send("GET", f"{_place(name)}/erased")
            return found
        kind, fresh = kinds.made(agent, settings)
        if not kind.ours or kind.functions:
            raise ValueError(
                f"agent must be one of {', '.join(kinds.OURS)} on a server, without functions of your own, "
                f"not {kind.name}"
            )
        body = {"agent": kind.name, "state": fresh.state(), "otherwise": otherwise, "remember": _length(remember)}
        self._send("PUT", _place(name), body | ({} if patience is None else {"patience": _length(patience)}))
        return found

    def streams(self) -> list[str]:
        """Return the names of all streams, sorted."""
        return list(self._send("GET", "streams")["streams"])

    def drop(self, name: str) -> None:
        """Delete a stream with all that belongs to it, names included."""
        self._send("DELETE", _place(name), done=(404,))

    def batch(self) -> RemoteBatch:
        """Take many calls at once: `with desk.batch() as batch: batch.stream(name).tell(...)`."""
        return RemoteBatch(self)

    def sweep(self) -> Swept:
        """Do what is due in all streams; a server does it by itself."""
        return swept_in(self._send("POST", "sweep"))

    def erased(self, name: str) -> Erased:
        """Return how many arms of a stream have been erased, when the last sweep ran, how old the oldest arm is."""
        return erased_in(self._send("GET", f"{_place(name)}/erased"))

    def log_page(self, name: str, after: str = "", most: int = MOST) -> Page:
        """Return some rows of a stream's log, those whose ids come after one."""
        return page_in(self._send("GET", f"{_place(name)}/log?most={most}&after={quote(after, safe='')}"))

    def close(self) -> None:
        """Let go of all connections."""
        self._sending.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _place(name: str) -> str:
    """Return where a stream is on a server."""
    if not isinstance(name, str) or not 1 <= len(name) <= 200 or "\0" in name or name in (".", ".."):
        raise ValueError(f"name must be a text of 1 to 200 characters, and not . or .., not {name!r}")
    try:
        return f"streams/{quote(name, safe='')}"
    except UnicodeEncodeError:
        raise ValueError(f"name must be text that can be written as UTF-8, not {name!r}") from None


def _time(name: str, value: Any) -> Any:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"{name} must be an aware datetime or seconds, not {value!r}")
        return value.isoformat()
    return finite(name, value)


def _length(value: Length) -> str:
    return f"{value // MICROSECOND} us" if isinstance(value, timedelta) else str(value)


def _parts(calls: list[RemoteCall]) -> list[list[RemoteCall]]:
    """Return calls in parts that a request can have."""
    parts: list[list[RemoteCall]] = []
    size = 0
    for call in calls:
        length = len(json.dumps(call.body)) + len(call.stream) * 6 + 60
        if not parts or len(parts[-1]) >= AT_ONCE or size + length > _BYTES:
            parts.append([])
            size = 0
        parts[-1].append(call)
        size += length
    return parts


def _nothing(_: Any) -> None:
    return None


def _gone(answer: Any) -> list[Any]:
    return names_in(answer["gone"])


def _pulls(answer: Any) -> list[Pull]:
    return [pull_in(pull) for pull in answer["pulls"]]


def _pull(answer: Any) -> Pull | None:
    return next(iter(_pulls(answer)), None)
