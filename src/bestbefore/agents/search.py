"""The search for the arm that never expires: what a seeker does between its verbs.

Arms arrive and are tested; those whose window is over wait for their flag, if there is one; who is known to have
outlived its window is the champion, and gets all that is left.
"""

import math
from collections.abc import Callable
from types import NoneType
from typing import Any, ClassVar

from bestbefore.agents.base import BaseAgent
from bestbefore.keep.everlasting import RANK, STAY, WAIT, WEIGH, let_expire, narrow, settle
from bestbefore.memory import Memory, Moment, count, drop, leader, put
from bestbefore.plan import SeekPlan
from bestbefore.probe.race import bar_of, confidence, goes_on, rivals_after
from bestbefore.pull import highest, horizon_of

RUNNING, TICKING, FINISHED = "running", "ticking", "finished"


class Search(BaseAgent):
    """An agent that seeks the best arm of a whole stream."""

    plan: SeekPlan
    flag: str
    budget: int | None
    tests: int
    delta: float
    _valid: Callable[[Any], bool] | None

    _fields: ClassVar = {
        "champion": int,
        "rivals": float,
        "phase": str,
        "began": (int, NoneType),
        "flags": str,
    }
    _keeps_expired = True

    def _begin(self, plan: SeekPlan) -> None:
        """Begin before the first arrival."""
        self._rule = plan.strategy.name
        self._code, self._log = plan.strategy.number, confidence(plan.tests)
        self._champion = 0
        self._rivals = 0.0  # how many arms may be as good as the leader
        self._phase = RUNNING
        self._began: int | None = None  # how many pulls there were when the rest began to be spent

    def _tests_of(self, number: int) -> int:
        return self.tests

    def _here(self) -> list[int]:
        """Return the numbers of all arms that are here, the newest last."""
        stored = sorted(self._slots.arrival[self._slots.arrival > 0].tolist())
        return [*stored, *self._tests]

    def _mean(self, number: int) -> float:
        pulls, total, _ = self._statistics(number)
        return total / pulls if pulls else -math.inf

    def _overdue(self) -> list[int]:
        """Return the arms that wait for their flag."""
        if self.flag == "implicit":
            return []
        return [number for number in self._over_at(self._clock.now) if number != self._champion]

    def _over_at(self, now: int) -> list[int]:
        """Return the arms whose windows are over at a time."""
        oldest = self._clock.oldest_at(now)
        return [number for number in self._here() if number < oldest]

    def _ask_flags(self, numbers: list[int]) -> dict[int, bool]:
        """Ask whether these arms are valid, before anything is changed."""
        if self._valid is None:
            return {}
        return {number: bool(self._valid(self._roster.name(number))) for number in numbers}

    def _pass_time(self, time: int) -> None:
        """Let time go on where nothing arrives; once the stream has ended, whoever is overdue and silent goes."""
        flags = self._ask_flags(self._over_at(time))
        if self._phase == TICKING:
            self._settle(flags)
        self._clock.advance(time)
        self._let_expire(flags)

    def _let_expire(self, flags: dict[int, bool]) -> None:
        """Let arms expire, or be found, now that it is later."""
        if self.flag == "implicit":
            let_expire(self._code, self._slots, self._clock.oldest)
            if self._code == STAY:
                self._tests = {number: test for number, test in self._tests.items() if number >= self._clock.oldest}
        else:
            for number in self._overdue():
                if flags.get(number, False):
                    self._crown(number)
                elif number in flags:
                    self._let_go(number)
            if self._champion and not flags.get(self._champion, True):
                self._let_go(self._champion)
        self._forget()

    def _settle(self, flags: dict[int, bool]) -> None:
        """Decide whether the arm at hand is stored; whoever is overdue and silent makes room for it."""
        for number in self._overdue():
            if flags.get(number, False):
                self._crown(number)
            else:
                self._let_go(number)
        if self._champion:
            self._tests.clear()
        if self._tests:
            number, (pulls, total, _) = self._tests.popitem()
            if self._code == WEIGH:
                self._rivals = rivals_after(self._slots, pulls, total, self._rivals, self._noise)
            sampled = self._code == WAIT and self.memory < self.plan.window
            coin = self._rng.random() if sampled else 0.0
            moment = Moment(self._clock.now, self.plan.window, self.arrivals, 0.0, coin)
            settle(self._code, self._slots, number, pulls, total, moment)
        self._forget()

    def _crown(self, number: int) -> None:
        """Take note that an arm has outlived its window; one that is still under test gets a slot, others need none."""
        self._champion = number
        if number in self._tests:
            pulls, total, _ = self._tests.pop(number)
            for slot in range(self._slots.arrival.size):
                drop(self._slots, slot)
            put(self._slots, 0, number, pulls, total)

    def _expires_by(self, time: int) -> bool:
        return True  # flags may be asked then, and whoever is overdue may go

    def _withdraw(self, number: int) -> None:
        self._let_go(number)

    def _let_go(self, number: int) -> None:
        """Drop an arm, wherever it is."""
        if number in self._tests:
            del self._tests[number]
        else:
            drop(self._slots, self._slot(number))
        if number == self._champion:
            self._champion = 0

    def _forget(self) -> None:
        """Let go of every arm that is not here, and of all but the best once that is found; leave no trace of them."""
        if self._champion:
            for number in self._here():
                if number != self._champion and number not in self._tests:
                    self._let_go(number)
        super()._forget()

    def _next(self) -> int:
        """Return the number of the arm to pull next while the best is not known, or 0."""
        if self._phase == RUNNING:
            number = next(iter(self._tests), 0)
            return number if number and self._tests_on(number) else 0
        if self._began is None and self._is_last_call():
            self._narrow()
        if self._began is None:
            return 0
        memory = self._pullable()
        budget = int(memory.pulls.sum()) + 1 if self.budget is None else self.budget - self._began
        horizon = horizon_of(budget, count(memory), self.delta, 1, self._noise)
        slot = highest(self.plan.pull.number, memory, horizon)
        return int(memory.arrival[slot]) if slot >= 0 else 0

    def _tests_on(self, number: int) -> bool:
        """Say whether an arm is to be tested by one more pull."""
        if self._code == WAIT:
            return False
        pulls, total, most = self._tests[number]
        under_way = self._in_flight.get(number, 0)
        total += under_way * (total / pulls if pulls else 0.5)  # as if they had returned what is usual
        pulls += under_way
        if self._code == RANK:
            return pulls < most
        bar, lead = bar_of(self._slots, self._log, self._noise)
        return bool(goes_on(pulls, total, bar, lead, most, self._log, self._noise))

    def _is_last_call(self) -> bool:
        """Say whether the leader would be out of its window with the next tick: to wait longer would risk it."""
        memory = self._pullable()
        slot = leader(memory)
        return self.flag == "implicit" or (slot >= 0 and memory.arrival[slot] <= self._clock.oldest)

    def _narrow(self) -> None:
        """Choose the arms that will get the remaining budget."""
        if self.flag == "implicit":
            narrow(self._code, self._slots, self._clock.oldest, self._rivals)
        self._began = self._pulls if self._began is None else self._began
        self._forget()

    def _pullable(self) -> Memory:
        """Return the slots without arms overdue, and as if pulls under way had returned."""
        return self._foreseen(self._in_flight, without=self._overdue())
