"""The tables of signed receipts and of the public log. Rows are only added.

Only the end and the revocation of a signing key are written later.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, Integer, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from app.receipts.statements import ReceiptKind
from app.storage.database.tables.column_types import KEY, UtcDateTime, enum_column
from app.storage.database.tables.declarative import Base

SUPERSEDES = text("supersedes IS NOT NULL")


class SigningKey(Base):
    """The public part of a key that signs receipts and checkpoints; `public_key` is in hex."""

    __tablename__ = "signing_key"

    id: Mapped[str] = mapped_column(KEY, primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    public_key: Mapped[str] = mapped_column(Text)
    valid_after: Mapped[datetime] = mapped_column(UtcDateTime)
    valid_before: Mapped[datetime | None] = mapped_column(UtcDateTime)
    revoked_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    reason: Mapped[str | None] = mapped_column(Text)


class LogEntry(Base):
    """An entry of the public log. `leaf` is public; its hash is in `log_node`.

    The leaf has the digest of `record`, which is null if the record is a receipt.
    """

    __tablename__ = "log_entry"

    number: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    kind: Mapped[str] = mapped_column(Text)
    leaf: Mapped[str] = mapped_column(Text)
    record: Mapped[str | None] = mapped_column(Text)
    at: Mapped[datetime] = mapped_column(UtcDateTime)


class LogNode(Base):
    """The hash, in hex, of a complete subtree of the log: 2**level leaves from place * 2**level."""

    __tablename__ = "log_node"

    level: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    place: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    hash: Mapped[str] = mapped_column(Text)


class LogCheckpoint(Base):
    """The signed note of the log's first `size` entries."""

    __tablename__ = "log_checkpoint"

    size: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    note: Mapped[str] = mapped_column(Text)
    key_id: Mapped[str] = mapped_column(KEY, ForeignKey("signing_key.id"))


class Receipt(Base):
    """A signed statement. `facts` is the digest of what it states, without its id and time.

    `signature` is armored as OpenSSH's, `envelope_signature` that of its DSSE envelope in hex.
    """

    __tablename__ = "receipt"
    __table_args__ = (
        Index(None, "run_id", "id"),
        Index(None, "experiment", "number"),
        Index(None, "kind", "experiment", "number"),  # also which experiments are frozen
        Index(
            "ix_receipt_supersedes", "supersedes",
            sqlite_where=SUPERSEDES, postgresql_where=SUPERSEDES,
        ),
    )  # fmt: skip

    id: Mapped[str] = mapped_column(KEY, primary_key=True)
    kind: Mapped[ReceiptKind] = mapped_column(enum_column(ReceiptKind))
    experiment: Mapped[str] = mapped_column(KEY, ForeignKey("experiment.name"))
    run_id: Mapped[str | None] = mapped_column(KEY, ForeignKey("run.id"))
    submission_id: Mapped[str | None] = mapped_column(KEY, ForeignKey("submission.id"))
    facts: Mapped[str] = mapped_column(Text)
    statement: Mapped[str] = mapped_column(Text)
    signature: Mapped[str] = mapped_column(Text)
    envelope_signature: Mapped[str] = mapped_column(Text)
    key_id: Mapped[str] = mapped_column(KEY, ForeignKey("signing_key.id"))
    number: Mapped[int] = mapped_column(BigInteger, ForeignKey("log_entry.number"))
    # No foreign key to the table itself: a backup is loaded table by table, in any order of rows.
    supersedes: Mapped[str | None] = mapped_column(KEY)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
