"""Streams, arms and pulls in SQL, the same for every database that SQLAlchemy Core knows."""

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any, ClassVar, Final

from sqlalchemy import delete, func, select, tuple_
from sqlalchemy.dialects import postgresql, sqlite

from bestbefore.errors import StoreDamaged
from bestbefore.store import statements
from bestbefore.store.answers import Overview
from bestbefore.store.names import compact
from bestbefore.store.rows import ArmRow, Head, PullRow, StreamRow, TotalRow
from bestbefore.store.schema import arms, erasures, notes, pulls, streams, totals
from bestbefore.store.statements import run, run_for
from bestbefore.store.totals import TotalsReading, adding, fields_of, forget_old

AT_ONCE: Final = 500
"""How many values a statement lists at most: databases have limits."""


class SqlReading(TotalsReading):
    """Reads on one connection."""

    def head(self, name: str) -> Head | None:
        """Return a stream's version."""
        row = run(self.connection, statements.BY_NAME, called=name).first()
        return Head(*row) if row else None

    def stream(self, stream: int) -> StreamRow | None:
        """Return all of a stream but its pulls."""
        row = run(self.connection, statements.STREAM, of=stream).first()
        if row is None:
            return None
        id, name, kind, settings, version, time, due, counts, state = row
        here = [ArmRow(*arm) for arm in run(self.connection, statements.ARMS, of=stream)]
        told, counted = _parsed(name, settings), _parsed(name, counts)
        return StreamRow(id, name, kind, told, version, time, due, counted, state, here)

    def names(self) -> list[str]:
        """Return the names of all streams, sorted."""
        return sorted(self.connection.scalars(select(streams.c.name)))

    def due(self, now: int, after: int, most: int) -> list[Head]:
        """Return up to so many streams of ids above `after` for which something is due, by id."""
        found = run(self.connection, statements.DUE_STREAMS, now=now, after=after, most=most)
        return [Head(*row) for row in found]

    def pulls(self, stream: int, ids: Collection[str]) -> list[PullRow]:
        """Return the pulls of these ids, of those that there are."""
        if len(ids) == 1:
            return [PullRow(*row) for row in run(self.connection, statements.PULL, of=stream, which=next(iter(ids)))]
        found: list[PullRow] = []
        for some in parts(sorted(ids)):
            found += [PullRow(*row) for row in self.connection.execute(statements.PULLS, {"of": stream, "ids": some})]
        return found

    def pulls_after(self, stream: int, last: str, most: int) -> list[PullRow]:
        """Return up to so many pulls of ids above `last`, by id."""
        found = run(self.connection, statements.PULLS_AFTER, of=stream, last=last, most=most)
        return [PullRow(*row) for row in found]

    def open_pulls(self, stream: int) -> dict[int, int]:
        """Return how many pulls are open of each arm."""
        return {row[0]: row[1] for row in run(self.connection, statements.OPEN_PULLS, of=stream)}

    def due_pulls(self, stream: int, now: int) -> list[PullRow]:
        """Return the open pulls whose deadline has come, by deadline and id."""
        return [PullRow(*row) for row in run(self.connection, statements.DUE, of=stream, now=now)]

    def next_deadline(self, stream: int, after: int = -1) -> int | None:
        """Return the earliest deadline of an open pull after a time."""
        found: int | None = run(self.connection, statements.NEXT, of=stream, after=after).scalar()
        return found

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

    one: ClassVar[Any] = statements.BY_NAME
    among: ClassVar[Any] = statements.AMONG

    def lock(self, names: Collection[str], *, wait: bool) -> list[Head]:
        """Lock streams; here one writer has the whole database, so that it has every stream."""
        return [head for some in parts(sorted(names)) for head in self._heads(some)]

    def _heads(self, names: list[str]) -> list[Head]:
        if len(names) == 1:
            return [Head(*row) for row in run(self.connection, self.one, called=names[0])]
        return [Head(*row) for row in self.connection.execute(self.among, {"called": names})]

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
        run(self.connection, statements.SAVE, **new)
        run_for(self.connection, statements.LEAVE, [{"of": row.id, "which": number} for number in went])
        self._add_arms(row.id, came)

    def drop(self, stream: int) -> None:
        """Delete a stream with all that belongs to it."""
        for table in (pulls, arms, totals):
            self.connection.execute(delete(table).where(table.c.stream == stream))
        self.connection.execute(delete(streams).where(streams.c.id == stream))

    def add_pulls(self, stream: int, rows: Collection[PullRow]) -> None:
        """Add pulls."""
        run_for(self.connection, statements.ADD, [_pull_fields(row) | {"stream": stream} for row in rows])

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
        run_for(self.connection, statements.END, ends)

    def orphan_pulls(self, stream: int, numbers: Collection[int], ended: int, forget: int) -> int:
        """End the open pulls of arms that have gone; return how many there were."""
        told = {"of": stream, "new_ended": ended, "new_forget": forget}
        return sum(run(self.connection, statements.ORPHAN, number=number, **told).rowcount for number in numbers)

    def forget_pulls(self, now: int, most: int) -> int:
        """Delete up to so many pulls whose ids are to be forgotten; return how many there were."""
        old = select(pulls.c.stream, pulls.c.id).where(pulls.c.forget <= now).limit(most)
        old = old.with_for_update(skip_locked=True)  # where sweeps run at once, none waits for another
        found = delete(pulls).where(tuple_(pulls.c.stream, pulls.c.id).in_(old))
        return self.connection.execute(found).rowcount

    def add_totals(self, stream: int, rows: Collection[TotalRow], old: Mapping[int, int]) -> None:
        """Add to the totals of a stream, and delete those of each length that are older than `old` says."""
        run_for(self.connection, adding(self.connection.dialect.name), fields_of(stream, rows))
        forget_old(self.connection, stream, old)

    def mark_erased(self) -> None:
        """Take note that names were deleted, of which bytes may be left on disk."""
        run(self.connection, statements.MARK, stream=None)

    def set_notes(self, noted: Mapping[str, int]) -> None:
        """Note numbers."""
        for key, value in noted.items():
            new = self._insert()(notes).values(key=key, value=value)
            self.connection.execute(new.on_conflict_do_update(index_elements=["key"], set_={"value": value}))

    def _add_arms(self, stream: int, rows: Iterable[ArmRow]) -> None:
        run_for(self.connection, statements.ENTER, [row._asdict() | {"stream": stream} for row in rows])

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


def _parsed(name: str, text: str) -> Any:
    """Return settings or counts of a stream, if they can be read."""
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise StoreDamaged(f"stream {name!r} is damaged in the database: {text[:80]!r} is no JSON object")
    return found
