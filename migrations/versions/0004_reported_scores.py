"""Scores that a harness measured, and runs that took place elsewhere."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def key() -> sa.types.TypeEngine[str]:
    """Text that both databases sort by its bytes."""
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "reported_score",
        sa.Column(
            "id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("run_id", key(), nullable=False),
        sa.Column("sort", sa.String(32), nullable=False),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=True),
        sa.Column("run_seconds", sa.Double(), nullable=True),
        sa.Column("final", sa.Boolean(), nullable=False),
        sa.Column("evidence", sa.JSON(), nullable=False),
        sa.Column("reported_by", key(), nullable=True),
        sa.Column("reported_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_reported_score"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_reported_score_run_id_run"),
        sa.ForeignKeyConstraint(
            ["reported_by"], ["api_key.id"], name="fk_reported_score_reported_by_api_key"
        ),
    )
    op.create_index("ix_reported_score_run_id_id", "reported_score", ["run_id", "id"])
    op.create_table(
        "imported_run",
        sa.Column("run_id", key(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("document", sa.JSON(), nullable=False),
        sa.Column("imported_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("run_id", name="pk_imported_run"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_imported_run_run_id_run"),
    )


def downgrade() -> None:
    """Drop the tables."""
    op.drop_table("imported_run")
    op.drop_table("reported_score")
