"""Secrets that all servers of one database share, each made at its first use."""

from __future__ import annotations

import secrets

from app.services.runtime.context import Context
from app.storage.queries.operation import secrets as stored_secrets

SECRET_BYTES = 32


def shared_secret(context: Context, name: str) -> bytes:
    """The secret with this name."""
    with context.database.read() as session:
        known = stored_secrets.find(session, name)
    if known is not None:
        return known
    offered = secrets.token_bytes(SECRET_BYTES)
    return context.database.write(lambda session: stored_secrets.keep_first(session, name, offered))
