"""What a durable stream must answer: an agent in memory, with a ledger of its own that is a plain dict.

It knows nothing of databases.  A durable stream that is told the same at the same times must answer the same.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from bestbefore.errors import Conflict, UnknownArm, UnknownPull


@dataclass
class _Pull:
    arm: Any
    number: int
    deadline: int | None
    how: str | None = None
    reward: float | None = None


class Reference:
    """An agent in memory with pulls that have ids; times are in microseconds."""

    def __init__(self, agent: Any, patience: int | None = None, otherwise: float | None = 0.0) -> None:
        self.agent, self.patience, self.otherwise = agent, patience, otherwise
        self.pulls: dict[str, _Pull] = {}
        self.numbers: dict[int, Any] = {}
        self.time = 0
        window = agent.window
        self.window = window // timedelta(microseconds=1) if isinstance(window, timedelta) else None

    def arrive(self, now: int, arm: Any, **more: Any) -> list[Any]:
        """Let a new arm arrive; return all whom memory let go.  One that is here has arrived already."""
        now, gone = self._go_on(now)
        if arm in self.numbers.values():
            return gone
        gone += self._forget(self.agent.arrive(arm, **more, **self._at(now)))
        self.time = now
        if self.agent.holds(arm):
            self.numbers[self.agent.arrival_of(arm)] = arm
        return gone

    def ask(self, now: int, id: str) -> Any:
        """Return the arm to pull under an id."""
        now, _ = self._go_on(now)
        if id not in self.pulls:
            arm = self.agent.ask(**self._at(now))
            self.time = now
            if arm is None:
                self._drain()
                return None
            deadline = None if self.patience is None else now + self.patience
            self.pulls[id] = _Pull(arm, self.agent.arrival_of(arm), deadline)
            self._drain()
        return self._arm(self.pulls[id])

    def slate(self, now: int, id: str, k: int) -> list[tuple[str, Any]]:
        """Return up to k pulls for one page: their ids, and their arms."""
        now, _ = self._go_on(now)
        ids = [f"{id}/{place}" for place in range(1, k + 1)]
        if not any(one in self.pulls for one in ids):
            deadline = None if self.patience is None else now + self.patience
            for one, arm in zip(ids, self.agent.ask(k, **self._at(now)), strict=False):
                self.pulls[one] = _Pull(arm, self.agent.arrival_of(arm), deadline)
            self.time = now
            self._drain()
        return [(one, self._arm(self.pulls[one])) for one in ids if one in self.pulls]

    def settle(self, now: int) -> None:
        """Do what is due, and nothing else, as a sweep does."""
        self._go_on(now)

    def advance(self, now: int) -> list[Any]:
        """Let time go on; return all whom memory let go."""
        now, gone = self._go_on(now)
        gone += self._forget(self.agent.advance(*self._at(now).values()))
        self.time = now if self.window is not None or gone else self.time  # by count, time goes on with arrivals
        return gone

    def tell(self, now: int, id: str, reward: float) -> None:
        """Tell the reward of a pull."""
        now, _ = self._go_on(now)
        pull = self._pull(id)
        if pull.how in ("told", "defaulted") and pull.reward == reward:
            return
        if pull.how in ("told", "defaulted", "given up"):
            raise Conflict(id)
        self.agent.tell(self._arm(pull), reward, arrival=pull.number, **self._at(now))
        self.time, pull.how, pull.reward = now, "told", reward
        self._drain()

    def give_up(self, now: int, id: str) -> None:
        """Give a pull up."""
        now, _ = self._go_on(now)
        pull = self._pull(id)
        if pull.how == "given up":
            return
        if pull.how in ("told", "defaulted"):
            raise Conflict(id)
        self.agent.give_up(self._arm(pull), arrival=pull.number, **self._at(now))
        self.time, pull.how = now, "given up"
        self._drain()

    def withdraw(self, now: int, arm: Any) -> None:
        """Let an arm go."""
        now, _ = self._go_on(now)
        self.agent.withdraw(arm, **self._at(now))
        self.time = now
        self._forget([arm])
        self._drain()

    def best(self, now: int, k: int | None = None) -> Any:
        """Return the best arms: whoever only looks leaves no trace, even of what is due."""
        looked_at = self._copied()
        now, _ = looked_at._go_on(now)
        return looked_at.agent.best(**self._at(now)) if k is None else looked_at.agent.best(k, **self._at(now))

    def _copied(self) -> "Reference":
        copied = Reference(type(self.agent).from_state(self.agent.state()), self.patience, self.otherwise)
        copied.pulls = {id: replace(pull) for id, pull in self.pulls.items()}
        copied.numbers, copied.time = dict(self.numbers), self.time
        return copied

    def _go_on(self, now: int) -> tuple[int, list[Any]]:
        """Do what is due, in the order of its times; return what time it is then, and whom memory let go."""
        now, gone = max(now, self.time), list[Any]()
        while True:
            ends = [] if self.window is None else [number - 1 + self.window for number in self.numbers]
            events = [(end, 0, "") for end in ends if end > self.time]
            events += [(pull.deadline, 1, id) for id, pull in self.pulls.items() if pull.deadline and self._waits(pull)]
            if not events or min(events)[0] > now:
                return now, gone
            time, _, id = min(events)
            self.time = max(self.time, time)
            gone += self._end(self.pulls[id]) if id else self._forget(self.agent.advance(self.time / 1e6))

    def _end(self, pull: _Pull) -> list[Any]:
        """End a pull at its deadline."""
        try:
            if self.otherwise is None:
                self.agent.give_up(pull.arm, arrival=pull.number, **self._at(self.time))
            else:
                self.agent.tell(pull.arm, self.otherwise, arrival=pull.number, **self._at(self.time))
        except UnknownArm:
            return self._forget(self.agent.advance(*self._at(self.time).values()))
        pull.how, pull.reward = ("given up", None) if self.otherwise is None else ("defaulted", self.otherwise)
        return self._drain()

    def _waits(self, pull: _Pull) -> bool:
        return pull.how is None and self.numbers.get(pull.number) == pull.arm

    def _pull(self, id: str) -> _Pull:
        if id not in self.pulls:
            raise UnknownPull(id)
        return self.pulls[id]

    def _arm(self, pull: _Pull) -> Any:
        if self.numbers.get(pull.number) != pull.arm:
            raise UnknownArm(pull.arm)
        return pull.arm

    def _drain(self) -> list[Any]:
        return self._forget(self.agent.advance())

    def _forget(self, arms: list[Any]) -> list[Any]:
        self.numbers = {number: arm for number, arm in self.numbers.items() if arm not in arms}
        return list(arms)

    def _at(self, now: int) -> dict[str, float]:
        return {} if self.window is None else {"at": now / 1e6}
