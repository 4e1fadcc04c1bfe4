"""A submission remembers what its file was called: Kaggle's clients list submissions by it."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; files that came before have no name."""
    op.add_column("submission", sa.Column("file_name", sa.Text(), nullable=True))


def downgrade() -> None:
    """Take the column away."""
    op.drop_column("submission", "file_name")
