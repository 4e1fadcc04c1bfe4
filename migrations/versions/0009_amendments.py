"""An index that tells whether an experiment has newly closed runs."""

from __future__ import annotations

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the index."""
    op.create_index(
        "ix_run_state_experiment_failure", "run", ["state", "experiment", "failure"], unique=False
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_index("ix_run_state_experiment_failure", table_name="run")
