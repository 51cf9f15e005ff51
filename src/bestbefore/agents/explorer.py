"""Explorer: a live agent that always knows a nearly best arm of the window."""

from collections.abc import Hashable
from typing import Any, ClassVar

import numpy as np

from bestbefore import rules
from bestbefore.agents import saved
from bestbefore.agents.keeper import Keeper, Known
from bestbefore.agents.plan import make_plan
from bestbefore.keep import admit
from bestbefore.memory import drop, expire, put
from bestbefore.pull import challenge
from bestbefore.pull.fixed import fixed


class Explorer(Keeper):
    """Find a nearly best arm of the last `window` arrivals, remembering only a few arms.

    Each arm is tested when it arrives, by as many pulls as the guarantee needs; then the keep rule decides who stays.

    Parameters
    ----------
    window
        W: only the last W arrivals count.
    epsilon
        The answer is to be within epsilon of the best; 0.1 if neither this nor `memory` is given.
    delta
        The probability with which the guarantee may fail.
    keep
        The keep rule: "staircase", "bucket" (Algorithm 1 of the paper), "fifo", "topk", "reservoir" or "king".
    guarantee
        "weak": at any one fixed time; "strong": at all times at once, of a stream of `arms` arms; "anytime": at all
        times at once, of an endless stream.
    arms
        How many arms will arrive, for a strong guarantee.
    memory
        Slots.  Unless given, as many as the guarantee needs; given without epsilon, they are put to their best use.
    seed
        A seed or a generator, for the luck of "reservoir".
    pending
        How many arms may be under test at once, the newest among them; those before it are stored arms and take a slot.
        When one more arrives, the oldest is settled with the rewards that it has.
    pulls
        Known each arm by so many pulls instead.
    split, slack
        See `bestbefore.bounds` and `bestbefore.keep.staircase`.
    sigma
        Rewards are sigma-sub-Gaussian, any finite number, around means in [0, 1]; unless given, they lie in [0, 1].

    Example
    -------
    >>> explorer = Explorer(window=3, epsilon=0.3, delta=0.1)
    >>> for arm, mean in [("a", 0.9), ("b", 0.2), ("c", 0.5), ("d", 0.4)]:
    ...     gone = explorer.arrive(arm)
    ...     while (wanted := explorer.ask()) is not None:
    ...         explorer.tell(wanted, mean)
    ...     print(arm, explorer.best(), explorer.memory, gone)
    a a ['a'] []
    b a ['a', 'b'] []
    c a ['a', 'c'] []
    d c ['c', 'd'] ['b', 'a']

    References
    ----------
    Braverman, Wang, Wang and Zhou, "Online learning with recency: algorithms for sliding-window streaming multi-armed
    bandits": Algorithm 1, Theorem 2, Lemma 4.2.
    """

    _fields: ClassVar = {"irregular": int, "duel": list}

    def __init__(
        self,
        window: int = 100,
        epsilon: float | None = None,
        delta: float = 0.05,
        keep: str = "staircase",
        guarantee: str = "weak",
        arms: int | None = None,
        memory: int | None = None,
        seed: int | np.random.Generator | None = None,
        *,
        pending: int = 1,
        pulls: int | None = None,
        split: float | None = None,
        slack: float | None = None,
        sigma: float | None = None,
    ) -> None:
        arguments = saved.arguments_of(
            window=window,
            epsilon=epsilon,
            delta=delta,
            keep=keep,
            guarantee=guarantee,
            arms=arms,
            memory=memory,
            pending=pending,
            pulls=pulls,
            split=split,
            slack=slack,
            sigma=sigma,
        )
        self.plan = plan = make_plan(**arguments)
        if keep == "king" and pending != 1:
            raise ValueError(f"pending must be 1 with keep='king', which fights one challenge at a time, not {pending}")
        super().__init__(arguments, plan.window, plan.slots, plan.sigma, seed, plan.pending)
        self.slots += plan.pending - 1  # arms under test before the newest are stored, too
        self._duel = challenge.peaceful_duel()
        self._irregular = 0  # the newest arm whose mean does not rest on its test alone, as planned

    @property
    def _rule(self) -> str:
        return self.plan.keep

    @property
    def under_test(self) -> list[Any]:
        """The arms under test, oldest first."""
        return [self._roster.name(number) for number in self._tests]

    @property
    def promise(self) -> float | None:
        """The epsilon that is promised with probability 1 - delta, of all arms whose tests are over, or None.

        There is none where the settings allow none, nor while an arm is valid whose test was cut short, or got rewards
        after it was over.
        """
        return None if self._irregular else self.plan.promise

    def arrive(self, arm: Hashable) -> list[Any]:
        """Let a new arm arrive; return the arms that memory let go since the last arrival, so that the caller may too.

        Arms that have expired, with this arrival or before, are among them; nothing of them is kept.
        """
        number = self._roster.arrive(arm)
        self._expire()
        while len(self._tests) >= self.plan.pending:
            self._settle(next(iter(self._tests)))
        self._begin_test(number)
        self._forget()
        return self._roster.handed_out()

    def ask(self) -> Any:
        """Return the arm to pull next, or None when nothing is to be pulled before the next arrival.

        Each call counts as a pull under way, so several may be: asked often enough, an arm is not named again while its
        rewards are awaited.
        """
        for number in self._pullable():
            if self._wanted(number) > self._in_flight.get(number, 0):
                return self._asked(number)
        return None

    def wanted(self, arm: Hashable) -> int:
        """Return how many rewards of an arm are still wanted, those under way included."""
        return self._wanted(self._roster.number(arm))

    def tell(self, arm: Hashable, reward: float, pulls: int = 1, *, arrival: int | None = None) -> None:
        """Take a reward of an arm, or the total of `pulls` rewards, whenever it comes back.

        An arm that is not in memory raises `UnknownArm`.  Names may come again once they are forgotten: whoever notes
        `arrivals` when an arm arrives can send it along as `arrival`, and a reward for an earlier bearer of the name
        then raises `ExpiredArm` or `UnknownArm` too.
        """
        number, pulls, total = self._heard(arm, reward, pulls, arrival)
        more = self._known_with(number, pulls, total)
        self._told(number, pulls)
        if number in self._tests:
            self._tests[number] = more
        else:
            self._update(number, more)
        if self.plan.keep == "king":
            self._fight(number, pulls, total)
        elif number in self._tests and self._wanted(number) == 0:
            self._settle(number)
        if number not in self._tests:
            self._forget()

    def _restore(self, fields: dict[str, Any]) -> None:
        super()._restore(fields | {"duel": challenge.Duel(*saved.arrays_like(self._duel, fields["duel"]))})
        king_and_challenger = self.plan.keep == "king" and self._memory.arrival[0] > 0 and len(self._tests) == 1
        if not challenge.is_over(self._duel) and not king_and_challenger:
            raise ValueError("state is damaged: the arms under test do not fit the settings")

    def _pulls_of(self, number: int) -> int:
        return self.plan.pulls_of(number)

    def _pullable(self) -> list[int]:
        """Return the arms of which pulls may be wanted, in the order in which they are asked for."""
        if self.plan.keep == "king" and not challenge.is_over(self._duel):
            return [int(self._memory.arrival[0]), *self._tests]
        return list(self._tests)

    def _wanted(self, number: int) -> int:
        """Return how many more rewards of an arm are wanted."""
        if self.plan.keep == "king":
            return fixed(int(self._duel.pulls[self._side(number)]), int(self._duel.counts[challenge.WANTED]))
        test = self._tests.get(number)
        return fixed(test.pulls, test.wanted) if test else 0

    def _side(self, number: int) -> int:
        return challenge.CHALLENGER_SIDE if number in self._tests else challenge.KING_SIDE

    def _expire(self) -> None:
        """Drop what is too old from the slots and from the arms under test."""
        expire(self._memory, self._roster.oldest)
        if self._irregular < self._roster.oldest:
            self._irregular = 0
        for number in [number for number in self._tests if number < self._roster.oldest]:
            del self._tests[number]
        if self.plan.keep == "king" and self._memory.arrival[0] == 0:
            challenge.crown(self._duel)

    def _begin_test(self, number: int) -> None:
        """Put the newest arm under test; a vacant throne it takes without one."""
        self._tests[number] = Known(0, 0.0, self.plan.pulls_of(number))
        if self.plan.keep == "king":
            if self._memory.arrival[0] == 0:
                self._settle(number)
            else:
                challenge.start_challenge(self._duel, self._unit)

    def _settle(self, number: int) -> None:
        """End the test of an arm with the rewards that it has: the keep rule decides."""
        test = self._tests.pop(number)
        if test.pulls < test.wanted:
            self._irregular = max(self._irregular, number)
        if self.plan.keep == "king":
            if self._memory.arrival[0] != 0 and not challenge.challenger_won(self._duel):
                challenge.end_challenge(self._duel)
                return
            challenge.crown(self._duel)
        elif test.pulls == 0:
            return
        luck = self._luck.random() if self.plan.keep == "reservoir" else 0.0
        self._admit(number, test, luck)

    def _admit(self, number: int, test: Known, luck: float) -> None:
        rule, now = rules.KEEP[self.plan.keep], self._roster.now
        admit(rule, self._memory, number, test.pulls, test.total, now, self.window, self.plan.slack, luck)

    def _update(self, number: int, known: Known) -> None:
        """Count rewards for an arm that is stored already; where its place depends on its mean, place it anew."""
        self._irregular = max(self._irregular, number)
        if self.plan.keep in ("bucket", "staircase"):
            drop(self._memory, self._slot(number))
            self._admit(number, known, 0.0)
        else:
            put(self._memory, self._slot(number), number, known.pulls, known.total)

    @property
    def _unit(self) -> float:
        sigma = 0.5 if self.plan.sigma is None else self.plan.sigma
        return challenge.challenge_unit(min(self.plan.epsilon, 1.0), self.plan.delta, sigma)

    def _fight(self, number: int, pulls: int, total: float) -> None:
        """Count rewards for the king's side or the challenger's, and settle the challenge if it is decided."""
        if challenge.is_over(self._duel):
            return
        challenge.fight(self._duel, self._side(number), pulls, total)
        challenge.judge(self._duel, self._unit, min(self.plan.epsilon, 1.0))
        if challenge.is_over(self._duel):
            self._settle(next(iter(self._tests)))
