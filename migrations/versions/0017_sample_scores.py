"""The scores of sample submissions, from which normalised scores count."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def number() -> sa.types.TypeEngine[int]:
    """A generated number: SQLite generates them for INTEGER only."""
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the table of the scores of sample submissions."""
    op.create_table(
        "sample_score",
        sa.Column("version_id", number(), autoincrement=False, nullable=False),
        sa.Column("score", sa.Double(), nullable=True),
        sa.Column("measured_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"], ["competition_version.id"],
            name="fk_sample_score_version_id_competition_version",
        ),
        sa.PrimaryKeyConstraint("version_id", name="pk_sample_score"),
    )  # fmt: skip


def downgrade() -> None:
    """Remove the scores; an import of the same folder measures them again."""
    op.drop_table("sample_score")
