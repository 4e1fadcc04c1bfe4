"""Signed receipts, signing keys and the public log, and an index of closed runs by time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def key() -> sa.types.TypeEngine[str]:
    """Text that both databases sort by its bytes."""
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def instant() -> sa.types.TypeEngine[object]:
    """A time with its zone."""
    return sa.DateTime(timezone=True)


def upgrade() -> None:
    """Add the tables, and the index that finds lately closed runs without a receipt."""
    op.create_table(
        "signing_key",
        sa.Column("id", key(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("public_key", sa.Text(), nullable=False),
        sa.Column("valid_after", instant(), nullable=False),
        sa.Column("valid_before", instant(), nullable=True),
        sa.Column("revoked_at", instant(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_signing_key"),
    )
    op.create_table(
        "log_entry",
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("leaf", sa.Text(), nullable=False),
        sa.Column("record", sa.Text(), nullable=True),
        sa.Column("at", instant(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_log_entry"),
    )
    op.create_table(
        "log_node",
        sa.Column("level", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("place", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("level", "place", name="pk_log_node"),
    )
    op.create_table(
        "log_checkpoint",
        sa.Column("size", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("key_id", key(), nullable=False),
        sa.PrimaryKeyConstraint("size", name="pk_log_checkpoint"),
        sa.ForeignKeyConstraint(
            ["key_id"], ["signing_key.id"], name="fk_log_checkpoint_key_id_signing_key"
        ),
    )
    op.create_table(
        "receipt",
        sa.Column("id", key(), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("experiment", key(), nullable=False),
        sa.Column("run_id", key(), nullable=True),
        sa.Column("submission_id", key(), nullable=True),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.Column("statement", sa.Text(), nullable=False),
        sa.Column("signature", sa.Text(), nullable=False),
        sa.Column("envelope_signature", sa.Text(), nullable=False),
        sa.Column("key_id", key(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("supersedes", key(), nullable=True),
        sa.Column("created_at", instant(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_receipt"),
        sa.ForeignKeyConstraint(
            ["experiment"], ["experiment.name"], name="fk_receipt_experiment_experiment"
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_receipt_run_id_run"),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submission.id"], name="fk_receipt_submission_id_submission"
        ),
        sa.ForeignKeyConstraint(
            ["key_id"], ["signing_key.id"], name="fk_receipt_key_id_signing_key"
        ),
        sa.ForeignKeyConstraint(
            ["number"], ["log_entry.number"], name="fk_receipt_number_log_entry"
        ),
    )
    op.create_index("ix_receipt_run_id_id", "receipt", ["run_id", "id"], unique=False)
    op.create_index(
        "ix_receipt_experiment_kind_id", "receipt", ["experiment", "kind", "id"], unique=False
    )
    op.create_index("ix_receipt_kind_experiment", "receipt", ["kind", "experiment"], unique=False)
    op.create_index("ix_run_closed_at", "run", ["closed_at"], unique=False)


def downgrade() -> None:
    """Drop them: all receipts, keys and the log are lost."""
    op.drop_index("ix_run_closed_at", table_name="run")
    op.drop_index("ix_receipt_kind_experiment", table_name="receipt")
    op.drop_index("ix_receipt_experiment_kind_id", table_name="receipt")
    op.drop_index("ix_receipt_run_id_id", table_name="receipt")
    for table in ("receipt", "log_checkpoint", "log_node", "log_entry", "signing_key"):
        op.drop_table(table)
