"""Explorer: a live agent that always knows a nearly best arm of the window."""

from collections.abc import Hashable
from typing import Any, Self

import numpy as np

from bestbefore import rules
from bestbefore.agents import saved
from bestbefore.agents.keeper import Keeper, Test
from bestbefore.agents.luck import generator_state, restored_generator
from bestbefore.agents.plan import make_plan
from bestbefore.agents.roster import checked_total
from bestbefore.keep import admit
from bestbefore.memory import drop, expire, put
from bestbefore.pull import challenge
from bestbefore.pull.fixed import fixed

VERSION = 1


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
        self._arguments = saved.plain(self._arguments)
        self.plan = plan = make_plan(**self._arguments)
        if keep == "king" and pending != 1:
            raise ValueError(f"pending must be 1 with keep='king', which fights one challenge at a time, not {pending}")
        super().__init__(plan.window, plan.slots, plan.sigma, seed)
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

    def state(self) -> dict[str, Any]:
        """Return all that the explorer knows as a plain dict, ready for JSON if the arms' names are.

        Tuples among the names survive JSON; other names must be strings, numbers or booleans.
        """
        return {
            "agent": "Explorer",
            "version": VERSION,
            "arguments": saved.plain(self._arguments),
            "pulls": self._pulls,
            "peak_memory": self._peak_memory,
            "roster": self._roster.state(),
            "irregular": self._irregular,
            "stored": [
                self._record(int(self._memory.arrival[slot])) | {"slot": slot}
                for slot in np.flatnonzero(self._memory.arrival).tolist()
            ],
            "tests": [self._record(number) for number in self._tests],
            "in_flight": [list(item) for item in self._in_flight.items()],
            "duel": [array.tolist() for array in self._duel],
            "luck": generator_state(self._luck),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Make an explorer that goes on exactly where the one that gave `state` stood."""
        fields = saved.checked_agent(state, "Explorer", VERSION, _FIELDS)
        arguments = saved.checked_arguments(fields["arguments"], Explorer)
        explorer = cls(**arguments, seed=restored_generator(fields["luck"]))
        explorer._pulls, explorer._peak_memory, explorer._irregular = (
            fields[name] for name in ("pulls", "peak_memory", "irregular")
        )
        explorer._roster.restore(fields["roster"])
        for record in fields["stored"]:
            explorer._restore_stored(saved.checked(record, _TESTED | {"slot": int}))
        for record in fields["tests"]:
            number, test = explorer._restored(saved.checked(record, _TESTED))
            explorer._tests[number] = test
        explorer._restore_in_flight(fields["in_flight"])
        saved.fill(explorer._duel, fields["duel"])
        explorer._check_restored()
        return explorer

    def _record(self, number: int) -> dict[str, Any]:
        """Return what is known of an arm, for a saved state."""
        known = self._known(number)
        arm = saved.plain(self._roster.name(number))
        return {"arm": arm, "arrival": number, "pulls": known.pulls, "total": known.total}

    def _restore_stored(self, record: dict[str, Any]) -> None:
        """Put an arm back into its slot."""
        slot = record["slot"]
        if slot >= self.plan.slots or self._memory.arrival[slot] != 0:
            raise ValueError(f"state is damaged: slot {slot} is taken, or not one of {self.plan.slots}")
        number, test = self._restored(record)
        put(self._memory, slot, number, test.pulls, test.total)

    def _restored(self, record: dict[str, Any]) -> tuple[int, Test]:
        """Take an arm back, and return its number and its rewards."""
        number, pulls = record["arrival"], record["pulls"]
        self._roster.restore_arm(number, record["arm"])
        total = checked_total(record["total"], pulls, self.plan.sigma) if pulls else 0.0
        return number, Test(pulls, total, self.plan.pulls_of(number))

    def _restore_in_flight(self, pairs: list[Any]) -> None:
        """Take back how many pulls of which arm are under way."""
        here = set(self._memory.arrival.tolist()) | set(self._tests)
        for pair in pairs:
            numbers = isinstance(pair, list) and [type(item) for item in pair] == [int, int]
            if not (numbers and pair[0] in here and pair[1] > 0):
                raise ValueError(f"state is damaged: in_flight cannot have {pair!r}")
            self._in_flight[pair[0]] = pair[1]

    def _check_restored(self) -> None:
        """Make sure that the parts of a restored state fit together."""
        fights = not challenge.is_over(self._duel)
        king_and_challenger = self.plan.keep == "king" and self._memory.arrival[0] > 0 and len(self._tests) == 1
        if len(self._tests) > self.plan.pending or (fights and not king_and_challenger):
            raise ValueError("state is damaged: the arms under test do not fit the settings")
        if not len(self) <= self._peak_memory <= self.slots:
            raise ValueError(f"state is damaged: peak_memory cannot be {self._peak_memory}")

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
        self._tests[number] = Test(0, 0.0, self.plan.pulls_of(number))
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

    def _admit(self, number: int, test: Test, luck: float) -> None:
        rule, now = rules.KEEP[self.plan.keep], self._roster.now
        admit(rule, self._memory, number, test.pulls, test.total, now, self.window, self.plan.slack, luck)

    def _update(self, number: int, known: Test) -> None:
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


_FIELDS = {
    "arguments": dict,
    "pulls": int,
    "peak_memory": int,
    "irregular": int,
    "roster": dict,
    "stored": list,
    "tests": list,
    "in_flight": list,
    "duel": list,
    "luck": dict,
}
_TESTED = {"arm": object, "arrival": int, "pulls": int, "total": float}
