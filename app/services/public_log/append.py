"""Add to the public log. An entry is committed together with its act, or not at all."""

from __future__ import annotations

import hashlib
import json
import secrets
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.orm import Session

from app.receipts import merkle
from app.receipts.checkpoints import Checkpoint, signed_checkpoint
from app.receipts.statements import to_bytes, utc
from app.services.public_log.signers import MICROSECOND, PresentKey, present_key
from app.services.runtime.context import Context
from app.storage.queries.trust import log
from app.storage.queries.trust.log import CheckpointRecord, LogEntryRecord

KEY_ENTRY, RECEIPT_ENTRY = "key", "receipt"
NONCE_BYTES = 16


def append_log_entry(
    context: Context, session: Session, kind: str, body: dict[str, Any]
) -> LogEntryRecord:
    """Add an act of an admin to the log, in the transaction of the act. Returns the entry.

    `kind` is one word that everybody can read: amendment, withdrawal, regrade. `body` says what was
    done. Readers of results see it; everybody else sees only its digest and the time.
    """
    key = locked_key(context, session)
    record = {"kind": kind, "at": utc(key.moment()), "nonce": new_nonce(), **body}
    return add_entry(session, key, kind, to_bytes(record), record=to_bytes(record).decode())


def locked_moment(session: Session) -> datetime:
    """Lock the log until this transaction ends. Returns a time now, later than its entries."""
    log.lock(session)
    now, last = datetime.now(UTC), log.last_time(session)
    return now if last is None else max(now, last + MICROSECOND)


def locked_key(context: Context, session: Session) -> PresentKey:
    """Lock the log until this transaction ends, and return the key that signs now."""
    log.lock(session)
    key = present_key(context, session)
    if key.is_new:
        about = {"key": key.record.id, "public_key": key.record.public_key, "act": "made"}
        append_key_act(session, key, about)
    return key


def append_key_act(session: Session, key: PresentKey, about: dict[str, Any]) -> None:
    """Add to the log that a key was made, retired or revoked."""
    text = to_bytes({"kind": KEY_ENTRY, "at": utc(key.moment()), **about})
    add_entry(session, key, KEY_ENTRY, text, record=text.decode())


def add_entry(
    session: Session, key: PresentKey, kind: str, data: bytes, *, record: str | None
) -> LogEntryRecord:
    """Add an entry for these bytes, and the checkpoint of the log with it. The log is locked."""
    number, at = log.size(session), key.moment()
    entry = LogEntryRecord(
        number=number, kind=kind, leaf=leaf_text(kind, data, at), record=record, at=at
    )
    log.add_entry(session, entry)
    size = number + 1
    root = merkle.root(log.node_reader(session), size)
    note = signed_checkpoint(Checkpoint(key.record.name, size, root), key.private)
    log.add_checkpoint(session, CheckpointRecord(size=size, note=note, key_id=key.record.id))
    return entry


def leaf_text(kind: str, data: bytes, at: datetime) -> str:
    """The leaf of some bytes: kind, digest and time, as JSON on one line."""
    leaf = {"kind": kind, "sha256": hashlib.sha256(data).hexdigest(), "at": utc(at)}
    return json.dumps(leaf, separators=(",", ":"))


def new_nonce() -> str:
    """Random bytes in hex. A text that contains them cannot be guessed from its digest."""
    return secrets.token_hex(NONCE_BYTES)
