"""Indexes for failures: their disclosures, their number in a run, and what has no outcome yet."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the indexes. In the ledger, each failure is disclosed once."""
    failed = sa.text("state = 'failed'")
    op.create_index(
        "ix_submission_failed", "submission", ["run_id", "state"],
        sqlite_where=failed, postgresql_where=failed,
    )  # fmt: skip
    op.create_index("ix_submission_run_id_settled_at", "submission", ["run_id", "settled_at"])
    of_failure = sa.text("grade_id IS NULL AND submission_id IS NOT NULL")
    op.create_index(
        "ix_disclosure_failure", "disclosure", ["submission_id", "kind"],
        unique=True, sqlite_where=of_failure, postgresql_where=of_failure,
    )  # fmt: skip


def downgrade() -> None:
    """Drop the indexes. Disclosures of failures stay; older code does not show them."""
    op.drop_index("ix_disclosure_failure", "disclosure")
    op.drop_index("ix_submission_run_id_settled_at", "submission")
    op.drop_index("ix_submission_failed", "submission")
