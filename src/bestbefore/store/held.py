"""A stream in memory: its agent, the arms that are here, and what is due.

What is due happens at its own time and in order, however late somebody looks: so answers do not depend on when a sweep
ran.
"""

import json
from datetime import timedelta
from typing import Any, Final

from bestbefore.arguments import MOST
from bestbefore.clock import microseconds
from bestbefore.errors import Conflict, StoreDamaged, UnknownArm
from bestbefore.store.kinds import Kind
from bestbefore.store.ledger import Ledger
from bestbefore.store.names import compact, hidden, name_of, shown, text_of
from bestbefore.store.rows import DEFAULTED, GIVEN_UP, GONE, ArmRow, PullRow, StreamRow, Writing
from bestbefore.store.totals import Tally

COUNTS: Final = ("arrived", "asked", "told", "defaulted", "given_up", "gone", "erased", "before")
"""What is counted of a stream; `before` is how many pulls its agent had been told when the stream was made."""

_MICROSECOND: Final = timedelta(microseconds=1)


class Held:
    """A stream whose agent is in memory."""

    def __init__(self, row: StreamRow, kind: Kind) -> None:
        self.row, self.kind = row, kind
        try:
            names = {arm.number: name_of(arm.name) for arm in row.arms}
            state = shown(json.loads(row.state), names, ours=kind.ours)
            self.agent: Any = kind.restored(state)
            missing = [name for name in names.values() if not self.agent.holds(name)]
            if missing or set(row.counts) != set(COUNTS):
                raise ValueError(f"{len(missing)} arms are not in its state, or its counts are wrong")
        except Exception as wrong:  # whatever it is: what is in the database is no stream
            raise StoreDamaged(f"stream {row.name!r} cannot be loaded: {_words(wrong)}") from wrong
        self.arms = {names[arm.number]: arm for arm in row.arms}
        self.numbers = {arm.number: names[arm.number] for arm in row.arms}
        self.came: list[ArmRow] = []
        self.went: list[int] = []
        self.gone: list[Any] = []  # names let go by the call at hand
        self.tally = Tally()
        self.changed = False
        self.ahead = False  # whether the call at hand has told a time that has not come
        window = self.agent.window
        self._window = window // _MICROSECOND if isinstance(window, timedelta) else None
        self._tolerance = getattr(self.agent, "tolerance", timedelta(0)) // _MICROSECOND

    @property
    def by_time(self) -> bool:
        """Whether the window is a time."""
        return self._window is not None

    @property
    def counts(self) -> dict[str, int]:
        """What was counted."""
        return self.row.counts

    def moment(self, now: int, at: Any = None, name: str = "at") -> int:
        """Return what time it is for this stream: time never goes back, whatever clocks do."""
        if at is None or not self.by_time:
            return min(max(now, self.row.time), MOST - 1)
        told = microseconds(name, at)
        if self.row.time - told > self._tolerance:
            raise ValueError(f"{name} must not be earlier than the last time, {self.row.time / 1e6:.6f} s, not {at!r}")
        self.ahead = told > now
        return max(told, self.row.time)

    def times(self, now: int) -> dict[str, float]:
        """Return how a verb of the agent is told the time: by count it is not."""
        return {"at": now / 1e6} if self.by_time else {}

    def arm_of(self, row: PullRow) -> Any:
        """Return the name of a pull's arm, or raise an `UnknownArm`."""
        if row.how == GONE or row.arrival not in self.numbers:
            raise UnknownArm(f"the arm of pull {row.id!r} is not in memory: it was let go, withdrawn, or has expired")
        return self.numbers[row.arrival]

    def has_come(self, arm: Any, text: str, at: Any) -> bool:
        """Say whether an arm of this very name is here that arrived at this time, or by count with this number."""
        row = self.arms.get(arm)
        if row is None or row.name != text or at is None:
            return row is not None and row.name == text
        if not self.by_time:
            return bool(row.number == at)
        return 0 <= row.since - microseconds("at", at) <= self._tolerance

    def check_again(self, arm: Any, text: str, at: Any) -> None:
        """Raise a `Conflict` if an arm that is here arrives again with other content."""
        if self.has_come(arm, text, at):
            return
        row = self.arms[arm]
        if row.name != text:
            raise Conflict(f"arm must be {self.numbers[row.number]!r}, which is here and equal to it, not {arm!r}")
        came = f"{row.since / 1e6:.6f} s" if self.by_time else row.number
        raise Conflict(f"arm {arm!r} is here already: at must be {came} again, not {at!r}")

    def enter(self, arm: Any, now: int) -> None:
        """Take note of an arm that arrived, if the agent has kept it."""
        self.count("arrived", now)
        if self.agent.holds(arm):
            row = ArmRow(int(self.agent.arrival_of(arm)), text_of(arm), now)
            self.arms[arm], self.numbers[row.number] = row, arm
            self.came.append(row)
        else:
            self.counts["erased"] += 1

    def count(self, what: str, now: int, count: int = 1, reward: float = 0.0) -> None:
        """Count something that happened at a time, for good and in the totals over time."""
        self.counts[what] += count
        self.tally.add(what, now, count, reward)

    def touch(self, now: int) -> None:
        """Take note that something has changed, at a time."""
        self.row.time, self.changed = max(self.row.time, now), True

    def let_go(self, ledger: Ledger, names: list[Any], now: int, *, told: bool = True) -> None:
        """Forget arms; their names are deleted with this transaction."""
        if not names:
            return
        rows = [self.arms.pop(name) for name in names if name in self.arms]
        for row in rows:
            del self.numbers[row.number]
            if row in self.came:
                self.came.remove(row)
            else:
                self.went.append(row.number)
        ledger.orphan([row.number for row in rows], now)
        self.counts["erased"] += len(rows)
        self.gone += names if told else []

    def drain(self, ledger: Ledger, now: int) -> None:
        """Forget the arms that the agent let go with its last verb."""
        self.let_go(ledger, self.agent.advance(), now)

    def settle(self, ledger: Ledger, now: int) -> None:
        """Do what is due, each at its own time: arms expire, and pulls end at their deadlines."""
        if self.row.due is None or self.row.due > now:
            return
        waiting = ledger.due(now)[::-1]
        while True:
            while waiting and waiting[-1].arrival not in self.numbers:
                waiting.pop()  # its arm went before its deadline came
            expiry = self.next_expiry()
            deadline = waiting[-1].deadline if waiting else None
            first = min((time for time in (expiry, deadline) if time is not None), default=None)
            if first is None or first > now:
                break
            first = max(first, self.row.time)
            self.touch(first)
            if expiry is not None and (deadline is None or expiry <= deadline):
                self.let_go(ledger, self.agent.advance(first / 1e6), first)
            else:
                self._end(ledger, waiting.pop(), first)
        self.row.due = _earliest(self.next_expiry(), ledger.next_deadline())
        self.changed = True

    def _end(self, ledger: Ledger, row: PullRow, now: int) -> None:
        """End a pull at its deadline."""
        arm, otherwise, times = self.numbers[row.arrival], self.row.settings["otherwise"], self.times(now)
        try:
            if otherwise is None:
                self.agent.give_up(arm, arrival=row.arrival, **times)
            else:
                self.agent.tell(arm, otherwise, arrival=row.arrival, **times)
        except UnknownArm:  # the agent lets it go as time goes on
            self.let_go(ledger, self.agent.advance(*times.values()), now)
            return
        ledger.end(row, GIVEN_UP if otherwise is None else DEFAULTED, otherwise, now)
        self.count("given_up" if otherwise is None else "defaulted", now, reward=otherwise or 0.0)
        self.drain(ledger, now)

    def next_expiry(self) -> int | None:
        """Return when the next arm expires, for windows by time; one that is kept beyond its window does not."""
        if self._window is None:
            return None
        ends = (number - 1 + self._window for number in self.numbers)
        return min((end for end in ends if end > self.row.time), default=None)

    def wait_for(self, time: int | None) -> None:
        """Take note that something is due at a time."""
        self.row.due = _earliest(self.row.due, time)

    def save(self, writing: Writing, ledger: Ledger) -> None:
        """Write what has changed."""
        ledger.flush()
        if ledger.orphans:
            self.count("gone", self.row.time, ledger.orphans)
        ledger.orphans = 0
        if not self.changed:
            return
        self.row.version += 1
        self.row.state = self.state_text()
        writing.save(self.row, self.came, self.went)
        if rows := self.tally.rows():
            writing.add_totals(self.row.id, rows, self.tally.cleared())
        if self.went:
            writing.mark_erased()
        self.came, self.went, self.changed = [], [], False

    def state_text(self) -> str:
        """Return the agent's state as it is saved: without names."""
        numbers = {arm.name: arm.number for arm in self.arms.values()}
        return compact(hidden(self.agent.state(), numbers, ours=self.kind.ours))


def _earliest(*times: int | None) -> int | None:
    return min((time for time in times if time is not None), default=None)


def _words(wrong: Exception) -> str:
    return f"a name is missing ({wrong})" if isinstance(wrong, KeyError) else str(wrong) or type(wrong).__name__
