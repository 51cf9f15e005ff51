"""With which probability the arm of a pull was named, so that a log of pulls can say it."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add a column; of pulls that are there already it is not known."""
    op.add_column("bestbefore_pulls", sa.Column("chance", sa.Double))
