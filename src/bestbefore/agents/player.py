"""Player: a live agent that spends the traffic of each window well."""

from collections.abc import Callable, Hashable, Sequence
from contextlib import nullcontext
from typing import Any, Self

import numpy as np

from bestbefore import plan
from bestbefore.agents import saved
from bestbefore.agents.rollback import all_or_nothing
from bestbefore.agents.spending import Spending
from bestbefore.arguments import finite, whole
from bestbefore.clock import Length, When, Window
from bestbefore.memory import expire
from bestbefore.plan import plan_play
from bestbefore.scale import UNIT


class Player(Spending):
    """Pull well: lose little by not pulling the best arm of the last `window` arrivals, with few arms at hand.

    Parameters
    ----------
    window
        Only the last W arrivals are valid, for a number W; or those of a time such as "24h" or a timedelta.
    memory
        Slots; an arriving arm takes one before it is pulled.  Unless given, 20, or the window if that is less.
    keep
        The keep rule: "heirs", "staircase", "fifo" (with W slots, the paper's), "reservoir", "topk" or "bucket"; or a
        function of your own with the signature of a rule, see `bestbefore.keep`.
    pull
        The pull rule: "fresh", "moss", "ucb", "kl_ucb", "thompson", "inf" or "commit"; or an index of your own, see
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

    def __init__(
        self,
        window: Length = plan.WINDOW,
        memory: int | None = None,
        keep: str | Callable[..., int] = plan.PLAY_KEEP,
        pull: str | Callable[..., float] = plan.PLAY_PULL,
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
        self._begin(made)

    def arrive(self, arm: Hashable, budget: int | None = None, *, at: When = None) -> list[Any]:
        """Let a new arm arrive, which begins an epoch of `budget` pulls; return the arms that memory let go.

        Without a budget the player goes on until the next arrival, and takes T for what epochs have had lately.  If
        two thirds of the slots hold arms under test, whose rewards are under way, and none of them does badly, the new
        arm is let go at once.  A player that is not `partial` has no epoch, and no pull, before the first window is
        full.  See `Explorer.arrive` for `at`.

        Parameters
        ----------
        arm
            The arm's name: any hashable but None.
        budget
            Pulls until the next arrival.
        at
            When: an aware datetime or seconds with a window by time; a number on the stream's clock with a window by
            count.  Unless given, the wall clock's time, or the next number.
        """
        budget = None if budget is None else whole("budget", budget, at_least=0)
        self._roster.check_new(arm)
        time = self._clock.arrival_at(at)
        with all_or_nothing(self) if self._own_keep else nullcontext():
            number = self._enter(arm, time, at)
            expire(self._slots, self._clock.oldest)
            self._make_room(number)
            self._clear(number)
        self._learn_pace()
        self._spent = 0
        self._began = self._began or number
        self._budget = budget if self.plan.begins(number, self._began) else 0
        if not self.carry and self._budget != 0:
            self._slots.pulls[:] = 0
            self._slots.total[:] = self._shades[:] = 0.0
        self._look_ahead()
        self._losses[:] = 0.0
        self._forget()
        self._late, self._odds = dict(self._in_flight), {}
        return self._roster.handed_out()

    def ask(self, k: int | None = None, *, at: When = None) -> Any:
        """Return the arm to pull next, or None when the budget of this epoch is spent; each call spends one pull.

        It is None, too, when all arms stored have expired or were withdrawn.  While rewards are under way, no arm gets
        more than its share: see `bestbefore.agents.under_way`.

        With `k`, return a list of up to k different arms for one page view, fewer if fewer are stored or left of the
        budget.  Each is a pull of its own, and told on its own.  An index rule names the arm of the highest index, then
        that of the next highest; "thompson" draws again among the others; "inf" draws so that it knows each arm's
        chance to be on the page, see `bestbefore.pull.page`.

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
        places = min(most, int(np.count_nonzero(self._slots.arrival)))
        places = places if self.left is None else min(places, self.left)
        page, self._chance = [], None
        for slot, odds in self._choose(places) if places else []:
            number = int(self._slots.arrival[slot])
            if odds:
                self._odds.setdefault(number, []).append(odds)
            self._spent += 1
            page.append(self._asked(number))
        if k is None:
            self._chance = (odds or None) if page else None
            return page[0] if page else None
        return page

    def tell(
        self, arm: Hashable, reward: float, pulls: int = 1, *, arrival: int | None = None, at: When = None
    ) -> None:
        """Take a reward of an arm, or the total of `pulls` rewards, whenever it comes back, in any order.

        Pulls that were not asked for count against the budget, too.  An arm that is not in memory raises `UnknownArm`;
        see `Explorer.tell` for `arrival`.  Rewards that are not all or nothing, such as ratings, are best told one by
        one: from how little they vary "fresh" learns to test for less long.

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
        slot = self._slot(number)
        asked, late = min(self._in_flight.get(number, 0), pulls), min(self._late.get(number, 0), pulls)
        fresh = pulls - late
        counted = pulls if self.carry else fresh  # a fresh window does not count what was pulled before it
        known = int(self._slots.pulls[slot]) + counted
        rewards = finite("reward", float(self._slots.total[slot]) + total * counted / pulls)
        odds = self._odds.get(number, [])
        loss = float(self._losses[slot])
        if odds:
            loss += sum((1 - total / pulls) / chance for chance in odds[:fresh])
        finite("reward", loss)
        self._meanwhile(number, time)
        if asked and self.carry and not self._slots.pulls[slot]:
            self._learn_delay(number)
        self._told(number, pulls)
        self._slots.pulls[slot], self._slots.total[slot] = known, rewards
        self._losses[slot] = loss
        self._shades[slot] += self._between(total) * counted / pulls
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
        """Make a player that goes on where the one that gave `state` stood; give rules of your own again.

        Parameters
        ----------
        state
            What `state()` returned.
        keep
            The keep rule, if it is a function of your own.
        pull
            The pull rule, if it is one of your own.
        """
        return cls._restored(state, keep=keep, pull=pull)
