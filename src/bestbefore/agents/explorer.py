"""Explorer: a live agent that always knows a nearly best arm of the window, and how far it may be from the best."""

from collections.abc import Callable, Hashable
from contextlib import nullcontext
from typing import Any, ClassVar, Self

import numpy as np

from bestbefore import keep as keep_rules
from bestbefore import plan
from bestbefore.agents import saved
from bestbefore.agents.base import BaseAgent, Statistics
from bestbefore.agents.certifier import Certifier
from bestbefore.agents.rollback import all_or_nothing
from bestbefore.arguments import finite, whole
from bestbefore.memory import Moment, drop, expire, put
from bestbefore.own import jitted, watched
from bestbefore.plan import plan_exploration
from bestbefore.probe.challenge import Challenges
from bestbefore.probe.fixed import FixedTests


class Explorer(BaseAgent):
    """Find a nearly best arm of the last `window` arrivals, remembering only a few arms.

    Parameters
    ----------
    window
        W: only the last W arrivals count.
    epsilon
        The answer is to be within epsilon of the best; 0.1 if neither this nor `memory` is given.
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

    _fields: ClassVar = {"irregular": int}
    _other_fields: ClassVar = {"probe": list}

    def __init__(
        self,
        window: int = plan.WINDOW,
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
            top=top,
            spare=spare,
        )
        self.plan = made = plan_exploration(keep, **arguments)
        self._rule = made.keep.name if made.probe != "certify" else made.probe
        arguments = saved.with_rules(arguments, keep=keep)
        super().__init__(arguments, made.window, made.slots, made.noise, seed, made.pending)
        self.memory = made.memory
        self.keep, self.split, self.arms, self.pending = keep, split, made.arms, made.pending
        self.epsilon, self.delta, self.guarantee = made.epsilon, made.delta, made.guarantee
        self.slack, self.probe, self.exempt = made.slack, made.probe, made.exempt
        self.top, self.spare = made.top, made.spare
        self.budget, self.relative, self.reacts = made.budget, made.relative, made.reacts
        self._own = jitted("keep", made.keep.own) if made.keep.own else None
        self._probe: FixedTests | Challenges = FixedTests()
        if made.probe == "challenge":
            self._probe = Challenges(min(made.epsilon, 1.0), made.delta, made.noise.sigma)
        self._irregular = 0  # the newest arm whose mean does not rest on its test alone, as planned
        self._certifier: Certifier | None = None
        if made.probe == "certify":
            self._certifier = Certifier(made)
            self._slots = self._certifier.certificates.memory

    def __len__(self) -> int:
        return min(super().__len__(), self.memory)

    @property
    def tests(self) -> int:
        """The pulls of one arm's test, at most: of the newest arm, where they grow with time.

        With certificates, it is what an arm may take at the very worst; most take far fewer.
        """
        return self.plan.tests_of(max(self.arrivals, 1))

    @property
    def under_test(self) -> list[Any]:
        """The arms under test, oldest first; with certificates, the newest arm while it has no slot yet."""
        return self._roster.names[len(self) :] if self._certifier else [self._roster.name(n) for n in self._tests]

    @property
    def gap(self) -> float:
        """With probability 1 - delta the answer is within this of the best valid arm, now: a difference of means.

        With certificates it is the highest upper bound of all other arms, stored or dropped, less the lower bound of
        the answer.  With fixed tests it is `promise`, or 1 where nothing is promised.
        """
        if self._certifier and not self._too_many():
            return self._certifier.answer()[1]
        return 1.0 if self.promise is None else self.promise

    @property
    def certified(self) -> bool:
        """Whether the answer is within epsilon of the best, with probability 1 - delta."""
        if self._certifier and not self._too_many():
            return self._certifier.answer()[2]
        return self.promise is not None

    def bounds(self, arm: Hashable) -> tuple[float, float]:
        """Return a lower and an upper bound of an arm's mean, from its certificate.

        The guarantee is about those that it needs at a time, not about all arms ever.
        """
        number = self._roster.number(arm)
        if not self._certifier:
            raise ValueError(f"probe must be 'certify' for bounds of arm {arm!r}, not {self.probe!r}")
        return self._certifier.bounds(self._slot(number))

    @property
    def promise(self) -> float | None:
        """The epsilon that is promised with probability 1 - delta, of all arms whose tests are over, or None.

        It speaks of all valid arms but the `exempt` oldest, which are none unless `slack` is above 0.  There is none
        where the settings allow none, nor while an arm is valid whose test was cut short, or got rewards after it; with
        certificates, while the answer is not certified: `gap` then says what is.  A strong guarantee ends when more
        than `arms` arms have arrived.
        """
        if self._too_many() or self._irregular:
            return None
        if self._certifier and not self._certifier.answer()[2]:
            return None
        return self.plan.promise

    def _too_many(self) -> bool:
        """Say whether more arms have arrived than a strong guarantee was told of."""
        return self.guarantee == "strong" and self.arrivals > (self.arms or 0)

    def best(self, k: int | None = None) -> Any:
        """Return the answer, or None when no arm is stored; with `k`, a list of up to k arms, best first.

        With certificates the answer is the arm that is within `gap` of the best, and others follow by their lower
        bounds.  With fixed tests arms stand in the order of their empirical means, of equals the newest first; there is
        none before the first test is over, and when all arms stored have just expired.  The promise is about the first
        `top` of them.
        """
        if not self._certifier:
            return super().best(k)
        number, _, _ = self._certifier.answer()
        if k is None:
            return self._named([number] if number else [], None)
        whole("k", k)
        lower = {one: self._certifier.bounds(slot)[0] for slot, one in enumerate(self._slots.arrival.tolist()) if one}
        return self._named(sorted(lower, key=lambda one: (one == number, lower[one], one), reverse=True), k)

    def arrive(self, arm: Hashable) -> list[Any]:
        """Let a new arm arrive; return the arms that memory let go, so that the caller can forget them too.

        Arms that have expired, with this arrival or before, are among them; nothing of them is kept.
        """
        with all_or_nothing(self) if self._own else nullcontext():
            number = self._roster.arrive(arm)
            if self._certifier:
                self._certifier.arrive(number, self._roster.oldest)
            else:
                self._begin_test(number)
            self._forget()
        return self._roster.handed_out()

    def _begin_test(self, number: int) -> None:
        """Let what is too old expire, make room among the arms under test, and begin to test an arm."""
        self._expire()
        while len(self._tests) >= self.plan.pending:
            self._settle(next(iter(self._tests)))
        self._tests[number] = Statistics(0, 0.0, self._tests_of(number))
        if not self._probe.begin(self._slots):
            self._settle(number)

    def ask(self) -> Any:
        """Return the arm to pull next, or None when nothing is to be pulled before the next arrival.

        Each call counts as a pull under way: asked often enough, an arm is not named again while its rewards are due.
        """
        if self._certifier:
            number = self._certifier.next(self._in_flight)
            self._certifier.asked(min(number, 1))
            return self._asked(number) if number else None
        for number in [*self._probe.pulled_again(self._slots), *self._tests]:
            if self._wanted(number) > self._in_flight.get(number, 0):
                return self._asked(number)
        return None

    def wanted(self, arm: Hashable) -> int:
        """Return how many rewards of an arm are still wanted, pulls under way included."""
        number = self._roster.number(arm)
        if self._certifier:
            return max(self._certifier.wants(number), self._in_flight.get(number, 0))
        return self._wanted(number)

    def tell(self, arm: Hashable, reward: float, pulls: int = 1, *, arrival: int | None = None) -> None:
        """Take a reward of an arm, or the total of `pulls` rewards, whenever it comes back.

        An arm that is not in memory raises `UnknownArm`.  Names may come again once they are forgotten: note `arrivals`
        when an arm arrives, send it along as `arrival`, and a reward for an earlier bearer raises `ExpiredArm`.
        """
        number, pulls, total = self._heard(arm, reward, pulls, arrival)
        if self._certifier:
            self._count(self._certifier, number, pulls, total)
            return
        more = self._statistics_with(number, pulls, total)
        with all_or_nothing(self) if self._own else nullcontext():
            self._take(number, pulls, total, more)

    def _count(self, certifier: Certifier, number: int, pulls: int, total: float) -> None:
        """Count rewards for an arm's certificate; arms may go then."""
        slot = self._slot(number)
        finite("reward", float(self._slots.total[slot]) + total)
        unasked = max(pulls - self._in_flight.get(number, 0), 0)
        self._told(number, pulls)
        certifier.asked(unasked)
        if certifier.tell(slot, pulls, total, self._in_flight):
            self._forget()

    def _take(self, number: int, pulls: int, total: float, more: Statistics) -> None:
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

    @classmethod
    def from_state(cls, state: dict[str, Any], *, keep: Callable[..., int] | None = None) -> Self:
        """Make an explorer that goes on where the one that gave `state` stood; give a rule of your own again."""
        return cls._restored(state, keep=keep)

    def _other_state(self) -> dict[str, Any]:
        return {"probe": self._certifier.state() if self._certifier else self._probe.state()}

    def _restore(self, fields: dict[str, Any]) -> None:
        super()._restore(fields)
        if self._certifier:
            self._certifier.restore(fields["probe"], self._roster.now)
            return
        self._probe.restore(fields["probe"], self._slots, len(self._tests))

    def _tests_of(self, number: int) -> int:
        return self.plan.tests_of(number)

    def _wanted(self, number: int) -> int:
        """Return how many more rewards of an arm are wanted."""
        test = self._tests.get(number)
        return self._probe.wanted(test is not None, *(test[::2] if test else (0, 0)))

    def _expire(self) -> None:
        """Drop what is too old from the slots and from the arms under test."""
        expire(self._slots, self._roster.oldest)
        if self._irregular < self._roster.oldest:
            self._irregular = 0
        for number in [number for number in self._tests if number < self._roster.oldest]:
            del self._tests[number]
        self._probe.expired(self._slots)

    def _settle(self, number: int) -> None:
        """End the test of an arm with the rewards that it has: the keep rule decides."""
        test = self._tests.pop(number)
        if test.pulls < test.wanted:
            self._irregular = max(self._irregular, number)
        if self._probe.passes(self._slots, test.pulls):
            self._admit(number, test)

    def _admit(self, number: int, test: Statistics) -> None:
        rule, coin = self.plan.keep, self._rng.random() if self.plan.keep.draws else 0.0
        moment = Moment(self._roster.now, self.window, self._roster.now, self.plan.slack, coin, self.plan.ranks)
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
