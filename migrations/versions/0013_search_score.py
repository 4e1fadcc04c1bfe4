"""The score on the rows to search on, of grades and of regrades."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

TABLES = ("grade", "regrade_outcome")


def upgrade() -> None:
    """Add the columns."""
    for table in TABLES:
        op.add_column(table, sa.Column("search_score", sa.Double(), nullable=True))


def downgrade() -> None:
    """Drop them: these scores are lost."""
    for table in TABLES:
        op.drop_column(table, "search_score")
