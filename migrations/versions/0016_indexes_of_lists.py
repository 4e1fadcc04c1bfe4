"""Indexes for lists and boards: disclosures with their kind, and graded submissions by run."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the kind to the index of disclosures, and the index of graded submissions."""
    op.create_index("ix_disclosure_run_id_id_kind", "disclosure", ["run_id", "id", "kind"])
    op.drop_index("ix_disclosure_run_id_id", "disclosure")
    graded = sa.text("state = 'graded'")
    op.create_index(
        "ix_submission_graded", "submission", ["run_id", "id"],
        sqlite_where=graded, postgresql_where=graded,
    )  # fmt: skip


def downgrade() -> None:
    """Leave the kind out again, and drop the other index."""
    op.drop_index("ix_submission_graded", "submission")
    op.create_index("ix_disclosure_run_id_id", "disclosure", ["run_id", "id"])
    op.drop_index("ix_disclosure_run_id_id_kind", "disclosure")
