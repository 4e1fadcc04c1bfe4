"""The server that is grading a submission of a regrade."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; null: nobody has claimed the submission."""
    op.add_column("regrade_outcome", sa.Column("claimed_by", sa.Text(), nullable=True))


def downgrade() -> None:
    """Drop it: two servers may grade the same submission."""
    op.drop_column("regrade_outcome", "claimed_by")
