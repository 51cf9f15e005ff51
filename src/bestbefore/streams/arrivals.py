"""Arrivals: when the arms of a stream come, for windows by time.

A rate is a text such as "10/h" or "0.5/s": so many arms, on average, in a unit of time.

>>> import numpy as np
>>> from bestbefore.streams import uniform
>>> stream = uniform(1000).at(poisson("10/h"))
>>> block = next(stream.blocks(np.random.default_rng(0)))
>>> hours = block.times[-1] / 3.6e9                      # 1,000 arms at 10 an hour take some 100 hours
>>> stream.timed, bool(90 < hours < 110)
(True, True)
>>> bool((block.means == next(uniform(1000).blocks(np.random.default_rng(0))).means).all())
True
"""

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from bestbefore.arguments import MOST, between, whole
from bestbefore.clock import microseconds, window_of

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Draw: TypeAlias = Callable[[int], Ints]
"""Draws the times of the next so many arms, in microseconds."""

NO_TIMES: Final[Ints] = np.zeros(0, np.int64)
"""The times of arms of which nobody knows when they arrive."""

DAY: Final = 86400e6
"""Microseconds of a day."""


@dataclass(frozen=True)
class Arrivals:
    """An arrival process: `start` begins it anew with a generator.

    `gap` is the mean time from arm to arm, in microseconds.  Times do not depend on how many are drawn at once.
    """

    name: str
    """What it is called."""
    gap: float
    """The mean time from arm to arm, in microseconds."""
    start: Callable[[np.random.Generator], Draw]
    """Begins it anew with a generator; returns what draws the next times."""


def poisson(rate: str) -> Arrivals:
    """Let arms arrive independently of each other: `rate` of them on average, with exponential times between them.

    Parameters
    ----------
    rate
        How many arms in a unit of time, such as "10/h" or "0.5/s".
    """
    gap = _gap(rate)

    def start(rng: np.random.Generator) -> Draw:
        now = 0.0

        def draw(size: int) -> Ints:
            nonlocal now
            times = _summed(now, gap * rng.standard_exponential(size))
            now = times[-1]
            return _rounded(times)

        return draw

    return Arrivals(f"poisson {rate}", gap, start)


def bursts(size: int = 20, quiet: "str | timedelta" = "1h", within: "str | timedelta" = "1s") -> Arrivals:
    """Let `size` arms arrive at nearly the same instant, after a quiet time; and so on.

    Arms of a burst are spread at random over a time of `within`.  Quiet times are exponential, with mean `quiet`.

    Parameters
    ----------
    size
        How many arms a burst has.
    quiet
        The mean time between bursts.
    within
        How long a burst takes.

    Examples
    --------
    >>> draw = bursts(size=3, quiet="1h", within="1ms").start(np.random.default_rng(0))
    >>> times = draw(6)
    >>> bool(times[2] - times[0] <= 1000), bool(times[3] - times[2] > 10**6)
    (True, True)
    """
    size, silence, spread = whole("size", size), _duration("quiet", quiet), _duration("within", within)

    def start(rng: np.random.Generator) -> Draw:
        end, waiting = 0.0, np.zeros(0)

        def draw(count: int) -> Ints:
            nonlocal end, waiting
            drawn, missing = [waiting], count - waiting.size
            while missing > 0:
                begin = end + silence * rng.standard_exponential()
                drawn.append(begin + spread * np.sort(rng.random(size)))
                end, missing = begin + spread, missing - size
            times = np.concatenate(drawn)
            waiting = times[count:]
            return _rounded(times[:count])

        return draw

    return Arrivals(f"bursts of {size}", (silence + spread) / size, start)


def day_and_night(rate: str, swing: float = 0.9) -> Arrivals:
    """Let arms arrive independently of each other, more by day than by night.

    The rate at time t is rate (1 + swing sin(2 pi t / 24 h)): `rate` on average, most six hours after the start and
    least twelve hours later.  A Poisson process of rate 1 is stretched by the inverse of the integral of that.

    Parameters
    ----------
    rate
        How many arms on average, such as "10/h".
    swing
        How far the rate swings: 0 not at all, 1 down to nothing at night.

    Examples
    --------
    >>> draw = day_and_night("60/h").start(np.random.default_rng(0))
    >>> hours = draw(14_400) / 3.6e9 % 24
    >>> bool(np.sum(hours < 12) > 3 * np.sum(hours >= 12))
    True
    """
    gap, swing = _gap(rate), between("swing", swing, 0, 1, closed="both")

    def start(rng: np.random.Generator) -> Draw:
        mass = 0.0

        def draw(size: int) -> Ints:
            nonlocal mass
            masses = _summed(mass, rng.standard_exponential(size))
            mass = masses[-1]
            return _rounded(_at_mass(gap * masses, swing))

        return draw

    return Arrivals(f"day and night {rate}", gap, start)


def _at_mass(masses: Floats, swing: float) -> Floats:
    """Return the times t at which t + swing (1 - cos(2 pi t / 24 h)) 24 h / (2 pi) is this, by halves."""
    circle = DAY / (2 * math.pi)
    early, late = masses - 2 * swing * circle, masses
    for _ in range(60):
        middle = (early + late) / 2
        below = middle + swing * circle * (1 - np.cos(middle / circle)) < masses
        early, late = np.where(below, middle, early), np.where(below, late, middle)
    return np.maximum.accumulate(np.maximum(late, 0.0))


def _summed(start: float, gaps: Floats) -> Floats:
    """Return the times after these gaps; summed one by one, so that blocks make no difference."""
    gaps[0] += start
    return np.add.accumulate(gaps)


def _rounded(times: Floats) -> Ints:
    """Return times as whole microseconds."""
    if times[-1] > MOST:
        days = times[-1] / DAY
        raise ValueError(f"arms must arrive so fast that all of them come within 285 years, not {days:,.0f} days")
    return times.astype(np.int64)


def _gap(rate: str) -> float:
    """Return the mean time between arms, in microseconds, for a rate such as "10/h"."""
    number, slash, unit = rate.partition("/") if isinstance(rate, str) else ("", "", "")
    try:
        count, length = float(number), window_of(f"1 {unit.strip()}").length
    except ValueError:
        count, length = math.nan, 0
    if not slash or not 0 < count < math.inf or not 1e-6 <= length / count <= MOST:
        raise ValueError(f'rate must be so many arms in a unit of time, such as "10/h" or "0.5/s", not {rate!r}')
    return length / count


def _duration(name: str, value: "str | timedelta") -> int:
    """Return a time in microseconds, if it is a text such as "24h", or a timedelta, above 0."""
    if not isinstance(value, (str, timedelta)):
        raise ValueError(f'{name} must be a time such as "1h" or timedelta(hours=1), not {value!r}')
    try:
        return window_of(value).length
    except ValueError:
        raise ValueError(f'{name} must be a time above 0 such as "1h" or timedelta(hours=1), not {value!r}') from None


def told(times: Iterable[Any], length: int) -> Arrivals:
    """Return arrivals at times that are known: seconds or aware datetimes, one for each of `length` arms."""
    found = _as_times(times, length)

    def start(rng: np.random.Generator) -> Draw:
        place = 0

        def draw(size: int) -> Ints:
            nonlocal place
            place += size
            return found[place - size : place]

        return draw

    return Arrivals("told", float(found[-1] - found[0]) / max(length - 1, 1), start)


def _as_times(times: Iterable[Any], length: int) -> Ints:
    """Return times in microseconds, if none is earlier than the one before."""
    if isinstance(times, (str, bytes)) or not isinstance(times, Iterable):
        raise ValueError(
            f"times must be seconds or datetimes, one for each arm, or a process of streams.arrivals, not {times!r}"
        )
    taken: list[float | datetime] = list(itertools.islice(times, length + 1))
    if len(taken) != length:
        many = f"{len(taken)}" if len(taken) < length else "more"
        raise ValueError(f"times must be {length}, one for each arm, not {many}")
    found = np.array([microseconds(f"times[{place}]", at) for place, at in enumerate(taken)], np.int64)
    back = np.flatnonzero(np.diff(found) < 0)
    if back.size:
        place = int(back[0]) + 1
        raise ValueError(f"times[{place}] must not be earlier than the time before it, not {taken[place]!r}")
    return found
