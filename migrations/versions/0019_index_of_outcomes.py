"""A smaller index for recent outcomes: submissions without an outcome are not in it.

Each submission wrote to the index twice, when it was received and when it was settled.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Replace the index of all submissions by one of those that are settled."""
    op.drop_index("ix_submission_run_id_settled_at", "submission")
    settled = sa.text("settled_at IS NOT NULL")
    op.create_index(
        "ix_submission_settled", "submission", ["run_id", "settled_at"],
        sqlite_where=settled, postgresql_where=settled,
    )  # fmt: skip


def downgrade() -> None:
    """Bring back the index of all submissions."""
    op.drop_index("ix_submission_settled", "submission")
    op.create_index("ix_submission_run_id_settled_at", "submission", ["run_id", "settled_at"])
