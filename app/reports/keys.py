"""Keys as documents, for HTTP and for commands."""

from __future__ import annotations

from typing import Any

from app.services.operations.keys import NewKey
from app.storage.database.records import KeyRecord


def key_document(record: KeyRecord) -> dict[str, Any]:
    """A key's holder, never the key."""
    return {
        "id": record.id,
        "role": record.role,
        "name": record.name,
        "run": record.run_id,
        "experiment": record.experiment,
        "created_at": record.created_at,
        "expires_at": record.expires_at,
        "revoked_at": record.revoked_at,
    }


def new_key_document(made: NewKey) -> dict[str, Any]:
    """A new key with its holder, once."""
    return {**key_document(made.record), "key": made.key, "revoked": list(made.revoked)}
