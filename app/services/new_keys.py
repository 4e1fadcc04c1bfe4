"""Make keys. Only their holders have them: the database has only their digests."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta

from app.domain.states import Role
from app.services.auth import key_digest
from app.storage.database.records import KeyRecord
from app.storage.queries.ids import new_id

KEY_BYTES = 24  # 32 characters in URL-safe base64


def new_key(
    role: Role,
    name: str,
    *,
    run_id: str | None = None,
    experiment: str | None = None,
    expires_in: timedelta | None = None,
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
        experiment=experiment,
        created_at=now,
        expires_at=None if expires_in is None else now + expires_in,
        revoked_at=None,
    )
    return key, record
