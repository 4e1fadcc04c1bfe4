"""Addresses that carry their own permission: signed, expiring, useless for anything else."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from typing import Any

from app.errors import Forbidden
from app.services.runtime.context import Context
from app.storage.queries import secrets as kept

NAME = "url-secret"
SECRET_BYTES = 32
LONGEST = 4096
REFUSAL = "This address is not one that this service gave. Ask for it again with your command."


class SignedUrls:
    """Signs and opens tokens with a secret that stays in the database."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def sign(self, purpose: str, seconds: float, **content: Any) -> str:
        """A token for one purpose, good for so many seconds."""
        document = {**content, "until": int(time.time() + seconds)}
        text = json.dumps(document, separators=(",", ":"), sort_keys=True).encode()
        return f"{_encode(text)}.{_encode(self._digest(purpose, text))}"

    def open(self, purpose: str, token: str) -> dict[str, Any]:
        """What a token says.

        Raises:
            Forbidden: it was not signed here for this purpose, or its time is over.
        """
        text, _, digest = token.partition(".")
        try:
            content, signature = _decode(text), _decode(digest)
        except ValueError:
            raise Forbidden(REFUSAL) from None
        if len(token) > LONGEST or not hmac.compare_digest(
            self._digest(purpose, content), signature
        ):
            raise Forbidden(REFUSAL)
        document: dict[str, Any] = json.loads(content)
        if document["until"] < time.time():
            raise Forbidden("This address has expired. Run your command again for a new one.")
        return document

    def _digest(self, purpose: str, text: bytes) -> bytes:
        return hmac.digest(self._secret, purpose.encode() + b"\0" + text, hashlib.sha256)


def secret_of(context: Context) -> bytes:
    """The secret of all servers on this database, made at its first use."""
    with context.database.read() as session:
        known = kept.find(session, NAME)
    if known is not None:
        return known
    offered = secrets.token_bytes(SECRET_BYTES)
    return context.database.write(lambda session: kept.keep_first(session, NAME, offered))


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _decode(text: str) -> bytes:
    if not text.isascii():
        raise ValueError("not base64")
    data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    if _encode(data) != text:
        raise ValueError("not the one way to write it")
    return data
