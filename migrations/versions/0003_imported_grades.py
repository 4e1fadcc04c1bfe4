"""Results that other graders reported, as attempts of an experiment."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def key() -> sa.types.TypeEngine[str]:
    """Text that both databases sort by its bytes."""
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "imported_grade",
        sa.Column(
            "id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("experiment", key(), nullable=False),
        sa.Column("competition", key(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("made", sa.Boolean(), nullable=False),
        sa.Column("valid", sa.Boolean(), nullable=False),
        sa.Column("score", sa.Double(), nullable=True),
        sa.Column("medal", sa.Text(), nullable=True),
        sa.Column("above_median", sa.Boolean(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("document", sa.JSON(), nullable=False),
        sa.Column("imported_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_imported_grade"),
        sa.UniqueConstraint(
            "experiment", "competition", "seed",
            name="uq_imported_grade_experiment_competition_seed",
        ),
        sa.ForeignKeyConstraint(
            ["experiment"], ["experiment.name"], name="fk_imported_grade_experiment_experiment"
        ),
    )
    op.create_index("ix_imported_grade_competition", "imported_grade", ["competition"])


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("imported_grade")
