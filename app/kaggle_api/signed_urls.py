"""Signed addresses that expire and permit one purpose."""

from __future__ import annotations

import hashlib
import time
from typing import Any

from itsdangerous import BadData, URLSafeSerializer

from app.errors import Forbidden
from app.services.runtime.context import Context
from app.services.runtime.shared_secret import shared_secret
from app.storage.database.tables.operation import SIGNED_URLS

MAX_TOKEN_LENGTH = 4096
REFUSAL = "This address was not made by this service. Run your command again for a new one."


class SignedUrls:
    """Signs and opens tokens with a secret that stays in the database."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def sign(self, purpose: str, seconds: float, **content: Any) -> str:
        """A token for one purpose, valid for this number of seconds."""
        return str(
            self._serializer(purpose).dumps({**content, "until": int(time.time() + seconds)})
        )

    def open(self, purpose: str, token: str) -> dict[str, Any]:
        """The content of a token.

        Raises:
            Forbidden: it was not signed here for this purpose, or it has expired.
        """
        if len(token) > MAX_TOKEN_LENGTH:
            raise Forbidden(REFUSAL)
        serializer = self._serializer(purpose)
        try:
            content: dict[str, Any] = serializer.loads(token)
        except BadData:
            raise Forbidden(REFUSAL) from None
        if serializer.dumps(content) != token:  # base64 has several spellings of some bytes
            raise Forbidden(REFUSAL)
        if content["until"] < time.time():
            raise Forbidden("This address has expired. Run your command again for a new one.")
        return content

    def _serializer(self, purpose: str) -> URLSafeSerializer:
        options = {"key_derivation": "hmac", "digest_method": hashlib.sha256}
        return URLSafeSerializer(self._secret, salt=purpose, signer_kwargs=options)


def secret_of(context: Context) -> bytes:
    """The secret that all servers of this database share, made at its first use."""
    return shared_secret(context, SIGNED_URLS)
