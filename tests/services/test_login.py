"""Cookies of logins: only those that were made here, in time, for a key that is valid."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.domain.states import Role
from app.errors import Forbidden, Unauthorized
from app.services.auth import new_key
from app.services.login import LONGEST_COOKIE, Logins, open_logins
from app.services.runtime.context import Context
from app.storage.queries import keys
from tests.storage.make import World


def stored(context: Context, role: Role, **over) -> tuple[str, str]:
    key, record = new_key(role, "somebody", **over)
    context.database.write(lambda session: keys.add_key(session, record))
    return key, record.id


def test_a_cookie_names_the_key_until_it_is_revoked(context: Context) -> None:
    logins = open_logins(context)
    key, key_id = stored(context, Role.RESEARCHER)

    caller, cookie = logins.log_in(context, f"  {key}\n")
    assert key not in cookie
    assert logins.read(context, cookie) == caller
    context.database.write(lambda s: keys.revoke_key(s, key_id, datetime.now(UTC)))
    with pytest.raises(Unauthorized, match="revoked"):
        logins.read(context, cookie)


def test_agents_do_not_log_in(context: Context, here: World) -> None:
    for role, over in (
        (Role.RUN, {"run_id": here.run.id}),
        (Role.HARNESS, {"experiment": here.run.experiment}),
    ):
        key, _ = stored(context, role, **over)
        with pytest.raises(Forbidden):
            open_logins(context).log_in(context, key)


def test_other_cookies_are_refused(context: Context) -> None:
    logins = open_logins(context)
    key, _ = stored(context, Role.ADMIN)
    cookie = logins.log_in(context, key)[1]

    another = Logins(b"another secret", 3600).log_in(context, key)[1]
    for wrong in ("", cookie[:-1], another, cookie + "x" * LONGEST_COOKIE):
        with pytest.raises(Unauthorized, match="not made here"):
            logins.read(context, wrong)
    expired = Logins(b"another secret", -1)
    with pytest.raises(Unauthorized, match="has expired"):
        expired.read(context, another)


def test_every_login_has_a_form_token_of_its_own(context: Context) -> None:
    logins = open_logins(context)

    assert logins.form_token("a") == logins.form_token("a") != logins.form_token("b")
    assert logins.form_token("a") != Logins(b"another secret", 1).form_token("a")
