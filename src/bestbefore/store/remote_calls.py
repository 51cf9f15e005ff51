"""Calls on their way to a server: the verbs of a stream as bodies of JSON, and how answers are read."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from bestbefore.arguments import finite, whole
from bestbefore.clock import When
from bestbefore.store.ledger import Pull
from bestbefore.store.names import text_of
from bestbefore.store.verbs import checked_id, ids_of, new_id
from bestbefore.store.wire import error_of, names_in, pull_in


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

    @property
    def size(self) -> int:
        """How many pulls it asks for, or 1: a request may have so many."""
        return int(self.body.get("k", 1))

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


def _time(name: str, value: Any) -> Any:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"{name} must be an aware datetime or seconds, not {value!r}")
        return value.isoformat()
    return value if type(value) is int else finite(name, value)  # a number of an arm must stay a whole one


def _nothing(_: Any) -> None:
    return None


def _gone(answer: Any) -> list[Any]:
    return names_in(answer["gone"])


def _pulls(answer: Any) -> list[Pull]:
    return [pull_in(pull) for pull in answer["pulls"]]


def _pull(answer: Any) -> Pull | None:
    return next(iter(_pulls(answer)), None)
