"""An index for the files of a version that were reviewed since a moment."""

from __future__ import annotations

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

NAME, TABLE = "ix_submission_sketch_version_id_reviewed_at", "submission_sketch"


def upgrade() -> None:
    """Add the index."""
    op.create_index(NAME, TABLE, ["version_id", "reviewed_at"])


def downgrade() -> None:
    """Drop the index."""
    op.drop_index(NAME, TABLE)
