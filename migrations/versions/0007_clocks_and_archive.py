"""A run's clock starts later than the run is made; competitions, experiments, runs are archived."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def key() -> sa.types.TypeEngine[str]:
    """Text that both databases sort by its bytes."""
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the column and the table. The clock of an older run started when the run was made."""
    op.add_column("run", sa.Column("started_at", sa.DateTime(timezone=True), nullable=True))
    op.execute("UPDATE run SET started_at = created_at")
    op.create_table(
        "archival",
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("name", key(), nullable=False),
        sa.Column("archived_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("archived_by", key(), nullable=True),
        sa.Column("restored_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("restore_reason", sa.Text(), nullable=True),
        sa.Column("restored_by", key(), nullable=True),
        sa.PrimaryKeyConstraint("kind", "name", name="pk_archival"),
        sa.ForeignKeyConstraint(
            ["archived_by"], ["api_key.id"], name="fk_archival_archived_by_api_key"
        ),
        sa.ForeignKeyConstraint(
            ["restored_by"], ["api_key.id"], name="fk_archival_restored_by_api_key"
        ),
    )


def downgrade() -> None:
    """Drop them. Nothing is archived any more, and time counts from the making of a run again."""
    op.drop_table("archival")
    op.drop_column("run", "started_at")
