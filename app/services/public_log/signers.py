"""The key that signs receipts and checkpoints: made at its first use, rotated, revoked.

The private part is a row of the table `secret`, so that all servers of one Podium sign alike.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy.orm import Session

from app.errors import BadSettings
from app.receipts import ed25519
from app.receipts.allowed_signers import Signer
from app.receipts.sshsig import RECEIPT_NAMESPACE
from app.services.runtime.context import Context
from app.storage.queries.ids import new_id
from app.storage.queries.trust import signing_keys
from app.storage.queries.trust.signing_keys import SigningKeyRecord

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/@:-]{0,99}")
SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class PresentKey:
    """The key that signs now, with its private part."""

    record: SigningKeyRecord
    private: bytes
    is_new: bool

    def moment(self) -> datetime:
        """The time now; not before the key's own, which another server's clock may have set."""
        return max(datetime.now(UTC), self.record.valid_after)


def present_key(context: Context, session: Session) -> PresentKey:
    """The key that signs now. In a write; the log has to be locked.

    A new key is made if there is none, if the last one was retired or revoked, or if its private
    part is not here, as after a restore.
    """
    known = signing_keys.all_keys(session)
    if known and known[-1].valid_before is None and known[-1].revoked_at is None:
        private = signing_keys.private_part(session, known[-1].id)
        if private is not None:
            return PresentKey(known[-1], private, is_new=False)
        retire(session, known[-1])
    private = ed25519.new_private_key()
    record = SigningKeyRecord(
        id=new_id("sig"),
        name=known[0].name if known else _first_name(context),
        public_key=ed25519.public_key(private).hex(),
        valid_after=datetime.now(UTC).replace(microsecond=0),
    )
    signing_keys.add(session, record, private)
    return PresentKey(record, private, is_new=True)


def retire(session: Session, key: SigningKeyRecord) -> None:
    """End the time of a key now. What it signed before stays good."""
    # Allowed signers have whole seconds, and what was signed in this second is before its end.
    signing_keys.retire(session, key.id, datetime.now(UTC).replace(microsecond=0) + SECOND)


def signer_of(key: SigningKeyRecord) -> Signer:
    """A key as a line of the allowed signers."""
    namespaces = (RECEIPT_NAMESPACE,)
    return Signer(key.name, key.public, key.valid_after, key.valid_before, namespaces)


def _first_name(context: Context) -> str:
    """The name under which this Podium signs, for ever: the setting's, or a random one."""
    name = context.settings.signer_name
    if not name:
        return f"podium-{secrets.token_hex(6)}"
    if not NAME.fullmatch(name):
        raise BadSettings(
            f"PODIUM_SIGNER_NAME is {name!r}; expected a host name or address: letters, digits "
            "and . _ / @ : -, at most 100."
        )
    return name
