"""Union: the certificates of several explorers that saw parts of one stream, as those of one.

Rows stay as they are, with their charges.  An arm that several parts know has the rewards of all, and its bounds are
computed anew.  If there are more arms than slots, those go that newer ones cover, and then those that cost least: the
gap shows it.

>>> from bestbefore.noise import BOUNDED
>>> from bestbefore.probe.certificates import refresh, settings_of, told
>>> settings = settings_of(epsilon=0.5, slots=2, noise=BOUNDED)
>>> parts = [no_certificates(slots=2) for _ in range(2)]
>>> for part, arrival, total in zip(parts, (1, 2), (90.0, 20.0)):
...     told(part, admit(part, arrival, 6.0, 3.0), 100, total, settings)
>>> rows = [Row(arrival, (6.0, 3.0), [(part, 0)]) for arrival, part in enumerate(parts, start=1)]
>>> both = united(rows, parts, oldest=1, settings=settings)
>>> both.memory.arrival.tolist(), both.memory.total.tolist()
([1, 2, 0], [90.0, 20.0, 0.0])
"""

from collections.abc import Sequence
from typing import NamedTuple

from bestbefore.memory import count
from bestbefore.probe.certificates import (
    BY_AGE,
    CHARGE,
    CHARGED,
    FREED,
    LOG_LOWER,
    SEEN_LOWER,
    SEEN_UPPER,
    UPPER,
    Certificates,
    Settings,
    admit,
    expire,
    no_certificates,
)
from bestbefore.probe.room import drop_covered, give_way


class Row(NamedTuple):
    """An arm of the union: its number, ln(1 / p) of its bounds, and the parts that know it, with its slot in each."""

    arrival: int
    logs: tuple[float, float]
    places: Sequence[tuple[Certificates, int]]


def united(rows: Sequence[Row], parts: Sequence[Certificates], oldest: int, settings: Settings) -> Certificates:
    """Return the certificates of all rows, oldest first, and the charges that stand for nobody in a part."""
    wide = no_certificates(max(len(rows), settings.slots))
    for row in rows:
        _copy(row.places, wide, admit(wide, row.arrival, *row.logs))
    for part in parts:
        wide.levels[-1, CHARGE] = max(wide.levels[-1, CHARGE], part.levels[-1, CHARGE])
        wide.counts[-1, CHARGED] = max(wide.counts[-1, CHARGED], part.counts[-1, CHARGED])
    expire(wide, oldest)
    while count(wide.memory) > settings.slots + 1:
        if not drop_covered(wide, settings):
            give_way(wide, settings)
    narrow = no_certificates(settings.slots)
    for place in range(count(wide.memory)):
        old = int(wide.counts[place, BY_AGE])
        logs = wide.levels[old, LOG_LOWER:]
        _copy([(wide, old)], narrow, admit(narrow, int(wide.memory.arrival[old]), *logs))
    narrow.levels[-1, CHARGE], narrow.counts[-1, CHARGED] = wide.levels[-1, CHARGE], wide.counts[-1, CHARGED]
    return narrow


def _copy(places: Sequence[tuple[Certificates, int]], into: Certificates, slot: int) -> None:
    """Copy the row of an arm; the rows of an arm that several parts know become one."""
    into.memory.pulls[slot] = sum(part.memory.pulls[old] for part, old in places)
    into.memory.total[slot] = sum(part.memory.total[old] for part, old in places)
    for part, old in places:
        into.levels[slot, CHARGE] = max(into.levels[slot, CHARGE], part.levels[old, CHARGE])
        for column in (CHARGED, FREED):
            into.counts[slot, column] = max(into.counts[slot, column], part.counts[old, column])
    if len(places) == 1:
        part, old = places[0]
        into.levels[slot, : UPPER + 1] = part.levels[old, : UPPER + 1]
        into.counts[slot, SEEN_LOWER : SEEN_UPPER + 1] = part.counts[old, SEEN_LOWER : SEEN_UPPER + 1]
