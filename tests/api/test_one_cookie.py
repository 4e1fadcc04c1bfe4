"""The cookie of a login is found among others as Starlette finds it, which parses all of them."""

from __future__ import annotations

import pytest
from starlette.requests import cookie_parser

from app.api.http.turns.one_cookie import last_cookie
from app.services.login import COOKIE


@pytest.mark.parametrize(
    "cookies",
    [
        "a=1; b=2",
        f"{COOKIE}=mine",
        f"a=1;{COOKIE} = mine ;b=2",
        f"{COOKIE}=first; {COOKIE}=last",
        f"{COOKIE}=mine; x{COOKIE}=other; a={COOKIE}; {COOKIE}",
        f'{COOKIE}="a\\075b"',
        f"{COOKIE}=",
        f"{COOKIE}=a=b",
    ],
)
def test_it_is_what_starlette_finds(cookies: str) -> None:
    found = last_cookie(cookies.encode(), COOKIE.encode()).decode()

    assert cookie_parser(found).get(COOKIE) == cookie_parser(cookies).get(COOKIE)
