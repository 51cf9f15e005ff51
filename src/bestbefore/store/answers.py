"""What a desk answers, whether it stands on a database or on a server."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple


class Erased(NamedTuple):
    """What a retention officer asks, without names."""

    arms: int
    """How many arms have been erased."""
    swept: datetime | None
    """When the last sweep ran."""
    oldest: timedelta | None
    """How old the oldest arm held is; None if none is held."""
    waiting: bool
    """Whether bytes of deleted names may still be on disk, until the next sweep."""


class Swept(NamedTuple):
    """What a sweep has done."""

    streams: int
    """In how many streams something was due."""
    gone: dict[str, list[Any]]
    """The arms that were let go, by stream, so that the caller can forget them too."""
    forgotten: int
    """How many ids of pulls were forgotten."""
    erased: bool
    """Whether the bytes of all names that were deleted are gone from the disk."""
    failed: dict[str, Exception]
    """Streams that could not be swept, and why."""


class Overview(NamedTuple):
    """What is in all streams together, without names."""

    streams: int
    waiting: int
    """Pulls whose rewards are awaited."""
    silent: int
    """Streams of which a pull was asked for long ago, and none was told since; its deadline may have passed."""
    erased: int
    """Arms that were erased."""
    oldest: float
    """The age of the oldest arm held, in seconds; 0 if there is none."""
