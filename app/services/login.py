"""Logins of browsers: a signed cookie names the key that somebody typed in.

The cookie has the id of the key, not the key: who reads the cookie can open pages until it expires
or the key is revoked, and cannot submit, make runs or learn the key. Each request looks the key up.
"""

from __future__ import annotations

import hashlib
import hmac

from itsdangerous import BadData, SignatureExpired, URLSafeTimedSerializer

from app.errors import Unauthorized
from app.services.auth import Caller, authenticate_login, identify, require_researcher
from app.services.runtime.context import Context
from app.services.runtime.shared_secret import shared_secret
from app.units import HOUR

COOKIE = "podium_login"
SECRET = "login-secret"  # noqa: S105 (its name)
LONGEST_COOKIE = 1024


class Logins:
    """Makes and reads the cookies of one Podium."""

    def __init__(self, secret: bytes, seconds: int) -> None:
        self.seconds = seconds
        self._secret = secret
        options = {"key_derivation": "hmac", "digest_method": hashlib.sha256}
        self._serializer = URLSafeTimedSerializer(secret, salt="login", signer_kwargs=options)

    def log_in(self, context: Context, key: str) -> tuple[Caller, str]:
        """The caller of a key that was typed in, and the value of the cookie.

        Raises:
            Unauthorized, RunArchived: the key is not valid.
            Forbidden: it is the key of a run or a harness.
        """
        caller = identify(context, key.strip())
        require_researcher(caller)
        return caller, str(self._serializer.dumps(caller.key_id))

    def read(self, context: Context, cookie: str) -> Caller:
        """The caller of a cookie.

        Raises:
            Unauthorized: the cookie was not made here or has expired, or its key is not valid.
        """
        if len(cookie) > LONGEST_COOKIE:
            raise Unauthorized("The cookie of this login was not made here. Log in again.")
        try:
            key_id = str(self._serializer.loads(cookie, max_age=self.seconds))
        except SignatureExpired:
            raise Unauthorized("This login has expired. Log in again.") from None
        except BadData:
            raise Unauthorized(
                "The cookie of this login was not made here. Log in again."
            ) from None
        with context.database.read() as session:
            return authenticate_login(session, key_id)

    def form_token(self, cookie: str) -> str:
        """The token that a form of this login carries, so that no other site can send the form."""
        message = f"form {cookie}".encode()
        return hmac.new(self._secret, message, hashlib.sha256).hexdigest()


def require_valid(context: Context, key_id: str) -> None:
    """Let a request pass on whose key is still valid: it may have waited since the key was found.

    Raises:
        Unauthorized, RunArchived: the key was revoked, has expired, or its run was archived.
    """
    with context.database.read() as session:
        authenticate_login(session, key_id)


def open_logins(context: Context) -> Logins:
    """The logins of a server with this context."""
    seconds = int(context.settings.login_hours * HOUR)
    return Logins(shared_secret(context, SECRET), seconds)
