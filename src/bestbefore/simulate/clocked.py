"""Arrivals on the stream's clock, block by block: their numbers, which have expired, and how many are valid.

By time these are the numbers of `bestbefore.clock`: microseconds, a later arm of the same one getting the next.  By
count compiled loops count for themselves, and a stream's times are left out.

>>> import numpy as np
>>> from bestbefore.streams import from_means
>>> block = next(from_means([0.5, 0.5, 0.5, 0.5]).at([3, 3, 3, 13]).blocks(np.random.default_rng(0)))
>>> numbers = Numbers(by_time=True)
>>> clocked = numbers.of(block)
>>> clocked.times.tolist()
[3000001, 3000002, 3000003, 13000001]
>>> Expired(10**7).before(clocked.times).tolist()                # the first arm is 10 s old when the last arrives
[0, 0, 0, 1]
>>> numbers.arrivals(np.array([0, 3000002])).tolist()
[0, 2]
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from bestbefore.clock import Length
from bestbefore.plan import ExplorePlan
from bestbefore.recent import SAME, Recent
from bestbefore.streams import Arms, Stream
from bestbefore.streams.arrivals import NO_TIMES, Ints

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

NEVER: Final[Flags] = np.zeros(0, np.bool_)
"""For compiled loops: there are never more valid arms than a guarantee allows for."""


def check_times(stream: Stream, window: Length, by_time: bool) -> None:
    """Complain of a window by time on a stream that does not know when its arms arrive."""
    if by_time and not stream.timed:
        raise ValueError(
            f"window must be a number of arrivals on a stream without times, not {window!r}; stream.at(...) says when "
            'arms arrive: a time for each, or a process such as streams.poisson("10/h")'
        )


class Numbers:
    """Gives arms their numbers, as `Clock.arrive` does; remembers them, if asked to."""

    def __init__(self, by_time: bool, remember: bool = True) -> None:
        self._by_time, self._remember, self._newest = by_time, remember, 0
        self._all: list[Ints] = []

    def of(self, arms: Arms) -> Arms:
        """Return a block of arms with numbers in place of times; by count, without either."""
        if not self._by_time:
            return arms._replace(times=NO_TIMES)
        steps = np.arange(arms.times.size)
        # A number is at least its time, and at least one more than the number before: less its place, it never falls.
        numbers = np.maximum(np.maximum.accumulate(arms.times + 1 - steps), self._newest + 1) + steps
        self._newest = int(numbers[-1])
        if self._remember:
            self._all.append(numbers)
        return arms._replace(times=numbers)

    def arrivals(self, answers: Ints) -> Ints:
        """Return which arrivals these numbers are, counted from 1; 0 stays 0."""
        if not self._by_time or not self._all:
            return answers
        return np.where(answers > 0, np.searchsorted(np.concatenate(self._all), answers) + 1, 0)


class Expired:
    """Which arms have expired when others arrive; of earlier blocks it keeps the numbers that may still be valid."""

    def __init__(self, window: int) -> None:
        self._window, self._valid, self._gone = window, np.zeros(0, np.int64), 0

    def before(self, numbers: Ints) -> Ints:
        """Let arms of these numbers arrive; return how many of the stream have expired when each does."""
        known = np.concatenate([self._valid, numbers])
        expired = np.searchsorted(known, numbers - self._window, side="right")
        self._valid, gone = known[expired[-1] :], self._gone
        self._gone += int(expired[-1])
        return gone + expired


class Crowd:
    """How many arms are valid, as agents count them (`bestbefore.recent`), and when that is more than `most`."""

    def __init__(self, window: int, most: int | None = None) -> None:
        self._window, self._most = window, most
        self._recent, self._expired = Recent(), Expired(window)
        self._arrivals, self._waiting = 0, list[Ints]()

    def counts(self, numbers: Ints) -> Ints:
        """Let arms of these numbers arrive; return how many are valid when each does, itself included."""
        add, count, window = self._recent.add, self._recent.count, self._window
        counts = []
        for number in numbers.tolist():
            add(number)
            counts.append(count(number - window + 1))
        return np.array(counts, np.int64)

    def beyond(self, numbers: Ints) -> Flags:
        """Let arms of these numbers arrive; say when there are more than `most` valid arms.

        An agent's count is never too low, and too high by at most 1 in 31: where even that is no more than `most`, an
        exact count, which is quicker, will do.  Numbers wait until the other one is needed, if ever.
        """
        places = self._arrivals + np.arange(1, numbers.size + 1)
        self._arrivals += numbers.size
        exact = places - self._expired.before(numbers)
        self._waiting.append(numbers)
        if self._most is None or (exact + exact // (SAME - 1)).max() <= self._most:
            return np.zeros(numbers.size, np.bool_)
        counted = [self.counts(waiting) for waiting in self._waiting]
        self._waiting = []
        return counted[-1] > self._most


class Shares:
    """ln(1 / p) of the lower and of the upper bound of each arm's certificate, by time."""

    def __init__(self, plan: ExplorePlan) -> None:
        self._plan, self._crowd, self._arrivals = plan, Crowd(plan.window), 0
        self._found: dict[int, tuple[float, float]] = {}

    def of(self, numbers: Ints) -> Floats:
        """Let arms of these numbers arrive; return a row for each."""
        plan, size = self._plan, numbers.size
        if plan.guarantee == "anytime":
            block = plan.most or 1  # within a block of so many arrivals it is the same
            keys = (self._arrivals + np.arange(size)) // block * block + 1
        elif plan.guarantee == "weak" and plan.most is None:
            keys = self._crowd.counts(numbers)
        else:
            keys = np.ones(size, np.int64)
        self._arrivals += size
        different, places = np.unique(keys, return_inverse=True)
        for key in different.tolist():
            if key not in self._found:
                self._found[key] = plan.logs_of(key)
        return np.array([self._found[key] for key in different.tolist()])[places]
