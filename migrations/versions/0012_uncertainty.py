"""The noise of scores, kept once it was asked for."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def number() -> sa.types.TypeEngine[int]:
    """A generated number: SQLite generates them for INTEGER only."""
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "grade_uncertainty",
        sa.Column("grade_id", number(), autoincrement=False, nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=True),
        sa.Column("resamples", sa.Integer(), nullable=False),
        sa.Column("undefined", sa.Integer(), nullable=False),
        sa.Column("standard_error", sa.Double(), nullable=True),
        sa.Column("low", sa.Double(), nullable=True),
        sa.Column("high", sa.Double(), nullable=True),
        sa.Column("medals", sa.JSON(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("grader", sa.JSON(), nullable=False),
        sa.Column("estimated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("grade_id", name="pk_grade_uncertainty"),
        sa.ForeignKeyConstraint(
            ["grade_id"], ["grade.id"], name="fk_grade_uncertainty_grade_id_grade"
        ),
    )


def downgrade() -> None:
    """Drop it: every number can be estimated again."""
    op.drop_table("grade_uncertainty")
