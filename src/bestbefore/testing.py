"""Conformance: checks that every agent passes, ours and other people's.

>>> from bestbefore import Explorer
>>> check_agent(lambda seed: Explorer(window=5, memory=3, tests=4, seed=seed))
"""

import inspect
import itertools
import json
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bestbefore.agents import Agent

Factory = Callable[[int], Any]
"""Makes a fresh agent from a seed."""

Rewards = Callable[[np.random.Generator, int], float]
"""Draws a reward of the arm with this number."""

MOST_PULLS = 1_000_000
"""After so many pulls at one arrival `ask` must have returned None, once."""


def check_agent(factory: Factory, *, arrivals: int | None = None, seed: int = 0, keeps_expired: bool = False) -> None:
    """Raise an `AssertionError` that says what is wrong, if agents made by `factory(seed)` break the contract.

    Checked on streams of random rewards, of falling ones, of zeros and of ones, three windows long (or `arrivals`,
    which must be more than a window), with some tests left unfinished:

    - the arms stored never exceed `agent.memory`, and `peak_memory` is the most there ever were;
    - an expired arm is never returned by `ask` or `best`, and never kept;
    - every arm that leaves is returned by the next `arrive`, once, and nobody else;
    - `ask` returns None at last, or, if `arrive` takes a `budget`, when that is spent;
    - `pulls` is what was told, one by one or as totals of several; where the agent says how many rewards of an arm it
      `wanted`, it makes the same decisions either way;
    - the same seed makes the same decisions;
    - an agent saved as JSON in mid-stream and restored makes the same decisions as one that was not;
    - bad input (unknown and expired arms, arms that arrive twice, rewards that are no numbers) raises `ValueError` or
      `LookupError` and changes nothing.

    An agent that lists arms as `overdue`, since some may outlive their window, hears by `learn` that they have not.
    One for arms that can be pulled after their window, such as a `Seeker` with an implicit flag, `keeps_expired`:
    what is said above about expired arms is not asked of it.
    """
    agent = factory(seed)
    _require(isinstance(agent, Agent), f"{type(agent).__name__} lacks some of the names of bestbefore.Agent")
    for name in ("window", "memory", "peak_memory", "pulls"):
        value = getattr(agent, name)
        _require(isinstance(value, (int, np.integer)), f"{name} must be a whole number, not {value!r}")
    arrivals = max(60, 3 * agent.window) if arrivals is None else arrivals
    if arrivals <= agent.window:
        raise ValueError(f"arrivals must be more than the window of {agent.window}, or nothing expires, not {arrivals}")

    def session(rewards: Rewards) -> _Session:
        return _Session(factory(seed), rewards, seed, keeps_expired)

    streams = (_random, _falling, _zeros, _ones)
    for rewards in streams:
        _check_memory(session(rewards), arrivals)
    for rewards in streams:
        one, two, three = (session(rewards) for _ in range(3))
        _check_same(one, two, arrivals)
        _check_restored(one, three, arrivals)
    _check_totals(session(_unlike), session(_unlike), arrivals)
    _check_end(session(_random), arrivals)
    _check_bad_input(session(_random), arrivals)


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise AssertionError(message)


def _random(rng: np.random.Generator, arm: int) -> float:
    return float(rng.random() < (arm * 0.37) % 1)


def _falling(rng: np.random.Generator, arm: int) -> float:
    return 1 - (arm % 17) / 17  # old arms are worth keeping, up to the last moment


def _zeros(rng: np.random.Generator, arm: int) -> float:
    return 0.0


def _ones(rng: np.random.Generator, arm: int) -> float:
    return 1.0


def _unlike(rng: np.random.Generator, arm: int) -> float:
    return arm * math.sqrt(2) % 1  # no two are so near that the last digit of a sum could matter


class _Session:
    """An agent on a simulated stream, and what it decided."""

    FEW, MANY = 50, 200  # pulls per arrival at most: two tests of three are left unfinished, as in life

    def __init__(self, agent: Any, rewards: Rewards, seed: int, keeps_expired: bool) -> None:
        self.agent, self.rewards, self.keeps_expired = agent, rewards, keeps_expired
        self.rng = np.random.default_rng(seed)
        self.arrived = self.told = 0
        self.at_once = 5  # rewards told as a total, at most
        self.numbers: dict[str, int] = {}
        self.stored: set[Any] = set()  # at the end of any arrival so far
        self.let_go: set[Any] = set()
        self.decisions: list[Any] = []

    def name(self, number: int) -> str:
        return f"arm-{number:05d}"

    def number(self, arm: Any) -> int:
        """Return the number of an arm, or 0 for what never arrived."""
        return self.numbers.get(arm, 0) if isinstance(arm, str) else 0

    def call(self, verb: str, *arguments: Any, **named: Any) -> Any:
        """Return what the agent answers to what may be asked of it."""
        return _called(verb, getattr(self.agent, verb), *arguments, **named)

    def now_stored(self) -> list[Any]:
        stored = list(_listed("stored", self.agent.stored))
        for arm in stored:
            _require(self.number(arm) > 0, f"stored has {arm!r}, which has expired or never arrived")
        return stored

    def arrive(self, **budget: int) -> None:
        """Let an arm arrive; who has left memory must be among the arms let go."""
        self.arrived += 1
        self.numbers[self.name(self.arrived)] = self.arrived
        let_go = list(_listed("arrive()", self.call("arrive", self.name(self.arrived), **budget)))
        for arm in list(getattr(self.agent, "overdue", [])):
            let_go += _listed("learn()", self.call("learn", arm, valid=False))
        for arm in let_go:
            _require(self.number(arm) > 0, f"arrive() returned {arm!r}, which never arrived")
            _require(arm not in self.let_go, f"arrive() returned {arm!r} twice")
            self.let_go.add(arm)
        self.decisions.append(let_go)
        missing = self.stored.difference(self.now_stored(), self.let_go)
        _require(not missing, f"arrive() never returned {sorted(missing)}, which left memory")

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
        reward = self.rewards(self.rng, self.number(arm))
        if totals:
            self.call("tell", arm, reward * pulls, pulls=pulls)
        else:
            for _ in range(pulls):
                self.call("tell", arm, reward)
        self.told += pulls
        return True

    def several(self, arm: Any) -> int:
        """Return how many rewards to tell: of those wanted, or else of up to three pulls asked for in a row."""
        if not hasattr(self.agent, "wanted"):
            again = itertools.takewhile(lambda _: self.call("ask") == arm, range(2))
            return 1 + len(list(again))
        wanted = self.call("wanted", arm)
        real = isinstance(wanted, (int, np.integer)) and bool(wanted >= 1)
        _require(real, f"wanted({arm!r}) must be a whole number of at least 1 after ask() returned it, not {wanted!r}")
        return int(self.rng.integers(min(wanted, self.at_once))) + 1

    def require_valid(self, arm: Any, what: str) -> None:
        oldest = 1 if self.keeps_expired else max(self.arrived - self.agent.window + 1, 1)
        _require(oldest <= self.number(arm), f"{what} {arm!r}, which has expired or never arrived")

    def require_pulls(self) -> None:
        _require(self.agent.pulls == self.told, f"pulls is {self.agent.pulls}, but {self.told} were told")


def _called(name: str, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    try:
        return function(*arguments, **named)
    except Exception as wrong:
        raise AssertionError(f"{_sentence(name, arguments, named)} raised {wrong!r}") from wrong


def _sentence(name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> str:
    shown = [*map(repr, arguments), *(f"{key}={value!r}" for key, value in named.items())]
    return f"{name}({', '.join(shown)})"


def _listed(what: str, arms: Any) -> Any:
    _require(isinstance(arms, (list, tuple)), f"{what} must be a list of arms, not {arms!r}")
    return arms


def _saved(agent: Any) -> str:
    """Return the state of an agent as JSON; later changes of the agent cannot reach it."""
    state = _called("state", agent.state)
    try:
        return json.dumps(state)
    except (TypeError, ValueError) as wrong:
        raise AssertionError(f"state() must be ready for JSON where the arms' names are, but: {wrong}") from wrong


def _check_memory(session: _Session, arrivals: int) -> None:
    agent, most = session.agent, 0
    for _ in range(arrivals):
        session.step()
        stored = session.now_stored()
        most = max(most, len(stored))
        _require(len(stored) <= agent.memory, f"{len(stored)} arms are stored in {agent.memory} slots")
        _require(stored == sorted(stored, key=session.number), f"stored must be oldest first, not {stored}")
        for arm in stored:
            session.require_valid(arm, "stored has")
            _require(arm not in session.let_go, f"{arm!r} was let go and is still stored")
        if (answer := session.call("best")) is not None:
            session.require_valid(answer, "best() returned")
    _require(
        most <= agent.peak_memory <= agent.memory, f"peak_memory is {agent.peak_memory}, but {most} arms were stored"
    )
    session.require_pulls()
    expired = set() if session.keeps_expired else set(map(session.name, range(1, session.arrived - agent.window + 1)))
    missing = expired - session.let_go
    _require(not missing, f"arrive() never returned {sorted(missing)}, which have expired")
    saved = _saved(agent)
    traces = sorted(arm for arm in expired if arm in saved)
    _require(not traces, f"the state still names {traces}, which have expired")


def _check_same(first: _Session, second: _Session, arrivals: int) -> None:
    for _ in range(arrivals):
        first.step()
        second.step()
        _require(first.decisions == second.decisions, "the same seed makes other decisions")


def _check_restored(straight: _Session, stopped: _Session, arrivals: int) -> None:
    """Compare an agent that went straight on with one that is saved and restored after each arrival."""
    for number in range(arrivals):
        stopped.step()
        so_far = straight.decisions[: len(stopped.decisions)]
        _require(so_far == stopped.decisions, f"restored after {number} arrivals, it decides otherwise")
        before = _saved(stopped.agent)
        stopped.agent = _called("from_state", partial(type(stopped.agent).from_state, json.loads(before)))
        _require(isinstance(stopped.agent, Agent), f"from_state() must return an agent, not {stopped.agent!r}")
        same = json.loads(_saved(stopped.agent)) == json.loads(before)
        _require(same, "a restored agent has another state than the one that was saved")
    for name in ("pulls", "peak_memory"):
        once, now = getattr(straight.agent, name), getattr(stopped.agent, name)
        _require(once == now, f"{name} is {now} in a restored agent, {once} in one that went straight on")


def _check_totals(at_once: _Session, singly: _Session, arrivals: int) -> None:
    """Tell rewards as totals; who said how many were wanted decides as one does who was told each of them."""
    for _ in range(arrivals):
        at_once.step(totals=True)
        at_once.require_pulls()
        if hasattr(singly.agent, "wanted"):
            singly.step(totals=False)
            same = at_once.decisions == singly.decisions
            _require(same, "told as a total with pulls=k, k rewards that were wanted make other decisions than singly")


def _check_end(session: _Session, arrivals: int) -> None:
    """Give the agent all that it asks for, as simulations do, until it wants no more, or its budget is spent."""
    for _ in range(arrivals):
        session.step()
    budgeted = "budget" in inspect.signature(session.agent.arrive).parameters
    session.arrive(**{"budget": session.FEW} if budgeted else {})
    most = session.FEW if budgeted else MOST_PULLS
    session.at_once = MOST_PULLS
    for _ in range(most):
        if not session.pull(totals=True if hasattr(session.agent, "wanted") else None):
            return
        session.decisions.clear()
    what = f"its budget of {most}" if budgeted else f"{most} pulls at one arrival"
    _require(session.call("ask") is None, f"ask() must return None at last, but went on after {what}")


def _check_bad_input(session: _Session, arrivals: int) -> None:
    for _ in range(arrivals):
        session.step()
        known = (session.now_stored() or [session.name(session.arrived)])[-1]
        gone = session.name(0 if session.keeps_expired else max(session.arrived - session.agent.window, 0))
        before = _saved(session.agent)
        for verb, arguments, named in (
            ("tell", ("never-arrived", 1.0), {}),
            ("tell", (gone, 1.0), {}),
            ("tell", (known, math.nan), {}),
            ("tell", (known, math.inf), {}),
            ("tell", (known, "much"), {}),
            ("tell", (known, 1.0), {"pulls": 0}),
            ("tell", (known, 1.0), {"pulls": -1}),
            ("arrive", (known,) if session.now_stored() else (None,), {}),
            ("arrive", (None,), {}),
            ("arrive", ([],), {}),
        ):
            call = _sentence(verb, arguments, named)
            _check_refused(call, partial(getattr(session.agent, verb), *arguments, **named))
            _require(_saved(session.agent) == before, f"{call} was refused, but changed the agent")


def _check_refused(call: str, function: Callable[[], Any]) -> None:
    try:
        function()
    except (ValueError, LookupError):
        return
    except Exception as wrong:
        raise AssertionError(f"{call} must raise ValueError or LookupError, not {wrong!r}") from wrong
    raise AssertionError(f"{call} must raise ValueError or LookupError")
