"""PostgreSQL: a server.  A row lock for each stream, so that streams do not wait for one another.

A transaction takes the streams that are free and leaves out those that others hold.  Only if there is nothing else to
do it waits, for one stream: so no two transactions ever wait for each other.
"""

from collections.abc import Collection
from typing import Final

from sqlalchemy import URL, Connection, Engine, create_engine, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from bestbefore.store import statements
from bestbefore.store.engines import SqlStore
from bestbefore.store.rows import Head
from bestbefore.store.sql import SqlWriting

WAIT: Final = 100
"""For how many milliseconds a transaction waits for a stream that another holds."""

ERASE_WAIT: Final = 300
"""For how many milliseconds an erasure waits for whoever reads names; calls wait behind it."""

_SHORT: Final = "40P01", "55P03", "57014"  # deadlock, lock not available, cancelled: try again
_HELD: Final = statements.AMONG.with_for_update()
_REASONS: Final = {
    "25006": "the database is read-only",
    "53100": "the disk of the database is full",
    "53200": "the database is out of memory",
    "53300": "the database takes no more connections",
    "55P03": "another process holds a lock",
    "57014": "the statement was cancelled",
    "57P01": "the database is shutting down",
    "57P02": "the database has crashed and restarts",
    "57P03": "the database is starting up",
    "28P01": "the password is wrong",
    "28000": "this user may not connect",
    "3D000": "there is no such database",
    "42501": "this user may not do that",
}


class PostgresWriting(SqlWriting):
    """A transaction on PostgreSQL."""

    one = statements.BY_NAME.with_for_update(skip_locked=True)
    among = statements.AMONG.with_for_update(skip_locked=True)

    def lock(self, names: Collection[str], *, wait: bool) -> list[Head]:
        """Lock the rows of streams, of those that are free; with `wait`, wait a moment for one that is not."""
        if not wait:
            return super().lock(names, wait=False)
        self.connection.execute(text(f"SET LOCAL lock_timeout = {WAIT}"))
        try:
            with self.connection.begin_nested():
                found = [Head(*row) for row in self.connection.execute(_HELD, {"called": list(names)})]
        except DBAPIError as wrong:
            if code_of(wrong) != "55P03":
                raise
            found = []
        self.connection.execute(text("SET LOCAL lock_timeout TO DEFAULT"))  # an erasure is waited for to its end
        return found


class PostgresStore(SqlStore):
    """Streams on a server."""

    _writing = PostgresWriting

    def __init__(self, url: URL) -> None:
        self._url = url
        try:
            import psycopg  # noqa: F401
        except ModuleNotFoundError:
            raise ModuleNotFoundError("PostgreSQL needs psycopg: pip install 'bestbefore[postgres]'") from None
        super().__init__(*self._again(), url.set(drivername="postgresql").render_as_string(hide_password=True))

    def _again(self) -> tuple[Engine, Engine]:
        return (
            create_engine(self._url, isolation_level="READ COMMITTED", pool_pre_ping=True),
            create_engine(self._url, isolation_level="REPEATABLE READ", pool_pre_ping=True).execution_options(
                postgresql_readonly=True
            ),
        )

    def erase(self) -> bool:
        """Write the names that are left into a new file, and drop the old one with all that was deleted in it.

        A plain VACUUM would make room where names were deleted, but not overwrite them.
        """
        try:
            with self.write() as writing:
                last = writing.connection.scalar(text("SELECT max(id) FROM bestbefore_erasures"))
                if last is None:
                    return True
                _rewrite(writing.connection)
                writing.connection.execute(text("DELETE FROM bestbefore_erasures WHERE id <= :last"), {"last": last})
        except OSError as wrong:
            if code_of(wrong.__cause__) not in _SHORT:
                raise
            return False
        return True

    def _begin_read(self, connection: Connection) -> None:
        """See that names are not written anew between the moment that is read and the reading."""
        connection.execute(text("LOCK TABLE bestbefore_arms IN ACCESS SHARE MODE"))

    def _why(self, wrong: SQLAlchemyError) -> str | None:
        return _REASONS.get(code_of(wrong))


def _rewrite(connection: Connection) -> None:
    """Write the table of names anew, in a file of its own; nobody reads or writes names meanwhile."""
    for statement in (
        f"SET LOCAL lock_timeout = {ERASE_WAIT}",
        "LOCK TABLE bestbefore_arms IN ACCESS EXCLUSIVE MODE",
        "CREATE TEMPORARY TABLE bestbefore_kept ON COMMIT DROP AS SELECT * FROM bestbefore_arms",
        "TRUNCATE bestbefore_arms",
        "INSERT INTO bestbefore_arms (stream, number, name, since) SELECT stream, number, name, since"
        " FROM bestbefore_kept ORDER BY stream, number",
    ):
        connection.execute(text(statement))


def code_of(wrong: object) -> str:
    """Return PostgreSQL's code of an error, or nothing."""
    return str(getattr(getattr(wrong, "orig", None), "sqlstate", None) or "")
