"""Keys: who may do what.  Only hashes are stored: a key is shown once, when it is made.

A key is "bb_", its id, "_" and 256 random bits.  So a plain SHA-256 is enough: there is nothing to guess.
"""

import hashlib
import hmac
import secrets
import threading
import time
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import insert, select, update

from bestbefore.arguments import one_of
from bestbefore.store.engines import SqlStore
from bestbefore.store.ledger import moment_of
from bestbefore.store.schema import keys as table

SCOPES: Final = ("read", "tell", "write", "admin")
"""What keys are for, each with all that those before it are for.

`read` looks; `tell` also asks and tells, as a web worker does; `write` also makes streams and lets arms arrive and go;
`admin` also drops streams and sweeps.
"""

KNOWN_FOR: Final = 1.0
"""For how many seconds a process takes keys for what they were: a key that is revoked opens nothing after that."""

NEW_AFTER: Final = 0.05
"""For how many seconds keys that are not known are not looked for again: guesses must not keep the database busy."""

_NOBODY: Final = "0" * 64


class Key(NamedTuple):
    """A key, without what is secret about it."""

    id: str
    label: str
    scope: str
    made: datetime
    revoked: datetime | None = None

    def may(self, scope: str) -> bool:
        """Say whether the key is for this, too."""
        return SCOPES.index(self.scope) >= SCOPES.index(scope)


class Keys:
    """The keys in a database."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._known: dict[str, tuple[Key, str]] = {}
        self._since = float("-inf")

    def make(self, label: str, scope: str) -> tuple[Key, str]:
        """Make a key; return it with its text, which nobody can find out afterwards."""
        one_of("scope", scope, SCOPES)
        if not isinstance(label, str) or not 1 <= len(label) <= 200 or not label.isprintable():
            raise ValueError(f"label must be a line of 1 to 200 characters, not {label!r}")
        id, secret, now = secrets.token_hex(6), secrets.token_urlsafe(32), time.time_ns() // 1000
        with self._store.write() as writing:
            row = {"id": id, "label": label, "scope": scope, "hash": _hash(secret), "made": now}
            writing.connection.execute(insert(table).values(row))
        self._since = float("-inf")
        return Key(id, label, scope, moment_of(now)), f"bb_{id}_{secret}"

    def list(self) -> list[Key]:
        """Return all keys, the oldest first, those that were revoked among them."""
        return sorted((key for key, _ in self._read().values()), key=lambda key: (key.made, key.id))

    def revoke(self, id: str) -> Key:
        """Revoke a key: within a second it opens nothing any more."""
        found = self._read().get(id)
        if found is None:
            raise ValueError(f"id must be that of a key, as `bestbefore keys list` shows it, not {id!r}")
        if found[0].revoked is None:
            now = time.time_ns() // 1000
            with self._store.write() as writing:
                writing.connection.execute(update(table).where(table.c.id == id).values(revoked=now))
        return self._read()[id][0]

    def find(self, text: str) -> Key | None:
        """Return the key of this text, or None if it is no key or was revoked."""
        start, _, rest = text.partition("_")
        id, _, secret = rest.partition("_")
        known = self._read(text) if self.must_read(text) else self._known
        key, stored = known.get(id, (None, _NOBODY))
        same = hmac.compare_digest(_hash(secret), stored)
        return key if same and start == "bb" and key is not None and key.revoked is None else None

    def of_id(self, id: str) -> Key | None:
        """Return the key of an id, unless it was revoked: for who has shown the key before."""
        known = self._read() if time.monotonic() - self._since > KNOWN_FOR or id not in self._known else self._known
        key = known.get(id, (None, _NOBODY))[0]
        return key if key is not None and key.revoked is None else None

    def must_read(self, text: str) -> bool:
        """Say whether to find this key is to ask the database: one that nobody knows may be new."""
        known = text[3:15] in self._known
        return time.monotonic() - self._since > (KNOWN_FOR if known else NEW_AFTER)

    def _read(self, text: str | None = None) -> dict[str, tuple[Key, str]]:
        """Read all keys; for the sake of a text, only if nobody else did while this thread waited."""
        with self._lock:
            if text is not None and not self.must_read(text):
                return self._known
            began = time.monotonic()
            with self._store.look() as connection:
                rows = connection.execute(select(table)).all()
            self._known = {row.id: (_key(row), row.hash) for row in rows}
            self._since = began
            return self._known


def _key(row: Any) -> Key:
    revoked = None if row.revoked is None else moment_of(row.revoked)
    return Key(row.id, row.label, row.scope, moment_of(row.made), revoked)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
