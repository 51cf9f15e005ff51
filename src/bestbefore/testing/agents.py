"""Conformance: checks that every agent passes, ours and other people's.

>>> from bestbefore import Explorer
>>> check_agent(lambda seed: Explorer(window=5, memory=3, tests=4, seed=seed))
"""

import inspect
import json
import math
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import numpy as np

from bestbefore.agents import Agent
from bestbefore.testing.late import check_late
from bestbefore.testing.session import (
    REWARDS,
    Rewards,
    Session,
    called,
    random_rewards,
    require,
    saved_text,
    unlike,
)
from bestbefore.testing.verbs import check_advance, check_give_up, check_withdraw

Factory = Callable[[int], Any]
"""Makes a fresh agent from a seed."""

MOST_PULLS = 1_000_000
"""After so many pulls at one arrival `ask` must have returned None, once."""


def check_agent(factory: Factory, *, arrivals: int | None = None, seed: int = 0, keeps_expired: bool = False) -> None:
    """Raise an `AssertionError` that says what is wrong, if agents made by `factory(seed)` break the contract.

    Checked on streams of random rewards, of falling ones, of zeros and of ones, three windows long (or `arrivals`,
    which must be more than a window), with some tests left unfinished.  If its window is a time, arms arrive with
    `at`, in seconds: some at one instant, some after a pause, about ten in a window.

    - the arms stored never exceed `agent.memory`, and `peak_memory` is the most there ever were;
    - an expired arm is never returned by `ask` or `best`, and never kept;
    - every arm that leaves is returned by the next `arrive`, once, and nobody else;
    - `ask` returns None at last, or, if `arrive` takes a `budget`, when that is spent;
    - if `arrive` takes a `budget`, a new arm among three or more does not get most pulls before its first reward;
    - `pulls` is what was told, one by one or as totals of several; where the agent says how many rewards of an arm it
      `wanted`, it makes the same decisions either way;
    - the same seed makes the same decisions;
    - an agent saved as JSON in mid-stream and restored makes the same decisions as one that was not;
    - where it has these verbs: an arm that it was told to `withdraw` is nowhere, and its rewards are refused; pulls
      that it was told to `give_up` count for nothing, and are asked for again; and `advance` lets arms expire where
      nothing arrives, and returns them;
    - bad input (unknown and expired arms, arms that arrive twice, rewards that are no numbers) raises `ValueError` or
      `LookupError` and changes nothing.

    An agent that lists arms as `overdue`, since some may outlive their window, hears by `learn` that they have not.
    One for arms that can be pulled after their window, such as a `Seeker` with an implicit flag, `keeps_expired`:
    what is said above about expired arms is not asked of it.

    Parameters
    ----------
    factory
        Makes a fresh agent from a seed.
    arrivals
        How many arms arrive; unless given, three windows.
    seed
        The seed of agents and streams.
    keeps_expired
        Whether expired arms may be kept.
    """
    agent = factory(seed)
    require(isinstance(agent, Agent), f"{type(agent).__name__} lacks some of the names of bestbefore.Agent")
    by_time = isinstance(agent.window, timedelta)
    for name in ("memory", "peak_memory", "pulls", *([] if by_time else ["window"])):
        value = getattr(agent, name)
        require(isinstance(value, (int, np.integer)), f"{name} must be a whole number, not {value!r}")
    arrivals = (60 if by_time else max(60, 3 * agent.window)) if arrivals is None else arrivals
    if not by_time and arrivals <= agent.window:
        raise ValueError(f"arrivals must be more than the window of {agent.window}, or nothing expires, not {arrivals}")

    def session(rewards: Rewards) -> Session:
        return Session(factory(seed), rewards, seed, keeps_expired)

    streams = REWARDS
    for rewards in streams:
        _check_memory(session(rewards), arrivals)
    for rewards in streams:
        one, two, three = (session(rewards) for _ in range(3))
        _check_same(one, two, arrivals)
        _check_restored(one, three, arrivals)
    _check_totals(session(unlike), session(unlike), arrivals)
    _check_end(session(random_rewards), arrivals)
    _check_bad_input(session(random_rewards), arrivals)
    if _is_budgeted(agent):
        check_late(session(random_rewards), arrivals)
    for verb, check in (("withdraw", check_withdraw), ("give_up", check_give_up), ("advance", check_advance)):
        if hasattr(agent, verb):
            check(session(random_rewards), arrivals)


def _check_memory(session: Session, arrivals: int) -> None:
    agent, most = session.agent, 0
    for _ in range(arrivals):
        session.step()
        stored = session.now_stored()
        most = max(most, len(stored))
        require(len(stored) <= agent.memory, f"{len(stored)} arms are stored in {agent.memory} slots")
        require(stored == sorted(stored, key=session.number), f"stored must be oldest first, not {stored}")
        for arm in stored:
            session.require_valid(arm, "stored has")
            require(arm not in session.let_go, f"{arm!r} was let go and is still stored")
        if (answer := session.call("best")) is not None:
            session.require_valid(answer, "best() returned")
    require(
        most <= agent.peak_memory <= agent.memory, f"peak_memory is {agent.peak_memory}, but {most} arms were stored"
    )
    session.require_pulls()
    expired = set() if session.keeps_expired else {arm for arm in session.numbers if not session.is_valid(arm)}
    missing = expired - session.let_go
    require(not missing, f"arrive() never returned {sorted(missing)}, which have expired")
    saved = saved_text(agent)
    traces = sorted(arm for arm in expired if arm in saved)
    require(not traces, f"the state still names {traces}, which have expired")


def _check_same(first: Session, second: Session, arrivals: int) -> None:
    for _ in range(arrivals):
        first.step()
        second.step()
        require(first.decisions == second.decisions, "the same seed makes other decisions")


def _check_restored(straight: Session, stopped: Session, arrivals: int) -> None:
    """Compare an agent that went straight on with one that is saved and restored after each arrival."""
    for number in range(arrivals):
        stopped.step()
        so_far = straight.decisions[: len(stopped.decisions)]
        require(so_far == stopped.decisions, f"restored after {number} arrivals, it decides otherwise")
        before = saved_text(stopped.agent)
        stopped.agent = called("from_state", partial(type(stopped.agent).from_state, _reordered(before)))
        require(isinstance(stopped.agent, Agent), f"from_state() must return an agent, not {stopped.agent!r}")
        same = json.loads(saved_text(stopped.agent)) == json.loads(before)
        require(same, "a restored agent has another state than the one that was saved")
    for name in ("pulls", "peak_memory"):
        once, now = getattr(straight.agent, name), getattr(stopped.agent, name)
        require(once == now, f"{name} is {now} in a restored agent, {once} in one that went straight on")


def _check_totals(at_once: Session, singly: Session, arrivals: int) -> None:
    """Tell rewards as totals; who said how many were wanted decides as one does who was told each of them."""
    for _ in range(arrivals):
        at_once.step(totals=True)
        at_once.require_pulls()
        if hasattr(singly.agent, "wanted"):
            singly.step(totals=False)
            same = at_once.decisions == singly.decisions
            require(same, "told as a total with pulls=k, k rewards that were wanted make other decisions than singly")


def _check_end(session: Session, arrivals: int) -> None:
    """Give the agent all that it asks for, as simulations do, until it wants no more, or its budget is spent."""
    for _ in range(arrivals):
        session.step()
    budgeted = _is_budgeted(session.agent)
    session.arrive(budget=session.FEW if budgeted else None)
    most = session.FEW if budgeted else MOST_PULLS
    session.at_once = MOST_PULLS
    for _ in range(most):
        if not session.pull(totals=True if hasattr(session.agent, "wanted") else None):
            return
        session.decisions.clear()
    what = f"its budget of {most}" if budgeted else f"{most} pulls at one arrival"
    require(session.call("ask") is None, f"ask() must return None at last, but went on after {what}")


def _check_bad_input(session: Session, arrivals: int) -> None:
    for _ in range(arrivals):
        session.step()
        known = (session.now_stored() or [session.name(session.arrived)])[-1]
        expired = [arm for arm in session.numbers if not session.is_valid(arm)]
        gone = expired[-1] if expired and not session.keeps_expired else session.name(0)
        session.require_refused(
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
        )


def _is_budgeted(agent: Any) -> bool:
    """Tell whether an agent is told a budget with each arrival."""
    return "budget" in inspect.signature(agent.arrive).parameters


def _reordered(text: str) -> Any:
    """Return a saved state with its keys in another order, as some databases would."""
    return json.loads(json.dumps(json.loads(text), sort_keys=True))
