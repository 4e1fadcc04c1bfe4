"""The key that signs receipts and checkpoints: made at its first use, rotated, revoked.

The private part is a row of the table `secret`, so all servers of one Podium use the same key.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy.orm import Session

from app.receipts import ed25519
from app.receipts.allowed_signers import Signer
from app.receipts.sshsig import RECEIPT_NAMESPACE
from app.services.runtime.context import Context
from app.storage.queries.ids import new_id
from app.storage.queries.trust import log, signing_keys
from app.storage.queries.trust.signing_keys import SigningKeyRecord

SECOND = timedelta(seconds=1)
MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class PresentKey:
    """The key that signs now, with its private part."""

    record: SigningKeyRecord
    private: bytes
    is_new: bool
    after: datetime  # the time of the log's last entry or of the key, by any clock

    def moment(self) -> datetime:
        """The time now, but later than all entries of the log, even if the clock was set back."""
        return max(datetime.now(UTC), self.after + MICROSECOND)


def present_key(context: Context, session: Session) -> PresentKey:
    """The key that signs now. In a write; the log has to be locked.

    A new key is made if there is none, if the last one was retired or revoked, or if its private
    part is missing, for example after a restore.
    """
    known = signing_keys.all_keys(session)
    last = log.last_time(session)
    for key in known[::-1]:
        if key.valid_before is None and key.revoked_at is None:
            private = signing_keys.private_part(session, key.id)
            if private is not None:
                after = max(key.valid_after, last or key.valid_after)
                return PresentKey(key, private, is_new=False, after=after)
            retire(session, key)
    private = ed25519.new_private_key()
    record = SigningKeyRecord(
        id=new_id("sig"),
        name=known[0].name if known else _first_name(context),
        public_key=ed25519.public_key(private).hex(),
        valid_after=_not_before(last).replace(microsecond=0),
    )
    signing_keys.add(session, record, private)
    after = max(record.valid_after, last or record.valid_after)
    return PresentKey(record, private, is_new=True, after=after)


def retire(session: Session, key: SigningKeyRecord) -> None:
    """End the validity of a key now. Signatures that it made before stay valid."""
    # Allowed signers have whole seconds, and signatures of this second must be before the end.
    last = max(key.valid_after, log.last_time(session) or key.valid_after)
    signing_keys.retire(session, key.id, _not_before(last).replace(microsecond=0) + SECOND)


def _not_before(last: datetime | None) -> datetime:
    """The time now, or the time of an earlier event, if that is later."""
    now = datetime.now(UTC)
    return now if last is None else max(now, last)


def signer_of(key: SigningKeyRecord) -> Signer:
    """The line of a key in the file of allowed signers."""
    namespaces = (RECEIPT_NAMESPACE,)
    return Signer(key.name, key.public, key.valid_after, key.valid_before, namespaces)


def _first_name(context: Context) -> str:
    """The name under which this Podium signs, for ever: the setting's, or a random one."""
    return context.settings.signer_name or f"podium-{secrets.token_hex(6)}"
