"""The public parts of the public log: checkpoints, leaves and proofs; and the keys."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.domain.wording import counted
from app.errors import Invalid, NotFound
from app.receipts import merkle
from app.receipts.allowed_signers import allowed_signers
from app.receipts.sshsig import public_line
from app.services.public_log.signers import signer_of
from app.services.runtime.context import Context
from app.storage.queries.trust import log, receipts, signing_keys
from app.storage.queries.trust.log import CheckpointRecord, LogEntryRecord
from app.storage.queries.trust.signing_keys import SigningKeyRecord


@dataclass(frozen=True, slots=True)
class Inclusion:
    """Proof that an entry is in the log: its leaf, and the hashes up to the checkpoint's root."""

    entry: LogEntryRecord
    checkpoint: CheckpointRecord
    proof: list[str]


@dataclass(frozen=True, slots=True)
class Consistency:
    """Proof that the log of a checkpoint begins with the same first `start` entries."""

    start: int
    checkpoint: CheckpointRecord
    proof: list[str]


def checkpoint(context: Context, size: int | None = None) -> CheckpointRecord:
    """The latest checkpoint, or that of `size` entries.

    Raises:
        NotFound: the log has no entry, or not so many.
    """
    with context.database.read() as session:
        return _checkpoint(session, size)


def entries(context: Context, start: int, limit: int) -> list[LogEntryRecord]:
    """Entries from number `start` on, without their records."""
    with context.database.read() as session:
        return log.entries(session, start=start, limit=limit)


def entry(context: Context, number: int) -> LogEntryRecord:
    """The entry with this number, with its record.

    Raises:
        NotFound: the log has no such entry.
    """
    with context.database.read() as session:
        return _entry(session, number)


def inclusion(
    context: Context, *, receipt: str | None, number: int | None, size: int | None
) -> Inclusion:
    """Prove that the entry of a receipt, or with a number, is in the log of `size` entries.

    Raises:
        Invalid: neither or both are given, or the log of `size` entries ends before the entry.
        NotFound: there is no such entry or checkpoint.
    """
    if (receipt is None) == (number is None):
        raise Invalid("Name one entry: receipt=ID, or index=NUMBER.")
    with context.database.read() as session:
        if receipt is not None:
            known = receipts.get(session, receipt)
            if known is None:
                raise NotFound(f"There is no receipt {receipt!r} in the log.")
            number = known.number
        own = _entry(session, number or 0)
        found = _checkpoint(session, size)
        if own.number >= found.size:
            raise Invalid(f"size: entry {own.number} is not among the first {found.size}.")
        proof = merkle.inclusion_proof(log.node_reader(session), own.number, found.size)
    return Inclusion(own, found, _encoded(proof))


def consistency(context: Context, start: int, size: int | None) -> Consistency:
    """Prove that the log of `size` entries begins with its first `start`.

    Raises:
        Invalid: `start` is larger than `size`.
        NotFound: the log has not so many entries.
    """
    with context.database.read() as session:
        found = _checkpoint(session, size)
        if start > found.size:
            raise Invalid(
                f"from: the log has {_entries(found.size)}. If you have a signed checkpoint with "
                f"{start}, entries were withdrawn, or an older backup was restored."
            )
        proof = merkle.consistency_proof(log.node_reader(session), start, found.size)
    return Consistency(start, found, _encoded(proof))


def keys(context: Context) -> list[SigningKeyRecord]:
    """All keys that ever signed, oldest first."""
    with context.database.read() as session:
        return signing_keys.all_keys(session)


def allowed(context: Context) -> str:
    """OpenSSH's file of allowed signers: every key with its time."""
    return allowed_signers(signer_of(key) for key in keys(context))


def revoked(context: Context) -> str:
    """The revoked keys, one line each, as `ssh-keygen -Y verify -r` reads them."""
    found = [key for key in keys(context) if key.revoked_at is not None]
    return "".join(f"{public_line(key.public)} {key.id}\n" for key in found)


def _entries(count: int) -> str:
    return counted(count, "entry", "entries")


def _entry(session: Session, number: int) -> LogEntryRecord:
    found = log.entry(session, number)
    if found is None:
        raise NotFound(f"The log has no entry {number}.")
    return found


def _checkpoint(session: Session, size: int | None) -> CheckpointRecord:
    found = log.last_checkpoint(session) if size is None else log.checkpoint(session, size)
    if found is None:
        what = "no entry yet" if size is None else f"no checkpoint of {_entries(size)}"
        raise NotFound(f"The log has {what}.")
    return found


def _encoded(hashes: Sequence[bytes]) -> list[str]:
    return [base64.b64encode(each).decode() for each in hashes]
