"""Explorer: a live agent that always knows a nearly best arm of the window."""

from collections.abc import Hashable
from typing import Any, Self

import numpy as np

from bestbefore import rules
from bestbefore.agents import saved
from bestbefore.agents.plan import make_plan
from bestbefore.arguments import finite, is_hashable, whole
from bestbefore.errors import ExpiredArm, UnknownArm
from bestbefore.keep import admit
from bestbefore.memory import drop, empty_memory, expire, leader, put
from bestbefore.pull import challenge
from bestbefore.pull.fixed import fixed

VERSION = 1


class Explorer:
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
    memory
        Slots.  Unless given, as many as the guarantee needs; given without epsilon, they are put to their best use.
    seed
        A seed or a generator, for the luck of "reservoir".
    pending
        How many arms may be under test at once, the newest among them; those before it are stored arms and take a slot.
        When one more arrives, the oldest is settled with the rewards that it has.
    pulls
        Test each arm by so many pulls instead.
    split, slack
        See `bestbefore.bounds` and `bestbefore.keep.staircase`.
    sigma
        Rewards are sigma-sub-Gaussian, any finite number; unless given, they lie in [0, 1].

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
        self._arguments: dict[str, Any] = {
            "window": window,
            "epsilon": epsilon,
            "delta": delta,
            "keep": keep,
            "guarantee": guarantee,
            "arms": arms,
            "memory": memory,
            "pending": pending,
            "pulls": pulls,
            "split": split,
            "slack": slack,
            "sigma": sigma,
        }
        self.plan = make_plan(**self._arguments)
        if keep == "king" and pending != 1:
            raise ValueError(f"pending must be 1 with keep='king', which fights one challenge at a time, not {pending}")
        self.window = self.plan.window
        self.slots = self.plan.slots + self.plan.pending - 1
        self._luck = seed if isinstance(seed, np.random.Generator) else np.random.default_rng(seed)
        self._memory = empty_memory(self.plan.slots)
        self._duel = challenge.peaceful_duel()
        self._now = self._pulls = self._peak = 0
        self._names: dict[int, Hashable] = {}  # of all arms stored or under test, by arrival
        self._arrivals: dict[Hashable, int] = {}
        self._tests: dict[int, tuple[int, float]] = {}  # pulls and total of the arms under test, oldest first
        self._in_flight: dict[int, int] = {}  # pulls asked for, of which nothing was told yet
        self._let_go: list[Hashable] = []

    def __repr__(self) -> str:
        stored = f"{len(self)} of {self.slots} slots in use"
        return f"<Explorer: {self.plan.keep}, window {self.window}, {stored}, {self._now} arrived>"

    def __len__(self) -> int:
        return len(self.memory)

    @property
    def memory(self) -> list[Any]:
        """The arms stored, oldest first; the newest arrival is not stored while it is under test."""
        newest = self._now if self._now in self._tests else 0
        return [self._names[arrival] for arrival in sorted(self._names) if arrival != newest]

    @property
    def under_test(self) -> list[Any]:
        """The arms under test, oldest first."""
        return [self._names[arrival] for arrival in self._tests]

    @property
    def peak_memory(self) -> int:
        """The most arms that were ever stored at once."""
        return self._peak

    @property
    def pulls(self) -> int:
        """All pulls told so far."""
        return self._pulls

    @property
    def arrivals(self) -> int:
        """How many arms have arrived; right after `arrive` it is the number of that arm."""
        return self._now

    @property
    def promise(self) -> float | None:
        """The epsilon that is promised with probability 1 - delta, or None where the settings allow no promise."""
        return self.plan.promise

    def arrive(self, arm: Hashable) -> list[Any]:
        """Let a new arm arrive; return the arms that memory let go since the last arrival, so that the caller may too.

        Arms that have expired, with this arrival or before, are among them; nothing of them is kept.
        """
        if arm is None or not is_hashable(arm):
            raise ValueError(f"arm must be hashable and not None, not {arm!r}")
        if arm in self._arrivals:
            raise ValueError(f"arm must be new, but {arm!r} is in memory since arrival {self._arrivals[arm]}")
        self._now += 1
        self._names[self._now] = arm
        self._arrivals[arm] = self._now
        self._expire()
        while len(self._tests) >= self.plan.pending:
            self._settle(next(iter(self._tests)))
        self._begin_test()
        self._forget()
        let_go, self._let_go = self._let_go, []
        return let_go

    def ask(self) -> Any:
        """Return the arm to pull next, or None when nothing is to be pulled before the next arrival.

        Each call counts as a pull under way, so several may be: asked often enough, an arm is not named again while its
        rewards are awaited.
        """
        for arrival in self._pullable():
            if self._wanted(arrival) > self._in_flight.get(arrival, 0):
                self._in_flight[arrival] = self._in_flight.get(arrival, 0) + 1
                return self._names[arrival]
        return None

    def wanted(self, arm: Hashable) -> int:
        """Return how many rewards of an arm are still wanted, those under way included."""
        return self._wanted(self._arrival_of(arm, None))

    def tell(self, arm: Hashable, reward: float, pulls: int = 1, *, arrival: int | None = None) -> None:
        """Take a reward of an arm, or the total of `pulls` rewards, whenever it comes back.

        An arm that is not in memory raises `UnknownArm`.  Names may come again once they are forgotten: whoever notes
        `arrivals` when an arm arrives can send it along as `arrival`, and a reward for an earlier bearer of the name
        then raises `ExpiredArm` or `UnknownArm` too.
        """
        pulls = whole("pulls", pulls)
        total = finite("reward", reward)
        if self.plan.sigma is None:
            if not -1e-9 <= total / pulls <= 1 + 1e-9:
                allowed = "1" if pulls == 1 else f"{pulls}, the number of pulls"
                raise ValueError(f"reward must be between 0 and {allowed}, not {reward!r}")
            total = min(max(total, 0.0), float(pulls))
        number = self._arrival_of(arm, arrival)
        self._pulls += pulls
        self._in_flight[number] = self._in_flight.get(number, 0) - pulls
        if self._in_flight[number] <= 0:
            del self._in_flight[number]
        if number in self._tests:
            had, sum_before = self._tests[number]
            self._tests[number] = had + pulls, sum_before + total
        else:
            self._update(number, pulls, total)
        if self.plan.keep == "king":
            self._fight(number, pulls, total)
        elif number in self._tests and self._wanted(number) == 0:
            self._settle(number)
        self._forget()

    def best(self) -> Any:
        """Return the arm of the highest empirical mean in memory, or None when no valid arm has been tested yet."""
        slot = leader(self._memory)
        return self._names[int(self._memory.arrival[slot])] if slot >= 0 else None

    def state(self) -> dict[str, Any]:
        """Return all that the explorer knows as a plain dict, ready for JSON if the arms' names are.

        Tuples among the names survive JSON; other names must be strings, numbers or booleans.
        """
        slots = {int(arrival): slot for slot, arrival in enumerate(self._memory.arrival) if arrival > 0}
        return {
            "agent": "Explorer",
            "version": VERSION,
            "arguments": {name: saved.plain(value) for name, value in self._arguments.items()},
            "arrivals": self._now,
            "pulls": self._pulls,
            "peak_memory": self._peak,
            "arms": [self._record(arrival, slots.get(arrival)) for arrival in [*sorted(slots), *self._tests]],
            "duel": [array.tolist() for array in self._duel],
            "let_go": list(self._let_go),
            "luck": saved.generator_state(self._luck),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Make an explorer that goes on exactly where the one that gave `state` stood."""
        fields = saved.checked(state, "Explorer", VERSION, _FIELDS)
        explorer = cls(**saved.checked_arguments(fields["arguments"], Explorer), seed=saved.generator(fields["luck"]))
        explorer._now, explorer._pulls, explorer._peak = fields["arrivals"], fields["pulls"], fields["peak_memory"]
        for record in fields["arms"]:
            explorer._restore(saved.checked(record, None, None, _RECORD))
        saved.fill(explorer._duel, fields["duel"])
        explorer._let_go = [saved.name(arm) for arm in fields["let_go"]]
        return explorer

    def _record(self, arrival: int, slot: int | None) -> dict[str, Any]:
        """Return what is known of an arm, stored in `slot` or under test."""
        if slot is None:
            pulls, total = self._tests[arrival]
        else:
            pulls, total = int(self._memory.pulls[slot]), float(self._memory.total[slot])
        in_flight = self._in_flight.get(arrival, 0)
        known = {"arm": self._names[arrival], "arrival": arrival, "slot": slot}
        return known | {"pulls": pulls, "total": total, "in_flight": in_flight}

    def _restore(self, record: dict[str, Any]) -> None:
        """Take an arm back from a saved state."""
        arm, arrival, slot = saved.name(record["arm"]), record["arrival"], record["slot"]
        if not self._now - self.window < arrival <= self._now or arrival in self._names or arm in self._arrivals:
            raise ValueError(f"state is damaged: arm {arm!r} with arrival {arrival} is not valid, or stands twice")
        if slot is None:
            self._tests[arrival] = record["pulls"], record["total"]
        elif slot < self.plan.slots and self._memory.arrival[slot] == 0:
            put(self._memory, slot, arrival, record["pulls"], record["total"])
        else:
            raise ValueError(f"state is damaged: slot {slot} is taken, or not one of {self.plan.slots}")
        self._names[arrival], self._arrivals[arm] = arm, arrival
        if record["in_flight"]:
            self._in_flight[arrival] = record["in_flight"]

    def _arrival_of(self, arm: Hashable, arrival: int | None) -> int:
        """Return the number of an arm in memory, which must be `arrival` if given."""
        number = self._arrivals.get(arm) if is_hashable(arm) else None
        if arrival is not None and whole("arrival", arrival) != number:
            if arrival <= self._now - self.window:
                raise ExpiredArm(f"arm {arm!r} of arrival {arrival} has expired: valid are the last {self.window}")
            number = None
        if number is None:
            raise UnknownArm(f"arm {arm!r} is not in memory: it was let go, has expired, or never arrived")
        return number

    def _pullable(self) -> list[int]:
        """Return the arms of which pulls may be wanted, in the order in which they are asked for."""
        if self.plan.keep == "king" and not challenge.is_over(self._duel):
            return [int(self._memory.arrival[0]), *self._tests]
        return list(self._tests)

    def _wanted(self, arrival: int) -> int:
        """Return how many more rewards of an arm are wanted."""
        if self.plan.keep == "king":
            side = challenge.CHALLENGER_SIDE if arrival in self._tests else challenge.KING_SIDE
            return fixed(int(self._duel.pulls[side]), int(self._duel.counts[challenge.WANTED]))
        return fixed(self._tests[arrival][0], self.plan.pulls_of(arrival)) if arrival in self._tests else 0

    def _expire(self) -> None:
        """Drop what is too old from the slots and from the arms under test."""
        oldest = self._now - self.window + 1
        expire(self._memory, oldest)
        for arrival in [arrival for arrival in self._tests if arrival < oldest]:
            del self._tests[arrival]
        if self.plan.keep == "king" and self._memory.arrival[0] == 0:
            challenge.crown(self._duel)

    def _begin_test(self) -> None:
        """Put the newest arm under test; a vacant throne it takes without one."""
        self._tests[self._now] = 0, 0.0
        if self.plan.keep == "king":
            if self._memory.arrival[0] == 0:
                self._settle(self._now)
            else:
                challenge.start_challenge(self._duel, self._unit)

    def _settle(self, arrival: int) -> None:
        """End the test of an arm with the rewards that it has: the keep rule decides."""
        pulls, total = self._tests.pop(arrival)
        if self.plan.keep == "king":
            if self._memory.arrival[0] != 0 and not challenge.challenger_won(self._duel):
                challenge.end_challenge(self._duel)
                return
            challenge.crown(self._duel)
        elif pulls == 0:
            return
        luck = self._luck.random() if self.plan.keep == "reservoir" else 0.0
        self._admit(arrival, pulls, total, luck)

    def _admit(self, arrival: int, pulls: int, total: float, luck: float) -> None:
        rule = rules.KEEP[self.plan.keep]
        admit(rule, self._memory, arrival, pulls, total, self._now, self.window, self.plan.slack, luck)

    def _update(self, arrival: int, pulls: int, total: float) -> None:
        """Count rewards for an arm that is stored already; where its place depends on its mean, place it anew."""
        slot = int(np.flatnonzero(self._memory.arrival == arrival)[0])
        pulls, total = int(self._memory.pulls[slot]) + pulls, float(self._memory.total[slot]) + total
        if self.plan.keep in ("bucket", "staircase"):
            drop(self._memory, slot)
            self._admit(arrival, pulls, total, 0.0)
        else:
            put(self._memory, slot, arrival, pulls, total)

    @property
    def _unit(self) -> float:
        sigma = 0.5 if self.plan.sigma is None else self.plan.sigma
        return challenge.challenge_unit(min(self.plan.epsilon, 1.0), self.plan.delta, sigma)

    def _fight(self, arrival: int, pulls: int, total: float) -> None:
        """Count rewards for the king's side or the challenger's, and settle the challenge if it is decided."""
        if challenge.is_over(self._duel):
            return
        side = challenge.CHALLENGER_SIDE if arrival in self._tests else challenge.KING_SIDE
        challenge.fight(self._duel, side, pulls, total)
        challenge.judge(self._duel, self._unit, min(self.plan.epsilon, 1.0))
        if challenge.is_over(self._duel):
            self._settle(next(iter(self._tests)))

    def _forget(self) -> None:
        """Let go of every arm that is neither stored nor under test, and leave no trace of it."""
        kept = set(self._memory.arrival.tolist()) | set(self._tests)
        for arrival in [arrival for arrival in self._names if arrival not in kept]:
            arm = self._names.pop(arrival)
            del self._arrivals[arm]
            self._in_flight.pop(arrival, None)
            self._let_go.append(arm)
        self._peak = max(self._peak, len(self))


_FIELDS = {
    "arguments": dict,
    "arrivals": int,
    "pulls": int,
    "peak_memory": int,
    "arms": list,
    "duel": list,
    "let_go": list,
    "luck": dict,
}
_RECORD = {"arm": object, "arrival": int, "slot": (int, type(None)), "pulls": int, "total": float, "in_flight": int}
