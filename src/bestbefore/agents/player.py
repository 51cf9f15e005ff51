"""Player: a live agent that spends the traffic of each window well."""

import math
from collections.abc import Callable, Hashable, Sequence
from contextlib import nullcontext
from types import NoneType
from typing import Any, ClassVar, Final, Self

import numpy as np

from bestbefore import keep as keep_rules
from bestbefore import plan
from bestbefore.agents import saved
from bestbefore.agents.base import BaseAgent
from bestbefore.agents.holding import Ints
from bestbefore.agents.rollback import all_or_nothing
from bestbefore.agents.under_way import ahead, foreseen, under_test
from bestbefore.arguments import MOST, finite, real, whole
from bestbefore.clock import Length, When, Window
from bestbefore.memory import Memory, Moment, drop, expire, put
from bestbefore.own import jitted, watched
from bestbefore.plan import plan_play
from bestbefore.pull import Horizon, choose, highest, horizon_of
from bestbefore.pull.page import chances_of, drawn
from bestbefore.scale import UNIT

EPOCHS: Final = 20
"""The traffic is learnt from about so many epochs, the last counting most: it changes from day to night."""
DELAYS: Final = 5
"""The delay of rewards is learnt from about so many arms."""


class Player(BaseAgent):
    """Pull well: lose little by not pulling the best arm of the last `window` arrivals, with few arms at hand.

    Parameters
    ----------
    window
        Only the last W arrivals are valid, for a number W; or those of a time such as "24h" or a timedelta.
    memory
        Slots; an arriving arm takes one before it is pulled.  Unless given, 20, or the window if that is less.
    keep
        The keep rule: "staircase", "fifo" (with W slots, the paper's), "reservoir", "topk" or "bucket"; or a function
        of your own with the signature of a rule, see `bestbefore.keep`.
    pull
        The pull rule: "moss", "ucb", "kl_ucb", "thompson", "inf" or "commit"; or an index of your own, see
        `bestbefore.pull`.
    seed
        A seed or a generator, for rules that draw: "reservoir", "thompson" and "inf".
    delta
        The confidence of "ucb" and "commit".
    carry
        Whether what is known of an arm is carried over from window to window.
    partial
        Begin with the first arrival; False begins when the first window is full, as the paper defines it.
    epsilon
        The accuracy that the tests of "commit" are for; unless given, 3 / memory.
    sigma
        Rewards are sigma-sub-Gaussian, any finite number; unless given, they lie in [0, 1].
    most
        With a window by time: how many arms may be valid at once; the tests of "commit" depend on it.
    tolerance, scale
        See `Explorer`.

    Example
    -------
    >>> player = Player(window=2, memory=2)
    >>> pulls = {"a": 0, "b": 0, "c": 0}
    >>> for arm in pulls:
    ...     gone = player.arrive(arm, budget=50)
    ...     while (pulled := player.ask()) is not None:
    ...         pulls[pulled] += 1
    ...         player.tell(pulled, {"a": 0.2, "b": 0.9, "c": 0.4}[pulled])
    >>> player.best(), player.stored, sum(pulls.values()), max(pulls, key=pulls.get)
    ('b', ['b', 'c'], 150, 'b')

    References
    ----------
    Braverman, Wang, Wang and Zhou, "Online learning with recency: algorithms for sliding-window streaming multi-armed
    bandits": Section 5, Theorem 3.
    """

    _fields: ClassVar = {
        **{"budget": (int, NoneType), "spent": int, "began": int},
        **{"pace": float, "epochs": int, "delay": float, "delays": int},
    }
    _fields_of_an_arm: ClassVar = {"late": int, "loss": float, "odds": list}

    def __init__(
        self,
        window: Length = plan.WINDOW,
        memory: int | None = None,
        keep: str | Callable[..., int] = plan.KEEP,
        pull: str | Callable[..., float] = plan.PULL_RULE,
        seed: int | np.random.Generator | None = None,
        *,
        delta: float = plan.PLAY_DELTA,
        carry: bool = True,
        partial: bool = True,
        epsilon: float | None = None,
        sigma: float | None = None,
        most: int | None = None,
        tolerance: Length | None = None,
        scale: Sequence[float] = UNIT,
    ) -> None:
        arguments = saved.arguments_of(
            window=window,
            memory=memory,
            delta=delta,
            carry=bool(carry),
            partial=bool(partial),
            epsilon=epsilon,
            sigma=sigma,
            most=most,
            scale=scale,
        )
        self.plan = made = plan_play(keep=keep, pull=pull, **arguments)
        self._rule = f"{made.keep.name} x {made.pull.name}"
        arguments = saved.with_rules(arguments, keep=keep, pull=pull) | saved.arguments_of(tolerance=tolerance)
        super().__init__(arguments, Window(made.window, made.by_time), made.memory, made.noise, seed)
        self.keep, self.pull, self.delta, self.epsilon = keep, pull, made.delta, epsilon
        self.carry, self.partial, self.most = made.carry, made.partial, made.most
        self._began = 0  # the number of the first arrival
        self._own_keep = jitted("keep", made.keep.own) if made.keep.own else None
        self._own_pull = jitted("pull", made.pull.own) if made.pull.own else None
        self._tests_of_commit = made.tests()
        self._budget: int | None = 0
        self._spent = 0  # of the budget of this epoch
        self._late: dict[int, int] = {}  # of the pulls in flight, those of earlier epochs
        self._losses = np.zeros(self.memory)  # estimated, of this epoch, for rules that know their odds
        self._odds: dict[int, list[float]] = {}  # of this epoch's pulls in flight
        self._pace, self._epochs = 0.0, 0  # pulls of an epoch as a rule, and how many epochs that is learnt from
        self._delay, self._delays = 0.0, 0  # arrivals until an arm's first reward, and of how many arms

    @property
    def left(self) -> int | None:
        """The pulls left of this epoch's budget, or None where there is none to keep to."""
        return None if self._budget is None else max(self._budget - self._spent, 0)

    def arrive(self, arm: Hashable, budget: int | None = None, *, at: When = None) -> list[Any]:
        """Let a new arm arrive, which begins an epoch of `budget` pulls; return the arms that memory let go.

        Without a budget the player goes on until the next arrival.  A player that is not
        `partial` has no epoch, and no pull, before the first window is full.  See `Explorer.arrive` for `at`.
        """
        budget = None if budget is None else whole("budget", budget, at_least=0)
        self._roster.check_new(arm)
        time = self._clock.arrival_at(at)
        with all_or_nothing(self) if self._own_keep else nullcontext():
            number = self._enter(arm, time, at)
            expire(self._slots, self._clock.oldest)
            self._make_room(number)
        self._learn_pace()
        self._spent = 0
        self._began = self._began or number
        self._budget = budget if self.plan.begins(number, self._began) else 0
        if not self.carry and self._budget != 0:
            self._slots.pulls[:] = 0
            self._slots.total[:] = 0.0
        self._losses[:] = 0.0
        self._forget()
        self._late, self._odds = dict(self._in_flight), {}
        return self._roster.handed_out()

    def ask(self, k: int | None = None, *, at: When = None) -> Any:
        """Return the arm to pull next, or None when the budget of this epoch is spent; each call spends one pull.

        It is None, too, when all arms stored have expired or were withdrawn.

        With `k`, return a list of up to k different arms for one page view, fewer if fewer are stored or left of the
        budget.  Each is a pull of its own, and told on its own.  An index rule names the arm of the highest index, then
        that of the next highest; "thompson" draws again among the others; "inf" draws so that it knows each arm's
        chance to be on the page, see `bestbefore.pull.page`.
        """
        most = 1 if k is None else whole("k", k)
        self._go_on(at)
        places = min(most, int(np.count_nonzero(self._slots.arrival)))
        places = places if self.left is None else min(places, self.left)
        page = []
        for slot, odds in self._choose(places) if places else []:
            number = int(self._slots.arrival[slot])
            if odds:
                self._odds.setdefault(number, []).append(odds)
            self._spent += 1
            page.append(self._asked(number))
        if k is None:
            return page[0] if page else None
        return page

    def tell(
        self, arm: Hashable, reward: float, pulls: int = 1, *, arrival: int | None = None, at: When = None
    ) -> None:
        """Take a reward of an arm, or the total of `pulls` rewards, whenever it comes back, in any order.

        Pulls that were not asked for count against the budget, too.  An arm that is not in memory raises `UnknownArm`;
        see `Explorer.tell` for `arrival`.
        """
        time = self._clock.later(at)
        number, pulls, total = self._heard(arm, reward, pulls, arrival)
        slot = self._slot(number)
        asked, late = (min(counts.get(number, 0), pulls) for counts in (self._in_flight, self._late))
        fresh = pulls - late
        counted = pulls if self.carry else fresh  # a fresh window does not count what was pulled before it
        known = int(self._slots.pulls[slot]) + counted
        rewards = finite("reward", float(self._slots.total[slot]) + total * counted / pulls)
        odds = self._odds.get(number, [])
        loss = float(self._losses[slot]) + sum((1 - total / pulls) / chance for chance in odds[:fresh])
        finite("reward", loss)
        self._meanwhile(number, time)
        if asked and self.carry and not self._slots.pulls[slot]:
            self._learn_delay(number)
        self._told(number, pulls)
        put(self._slots, slot, number, known, rewards)
        self._losses[slot] = loss
        self._take_off(number, late, fresh)
        self._spent += pulls - asked

    @classmethod
    def from_state(
        cls,
        state: dict[str, Any],
        *,
        keep: Callable[..., int] | None = None,
        pull: Callable[..., float] | None = None,
    ) -> Self:
        """Make a player that goes on where the one that gave `state` stood; give rules of your own again."""
        return cls._restored(state, keep=keep, pull=pull)

    def _record(self, number: int, slot: int | None) -> dict[str, Any]:
        odds, late, loss = self._odds.get(number, []), self._late.get(number, 0), self._losses[slot]
        return super()._record(number, slot) | {"late": late, "loss": loss, "odds": odds}

    def _expire(self) -> None:
        expire(self._slots, self._clock.oldest)
        self._clear_losses()

    def _withdraw(self, number: int) -> None:
        drop(self._slots, self._slot(number))
        self._clear_losses()

    def _clear_losses(self) -> None:
        """Forget the losses of arms that are gone."""
        self._losses[self._slots.arrival == 0] = 0.0

    def _given_up(self, number: int, pulls: int) -> None:
        late = min(self._late.get(number, 0), pulls)
        fresh = pulls - late
        self._spent = max(self._spent - fresh, 0)
        self._take_off(number, late, fresh)

    def _take_off(self, number: int, late: int, fresh: int) -> None:
        """Count pulls as under way no more, by the epochs that they are of."""
        self._late[number] = self._late.get(number, 0) - late
        self._odds[number] = self._odds.get(number, [])[fresh:]
        for counts in (self._late, self._odds):
            if not counts[number]:
                del counts[number]

    def _forget(self) -> None:
        super()._forget()
        for counts in (self._late, self._odds):
            for number in [number for number in counts if number not in self._counted]:
                del counts[number]

    def _restore(self, fields: dict[str, Any]) -> None:
        super()._restore(fields)
        for name in ("pace", "delay"):
            if not 0 <= fields[name] <= MOST:
                raise ValueError(f"state is damaged: {name} cannot be {fields[name]!r}")

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

    def _make_room(self, number: int) -> None:
        """Let the keep rule find a slot for an arriving arm; arms under test stay, in up to half of the slots.

        Where more are under test, the arriving arm is passed over: each of them would be tested in vain otherwise.
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
            if 2 * np.count_nonzero(waiting) >= self.memory:
                return
            slots = np.flatnonzero(~waiting)
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
            self._epochs = min(self._epochs + 1, EPOCHS)
            self._pace += (self._spent - self._pace) / self._epochs

    def _learn_delay(self, number: int) -> None:
        """Learn from an arm's first reward how many arrivals one takes to come."""
        self._delays = min(self._delays + 1, DELAYS)
        self._delay += (self._age(number) - self._delay) / self._delays

    @property
    def _traffic(self) -> int:
        """T: the budget of this epoch, or where none was told, the pulls of an epoch so far."""
        return max(math.ceil(self._pace), self._spent + 1) if self._budget is None else self._budget

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
        horizon = horizon_of(budget, stored, self.delta, self._tests_of_commit, self._noise)
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
