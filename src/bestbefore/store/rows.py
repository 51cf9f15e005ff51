"""What a store keeps, and what it must be able to do: the protocol between the desk and a database.

Times are whole microseconds since 1970.  An arm is known by its number on the stream's clock; its name stands in one
place alone, a row of its own, so that one deletion erases it.
"""

from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol

from bestbefore.store.answers import Overview

TOLD: Final = "told"
DEFAULTED: Final = "defaulted"
GIVEN_UP: Final = "given up"
GONE: Final = "gone"
"""How a pull ends; the last is that of a pull whose arm went before anything was told."""


class ArmRow(NamedTuple):
    """An arm that is here: its number, its name as JSON, and when it arrived."""

    number: int
    name: str
    since: int


@dataclass(slots=True)
class StreamRow:
    """A stream: its settings, and its agent's state without the names of arms."""

    id: int
    name: str
    kind: str
    settings: dict[str, Any]
    version: int
    time: int
    due: int | None
    counts: dict[str, int]
    state: str
    arms: list[ArmRow] = field(default_factory=list)


class Head(NamedTuple):
    """What tells whether a stream in memory is up to date, and whether anything is due."""

    id: int
    name: str
    version: int
    due: int | None


@dataclass(slots=True)
class PullRow:
    """A pull in the ledger; `how` is None while it is open, and its id is forgotten at `forget`.

    `chance` is the probability with which its arm was named, where that is known.
    """

    id: str
    arrival: int
    asked: int
    deadline: int | None
    how: str | None = None
    reward: float | None = None
    ended: int | None = None
    forget: int | None = None
    chance: float | None = None


class TotalRow(NamedTuple):
    """What happened in the `length` microseconds from `since` on; `reward` is the sum of the rewards that counted."""

    length: int
    since: int
    arrived: int
    asked: int
    told: int
    reward: float
    defaulted: int
    given_up: int
    gone: int


class Reading(Protocol):
    """What can be read at one moment, without a lock."""

    def head(self, name: str) -> Head | None:
        """Return a stream's version."""

    def stream(self, stream: int) -> StreamRow | None:
        """Return all of a stream but its pulls."""

    def names(self) -> list[str]:
        """Return the names of all streams, sorted."""

    def due(self, now: int, after: int, most: int) -> list[Head]:
        """Return up to so many streams of ids above `after` for which something is due, by id."""

    def pulls(self, stream: int, ids: Collection[str]) -> list[PullRow]:
        """Return the pulls of these ids, of those that there are."""

    def pulls_after(self, stream: int, last: str, most: int) -> list[PullRow]:
        """Return up to so many pulls of ids above `last`, by id."""

    def open_pulls(self, stream: int) -> dict[int, int]:
        """Return how many pulls are open of each arm."""

    def due_pulls(self, stream: int, now: int) -> list[PullRow]:
        """Return the open pulls whose deadline has come, by deadline and id."""

    def next_deadline(self, stream: int, after: int = -1) -> int | None:
        """Return the earliest deadline of an open pull after a time."""

    def note(self, key: str) -> int | None:
        """Return a number that was noted."""

    def unerased(self) -> bool:
        """Say whether bytes of names that were deleted may still be on disk."""

    def overview(self, now: int, silent_after: int) -> Overview:
        """Return what is in all streams together."""

    def totals(self, stream: int, length: int, since: int) -> list[TotalRow]:
        """Return the totals of a stream for one length of time, from a time on, the oldest first."""

    def silent(self, now: int, after: int, stream: int | None = None) -> set[int]:
        """Return the streams, or whether this one is among them, that have fallen silent: see `Overview`."""


class Writing(Reading, Protocol):
    """A transaction: all of it is durable when it is over, or nothing of it has happened."""

    def lock(self, names: Collection[str], *, wait: bool) -> list[Head]:
        """Lock streams until the transaction is over, and return those that could be had.

        Without `wait`, streams that others hold are left out.  With it there is one name, and others are waited for, if
        only for a moment.
        """

    def create(self, row: StreamRow) -> int | None:
        """Add a stream and its arms, and return its id; None if there is one of that name already."""

    def save(self, row: StreamRow, came: Iterable[ArmRow], went: Collection[int]) -> None:
        """Write version, time, what is due, counts and state of a stream, and which arms came and went."""

    def drop(self, stream: int) -> None:
        """Delete a stream with all that belongs to it."""

    def add_pulls(self, stream: int, rows: Collection[PullRow]) -> None:
        """Add pulls."""

    def end_pulls(self, stream: int, rows: Collection[PullRow]) -> None:
        """Write how pulls ended."""

    def orphan_pulls(self, stream: int, numbers: Collection[int], ended: int, forget: int) -> int:
        """End the open pulls of arms that have gone; return how many there were.

        Their ids are forgotten at `forget`, or at their deadlines if those are later.
        """

    def forget_pulls(self, now: int, most: int) -> int:
        """Delete up to so many pulls whose ids are to be forgotten; return how many there were."""

    def add_totals(self, stream: int, rows: Collection[TotalRow], old: Mapping[int, int]) -> None:
        """Add to the totals of a stream, and delete those of each length that are older than `old` says."""

    def mark_erased(self) -> None:
        """Take note that names were deleted, of which bytes may be left on disk."""

    def set_notes(self, notes: Mapping[str, int]) -> None:
        """Note numbers."""


class Store(Protocol):
    """A database that holds streams: `bestbefore.testing.check_store` checks that one keeps this contract."""

    def read(self) -> AbstractContextManager[Reading]:
        """Read without a lock."""

    def write(self) -> AbstractContextManager[Writing]:
        """Begin a transaction; if the block raises, nothing has happened."""

    def erase(self) -> bool:
        """Erase what bytes are left on disk of names that were deleted; say whether that was possible now."""

    def close(self) -> None:
        """Let go of all connections."""

    def abandon(self) -> None:
        """Forget all connections without touching them: they belong to the process that this one was forked from."""
