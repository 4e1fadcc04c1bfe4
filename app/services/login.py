"""Logins of browsers: a signed cookie names the key that somebody typed in.

The cookie has the id of the key, not the key. Somebody who reads the cookie can open pages until
its owner logs out, it expires or the key is revoked, but cannot submit, make runs or learn the key.
Each request looks up the key, and whether the login was ended.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import UTC, datetime, timedelta

from itsdangerous import BadData, URLSafeTimedSerializer

from app.errors import RunArchived, Unauthorized
from app.services.auth import Caller, authenticate_login, identify, require_researcher
from app.services.runtime.context import Context
from app.services.runtime.shared_secret import shared_secret
from app.storage.database.tables.operation import LOGINS
from app.storage.queries.operation import ended_logins
from app.units import HOUR

COOKIE = "podium_login"
LONGEST_COOKIE = 1024
LOGIN_BYTES = 16
NOT_MADE_HERE = "The cookie of this login was not made here. Log in again."
EXPIRED = "This login has expired. Log in again."
ENDED = "This login was ended by a log-out. Log in again."


class Logins:
    """Makes and reads the cookies of one Podium."""

    def __init__(self, secret: bytes, seconds: int) -> None:
        self.seconds = seconds
        self._secret = secret
        options = {"key_derivation": "hmac", "digest_method": hashlib.sha256}
        self._serializer = URLSafeTimedSerializer(secret, salt="logins", signer_kwargs=options)

    def log_in(self, context: Context, key: str) -> tuple[Caller, str]:
        """The caller of a key that was typed in, and the value of the cookie.

        Raises:
            Unauthorized, RunArchived: the key is not valid.
            Forbidden: it is the key of a run or a harness.
        """
        caller = identify(context, key.strip())
        require_researcher(caller)
        # PODIUM_LOGIN_HOURS may be longer at the next start, so the cookie has its own end.
        until = datetime.now(UTC) + timedelta(seconds=self.seconds)
        content = [caller.key_id, secrets.token_urlsafe(LOGIN_BYTES), until.isoformat()]
        return caller, str(self._serializer.dumps(content))

    def read(self, context: Context, cookie: str) -> Caller:
        """The caller of a cookie.

        Raises:
            Unauthorized: the cookie was not made here, was ended or has expired, or its key is not
                valid.
        """
        key_id, login, _ = self._content(cookie)
        with context.database.read() as session:
            if ended_logins.has(session, login):
                raise Unauthorized(ENDED)
            return authenticate_login(session, key_id)

    def log_out(self, context: Context, cookie: str) -> None:
        """End the login of a cookie, and of its copies. An invalid cookie changes nothing.

        Raises:
            Unavailable: the database is away, and the login goes on.
        """
        try:
            _, login, until = self._content(cookie)
            self.read(context, cookie)
        except (Unauthorized, RunArchived):
            return
        now = datetime.now(UTC)
        context.database.write(lambda session: ended_logins.add(session, login, until, now))

    def _content(self, cookie: str) -> tuple[str, str, datetime]:
        """The key's id, the login's id and the end of a cookie.

        Raises:
            Unauthorized: the cookie was not made here, or has expired.
        """
        if len(cookie) > LONGEST_COOKIE:
            raise Unauthorized(NOT_MADE_HERE)
        try:
            content, made_at = self._serializer.loads(cookie, return_timestamp=True)
        except BadData:
            raise Unauthorized(NOT_MADE_HERE) from None
        key_id, login, ends = content
        until = datetime.fromisoformat(ends)
        # With `max_age`, itsdangerous would also refuse a cookie from a later time than now: from a
        # server whose clock is milliseconds ahead, or from before this clock was set back.
        longest = timedelta(seconds=self.seconds)
        if min(until, made_at + longest) < datetime.now(UTC):
            raise Unauthorized(EXPIRED)
        return key_id, login, until

    def form_token(self, cookie: str) -> str:
        """The token that a form of this login carries, so that no other site can send the form."""
        message = f"form {cookie}".encode()
        return hmac.new(self._secret, message, hashlib.sha256).hexdigest()


def require_valid(context: Context, key_id: str) -> None:
    """Refuse a request if its key has become invalid since the key was found.

    Raises:
        Unauthorized, RunArchived: the key was revoked, has expired, or its run was archived.
    """
    with context.database.read() as session:
        authenticate_login(session, key_id)


def open_logins(context: Context) -> Logins:
    """The logins of a server with this context."""
    seconds = int(context.settings.login_hours * HOUR)
    return Logins(shared_secret(context, LOGINS), seconds)
