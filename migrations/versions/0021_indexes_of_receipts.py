"""Indexes for the pages of an experiment's receipts, and for which of them are superseded."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the number to the indexes of experiments, and the index of superseding receipts."""
    op.create_index("ix_receipt_experiment_number", "receipt", ["experiment", "number"])
    op.create_index(
        "ix_receipt_kind_experiment_number", "receipt", ["kind", "experiment", "number"]
    )
    supersedes = sa.text("supersedes IS NOT NULL")
    op.create_index(
        "ix_receipt_supersedes", "receipt", ["supersedes"],
        sqlite_where=supersedes, postgresql_where=supersedes,
    )  # fmt: skip
    op.drop_index("ix_receipt_experiment_kind_id", "receipt")
    op.drop_index("ix_receipt_kind_experiment", "receipt")


def downgrade() -> None:
    """Bring back the indexes before."""
    op.create_index("ix_receipt_kind_experiment", "receipt", ["kind", "experiment"])
    op.create_index("ix_receipt_experiment_kind_id", "receipt", ["experiment", "kind", "id"])
    op.drop_index("ix_receipt_supersedes", "receipt")
    op.drop_index("ix_receipt_kind_experiment_number", "receipt")
    op.drop_index("ix_receipt_experiment_number", "receipt")
