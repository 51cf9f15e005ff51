"""Explorer: a live agent that always knows a nearly best arm of the window, and how far it may be from the best."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, Self

import numpy as np

from bestbefore import plan
from bestbefore.agents import saved
from bestbefore.agents.certifier import Certifier
from bestbefore.agents.merging import check_alike, merge
from bestbefore.agents.promises import Promising
from bestbefore.agents.rollback import all_or_nothing
from bestbefore.arguments import whole
from bestbefore.clock import MICROSECOND, Length, When, Window
from bestbefore.memory import leader, leaders
from bestbefore.own import jitted
from bestbefore.plan import plan_exploration
from bestbefore.probe.challenge import Challenges
from bestbefore.probe.fixed import FixedTests
from bestbefore.scale import UNIT


class Explorer(Promising):
    """Find a nearly best arm of those that are still valid, remembering only a few arms.

    Parameters
    ----------
    window
        Only the last W arrivals count, for a number W; or those of a time such as "24h", "30 days" or a timedelta.
    epsilon
        The answer is to be within epsilon of the best; a tenth of the scale if neither this nor `memory` is given.
    delta
        The probability with which the guarantee may fail.
    keep
        The keep rule: "staircase", "bucket" (Algorithm 1 of the paper), "fifo", "topk", "reservoir" or "king"; or a
        function of your own with the signature of a rule, see `bestbefore.keep`.
    guarantee
        "weak": at any one time that is fixed beforehand; "strong": at all times at once, of a stream of `arms` arms;
        "anytime": at all times at once, of an endless stream.
    arms
        How many arms will arrive, for a strong guarantee.
    memory
        Slots.  Unless given, as many as the guarantee needs; given without epsilon, they are put to their best use.
    seed
        A seed or a generator, for rules that draw.
    probe
        "certify": pull arms until the answer is certified, see `bestbefore.probe.certify`; "fixed": test all arms alike
        when they arrive, as the paper does; "challenge" with keep="king".  Unless given, it is "certify" where
        keep="staircase" and there is an epsilon or a budget, and what the keep rule needs otherwise.
    budget
        With certificates: at most so many pulls after each arrival.  With `memory` and without epsilon, they are spent
        to make `gap` as small as possible.
    relative
        With certificates: epsilon is a share of the best mean, as long as that is above 0.01.
    reacts
        With certificates: what arrives may depend on what was answered or pulled.  The weak guarantee then costs more.
    pending
        With fixed tests: how many arms may be under test at once, the newest among them; those before it are stored and
        take a slot.  When one more arrives, the oldest is settled with the rewards that it has.
    tests
        With fixed tests: pull each arm exactly this many times.  Or how they are counted: "paper", "pairs", or "exact"
        for rewards of 0 and 1, see `bestbefore.pairs`.
    split, slack
        With fixed tests: see `bestbefore.bounds` and `bestbefore.keep.staircase`.
    sigma
        Rewards are sigma-sub-Gaussian, any finite number, around means in [0, 1]; unless given, they lie in [0, 1].
    most
        With a window by time: how many arms may be valid at once.  Fixed tests need to know it; while more are valid,
        nothing is promised.  Certificates can do without.
    tolerance
        With a window by time: a time that is told, and is earlier than the last one by no more than this, counts as
        now.  It is a time like the window.
    patience
        With fixed tests: how long a test waits for rewards, in arrivals or as a time, as the window is.  Then the arm
        is settled with the rewards that it has.
    scale
        (low, high): where means live, and rewards unless there is a sigma; epsilon and all answers are in its unit.
    top
        With fixed tests: how many answers are wanted, for `best(top)`.  For each r up to `top`, the mean of the r-th is
        within epsilon of the r-th best valid arm's.
    spare
        With fixed tests: how many more ranks are kept, so that so many arms may be withdrawn without a loss.

    Example
    -------
    >>> explorer, means = Explorer(window=3, epsilon=0.2, delta=0.1), {"a": 0.9, "b": 0.2, "c": 0.5, "d": 0.4}
    >>> for arm in means:
    ...     gone = explorer.arrive(arm)
    ...     while (wanted := explorer.ask()) is not None:
    ...         explorer.tell(wanted, means[wanted])
    ...     print(arm, explorer.best(), explorer.certified, round(explorer.gap, 2), explorer.pulls, gone)
    a a True 0.0 0 []
    b a True 0.19 27 []
    c a True 0.2 64 []
    d c True 0.19 218 ['a']

    References
    ----------
    Braverman, Wang, Wang and Zhou, "Online learning with recency: algorithms for sliding-window streaming multi-armed
    bandits": Algorithm 1, Theorem 2, Lemma 4.2.
    """

    _other_fields: ClassVar = {"probe": list}

    def __init__(
        self,
        window: Length = plan.WINDOW,
        epsilon: float | None = None,
        delta: float = plan.DELTA,
        keep: str | Callable[..., int] = plan.KEEP,
        guarantee: str = plan.GUARANTEE,
        arms: int | None = None,
        memory: int | None = None,
        seed: int | np.random.Generator | None = None,
        *,
        probe: str | None = None,
        budget: int | None = None,
        relative: bool = False,
        reacts: bool = False,
        pending: int = 1,
        tests: int | str | None = None,
        split: float | None = None,
        slack: float | None = None,
        sigma: float | None = None,
        most: int | None = None,
        tolerance: Length | None = None,
        patience: Length | None = None,
        scale: Sequence[float] = UNIT,
        top: int = 1,
        spare: int = 0,
    ) -> None:
        arguments = saved.arguments_of(
            window=window,
            epsilon=epsilon,
            delta=delta,
            guarantee=guarantee,
            arms=arms,
            memory=memory,
            probe=probe,
            budget=budget,
            relative=relative,
            reacts=reacts,
            pending=pending,
            tests=tests,
            split=split,
            slack=slack,
            sigma=sigma,
            most=most,
            patience=patience,
            scale=scale,
            top=top,
            spare=spare,
        )
        self.plan = made = plan_exploration(keep, **arguments)
        self._rule = made.keep.name if made.probe != "certify" else made.probe
        arguments = saved.with_rules(arguments, keep=keep) | saved.arguments_of(tolerance=tolerance)
        super().__init__(arguments, Window(made.window, made.by_time), made.slots, made.noise, seed, made.pending)
        self.memory, self.most = made.memory, made.most
        self.keep, self.split, self.arms, self.pending = keep, split, made.arms, made.pending
        self.epsilon, self.delta, self.guarantee = made.epsilon * self._unit, made.delta, made.guarantee
        self.slack, self.probe, self.exempt = made.slack, made.probe, self._told_length(made.exempt)
        self.patience = None if made.patience is None else self._told_length(made.patience)
        self.top, self.spare = made.top, made.spare
        self.budget, self.relative, self.reacts = made.budget, made.relative, made.reacts
        self._own = jitted("keep", made.keep.own) if made.keep.own else None
        self._probe: FixedTests | Challenges = FixedTests()
        if made.probe == "challenge":
            self._probe = Challenges(min(made.epsilon, 1.0), made.delta, made.noise.sigma)
        self._irregular, self._withdrawn = 0, []
        self._certifier: Certifier | None = None
        if made.probe == "certify":
            self._certifier = Certifier(made)
            self._slots = self._certifier.certificates.memory

    def __len__(self) -> int:
        return min(super().__len__(), self.memory)

    @property
    def under_test(self) -> list[Any]:
        """The arms under test, oldest first; with certificates, the newest arm while it has no slot yet."""
        return self._roster.names[len(self) :] if self._certifier else [self._roster.name(n) for n in self._tests]

    def best(self, k: int | None = None, *, at: When = None) -> Any:
        """Return the answer, or None when no arm is stored; with `k`, a list of up to k arms, best first.

        With certificates the answer is the arm that is within `gap` of the best, and others follow by their lower
        bounds.  With fixed tests arms stand in the order of their empirical means, of equals the newest first.  An arm
        under test is the answer if it is sure to have the highest: rewards that are still to come count as 0.  The
        promise is about the first `top`.

        Parameters
        ----------
        k
            How many arms; None for one arm instead of a list.
        at
            When: an aware datetime or seconds with a window by time; a number on the stream's clock with a window by
            count.
        """
        most = 1 if k is None else whole("k", k)
        self._go_on(at)
        if self._certifier:
            return self._named(self._by_lower_bound() if most > 1 else [self._certifier.answer()[0]], k)
        ahead = self._probe.answers and self._test_ahead(leader(self._slots))
        ranked = self._slots.arrival[leaders(self._slots, most)].tolist()
        return self._named([ahead, *ranked], k)

    def _by_lower_bound(self) -> list[int]:
        """Return the arms here, the answer first and others by the lower bounds of their certificates."""
        if self._certifier is None:
            return []
        answer, bounds = self._certifier.answer()[0], self._certifier.bounds
        lower = {number: bounds(slot)[0] for slot, number in enumerate(self._slots.arrival.tolist()) if number}
        return sorted(lower, key=lambda number: (number == answer, lower[number], number), reverse=True)

    def arrive(self, arm: Hashable, *, at: When = None) -> list[Any]:
        """Let a new arm arrive; return the arms that memory let go, so that the caller can forget them too.

        Arms that have expired, with this arrival or before, are among them; nothing of them is kept.  With a window by
        time, `at` is an aware datetime or seconds, and without it the wall clock tells.  With a window by count it is
        the arm's number, unless it is the next one.

        Parameters
        ----------
        arm
            The arm's name: any hashable but None.
        at
            When: an aware datetime or seconds with a window by time; a number on the stream's clock with a window by
            count.  Unless given, the wall clock's time, or the next number.
        """
        self._roster.check_new(arm)
        time = self._clock.arrival_at(at)
        with self._all_or_nothing():
            number = self._enter(arm, time, at)
            if self._certifier:
                self._certifier.arrive(number, self._clock.oldest, self._counted[number], self._in_flight)
            else:
                self._expire()
                self._begin_test(number)
            self._forget()
        return self._roster.handed_out()

    def ask(self, *, at: When = None) -> Any:
        """Return the arm to pull next, or None when nothing is to be pulled before the next arrival.

        Each call counts as a pull under way: asked often enough, an arm is not named again while its rewards are due.

        Parameters
        ----------
        at
            When: an aware datetime or seconds with a window by time; a number on the stream's clock with a window by
            count.
        """
        self._go_on(at)
        if self._certifier:
            number = self._certifier.next(self._in_flight)
            self._certifier.asked(min(number, 1))
        else:
            number = self._next_test()
        return self._asked(number) if number else None

    def wanted(self, arm: Hashable) -> int:
        """Return how many rewards of an arm are still wanted, pulls under way included.

        Parameters
        ----------
        arm
            The arm's name: any hashable but None.
        """
        number = self._roster.number(arm)
        if self._certifier:
            return max(self._certifier.wants(number), self._in_flight.get(number, 0))
        return self._wanted(number)

    def tell(
        self, arm: Hashable, reward: float, pulls: int = 1, *, arrival: int | None = None, at: When = None
    ) -> None:
        """Take a reward of an arm, or the total of `pulls` rewards, whenever it comes back.

        An arm that is not in memory raises `UnknownArm`.  Names may come again once they are forgotten: send along
        `arrival_of` the arm that was pulled, and a reward for an earlier bearer raises `ExpiredArm`.

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
        with self._all_or_nothing():
            self._meanwhile(number, time)
            if self._certifier:
                self._count(self._certifier, number, pulls, total)
            else:
                self._take(number, pulls, total, more)

    def _count(self, certifier: Certifier, number: int, pulls: int, total: float) -> None:
        """Count rewards for an arm's certificate; arms may go then."""
        unasked = max(pulls - self._in_flight.get(number, 0), 0)
        self._told(number, pulls)
        certifier.asked(unasked)
        if certifier.tell(self._slot(number), pulls, total, self._in_flight):
            self._forget()

    def _all_or_nothing(self) -> AbstractContextManager[None]:
        """Undo what was done if a rule of the user's own fails."""
        return all_or_nothing(self) if self._own else nullcontext()

    def _count_for_shares(self) -> int:
        by_valid = self.plan.by_time and self.plan.most is None and self.plan.guarantee == "weak"
        return self._clock.valid if by_valid else super()._count_for_shares()

    def _some_expired(self) -> bool:
        return self._certifier.some_expired(self._clock.oldest) if self._certifier else super()._some_expired()

    def _expire(self) -> None:
        if self._certifier:
            self._certifier.expire(self._clock.oldest)
        else:
            super()._expire()

    def _withdraw(self, number: int) -> None:
        if self._certifier:
            self._certifier.withdraw(self._slot(number))
        else:
            self._drop_withdrawn(number)

    def _given_up(self, number: int, pulls: int) -> None:
        if self._certifier:
            self._certifier.given_up(pulls, self._in_flight)
            self._forget()

    def _told_length(self, length: int) -> Any:
        """Return a length in the unit of the window, as a person reads it."""
        return length * MICROSECOND if self.plan.by_time else length

    @classmethod
    def merged(cls, parts: "Iterable[Explorer]", seed: int | np.random.Generator | None = None) -> "Explorer":
        """Return one explorer from several of the same settings that saw parts of one stream, on one clock.

        With a window by count, `arrive(arm, at=number)` gives each arm its number in the whole stream.  The answer has
        the guarantee of one explorer that saw it all, and there are no more slots; with certificates it may take some
        pulls to certify it anew.  Rewards told to several parts about the same arm add up, but nothing is promised
        while that arm is valid: the parts have decided by their own rewards.  Parts are left as they are.

        Parameters
        ----------
        parts
            The explorers.
        seed
            A seed or a generator, for rules that draw.

        Examples
        --------
        >>> parts = [Explorer(window=4, memory=3, tests=1) for _ in range(2)]
        >>> for number, mean in enumerate((0.2, 0.9, 0.7, 0.4), start=1):
        ...     part = parts[number % 2]
        ...     gone = part.arrive(f"arm {number}", at=number)
        ...     part.tell(f"arm {number}", mean)
        >>> both = Explorer.merged(parts)
        >>> both.best(), both.stored
        ('arm 2', ['arm 2', 'arm 3', 'arm 4'])
        """
        alike = check_alike(parts, Explorer)
        first = alike[0]
        arguments = first._arguments | {"keep": first.keep}
        into = cls(**arguments, seed=seed)
        merge(into, alike)
        return into

    @classmethod
    def from_state(cls, state: dict[str, Any], *, keep: Callable[..., int] | None = None) -> Self:
        """Make an explorer that goes on where the one that gave `state` stood; give a rule of your own again.

        Parameters
        ----------
        state
            What `state()` returned.
        keep
            The keep rule, if it is a function of your own.
        """
        return cls._restored(state, keep=keep)

    def _other_state(self) -> dict[str, Any]:
        return {"probe": self._certifier.state() if self._certifier else self._probe.state()}

    def _restore(self, fields: dict[str, Any]) -> None:
        super()._restore(fields)
        noted = [self._irregular, *self._withdrawn]
        if not all(type(number) is int and 0 <= number <= self._clock.newest for number in noted):
            raise ValueError(f"state is damaged: irregular and withdrawn cannot be {noted!r}")
        if self._certifier:
            self._certifier.restore(fields["probe"], self._clock.newest, self._counted)
            return
        self._probe.restore(fields["probe"], self._slots, len(self._tests))
