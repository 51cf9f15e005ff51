"""Player: a live agent that spends the traffic of each window well."""

from collections.abc import Hashable
from types import NoneType
from typing import Any, ClassVar

import numpy as np

from bestbefore import bounds, rules
from bestbefore.agents import saved
from bestbefore.agents.keeper import Keeper
from bestbefore.arguments import between, finite, one_of, whole
from bestbefore.keep import make_room
from bestbefore.memory import expire, put
from bestbefore.pull import highest, horizon_of
from bestbefore.pull.inf import drawn_place, inf_odds
from bestbefore.pull.thompson import thompson_slot


class Player(Keeper):
    """Pull well: lose little by not pulling the best arm of the last `window` arrivals, with few arms at hand.

    Parameters
    ----------
    window
        W: only the last W arrivals are valid.
    memory
        Slots; an arriving arm takes one before it is pulled.
    keep
        The keep rule: "staircase", "fifo" (with W slots, the paper's), "reservoir", "topk" or "bucket".
    pull
        The pull rule: "moss", "ucb", "kl_ucb", "thompson", "inf" or "commit".
    seed
        A seed or a generator, for the luck of "reservoir", "thompson" and "inf".
    delta
        The confidence of "ucb" and "commit".
    carry
        Whether what is known of an arm is carried over from window to window.
    partial
        Begin with the first arrival, instead of when the first window is full.
    epsilon
        The accuracy that the tests of "commit" are for; unless given, 3 / memory.
    sigma
        Rewards are sigma-sub-Gaussian, any finite number; unless given, they lie in [0, 1].

    Example
    -------
    >>> player = Player(window=2, memory=2, partial=True)
    >>> pulls = {"a": 0, "b": 0, "c": 0}
    >>> for arm in pulls:
    ...     gone = player.arrive(arm, budget=50)
    ...     while (pulled := player.ask()) is not None:
    ...         pulls[pulled] += 1
    ...         player.tell(pulled, {"a": 0.2, "b": 0.9, "c": 0.4}[pulled])
    >>> player.best(), player.memory, sum(pulls.values()), max(pulls, key=pulls.get)
    ('b', ['b', 'c'], 150, 'b')

    References
    ----------
    Braverman, Wang, Wang and Zhou, "Online learning with recency: algorithms for sliding-window streaming multi-armed
    bandits": Section 5, Theorem 3.
    """

    _fields: ClassVar = {"budget": (int, NoneType), "spent": int}
    _fields_of_an_arm: ClassVar = {"late": int, "loss": float, "odds": list}

    def __init__(
        self,
        window: int = 100,
        memory: int = 20,
        keep: str = "staircase",
        pull: str = "moss",
        seed: int | np.random.Generator | None = None,
        *,
        delta: float = 0.01,
        carry: bool = True,
        partial: bool = False,
        epsilon: float | None = None,
        sigma: float | None = None,
    ) -> None:
        carry, partial = bool(carry), bool(partial)
        arguments = saved.arguments_of(
            window=window,
            memory=memory,
            keep=keep,
            pull=pull,
            delta=delta,
            carry=carry,
            partial=partial,
            epsilon=epsilon,
            sigma=sigma,
        )
        super().__init__(arguments, window, memory, sigma, seed)
        self.keep, self.pull = one_of("keep", keep, rules.KEEP_FOR_REGRET), one_of("pull", pull, rules.PULL)
        self.delta = between("delta", delta, 0, 1)
        self.carry, self.partial = carry, partial
        if epsilon is not None:
            between("epsilon", epsilon, 0, 1, closed="right")
        self._s = 1
        if pull == "commit":
            noise = (3 / self.slots if epsilon is None else epsilon) / 3
            deviation = 0.5 if self.sigma is None else self.sigma
            self._s = bounds.pulls_for_noise(noise, bounds.failure(self.window, self.delta), deviation)
        self._budget: int | None = 0
        self._spent = 0  # of the budget of this epoch
        self._late: dict[int, int] = {}  # of the pulls in flight, those of earlier epochs
        self._losses = np.zeros(self.slots)  # estimated, of this epoch, for inf
        self._odds: dict[int, list[float]] = {}  # of this epoch's pulls in flight, for inf

    @property
    def _rule(self) -> str:
        return f"{self.keep} x {self.pull}"

    @property
    def left(self) -> int | None:
        """The pulls left of this epoch's budget, or None where there is none to keep to."""
        return None if self._budget is None else max(self._budget - self._spent, 0)

    def arrive(self, arm: Hashable, budget: int | None = None) -> list[Any]:
        """Let a new arm arrive, which begins an epoch of `budget` pulls; return the arms that memory let go.

        Without a budget the player goes on until the next arrival.  Before the first window is full there is no epoch,
        and no pull, unless the player is `partial`.
        """
        budget = None if budget is None else whole("budget", budget, at_least=0)
        number = self._roster.arrive(arm)
        self._spent = 0
        self._budget = budget if self.partial or number >= self.window else 0
        expire(self._memory, self._roster.oldest)
        luck = self._luck.random() if self.keep == "reservoir" else 0.0
        make_room(rules.KEEP_FOR_REGRET[self.keep], self._memory, number, self.window, luck)
        if not self.carry and self._budget != 0:
            self._memory.pulls[:] = 0
            self._memory.total[:] = 0.0
        self._losses[:] = 0.0
        self._forget()
        self._late, self._odds = dict(self._in_flight), {}
        return self._roster.handed_out()

    def ask(self) -> Any:
        """Return the arm to pull next, or None when the budget of this epoch is spent; each call spends one pull."""
        if self.left == 0:
            return None
        slot, odds = self._choose_by_odds() if self.pull == "inf" else (self._choose(), 0.0)
        number = int(self._memory.arrival[slot])
        if odds:
            self._odds.setdefault(number, []).append(odds)
        self._spent += 1
        return self._asked(number)

    def tell(self, arm: Hashable, reward: float, pulls: int = 1, *, arrival: int | None = None) -> None:
        """Take a reward of an arm, or the total of `pulls` rewards, whenever it comes back, in any order.

        Pulls that were not asked for count against the budget, too.  An arm that is not in memory raises `UnknownArm`;
        see `Explorer.tell` for `arrival`.
        """
        number, pulls, total = self._heard(arm, reward, pulls, arrival)
        slot = self._slot(number)
        asked, late = (min(counts.get(number, 0), pulls) for counts in (self._in_flight, self._late))
        fresh = pulls - late
        counted = pulls if self.carry else fresh  # a fresh window does not count what was pulled before it
        known = int(self._memory.pulls[slot]) + counted
        rewards = finite("reward", float(self._memory.total[slot]) + total * counted / pulls)
        odds = self._odds.get(number, [])
        loss = float(self._losses[slot]) + sum((1 - total / pulls) / chance for chance in odds[:fresh])
        finite("reward", loss)
        self._told(number, pulls)
        put(self._memory, slot, number, known, rewards)
        self._losses[slot] = loss
        self._odds[number] = odds[fresh:]
        self._late[number] = self._late.get(number, 0) - late
        self._spent += pulls - asked
        for counts in (self._late, self._odds):
            if not counts[number]:
                del counts[number]

    def _record(self, number: int, slot: int | None) -> dict[str, Any]:
        odds, late, loss = self._odds.get(number, []), self._late.get(number, 0), self._losses[slot]
        return super()._record(number, slot) | {"late": late, "loss": loss, "odds": odds}

    def _restore(self, fields: dict[str, Any]) -> None:
        super()._restore(fields)
        if self._budget != 0 and not len(self):
            raise ValueError(f"state is damaged: budget cannot be {self._budget} where no arm is stored")

    def _restore_arm(self, record: dict[str, Any]) -> None:
        super()._restore_arm(record)
        number, late, odds = record["arrival"], record["late"], record["odds"]
        fresh = record["in_flight"] - late
        if not all(isinstance(one, float) and 0 < one <= 1 for one in odds) or len(odds) > fresh:
            raise ValueError(f"state is damaged: odds of {record['arm']!r} do not fit its pulls in flight")
        self._losses[record["slot"]] = record["loss"]
        if late:
            self._late[number] = late
        if odds:
            self._odds[number] = list(odds)

    def _choose(self) -> int:
        """Return the slot that the pull rule would pull next."""
        memory = self._foreseen(self._in_flight if self.carry else self._fresh())
        if self.pull == "thompson":
            return thompson_slot(memory, self.sigma or 0.0, self._luck)
        stored = int(np.count_nonzero(memory.arrival))
        budget = int(memory.pulls.sum()) + 1 if self._budget is None else self._budget
        horizon = horizon_of(budget, stored, self.delta, self._s, self.sigma or 0.0)
        if self._budget is None:  # nothing caps the tests of commit
            horizon = horizon._replace(s=self._s)
        return highest(rules.PULL[self.pull], memory, horizon)

    def _choose_by_odds(self) -> tuple[int, float]:
        """Return the slot that inf has drawn, and the odds of it."""
        stored = np.flatnonzero(self._memory.arrival)
        odds = np.zeros(stored.size)
        inf_odds(self._losses[stored], self._spent + 1, odds)
        place = drawn_place(odds, self._luck.random())
        return int(stored[place]), float(odds[place])

    def _fresh(self) -> dict[int, int]:
        """Return the pulls in flight that are of this epoch."""
        return {number: pulls - self._late.get(number, 0) for number, pulls in self._in_flight.items()}
