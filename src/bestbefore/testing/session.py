"""A session with an agent: a simulated stream, what the agent decided, and what can be required of that."""

import itertools
import json
import math
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any, Final

import numpy as np

Rewards = Callable[[np.random.Generator, int], float]
"""Draws a reward of the arm with this number, from 0 to 1."""


def require(holds: bool, message: str) -> None:
    """Raise an `AssertionError` unless something holds."""
    if not holds:
        raise AssertionError(message)


def random_rewards(rng: np.random.Generator, arm: int) -> float:
    """Return 0 or 1, each arm with a probability of its own."""
    return float(rng.random() < (arm * 0.37) % 1)


def _falling(rng: np.random.Generator, arm: int) -> float:
    return 1 - (arm % 17) / 17  # old arms are worth keeping, up to the last moment


def _zeros(rng: np.random.Generator, arm: int) -> float:
    return 0.0


def _ones(rng: np.random.Generator, arm: int) -> float:
    return 1.0


def unlike(rng: np.random.Generator, arm: int) -> float:
    """Return what only this arm has."""
    return arm * math.sqrt(2) % 1  # no two are so near that the last digit of a sum could matter


REWARDS: Final = (random_rewards, _falling, _zeros, _ones)


class Session:
    """An agent on a simulated stream, and what it decided."""

    FEW, MANY = 50, 200  # pulls per arrival at most: two tests of three are left unfinished, as in life

    def __init__(self, agent: Any, rewards: Rewards, seed: int, keeps_expired: bool) -> None:
        self.agent, self.rewards, self.keeps_expired = agent, rewards, keeps_expired
        self.rng = np.random.default_rng(seed)
        window = agent.window
        self.by_time = isinstance(window, timedelta)
        self.length = window // timedelta(microseconds=1) if isinstance(window, timedelta) else int(window)
        self.now = 0  # by count the number of the newest arm, by time microseconds
        self.newest = 0  # the number on the clock of the newest arm: of one instant, each has the next
        self.times: dict[str, int] = {}
        self.withdrawn: set[Any] = set()
        self.arrived = self.told = 0
        self.at_once = 5  # rewards told as a total, at most
        self.numbers: dict[str, int] = {}
        self.stored: set[Any] = set()  # at the end of any arrival so far
        self.let_go: set[Any] = set()
        self.decisions: list[Any] = []

    def name(self, number: int) -> str:
        """Return what an arm is called."""
        return f"arm-{number:05d}"

    def number(self, arm: Any) -> int:
        """Return the number of an arm, or 0 for what never arrived."""
        return self.numbers.get(arm, 0) if isinstance(arm, str) else 0

    def is_valid(self, arm: Any) -> bool:
        """Say whether an arm has arrived and not expired."""
        return arm in self.times and self.times[arm] > max(self.now, self.newest) - self.length

    def call(self, verb: str, *arguments: Any, **named: Any) -> Any:
        """Return what the agent answers to what may be asked of it."""
        return called(verb, getattr(self.agent, verb), *arguments, **named)

    def now_stored(self) -> list[Any]:
        """Return the arms stored, if all have arrived."""
        stored = list(listed("stored", self.agent.stored))
        for arm in stored:
            require(self.number(arm) > 0, f"stored has {arm!r}, which has expired or never arrived")
        return stored

    def arrive(self, budget: int | None = None) -> None:
        """Let an arm arrive; who has left memory must be among the arms let go."""
        self.arrived += 1
        named: dict[str, Any] = {} if budget is None else {"budget": budget}
        if self.by_time:  # some at one instant, some after a pause
            self.now += int(self.rng.choice([0, self.length // 20, self.length // 10, self.length // 4]))
            named["at"] = self.now / 1e6
        else:
            self.now += 1
        arm = self.name(self.arrived)
        self.newest = max(self.now, self.newest + 1)
        self.numbers[arm], self.times[arm] = self.arrived, self.newest
        self.take_let_go("arrive()", self.call("arrive", arm, **named))

    def take_let_go(self, what: str, arms: Any) -> None:
        """Take the arms that memory let go, those included that turn out not to outlive their window."""
        let_go = list(listed(what, arms))
        for arm in list(getattr(self.agent, "overdue", [])):
            let_go += listed("learn()", self.call("learn", arm, valid=False))
        for arm in let_go:
            require(self.number(arm) > 0, f"{what} returned {arm!r}, which never arrived")
            require(arm not in self.let_go, f"{what} returned {arm!r} twice")
            require(arm not in self.withdrawn, f"{what} returned {arm!r}, which was withdrawn")
            self.let_go.add(arm)
        self.decisions.append(let_go)
        missing = self.stored.difference(self.now_stored(), self.let_go, self.withdrawn)
        require(not missing, f"{what} never returned {sorted(missing)}, which left memory")

    def step(self, totals: bool | None = None) -> None:
        """Let an arm arrive and pull what is asked for: one by one, or by several pulls, told as totals or not."""
        self.arrive()
        for _ in range(self.MANY if self.arrived % 3 == 0 else int(self.rng.integers(self.FEW + 1))):
            if not self.pull(totals):
                break
            self.decisions.append(self.call("best"))
        self.decisions.append((self.call("best"), self.now_stored()))
        self.stored.update(self.now_stored())

    def pull(self, totals: bool | None = None) -> bool:
        """Pull the arm that is asked for, if any."""
        arm = self.call("ask")
        self.decisions.append(arm)
        if arm is None:
            return False
        self.require_valid(arm, "ask() returned")
        pulls = 1 if totals is None else self.several(arm)
        reward = self.reward(arm)
        if totals:
            self.call("tell", arm, reward * pulls, pulls=pulls)
        else:
            for _ in range(pulls):
                self.call("tell", arm, reward)
        self.told += pulls
        return True

    def reward(self, arm: Any) -> float:
        """Return a reward of an arm, on the agent's scale."""
        low, high = getattr(self.agent, "scale", (0.0, 1.0))
        return float(low + (high - low) * self.rewards(self.rng, self.number(arm)))

    def several(self, arm: Any) -> int:
        """Return how many rewards to tell: of those wanted, or else of up to three pulls asked for in a row."""
        if not hasattr(self.agent, "wanted"):
            again = itertools.takewhile(lambda _: self.call("ask") == arm, range(2))
            return 1 + len(list(again))
        wanted = self.call("wanted", arm)
        real = isinstance(wanted, (int, np.integer)) and bool(wanted >= 1)
        require(real, f"wanted({arm!r}) must be a whole number of at least 1 after ask() returned it, not {wanted!r}")
        return int(self.rng.integers(min(wanted, self.at_once))) + 1

    def require_valid(self, arm: Any, what: str) -> None:
        """Require that an arm is valid, or at least has arrived, and was not withdrawn."""
        fine = self.number(arm) > 0 if self.keeps_expired else self.is_valid(arm)
        require(fine, f"{what} {arm!r}, which has expired or never arrived")
        require(arm not in self.withdrawn, f"{what} {arm!r}, which was withdrawn")

    def require_refused(self, *calls: tuple[str, tuple[Any, ...], dict[str, Any]]) -> None:
        """Require that verbs refuse what they are told, and change nothing."""
        before = saved_text(self.agent)
        for verb, arguments, named in calls:
            call = sentence(verb, arguments, named)
            require_refused(call, partial(getattr(self.agent, verb), *arguments, **named))
            require(saved_text(self.agent) == before, f"{call} was refused, but changed the agent")

    def require_pulls(self) -> None:
        """Require that the agent has counted the pulls that it was told of."""
        require(self.agent.pulls == self.told, f"pulls is {self.agent.pulls}, but {self.told} were told")


def called(name: str, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Return what a function answers, which must not fail."""
    try:
        return function(*arguments, **named)
    except Exception as wrong:
        raise AssertionError(f"{sentence(name, arguments, named)} raised {wrong!r}") from wrong


def sentence(name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> str:
    """Return a call as it is written."""
    shown = [*map(repr, arguments), *(f"{key}={value!r}" for key, value in named.items())]
    return f"{name}({', '.join(shown)})"


def listed(what: str, arms: Any) -> Any:
    """Return arms, if they are a list."""
    require(isinstance(arms, (list, tuple)), f"{what} must be a list of arms, not {arms!r}")
    return arms


def saved_text(agent: Any) -> str:
    """Return the state of an agent as JSON; later changes of the agent cannot reach it."""
    state = called("state", agent.state)
    try:
        return json.dumps(state)
    except (TypeError, ValueError) as wrong:
        raise AssertionError(f"state() must be ready for JSON where the arms' names are, but: {wrong}") from wrong


def require_refused(call: str, function: Callable[[], Any]) -> None:
    """Require that a call raises an error that users can act on."""
    try:
        function()
    except (ValueError, LookupError):
        return
    except Exception as wrong:
        raise AssertionError(f"{call} must raise ValueError or LookupError, not {wrong!r}") from wrong
    raise AssertionError(f"{call} must raise ValueError or LookupError")
