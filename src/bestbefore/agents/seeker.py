"""Seeker: a live agent that finds the one arm that never expires."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Self

import numpy as np

from bestbefore import plan, rules
from bestbefore.agents import saved
from bestbefore.agents.holding import Statistics
from bestbefore.agents.search import FINISHED, RUNNING, TICKING, Search
from bestbefore.arguments import one_of, whole
from bestbefore.clock import Length, When, Window
from bestbefore.memory import put
from bestbefore.plan import plan_seek
from bestbefore.scale import UNIT

ASKED, TOLD = "asked", "told"


class Seeker(Search):
    """Seek the best arm of a whole stream, which alone never expires: all others do, `window` arrivals later.

    With an *explicit* flag it can be known which arms outlive their window: `valid` is asked, or `learn` tells.  An arm
    of which nobody has said by the next arrival that it is still valid has expired, and is let go.  The arm that
    outlives its window is the best of all: from then on it alone is pulled.  With an *implicit* flag nobody knows; any
    arm that is stored can be pulled, and to pull one that has expired costs as much as the best arm could ever earn.

    Parameters
    ----------
    window
        All arms but the best expire W arrivals after their own, for a number W; or after a time such as "24h" or a
        timedelta.
    memory
        Slots, the window unless given; the newest arrival takes none until the next.  With an explicit flag W slots are
        enough to lose nothing.
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
    tolerance, scale
        See `Explorer`.

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

    def __init__(
        self,
        window: Length = plan.WINDOW,
        memory: int | None = None,
        flag: str = "explicit",
        seed: int | np.random.Generator | None = None,
        *,
        strategy: str | None = None,
        valid: Callable[[Any], bool] | None = None,
        budget: int | None = None,
        arms: int | None = None,
        tests: int | None = None,
        pull: str = plan.SEEK_PULL,
        delta: float = plan.PLAY_DELTA,
        sigma: float | None = None,
        tolerance: Length | None = None,
        scale: Sequence[float] = UNIT,
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
            scale=scale,
        )
        self.plan = made = plan_seek(**arguments)
        if valid is not None and (flag == "implicit" or not callable(valid)):
            raise ValueError(f"valid must be a function of an arm, and only with flag='explicit', not {valid!r}")
        arguments |= saved.arguments_of(tolerance=tolerance)
        super().__init__(arguments, Window(made.window, made.by_time), made.memory, made.noise, seed, pending=1)
        self.flag, self.strategy, self.pull = made.flag, made.strategy.name, made.pull.name
        self.budget, self.arms, self.tests, self.delta = made.budget, made.arms, made.tests, made.delta
        self._valid, self._flags = valid, TOLD if valid is None else ASKED
        self._begin(made)

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

    def arrive(self, arm: Hashable, *, at: When = None) -> list[Any]:
        """Let a new arm arrive; return the arms that memory let go, so that the caller can forget them too.

        Arms that are overdue since the last arrival, and of which nobody has said that they are valid, are among them.
        See `Explorer.arrive` for `at`.

        Parameters
        ----------
        arm
            The arm's name: any hashable but None.
        at
            When: an aware datetime or seconds with a window by time; a number on the stream's clock with a window by
            count.  Unless given, the wall clock's time, or the next number.
        """
        if self._phase != RUNNING:
            raise ValueError(f"arm {arm!r} came too late: the stream has ended with finish()")
        self._roster.check_new(arm)
        time = self._clock.arrival_at(at)
        flags = self._ask_flags(self._over_at(self._clock.number_at(time)))
        self._settle(flags)
        self._tests[self._enter(arm, time, at)] = Statistics(0, 0.0, self.tests)
        self._let_expire(flags)
        return self._roster.handed_out()

    def tick(self) -> list[Any]:
        """Let time go on by one step after the last arrival; return the arms that memory let go.

        It is for windows by count; by time, `advance` lets time go on.
        """
        if self._phase != TICKING:
            raise ValueError("tick() must come after finish(time='goes on'), and not after time has stopped")
        if self.plan.by_time:
            raise ValueError("tick() is for windows by count: with a window by time, advance(to) lets time go on")
        self._pass_time(self._clock.now + 1)
        return self._roster.handed_out()

    def finish(self, time: str = "stops") -> list[Any]:
        """End the stream: no arm will arrive any more; return the arms that memory let go.

        Where time "stops" with it, what is left is spent on what is stored.  Where it "goes on", by `tick`, all arms
        but the best will expire: the rest is spent once the best is known, or the leader stands to be lost.

        Parameters
        ----------
        time
            "stops", or "goes on" by `tick`.
        """
        one_of("time", time, rules.CLOCKS)
        self._settle(self._ask_flags(self._overdue()))
        self._phase = TICKING if time == "goes on" and self._phase != FINISHED else FINISHED
        if self._phase == FINISHED:
            self._narrow()
        return self._roster.handed_out()

    def learn(self, arm: Hashable, valid: bool) -> list[Any]:
        """Learn whether an arm is valid at this time; return the arms that memory let go.

        Any arm that is not is let go, within its window or after it.  One that is valid after its window is the best of
        all.  Within its window every arm is valid, so that to hear it says nothing.

        Parameters
        ----------
        arm
            The arm's name: any hashable but None.
        valid
            Whether the arm is valid now.
        """
        if self.flag == "implicit":
            raise ValueError("learn needs a Seeker with flag='explicit': with an implicit flag nobody can know")
        if not isinstance(valid, (bool, np.bool_)):
            raise ValueError(f"valid must be True or False, not {valid!r}")
        number = self._roster.number(arm)
        if not valid:
            self._let_go(number)
        elif number < self._clock.oldest:
            self._crown(number)
        self._forget()
        return self._roster.handed_out()

    def ask(self, *, at: When = None) -> Any:
        """Return the arm to pull next, or None when nothing is to be pulled before the next arrival or tick.

        Each call counts as a pull under way.  An arm that is overdue is not asked for before its flag is told.

        Parameters
        ----------
        at
            When: an aware datetime or seconds with a window by time; a number on the stream's clock with a window by
            count.
        """
        self._go_on(at)
        number = 0 if self.left == 0 else self._champion or self._next()
        return self._asked(number) if number else None

    def tell(
        self, arm: Hashable, reward: float, pulls: int = 1, *, arrival: int | None = None, at: When = None
    ) -> None:
        """Take a reward of an arm, or the total of `pulls` rewards, whenever it comes back, in any order.

        An arm that is not in memory raises `UnknownArm`; see `Explorer.tell` for `arrival`.

        Parameters
        ----------
        arm
            The arm's name: any hashable but None.
        reward
            The reward, or the sum of several.
        pulls
            How many pulls the reward is the sum of.
        arrival
            The number that `arrival_of` gave, if the name may have been given to another arm since.
        at
            When: an aware datetime or seconds with a window by time; a number on the stream's clock with a window by
            count.
        """
        time = self._clock.later(at)
        number, pulls, total = self._heard(arm, reward, pulls, arrival)
        more = self._statistics_with(number, pulls, total)
        self._meanwhile(number, time)
        self._told(number, pulls)
        if number in self._tests:
            self._tests[number] = more
        else:
            put(self._slots, self._slot(number), number, more.pulls, more.total)

    def best(self, k: int | None = None, *, at: When = None) -> Any:
        """Return the best arm if it is known, else the one of the highest empirical mean, of equals the newest.

        None when no arm is here; with an explicit flag never one that is overdue.  With `k`, return a list of up to k
        arms, best first.

        Parameters
        ----------
        k
            How many arms; None for one arm instead of a list.
        at
            When: an aware datetime or seconds with a window by time; a number on the stream's clock with a window by
            count.
        """
        if k is not None:
            whole("k", k)
        self._go_on(at)
        overdue = set(self._overdue()) - {self._champion}
        here = [number for number in self._here() if number not in overdue]
        order = sorted(here, key=lambda one: (one == self._champion, self._mean(one), one), reverse=True)
        return self._named(order, k)

    @classmethod
    def from_state(cls, state: dict[str, Any], valid: Callable[[Any], bool] | None = None) -> Self:
        """Make a seeker that goes on exactly where the one that gave `state` stood.

        `valid` is not saved: a seeker that had one needs it again.

        Parameters
        ----------
        state
            What `state()` returned.
        valid
            The function that says whether an arm is valid, if there was one.
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
        if self._rivals < 0:
            raise ValueError(f"state is damaged: rivals cannot be {self._rivals}")
        if self._tests and self._clock.newest not in self._tests:
            raise ValueError("state is damaged: the arm under test is not the newest")
        found = self._champion
        if found and (self.flag == "implicit" or found not in self._slots.arrival or found >= self._clock.oldest):
            raise ValueError(
                f"state is damaged: the arm found, of arrival {found}, is not stored or not past its window"
            )
