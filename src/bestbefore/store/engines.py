"""What both databases share: two engines, transactions on them, and database errors as sentences."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError

from bestbefore.errors import StoreUnavailable
from bestbefore.store.sql import SqlReading, SqlWriting

_ABANDONED: list[Engine] = []  # of the process that this one was forked from: never closed here


class SqlStore:
    """A store on an engine that writes and one that reads."""

    _writing: Callable[[Connection], SqlWriting] = SqlWriting

    def __init__(self, writer: Engine, reader: Engine, shown: str) -> None:
        self._writer, self._reader = writer, reader
        self.shown = shown
        """The address without its password."""

    @contextmanager
    def read(self) -> Iterator[SqlReading]:
        """Read without a lock."""
        with self.look() as connection:
            self._begin_read(connection)
            yield SqlReading(connection)

    @contextmanager
    def look(self) -> Iterator[Connection]:
        """Read from a database that may not have our tables yet."""
        with self._sentences(), self._reader.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[SqlWriting]:
        """Begin a transaction; if the block raises, nothing has happened."""
        with self._sentences(), self._writer.connect() as connection:
            transaction = connection.begin()
            try:
                yield self._writing(connection)
            except BaseException:
                _roll_back(connection)
                raise
            try:
                transaction.commit()
            except SQLAlchemyError as wrong:
                uncertain = isinstance(wrong, DBAPIError) and wrong.connection_invalidated
                _roll_back(connection)
                raise self._unavailable(wrong, uncertain=uncertain) from wrong

    def is_missing(self) -> bool:
        """Say whether to open the database would make a new one."""
        return False

    def erase(self) -> bool:
        """Erase what bytes are left on disk of names that were deleted; say whether that was possible now."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of all connections."""
        self._writer.dispose()
        self._reader.dispose()

    def abandon(self) -> None:
        """Forget all connections without touching them: they belong to the process that this one was forked from."""
        _ABANDONED.extend((self._writer, self._reader))
        self._writer, self._reader = self._again()

    def _again(self) -> tuple[Engine, Engine]:
        """Make the two engines anew."""
        raise NotImplementedError

    def _begin_read(self, connection: Connection) -> None:
        """Do what a database needs before its first read."""

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        """Turn what the database says into a sentence."""
        try:
            yield
        except (OperationalError, InterfaceError) as wrong:
            raise self._unavailable(wrong) from wrong
        except DBAPIError as wrong:
            if wrong.connection_invalidated or self._why(wrong):
                raise self._unavailable(wrong) from wrong
            raise

    def _unavailable(self, wrong: SQLAlchemyError, *, uncertain: bool = False) -> StoreUnavailable:
        said = (str(getattr(wrong, "orig", None) or wrong).strip().splitlines() or [type(wrong).__name__])[0]
        why = self._why(wrong) or "the database cannot be reached or written"
        done = "the call may have been carried out or not" if uncertain else "nothing was changed"
        error = StoreUnavailable(f"{self.shown}: {why}; {done}, and it is safe to send it again ({said})")
        error.uncertain = uncertain
        error.lost = not uncertain and isinstance(wrong, DBAPIError) and wrong.connection_invalidated
        return error

    def _why(self, wrong: SQLAlchemyError) -> str | None:
        """Return what is wrong in words that a person can act on, if that is known."""
        raise NotImplementedError


def _roll_back(connection: Connection) -> None:
    """Undo a transaction; a connection that cannot even do that is thrown away."""
    try:
        connection.rollback()
    except SQLAlchemyError:
        connection.invalidate()
