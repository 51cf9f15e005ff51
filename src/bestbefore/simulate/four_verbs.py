"""Any agent with the four verbs, run on a simulated stream by the plain loop that a person's program would have."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from bestbefore.arguments import whole
from bestbefore.simulate.oracle import empty_queue, next_best, no_errors, record, summary, with_room
from bestbefore.simulate.rewards import total_of
from bestbefore.simulate.seeds import Generators
from bestbefore.simulate.table import Row
from bestbefore.streams import Arms, Stream

Factory = Callable[..., Any]
"""Makes an agent: called with the keywords `window`, `memory` and `seed`, a generator."""

EXPLORES = ("arrive", "ask", "tell", "best", "stored")
PLAYS = ("arrive", "ask", "tell", "stored")
SEEKS = ("arrive", "ask", "tell", "finish", "peak_memory")
FLAGGED = ("overdue", "learn")  # with an explicit flag
TICKED = ("tick",)  # where time goes on after the last arrival


def explore_by_verbs(
    factory: Factory,
    stream: Stream,
    window: int,
    slots: int,
    epsilon: float,
    generators: Generators,
    stop: threading.Event,
) -> Row:
    """Run an agent once, and measure the same columns as the compiled loop does.

    Arms are called by the number of their arrival.  An agent that can say how many rewards of an arm it `wanted` gets
    them as one total.
    """
    arms_rng, rewards, luck = generators
    agent = _made(factory, "explore", EXPLORES, window=window, memory=slots, seed=luck)
    valid: dict[int, tuple[Arms, int]] = {}
    queue, errors = empty_queue(0), no_errors(stream.length)
    now = pulls = peak = 0
    for arms in stream.blocks(arms_rng):
        queue = with_room(queue, arms.means.size)
        for row in range(arms.means.size):
            now += 1
            valid[now] = arms, row
            valid.pop(now - window, None)
            best = next_best(queue, arms.means[row], window)
            agent.arrive(now)
            while not stop.is_set() and (arm := agent.ask()) is not None:
                known = _valid(valid, arm, "asked for")
                wanted = whole("wanted", agent.wanted(arm)) if hasattr(agent, "wanted") else 1
                total = total_of(*known, wanted, rewards)
                if wanted == 1:
                    agent.tell(arm, total)
                else:
                    agent.tell(arm, total, pulls=wanted)
                pulls += wanted
            peak = max(peak, len(agent.stored))
            answer = agent.best()
            record(errors, best - (0.0 if answer is None else _mean(_valid(valid, answer, "answered with"))), epsilon)
            if stop.is_set():
                return {}
    return summary(errors) | {"epsilon": epsilon, "pulls": pulls, "peak_memory": peak}


def play_by_verbs(
    factory: Factory,
    stream: Stream,
    window: int,
    slots: int,
    budgets: npt.NDArray[np.int64],
    generators: Generators,
    stop: threading.Event,
) -> Row:
    """Let an agent play once, and measure the same columns as the compiled loop does.

    It is told the budget of each epoch with the arrival that begins it, and must ask for exactly so many pulls; before
    the first epoch arms arrive without one.
    """
    arms_rng, rewards, luck = generators
    agent = _made(factory, "regret", PLAYS, window=window, memory=slots, seed=luck)
    valid: dict[int, tuple[Arms, int]] = {}
    queue = empty_queue(0)
    regret, now, switches, peak, last = 0.0, 0, 0, 0, None
    for arms in stream.blocks(arms_rng):
        queue = with_room(queue, arms.means.size)
        for row in range(arms.means.size):
            now += 1
            valid[now] = arms, row
            valid.pop(now - window, None)
            best = next_best(queue, arms.means[row], window)
            budget = int(budgets[now - 1])
            agent.arrive(now, budget=budget)
            for pull in range(budget):
                if stop.is_set():
                    return {}
                if (arm := agent.ask()) is None:
                    raise ValueError(f"the agent stopped after {pull} of {budget} pulls in the epoch of arrival {now}")
                known = _valid(valid, arm, "asked for")
                regret += best - _mean(known)
                switches, last = switches + (arm != last), arm
                agent.tell(arm, total_of(*known, 1, rewards))
            peak = max(peak, len(agent.stored))
    return {"regret": regret, "pulls": int(budgets.sum()), "switches": switches, "peak_memory": peak}


def seek_by_verbs(
    factory: Factory,
    stream: Stream,
    window: int,
    slots: int,
    budget: int,
    best: tuple[int, float],
    explicit: bool,
    goes_on: bool,
    generators: Generators,
    stop: threading.Event,
) -> Row:
    """Let an agent seek the everlasting best arm once, and measure the same columns as the compiled loop does.

    `best` is the arrival and the mean of the best arm.  The agent is made with the keyword `budget`, too.  After each
    step of time it learns of all arms that are `overdue` whether they are valid; after the last arrival comes `finish`,
    and `tick` as long as time goes on.
    """
    arms_rng, rewards, luck = generators
    needed = SEEKS + (FLAGGED if explicit else ()) + (TICKED if goes_on else ())
    agent = _made(factory, "everlasting", needed, window=window, memory=slots, budget=budget, seed=luck)
    arrived: dict[int, tuple[Arms, int]] = {}
    now = pulls = tests = wasted = 0
    earned, found = 0.0, False

    def spend() -> None:
        nonlocal pulls, wasted, earned
        while pulls < budget and not stop.is_set() and (arm := agent.ask()) is not None:
            expired = arm <= now - window and arm != best[0]
            if explicit and expired:
                raise ValueError(f"the agent asked for arm {arm!r}, which has expired")
            known = _valid(arrived, arm, "asked for")
            agent.tell(arm, total_of(*known, 1, rewards))
            pulls, wasted = pulls + 1, wasted + expired
            earned += 0.0 if expired else _mean(known)

    def meet_flags() -> None:
        nonlocal found
        for arm in list(agent.overdue) if explicit else []:
            agent.learn(arm, valid=arm == best[0])
            found = found or arm == best[0]

    for arms in stream.blocks(arms_rng):
        for row in range(arms.means.size):
            now += 1
            arrived[now] = arms, row
            for arm in _let_go(agent.arrive(now)):
                arrived.pop(arm, None)
            meet_flags()
            if not found:
                spend()
                tests = pulls
    agent.finish("goes on" if goes_on else "stops")
    spend()
    while goes_on and pulls < budget and now < stream.length + window and not stop.is_set():
        now += 1
        agent.tick()
        meet_flags()
        spend()
    if pulls < budget and not stop.is_set():
        raise ValueError(f"the agent stopped after {pulls} of {budget} pulls")
    regret = max((pulls - wasted) * best[1] - earned + wasted, 0.0)
    counts = {"tests": tests, "wasted": wasted, "pulls": pulls, "peak_memory": agent.peak_memory}
    return {"regret": regret, "found": found} | counts


def _made(factory: Factory, simulation: str, needed: tuple[str, ...], **settings: Any) -> Any:
    """Make an agent, if it has all that a simulation will ask of it."""
    agent = factory(**settings)
    if missing := [name for name in needed if not hasattr(agent, name)]:
        raise ValueError(
            f"an agent for simulate.{simulation} must have {', '.join(needed)}, "
            f"but {type(agent).__name__} lacks {', '.join(missing)}"
        )
    return agent


def _let_go(arms: Any) -> list[Any]:
    if not isinstance(arms, (list, tuple)):
        raise ValueError(f"arrive must return a list of the arms that memory let go, not {arms!r}")
    return list(arms)


def _valid(valid: dict[int, tuple[Arms, int]], arm: Any, what: str) -> tuple[Arms, int]:
    if arm not in valid:
        raise ValueError(f"the agent {what} arm {arm!r}, which is not valid: it has expired, or never arrived")
    return valid[arm]


def _mean(known: tuple[Arms, int]) -> float:
    arms, row = known
    return float(arms.means[row])
