"""Streams, arms and pulls in SQL, the same for every database that SQLAlchemy Core knows."""

import json
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import (
    Dialect,
    Row,
    and_,
    bindparam,
    case,
    delete,
    func,
    insert,
    null,
    select,
    tuple_,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from bestbefore.errors import StoreDamaged
from bestbefore.store.answers import Overview
from bestbefore.store.names import compact
from bestbefore.store.rows import GONE, ArmRow, Head, PullRow, StreamRow, TotalRow
from bestbefore.store.schema import arms, erasures, notes, pulls, streams, totals
from bestbefore.store.totals import TotalsReading, adding, fields_of, forget_old

AT_ONCE: Final = 500
"""How many values a statement lists at most: databases have limits."""

_HEAD = select(streams.c.id, streams.c.name, streams.c.version, streams.c.due)
_PULL = select(
    pulls.c.id,
    pulls.c.arrival,
    pulls.c.asked,
    pulls.c.deadline,
    pulls.c.how,
    pulls.c.reward,
    pulls.c.ended,
    pulls.c.forget,
    pulls.c.chance,
)
_OPEN = and_(pulls.c.stream == bindparam("of"), pulls.c.how.is_(None))
_BY_NAME = _HEAD.where(streams.c.name == bindparam("called"))
AMONG = _HEAD.where(streams.c.name.in_(bindparam("called", expanding=True)))
_STREAM = select(streams).where(streams.c.id == bindparam("of"))
_ARMS = select(arms.c.number, arms.c.name, arms.c.since).where(arms.c.stream == bindparam("of")).order_by(arms.c.number)
_BY_ID = _PULL.where(pulls.c.stream == bindparam("of"), pulls.c.id.in_(bindparam("ids", expanding=True)))
_DUE = _PULL.where(_OPEN, pulls.c.deadline <= bindparam("now")).order_by(pulls.c.deadline, pulls.c.id)
_NEXT = select(func.min(pulls.c.deadline)).where(_OPEN, pulls.c.deadline > bindparam("after"))
_END = (
    update(pulls)
    .where(pulls.c.stream == bindparam("of"), pulls.c.id == bindparam("which"))
    .values(
        how=bindparam("new_how"),
        reward=bindparam("new_reward"),
        ended=bindparam("new_ended"),
        forget=bindparam("new_forget"),
    )
)
_ADD = insert(pulls)
_SAVE = (
    update(streams)
    .where(streams.c.id == bindparam("of"))
    .values({column: bindparam(f"new_{column}") for column in ("version", "time", "due", "counts", "state")})
)


@lru_cache(maxsize=8)
def _compiled(statement: Any, dialect: Dialect) -> tuple[str, tuple[str, ...] | None]:
    """Return a statement as a database reads it, and the order of its values where they have no names."""
    found = statement.compile(dialect=dialect)
    return str(found), tuple(found.positiontup) if found.positiontup else None


class SqlReading(TotalsReading):
    """Reads on one connection."""

    def head(self, name: str) -> Head | None:
        """Return a stream's version."""
        row = self.connection.execute(_BY_NAME, {"called": name}).first()
        return Head(*row) if row else None

    def stream(self, stream: int) -> StreamRow | None:
        """Return all of a stream but its pulls."""
        row = self.connection.execute(_STREAM, {"of": stream}).first()
        if row is None:
            return None
        here = [ArmRow(*arm) for arm in self.connection.execute(_ARMS, {"of": stream})]
        settings, counts = _parsed(row, row.settings), _parsed(row, row.counts)
        return StreamRow(row.id, row.name, row.kind, settings, row.version, row.time, row.due, counts, row.state, here)

    def names(self) -> list[str]:
        """Return the names of all streams, sorted."""
        return sorted(self.connection.scalars(select(streams.c.name)))

    def due(self, now: int, after: int, most: int) -> list[Head]:
        """Return up to so many streams of ids above `after` for which something is due, by id."""
        found = _HEAD.where(streams.c.due <= now, streams.c.id > after).order_by(streams.c.id).limit(most)
        return [Head(*row) for row in self.connection.execute(found)]

    def pulls(self, stream: int, ids: Collection[str]) -> list[PullRow]:
        """Return the pulls of these ids, of those that there are."""
        found: list[PullRow] = []
        for some in parts(sorted(ids)):
            found += [PullRow(*row) for row in self.connection.execute(_BY_ID, {"of": stream, "ids": some})]
        return found

    def pulls_after(self, stream: int, last: str, most: int) -> list[PullRow]:
        """Return up to so many pulls of ids above `last`, by id."""
        found = _PULL.where(pulls.c.stream == stream, pulls.c.id > last).order_by(pulls.c.id).limit(most)
        return [PullRow(*row) for row in self.connection.execute(found)]

    def open_pulls(self, stream: int) -> dict[int, int]:
        """Return how many pulls are open of each arm."""
        counted = select(pulls.c.arrival, func.count()).where(_OPEN).group_by(pulls.c.arrival)
        return {row[0]: row[1] for row in self.connection.execute(counted, {"of": stream})}

    def due_pulls(self, stream: int, now: int) -> list[PullRow]:
        """Return the open pulls whose deadline has come, by deadline and id."""
        return [PullRow(*row) for row in self.connection.execute(_DUE, {"of": stream, "now": now})]

    def next_deadline(self, stream: int, after: int = -1) -> int | None:
        """Return the earliest deadline of an open pull after a time."""
        return self.connection.scalar(_NEXT, {"of": stream, "after": after})  # type: ignore[no-any-return]

    def note(self, key: str) -> int | None:
        """Return a number that was noted."""
        return self.connection.scalar(select(notes.c.value).where(notes.c.key == key))

    def unerased(self) -> bool:
        """Say whether bytes of names that were deleted may still be on disk."""
        return self.connection.scalar(select(func.max(erasures.c.id))) is not None

    def overview(self, now: int, silent_after: int) -> Overview:
        """Return what is in all streams together."""
        counts = [json.loads(text) for text in self.connection.scalars(select(streams.c.counts))]
        waiting = self.connection.scalar(select(func.count()).select_from(pulls).where(pulls.c.how.is_(None))) or 0
        oldest = self.connection.scalar(select(func.min(arms.c.since)))
        age = 0.0 if oldest is None else max(now - oldest, 0) / 1e6
        erased = sum(count.get("erased", 0) for count in counts)
        return Overview(len(counts), waiting, len(self.silent(now, silent_after)), erased, age)


class SqlWriting(SqlReading):
    """A transaction on one connection."""

    def lock(self, names: Collection[str], *, wait: bool) -> list[Head]:
        """Lock streams; here one writer has the whole database, so that it has every stream."""
        return [Head(*row) for some in parts(sorted(names)) for row in self.connection.execute(AMONG, {"called": some})]

    def create(self, row: StreamRow) -> int | None:
        """Add a stream and its arms, and return its id; None if there is one of that name already."""
        new = self._insert()(streams).values(
            name=row.name,
            kind=row.kind,
            settings=compact(row.settings),
            version=row.version,
            time=row.time,
            due=row.due,
            counts=compact(row.counts),
            state=row.state,
        )
        made: int | None = self.connection.scalar(new.on_conflict_do_nothing().returning(streams.c.id))
        if made is not None:
            self._add_arms(made, row.arms)
        return made

    def save(self, row: StreamRow, came: Iterable[ArmRow], went: Collection[int]) -> None:
        """Write version, time, what is due, counts and state of a stream, and which arms came and went."""
        new = {
            "of": row.id,
            "new_version": row.version,
            "new_time": row.time,
            "new_due": row.due,
            "new_counts": compact(row.counts),
            "new_state": row.state,
        }
        self._many(_SAVE, [new])
        for some in parts(list(went)):
            self.connection.execute(delete(arms).where(arms.c.stream == row.id, arms.c.number.in_(some)))
        self._add_arms(row.id, came)

    def drop(self, stream: int) -> None:
        """Delete a stream with all that belongs to it."""
        for table in (pulls, arms, totals):
            self.connection.execute(delete(table).where(table.c.stream == stream))
        self.connection.execute(delete(streams).where(streams.c.id == stream))

    def add_pulls(self, stream: int, rows: Collection[PullRow]) -> None:
        """Add pulls."""
        self._many(_ADD, [_pull_fields(row) | {"stream": stream} for row in rows])

    def end_pulls(self, stream: int, rows: Collection[PullRow]) -> None:
        """Write how pulls ended."""
        ends = [
            {
                "of": stream,
                "which": row.id,
                "new_how": row.how,
                "new_reward": row.reward,
                "new_ended": row.ended,
                "new_forget": row.forget,
            }
            for row in rows
        ]
        self._many(_END, ends)

    def orphan_pulls(self, stream: int, numbers: Collection[int], ended: int, forget: int) -> int:
        """End the open pulls of arms that have gone; return how many there were."""
        later = case((pulls.c.deadline > forget, pulls.c.deadline), else_=forget)
        count = 0
        for some in parts(list(numbers)):
            orphans = and_(_OPEN, pulls.c.arrival.in_(some))
            gone = (
                update(pulls).where(orphans).values(how=GONE, reward=null(), chance=null(), ended=ended, forget=later)
            )
            count += self.connection.execute(gone, {"of": stream}).rowcount
        return count

    def forget_pulls(self, now: int, most: int) -> int:
        """Delete up to so many pulls whose ids are to be forgotten; return how many there were."""
        old = select(pulls.c.stream, pulls.c.id).where(pulls.c.forget <= now).limit(most)
        old = old.with_for_update(skip_locked=True)  # where sweeps run at once, none waits for another
        found = delete(pulls).where(tuple_(pulls.c.stream, pulls.c.id).in_(old))
        return self.connection.execute(found).rowcount

    def add_totals(self, stream: int, rows: Collection[TotalRow], old: Mapping[int, int]) -> None:
        """Add to the totals of a stream, and delete those of each length that are older than `old` says."""
        self._many(adding(self.connection.dialect.name), fields_of(stream, rows))
        forget_old(self.connection, stream, old)

    def mark_erased(self) -> None:
        """Take note that names were deleted, of which bytes may be left on disk."""
        self.connection.execute(insert(erasures).values(stream=None))

    def set_notes(self, noted: Mapping[str, int]) -> None:
        """Note numbers."""
        for key, value in noted.items():
            new = self._insert()(notes).values(key=key, value=value)
            self.connection.execute(new.on_conflict_do_update(index_elements=["key"], set_={"value": value}))

    def _many(self, statement: Any, rows: list[dict[str, Any]]) -> None:
        """Execute a statement for many rows, which are plain numbers and texts: the driver takes them as they are."""
        if not rows:
            return
        text, names = _compiled(statement, self.connection.dialect)
        self.connection.exec_driver_sql(text, rows if names is None else [tuple(row[n] for n in names) for row in rows])

    def _add_arms(self, stream: int, rows: Iterable[ArmRow]) -> None:
        new = [row._asdict() | {"stream": stream} for row in rows]
        if new:
            self.connection.execute(insert(arms), new)

    def _insert(self) -> Any:
        """Return the form of INSERT that copes with a row that is there already."""
        return {"sqlite": sqlite.insert, "postgresql": postgresql.insert}[self.connection.dialect.name]


def parts(values: list[Any]) -> list[list[Any]]:
    """Return a list in parts that a statement can take."""
    return [values[start : start + AT_ONCE] for start in range(0, len(values), AT_ONCE)]


def _pull_fields(row: PullRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "arrival": row.arrival,
        "asked": row.asked,
        "deadline": row.deadline,
        "how": row.how,
        "reward": row.reward,
        "ended": row.ended,
        "forget": row.forget,
        "chance": row.chance,
    }


def _parsed(row: Row[Any], text: str) -> Any:
    """Return settings or counts, if they can be read."""
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise StoreDamaged(f"stream {row.name!r} is damaged in the database: {text[:80]!r} is no JSON object")
    return found
