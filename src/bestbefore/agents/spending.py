"""How traffic is spent: what a player does between its verbs.

An arriving arm is given a slot by the keep rule, and the pull rule names the arms to pull.  Both know the slots as they
are foreseen, with the pulls that are under way: see `bestbefore.agents.under_way`.
"""

import math
from collections.abc import Callable
from types import NoneType
from typing import Any, ClassVar, Final

import numpy as np

from bestbefore import keep as keep_rules
from bestbefore.agents.base import BaseAgent
from bestbefore.agents.holding import Ints
from bestbefore.agents.under_way import ahead, behind, foreseen, under_test
from bestbefore.arguments import MOST, real
from bestbefore.memory import Memory, Moment, drop, expire, put
from bestbefore.own import jitted, watched
from bestbefore.plan import PlayPlan
from bestbefore.plan.defaults import LEARNT_EPOCHS
from bestbefore.pull import Horizon, choose, dispersion_of, highest, horizon_of, shade, youth_of
from bestbefore.pull.page import chances_of, drawn

DELAYS: Final = 5
"""The delay of rewards is learnt from about so many arms."""


class Spending(BaseAgent):
    """An agent that spends the budget of each epoch."""

    plan: PlayPlan
    carry: bool
    delta: float

    _fields: ClassVar = {
        "budget": (int, NoneType),
        "spent": int,
        "began": int,
        "pace": float,
        "epochs": int,
        "used": float,
        "delay": float,
        "delays": int,
        "youth": float,
        "dispersion": float,
    }
    _fields_of_an_arm: ClassVar = {"late": int, "loss": float, "odds": list, "shades": float}

    def _begin(self, plan: PlayPlan) -> None:
        """Begin before the first arrival."""
        self._began = 0  # the number of the first arrival
        self._own_keep = jitted("keep", plan.keep.own) if plan.keep.own else None
        self._own_pull = jitted("pull", plan.pull.own) if plan.pull.own else None
        self._tests_of_commit = plan.tests()
        self._budget: int | None = 0
        self._spent = 0  # of the budget of this epoch
        self._late: dict[int, int] = {}  # of the pulls in flight, those of earlier epochs
        self._losses = np.zeros(self.memory)  # estimated, of this epoch, for rules that know their odds
        self._odds: dict[int, list[float]] = {}  # of this epoch's pulls in flight
        self._chance: float | None = None  # of the last pull that was asked for
        self._pace, self._epochs = 0.0, 0  # pulls of an epoch as a rule, and how many epochs that is learnt from
        self._used = 1.0  # which part of a budget is spent as a rule
        self._delay, self._delays = 0.0, 0  # arrivals until an arm's first reward, and of how many arms
        self._youth = 1.0  # of this epoch's leader: see `youth_of`
        self._shades = np.zeros(self.memory)  # how far the rewards of each slot are from all or nothing
        self._dispersion = 1.0  # of the rewards known when this epoch began: see `dispersion_of`

    @property
    def draws(self) -> bool:
        """Whether `ask` draws the arm that it names; if not, that follows from what is known."""
        return not self.plan.pull.index

    @property
    def chance(self) -> float | None:
        """The probability with which the last `ask` of this object named its arm.

        It is None where nothing is drawn, where the rule does not know it, and for a page of `k` arms.
        """
        return self._chance

    @property
    def left(self) -> int | None:
        """The pulls left of this epoch's budget, or None where there is none to keep to."""
        return None if self._budget is None else max(self._budget - self._spent, 0)

    def _record(self, number: int, slot: int | None) -> dict[str, Any]:
        odds, late = self._odds.get(number, []), self._late.get(number, 0)
        more = {"late": late, "loss": self._losses[slot], "odds": odds, "shades": self._shades[slot]}
        return super()._record(number, slot) | more

    def _expire(self) -> None:
        expire(self._slots, self._clock.oldest)
        self._clear()

    def _withdraw(self, number: int) -> None:
        drop(self._slots, self._slot(number))
        self._clear()

    def _clear(self, newest: int = 0) -> None:
        """Forget what is noted of each slot where its arm is gone, or the newest has come in its place."""
        changed = (self._slots.arrival == 0) | (self._slots.arrival == newest)
        self._losses[changed] = self._shades[changed] = 0.0

    def _given_up(self, number: int, pulls: int) -> None:
        late = min(self._late.get(number, 0), pulls)
        fresh = pulls - late
        self._spent = max(self._spent - fresh, 0)
        self._take_off(number, late, fresh)

    def _take_off(self, number: int, late: int, fresh: int) -> None:
        """Count pulls as under way no more, by the epochs that they are of."""
        if late:
            self._late[number] -= late
            if not self._late[number]:
                del self._late[number]
        if number in self._odds:
            self._odds[number] = self._odds[number][fresh:]
            if not self._odds[number]:
                del self._odds[number]

    def _forget(self) -> None:
        super()._forget()
        for counts in (self._late, self._odds):
            for number in [number for number in counts if number not in self._counted]:
                del counts[number]

    def _restore(self, fields: dict[str, Any]) -> None:
        super()._restore(fields)
        for name, least, most in (
            ("pace", 0, MOST),
            ("delay", 0, MOST),
            ("used", 0, 1),
            ("youth", 1, MOST),
            ("dispersion", 0, 1),
        ):
            if not least <= fields[name] <= most:
                raise ValueError(f"state is damaged: {name} cannot be {fields[name]!r}")

    def _restore_arm(self, record: dict[str, Any]) -> None:
        super()._restore_arm(record)
        number, late, odds = record["arrival"], record["late"], record["odds"]
        fresh = record["in_flight"] - late
        if not all(isinstance(one, float) and 0 < one <= 1 for one in odds) or len(odds) > fresh:
            raise ValueError(f"state is damaged: odds of {record['arm']!r} do not fit its pulls in flight")
        if not 0 <= record["shades"] <= record["pulls"] * shade(0.5) * (1 + 1e-9):
            raise ValueError(f"state is damaged: shades of {record['arm']!r} cannot be {record['shades']!r}")
        self._losses[record["slot"]], self._shades[record["slot"]] = record["loss"], record["shades"]
        if late:
            self._late[number] = late
        if odds:
            self._odds[number] = list(odds)

    def _make_room(self, number: int) -> None:
        """Let the keep rule find a slot for an arriving arm; arms under test stay, in up to two thirds of the slots.

        Where more are under test, it takes the place of one that has done worse so far than is expected of a newcomer.
        If there is none, the arriving arm is passed over: each of them would be tested in vain otherwise.
        """
        coin = self._rng.random() if self.plan.keep.draws else 0.0
        moment = Moment(self._clock.now, self.plan.window, self.arrivals, 0.0, coin)
        flights = self._flights()
        if not flights:
            self._admit(self._slots, number, moment)
            return
        under_way, slots = self._by_slot(flights), np.arange(self.memory)
        if self._slots.arrival.all():
            waiting = under_test(self._slots, under_way, self._ages(), self._usual_delay)
            free = ~waiting
            if 3 * np.count_nonzero(waiting) >= 2 * self.memory:
                free = waiting & behind(self._slots, self._noise)
                if not free.any():
                    return
            slots = np.flatnonzero(free)
        arrival, pulls, total = foreseen(self._slots, under_way, 1.0, self._noise)
        seen, before = Memory(arrival[slots], pulls[slots], total[slots]), arrival[slots]
        self._admit(seen, number, moment)
        for place in np.flatnonzero(seen.arrival != before).tolist():
            put(self._slots, int(slots[place]), int(seen.arrival[place]), 0, 0.0)

    def _admit(self, memory: Memory, number: int, moment: Moment) -> None:
        """Let the keep rule decide on an arriving arm."""
        if self._own_keep:
            watched(self.plan.keep.name, self._own_keep, memory, number, 0, 0.0, moment)
            if not memory.arrival.any():
                raise ValueError(f"keep rule {self.plan.keep.name!r} must keep at least one arm that can be pulled")
        else:
            keep_rules.admit(self.plan.keep.number, memory, number, 0, 0.0, moment)

    def _learn_pace(self) -> None:
        """Learn from the epoch that is over how many pulls an epoch has: the last count most."""
        if self._began and self._budget != 0:
            self._epochs = min(self._epochs + 1, LEARNT_EPOCHS)
            self._pace += (self._spent - self._pace) / self._epochs
            if self._budget is not None:
                self._used += (min(self._spent / self._budget, 1.0) - self._used) / self._epochs

    def _look_ahead(self) -> None:
        """Take note of how young the leader is and how noisy rewards are, as an epoch begins."""
        self._dispersion = dispersion_of(self._slots, self._shades)
        self._youth = youth_of(self._slots, self._clock.now, self.plan.window, self._noise)

    def _between(self, total: float) -> float:
        """Return how little the sum of r (1 - r) can be for rewards of this total: where all but one are 0 or 1.

        So rewards are not taken to vary less than they do.  It is 0 where they have no bounds.
        """
        return shade(total % 1.0) if self._noise.bounded else 0.0

    def _learn_delay(self, number: int) -> None:
        """Learn from an arm's first reward how many arrivals one takes to come."""
        self._delays = min(self._delays + 1, DELAYS)
        self._delay += (self._age(number) - self._delay) / self._delays

    @property
    def _traffic(self) -> int:
        """T, the pulls of this epoch: as many as were told, less what is never spent; or those of an epoch so far."""
        if self._budget is None:
            return max(math.ceil(self._pace), self._spent + 1)
        return min(max(math.ceil(self._budget * self._used), self._spent + 1), self._budget)

    @property
    def _usual_delay(self) -> float:
        """How many arrivals a reward takes to come; infinite while that is not known."""
        return self._delay if self._delays else math.inf

    def _age(self, number: int) -> int:
        """Return how many arms have arrived after one that is here."""
        return self._count_for_shares() - self._counted[number]

    def _ages(self) -> Ints:
        """Return how many arms have arrived after each one stored, by slot."""
        ages: Ints = self._count_for_shares() - self._by_slot(self._counted)
        return ages

    def _choose(self, places: int) -> list[tuple[int, float]]:
        """Return the slots that the pull rule would pull next, and the odds of each choice, 0 if they are not known."""
        budget, memory = self._traffic, self._slots
        stored = int(np.count_nonzero(memory.arrival))
        if flights := self._flights():
            by_slot, share = self._by_slot(flights), budget / stored
            memory = ahead(memory, by_slot, self._ages(), self._usual_delay, share, places, self._noise)
        if not self.plan.pull.index:
            return self._drawn(memory, places)
        known = self._noise, self._youth, self._dispersion
        horizon = horizon_of(budget, stored, self.delta, self._tests_of_commit, *known)
        if self._budget is None:  # nothing caps the tests of commit
            horizon = horizon._replace(tests=self._tests_of_commit)
        chosen: list[int] = []
        for _ in range(places):
            others = _without(memory, chosen)
            if self._own_pull:
                chosen.append(_highest(self._own_pull, others, horizon))
            else:
                chosen.append(int(highest(self.plan.pull.number, others, horizon)))
        return [(slot, 0.0) for slot in chosen]

    def _drawn(self, memory: Memory, places: int) -> list[tuple[int, float]]:
        """Return slots by a rule that draws, with their odds."""
        odds, chosen = np.zeros(self.memory), list[tuple[int, float]]()
        while len(chosen) < places:
            others = _without(memory, [slot for slot, _ in chosen])
            losses = np.where(others.arrival > 0, self._losses, np.inf)
            slot, own = choose(self.plan.pull.number, others, losses, odds, self._spent + 1, self._noise, self._rng)
            if self.plan.pull.odds and places > 1:  # all at once, by the odds that `choose` has filled in
                chances = chances_of(odds, places)
                return [(one, float(chances[one])) for one in drawn(chances, self._rng.random())]
            chosen.append((int(slot), float(own)))
        return chosen

    def _flights(self) -> dict[int, int]:
        """Return the pulls under way that count, of each arm: those of this epoch, where nothing is carried over."""
        if self.carry or not self._late:
            return self._in_flight
        fresh = {number: pulls - self._late.get(number, 0) for number, pulls in self._in_flight.items()}
        return {number: pulls for number, pulls in fresh.items() if pulls}


def _without(memory: Memory, slots: list[int]) -> Memory:
    """Return the slots as if some were empty."""
    if not slots:
        return memory
    arrival = memory.arrival.copy()
    arrival[slots] = 0
    return memory._replace(arrival=arrival)


def _highest(own: Callable[..., float], memory: Memory, horizon: Horizon) -> int:
    """Return the slot of the highest index by a user's own rule; of equals, the newest."""

    def height(slot: int) -> tuple[float, int]:
        pulls, total = float(memory.pulls[slot]), float(memory.total[slot])
        found = real(own(pulls, total, horizon)) if pulls else np.inf
        if np.isnan(found):
            raise ValueError("pull rule must return a number, not NaN")
        return found, int(memory.arrival[slot])

    return max(np.flatnonzero(memory.arrival).tolist(), key=height)
