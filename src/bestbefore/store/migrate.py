"""The schema's version: made where there is none, refused where it is newer, migrated where somebody asks for it."""

from pathlib import Path
from typing import Final

from sqlalchemy import Connection, inspect, text

from bestbefore.errors import StoreDamaged
from bestbefore.store.engines import SqlStore
from bestbefore.store.schema import HEAD, VERSION_TABLE

_LOCK: Final = 0x62657374  # an advisory lock of PostgreSQL: one process migrates, others wait


def prepare(store: SqlStore) -> None:
    """Make the tables in an empty database; a database of another version is refused, in words that help."""
    with store.look() as connection:
        found = version_of(connection)
    if found is None:
        migrate(store)
    else:
        _check_same(store, found)


def check_ready(store: SqlStore) -> None:
    """Raise an error that helps if a database has no tables of ours, or those of another version."""
    if store.is_missing():
        raise ValueError(f"url must name a database that is there, not {store.shown}")
    with store.look() as connection:
        found = version_of(connection)
    if found is None:
        raise ValueError(f"url must name a database of bestbefore: {store.shown} has none of its tables")
    _check_same(store, found)


def _check_same(store: SqlStore, found: str) -> None:
    if found != HEAD:
        _check_known(store, found)
        raise StoreDamaged(f"{store.shown} is of an older version, {found}: run `bestbefore db migrate` on it first")


def migrate(store: SqlStore) -> tuple[str | None, str]:
    """Bring a database to the newest version, in one transaction; return the version before, and that now."""
    with store.write() as writing:
        connection = writing.connection
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        before = version_of(connection)
        if before == HEAD:
            return before, HEAD
        if before is not None:
            _check_known(store, before)
        _upgrade(connection)
    return before, HEAD


def version_of(connection: Connection) -> str | None:
    """Return the version of a database, or None for one without our tables."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    found: str | None = connection.scalar(text(f"SELECT version_num FROM {VERSION_TABLE}"))  # noqa: S608 (a constant)
    return found


def _check_known(store: SqlStore, found: str) -> None:
    """Refuse a version that this package has not heard of."""
    known = [path.stem.removeprefix("m") for path in (Path(__file__).parent / "migrations" / "versions").glob("m*.py")]
    if found not in known:
        raise StoreDamaged(
            f"{store.shown} is of version {found}, which is newer than this package knows ({HEAD}): "
            "update bestbefore; nothing was changed"
        )


def _upgrade(connection: Connection) -> None:
    """Run the migrations that are missing; Alembic's environment is made here, there is no file of settings."""
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory(str(Path(__file__).parent / "migrations"))
    with EnvironmentContext(Config(), scripts, fn=lambda now, _: scripts._upgrade_revs("head", now)) as environment:
        environment.configure(connection=connection, version_table=VERSION_TABLE)
        environment.run_migrations()
