"""Amendments of experiments and imported results, and an index of closed runs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def key() -> sa.types.TypeEngine[str]:
    """Text that both databases sort by its bytes."""
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def number() -> sa.types.TypeEngine[int]:
    """A generated number: SQLite generates them for INTEGER only."""
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the table, and the index that tells whether an experiment has newly closed runs."""
    op.create_table(
        "amendment",
        sa.Column("id", number(), nullable=False),
        sa.Column("experiment", key(), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("before", sa.JSON(), nullable=False),
        sa.Column("after", sa.JSON(), nullable=True),
        sa.Column("results", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("amended_by", key(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_amendment"),
        sa.ForeignKeyConstraint(
            ["experiment"], ["experiment.name"], name="fk_amendment_experiment_experiment"
        ),
        sa.ForeignKeyConstraint(
            ["amended_by"], ["api_key.id"], name="fk_amendment_amended_by_api_key"
        ),
    )
    op.create_index("ix_amendment_experiment_id", "amendment", ["experiment", "id"], unique=False)
    op.create_index(
        "ix_run_state_experiment_failure", "run", ["state", "experiment", "failure"], unique=False
    )


def downgrade() -> None:
    """Drop them: the history of amendments is lost, what was amended stays so."""
    op.drop_index("ix_run_state_experiment_failure", table_name="run")
    op.drop_index("ix_amendment_experiment_id", table_name="amendment")
    op.drop_table("amendment")
