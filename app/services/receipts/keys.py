"""Rotate and revoke the key that signs. Every change of keys is an entry of the public log."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy.orm import Session

from app.errors import Conflict, NotFound
from app.services.public_log.append import append_key_act, locked_key
from app.services.public_log.reasons import check_reason
from app.services.public_log.signers import retire
from app.services.runtime.context import Context
from app.storage.queries.trust import log, signing_keys
from app.storage.queries.trust.signing_keys import SigningKeyRecord


def rotate(context: Context) -> SigningKeyRecord:
    """Retire the key that signs, and make a new one. The old key's signatures stay valid."""

    def record(session: Session) -> SigningKeyRecord:
        old = locked_key(context, session)
        if old.is_new:
            return old.record
        retire(session, old.record)
        new = locked_key(context, session)
        append_key_act(session, new, {"key": old.record.id, "act": "retired"})
        return new.record

    return context.database.write(record)


def revoke(context: Context, key_id: str, reason: str) -> SigningKeyRecord:
    """Revoke a key that somebody else has: its signatures are no longer valid.

    The next receipt is signed by a new key.

    Raises:
        NotFound: there is no such key.
        Conflict: it is revoked already.
        Invalid: the reason is blank or too long.
    """
    check_reason(reason)

    def record(session: Session) -> SigningKeyRecord:
        log.lock(session)
        known = signing_keys.get(session, key_id)
        if known is None:
            raise NotFound(f"There is no signing key {key_id!r}: see `podium receipts keys list`.")
        if known.revoked_at is not None:
            raise Conflict(f"The key {key_id} was revoked at {known.revoked_at.isoformat()}.")
        retire(session, known)
        signing_keys.revoke(session, key_id, datetime.now(UTC), reason)
        signs = locked_key(context, session)
        append_key_act(session, signs, {"key": key_id, "act": "revoked", "reason": reason})
        return signing_keys.get(session, key_id) or known

    return context.database.write(record)
