"""The tables.  A change here needs a migration in `migrations/versions`, and a test compares the two."""

from typing import Final

from sqlalchemy import BigInteger, Column, Double, Index, Integer, MetaData, String, Table, Text

HEAD: Final = "0004"
"""The newest migration."""

VERSION_TABLE: Final = "bestbefore_version"

tables = MetaData()
_Id = BigInteger().with_variant(Integer, "sqlite")

streams = Table(
    "bestbefore_streams",
    tables,
    Column("id", _Id, primary_key=True, autoincrement=True),  # never used again, not even after a stream was dropped
    Column("name", String(200), nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("settings", Text, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("time", BigInteger, nullable=False),
    Column("due", BigInteger, index=True),
    Column("counts", Text, nullable=False),
    Column("state", Text, nullable=False),
    sqlite_autoincrement=True,
)

arms = Table(
    "bestbefore_arms",
    tables,
    Column("stream", BigInteger, primary_key=True, autoincrement=False),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False),
    Column("since", BigInteger, nullable=False),
)

pulls = Table(
    "bestbefore_pulls",
    tables,
    Column("stream", BigInteger, primary_key=True, autoincrement=False),
    Column("id", String(200), primary_key=True),
    Column("arrival", BigInteger, nullable=False),
    Column("asked", BigInteger, nullable=False),
    Column("deadline", BigInteger),
    Column("how", String(10)),
    Column("reward", Double),
    Column("ended", BigInteger),
    Column("forget", BigInteger),
    Column("chance", Double),
    sqlite_with_rowid=False,
)
_open = pulls.c.how.is_(None)
Index(
    "bestbefore_pulls_open",
    pulls.c.stream,
    pulls.c.arrival,
    sqlite_where=_open,
    postgresql_where=_open,
)
Index(
    "bestbefore_pulls_deadline",
    pulls.c.stream,
    pulls.c.deadline,
    sqlite_where=_open & pulls.c.deadline.is_not(None),
    postgresql_where=_open & pulls.c.deadline.is_not(None),
)
Index(
    "bestbefore_pulls_forget",
    pulls.c.forget,
    sqlite_where=pulls.c.forget.is_not(None),
    postgresql_where=pulls.c.forget.is_not(None),
)

erasures = Table(
    "bestbefore_erasures",  # a row for each transaction that deleted names, until their bytes are erased too
    tables,
    Column("id", _Id, primary_key=True, autoincrement=True),
    Column("stream", BigInteger),
    sqlite_autoincrement=True,
)

notes = Table(
    "bestbefore_notes",
    tables,
    Column("key", String(40), primary_key=True),
    Column("value", BigInteger, nullable=False),
)

keys = Table(
    "bestbefore_keys",  # what opens a service; only the hash of a key is known
    tables,
    Column("id", String(40), primary_key=True),
    Column("label", String(200), nullable=False),
    Column("scope", String(10), nullable=False),
    Column("hash", String(64), nullable=False),
    Column("made", BigInteger, nullable=False),
    Column("revoked", BigInteger),
)

totals = Table(
    "bestbefore_totals",  # what happened in a stream in the `length` microseconds from `since` on, without names
    tables,
    Column("stream", BigInteger, primary_key=True, autoincrement=False),
    Column("length", BigInteger, primary_key=True, autoincrement=False),
    Column("since", BigInteger, primary_key=True, autoincrement=False),
    Column("arrived", BigInteger, nullable=False),
    Column("asked", BigInteger, nullable=False),
    Column("told", BigInteger, nullable=False),
    Column("reward", Double, nullable=False),
    Column("defaulted", BigInteger, nullable=False),
    Column("given_up", BigInteger, nullable=False),
    Column("gone", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)
