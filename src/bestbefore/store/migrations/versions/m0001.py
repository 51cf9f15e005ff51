"""The first tables: streams, arms, pulls, and what is noted beside them."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "bestbefore_streams",
        sa.Column("id", _ID, primary_key=True, autoincrement=True),
        sa.Column("name", sa.String(200), nullable=False, unique=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("time", sa.BigInteger, nullable=False),
        sa.Column("due", sa.BigInteger),
        sa.Column("counts", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_bestbefore_streams_due", "bestbefore_streams", ["due"])
    op.create_table(
        "bestbefore_arms",
        sa.Column("stream", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("since", sa.BigInteger, nullable=False),
    )
    if (
        op.get_context().dialect.name == "postgresql"
    ):  # a name is stored as it is, in its row: never compressed or apart
        op.execute("ALTER TABLE bestbefore_arms ALTER COLUMN name SET STORAGE PLAIN")
    _pulls()
    op.create_table(
        "bestbefore_erasures",
        sa.Column("id", _ID, primary_key=True, autoincrement=True),
        sa.Column("stream", sa.BigInteger),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "bestbefore_notes",
        sa.Column("key", sa.String(40), primary_key=True),
        sa.Column("value", sa.BigInteger, nullable=False),
    )


def _pulls() -> None:
    op.create_table(
        "bestbefore_pulls",
        sa.Column("stream", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("id", sa.String(200), primary_key=True),
        sa.Column("arrival", sa.BigInteger, nullable=False),
        sa.Column("asked", sa.BigInteger, nullable=False),
        sa.Column("deadline", sa.BigInteger),
        sa.Column("how", sa.String(10)),
        sa.Column("reward", sa.Double),
        sa.Column("ended", sa.BigInteger),
        sa.Column("forget", sa.BigInteger),
        sqlite_with_rowid=False,
    )
    for name, columns, where in (
        ("open", ["stream", "arrival"], "how IS NULL"),
        ("deadline", ["stream", "deadline"], "how IS NULL AND deadline IS NOT NULL"),
        ("forget", ["forget"], "forget IS NOT NULL"),
    ):
        only = sa.text(where)
        name = f"bestbefore_pulls_{name}"
        op.create_index(name, "bestbefore_pulls", columns, sqlite_where=only, postgresql_where=only)
