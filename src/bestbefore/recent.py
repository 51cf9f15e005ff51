"""Recent: how many arms have arrived within a window by time, known well from a few numbers.

To count them exactly takes the time of every arrival.  Here arrivals are held in groups of 1, 2, 4 ... arms, of which
only the newest time is known.  There are at most 32 groups of a size; when there is one more, the two oldest of them
become one of the next size.  The oldest group may have arms that have expired, and counts as a whole: so up to 31 arms
are counted exactly, and of more the count is never too low, and too high by at most 1 in 31.

M. Datar, A. Gionis, P. Indyk and R. Motwani, "Maintaining stream statistics over sliding windows", SIAM Journal on
Computing 31 (2002).

>>> recent = Recent()
>>> for number in range(1, 1001):
...     recent.add(number)
>>> recent.count(oldest=901), len(recent), recent.count(oldest=2000)
(100, 65, 0)
"""

from collections import deque
from collections.abc import Sequence
from typing import Any, Final, Self

from bestbefore.arguments import MOST

SAME: Final = 32
"""How many groups of a size there may be."""


class Recent:
    """Arrivals in groups of 1, 2, 4 ... arms: `_levels[i]` has the newest number of each group of 2^i, oldest first."""

    def __init__(self) -> None:
        self._levels: list[deque[int]] = []
        self._arms = 0

    def __len__(self) -> int:
        """Return how many numbers are held."""
        return sum(map(len, self._levels))

    def add(self, number: int) -> None:
        """Take note of an arrival, later than all before."""
        self._arms += 1
        for level in self._levels:
            level.append(number)
            if len(level) <= SAME:
                return
            level.popleft()
            number = level.popleft()  # the newest of the two groups that become one
        self._levels.append(deque([number]))

    def count(self, oldest: int) -> int:
        """Forget the groups that arrived before `oldest`, and count the arms of the others."""
        while self._levels:
            level = self._levels[-1]
            while level and level[0] < oldest:
                level.popleft()
                self._arms -= 2 ** (len(self._levels) - 1)
            if level:
                break
            self._levels.pop()
        return self._arms

    @classmethod
    def united(cls, parts: "Sequence[Recent]") -> "Recent":
        """Return the arrivals of several parts of a stream.

        All arms of a group count as its newest: none is forgotten too early.  Some are forgotten too late, so each
        time that counts are united they may be too high by another 1 in 31.
        """
        groups = [(number, 2**size) for part in parts for size, level in enumerate(part._levels) for number in level]
        both = cls()
        for number, arms in sorted(groups):
            for _ in range(arms):
                both.add(number)
        return both

    def state(self) -> list[list[int]]:
        """Return what is to be saved."""
        return [list(level) for level in self._levels]

    @classmethod
    def restored(cls, state: list[Any], newest: int) -> Self:
        """Take back what was saved, if it can be so."""
        recent = cls()
        if not all(isinstance(level, list) and 0 < len(level) <= SAME for level in state) or len(state) > 53:
            raise ValueError("state is damaged: recent arrivals must be lists of 1 to 32 numbers")
        numbers = [number for level in reversed(state) for number in level]
        if not all(type(number) is int and 0 < number <= MOST for number in numbers):
            raise ValueError("state is damaged: recent arrivals must be whole numbers above 0")
        if numbers != sorted(numbers) or (numbers and numbers[-1] > newest):
            raise ValueError("state is damaged: recent arrivals must rise up to the newest")
        recent._levels = [deque(level) for level in state]
        recent._arms = sum(len(level) * 2**size for size, level in enumerate(state))
        return recent
