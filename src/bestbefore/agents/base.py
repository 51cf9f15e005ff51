"""What all agents share: slots, tests and pulls under way, counts of what was done; and saving all that.

An agent says which attributes of its own are saved, by their names and kinds, and what is to fit together in a state
that is restored.  The rest is told here, once.
"""

from collections.abc import Collection, Hashable
from types import NoneType
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from bestbefore.agents import saved
from bestbefore.agents.generators import generator_from, generator_state, restored_generator
from bestbefore.agents.roster import Roster, checked_total
from bestbefore.arguments import finite, whole
from bestbefore.clock import MICROSECOND, Clock, When, Window, said, tolerance_of
from bestbefore.memory import Memory, empty_memory, leader, put
from bestbefore.noise import Noise
from bestbefore.scale import scale_of

_FIELDS: dict[str, Any] = {"arguments": dict, "roster": dict, "arms": list, "rng": str}
_COUNTS: dict[str, Any] = {"pulls": int, "peak_memory": int}
_FIELDS_OF_AN_ARM: dict[str, Any] = {
    "arm": object,
    "arrival": int,
    "slot": (int, NoneType),
    "pulls": int,
    "total": float,
    "in_flight": int,
    "counted": int,
}


class Statistics(NamedTuple):
    """What is known of an arm, and how many rewards are wanted in all while it is under test."""

    pulls: int
    total: float
    wanted: int


class BaseAgent:
    """An agent that keeps arms in slots."""

    _fields: ClassVar[dict[str, Any]] = {}  # what else is saved, and its kind: the field "phase" is self._phase
    _other_fields: ClassVar[dict[str, Any]] = {}  # what the agent itself adds to its state and takes back
    _fields_of_an_arm: ClassVar[dict[str, Any]] = {}  # what else is saved of each arm, by _record
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

    def __repr__(self) -> str:
        stored = f"{len(self)} of {self.memory} slots in use"
        window = said(self._clock.window)
        return f"<{type(self).__name__}: {self._rule}, window {window}, {stored}, {self.arrivals} arrived>"

    def _other_state(self) -> dict[str, Any]:
        """Return what the agent itself adds to its state."""
        return {}

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

    def holds(self, arm: Any) -> bool:
        """Say whether an arm is here, stored or under test."""
        return arm in self._roster

    def arrival_of(self, arm: Hashable) -> int:
        """Return the number of an arm on the stream's clock, which `tell` takes as `arrival`.

        By count it is 1 for the first arm, 2 for the second, unless `arrive` was told otherwise; by time it is in
        microseconds.
        """
        return self._roster.number(arm)

    def means(self) -> dict[Any, float | None]:
        """Return the empirical mean of each arm that is here, oldest first; None for one that was never pulled."""
        known = {number: self._statistics(number) for number in self._numbers_here()}
        return {
            self._roster.name(number): self.scale.outside(total / pulls) if pulls else None
            for number, (pulls, total, _) in known.items()
        }

    def advance(self, to: When = None) -> list[Any]:
        """Let time go on to `to` where nothing arrives; return the arms that memory let go since they were last told.

        `to` is an aware datetime or seconds, and with a window by count the number of an arrival.  Without it, time is
        what the wall clock shows if the last arrival was told no time, and stands still otherwise.
        """
        self._go_on(to, "to")
        return self._roster.handed_out()

    def withdraw(self, arm: Hashable, *, at: When = None) -> None:
        """Let an arm go at once, stored or under test, without a trace; the next best takes over."""
        number = self._number_at(arm, None, at)
        self._go_on(at)
        self._roster.remove(number)
        self._withdraw(number)
        self._forget()

    def give_up(self, arm: Hashable, pulls: int = 1, *, arrival: int | None = None, at: When = None) -> None:
        """Take note that pulls under way will never report: they count for nothing, and others may take their place.

        That is for rewards that are lost whatever they were.  If bad ones are lost more often, tell 0 instead: an arm
        would seem better than it is.
        """
        pulls = whole("pulls", pulls)
        number = self._number_at(arm, arrival, at)
        under_way = self._in_flight.get(number, 0)
        if pulls > under_way:
            raise ValueError(f"pulls must be at most {under_way}, those of arm {arm!r} that are under way, not {pulls}")
        self._go_on(at)
        self._land(number, pulls)
        self._given_up(number, pulls)

    def best(self, *, at: When = None) -> Any:
        """Return the arm of the highest empirical mean in memory, or None when none is stored.

        That is so before the first test is over, and when all arms stored have just expired.
        """
        self._go_on(at)
        slot = leader(self._slots)
        return self._roster.name(int(self._slots.arrival[slot])) if slot >= 0 else None

    def state(self) -> dict[str, Any]:
        """Return all that the agent knows as a plain dict, ready for JSON if the arms' names are.

        Tuples among the names survive JSON; other names must be strings, numbers or booleans.
        """
        stored = [self._record(number, slot) for slot, number in enumerate(self._slots.arrival.tolist()) if number]
        tested = [self._record(number, None) for number in self._tests]
        state: dict[str, Any] = saved.plain(
            {"agent": self._kind().__name__, "version": saved.VERSION, "arguments": self._arguments}
            | {field: getattr(self, f"_{field}") for field in _COUNTS | self._fields}
            | {"roster": self._roster.state(), "arms": stored + tested, "rng": generator_state(self._rng)}
        )
        return state | self._other_state()

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Make an agent that goes on exactly where the one that gave `state` stood."""
        return cls._restored(state)

    @classmethod
    def _restored(cls, state: dict[str, Any], **functions: Any) -> Self:
        """Make an agent from its state, and from functions among its arguments, which are not saved."""
        expected = _FIELDS | _COUNTS | cls._fields | cls._other_fields
        fields = saved.checked_agent(state, cls._kind().__name__, expected)
        arguments = saved.checked_arguments(fields["arguments"], cls._kind(), functions)
        agent = cls(**arguments, seed=restored_generator(fields["rng"]))
        agent._restore(fields)
        return agent

    @classmethod
    def _kind(cls) -> type:
        """Return which agent this is, also where somebody has made a class of their own from it."""
        return next(kind for kind in cls.__mro__ if kind.__module__.startswith("bestbefore.agents."))

    def _restore(self, fields: dict[str, Any]) -> None:
        """Take back all that is in a saved state, and make sure that its parts fit together."""
        for field in _COUNTS | self._fields:
            setattr(self, f"_{field}", fields[field])
        self._roster.restore(fields["roster"])
        for record in fields["arms"]:
            self._restore_arm(saved.checked(record, _FIELDS_OF_AN_ARM | self._fields_of_an_arm))
        if not len(self) <= self._peak_memory <= self.memory:
            raise ValueError(f"state is damaged: peak_memory cannot be {self._peak_memory}")

    def _record(self, number: int, slot: int | None) -> dict[str, Any]:
        """Return what is known of an arm in a slot, or under test, for a saved state."""
        pulls, total, _ = self._statistics(number)
        arm, in_flight = self._roster.name(number), self._in_flight.get(number, 0)
        known = {"arm": arm, "arrival": number, "slot": slot, "pulls": pulls, "total": total}
        return known | {"in_flight": in_flight, "counted": self._counted[number]}

    def _restore_arm(self, record: dict[str, Any]) -> None:
        """Put an arm back into its slot, or under test."""
        number, slot, pulls = record["arrival"], record["slot"], record["pulls"]
        self._roster.restore_arm(number, record["arm"], oldest=1 if self._keeps_expired else self._clock.oldest)
        total = checked_total(record["total"], pulls, self._noise) if pulls else 0.0
        self._counted[number] = whole("counted", record["counted"])
        if slot is None and len(self._tests) < self._pending:
            self._tests[number] = Statistics(pulls, total, self._tests_of(number))
        elif slot is not None and slot < self._slots.arrival.size and self._slots.arrival[slot] == 0:
            put(self._slots, slot, number, pulls, total)
        else:
            raise ValueError(f"state is damaged: there is no room for arm {record['arm']!r} in slot {slot}")
        if record["in_flight"]:
            self._in_flight[number] = record["in_flight"]

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

    def _number_at(self, arm: Hashable, arrival: int | None, at: When) -> int:
        """Return the number of an arm, if it is here and will be so at `at`; nothing is changed."""
        number = self._roster.number(arm, arrival)
        if not self._keeps_expired:
            self._roster.check_valid(number, max(self._clock.later(at), self._clock.now))
        return number

    def _heard(self, arm: Hashable, reward: float, pulls: int, arrival: int | None, at: When) -> tuple[int, int, float]:
        """Return the number of an arm, its pulls and their total, if rewards can be so; see `Explorer.tell`."""
        pulls = whole("pulls", pulls)
        total = checked_total(reward, pulls, self._noise, self.scale)
        return self._number_at(arm, arrival, at), pulls, total

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
        """Return the slots without some arms, and as if pulls under way had returned what is usual for their arm.

        That is 1/2 for an arm of which nothing is known.
        """
        if not under_way and not without:
            return self._slots
        arrival, pulls, total = self._slots
        here = np.array([number not in without for number in arrival.tolist()])
        more = np.array([under_way.get(number, 0) for number in arrival.tolist()])
        usual = np.divide(total, pulls, out=np.full(total.size, 0.5), where=pulls > 0)
        return Memory(arrival * here, (pulls + more) * here, (total + more * usual) * here)

    def _forget(self) -> None:
        """Let go of every arm that is neither stored nor under test, and leave no trace of it."""
        kept = set(self._slots.arrival.tolist()) | set(self._tests)
        self._roster.keep_only(kept)
        self._in_flight = {number: pulls for number, pulls in self._in_flight.items() if number in kept}
        self._counted = {number: count for number, count in self._counted.items() if number in kept}
        self._peak_memory = max(self._peak_memory, len(self))
