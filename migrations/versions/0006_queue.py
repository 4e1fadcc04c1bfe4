"""Grading on other machines: the queue's tables (PostgreSQL), and which environment grades."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.queue import tables

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table, and let Procrastinate's own schema be made where there can be a queue."""
    op.create_table(
        "grading_environment",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("podium_version", sa.Text(), nullable=False),
        sa.Column("environment", sa.Text(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_grading_environment"),
    )
    if op.get_bind().dialect.name == "postgresql":
        tables.install(op.get_bind())


def downgrade() -> None:
    """Remove them; the submissions that wait keep their rows, and are queued anew by an upgrade."""
    if op.get_bind().dialect.name == "postgresql":
        tables.remove(op.get_bind())
    op.drop_table("grading_environment")
