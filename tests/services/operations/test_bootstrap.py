"""The first start: bundled competitions, and one admin key."""

from __future__ import annotations

import pytest

from app.domain.states import Role
from app.errors import Unauthorized
from app.services.auth import authenticate
from app.services.operations.bootstrap import first_admin_key, import_bundled
from app.services.runtime.context import Context
from tests.storage.make import World


def test_the_first_start_makes_an_admins_key_and_no_later_one_does(context: Context) -> None:
    with first_admin_key(context) as key, context.database.read() as session:
        assert authenticate(session, key).role is Role.ADMIN
    with first_admin_key(context) as again:
        assert again is None


def test_a_key_that_could_not_be_shown_is_worth_nothing(context: Context) -> None:
    shown: list[str | None] = []

    def show() -> None:
        with first_admin_key(context) as key:
            shown.append(key)
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        show()

    (key,) = shown
    with context.database.read() as session, pytest.raises(Unauthorized):
        authenticate(session, key)


def test_nothing_is_imported_beside_other_competitions(context: Context, here: World) -> None:
    assert import_bundled(context) == 0
