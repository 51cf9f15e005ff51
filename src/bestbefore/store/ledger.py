"""The ledger: each pull has an id, and ends exactly once.

It ends *told*; *defaulted* when its deadline passes; *given up*; or *gone*, if its arm goes first.  Its id is kept,
without the arm's name, for as long as the same call may come again.
"""

from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from bestbefore.errors import Conflict, UnknownPull
from bestbefore.store.rows import DEFAULTED, GIVEN_UP, TOLD, PullRow, Writing

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Pull(NamedTuple):
    """A pull: whoever makes it tells its reward by its id, once."""

    id: str
    """Its id."""
    arm: Any
    """The arm to pull."""
    arrival: int
    """The arm's number on the stream's clock."""
    asked: datetime
    """When it was asked for."""
    deadline: datetime | None
    """When it ends by itself, if nothing was told by then."""


class Ledger:
    """The pulls of one stream, within one transaction; what changes is written by `flush`."""

    def __init__(self, writing: Writing, stream: int, remember: int) -> None:
        self._writing, self._stream, self._remember = writing, stream, remember
        self._known: dict[str, PullRow | None] = {}
        self._new: dict[str, PullRow] = {}
        self._ended: dict[str, PullRow] = {}
        self._gone: dict[int, list[int]] = {}  # numbers of arms that went, by the time
        self.orphans = 0
        """How many open pulls were those of arms that went."""

    def expect(self, ids: Iterable[str]) -> None:
        """Read pulls that calls will ask for, all at once."""
        wanted = {one for one in ids if one not in self._known}
        if wanted:
            self._known |= dict.fromkeys(wanted)
            self._known |= {row.id: row for row in self._writing.pulls(self._stream, wanted)}

    def find(self, id: str) -> PullRow | None:
        """Return the pull of an id, if there is one."""
        if id not in self._known:
            self.expect([id])
        return self._known[id]

    def pull(self, id: str) -> PullRow:
        """Return the pull of an id, or raise an `UnknownPull`."""
        row = self.find(id)
        if row is None:
            raise UnknownPull(
                f"pull {id!r} is not in the ledger: it was never asked for, or ended so long ago that it is forgotten"
            )
        return row

    def add(self, row: PullRow) -> None:
        """Add a pull."""
        self._known[row.id] = self._new[row.id] = row

    def end(self, row: PullRow, how: str, reward: float | None, now: int) -> None:
        """End an open pull."""
        row.how, row.reward, row.ended = how, reward, now
        row.forget = max(row.deadline or 0, now + self._remember)
        self._known[row.id] = row
        if row.id not in self._new:
            self._ended[row.id] = row

    def orphan(self, numbers: Collection[int], now: int) -> None:
        """Take note that arms have gone: their open pulls end with that."""
        if numbers:
            self._gone.setdefault(now, []).extend(numbers)

    def due(self, now: int) -> list[PullRow]:
        """Return the open pulls whose deadline has come, by deadline."""
        self.flush()
        return self._writing.due_pulls(self._stream, now)

    def next_deadline(self) -> int | None:
        """Return the earliest deadline of an open pull."""
        self.flush()
        return self._writing.next_deadline(self._stream)

    def flush(self) -> None:
        """Write what has changed."""
        self._writing.add_pulls(self._stream, self._new.values())
        self._writing.end_pulls(self._stream, self._ended.values())
        self._new, self._ended = {}, {}
        for now, numbers in self._gone.items():
            self.orphans += self._writing.orphan_pulls(self._stream, numbers, now, now + self._remember)
        if self._gone:
            self._gone, self._known = {}, {}


def same_as_before(row: PullRow, how: str, reward: float | None) -> bool:
    """Say whether a pull has ended in this very way; if it ended in another, raise a `Conflict`.

    False is for a pull that is open.
    """
    if row.how is None:
        return False
    if row.how == how and row.reward == reward:
        return True
    if row.how == DEFAULTED and how == TOLD and row.reward == reward:
        return True
    before = {
        TOLD: f"was told {row.reward!r}",
        DEFAULTED: f"was counted as {row.reward!r} when its deadline passed",
        GIVEN_UP: "was given up",
    }[row.how]
    now = f"reward must be the same again, not {reward!r}" if how == TOLD else "it cannot be given up any more"
    raise Conflict(f"pull {row.id!r} {before}: {now}")


def moment_of(time: int) -> datetime:
    """Return a time in microseconds as a date."""
    return _EPOCH + timedelta(microseconds=time)
