"""Authentication and authorization: find the caller of a key and check the caller's role."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy.orm import Session

from app.domain.states import Role
from app.errors import Forbidden, Unauthorized
from app.services.runtime.run_lookup import existing_run, no_run
from app.storage.database.records import KeyRecord, RunRecord
from app.storage.queries import keys
from app.storage.queries.ids import new_id

KEY_BYTES = 24  # 32 characters in URL-safe base64
HOW_TO = "Send the header 'Authorization: Bearer <key>' with a key of this Podium."


@dataclass(frozen=True, slots=True)
class Caller:
    """The holder of a valid key."""

    role: Role
    key_id: str
    run_id: str | None = None

    @property
    def is_run(self) -> bool:
        """Whether the key is a run's: the key of an agent's container, which sees only its run."""
        return self.role is Role.RUN


def authenticate(session: Session, key: str | None) -> Caller:
    """The caller that a key belongs to. This is the only place that authenticates requests.

    Raises:
        Unauthorized: the key is missing, unknown, expired or revoked.
    """
    if not key:
        raise Unauthorized(f"No key was sent. {HOW_TO}")
    digest = key_digest(key)
    record = keys.find_key(session, digest)
    # The database finds the row by its digest. The comparison here takes constant time.
    if record is None or not hmac.compare_digest(record.digest, digest):
        raise Unauthorized(f"This key is not known here. {HOW_TO}")
    if record.revoked_at is not None:
        raise Unauthorized("This key was revoked. Ask whoever runs this Podium for a new one.")
    if record.expires_at is not None and record.expires_at <= datetime.now(UTC):
        raise Unauthorized("This key has expired. Ask whoever runs this Podium for a new one.")
    return Caller(record.role, record.id, record.run_id)


def require_live_key(session: Session, key_id: str) -> None:
    """Let an address pass whose key is still valid.

    Raises:
        Forbidden: the key is unknown, expired or revoked.
    """
    record = keys.get_key(session, key_id)
    is_over = (
        record is None
        or record.revoked_at is not None
        or (record.expires_at is not None and record.expires_at <= datetime.now(UTC))
    )
    if is_over:
        raise Forbidden("The key that this address was given to is not valid any more.")


def require_researcher(caller: Caller) -> None:
    """Let researchers and admins pass.

    Raises:
        Forbidden: the key is a run's.
    """
    if caller.role not in (Role.RESEARCHER, Role.ADMIN):
        raise Forbidden("This needs a researcher's key; a run's key reaches only its own run.")


def require_admin(caller: Caller) -> None:
    """Let admins pass.

    Raises:
        Forbidden: the key is a researcher's or a run's.
    """
    if caller.role is not Role.ADMIN:
        raise Forbidden(f"This needs an admin's key; this is a {caller.role.value}'s key.")


def require_own_run(caller: Caller, run_id: str) -> None:
    """Let researchers pass, and a run's key to its own run.

    Raises:
        NotFound: the key is another run's. To that key, the run does not exist.
    """
    if caller.is_run and caller.run_id != run_id:
        raise no_run(run_id)


def own_run(session: Session, caller: Caller, run_id: str) -> RunRecord:
    """The run with this id, for researchers and for the run's own key.

    Raises:
        NotFound: the run does not exist, or the key is another run's.
    """
    require_own_run(caller, run_id)
    return existing_run(session, run_id)


def new_key(
    role: Role, name: str, *, run_id: str | None = None, expires_in: timedelta | None = None
) -> tuple[str, KeyRecord]:
    """A new key and its record, which has only the digest. The key itself is never stored."""
    key = f"pod_{role.value}_{secrets.token_urlsafe(KEY_BYTES)}"
    now = datetime.now(UTC)
    record = KeyRecord(
        id=new_id("key"),
        role=role,
        name=name,
        digest=key_digest(key),
        run_id=run_id,
        created_at=now,
        expires_at=None if expires_in is None else now + expires_in,
        revoked_at=None,
    )
    return key, record


def key_digest(key: str) -> str:
    """The digest of a key, which is stored. Keys have 192 random bits: a fast hash is enough."""
    return hashlib.sha256(key.encode()).hexdigest()
