"""Cookies of logins: only those that were made here, in time, for a key that is valid."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest
from itsdangerous import TimestampSigner
from sqlalchemy import func, select

from app.domain.states import Role
from app.errors import Forbidden, Unauthorized
from app.services.login import LONGEST_COOKIE, Logins, open_logins
from app.services.new_keys import new_key
from app.services.runtime.context import Context
from app.storage.queries import keys
from app.storage.queries.operation import ended_logins
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


def test_a_login_at_a_server_whose_clock_is_ahead_opens_pages_at_the_others(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page after the login may be asked of another server; milliseconds are enough."""
    key, _ = stored(context, Role.ADMIN)
    with monkeypatch.context() as ahead:
        ahead.setattr(TimestampSigner, "get_timestamp", lambda _: int(time.time()) + 5)
        caller, cookie = open_logins(context).log_in(context, key)

    assert open_logins(context).read(context, cookie) == caller


def test_every_login_has_a_form_token_of_its_own(context: Context) -> None:
    logins = open_logins(context)

    assert logins.form_token("a") == logins.form_token("a") != logins.form_token("b")
    assert logins.form_token("a") != Logins(b"another secret", 1).form_token("a")


def test_a_log_out_ends_one_login_and_its_copies_on_every_server(
    servers: tuple[Context, Context],
) -> None:
    first, second = servers
    key, _ = stored(first, Role.RESEARCHER)
    here, there = open_logins(first), open_logins(second)
    (_, cookie), (_, other) = (here.log_in(first, key) for _ in range(2))
    assert there.read(second, cookie) == there.read(second, other)

    for _ in range(2):  # a second log-out changes nothing
        here.log_out(first, cookie)
    here.log_out(first, cookie[:-1])

    for logins, server in ((here, first), (there, second)):
        with pytest.raises(Unauthorized, match="ended by a log-out"):
            logins.read(server, cookie)
        assert logins.read(server, other)


def test_ended_logins_are_forgotten_when_they_expired_long_ago(context: Context) -> None:
    now = datetime.now(UTC)
    for days in (0, 1, 402, 403):
        at = now + timedelta(days=days)
        context.database.write(
            lambda s, at=at, days=days: ended_logins.add(s, f"{days}", at + timedelta(days=1.5), at)
        )
    with context.database.read() as session:
        count = session.execute(select(func.count()).select_from(ended_logins.TABLE)).scalar_one()
        assert (count, ended_logins.has(session, "1"), ended_logins.has(session, "402")) == (
            2, False, True,
        )  # fmt: skip


@pytest.mark.parametrize("days", [1, 366])
def test_an_ended_login_opens_nothing_after_a_clock_was_ahead(context: Context, days: int) -> None:
    key, _ = stored(context, Role.RESEARCHER)
    logins = open_logins(context)
    cookie = logins.log_in(context, key)[1]
    logins.log_out(context, cookie)
    ahead = datetime.now(UTC) + timedelta(days=days)

    context.database.write(lambda s: ended_logins.add(s, "another", ahead, ahead))

    with pytest.raises(Unauthorized, match="ended by a log-out"):
        logins.read(context, cookie)


def test_a_login_does_not_last_longer_when_the_next_server_lets_logins_last_longer(
    context: Context,
) -> None:
    """Else a login that was ended, and forgotten after that, would open pages again."""
    key, _ = stored(context, Role.ADMIN)
    cookie = Logins(b"secret", 0).log_in(context, key)[1]

    with pytest.raises(Unauthorized, match="has expired"):
        Logins(b"secret", 3600).read(context, cookie)
