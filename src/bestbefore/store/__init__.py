"""Durable agents: `connect(url)` finds streams in a database, with the verbs of agents in memory.

What was acknowledged is safe, a pull is resolved exactly once, and an arm that has expired is erased.
"""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from bestbefore.clock import Length

if TYPE_CHECKING:
    from bestbefore.store.answers import Erased
    from bestbefore.store.desk import Desk
    from bestbefore.store.engines import SqlStore
    from bestbefore.store.ledger import Pull
    from bestbefore.store.stream import Stream

__all__ = ["Desk", "Erased", "Pull", "Stream", "connect", "open_store"]

_HOMES = {"Desk": "desk", "Erased": "answers", "Pull": "ledger", "Stream": "stream"}


def connect(
    url: str,
    *,
    clock: Callable[[], float] = time.time,
    sweep: Length | None = "1 min",
    forget: Callable[[str, list[Any]], object] | None = None,
    agents: Sequence[type] = (),
    key: str | None = None,
    timeout: float = 10.0,
) -> "Desk":
    """Return a desk: the durable streams in a database, which is made ready if it is new.

    Parameters
    ----------
    url
        "sqlite:///headlines.db" for a file, "postgresql://user@host/database", or "http://host:8000" for a server
        that `bestbefore serve` runs.
    clock
        Returns the time, in seconds since 1970.
    sweep
        How often this process does what is due where nobody calls; None leaves that to others.
    forget
        Called with a stream's name and a list of arms that were let go, once they are deleted: your program can delete
        what it knows of them.
    agents
        Classes of your own whose streams this process serves.
    key
        For a server: a key, as `bestbefore keys make` shows it.
    timeout
        For a server: how many seconds an answer may take, before the call is sent again.
    """
    if isinstance(url, str) and url.startswith(("http://", "https://")):
        given = {"clock": clock is not time.time, "forget": forget is not None, "agents": bool(agents)}
        for name, is_given in given.items():
            if is_given:
                raise ValueError(f"{name} must be left out with a server: that is its own affair")
        from bestbefore.store.remote import RemoteDesk

        return cast("Desk", RemoteDesk(url, key, timeout=timeout))
    if key is not None:
        raise ValueError('key must be left out unless url is that of a server, such as "http://host:8000"')
    store = open_store(url)
    from bestbefore.store.desk import Desk
    from bestbefore.store.migrate import prepare

    try:
        prepare(store)
        return Desk(store, clock=clock, sweep=sweep, forget=forget, agents=agents)
    except BaseException:
        store.close()
        raise


def open_store(url: str) -> "SqlStore":
    """Return the database of an address, as it is: nothing is made or checked.

    Parameters
    ----------
    url
        The address, as for `connect`.
    """
    try:
        from sqlalchemy import make_url
        from sqlalchemy.exc import ArgumentError
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "durable agents need SQLAlchemy and Alembic: pip install 'bestbefore[store]'"
        ) from None
    try:
        parsed = make_url(url)
        backend = parsed.get_backend_name()
    except (ArgumentError, TypeError, AttributeError):
        backend = None
    if backend == "sqlite":
        from bestbefore.store.sqlite import SqliteStore

        return SqliteStore(parsed.set(drivername="sqlite"))
    if backend in ("postgresql", "postgres"):
        from bestbefore.store.postgres import PostgresStore

        return PostgresStore(parsed.set(drivername="postgresql+psycopg"))
    raise ValueError(
        'url must be like "sqlite:///headlines.db", "postgresql://user@host/database" or "http://host:8000", '
        f"not {url!r}"
    )


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(f"bestbefore.store.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'bestbefore.store' has no attribute {name!r}")
