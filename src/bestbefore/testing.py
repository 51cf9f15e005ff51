"""Conformance: checks that every agent passes, ours and other people's.

>>> from bestbefore import Explorer
>>> check_agent(lambda seed: Explorer(window=5, memory=3, pulls=4, seed=seed))
"""

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bestbefore.agents import Agent

Factory = Callable[[int], Any]
"""Makes a fresh agent from a seed."""


def check_agent(factory: Factory, *, arrivals: int | None = None, seed: int = 0, keeps_expired: bool = False) -> None:
    """Raise an `AssertionError` that says what is wrong, if agents made by `factory(seed)` break the contract.

    Checked on streams of random rewards, of falling ones, of zeros and of ones, three windows long (or `arrivals`,
    which must be more than a window), with some tests left unfinished:

    - the arms stored never exceed `agent.slots`, and `peak_memory` is the most there ever were;
    - an expired arm is never returned by `ask` or `best`, and never kept;
    - every arm that leaves is returned by `arrive`, once;
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
    arrivals = max(60, 3 * agent.window) if arrivals is None else arrivals
    if arrivals <= agent.window:
        raise ValueError(f"arrivals must be more than the window of {agent.window}, or nothing expires, not {arrivals}")
    streams = (_random, _falling, _zeros, _ones)
    for rewards in streams:
        _check_memory(_Session(factory(seed), rewards, seed, keeps_expired), arrivals)
    for rewards in streams:
        one, two, three = (_Session(factory(seed), rewards, seed, keeps_expired) for _ in range(3))
        _check_same(one, two, arrivals)
        _check_restored(one, three, arrivals)
    _check_bad_input(_Session(factory(seed), _random, seed, keeps_expired), arrivals)


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


class _Session:
    """An agent on a simulated stream, and what it decided."""

    FEW, MANY = 50, 200  # pulls per arrival at most: two tests of three are left unfinished, as in life

    def __init__(
        self, agent: Any, rewards: Callable[[np.random.Generator, int], float], seed: int, keeps_expired: bool
    ) -> None:
        self.agent, self.rewards, self.keeps_expired = agent, rewards, keeps_expired
        self.rng = np.random.default_rng(seed)
        self.arrived = self.told = 0
        self.decisions: list[Any] = []

    def name(self, number: int) -> str:
        return f"arm-{number:05d}"

    def number(self, arm: Any) -> int:
        return int(arm.removeprefix("arm-"))

    def step(self) -> list[Any]:
        """Let an arm arrive and pull what is asked for; return the arms let go."""
        self.arrived += 1
        let_go = list(self.agent.arrive(self.name(self.arrived)))
        for arm in list(getattr(self.agent, "overdue", [])):
            let_go += self.agent.learn(arm, valid=False)
        self.decisions.append(let_go)
        for _ in range(self.MANY if self.arrived % 3 == 0 else int(self.rng.integers(self.FEW + 1))):
            arm = self.agent.ask()
            self.decisions.append(arm)
            if arm is None:
                break
            self.require_valid(arm, "ask() returned")
            self.agent.tell(arm, self.rewards(self.rng, self.number(arm)))
            self.told += 1
            self.decisions.append(self.agent.best())
        self.decisions.append((self.agent.best(), list(self.agent.memory)))
        return let_go

    def require_valid(self, arm: Any, what: str) -> None:
        oldest = 1 if self.keeps_expired else self.arrived - self.agent.window + 1
        _require(oldest <= self.number(arm) <= self.arrived, f"{what} {arm!r}, which has expired or never arrived")


def _check_memory(session: _Session, arrivals: int) -> None:
    agent, most = session.agent, 0
    let_go: set[Any] = set()
    for _ in range(arrivals):
        for arm in session.step():
            _require(arm not in let_go, f"arrive() returned {arm!r} twice")
            let_go.add(arm)
        stored = list(agent.memory)
        most = max(most, len(stored))
        _require(len(stored) <= agent.slots, f"{len(stored)} arms are stored in {agent.slots} slots")
        _require(stored == sorted(stored, key=session.number), f"memory must be oldest first, not {stored}")
        for arm in stored:
            session.require_valid(arm, "memory holds")
            _require(arm not in let_go, f"{arm!r} was let go and is still in memory")
        if (answer := agent.best()) is not None:
            session.require_valid(answer, "best() returned")
    _require(
        most <= agent.peak_memory <= agent.slots, f"peak_memory is {agent.peak_memory}, but {most} arms were stored"
    )
    _require(agent.pulls == session.told, f"pulls is {agent.pulls}, but {session.told} were told")
    expired = set() if session.keeps_expired else set(map(session.name, range(1, session.arrived - agent.window + 1)))
    _require(expired <= let_go, f"arrive() never returned {sorted(expired - let_go)}, which have expired")
    saved = json.dumps(agent.state())
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
        before = stopped.agent.state()
        stopped.agent = type(stopped.agent).from_state(json.loads(json.dumps(before)))
        _require(stopped.agent.state() == before, "a restored agent has another state than the one that was saved")
    for name in ("pulls", "peak_memory"):
        once, now = getattr(straight.agent, name), getattr(stopped.agent, name)
        _require(once == now, f"{name} is {now} in a restored agent, {once} in one that went straight on")


def _check_bad_input(session: _Session, arrivals: int) -> None:
    agent = session.agent
    for _ in range(arrivals):
        session.step()
        here = session.name(session.arrived)
        known = list(agent.memory) or [here]
        agent_before = agent.state()
        for call, arguments in (
            (agent.tell, ("never-arrived", 1.0)),
            (agent.tell, (session.name(0 if session.keeps_expired else max(session.arrived - agent.window, 0)), 1.0)),
            (agent.tell, (known[-1], math.nan)),
            (agent.tell, (known[-1], math.inf)),
            (agent.tell, (known[-1], "much")),
            (agent.tell, (known[-1], 1.0, 0)),
            (agent.tell, (known[-1], 1.0, -1)),
            (agent.arrive, (known[-1],) if agent.memory else (None,)),
            (agent.arrive, (None,)),
            (agent.arrive, ([],)),
        ):
            _check_refused(call, arguments)
            _require(agent.state() == agent_before, f"{call.__name__}{arguments!r} was refused, but changed the agent")


def _check_refused(call: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    try:
        call(*arguments)
    except (ValueError, LookupError):
        return
    raise AssertionError(f"{call.__name__}{arguments!r} must raise ValueError or LookupError")
