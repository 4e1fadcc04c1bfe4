"""A key of a harness names its experiment."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def key() -> sa.types.TypeEngine[str]:
    """Text that both databases sort by its bytes."""
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the column. It has no foreign key: SQLite would have to copy the table."""
    op.add_column("api_key", sa.Column("experiment", key(), nullable=True))


def downgrade() -> None:
    """Drop it, with the keys of harnesses and the ledger's entries about them."""
    op.execute("DELETE FROM disclosure WHERE kind LIKE 'harness%'")
    op.execute("DELETE FROM api_key WHERE role = 'harness'")
    op.drop_column("api_key", "experiment")
