"""Seeker: a live agent that finds the one arm that never expires."""

import math
from collections.abc import Callable, Hashable
from types import NoneType
from typing import Any, ClassVar, Self

import numpy as np

from bestbefore import rules
from bestbefore.agents import saved
from bestbefore.agents.keeper import Keeper, Known
from bestbefore.arguments import between, one_of, whole
from bestbefore.bounds import seek_tests
from bestbefore.keep.seek import let_expire, narrow, settle
from bestbefore.memory import Memory, count, drop, leader, put
from bestbefore.pull import highest, horizon_of
from bestbefore.pull.race import bar_of, confidence, goes_on, rivals_after

RUNNING, TICKING, FINISHED = "running", "ticking", "finished"
ASKED, TOLD = "asked", "told"


class Seeker(Keeper):
    """Seek the best arm of a whole stream, which alone never expires: all others do, `window` arrivals later.

    With an *explicit* flag it can be known which arms outlive their window: `valid` is asked, or `learn` tells.  An arm
    of which nobody has said by the next arrival that it is still valid has expired, and is let go.  The arm that
    outlives its window is the best of all: from then on it alone is pulled.  With an *implicit* flag nobody knows; any
    arm that is stored can be pulled, and to pull one that has expired costs as much as the best arm could ever earn.

    Parameters
    ----------
    window
        W: all arms but the best expire W arrivals after their own.
    memory
        Slots; the newest arrival takes none until the next.  With an explicit flag W slots are enough to lose nothing.
    flag
        "explicit" or "implicit".
    seed
        A seed or a generator, for the sample that "wait" keeps in fewer than W slots.
    strategy
        Explicit: "wait" (pull nothing until a flag tells), "rank" (test each arm by a fixed number of pulls, keep the
        best) or "race" (test each only as long as it could be the best); unless given, "wait" with W slots and "race"
        with fewer.  Implicit: "stay" (play valid arms only), "hope" (commit to the best ever seen) or "weigh" (do what
        risks less), which is the default.
    valid
        A function of an arm that says whether it is still valid, for an explicit flag.  It is asked within `arrive` and
        `tick`, of the time that begins with them: an arm that goes when a new one comes is not valid any more.
    budget, arms
        All pulls, and how many arms will arrive, if known: how much is tested depends on them.
    tests
        By how many pulls an arriving arm is tested, at most; unless given, as `bestbefore.bounds.seek_tests` says where
        budget and arms are known, else 100, and 10 for "rank".
    pull, delta
        The index rule that spends the rest on what is stored when time ends and no flag has told, and its confidence.
    sigma
        Rewards are sigma-sub-Gaussian, any finite number; unless given, they lie in [0, 1].

    Example
    -------
    >>> evergreen = {"avatar"}
    >>> seeker = Seeker(window=2, memory=2, valid=lambda arm: arm in evergreen)
    >>> for arm in ("avatar", "b", "c", "d"):
    ...     gone = seeker.arrive(arm)
    ...     print(arm, seeker.found, seeker.ask(), gone)
    avatar None None []
    b None None []
    c avatar avatar ['b']
    d avatar avatar ['c']

    References
    ----------
    Braverman, Wang, Wang and Zhou, "Online learning with recency: algorithms for sliding-window streaming multi-armed
    bandits": appendix "Regret minimization with an everlasting best arm".
    """

    _fields: ClassVar = {
        "champion": int,
        "rivals": float,
        "ticks": int,
        "phase": str,
        "began": (int, NoneType),
        "flags": str,
    }
    _keeps_expired = True

    def __init__(
        self,
        window: int = 100,
        memory: int = 100,
        flag: str = "explicit",
        seed: int | np.random.Generator | None = None,
        *,
        strategy: str | None = None,
        valid: Callable[[Any], bool] | None = None,
        budget: int | None = None,
        arms: int | None = None,
        tests: int | None = None,
        pull: str = "moss",
        delta: float = 0.01,
        sigma: float | None = None,
    ) -> None:
        arguments = saved.arguments_of(
            window=window,
            memory=memory,
            flag=flag,
            strategy=strategy,
            budget=budget,
            arms=arms,
            tests=tests,
            pull=pull,
            delta=delta,
            sigma=sigma,
        )
        super().__init__(arguments, window, memory, sigma, seed, pending=1)
        self.flag = one_of("flag", flag, rules.STRATEGIES_OF_FLAG)
        if strategy is None:
            strategy = "weigh" if flag == "implicit" else "wait" if self.slots >= self.window else "race"
        self.strategy = one_of("strategy", strategy, rules.STRATEGIES_OF_FLAG[flag])
        if valid is not None and (flag == "implicit" or not callable(valid)):
            raise ValueError(f"valid must be a function of an arm, and only with flag='explicit', not {valid!r}")
        self.budget = None if budget is None else whole("budget", budget)
        self.arms = None if arms is None else whole("arms", arms)
        self.pull, self.delta = one_of("pull", pull, rules.INDEXED), between("delta", delta, 0, 1)
        if tests is not None:
            self.tests = whole("tests", tests)
        elif self.budget is not None and self.arms is not None:
            self.tests = seek_tests(self.budget, self.arms, self.strategy)
        else:
            self.tests = 10 if self.strategy == "rank" else 100
        self._valid, self._flags = valid, TOLD if valid is None else ASKED
        self._code, self._log = rules.STRATEGY[self.strategy], confidence(self.tests)
        self._champion = self._ticks = 0
        self._rivals = 0.0  # how many arms may be as good as the leader
        self._phase = RUNNING
        self._began: int | None = None  # how many pulls there were when the rest began to be spent

    @property
    def _rule(self) -> str:
        return self.strategy

    @property
    def arrivals(self) -> int:
        """How many arms have arrived; right after `arrive` it is the number of that arm."""
        return self._roster.now - self._ticks

    @property
    def found(self) -> Any:
        """The arm that is known to be the best of all, since it has outlived its window, or None."""
        return self._roster.name(self._champion) if self._champion else None

    @property
    def overdue(self) -> list[Any]:
        """The arms whose window is over, of which nobody has said yet whether they are still valid; oldest first."""
        return [self._roster.name(number) for number in self._overdue()]

    @property
    def left(self) -> int | None:
        """The pulls left of the budget, or None where there is none to keep to."""
        return None if self.budget is None else max(self.budget - self._pulls - sum(self._in_flight.values()), 0)

    def arrive(self, arm: Hashable) -> list[Any]:
        """Let a new arm arrive; return the arms that memory let go since the last arrival, so that the caller may too.

        Arms that are overdue since the last arrival, and of which nobody has said that they are valid, are among them.
        """
        if self._phase != RUNNING:
            raise ValueError(f"arm {arm!r} came too late: the stream has ended with finish()")
        self._roster.check_new(arm)
        flags = self._ask_flags(self._at_their_end())
        self._settle(flags)
        self._tests[self._roster.arrive(arm)] = Known(0, 0.0, self.tests)
        self._pass_time(flags)
        return self._roster.handed_out()

    def tick(self) -> list[Any]:
        """Let time go on by one step after the last arrival; return the arms that memory let go."""
        if self._phase != TICKING:
            raise ValueError("tick() must come after finish(time='goes on'), and not after time has stopped")
        flags = self._ask_flags(self._at_their_end())
        self._settle(flags)
        self._ticks += 1
        self._roster.pass_time()
        self._pass_time(flags)
        return self._roster.handed_out()

    def finish(self, time: str = "stops") -> list[Any]:
        """End the stream: no arm will arrive any more; return the arms that memory let go.

        Where time "stops" with it, what is left is spent on what is stored.  Where it "goes on", by `tick`, all arms
        but the best will expire: the rest is spent once the best is known, or the leader stands to be lost.
        """
        one_of("time", time, rules.CLOCKS)
        self._settle(self._ask_flags(self._overdue()))
        self._phase = TICKING if time == "goes on" and self._phase != FINISHED else FINISHED
        if self._phase == FINISHED:
            self._narrow()
        return self._roster.handed_out()

    def learn(self, arm: Hashable, valid: bool) -> list[Any]:
        """Learn whether an arm is valid at this time; return the arms that memory let go, so that the caller may too.

        Any arm that is not is let go, within its window or after it.  One that is valid after its window is the best of
        all.  Within its window every arm is valid, so that to hear it says nothing.
        """
        if self.flag == "implicit":
            raise ValueError("learn needs a Seeker with flag='explicit': with an implicit flag nobody can know")
        if not isinstance(valid, (bool, np.bool_)):
            raise ValueError(f"valid must be True or False, not {valid!r}")
        number = self._roster.number(arm)
        if not valid:
            self._let_go(number)
        elif number < self._roster.oldest:
            self._champion = number
        self._forget()
        return self._roster.handed_out()

    def ask(self) -> Any:
        """Return the arm to pull next, or None when nothing is to be pulled before the next arrival or tick.

        Each call counts as a pull under way.  An arm that is overdue is not asked for before its flag is told.
        """
        number = 0 if self.left == 0 else self._champion or self._next()
        return self._asked(number) if number else None

    def tell(self, arm: Hashable, reward: float, pulls: int = 1, *, arrival: int | None = None) -> None:
        """Take a reward of an arm, or the total of `pulls` rewards, whenever it comes back, in any order.

        An arm that is not in memory raises `UnknownArm`; see `Explorer.tell` for `arrival`.
        """
        number, pulls, total = self._heard(arm, reward, pulls, arrival)
        more = self._known_with(number, pulls, total)
        self._told(number, pulls)
        if number in self._tests:
            self._tests[number] = more
        else:
            put(self._memory, self._slot(number), number, more.pulls, more.total)

    def best(self) -> Any:
        """Return the best arm if it is known, else the one of the highest empirical mean, of equals the newest.

        None when no arm is here; with an explicit flag never one that is overdue.
        """
        overdue = set(self._overdue())
        here = [number for number in self._here() if number not in overdue]
        number = self._champion or max(here, key=lambda one: (self._mean(one), one), default=0)
        return self._roster.name(number) if number else None

    @classmethod
    def from_state(cls, state: dict[str, Any], valid: Callable[[Any], bool] | None = None) -> Self:
        """Make a seeker that goes on exactly where the one that gave `state` stood.

        `valid` is not saved: a seeker that had one needs it again.
        """
        return cls._restored(state, valid=valid)

    def _restore(self, fields: dict[str, Any]) -> None:
        now = self._flags
        super()._restore(fields)
        if self._flags not in (ASKED, TOLD):
            raise ValueError(f"state is damaged: flags cannot be {self._flags!r}")
        if self._flags == ASKED and now == TOLD:
            raise ValueError("valid must be given again: the seeker that was saved asked it, and nobody else tells")
        self._flags = now
        if self._phase not in (RUNNING, TICKING, FINISHED) or (self._tests and self._phase != RUNNING):
            raise ValueError(f"state is damaged: phase cannot be {self._phase!r}")
        if self._rivals < 0 or self._ticks > self._roster.now:
            raise ValueError(f"state is damaged: rivals cannot be {self._rivals}, nor ticks {self._ticks}")
        if self._tests and self._roster.now not in self._tests:
            raise ValueError("state is damaged: the arm under test is not the newest")
        found = self._champion
        if found and (self.flag == "implicit" or found not in self._memory.arrival or found >= self._roster.oldest):
            raise ValueError(
                f"state is damaged: the arm found, of arrival {found}, is not stored or not past its window"
            )

    def _pulls_of(self, number: int) -> int:
        return self.tests

    def _here(self) -> list[int]:
        """Return the numbers of all arms that are here, the newest last."""
        stored = sorted(self._memory.arrival[self._memory.arrival > 0].tolist())
        return [*stored, *self._tests]

    def _mean(self, number: int) -> float:
        pulls, total, _ = self._known(number)
        return total / pulls if pulls else -math.inf

    def _overdue(self) -> list[int]:
        """Return the arms that wait for their flag."""
        if self.flag == "implicit":
            return []
        return [number for number in self._here() if number < self._roster.oldest and number != self._champion]

    def _at_their_end(self) -> list[int]:
        """Return the arms whose windows will be over with the next step of time."""
        return [number for number in self._here() if number <= self._roster.oldest]

    def _ask_flags(self, numbers: list[int]) -> dict[int, bool]:
        """Ask whether these arms are valid, before anything is changed."""
        if self._valid is None:
            return {}
        return {number: bool(self._valid(self._roster.name(number))) for number in numbers}

    def _pass_time(self, flags: dict[int, bool]) -> None:
        """Let arms expire, or be found, now that it is one later."""
        if self.flag == "implicit":
            let_expire(self._code, self._memory, self._roster.oldest)
        else:
            for number in self._overdue():
                if flags.get(number, False):
                    self._champion = number
                elif number in flags:
                    self._let_go(number)
            if self._champion and not flags.get(self._champion, True):
                self._let_go(self._champion)
        self._forget()

    def _settle(self, flags: dict[int, bool]) -> None:
        """Decide whether the arm at hand is stored; whoever is overdue and silent makes room for it."""
        for number in self._overdue():
            if flags.get(number, False):
                self._champion = number
            else:
                self._let_go(number)
        if self._champion:
            self._tests.clear()
        if self._tests:
            number, (pulls, total, _) = self._tests.popitem()
            sigma = self.sigma or 0.0
            if self._code == rules.WEIGH:
                self._rivals = rivals_after(self._memory, pulls, total, self._rivals, sigma)
            sampled = self._code == rules.WAIT and self.slots < self.window
            luck = self._luck.random() if sampled else 0.0
            settle(self._code, self._memory, number, pulls, total, self.window, luck)
        self._forget()

    def _let_go(self, number: int) -> None:
        """Drop an arm, wherever it is."""
        if number in self._tests:
            del self._tests[number]
        else:
            drop(self._memory, self._slot(number))
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
        horizon = horizon_of(budget, count(memory), self.delta, 1, self.sigma or 0.0)
        slot = highest(rules.PULL[self.pull], memory, horizon)
        return int(memory.arrival[slot]) if slot >= 0 else 0

    def _tests_on(self, number: int) -> bool:
        """Say whether an arm is to be tested by one more pull."""
        if self._code == rules.WAIT:
            return False
        pulls, total, most = self._tests[number]
        under_way = self._in_flight.get(number, 0)
        total += under_way * (total / pulls if pulls else 0.5)  # as if they had returned what is usual
        pulls += under_way
        if self._code == rules.RANK:
            return pulls < most
        sigma = self.sigma or 0.0
        return bool(goes_on(pulls, total, *bar_of(self._memory, self._log, sigma), most, self._log, sigma))

    def _is_last_call(self) -> bool:
        """Say whether the leader would be out of its window with the next tick: to wait longer would risk it."""
        memory = self._pullable()
        slot = leader(memory)
        return self.flag == "implicit" or (slot >= 0 and memory.arrival[slot] <= self._roster.oldest)

    def _narrow(self) -> None:
        """Choose the arms that what is left is spent on."""
        if self.flag == "implicit":
            narrow(self._code, self._memory, self._roster.oldest, self._rivals)
        self._began = self._pulls if self._began is None else self._began
        self._forget()

    def _pullable(self) -> Memory:
        """Return the slots without arms overdue, and as if pulls under way had returned."""
        return self._foreseen(self._in_flight, without=self._overdue())
