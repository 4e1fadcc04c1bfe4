"""A table of the logins that their owner has ended before they expired."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table."""
    key = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "ended_login",
        sa.Column("login", key, nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("login", name="pk_ended_login"),
    )
    op.create_index("ix_ended_login_until", "ended_login", ["until"])


def downgrade() -> None:
    """Drop the table. Older code lets a copied cookie in until it expires."""
    op.drop_table("ended_login")
