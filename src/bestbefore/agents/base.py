"""What all agents share: the verbs that do not depend on their rules, and saving what they hold.

An agent says which attributes of its own are saved, by their names and kinds, and what is to fit together in a state
that is restored.  The rest is told here, once.
"""

from collections.abc import Hashable
from types import NoneType
from typing import Any, ClassVar, Self

from bestbefore.agents import saved
from bestbefore.agents.generators import generator_state, restored_generator
from bestbefore.agents.holding import Holding, Statistics
from bestbefore.agents.roster import checked_total
from bestbefore.arguments import whole
from bestbefore.clock import When, said
from bestbefore.memory import leaders, put

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


class BaseAgent(Holding):
    """An agent that keeps arms in slots."""

    _fields: ClassVar[dict[str, Any]] = {}  # what else is saved, and its kind: the field "phase" is self._phase
    _other_fields: ClassVar[dict[str, Any]] = {}  # what the agent itself adds to its state and takes back
    _fields_of_an_arm: ClassVar[dict[str, Any]] = {}  # what else is saved of each arm, by _record

    def __repr__(self) -> str:
        stored = f"{len(self)} of {self.memory} slots in use"
        window = said(self._clock.window)
        return f"<{type(self).__name__}: {self._rule}, window {window}, {stored}, {self.arrivals} arrived>"

    def _other_state(self) -> dict[str, Any]:
        """Return what the agent itself adds to its state."""
        return {}

    @property
    def draws(self) -> bool:
        """Whether `ask` draws the arm that it names; if not, that follows from what is known."""
        return False

    @property
    def chance(self) -> float | None:
        """The probability with which the last `ask` of this object named its arm.

        It is None where nothing is drawn, where the rule does not know it, and for a page of `k` arms.
        """
        return None

    def holds(self, arm: Any) -> bool:
        """Say whether an arm is here, stored or under test.

        Parameters
        ----------
        arm
            The arm's name: any hashable but None.
        """
        return arm in self._roster

    def arrival_of(self, arm: Hashable) -> int:
        """Return the number of an arm on the stream's clock, which `tell` takes as `arrival`.

        By count it is 1 for the first arm, 2 for the second, unless `arrive` was told otherwise; by time it is in
        microseconds.

        Parameters
        ----------
        arm
            The arm's name: any hashable but None.
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

        Parameters
        ----------
        to
            The time, or the number, that is now.
        """
        self._go_on(to, "to")
        return self._roster.handed_out()

    def withdraw(self, arm: Hashable, *, at: When = None) -> None:
        """Let an arm go at once, stored or under test, without a trace; the next best takes over.

        Parameters
        ----------
        arm
            The arm's name: any hashable but None.
        at
            When: an aware datetime or seconds with a window by time; a number on the stream's clock with a window by
            count.
        """
        number = self._roster.number(arm)
        self._meanwhile(number, self._clock.later(at))
        self._roster.remove(number)
        self._withdraw(number)
        self._forget()

    def give_up(self, arm: Hashable, pulls: int = 1, *, arrival: int | None = None, at: When = None) -> None:
        """Take note that pulls under way will never report: they count for nothing, and others may take their place.

        That is for rewards that are lost whatever they were.  If bad ones are lost more often, tell 0 instead: an arm
        would seem better than it is.

        Parameters
        ----------
        arm
            The arm's name: any hashable but None.
        pulls
            How many pulls.
        arrival
            The number that `arrival_of` gave, if the name may have been given to another arm since.
        at
            When: an aware datetime or seconds with a window by time; a number on the stream's clock with a window by
            count.
        """
        pulls = whole("pulls", pulls)
        number = self._roster.number(arm, arrival)
        under_way = self._in_flight.get(number, 0)
        if pulls > under_way:
            raise ValueError(f"pulls must be at most {under_way}, those of arm {arm!r} that are under way, not {pulls}")
        self._meanwhile(number, self._clock.later(at))
        self._land(number, pulls)
        self._given_up(number, pulls)

    def best(self, k: int | None = None, *, at: When = None) -> Any:
        """Return the arm of the highest empirical mean in memory, or None when none is stored.

        That is so before the first test is over, and when all arms stored have just expired.  With `k`, return a list
        of up to k arms, best first; of equal means, the newest comes first.

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
        slots = leaders(self._slots, most)
        return self._named(self._slots.arrival[slots].tolist(), k)

    def _named(self, numbers: list[int], k: int | None) -> Any:
        """Return the names of the first k of these arms, or without k that of the first, None if there is none.

        The number 0 is nobody.
        """
        names = [self._roster.name(number) for number in numbers if number][:k]
        return names if k is not None else next(iter(names), None)

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
        """Make an agent that goes on exactly where the one that gave `state` stood.

        Parameters
        ----------
        state
            What `state()` returned.
        """
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
