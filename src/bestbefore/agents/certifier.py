"""What an explorer does that certifies its answers: which arm to pull next, how often, and what is known by now.

A decision stands until its pulls are told.  When more pulls are asked for, the next decision is made on a copy in which
all pulls under way have returned what is usual for their arm.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bestbefore.agents import saved
from bestbefore.memory import count
from bestbefore.plan import ExplorePlan
from bestbefore.probe.certificates import (
    BY_AGE,
    CHARGED,
    LOG_LOWER,
    LOWER,
    UPPER,
    Certificates,
    admit,
    copied,
    expire,
    no_certificates,
    refresh,
    withdraw,
)
from bestbefore.probe.certify import answer, decide, settle
from bestbefore.probe.room import give_way

Flight = Mapping[int, int]
_NEXT: dict[str, Any] = dict.fromkeys(("wanted", "until", "spent", "late"), int)
_ROW: dict[str, Any] = dict.fromkeys(("lower", "upper", "charge"), float)
_ROW |= dict.fromkeys(
    ("charged", "seen_lower", "seen_upper", "freed"), int
)  # the columns of `Certificates`, in their order


class Certifier:
    """The certificates of an explorer, and the pulls that it wants next."""

    def __init__(self, plan: ExplorePlan) -> None:
        self.plan, self.settings = plan, plan.certificates()
        self.certificates = no_certificates(plan.slots)
        self._wanted, self._slot, self._until = 0, 0, 0  # the arm to pull, by number and slot, and its pulls then
        self._spent = self._late = 0  # pulls since the last arrival; and those that were under way when it came

    @property
    def left(self) -> int:
        """How many pulls may still be made before the next arrival; below 0 if there is no limit."""
        return -1 if self.plan.budget is None else max(self.plan.budget - self._spent, 0)

    def arrive(self, number: int, oldest: int, counted: int, in_flight: Flight) -> None:
        """Let an arm arrive; whoever is too old goes, and if slots are still full, whoever costs least.

        Its share of delta depends on what was `counted`: see `bestbefore.plan.ExplorePlan.tests_of`.
        """
        expire(self.certificates, oldest)
        self._free_slots()
        admit(self.certificates, number, *self.plan.logs_of(counted))
        self._spent, self._late = 0, sum(in_flight.values())
        self._decide()

    @property
    def spent(self) -> int:
        """The pulls since the last arrival."""
        return self._spent

    def take(self, certificates: Certificates, spent: int, in_flight: Flight) -> None:
        """Go on with certificates that were united, of which so many pulls are spent since the last arrival."""
        self.certificates, self._spent = certificates, spent
        self._decide(may_free=not in_flight)

    def some_expired(self, oldest: int) -> bool:
        """Say whether an arm has expired, or the arms that a charge stands for."""
        noted = (self.certificates.memory.arrival, self.certificates.counts[:, CHARGED])
        return any(bool(((numbers > 0) & (numbers < oldest)).any()) for numbers in noted)

    def expire(self, oldest: int) -> None:
        """Drop what is too old where nothing arrives, and decide anew."""
        expire(self.certificates, oldest)
        self._decide(may_free=False)

    def withdraw(self, slot: int) -> None:
        """Drop an arm that was withdrawn, and decide anew."""
        refresh(self.certificates, slot, self.settings)
        withdraw(self.certificates, slot)
        self._decide(may_free=False)

    def given_up(self, pulls: int, in_flight: Flight) -> None:
        """Take note of pulls that are under way no more: they are not spent; and nothing else may be waited for."""
        none_left = self.left == 0
        self._spent = max(self._spent - self._landed(pulls), 0)
        if none_left and not in_flight:
            self._decide()

    def _landed(self, pulls: int) -> int:
        """Count pulls as under way no more, those of before the last arrival first; return how many were not such."""
        late = min(self._late, pulls)
        self._late -= late
        return pulls - late

    def next(self, in_flight: Flight) -> int:
        """Return the number of the arm to pull next, or 0 if nothing is to be pulled."""
        if not self._wanted or self.left == 0:
            return 0
        if self._has_place() and self._pulls(self._slot) + in_flight.get(self._wanted, 0) < self._until:
            return self._wanted
        ahead = copied(self.certificates)
        for slot in np.flatnonzero(ahead.memory.arrival):
            under_way = in_flight.get(int(ahead.memory.arrival[slot]), 0)
            if under_way:
                pulls = ahead.memory.pulls[slot]
                ahead.memory.total[slot] += under_way * (ahead.memory.total[slot] / pulls if pulls else 0.5)
                ahead.memory.pulls[slot] += under_way
        chosen, _ = decide(ahead, self.left, self.settings)
        return int(ahead.memory.arrival[chosen]) if chosen >= 0 else 0

    def asked(self, pulls: int) -> None:
        """Count pulls as spent."""
        self._spent += pulls

    def tell(self, slot: int, pulls: int, total: float, in_flight: Flight) -> bool:
        """Take rewards of an arm, and decide anew if all is there that was waited for; say whether arms have gone."""
        memory = self.certificates.memory
        memory.pulls[slot] += pulls
        memory.total[slot] += total
        self._landed(pulls)
        if bool(in_flight) if self.left == 0 else self._has_place() and self._pulls(self._slot) < self._until:
            return False
        before = np.count_nonzero(memory.arrival)
        self._decide(may_free=not in_flight)
        return bool(np.count_nonzero(memory.arrival) < before)

    def wants(self, number: int) -> int:
        """Return how many rewards of an arm are wanted by the last decision."""
        return max(self._until - self._pulls(self._slot), 0) if number == self._wanted and self._has_place() else 0

    def answer(self) -> tuple[int, float, bool]:
        """Return the number of the answer, or 0; its gap; and whether it is certified."""
        slot, gap, certified = answer(self.certificates, self.settings)
        return (int(self.certificates.memory.arrival[slot]) if slot >= 0 else 0), float(gap), bool(certified)

    def bounds(self, slot: int) -> tuple[float, float]:
        """Return the lower and the upper bound of an arm, up to date."""
        now = copied(self.certificates)
        refresh(now, slot, self.settings)
        return float(now.levels[slot, LOWER]), float(now.levels[slot, UPPER])

    def state(self) -> list[Any]:
        """Return what is to be saved beside arms and pulls: a row for each arm, by slot, and the one of nobody."""
        levels, counts = self.certificates.levels.tolist(), self.certificates.counts.tolist()
        rows = [dict(zip(_ROW, levels[row][:LOG_LOWER] + counts[row][:BY_AGE], strict=True)) for row in self._rows()]
        return [dict(zip(_NEXT, (self._wanted, self._until, self._spent, self._late), strict=True)), *rows]

    def restore(self, state: list[Any], now: int, counted: Mapping[int, int]) -> None:
        """Take back what was saved, if it fits the arms stored."""
        (memory, levels, counts), rows = self.certificates, self._rows()
        if len(state) != len(rows) + 1:
            raise ValueError(f"state is damaged: {len(rows)} certificates are needed, not {len(state) - 1}")
        self._wanted, self._until, self._spent, self._late = saved.checked(state[0], _NEXT).values()
        if self._wanted and self._wanted not in memory.arrival:
            raise ValueError(f"state is damaged: arm {self._wanted} cannot be wanted, for it is not here")
        self._slot = int((memory.arrival == self._wanted).argmax())
        counts[: len(rows) - 1, BY_AGE] = sorted(rows[:-1], key=lambda slot: memory.arrival[slot])
        for row, record in zip(rows, state[1:], strict=True):
            known = saved.checked(record, _ROW)
            pulls = int(memory.pulls[row]) if row < memory.pulls.size else 0
            sure = all(0 <= known[name] <= 1 for name in ("lower", "upper", "charge"))
            sure = sure and max(known["charged"], known["freed"]) <= now
            if not sure or max(known["seen_lower"], known["seen_upper"]) > pulls:
                raise ValueError(f"state is damaged: {record!r} cannot be a certificate")
            values = list(known.values())
            levels[row, :LOG_LOWER], counts[row, :BY_AGE] = values[:LOG_LOWER], values[LOG_LOWER:]
            if row < memory.arrival.size:
                levels[row, LOG_LOWER:] = self.plan.logs_of(counted[int(memory.arrival[row])])

    def _rows(self) -> list[int]:
        """Return the rows that say something: those of arms, and the last one."""
        arrival = self.certificates.memory.arrival
        return [*np.flatnonzero(arrival).tolist(), arrival.size]

    def _decide(self, *, may_free: bool = True) -> None:
        """Drop what may go, and decide what to pull next; if no more may be pulled, whoever has no slot goes."""
        last = self._slot if self._has_place() else -1
        slot, pulls, stored = settle(self.certificates, last, self.left, self.settings)
        self._wanted = self._slot = self._until = 0
        if slot >= 0:
            self._wanted, self._slot = int(self.certificates.memory.arrival[slot]), slot
            self._until = self._pulls(slot) + pulls
        elif may_free and stored > self.plan.slots:
            self._free_slots()

    def _free_slots(self) -> None:
        """Let arms go that have no slot, whatever that costs: the gap will show it."""
        while count(self.certificates.memory) > self.plan.slots:
            give_way(self.certificates, self.settings)

    def _has_place(self) -> bool:
        """Say whether an arm is wanted, and still here."""
        return bool(self._wanted and self.certificates.memory.arrival[self._slot] == self._wanted)

    def _pulls(self, slot: int) -> int:
        return int(self.certificates.memory.pulls[slot])
