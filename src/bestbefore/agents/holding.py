"""What an agent holds: arms in slots, tests and pulls under way, the time, and counts of what was done."""

from collections.abc import Collection, Hashable, Mapping
from contextlib import nullcontext
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from bestbefore.agents.generators import generator_from
from bestbefore.agents.rollback import all_or_nothing
from bestbefore.agents.roster import Roster, checked_total
from bestbefore.agents.under_way import foreseen
from bestbefore.arguments import finite, whole
from bestbefore.clock import MICROSECOND, Clock, When, Window, tolerance_of
from bestbefore.errors import UnknownArm
from bestbefore.memory import Memory, empty_memory
from bestbefore.noise import Noise
from bestbefore.scale import scale_of

Ints = npt.NDArray[np.int64]


class Statistics(NamedTuple):
    """What is known of an arm, and how many rewards are wanted in all while it is under test."""

    pulls: int
    total: float
    wanted: int


class Holding:
    """Arms in slots and under test, on a clock."""

    _keeps_expired: ClassVar[bool] = False
    _rule: str  # what the agent goes by, in a word

    def __init__(
        self,
        arguments: dict[str, Any],
        window: Window,
        slots: int,
        noise: Noise,
        seed: int | np.random.Generator | None,
        pending: int = 0,
    ) -> None:
        """Begin with empty slots; `arguments` make the same agent again, and `pending` arms may be under test."""
        tolerance = tolerance_of(window, arguments["tolerance"])
        self.window, self.memory, self.scale = window.told, slots, scale_of(arguments["scale"])
        self.sigma, self.tolerance = arguments["sigma"], tolerance * MICROSECOND
        self._noise = noise
        self._arguments, self._pending = arguments, pending
        self._clock = Clock(window, tolerance)
        self._roster, self._slots = Roster(self._clock), empty_memory(slots)
        self._counted: dict[int, int] = {}  # what each arm's share of delta depends on: see `ExplorePlan.tests_of`
        self._tests: dict[int, Statistics] = {}  # of the arms under test, oldest first
        self._in_flight: dict[int, int] = {}  # pulls asked for, of which nothing was told yet
        self._rng = generator_from(seed)
        self._pulls = self._peak_memory = 0

    def __len__(self) -> int:
        return len(self._roster) - (self._clock.newest in self._tests)

    @property
    def stored(self) -> list[Any]:
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
        """How many arms have arrived."""
        return self._clock.arrivals

    def _tests_of(self, number: int) -> int:
        """Return by how many pulls an arm is tested, at most."""
        raise NotImplementedError

    def _slot(self, number: int) -> int:
        """Return the slot of an arm that is stored."""
        return int((self._slots.arrival == number).argmax())

    def _statistics(self, number: int) -> Statistics:
        """Return what is known of an arm that is here."""
        if number in self._tests:
            return self._tests[number]
        slot = self._slot(number)
        return Statistics(int(self._slots.pulls[slot]), float(self._slots.total[slot]), 0)

    def _asked(self, number: int) -> Any:
        """Count a pull as under way, and return the name of its arm."""
        self._in_flight[number] = self._in_flight.get(number, 0) + 1
        return self._roster.name(number)

    def _numbers_here(self) -> list[int]:
        """Return the numbers of all arms that are here, oldest first."""
        return sorted([*self._slots.arrival[self._slots.arrival > 0].tolist(), *self._tests])

    def _enter(self, arm: Hashable, time: int, at: When) -> int:
        """Let an arm arrive at a time, that of `at`; return its number."""
        number = self._clock.arrive(time)
        self._clock.on_wall = self._clock.window.by_time and at is None
        self._roster.add(number, arm)
        self._counted[number] = self._count_for_shares()
        return number

    def _count_for_shares(self) -> int:
        """Return what the newest arm's share of delta depends on: its number, or by time how many have arrived."""
        return self._clock.arrivals if self._clock.window.by_time else self._clock.newest

    def _go_on(self, at: When, name: str = "at") -> None:
        """Let time go on to `at`; whoever has expired then is let go."""
        time = self._clock.later(at, name)
        if time > self._clock.time:
            self._pass_time(time)

    def _meanwhile(self, number: int, time: int) -> None:
        """Let time go on before something is done with an arm; if it goes with that, time stands still."""
        if time <= self._clock.time:
            return
        if not self._keeps_expired:
            self._roster.check_valid(number, time)
        with all_or_nothing(self) if self._expires_by(time) else nullcontext():
            arm = self._roster.name(number)
            self._pass_time(time)
            if number not in self._counted:
                raise UnknownArm(f"arm {arm!r} is let go by the time of this call")

    def _expires_by(self, time: int) -> bool:
        """Say whether there will be anything to let go of at a time."""
        before, self._clock.time = self._clock.time, time
        found = self._some_expired()
        self._clock.time = before
        return found

    def _pass_time(self, time: int) -> None:
        """Let time go on, and arms expire."""
        self._clock.advance(time)
        if self._some_expired():
            self._expire()
            self._forget()

    def _some_expired(self) -> bool:
        """Say whether there is anything to let go of, now that time has gone on."""
        return any(number < self._clock.oldest for number in self._counted)

    def _expire(self) -> None:
        """Drop what is too old."""
        raise NotImplementedError

    def _withdraw(self, number: int) -> None:
        """Drop an arm that was withdrawn, whose name is gone already."""
        raise NotImplementedError

    def _given_up(self, number: int, pulls: int) -> None:
        """Take note of pulls that are under way no more."""

    def _heard(self, arm: Hashable, reward: float, pulls: int, arrival: int | None) -> tuple[int, int, float]:
        """Return the number of an arm, its pulls and their total, if rewards can be so; see `Explorer.tell`."""
        pulls = whole("pulls", pulls)
        total = checked_total(reward, pulls, self._noise, self.scale)
        return self._roster.number(arm, arrival), pulls, total

    def _statistics_with(self, number: int, pulls: int, total: float) -> Statistics:
        """Return what is known of an arm with these rewards added."""
        known, so_far, wanted = self._statistics(number)
        return Statistics(known + pulls, finite("reward", so_far + total), wanted)

    def _told(self, number: int, pulls: int) -> None:
        """Count pulls as told, and as under way no more."""
        self._pulls = whole("pulls", self._pulls + pulls)
        self._land(number, pulls)

    def _land(self, number: int, pulls: int) -> None:
        """Count pulls as under way no more."""
        under_way = self._in_flight.get(number, 0)
        if under_way > pulls:
            self._in_flight[number] = under_way - pulls
        elif under_way:
            del self._in_flight[number]

    def _foreseen(self, under_way: dict[int, int], without: Collection[int] = ()) -> Memory:
        """Return the slots without some arms, and as if pulls under way had returned what is expected of their arm."""
        if not under_way and not without:
            return self._slots
        found = foreseen(self._slots, self._by_slot(under_way), np.inf, self._noise)
        here = np.array([number not in without for number in found.arrival.tolist()])
        return Memory(found.arrival * here, found.pulls * here, found.total * here)

    def _by_slot(self, counts: Mapping[int, int]) -> Ints:
        """Return what was counted of each arm, by slot; 0 for an empty one."""
        return np.array([counts.get(number, 0) for number in self._slots.arrival.tolist()], np.int64)

    def _forget(self) -> None:
        """Let go of every arm that is neither stored nor under test, and leave no trace of it."""
        kept = set(self._slots.arrival.tolist()) | set(self._tests)
        self._roster.keep_only(kept)
        self._in_flight = {number: pulls for number, pulls in self._in_flight.items() if number in kept}
        self._counted = {number: count for number, count in self._counted.items() if number in kept}
        self._peak_memory = max(self._peak_memory, len(self))
