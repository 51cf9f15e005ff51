"""Any agent with the four verbs, driven through a simulated stream by a plain loop.

Arms are called by the numbers of their arrivals, counted from 1.  If the window is by time, an arm
arrives with `arrive(arm, at=seconds)`.  The columns measured are those of the compiled
loops.  Rewards come from tapes (`bestbefore.simulate.tape`), and memory is enforced
(`bestbefore.simulate.account`).
"""

import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bestbefore.arguments import whole
from bestbefore.simulate.account import Account
from bestbefore.simulate.made import Factory, Setting, made
from bestbefore.simulate.oracle import best_of_block, empty_queue, no_errors, record_block, summary, with_room
from bestbefore.simulate.ranks import Ranks, next_means, no_ranks, take
from bestbefore.simulate.ranks import summary as summary_of_ranks
from bestbefore.simulate.ranks import with_room as with_room_of_ranks
from bestbefore.simulate.table import Row
from bestbefore.simulate.tape import Tapes

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

EXPLORES = ("arrive", "ask", "tell", "best", "stored")
PLAYS = ("arrive", "ask", "tell", "stored")
SEEKS = ("arrive", "ask", "tell", "finish", "stored")
FLAGGED = ("overdue", "learn")  # with an explicit flag
TICKED = ("tick",)  # where time goes on after the last arrival


@dataclass(frozen=True)
class Drive:
    """One run of an agent, here or in another process: `function` is one of those below."""

    function: Callable[..., Row]
    factory: Factory
    setting: Setting
    arguments: Mapping[str, Any]

    def __call__(self, stop: threading.Event) -> Row:
        """Make the run; `stop` ends it early, and its row is of no use then."""
        return self.function(self.factory, self.setting, **self.arguments, stop=stop)

    def to_send(self) -> "Drive":
        """Return the same run, as it can be sent to another process if the factory can."""
        return replace(self, setting=self.setting.written_out())


def drive_explore(
    factory: Factory,
    setting: Setting,
    epsilon: float,
    *,
    stop: threading.Event | None = None,
    answers: Ints | None = None,
    errors: Floats | None = None,
    gaps: Floats | None = None,
) -> Row:
    """Let an agent explore once; return the columns of `simulate.explore`.

    An agent that can say how many rewards of an arm it `wanted` gets them as one total.  One that
    cannot say its `gap`, or whether its answer is `certified`, promises nothing.  `answers` (arrivals,
    0 for none), `errors` and `gaps` are filled, time by time, if given.  Where the best k are
    answered, the agent is asked for `best(k)`, a list, and answers and errors have a column for each.
    """
    stop = stop or threading.Event()
    agent = made(factory, "explore", EXPLORES, setting.filled(factory))
    account, tapes = Account(agent, setting.slots_of(agent), setting.window), Tapes(setting.seed, setting.run)
    wanted_of = getattr(agent, "wanted", None)
    queue, measured = empty_queue(0), no_errors(setting.stream.length)
    top = int(setting.told.get("top", 1))
    ranks = no_ranks(top)
    if top > 1 and answers is not None and errors is not None:
        ranks, answers, errors = ranks._replace(answers=answers, errors=errors), None, None
    now = pulls = certified = 0
    each_gap: list[float] = []
    for arms, arrivals in setting.clocked():
        queue, ranks = with_room(queue, arms.means.size), with_room_of_ranks(ranks, arms.means.size)
        lost, start = best_of_block(queue, arms, setting.window).tolist(), now
        for tape, (now, expired, at) in zip(tapes.of_block(arms), arrivals, strict=True):
            account.arrive(now, tape)
            account.expire_until(expired)
            agent.arrive(now, **at)
            account.look()
            while (arm := agent.ask()) is not None and not stop.is_set():
                if (pulled := account.tape(arm)) is None:
                    account.refuse("asked for", arm)
                wanted = 1 if wanted_of is None else whole("wanted", wanted_of(arm))
                if wanted == 1:
                    agent.tell(arm, pulled.one())
                else:
                    agent.tell(arm, pulled.total(wanted), pulls=wanted)
                pulls += wanted
            account.look()
            if (answer := agent.best()) is not None:
                if (named := account.tape(answer)) is None:
                    account.refuse("answered with", answer)
                lost[now - start - 1] -= named.mean
            if answers is not None:
                answers[now - 1] = answer or 0
            if top > 1:
                next_means(ranks, now, tape.mean, expired + 1)
                _take_ranks(ranks, agent.best(top), account, epsilon)
            each_gap.append(float(getattr(agent, "gap", 1.0)))
            certified += bool(getattr(agent, "certified", False))
            if stop.is_set():
                return {}
        record_block(measured, np.array(lost), epsilon)
        if errors is not None:
            errors[start:now] = lost
    counts = {"epsilon": epsilon, "pulls": pulls, "peak_memory": account.peak}
    if gaps is not None:
        gaps[:now] = each_gap
    shares = {"gap": math.fsum(each_gap) / max(now, 1), "certified": certified / max(now, 1)}
    found = summary(measured) | (summary_of_ranks(ranks) if top > 1 else {})
    return {"memory": setting.slots_of(agent)} | found | counts | shares


def _take_ranks(ranks: Ranks, named: Any, account: Account, epsilon: float) -> None:
    """Take the best k of an agent, if they are k different arms that it may name, or fewer."""
    places = ranks.best.size
    if not isinstance(named, list) or len(named) > places or len(set(named)) < len(named):
        raise ValueError(f"best({places}) must return a list of up to {places} different arms, not {named!r}")
    answers, means = np.zeros(places, np.int64), np.zeros(places)
    for rank, arm in enumerate(named):
        if (tape := account.tape(arm)) is None:
            account.refuse("answered with", arm)
        answers[rank], means[rank] = arm, tape.mean
    take(ranks, answers, means, epsilon)


def drive_play(
    factory: Factory,
    setting: Setting,
    budgets: Ints,
    first: int = 1,
    *,
    stop: threading.Event | None = None,
    regrets: Floats | None = None,
) -> Row:
    """Let an agent play once; return the columns of `simulate.play`.

    It is told the budget of each epoch with the arrival that begins it, and must ask for exactly so
    many pulls; arms that arrive before number `first`, which begins the first epoch, have none.  If
    all epochs have the same budget, an agent that is made with a `budget` knows it from the start.
    `regrets`, of each arrival, are filled if given.
    """
    stop = stop or threading.Event()
    equal = np.unique(budgets[first - 1 :])
    budget_of_all = int(equal[0]) if equal.size == 1 else None
    agent = made(factory, "play", PLAYS, setting.filled(factory, budget=budget_of_all))
    account, tapes = Account(agent, setting.slots_of(agent), setting.window), Tapes(setting.seed, setting.run)
    queue, each = empty_queue(0), budgets.tolist()
    regret, switches, last = 0.0, 0, None
    for arms, arrivals in setting.clocked():
        queue = with_room(queue, arms.means.size)
        best = best_of_block(queue, arms, setting.window).tolist()
        for tape, best_mean, (now, expired, at) in zip(tapes.of_block(arms), best, arrivals, strict=True):
            account.arrive(now, tape)
            account.expire_until(expired)
            budget, before = each[now - 1], regret
            agent.arrive(now, budget=budget, **at)
            account.look()
            for pull in range(budget):
                if stop.is_set():
                    return {}
                if (arm := agent.ask()) is None:
                    who = type(agent).__name__
                    raise ValueError(
                        f"the agent {who} stopped after {pull} of {budget} pulls in the epoch of arrival {now}"
                    )
                if (pulled := account.tape(arm)) is None:
                    account.refuse("asked for", arm)
                regret += best_mean - pulled.mean
                if arm != last:
                    switches, last = switches + 1, arm
                agent.tell(arm, pulled.one())
            account.look()
            if regrets is not None:
                regrets[now - 1] = regret - before
        if stop.is_set():
            return {}
    counts = {"pulls": sum(each), "switches": switches, "peak_memory": account.peak}
    return {"memory": setting.slots_of(agent), "regret": regret} | counts


def drive_seek(
    factory: Factory,
    setting: Setting,
    budget: int,
    best: tuple[int, float],
    explicit: bool,
    goes_on: bool,
    *,
    stop: threading.Event | None = None,
) -> Row:
    """Let an agent seek the everlasting best arm once; return the columns of `simulate.seek`.

    `best` is the arrival and the mean of the best arm.  After each step of time the agent learns of
    all arms that are `overdue` whether they are valid; after the last arrival comes `finish`, and
    `tick` as long as time goes on.

    With an explicit flag an expired arm cannot be stored once its flag was told.  With an implicit
    one nobody says which arms have expired, and they can be stored and pulled.
    """
    return _Seek(factory, setting, budget, best, explicit, goes_on, stop or threading.Event()).run()


class _Seek:
    """A run of an agent that seeks, and what was measured so far."""

    def __init__(
        self,
        factory: Factory,
        setting: Setting,
        budget: int,
        best: tuple[int, float],
        explicit: bool,
        goes_on: bool,
        stop: threading.Event,
    ) -> None:
        needed = SEEKS + (FLAGGED if explicit else ()) + (TICKED if goes_on else ())
        self.agent = made(factory, "seek", needed, setting.filled(factory, budget=budget), always=("budget",))
        self.setting, self.budget, self.explicit, self.goes_on, self.stop = setting, budget, explicit, goes_on, stop
        self.best, self.best_mean = best
        self.account = Account(self.agent, setting.slots_of(self.agent), setting.window)
        self.now = self.pulls = self.wasted = 0
        self.earned, self.found = 0.0, False

    def run(self) -> Row:
        """Let all arms arrive and all pulls be spent."""
        tapes, tests = Tapes(self.setting.seed, self.setting.run), 0
        for arms in self.setting.blocks():
            for tape in tapes.of_block(arms):
                self.now += 1
                self.account.arrive(self.now, tape)
                _let_go(self.agent.arrive(self.now))
                self.meet_flags()
                if not self.found:
                    self.spend()
                    tests = self.pulls
                if self.stop.is_set():
                    return {}
        self.agent.finish("goes on" if self.goes_on else "stops")
        self.account.look()
        self.spend()
        self.go_on()
        if self.stop.is_set():
            return {}
        if self.pulls < self.budget:
            who = type(self.agent).__name__
            raise ValueError(f"the agent {who} stopped after {self.pulls} of {self.budget} pulls")
        regret = max((self.pulls - self.wasted) * self.best_mean - self.earned + self.wasted, 0.0)
        counts = {"tests": tests, "wasted": self.wasted, "pulls": self.pulls, "peak_memory": self.account.peak}
        return {"regret": regret, "found": self.found} | counts

    def go_on(self) -> None:
        """Let time go on after the last arrival, until all arms but the best have expired."""
        end = self.setting.stream.length + self.setting.window
        while self.goes_on and self.pulls < self.budget and self.now < end and not self.stop.is_set():
            self.now += 1
            self.account.arrive(self.now, None)
            self.agent.tick()
            self.meet_flags()
            self.spend()

    def meet_flags(self) -> None:
        """Tell of arms that are overdue whether they are valid, and take back the one that has expired."""
        self.account.look()
        if not self.explicit:
            return
        for arm in list(self.agent.overdue):
            if self.account.tape(arm) is None:
                self.account.refuse("waits for the flag of", arm)
            if arm > self.now - self.setting.window:
                who, over = type(self.agent).__name__, self.now - self.setting.window
                raise ValueError(
                    f"at arrival {self.now} the agent {who} waits for the flag of arm {arm!r}, "
                    f"whose window is not over: overdue can be arms up to {over}"
                )
            self.agent.learn(arm, valid=arm == self.best)
            self.found = self.found or arm == self.best
        if self.now - self.setting.window != self.best:
            self.account.expire(self.now - self.setting.window)
        self.account.look()

    def spend(self) -> None:
        """Pull what the agent asks for, until it asks for nothing, or the budget is spent."""
        agent, account, stop = self.agent, self.account, self.stop
        expired_until, best = self.now - self.setting.window, self.best
        while self.pulls < self.budget and not stop.is_set() and (arm := agent.ask()) is not None:
            if (tape := account.tape(arm)) is None:
                account.refuse("asked for", arm)
            agent.tell(arm, tape.one())
            self.pulls += 1
            if arm <= expired_until and arm != best:
                self.wasted += 1
            else:
                self.earned += tape.mean
        account.look()


def _let_go(arms: Any) -> None:
    if not isinstance(arms, (list, tuple)):
        raise ValueError(f"arrive must return a list of the arms that memory let go, not {arms!r}")
