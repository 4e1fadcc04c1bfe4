"""What servers on several machines share: versions' files, uploads that wait, secrets."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def key() -> sa.types.TypeEngine[str]:
    """Text that both databases sort by its bytes."""
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def number() -> sa.types.TypeEngine[int]:
    """A number that is a key."""
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables. Versions from before have no files here until they are published."""
    op.create_table(
        "version_file",
        sa.Column("version_id", number(), autoincrement=False, nullable=False),
        sa.Column("path", key(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("version_id", "path", name="pk_version_file"),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["competition_version.id"],
            name="fk_version_file_version_id_competition_version",
        ),
    )
    op.create_table(
        "held_upload",
        sa.Column("nonce", key(), nullable=False),
        sa.Column("run_id", key(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("came_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("nonce", name="pk_held_upload"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_held_upload_run_id_run"),
    )
    op.create_index("ix_held_upload_run_id_came_at", "held_upload", ["run_id", "came_at"])
    op.create_table(
        "secret",
        sa.Column("name", key(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_secret"),
    )


def downgrade() -> None:
    """Drop the tables; versions stay where they were imported."""
    op.drop_table("secret")
    op.drop_table("held_upload")
    op.drop_table("version_file")
