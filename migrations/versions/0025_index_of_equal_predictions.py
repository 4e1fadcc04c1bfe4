"""Equal predictions by an index that has their order too."""

from __future__ import annotations

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

TABLE = "submission_sketch"
BEFORE, AFTER = f"ix_{TABLE}_version_id_digest", f"ix_{TABLE}_version_id_digest_id"


def upgrade() -> None:
    """Replace the index."""
    op.create_index(AFTER, TABLE, ["version_id", "digest", "id"])
    op.drop_index(BEFORE, TABLE)


def downgrade() -> None:
    """Put the narrower index back."""
    op.create_index(BEFORE, TABLE, ["version_id", "digest"])
    op.drop_index(AFTER, TABLE)
