"""A desk on a server: the verbs of durable streams, over HTTP."""

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import partial
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from bestbefore.arguments import whole
from bestbefore.clock import MICROSECOND, Length
from bestbefore.store import kinds
from bestbefore.store.answers import Erased, Swept
from bestbefore.store.logs import MOST, Logged, Page, all_rows, page_in
from bestbefore.store.remote_calls import RemoteCall, RemoteVerbs
from bestbefore.store.sending import Sending
from bestbefore.store.wire import erased_in, names_in, swept_in

AT_ONCE = 500
"""How many calls of a batch are sent in one request, how many bytes of them, and how many pulls they ask for."""

_BYTES, _PULLS = 500_000, 1000


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
        self._desk._send(
            "POST",
            f"{self._place}/{_PLACES[call.verb]}",
            body,
            safe=safe,
            done=again,
            read=lambda found: call.take({"answer": found}),
        )
        return call.result()

    def best(self, k: int | None = None) -> Any:
        """Return the current answer, or with `k` a list of up to k arms; never one that has expired."""
        more = "" if k is None else f"?k={whole('k', k)}"
        found = self._desk._send("GET", f"{self._place}/best{more}", read=lambda found: found["best"])
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
        return dict(self._desk._send("GET", f"{self._place}/state", read=lambda found: found["state"]))


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
            self._desk._send("POST", "batch", {"calls": body}, safe=safe, read=partial(_take, calls))
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

    def _send(
        self,
        method: str,
        place: str,
        body: Any = None,
        *,
        safe: bool = True,
        done: Sequence[int] = (),
        read: Callable[[Any], Any] = lambda found: found,
    ) -> Any:
        """Send a call; return what `read` makes of its answer."""
        found = self._sending.send(method, f"/v1/{place}", body, safe=safe, done=done)
        try:
            return read(found)
        except (KeyError, IndexError, TypeError, AttributeError, ValueError) as wrong:
            raise self._sending.misread(wrong) from wrong

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
            if settings or patience is not None or otherwise != 0.0 or remember != "1 day":
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
        return list(self._send("GET", "streams", read=lambda found: found["streams"]))

    def drop(self, name: str) -> None:
        """Delete a stream with all that belongs to it, names included."""
        self._send("DELETE", _place(name), done=(404,))

    def batch(self) -> RemoteBatch:
        """Take many calls at once: `with desk.batch() as batch: batch.stream(name).tell(...)`."""
        return RemoteBatch(self)

    def sweep(self) -> Swept:
        """Do what is due in all streams; a server does it by itself."""
        found: Swept = self._send("POST", "sweep", read=swept_in)
        return found

    def erased(self, name: str) -> Erased:
        """Return how many arms of a stream have been erased, when the last sweep ran, how old the oldest arm is."""
        found: Erased = self._send("GET", f"{_place(name)}/erased", read=erased_in)
        return found

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


def _length(value: Length) -> str:
    return f"{value // MICROSECOND} us" if isinstance(value, timedelta) else str(value)


def _parts(calls: list[RemoteCall]) -> list[list[RemoteCall]]:
    """Return calls in parts that a request can have."""
    parts: list[list[RemoteCall]] = []
    size = asked = 0
    for call in calls:
        length = len(json.dumps(call.body)) + len(call.stream) * 6 + 60
        if not parts or len(parts[-1]) >= AT_ONCE or size + length > _BYTES or asked + call.size > _PULLS:
            parts.append([])
            size = asked = 0
        parts[-1].append(call)
        size, asked = size + length, asked + call.size
    return parts


def _take(calls: list[RemoteCall], found: Any) -> None:
    """Give each call of a batch its answer."""
    for call, result in zip(calls, found["results"], strict=True):
        call.take(result)
