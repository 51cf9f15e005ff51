"""Totals over time: how much was asked and told in each minute, quarter of an hour and quarter of a day, without names.

They are written with the calls that they count, in the same transaction.  Each length of time has a limited number of
rows, so that a stream has at most `sum(span.kept for span in SPANS.values())` of them, however long it runs.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, bindparam, delete, func, select
from sqlalchemy.dialects import postgresql, sqlite

from bestbefore.store.rows import TOLD, TotalRow
from bestbefore.store.schema import pulls, totals
from bestbefore.store.statements import run_for

MINUTE: Final = 60_000_000
"""In microseconds."""


class Span(NamedTuple):
    """A time that can be looked back at: in steps of so many microseconds; some are shown, and some more kept."""

    step: int
    shown: int
    kept: int


SPANS: Final = {
    "hour": Span(MINUTE, 60, 120),
    "day": Span(15 * MINUTE, 96, 192),
    "month": Span(360 * MINUTE, 120, 240),
}
"""What can be looked back at."""

COUNTED: Final = ("arrived", "asked", "told", "reward", "defaulted", "given_up", "gone")
_KEY: Final = ("stream", "length", "since")
_OLD: Final = delete(totals).where(
    totals.c.stream == bindparam("of"), totals.c.length == bindparam("long"), totals.c.since < bindparam("before")
)


class Tally:
    """What has happened in a stream since it was last written, by the minute."""

    def __init__(self) -> None:
        self._minutes: dict[int, dict[str, float]] = {}
        self._begun: dict[int, int] = {}  # by length, the latest step that was written

    def add(self, what: str, now: int, count: int = 1, reward: float = 0.0) -> None:
        """Count something that happened at a time."""
        minute = now // MINUTE
        found = self._minutes.get(minute)
        if found is None:
            found = self._minutes[minute] = dict.fromkeys(COUNTED, 0)
        found[what] += count
        found["reward"] += reward

    def rows(self) -> list[TotalRow]:
        """Return what is to be added to the totals."""
        sums: dict[tuple[int, int], dict[str, float]] = {}
        for minute, counted in self._minutes.items():
            for span in SPANS.values():
                since = minute * MINUTE // span.step * span.step
                into = sums.setdefault((span.step, since), dict.fromkeys(COUNTED, 0))
                for what, value in counted.items():
                    into[what] += value
        return [TotalRow(*key, **counted) for key, counted in sums.items()]  # type: ignore[arg-type]

    def cleared(self) -> dict[int, int]:
        """Begin anew; return for each length before which time its rows are too many, where a step has begun."""
        old: dict[int, int] = {}
        newest = max(self._minutes, default=0) * MINUTE
        for span in SPANS.values():
            since = newest // span.step * span.step
            if since > self._begun.get(span.step, 0):
                self._begun[span.step] = since
                old[span.step] = since - (span.kept - 1) * span.step
        self._minutes = {}
        return old


class TotalsReading:
    """Reads totals on a connection."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def totals(self, stream: int, length: int, since: int) -> list[TotalRow]:
        """Return the totals of a stream for one length of time, from a time on, the oldest first."""
        columns = [totals.c.length, totals.c.since, *(totals.c[name] for name in COUNTED)]
        wanted = (totals.c.stream == stream, totals.c.length == length, totals.c.since >= since)
        return [TotalRow(*row) for row in self.connection.execute(select(*columns).where(*wanted).order_by("since"))]

    def silent(self, now: int, after: int, stream: int | None = None) -> set[int]:
        """Return the streams, or whether this one is among them, that have fallen silent.

        In such a stream a pull was asked for at least `after` microseconds ago, and no reward was told since.
        """
        return self._by_open_pulls(now - after, stream) | self._by_totals(now, after, stream)

    def _by_open_pulls(self, before: int, stream: int | None) -> set[int]:
        """Return those whose oldest pull that still waits is so old."""
        first = select(pulls.c.stream, func.min(pulls.c.asked).label("asked")).where(pulls.c.how.is_(None))
        rows = self.connection.execute(_of(first, pulls.c.stream, stream).group_by(pulls.c.stream)).all()
        return {row.stream for row in rows if row.asked <= before and not self._told_since(row.stream, row.asked)}

    def _told_since(self, stream: int, time: int) -> bool:
        told = select(pulls.c.id).where(pulls.c.stream == stream, pulls.c.how == TOLD, pulls.c.ended > time).limit(1)
        return self.connection.scalar(told) is not None

    def _by_totals(self, now: int, after: int, stream: int | None) -> set[int]:
        """Return those that are asked, step by step, and are told nothing: their pulls may have ended untold."""
        span = next((span for span in SPANS.values() if span.step * span.kept >= 2 * after), None)
        if span is None:
            return set()
        here = (totals.c.length == span.step, totals.c.since > now - span.step * span.kept)
        last = _of(select(totals.c.stream, func.max(totals.c.since).label("since")), totals.c.stream, stream)
        told = last.where(*here, totals.c.told > 0).group_by(totals.c.stream).subquery()
        asked = _of(select(totals.c.stream), totals.c.stream, stream).where(*here, totals.c.asked > 0)
        asked = asked.outerjoin(told, told.c.stream == totals.c.stream)
        asked = asked.where(totals.c.since > func.coalesce(told.c.since, -1)).group_by(totals.c.stream)
        return set(self.connection.scalars(asked.having(func.min(totals.c.since) <= now - after - span.step)))


def _of(found: Any, column: ColumnElement[int], stream: int | None) -> Any:
    return found if stream is None else found.where(column == stream)


@lru_cache
def adding(dialect: str) -> Any:
    """Return the statement that adds to totals, which may be there already."""
    new: Any = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}[dialect](totals)
    more = {name: totals.c[name] + new.excluded[name] for name in COUNTED}
    return new.on_conflict_do_update(index_elements=list(_KEY), set_=more)


def forget_old(connection: Connection, stream: int, old: Mapping[int, int]) -> None:
    """Delete the totals of a stream that are too many."""
    run_for(connection, _OLD, [{"of": stream, "long": length, "before": before} for length, before in old.items()])


def fields_of(stream: int, rows: Iterable[TotalRow]) -> list[dict[str, Any]]:
    """Return rows as a database takes them."""
    return [row._asdict() | {"stream": stream} for row in rows]
