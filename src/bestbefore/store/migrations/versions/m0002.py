"""Keys that open a service, and totals over time, which hold no names."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the two tables."""
    op.create_table(
        "bestbefore_keys",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("label", sa.String(200), nullable=False),
        sa.Column("scope", sa.String(10), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("made", sa.BigInteger, nullable=False),
        sa.Column("revoked", sa.BigInteger),
    )
    op.create_table(
        "bestbefore_totals",
        sa.Column("stream", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("length", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("since", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("arrived", sa.BigInteger, nullable=False),
        sa.Column("asked", sa.BigInteger, nullable=False),
        sa.Column("told", sa.BigInteger, nullable=False),
        sa.Column("reward", sa.Double, nullable=False),
        sa.Column("defaulted", sa.BigInteger, nullable=False),
        sa.Column("given_up", sa.BigInteger, nullable=False),
        sa.Column("gone", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
