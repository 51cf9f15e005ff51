"""The clock: what is valid now, for windows by count and by time.

Slots know an arm by a number on the stream's clock.  With a window by count the numbers are 1, 2, 3 ...; with a window
by time they are microseconds since 1970, or since whatever the caller's seconds begin with, counted from 1 as well.  A
later arm of the same microsecond gets the next number.  A window is a length in the same unit, and an arm of number a
is valid at the time `now` if a > now - window: by time, an arm of exactly the window's age has expired.

>>> from datetime import timedelta
>>> window_of(50), window_of("24h") == window_of(timedelta(hours=24)) == window_of("1 day")
(Window(length=50, by_time=False), True)
>>> clock = Clock(window_of("10 s"))
>>> [clock.arrive(clock.arrival_at(at)) for at in (3.0, 3.0, 3.5)]
[3000001, 3000002, 3500001]
>>> clock.advance(clock.later(13.0))
>>> clock.oldest, clock.valid, clock.arrivals                      # the first arm has expired
(3000002, 2, 3)
"""

import re
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple, TypeAlias

from bestbefore.arguments import MOST, real, whole
from bestbefore.recent import Recent

Length: TypeAlias = int | str | timedelta
"""A window, as a person says it: so many arrivals, or a time such as "24h" or timedelta(days=1)."""

When: TypeAlias = float | datetime | None
"""A time, as a person says it: seconds or an aware datetime; with a window by count, the number of an arrival."""

MICROSECOND: Final = timedelta(microseconds=1)
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS: Final = {
    "us": ("us", "microsecond", "microseconds"),
    "ms": ("ms", "millisecond", "milliseconds"),
    "s": ("s", "sec", "second", "seconds"),
    "min": ("m", "min", "minute", "minutes"),
    "h": ("h", "hour", "hours"),
    "d": ("d", "day", "days"),
    "w": ("w", "week", "weeks"),
}
_SIZES: Final = {"us": 1, "ms": 1000, "s": 10**6, "min": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6}
_SIZES_OF_WORDS: Final = {
    word: (_SIZES | {"w": 7 * _SIZES["d"]})[unit] for unit, words in _UNITS.items() for word in words
}


class Window(NamedTuple):
    """How long an arm is valid: so many arrivals, or so many microseconds."""

    length: int
    by_time: bool = False

    @property
    def told(self) -> int | timedelta:
        """The window as a person reads it: a number of arrivals, or a time."""
        return self.length * MICROSECOND if self.by_time else self.length


def window_of(window: Length, name: str = "window") -> Window:
    """Return a window, if it is a whole number of arrivals, a timedelta, or a text such as "24h" or "30 days"."""
    if isinstance(window, (timedelta, str)):
        length = window // MICROSECOND if isinstance(window, timedelta) else _microseconds(window)
        if not 1 <= length <= MOST:
            raise ValueError(
                f'{name} must be a whole number of arrivals, or a time above 0 such as "24h", "30 days" or '
                f"timedelta(hours=24), not {window!r}"
            )
        return Window(length, True)
    return Window(whole(name, window))


def tolerance_of(window: Window, tolerance: Length | None) -> int:
    """Return how many microseconds a time may be too early, none unless said; it is for windows by time."""
    if tolerance is None:
        return 0
    late = window_of(tolerance, "tolerance")
    if not (window.by_time and late.by_time):
        raise ValueError(f'tolerance must be a time such as "5 s", and the window too, not {tolerance!r}')
    return late.length


def _microseconds(text: str) -> int:
    """Read a time such as "24h", "1.5 days" or "90 minutes"; 0 for what is none."""
    parts = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*", text.lower())
    if not parts or parts[2] not in _SIZES_OF_WORDS:
        return 0
    length = float(parts[1]) * _SIZES_OF_WORDS[parts[2]]
    return round(length) if length <= MOST else 0


def said(window: Window) -> int | str:
    """Return a window as a text that reads the same, or its number of arrivals.

    >>> said(window_of("1.5 days")), said(window_of(50))
    ('36h', 50)
    """
    if not window.by_time:
        return window.length
    unit = next(unit for unit in reversed(_SIZES) if window.length % _SIZES[unit] == 0)
    return f"{window.length // _SIZES[unit]}{unit}"


def microseconds(name: str, at: float | datetime) -> int:
    """Return a time in microseconds, if it is an aware datetime from 1970 on, or seconds of at least 0."""
    if isinstance(at, datetime):
        if at.tzinfo is None or at.utcoffset() is None:
            raise ValueError(f"{name} must be an aware datetime, such as datetime.now(UTC), or seconds, not {at!r}")
        count = (at - EPOCH) // MICROSECOND
    else:
        seconds = -1.0 if isinstance(at, bool) else real(at)
        count = round(seconds * 1e6) if 0 <= seconds <= MOST / 1e6 else -1
    if not 0 <= count < MOST:
        raise ValueError(f"{name} must be an aware datetime from 1970 on, or seconds of at least 0, not {at!r}")
    return count


def on_the_wall() -> int:
    """Return what the wall clock shows, in microseconds counted from 1."""
    return time.time_ns() // 1000 + 1


class Clock:
    """What time it is, how many arms have arrived, and which are valid."""

    def __init__(self, window: Window, tolerance: int = 0) -> None:
        """Begin before the first arrival; a time that is at most `tolerance` microseconds too early counts as now."""
        self.window, self.tolerance = window, tolerance
        self.time = 0
        """The last time that was told or read."""
        self.newest = 0
        """The number of the newest arrival."""
        self.arrivals = 0
        """How many arms have arrived."""
        self.on_wall = False
        """Whether the last arrival was told no time, so that the wall clock says what time it is."""
        self._recent = Recent()

    @property
    def now(self) -> int:
        """The time, or the number of the newest arrival where that is later: arms of one instant have several."""
        return max(self.time, self.newest)

    @property
    def oldest(self) -> int:
        """The oldest number still valid; 0 or less while the first window is not over."""
        return self.oldest_at(self.now)

    @property
    def valid(self) -> int:
        """How many arms are valid, or, by time, up to 1 in 31 more: see `bestbefore.recent`."""
        if not self.window.by_time:
            return min(self.arrivals, self.window.length)
        return self._recent.count(self.oldest)

    def oldest_at(self, now: int) -> int:
        """Return the oldest number that is valid at a time."""
        return now - self.window.length + 1

    def later(self, at: When, name: str = "at") -> int:
        """Return what time it is at `at`, if time does not go back.

        Without `at` it is what the wall clock shows, if the last arrival was told no time, and else the last time.
        """
        if at is None:
            return max(on_the_wall(), self.time) if self.on_wall else self.time
        found = microseconds(name, at) + 1 if self.window.by_time else whole(name, at, at_least=0)  # type: ignore[arg-type]
        if self.time - found > self.tolerance:
            raise ValueError(f"{name} must not be earlier than the last time, {self._shown(at)}, not {at!r}")
        return max(found, self.time)

    def arrival_at(self, at: When) -> int:
        """Return what time it is when an arm arrives at `at`; by count it is the arm's number.

        Without `at` it is what the wall clock shows, or by count the next number.
        """
        if at is None:
            return max(on_the_wall(), self.time) if self.window.by_time else self.now + 1
        found = self.later(at)
        if not self.window.by_time and found <= self.newest:
            raise ValueError(f"at must be above {self.newest}, the number of the newest arrival, not {at!r}")
        return found

    def number_at(self, time: int) -> int:
        """Return the number of an arm that arrives at this time."""
        return max(time, self.newest + 1)

    def arrive(self, time: int) -> int:
        """Let an arm arrive at this time; return its number."""
        self.time, self.newest = max(self.time, time), self.number_at(time)
        self.arrivals += 1
        if self.window.by_time:
            self._recent.add(self.newest)
        return self.newest

    def advance(self, to: int) -> None:
        """Let time go on."""
        self.time = max(self.time, to)

    def unite(self, clocks: "Sequence[Clock]", newest: int, shared: int) -> None:
        """Go on with the clocks of several parts of a stream; `shared` arms were counted more than once.

        There may be others that were, and that a part has forgotten: by count there are no more arms than numbers.
        """
        self.time = max(clock.time for clock in clocks)
        self.newest = max(newest, *(clock.newest for clock in clocks))
        arrivals = sum(clock.arrivals for clock in clocks) - shared
        self.arrivals = arrivals if self.window.by_time else min(arrivals, self.newest)
        self.on_wall = max(clocks, key=lambda clock: clock.newest).on_wall
        self._recent = Recent.united([clock._recent for clock in clocks])

    def state(self) -> dict[str, Any]:
        """Return what is to be saved."""
        self._recent.count(self.oldest)
        told = {"time": self.time, "newest": self.newest, "arrivals": self.arrivals}
        return told | {"on_wall": int(self.on_wall), "recent": self._recent.state()}

    def restore(self, time: int, newest: int, arrivals: int, on_wall: int, recent: list[Any]) -> None:
        """Take back what was saved, if it fits together."""
        self.time, self.newest, self.arrivals, self.on_wall = time, newest, arrivals, bool(on_wall)
        self._recent = Recent.restored(recent, newest)
        if min(arrivals, 1) > newest or (not self.window.by_time and (arrivals > newest or recent or on_wall)):
            raise ValueError(f"state is damaged: {arrivals} arms cannot have arrived up to number {newest}")
        self._recent.count(self.oldest)

    def _shown(self, at: When) -> str:
        """Return the last time in the way in which another was told."""
        if isinstance(at, datetime):
            return (EPOCH + (self.time - 1) * MICROSECOND).isoformat()
        return f"{(self.time - 1) / 1e6:.6f} s" if self.window.by_time else str(self.time)
