"""Regrades, and what each gave for every submission."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def key() -> sa.types.TypeEngine[str]:
    """Text that both databases sort by its bytes."""
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def number() -> sa.types.TypeEngine[int]:
    """A generated number: SQLite generates them for INTEGER only."""
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the two tables."""
    instant = sa.DateTime(timezone=True)
    op.create_table(
        "regrade",
        sa.Column("id", key(), nullable=False),
        sa.Column("competition", key(), nullable=False),
        sa.Column("version_id", number(), nullable=True),
        sa.Column("submission_id", key(), nullable=True),
        sa.Column("state", sa.String(length=32), nullable=False),
        sa.Column("podium_version", sa.Text(), nullable=False),
        sa.Column("environment", sa.Text(), nullable=False),
        sa.Column("created_by", key(), nullable=True),
        sa.Column("created_at", instant, nullable=False),
        sa.Column("ready_at", instant, nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("decided_by", key(), nullable=True),
        sa.Column("applied_at", instant, nullable=True),
        sa.Column("cancelled_at", instant, nullable=True),
        sa.Column("superseded_at", instant, nullable=True),
        sa.Column("replaces", key(), nullable=True),
        sa.Column("summary", sa.JSON(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_regrade"),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["competition_version.id"],
            name="fk_regrade_version_id_competition_version",
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submission.id"], name="fk_regrade_submission_id_submission"
        ),
        sa.ForeignKeyConstraint(
            ["created_by"], ["api_key.id"], name="fk_regrade_created_by_api_key"
        ),
        sa.ForeignKeyConstraint(
            ["decided_by"], ["api_key.id"], name="fk_regrade_decided_by_api_key"
        ),
    )
    op.create_index("ix_regrade_competition_id", "regrade", ["competition", "id"], unique=False)
    op.create_index("ix_regrade_state_id", "regrade", ["state", "id"], unique=False)
    op.create_table(
        "regrade_outcome",
        sa.Column("regrade_id", key(), nullable=False),
        sa.Column("submission_id", key(), nullable=False),
        sa.Column("version_id", number(), nullable=False),
        sa.Column("state", sa.String(length=32), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("score", sa.Double(), nullable=True),
        sa.Column("public_score", sa.Double(), nullable=True),
        sa.Column("better", sa.Integer(), nullable=True),
        sa.Column("equal", sa.Integer(), nullable=True),
        sa.Column("worse", sa.Integer(), nullable=True),
        sa.Column("teams", sa.Integer(), nullable=True),
        sa.Column("percentile", sa.Double(), nullable=True),
        sa.Column("above_median", sa.Boolean(), nullable=True),
        sa.Column("medal", sa.Text(), nullable=True),
        sa.Column("grader", sa.JSON(), nullable=True),
        sa.Column("problem", sa.JSON(), nullable=True),
        sa.Column("warnings", sa.JSON(), nullable=True),
        sa.Column("fault", sa.Text(), nullable=True),
        sa.Column("place", sa.Text(), nullable=True),
        sa.Column("graded_at", instant, nullable=True),
        sa.PrimaryKeyConstraint("regrade_id", "submission_id", name="pk_regrade_outcome"),
        sa.ForeignKeyConstraint(
            ["regrade_id"], ["regrade.id"], name="fk_regrade_outcome_regrade_id_regrade"
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submission.id"],
            name="fk_regrade_outcome_submission_id_submission",
        ),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["competition_version.id"],
            name="fk_regrade_outcome_version_id_competition_version",
        ),
    )
    op.create_index(
        "ix_regrade_outcome_regrade_id_state_attempts_submission_id",
        "regrade_outcome",
        ["regrade_id", "state", "attempts", "submission_id"],
        unique=False,
    )
    op.create_index(
        "ix_regrade_outcome_submission_id_regrade_id",
        "regrade_outcome",
        ["submission_id", "regrade_id"],
        unique=False,
    )


def downgrade() -> None:
    """Drop them: results rest on the first grades again."""
    op.drop_table("regrade_outcome")
    op.drop_table("regrade")
