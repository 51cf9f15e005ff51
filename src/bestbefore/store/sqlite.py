"""SQLite: a file.  One writer at a time, readers that never wait, and nothing left of what was deleted.

A transaction begins with BEGIN IMMEDIATE: it waits for other writers then, and not in the middle.  `synchronous=FULL`
flushes the log at each commit; nothing less keeps what was acknowledged through a power cut.
"""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, Connection, Engine, create_engine, delete, event, func, select
from sqlalchemy.exc import SQLAlchemyError

from bestbefore.store.engines import SqlStore
from bestbefore.store.schema import erasures

PATIENCE: Final = 30
"""For how many seconds another writer is waited for."""

ERASE_WAIT: Final = 200
"""For how many milliseconds an erasure waits for whoever reads."""

_REASONS: Final = {
    "SQLITE_FULL": "the disk is full",
    "SQLITE_READONLY": "the file or its folder is read-only",
    "SQLITE_BUSY": f"another process has been writing for more than {PATIENCE} s",
    "SQLITE_LOCKED": "another connection holds a lock",
    "SQLITE_CANTOPEN": "the file cannot be opened: its folder must exist, and be writable",
    "SQLITE_IOERR": "the disk does not read or write",
    "SQLITE_CORRUPT": "the file is damaged",
    "SQLITE_NOTADB": "the file is no SQLite database",
}


class SqliteStore(SqlStore):
    """Streams in a file."""

    def __init__(self, url: URL) -> None:
        self._url = url
        self.path = path_of(url)
        super().__init__(*self._again(), str(self.path))

    def _again(self) -> tuple[Engine, Engine]:
        return _engine(self._url, "BEGIN IMMEDIATE", _for_writing), _engine(self._url, "BEGIN", _for_reading)

    def is_missing(self) -> bool:
        """Say whether to open the database would make a new one."""
        return not self.path.exists()

    def erase(self) -> bool:
        """Write the log into the file and cut it to nothing: `secure_delete` has overwritten what was deleted there."""
        with self.read() as reading:
            last = reading.connection.scalar(select(func.max(erasures.c.id)))
        if not self._cut_log():
            return False
        if last is not None:
            with self.write() as writing:
                writing.connection.execute(delete(erasures).where(erasures.c.id <= last))
        return True

    def _cut_log(self) -> bool:
        """Write the log into the file and cut it to nothing, outside of any transaction; say whether readers let us.

        Writers wait meanwhile: so whoever reads is waited for only for a moment.
        """
        pooled = self._writer.raw_connection()
        cursor = pooled.cursor()
        try:
            cursor.execute(f"PRAGMA busy_timeout={ERASE_WAIT}")
            busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            cursor.execute(f"PRAGMA busy_timeout={PATIENCE * 1000}")
        except sqlite3.OperationalError:
            pooled.invalidate()
            return False
        finally:
            pooled.close()
        return not busy

    def _why(self, wrong: SQLAlchemyError) -> str | None:
        name = getattr(getattr(wrong, "orig", None), "sqlite_errorname", None) or ""
        return next((words for code, words in _REASONS.items() if name.startswith(code)), None)


def path_of(url: URL) -> Path:
    """Return the file that an address names, if durable streams can live there."""
    if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        raise ValueError(f'url must name a file, such as "sqlite:///headlines.db", not {str(url)!r}')
    path = Path(url.database).absolute()
    if path.is_relative_to(Path(__file__).resolve().parent.parent):
        raise ValueError(
            f"url must not name a file inside the installed package, {str(path)!r}: the next update ends it"
        )
    return path


def _engine(url: URL, begin: str, prepare: Callable[[sqlite3.Connection], None]) -> Engine:
    """Return an engine whose transactions begin as said; Python's own way would begin them later, and otherwise."""
    engine = create_engine(url, connect_args={"timeout": PATIENCE, "check_same_thread": False})

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA secure_delete=ON")
        connection.execute("PRAGMA synchronous=FULL")
        prepare(connection)

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


def _for_writing(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode=WAL")


def _for_reading(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA query_only=ON")
