"""The statements of streams, arms and pulls, and how they reach a database: compiled once, for calls make several each.

What they are told and return are plain numbers and texts, so that a driver takes and gives them as they are.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, and_, bindparam, case, delete, func, insert, null, select, update

from bestbefore.store.rows import GONE
from bestbefore.store.schema import arms, erasures, pulls, streams

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
_OF = pulls.c.stream == bindparam("of")
_OPEN = and_(_OF, pulls.c.how.is_(None))
_COLUMNS: Final = ("id", "name", "kind", "settings", "version", "time", "due", "counts", "state")

BY_NAME: Final = _HEAD.where(streams.c.name == bindparam("called"))
AMONG: Final = _HEAD.where(streams.c.name.in_(bindparam("called", expanding=True)))
DUE_STREAMS: Final = (
    _HEAD.where(streams.c.due <= bindparam("now"), streams.c.id > bindparam("after"))
    .order_by(streams.c.id)
    .limit(bindparam("most"))
)
STREAM: Final = select(*(streams.c[name] for name in _COLUMNS)).where(streams.c.id == bindparam("of"))
ARMS: Final = (
    select(arms.c.number, arms.c.name, arms.c.since).where(arms.c.stream == bindparam("of")).order_by(arms.c.number)
)
PULL: Final = _PULL.where(_OF, pulls.c.id == bindparam("which"))
PULLS: Final = _PULL.where(_OF, pulls.c.id.in_(bindparam("ids", expanding=True)))
PULLS_AFTER: Final = _PULL.where(_OF, pulls.c.id > bindparam("last")).order_by(pulls.c.id).limit(bindparam("most"))
OPEN_PULLS: Final = select(pulls.c.arrival, func.count()).where(_OPEN).group_by(pulls.c.arrival)
DUE: Final = _PULL.where(_OPEN, pulls.c.deadline <= bindparam("now")).order_by(pulls.c.deadline, pulls.c.id)
NEXT: Final = select(func.min(pulls.c.deadline)).where(_OPEN, pulls.c.deadline > bindparam("after"))
END: Final = (
    update(pulls)
    .where(_OF, pulls.c.id == bindparam("which"))
    .values({column: bindparam(f"new_{column}") for column in ("how", "reward", "ended", "forget")})
)
ADD: Final = insert(pulls)
ORPHAN: Final = (
    update(pulls)
    .where(_OPEN, pulls.c.arrival == bindparam("number"))
    .values(
        how=GONE,
        reward=null(),
        chance=null(),
        ended=bindparam("new_ended"),
        forget=case(
            (pulls.c.deadline > bindparam("new_forget"), pulls.c.deadline),
            else_=bindparam("new_forget", type_=pulls.c.forget.type),
        ),
    )
)
SAVE: Final = (
    update(streams)
    .where(streams.c.id == bindparam("of"))
    .values({column: bindparam(f"new_{column}") for column in ("version", "time", "due", "counts", "state")})
)
ENTER: Final = insert(arms)
LEAVE: Final = delete(arms).where(arms.c.stream == bindparam("of"), arms.c.number == bindparam("which"))
MARK: Final = insert(erasures).values(stream=bindparam("stream")).inline()

_TEXTS: dict[Any, tuple[str, tuple[str, ...] | None, dict[str, Any]]] = {}


def run(connection: Connection, statement: Any, **values: Any) -> Any:
    """Execute a statement of this package, compiled before; return what `Connection.execute` would."""
    text, names, fixed = _text(connection, statement)
    told: Any = fixed | values
    return connection.exec_driver_sql(text, told if names is None else tuple(map(told.__getitem__, names)))


def run_for(connection: Connection, statement: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Execute a statement of this package for many rows, if there are any; each has all its values."""
    if rows:
        text, names, _ = _text(connection, statement)
        told: Any = rows if names is None else [tuple(map(row.__getitem__, names)) for row in rows]
        connection.exec_driver_sql(text, told)


def _text(connection: Connection, statement: Any) -> tuple[str, tuple[str, ...] | None, dict[str, Any]]:
    """Return a statement as a driver reads it, the order of its values where they have no names, and those it has."""
    key = statement, type(connection.dialect)
    found = _TEXTS.get(key)
    if found is None:  # where two threads come at once, both find the same
        made = statement.compile(dialect=connection.dialect)
        names = tuple(made.positiontup) if made.positiontup else None
        found = str(made), names, {name: value for name, value in made.params.items() if value is not None}
        _TEXTS[key] = found
    return found
