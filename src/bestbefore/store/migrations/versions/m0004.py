"""No samples of names: PostgreSQL's ANALYZE would keep some in its statistics, where no sweep reaches them."""

from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Sample names no more, and drop what was sampled: a column whose type is set loses its statistics.

    It loses its way of storage as well: see version 0001.
    """
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE bestbefore_arms ALTER COLUMN name TYPE TEXT")
        op.execute("ALTER TABLE bestbefore_arms ALTER COLUMN name SET STORAGE PLAIN")
        op.execute("ALTER TABLE bestbefore_arms ALTER COLUMN name SET STATISTICS 0")
