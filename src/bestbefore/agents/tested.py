"""Tests: what an explorer does between its verbs that tests each arm when it arrives.

An arm under test is settled, and handed to the keep rule, when it has all rewards that are wanted; or with those it
has, when one more arm arrives than may be pending, or its test has taken longer than `patience`.
"""

import math
from typing import Any, ClassVar, Final

from bestbefore import keep as keep_rules
from bestbefore.agents.base import BaseAgent
from bestbefore.agents.holding import Statistics
from bestbefore.memory import Moment, drop, expire, mean_of, put
from bestbefore.own import watched
from bestbefore.plan import ExplorePlan
from bestbefore.probe.challenge import Challenges
from bestbefore.probe.fixed import FixedTests

ROUNDING: Final = 1e-12
"""Two means that differ by less may differ only in the last digits of their sums."""


class Tested(BaseAgent):
    """An agent that tests arms, and lets a keep rule decide which ones it stores."""

    plan: ExplorePlan
    _probe: FixedTests | Challenges
    _own: Any  # the keep rule, if it is a user's own
    _irregular: int  # the newest arm whose mean does not rest on its test alone, as planned
    _withdrawn: list[int]  # the numbers of valid arms that were withdrawn, in whose favour others may have been dropped

    _fields: ClassVar = {"irregular": int, "withdrawn": list}

    def _begin_test(self, number: int) -> None:
        """Make room among the arms under test, and begin to test an arm."""
        while len(self._tests) >= self.plan.pending:
            self._settle(next(iter(self._tests)))
        self._tests[number] = Statistics(0, 0.0, self._tests_of(number))
        if not self._probe.begin(self._slots):
            self._settle(number)

    def _take(self, number: int, pulls: int, total: float, more: Statistics) -> None:
        """Count rewards; if a test is over with them, the keep rule decides."""
        under_test = number in self._tests
        self._told(number, pulls)
        if under_test:
            self._tests[number] = more
        else:
            self._update(number, more)
        self._probe.told(under_test, pulls, total)
        tested = number if under_test else next(iter(self._tests), 0)
        if tested and self._probe.is_over(*self._tests[tested][::2]):
            self._settle(tested)
        if number not in self._tests:
            self._forget()

    def _tests_of(self, number: int) -> int:
        return self.plan.tests_of(self._counted[number])

    def _wanted(self, number: int) -> int:
        """Return how many more rewards of an arm are wanted."""
        test = self._tests.get(number)
        return self._probe.wanted(test is not None, *(test[::2] if test else (0, 0)))

    def _next_test(self) -> int:
        """Return the number of the arm to pull next, or 0."""
        for number in [*self._probe.pulled_again(self._slots), *self._tests]:
            if self._wanted(number) > self._in_flight.get(number, 0):
                return number
        return 0

    def _waits_since(self) -> int:
        """Return the number before which an arm under test has waited too long for its rewards."""
        return 0 if self.plan.patience is None else self._clock.now - self.plan.patience + 1

    def _some_expired(self) -> bool:
        noted = [*self._counted, *self._withdrawn, *filter(None, [self._irregular])]
        oldest, since = self._clock.oldest, self._waits_since()
        return any(number < oldest for number in noted) or any(number < since for number in self._tests)

    def _expire(self) -> None:
        """Drop what is too old from the slots and from the arms under test; settle tests that take too long."""
        oldest = self._clock.oldest
        expire(self._slots, oldest)
        if self._irregular < oldest:
            self._irregular = 0
        self._withdrawn = [number for number in self._withdrawn if number >= oldest]
        for number in [number for number in self._tests if number < oldest]:
            del self._tests[number]
        self._probe.expired(self._slots)
        self._settle_decided()
        for number in [number for number in self._tests if number < self._waits_since()]:
            self._settle(number)

    def _settle_decided(self) -> None:
        """End a challenge whose king has gone: the challenger takes the throne."""
        for number in [number for number, test in self._tests.items() if self._probe.is_over(*test[::2])]:
            self._settle(number)

    def _settle(self, number: int) -> None:
        """End the test of an arm with the rewards that it has: the keep rule decides."""
        test = self._tests.pop(number)
        if test.pulls < test.wanted:
            self._irregular = max(self._irregular, number)
        if self._probe.passes(self._slots, test.pulls):
            self._admit(number, test)

    def _admit(self, number: int, test: Statistics, slack: float | None = None) -> None:
        slack = self.plan.slack if slack is None else slack
        rule, coin = self.plan.keep, self._rng.random() if self.plan.keep.draws else 0.0
        moment = Moment(self._clock.now, self.plan.window, self.arrivals, slack, coin, self.plan.ranks)
        if self._own:
            watched(rule.name, self._own, self._slots, number, test.pulls, test.total, moment)
        else:
            keep_rules.admit(rule.number, self._slots, number, test.pulls, test.total, moment)

    def _update(self, number: int, known: Statistics) -> None:
        """Count rewards for an arm that is stored already; where its place depends on its mean, place it anew."""
        self._irregular = max(self._irregular, number)
        if self.plan.keep.by_mean:
            drop(self._slots, self._slot(number))
            self._admit(number, known)
        else:
            put(self._slots, self._slot(number), number, known.pulls, known.total)

    def _test_ahead(self, slot: int) -> int:
        """Return the number of an arm under test that is sure to be ahead of the leader, in a slot or -1; or 0.

        Rewards that have not come yet count as 0.  Whatever they are, the arm's mean is not below that when its test is
        over: so what is promised of a leader is promised of this arm.  Where nothing is stored, any arm with rewards
        is better than none.
        """
        if slot >= 0 and not self._noise.bounded:
            return 0
        found, level = 0, mean_of(self._slots, slot) if slot >= 0 else -math.inf
        for number, (pulls, total, wanted) in self._tests.items():
            if pulls and total / max(wanted, pulls) > level + ROUNDING:
                found, level = number, total / max(wanted, pulls)
        return found

    def _drop_withdrawn(self, number: int) -> None:
        """Drop an arm that was withdrawn; take note if others may have been dropped in its favour."""
        if number in self._tests:
            del self._tests[number]
            self._probe.withdrawn(self._slots)
            return
        drop(self._slots, self._slot(number))
        self._probe.withdrawn(self._slots)
        self._settle_decided()
        if self.plan.keep.cells is not None:
            self._withdrawn.append(number)
