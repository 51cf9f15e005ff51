"""Explorer: a live agent that always knows a nearly best arm of the window."""

from collections.abc import Hashable
from typing import Any, Self

import numpy as np

from bestbefore import rules
from bestbefore.agents import saved
from bestbefore.agents.plan import make_plan
from bestbefore.agents.roster import Roster
from bestbefore.arguments import finite, whole
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
        self._roster = Roster(self.window)
        self._memory = empty_memory(self.plan.slots)
        self._tests: dict[int, tuple[int, float]] = {}  # pulls and total of the arms under test, oldest first
        self._in_flight: dict[int, int] = {}  # pulls asked for, of which nothing was told yet
        self._duel = challenge.peaceful_duel()
        self._luck = seed if isinstance(seed, np.random.Generator) else np.random.default_rng(seed)
        self._pulls = self._peak = 0

    def __repr__(self) -> str:
        stored = f"{len(self)} of {self.slots} slots in use"
        return f"<Explorer: {self.plan.keep}, window {self.window}, {stored}, {self.arrivals} arrived>"

    def __len__(self) -> int:
        return len(self.memory)

    @property
    def memory(self) -> list[Any]:
        """The arms stored, oldest first; the newest arrival is not stored while it is under test."""
        names = self._roster.names
        return names[:-1] if self._roster.now in self._tests else names

    @property
    def under_test(self) -> list[Any]:
        """The arms under test, oldest first."""
        return [self._roster.name(number) for number in self._tests]

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
        return self._roster.now

    @property
    def promise(self) -> float | None:
        """The epsilon that is promised with probability 1 - delta, or None where the settings allow no promise."""
        return self.plan.promise

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
                self._in_flight[number] = self._in_flight.get(number, 0) + 1
                return self._roster.name(number)
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
        pulls = whole("pulls", pulls)
        total = self._checked_total(reward, pulls)
        number = self._roster.number(arm, arrival)
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
        if number not in self._tests:
            self._forget()

    def best(self) -> Any:
        """Return the arm of the highest empirical mean in memory, or None when no valid arm has been tested yet."""
        slot = leader(self._memory)
        return self._roster.name(int(self._memory.arrival[slot])) if slot >= 0 else None

    def state(self) -> dict[str, Any]:
        """Return all that the explorer knows as a plain dict, ready for JSON if the arms' names are.

        Tuples among the names survive JSON; other names must be strings, numbers or booleans.
        """
        return {
            "agent": "Explorer",
            "version": VERSION,
            "arguments": saved.plain(self._arguments),
            "pulls": self._pulls,
            "peak_memory": self._peak,
            "roster": self._roster.state(),
            "stored": [self._record(slot) for slot in np.flatnonzero(self._memory.arrival).tolist()],
            "tests": [
                {"arm": self._roster.name(number), "arrival": number, "pulls": pulls, "total": total}
                for number, (pulls, total) in self._tests.items()
            ],
            "in_flight": [list(item) for item in self._in_flight.items()],
            "duel": [array.tolist() for array in self._duel],
            "luck": saved.generator_state(self._luck),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Make an explorer that goes on exactly where the one that gave `state` stood."""
        fields = saved.checked_agent(state, "Explorer", VERSION, _FIELDS)
        arguments = saved.checked_arguments(fields["arguments"], Explorer)
        explorer = cls(**arguments, seed=saved.generator(fields["luck"]))
        explorer._pulls, explorer._peak = fields["pulls"], fields["peak_memory"]
        explorer._roster.restore(fields["roster"])
        for record in fields["stored"]:
            explorer._restore_stored(saved.checked(record, _TESTED | {"slot": int}))
        for record in fields["tests"]:
            test = saved.checked(record, _TESTED)
            explorer._roster.restore_arm(test["arrival"], test["arm"])
            explorer._tests[test["arrival"]] = test["pulls"], float(test["total"])
        explorer._restore_in_flight(fields["in_flight"])
        saved.fill(explorer._duel, fields["duel"])
        explorer._check_restored()
        return explorer

    def _record(self, slot: int) -> dict[str, Any]:
        """Return what is known of the arm in a slot."""
        number, pulls = int(self._memory.arrival[slot]), int(self._memory.pulls[slot])
        known = {"arm": self._roster.name(number), "arrival": number}
        return known | {"pulls": pulls, "total": float(self._memory.total[slot]), "slot": slot}

    def _restore_stored(self, record: dict[str, Any]) -> None:
        """Put an arm back into its slot."""
        slot = record["slot"]
        if slot >= self.plan.slots or self._memory.arrival[slot] != 0:
            raise ValueError(f"state is damaged: slot {slot} is taken, or not one of {self.plan.slots}")
        self._roster.restore_arm(record["arrival"], record["arm"])
        put(self._memory, slot, record["arrival"], record["pulls"], record["total"])

    def _restore_in_flight(self, pairs: list[Any]) -> None:
        """Take back how many pulls of which arm are under way."""
        here = set(self._memory.arrival.tolist()) | set(self._tests)
        for pair in pairs:
            if not (
                isinstance(pair, list) and len(pair) == 2 and pair[0] in here and type(pair[1]) is int and pair[1] > 0
            ):
                raise ValueError(f"state is damaged: in_flight cannot have {pair!r}")
            self._in_flight[pair[0]] = pair[1]

    def _check_restored(self) -> None:
        """Make sure that the parts of a restored state fit together."""
        fights = not challenge.is_over(self._duel)
        king_and_challenger = self.plan.keep == "king" and self._memory.arrival[0] > 0 and len(self._tests) == 1
        if len(self._tests) > self.plan.pending or (fights and not king_and_challenger):
            raise ValueError("state is damaged: the arms under test do not fit the settings")
        if not len(self) <= self._peak <= self.slots:
            raise ValueError(f"state is damaged: peak_memory cannot be {self._peak}")

    def _checked_total(self, reward: float, pulls: int) -> float:
        """Return the total of so many rewards, if they can have it."""
        total = finite("reward", reward)
        if self.plan.sigma is not None:
            return total
        if not -1e-9 <= total / pulls <= 1 + 1e-9:  # sums of many floats may be off in the last digits
            allowed = "1" if pulls == 1 else f"{pulls}, the number of pulls"
            raise ValueError(f"reward must be between 0 and {allowed}, not {reward!r}")
        return min(max(total, 0.0), float(pulls))

    def _pullable(self) -> list[int]:
        """Return the arms of which pulls may be wanted, in the order in which they are asked for."""
        if self.plan.keep == "king" and not challenge.is_over(self._duel):
            return [int(self._memory.arrival[0]), *self._tests]
        return list(self._tests)

    def _wanted(self, number: int) -> int:
        """Return how many more rewards of an arm are wanted."""
        if self.plan.keep == "king":
            return fixed(int(self._duel.pulls[self._side(number)]), int(self._duel.counts[challenge.WANTED]))
        return fixed(self._tests[number][0], self.plan.pulls_of(number)) if number in self._tests else 0

    def _side(self, number: int) -> int:
        return challenge.CHALLENGER_SIDE if number in self._tests else challenge.KING_SIDE

    def _expire(self) -> None:
        """Drop what is too old from the slots and from the arms under test."""
        expire(self._memory, self._roster.oldest)
        for number in [number for number in self._tests if number < self._roster.oldest]:
            del self._tests[number]
        if self.plan.keep == "king" and self._memory.arrival[0] == 0:
            challenge.crown(self._duel)

    def _begin_test(self, number: int) -> None:
        """Put the newest arm under test; a vacant throne it takes without one."""
        self._tests[number] = 0, 0.0
        if self.plan.keep == "king":
            if self._memory.arrival[0] == 0:
                self._settle(number)
            else:
                challenge.start_challenge(self._duel, self._unit)

    def _settle(self, number: int) -> None:
        """End the test of an arm with the rewards that it has: the keep rule decides."""
        pulls, total = self._tests.pop(number)
        if self.plan.keep == "king":
            if self._memory.arrival[0] != 0 and not challenge.challenger_won(self._duel):
                challenge.end_challenge(self._duel)
                return
            challenge.crown(self._duel)
        elif pulls == 0:
            return
        luck = self._luck.random() if self.plan.keep == "reservoir" else 0.0
        self._admit(number, pulls, total, luck)

    def _admit(self, number: int, pulls: int, total: float, luck: float) -> None:
        rule, now = rules.KEEP[self.plan.keep], self._roster.now
        admit(rule, self._memory, number, pulls, total, now, self.window, self.plan.slack, luck)

    def _update(self, number: int, pulls: int, total: float) -> None:
        """Count rewards for an arm that is stored already; where its place depends on its mean, place it anew."""
        slot = int(np.flatnonzero(self._memory.arrival == number)[0])
        pulls, total = int(self._memory.pulls[slot]) + pulls, float(self._memory.total[slot]) + total
        if self.plan.keep in ("bucket", "staircase"):
            drop(self._memory, slot)
            self._admit(number, pulls, total, 0.0)
        else:
            put(self._memory, slot, number, pulls, total)

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

    def _forget(self) -> None:
        """Let go of every arm that is neither stored nor under test, and leave no trace of it."""
        kept = set(self._memory.arrival.tolist()) | set(self._tests)
        self._roster.keep_only(kept)
        self._in_flight = {number: pulls for number, pulls in self._in_flight.items() if number in kept}
        self._peak = max(self._peak, len(self))


_FIELDS = {
    "arguments": dict,
    "pulls": int,
    "peak_memory": int,
    "roster": dict,
    "stored": list,
    "tests": list,
    "in_flight": list,
    "duel": list,
    "luck": dict,
}
_TESTED = {"arm": object, "arrival": int, "pulls": int, "total": float}
