"""What all agents share: a few slots, tests and pulls under way, and counts of what was done."""

from collections.abc import Collection, Hashable
from typing import Any, NamedTuple

import numpy as np

from bestbefore.agents.luck import generator_from
from bestbefore.agents.roster import Roster, checked_total
from bestbefore.arguments import between, finite, whole
from bestbefore.memory import Memory, empty_memory, leader


class Test(NamedTuple):
    """The rewards of an arm, and how many are wanted in all while it is under test."""

    pulls: int
    total: float
    wanted: int


class Keeper:
    """An agent that keeps arms in slots."""

    def __init__(
        self,
        window: int,
        slots: int,
        sigma: float | None,
        seed: int | np.random.Generator | None,
    ) -> None:
        """Begin with empty slots."""
        self.window, self.slots = whole("window", window), whole("memory", slots)
        self.sigma = None if sigma is None else between("sigma", sigma, 0, np.inf)
        self._roster, self._memory = Roster(self.window), empty_memory(self.slots)
        self._tests: dict[int, Test] = {}  # of the arms under test, oldest first
        self._in_flight: dict[int, int] = {}  # pulls asked for, of which nothing was told yet
        self._luck = generator_from(seed)
        self._pulls = self._peak_memory = 0

    def __len__(self) -> int:
        return len(self._roster) - (self._roster.now in self._tests)

    def __repr__(self) -> str:
        stored = f"{len(self)} of {self.slots} slots in use"
        return f"<{type(self).__name__}: {self._rule}, window {self.window}, {stored}, {self.arrivals} arrived>"

    @property
    def _rule(self) -> str:
        """What the agent goes by, in a word."""
        raise NotImplementedError

    @property
    def memory(self) -> list[Any]:
        """The arms stored, oldest first; the newest arrival is not stored while it is under test."""
        return self._roster.names[: len(self)]

    @property
    def peak_memory(self) -> int:
        """The most arms that were ever stored at once."""
        return self._peak_memory

    @property
    def pulls(self) -> int:
        """All pulls told so far."""
        return self._pulls

    @property
    def arrivals(self) -> int:
        """How many arms have arrived; right after `arrive` it is the number of that arm."""
        return self._roster.now

    def best(self) -> Any:
        """Return the arm of the highest empirical mean in memory, or None when none is stored.

        That is so before the first test is over, and when all arms stored have just expired.
        """
        slot = leader(self._memory)
        return self._roster.name(int(self._memory.arrival[slot])) if slot >= 0 else None

    def _slot(self, number: int) -> int:
        """Return the slot of an arm that is stored."""
        return int((self._memory.arrival == number).argmax())

    def _known(self, number: int) -> Test:
        """Return what is known of an arm that is here."""
        if number in self._tests:
            return self._tests[number]
        slot = self._slot(number)
        return Test(int(self._memory.pulls[slot]), float(self._memory.total[slot]), 0)

    def _asked(self, number: int) -> Any:
        """Count a pull as under way, and return the name of its arm."""
        self._in_flight[number] = self._in_flight.get(number, 0) + 1
        return self._roster.name(number)

    def _heard(self, arm: Hashable, reward: float, pulls: int, arrival: int | None) -> tuple[int, int, float]:
        """Return the number of an arm, its pulls and their total, if rewards can be so; see `Explorer.tell`."""
        pulls = whole("pulls", pulls)
        total = checked_total(reward, pulls, self.sigma)
        return self._roster.number(arm, arrival), pulls, total

    def _known_with(self, number: int, pulls: int, total: float) -> Test:
        """Return what is known of an arm with these rewards added."""
        known, so_far, wanted = self._known(number)
        return Test(known + pulls, finite("reward", so_far + total), wanted)

    def _told(self, number: int, pulls: int) -> None:
        """Count pulls as told, and as under way no more."""
        self._pulls = whole("pulls", self._pulls + pulls)
        under_way = self._in_flight.get(number, 0)
        if under_way > pulls:
            self._in_flight[number] = under_way - pulls
        elif under_way:
            del self._in_flight[number]

    def _foreseen(self, under_way: dict[int, int], without: Collection[int] = ()) -> Memory:
        """Return the slots without some arms, and as if pulls under way had returned what is usual for their arm.

        That is 1/2 for an arm of which nothing is known.
        """
        if not under_way and not without:
            return self._memory
        arrival, pulls, total = self._memory
        here = np.array([number not in without for number in arrival.tolist()])
        more = np.array([under_way.get(number, 0) for number in arrival.tolist()])
        usual = np.divide(total, pulls, out=np.full(total.size, 0.5), where=pulls > 0)
        return Memory(arrival * here, (pulls + more) * here, (total + more * usual) * here)

    def _forget(self) -> None:
        """Let go of every arm that is neither stored nor under test, and leave no trace of it."""
        kept = set(self._memory.arrival.tolist()) | set(self._tests)
        self._roster.keep_only(kept)
        self._in_flight = {number: pulls for number, pulls in self._in_flight.items() if number in kept}
        self._peak_memory = max(self._peak_memory, len(self))
