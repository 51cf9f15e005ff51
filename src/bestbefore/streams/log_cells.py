"""The cells of a log, read one by one: what is an arm, a reward, a time, a probability, and what is wrong with it.

This is the definition.  `bestbefore.streams.log_arrow` reads the same faster, and leaves to this what it is unsure of.
"""

import math
from datetime import date, datetime, time
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from bestbefore.arguments import MOST, is_name, one_of, real
from bestbefore.clock import EPOCH, MICROSECOND, microseconds
from bestbefore.scale import Scale, scale_of

UNITS: Final = {"s": 1.0, "ms": 1e3, "us": 1e6}
"""How many of them make a second."""
SEEN: Final = (946_684_800.0, 4_102_444_800.0)
"""The years 2000 to 2100, in seconds: where times of logs are."""


class Columns(NamedTuple):
    """Which columns are read: names, or places of rows that are tuples."""

    arm: Any
    """The arm's name."""
    reward: Any
    """What it earned."""
    time: Any
    """When it was shown."""
    arrived: Any = None
    """When the arm arrived, if the log says so."""
    chance: Any = None
    """The probability with which it was shown, if the log says so."""

    @property
    def chosen(self) -> list[Any]:
        """Those that there are, in this order."""
        return [column for column in self if column is not None]


class Reading(NamedTuple):
    """How a log is to be read."""

    columns: Columns
    scale: Scale
    unit: str
    zone: ZoneInfo | None


class Malformed(Exception):
    """Something in a log is wrong, in a line that the error names."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(line, what)
        self.line, self.what = line, what


class NotDrawn(Malformed):
    """A log has something else where a probability should be."""


class NoProbability(ValueError):
    """A log has something else where a probability should be, and cannot say what another player would have earned."""


def reading_of(columns: Columns, scale: Any, unit: str, zone: "str | ZoneInfo | None") -> Reading:
    """Check what a person has said about a log."""
    for name, column in zip(Columns._fields, columns, strict=True):
        given = isinstance(column, (str, int)) and not isinstance(column, bool)
        if not (given or (column is None and name in ("arrived", "chance"))):
            raise ValueError(f"{said(name)} must be the name of a column, or its place in a tuple, not {column!r}")
        if column in (chosen := columns.chosen) and chosen.count(column) > 1:
            also = [said(other) for other, its in zip(Columns._fields, columns, strict=True) if its == column]
            raise ValueError(f"{' and '.join(also)} must be different columns, not all {column!r}")
    try:
        found: Any = ZoneInfo(zone) if isinstance(zone, str) else zone
    except (ZoneInfoNotFoundError, ValueError, OSError):
        found = zone
    if not (found is None or isinstance(found, ZoneInfo)):
        raise ValueError(f'zone must be the name of a time zone, such as "UTC" or "Europe/Berlin", not {zone!r}')
    return Reading(columns, scale_of(scale), one_of("unit", unit, UNITS), found)


def said(name: str) -> str:
    """Return what a person calls a column."""
    return {"chance": "propensity"}.get(name, name)


class Cells:
    """Reads cells, and remembers of which kind times are: all must be of the same."""

    def __init__(self, reading: Reading) -> None:
        self._columns, self._scale, self._zone = reading.columns, reading.scale, reading.zone
        self._unit, self._unit_name = UNITS[reading.unit], reading.unit
        self.kind, self._since = "", 0  # of times: "number", "with a time zone" or "without a time zone"

    def arm(self, line: int, value: Any) -> Any:
        """Return the name of an arm."""
        if missing(value):
            raise Malformed(line, f"{self._columns.arm} is missing")
        if not is_name(value):
            raise Malformed(line, f"{self._columns.arm} must be a name that can be hashed, not {value!r}")
        return value

    def reward(self, line: int, value: Any) -> float:
        """Return a reward as a share of the scale."""
        name, (low, high) = self._columns.reward, self._scale
        reward = number(value)
        if math.isnan(reward) and missing(value):
            raise Malformed(line, f"{name} is missing")
        if math.isnan(reward):
            raise Malformed(line, f"{name} must be a number, not {value!r}")
        if not low <= reward <= high:
            raise Malformed(
                line,
                f"{name} must lie between {low:g} and {high:g}, not {value!r}; if rewards have another range, say it: "
                "scale=(low, high)",
            )
        return (reward - low) / (high - low)

    def chance(self, line: int, value: Any) -> float:
        """Return a probability with which an arm was shown."""
        if missing(value):
            raise Malformed(line, f"{self._columns.chance} is missing")
        chance = number(value)
        if not 0 < chance <= 1:
            raise NotDrawn(line, f"{self._columns.chance} must be a probability above 0 and at most 1, not {value!r}")
        return chance

    def time(self, line: int, value: Any, column: Any) -> int:
        """Return a time in microseconds."""
        if self.kind == "with a time zone" and type(value) is str and value[4:5] == "-":  # as most rows are: be quick
            try:
                found = (datetime.fromisoformat(value) - EPOCH) // MICROSECOND
            except (ValueError, TypeError):
                found = -1  # what is wrong with it is said below
            if 0 <= found < MOST:
                return found
        if missing(value):
            raise Malformed(line, f"{column} is missing")
        seconds = math.nan if isinstance(value, (date, np.datetime64)) else number(value)
        if not math.isnan(seconds):
            self._same_kind(line, "number", column)
            return self._of_number(line, seconds / self._unit, value, column)
        at = _date(value)
        if at is None:
            wanted = "a date such as 2026-03-01T12:30:00+01:00, or a number"
            raise Malformed(line, f"{column} must be {wanted}, not {value!r}")
        naive = at.utcoffset() is None
        self._same_kind(line, "without a time zone" if naive else "with a time zone", column)
        if naive and self._zone is None:
            raise Malformed(
                line,
                f'{column} has no time zone: {value!r}; say which is meant, as in zone="UTC" or zone="Europe/Berlin"',
            )
        try:
            return microseconds(str(column), at.replace(tzinfo=self._zone) if naive else at)
        except ValueError:
            raise Malformed(line, f"{column} must be from 1970 on, not {value!r}") from None

    def _of_number(self, line: int, seconds: float, value: Any, column: Any) -> int:
        """Return seconds in microseconds; where they are out of range, say which unit they may have."""
        if 0 <= seconds < MOST / 1e6:
            return microseconds(str(column), seconds)
        likely = [unit for unit, size in UNITS.items() if SEEN[0] <= seconds * self._unit / size <= SEEN[1]]
        hint = f"; are these {likely[0]}? say unit={likely[0]!r}" if likely else ""
        raise Malformed(line, f"{column} must be a time from 1970 to 2255 in {self._unit_name}, not {value!r}{hint}")

    def _same_kind(self, line: int, kind: str, column: Any) -> None:
        """Complain of times of different kinds: nobody knows how they follow each other."""
        if not self.kind:
            self.kind, self._since = kind, line
        elif kind != self.kind:
            kinds = {"number": "a number"}
            here, before = (kinds.get(one, f"a date {one}") for one in (kind, self.kind))
            raise Malformed(line, f"{column} is {here}, and in line {self._since} it is {before}: all must be alike")


def missing(value: Any) -> bool:
    """Tell whether there is nothing in a cell."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, str):
        return not value.strip()
    return isinstance(value, (float, np.floating, np.datetime64)) and bool(value != value)  # NaN and NaT are not


def number(value: Any) -> float:
    """Read a number, or NaN; text that looks like one is one, a date is none."""
    if not isinstance(value, str):
        return real(value)
    try:
        return float(value) if "_" not in value else math.nan  # Python reads 1_000, others do not
    except ValueError:
        return math.nan


def _date(value: Any) -> datetime | None:
    """Read a date, or return None."""
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime.combine(value, time())
    try:
        return datetime.fromisoformat(value.strip()) if isinstance(value, str) else None
    except ValueError:
        return None
