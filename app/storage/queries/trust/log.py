"""The public log: entries, hashes of its Merkle tree, and signed checkpoints. Rows are only added.

Call `lock` before adding, because each entry has the next number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, func, insert, null, select
from sqlalchemy.orm import Session

from app.receipts import merkle
from app.storage.database.jsonl import IN_PARTS
from app.storage.database.rows import one, record, values
from app.storage.database.tables.receipts import LogCheckpoint, LogEntry, LogNode

ENTRY, NODE, CHECKPOINT = LogEntry.__table__, LogNode.__table__, LogCheckpoint.__table__
LOCK = 0x706F646C6F67  # PostgreSQL's advisory lock of the log
# A list is public, and a record may have megabytes, so records are not even read.
WITHOUT_RECORD = [null().label(each.name) if each.name == "record" else each for each in ENTRY.c]
HASH = select(NODE.c.hash).where(
    NODE.c.level == bindparam("level"), NODE.c.place == bindparam("place")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntryRecord:
    """An entry: its public leaf, and the record whose digest is in the leaf.

    `record` is None for a receipt, which is the record itself.
    """

    number: int
    kind: str
    leaf: str
    record: str | None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointRecord:
    """The signed note of the first `size` entries, and the key that signed it."""

    size: int
    note: str
    key_id: str


def lock(session: Session) -> None:
    """Prevent other transactions from adding to the log until this one ends.

    In SQLite there is one writing transaction at a time, so no lock is needed.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(select(func.pg_advisory_xact_lock(LOCK)))


def size(session: Session) -> int:
    """The number of entries."""
    return int(session.execute(select(func.coalesce(func.max(ENTRY.c.number) + 1, 0))).scalar_one())


def last_time(session: Session) -> datetime | None:
    """The time of the last entry; None while the log is empty."""
    query = select(ENTRY.c.at).order_by(ENTRY.c.number.desc()).limit(1)
    return session.execute(query).scalar_one_or_none()


def add_entry(session: Session, new: LogEntryRecord) -> None:
    """Store the next entry, and the hashes of the subtrees that it completes."""
    session.execute(insert(ENTRY), values(new))
    leaf = merkle.leaf_hash(new.leaf.encode())
    nodes = merkle.nodes_of_leaf(node_reader(session), new.number, leaf)
    rows = [{"level": level, "place": place, "hash": own.hex()} for level, place, own in nodes]
    session.execute(insert(NODE), rows)


def node_reader(session: Session) -> merkle.Node:
    """Reads hashes of subtrees. It raises LookupError if somebody has removed one."""

    def read(level: int, place: int) -> bytes:
        found = session.execute(HASH, {"level": level, "place": place}).scalar_one_or_none()
        if found is None:
            raise LookupError(f"the log has no hash of level {level}, place {place}")
        return bytes.fromhex(found)

    return read


def add_checkpoint(session: Session, new: CheckpointRecord) -> None:
    """Store the checkpoint of the present log."""
    session.execute(insert(CHECKPOINT), values(new))


def last_checkpoint(session: Session) -> CheckpointRecord | None:
    """The latest checkpoint; None while the log is empty."""
    query = select(CHECKPOINT).order_by(CHECKPOINT.c.size.desc()).limit(1)
    return one(CheckpointRecord, session.execute(query).one_or_none())


def checkpoint(session: Session, entries: int) -> CheckpointRecord | None:
    """The checkpoint of this number of entries."""
    query = select(CHECKPOINT).where(CHECKPOINT.c.size == entries)
    return one(CheckpointRecord, session.execute(query).one_or_none())


def entries(session: Session, *, start: int, limit: int) -> list[LogEntryRecord]:
    """Entries from a number on, in their order, without their records."""
    query = select(*WITHOUT_RECORD).where(ENTRY.c.number >= start)
    query = query.order_by(ENTRY.c.number).limit(limit)
    return [record(LogEntryRecord, row) for row in session.execute(query)]


def entry(session: Session, number: int) -> LogEntryRecord | None:
    """The entry with this number."""
    query = select(ENTRY).where(ENTRY.c.number == number)
    return one(LogEntryRecord, session.execute(query).one_or_none())


def all_entries(session: Session) -> Iterator[LogEntryRecord]:
    """All entries in their order; only some are in memory at a time."""
    query = select(ENTRY).order_by(ENTRY.c.number)
    for rows in session.execute(query, execution_options=IN_PARTS).partitions():
        yield from (record(LogEntryRecord, row) for row in rows)


def numbers_of(session: Session, kind: str) -> Iterator[int]:
    """The numbers of the entries of a kind."""
    query = select(ENTRY.c.number).where(ENTRY.c.kind == kind).order_by(ENTRY.c.number)
    for rows in session.execute(query, execution_options=IN_PARTS).partitions():
        yield from (number for (number,) in rows)


def has_others(session: Session, kind: str, *, start: int) -> bool:
    """Whether an entry from number `start` on is of another kind than this."""
    query = select(ENTRY.c.number).where(ENTRY.c.number >= start, ENTRY.c.kind != kind).limit(1)
    return session.execute(query).first() is not None


def all_checkpoints(session: Session) -> Iterator[CheckpointRecord]:
    """All checkpoints by size; only some are in memory at a time."""
    query = select(CHECKPOINT).order_by(CHECKPOINT.c.size)
    for rows in session.execute(query, execution_options=IN_PARTS).partitions():
        yield from (record(CheckpointRecord, row) for row in rows)
