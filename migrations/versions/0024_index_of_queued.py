"""An index for the queued submissions of each run."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

NAME, TABLE = "ix_submission_queued", "submission"
# Not "state = 'queued'": PostgreSQL leaves what it knows of all in the index out of a search in it,
# and would read it from its beginning. A query gives both conditions.
IS_QUEUED = sa.text("coalesce(state, '') = 'queued'")


def upgrade() -> None:
    """Add the index."""
    op.create_index(
        NAME, TABLE, ["state", "run_id", "id"], sqlite_where=IS_QUEUED, postgresql_where=IS_QUEUED
    )


def downgrade() -> None:
    """Drop the index."""
    op.drop_index(NAME, TABLE)
