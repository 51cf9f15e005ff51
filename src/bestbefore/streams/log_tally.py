"""What is counted of a log, arm by arm: memory grows with arms, never with rows.

Of each arm it is known how many rows it has, when its first and its last came, and how often it had each reward.
Rewards are counted exactly while there are no more than `LEVELS` different ones.  Beyond that they are counted on a
grid over the scale: a reward between two points of the grid counts for both, the nearer one more, so that each arm's
mean stays exact.  A drawn reward then varies a little more: its variance grows by at most (1 / 128)^2 of the scale's
square.  If arms are so many that the counts would fill `CELLS` numbers, the grid is halved, as often as need be.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from bestbefore.streams.arrivals import Ints
from bestbefore.streams.log_cells import Columns, Malformed
from bestbefore.streams.log_rows import Batch
from bestbefore.streams.stream import Floats

LEVELS: Final = 65
"""Different rewards that are counted exactly, and points of the first grid."""
CELLS: Final = 2**24
"""Counts of all arms together: 128 MiB."""
NEVER: Final = np.iinfo(np.int64).max


class Unlined(Exception):
    """Something is wrong in a batch that does not know its lines."""


class Tally:
    """Counts of a log so far; arms are numbered as they appear."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self.numbers: dict[Any, int] = {}
        self.rows = 0
        self.exact = True
        """Whether rewards are counted as they are, and not on a grid."""
        self.levels: Floats = np.array([0.0, 1.0])
        self.of_arm, self.first, self.last = (np.zeros(0, np.int64) for _ in range(3))
        self.arrived = np.zeros(0, np.int64)
        self.total, self.squares = np.zeros(0), np.zeros(0)
        self.counts = np.zeros((0, 2))

    @property
    def arms(self) -> int:
        """How many arms there are."""
        return len(self.numbers)

    def add(self, batch: Batch) -> None:
        """Count a batch."""
        numbers = np.array([self.numbers.setdefault(arm, len(self.numbers)) for arm in batch.arms], np.int64)
        self._grow()
        rows = numbers[batch.codes]
        if batch.arrived.size:
            self._arrive(rows, batch)
        np.add.at(self.of_arm, rows, 1)
        np.minimum.at(self.first, rows, batch.times)
        np.maximum.at(self.last, rows, batch.times)
        np.add.at(self.total, rows, batch.rewards)
        np.add.at(self.squares, rows, batch.rewards**2)
        self._count(rows, batch.rewards)
        self.rows += batch.codes.size

    def _grow(self) -> None:
        """Make room for as many arms as there are, and twice as many at a time."""
        if self.arms <= self.of_arm.size:
            return
        more = max(self.arms, 2 * self.of_arm.size, 64) - self.of_arm.size
        self.of_arm, self.last = (np.append(old, np.zeros(more, np.int64)) for old in (self.of_arm, self.last))
        self.first = np.append(self.first, np.full(more, NEVER))
        self.arrived = np.append(self.arrived, np.full(more, -1))
        self.total, self.squares = (np.append(old, np.zeros(more)) for old in (self.total, self.squares))
        self.counts = np.concatenate([self.counts, np.zeros((more, self.levels.size))])
        while self.arms * self.levels.size > CELLS and self.levels.size > 3:
            self._to_grid(self.levels.size // 2 + 1)

    def _arrive(self, rows: Ints, batch: Batch) -> None:
        """Take note of when arms arrived, which must be the same in all their rows, and not after them."""
        new = self.arrived[rows] < 0
        self.arrived[rows[new][::-1]] = batch.arrived[new][::-1]
        arrived, time = self._columns.arrived, self._columns.time
        for wrong, what in (
            (self.arrived[rows] != batch.arrived, f"{arrived} must be the same in all rows of an arm, and is not"),
            (batch.times < batch.arrived, f"{time} must not be before {arrived}, and is"),
        ):
            if wrong.any():
                if not batch.lines.size:
                    raise Unlined
                raise Malformed(int(batch.lines[np.argmax(wrong)]), what)

    def _count(self, rows: Ints, rewards: Floats) -> None:
        """Count rewards by level."""
        if self.exact:
            places = np.minimum(np.searchsorted(self.levels, rewards), self.levels.size - 1)
            others = np.unique(rewards[self.levels[places] != rewards])
            if others.size:
                if self.levels.size + others.size <= LEVELS:
                    self._move(np.union1d(self.levels, others))
                    places = np.searchsorted(self.levels, rewards)
                else:
                    self._to_grid(LEVELS)
        if self.exact:
            np.add.at(self.counts, (rows, places), 1.0)
            return
        for place, share in _shared(rewards, self.levels.size):
            np.add.at(self.counts, (rows, place), share)

    def _move(self, levels: Floats) -> None:
        """Have more levels."""
        counts = np.zeros((self.counts.shape[0], levels.size))
        counts[:, np.searchsorted(levels, self.levels)] = self.counts
        self.levels, self.counts = levels, counts
        if self.arms * levels.size > CELLS:
            self._to_grid(LEVELS)

    def _to_grid(self, points: int) -> None:
        """Count on a grid from now on, with what was counted before."""
        while self.arms * points > CELLS and points > 3:
            points = points // 2 + 1
        counts = np.zeros((self.counts.shape[0], points))
        for place, share in _shared(self.levels, points):
            for level in range(self.levels.size):
                counts[:, place[level]] += share[level] * self.counts[:, level]
        self.levels, self.counts, self.exact = np.linspace(0, 1, points), counts, False


def _shared(rewards: Floats, points: int) -> Iterator[tuple[Ints, Floats]]:
    """Return the points of a grid on either side of rewards, with the share that each has of them."""
    lower = np.minimum((rewards * (points - 1)).astype(np.int64), points - 2)
    upper = rewards * (points - 1) - lower
    yield lower, 1.0 - upper
    yield lower + 1, upper
