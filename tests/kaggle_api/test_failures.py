"""What Kaggle's clients are told of an error, and signed addresses that are not opened."""

from __future__ import annotations

import errno
import json
from typing import Any

import pytest
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from app.errors import BadRequest, Forbidden, PodiumError, StorageFull, Unauthorized, Unavailable
from app.kaggle_api.route import SET_KEY, failure
from app.kaggle_api.signed_urls import SignedUrls
from app.services.auth import HOW_TO

MALFORMED = RequestValidationError([{"msg": f"m{n}"} for n in range(7)])
FULL = StorageFull("The disk of /srv is full.", for_strangers="A disk is full.")


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (Unauthorized(f"No key was sent. {HOW_TO}"), 401, f"No key was sent. {SET_KEY}"),
        (BadRequest("wrong"), 400, "wrong"),
        (HTTPException(404, "no such call"), 404, "no such call"),
        (MALFORMED, 400, "m0; m1; m2; m3; m4"),
        (ClientDisconnect(), 400,
         "The connection ended early. Nothing was stored; send it again."),
        (Unavailable("later", 7), 503, "later"),
        (FULL, 507, "A disk is full."),
        (OSError(errno.ENOSPC, "no space", "/srv/x"), 507,
         "A disk of this Podium is full; nothing was stored."),
        (PodiumError("answers.csv is odd"), 500,
         "This is Podium's fault. Give its operator the request id -."),
        (ValueError("answers.csv is odd"), 500,
         "This is Podium's fault. Give its operator the request id -."),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_an_error_is_told_in_kaggles_form(error: Exception, status: int, message: str) -> None:
    answer = failure(Request({"type": "http", "path": "/x", "headers": []}), error)

    assert json.loads(answer.body) == {"code": status, "message": message}
    assert answer.status_code == status
    assert "Retry-After" not in answer.headers  # an upload would sleep on it
    assert ("WWW-Authenticate" in answer.headers) == (status == 401)


def test_a_signed_address_is_opened_once_it_is_whole_and_in_time() -> None:
    urls = SignedUrls(b"a secret")
    token = urls.sign("upload", 60, run="run_1", name="s.csv")

    assert {**urls.open("upload", token), "until": 0} == {
        "run": "run_1", "name": "s.csv", "until": 0,
    }  # fmt: skip
    with pytest.raises(Forbidden, match="has expired"):
        urls.open("upload", urls.sign("upload", -2, run="run_1"))


@pytest.mark.parametrize("change", [lambda t: t + "=", lambda t: t[:-1], lambda t: "", str.lower,
                                    lambda t: "A" * 5000])  # fmt: skip
def test_a_signed_address_that_was_changed_is_refused(change: Any) -> None:
    urls = SignedUrls(b"a secret")
    for token in (change(urls.sign("upload", 60)), urls.sign("download", 60),
                  SignedUrls(b"another").sign("upload", 60)):  # fmt: skip
        with pytest.raises(Forbidden, match="was not made by this service"):
            urls.open("upload", token)
